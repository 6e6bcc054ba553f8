//! How bits come into linear combinations: merged as combinations of their own (`Boolean::lc`), added in place
//! (`BooleanExt::add_to_lc`), or collected and sorted once (`MultiEq`).

use assignment::ProvingAssignment;
use bellpepper_core::{
    ConstraintSystem, LinearCombination, SynthesisError,
    boolean::{AllocatedBit, Boolean},
};
use blstrs::Scalar;
use ff::Field;
use gadgets::{boolean::BooleanExt, multieq::MultiEq};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use crate::bench::alternate::{Comparison, Run};

/// Words that the rows draw on: about as many as a compression of SHA-256 has.
const WORDS: usize = 512;
/// Operands of an addition, the mean of SHA-256's.
const OPERANDS: usize = 5;
/// Bits of a sum of so many words.
const SUM_BITS: usize = 35;
/// Additions packed into a row: so many sums fit into the field.
const ADDITIONS: usize = 7;
/// Rows of each kind.
const ADDITION_ROWS: usize = 64;
const PACKING_ROWS: usize = 2_000;
const CHOICE_ROWS: usize = 100_000;

type Cs = ProvingAssignment<Scalar>;
type Lc = LinearCombination<Scalar>;

/// `lc + coefficient * bit`.
trait Style {
    fn add(lc: Lc, bit: &Boolean, coefficient: Scalar) -> Lc;
}

struct ByLc;
struct InPlace;

impl Style for ByLc {
    fn add(lc: Lc, bit: &Boolean, coefficient: Scalar) -> Lc {
        lc + &bit.lc(Cs::one(), coefficient)
    }
}

impl Style for InPlace {
    fn add(lc: Lc, bit: &Boolean, coefficient: Scalar) -> Lc {
        bit.add_to_lc(lc, Cs::one(), coefficient)
    }
}

/// Bits in words, and the order in which rows draw on them.
struct Material {
    base: Cs,
    words: Vec<[Boolean; 32]>,
    order: Vec<usize>,
}

impl Material {
    fn new() -> Result<Self, SynthesisError> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut base = Cs::with_hint(None);
        let mut words = Vec::with_capacity(WORDS);
        for _ in 0..WORDS {
            let (value, kind) = (rng.next_u32(), rng.next_u32());
            let mut word = [const { Boolean::Constant(false) }; 32];
            for (i, bit) in word.iter_mut().enumerate() {
                let is_set = value >> i & 1 == 1;
                *bit = match kind % 8 {
                    0 => Boolean::Constant(is_set),
                    kind => {
                        let bit = Boolean::from(AllocatedBit::alloc(&mut base, Some(is_set))?);
                        if kind == 1 { bit.not() } else { bit }
                    }
                };
            }
            word.rotate_left(kind as usize / 8 % 32);
            words.push(word);
        }
        let draws = ADDITION_ROWS * ADDITIONS * (OPERANDS + 2);
        let order = (0..draws).map(|_| rng.next_u32() as usize % WORDS).collect();
        Ok(Self { base, words, order })
    }

    /// For each addition its operands and its sum.
    fn additions(&self) -> impl Iterator<Item = (Vec<&[Boolean]>, Vec<Boolean>)> {
        self.order.chunks_exact(OPERANDS + 2).map(|drawn| {
            let (sum, operands) = drawn.split_at(2);
            let sum = sum.iter().flat_map(|i| &self.words[*i]).take(SUM_BITS).cloned().collect();
            (operands.iter().map(|i| self.words[*i].as_slice()).collect(), sum)
        })
    }

    fn bits(&self, from: usize) -> impl Iterator<Item = &Boolean> + Clone {
        self.words.iter().cycle().skip(from % WORDS).flatten()
    }
}

/// `Σ 2^i bit_i` of a number, times `coefficient`, added to `lc`.
fn add_number<S: Style>(lc: Lc, number: &[Boolean], mut coefficient: Scalar) -> Lc {
    number.iter().fold(lc, |lc, bit| {
        let lc = S::add(lc, bit, coefficient);
        coefficient = coefficient.double();
        lc
    })
}

/// Rows of several additions, each shifted beyond those before it, as `MultiEq` makes them.
fn additions<S: Style>(material: &Material, cs: &mut Cs) {
    let additions: Vec<_> = material.additions().collect();
    for row in additions.chunks(ADDITIONS) {
        let shifts: Vec<Scalar> = std::iter::successors(Some(Scalar::ONE), |shift| {
            Some((0..SUM_BITS).fold(*shift, |s, _| s.double()))
        })
        .take(row.len())
        .collect();
        let sums = |lc| {
            row.iter().zip(&shifts).fold(lc, |lc, ((operands, _), shift)| {
                operands.iter().fold(lc, |lc, operand| add_number::<S>(lc, operand, *shift))
            })
        };
        let results =
            |lc| row.iter().zip(&shifts).fold(lc, |lc, ((_, sum), shift)| add_number::<S>(lc, sum, *shift));
        cs.enforce(|| "", sums, |lc| lc + Cs::one(), results);
    }
}

#[inline(never)]
fn additions_by_lc(material: &Material, cs: &mut Cs) {
    additions::<ByLc>(material, cs);
}

#[inline(never)]
fn additions_in_place(material: &Material, cs: &mut Cs) {
    additions::<InPlace>(material, cs);
}

#[inline(never)]
fn additions_sorted_once(material: &Material, cs: &mut Cs) {
    let mut equations = MultiEq::new(cs);
    for (operands, sum) in material.additions() {
        // The only error is of a sum as wide as the field.
        let _ = equations.enforce_equal(SUM_BITS, operands, &sum);
    }
}

/// Rows that pack 254 bits into a number, in the order of allocation.
fn packing<S: Style>(material: &Material, cs: &mut Cs) {
    for row in 0..PACKING_ROWS {
        let number: Vec<Boolean> = material.bits(row).take(254).cloned().collect();
        cs.enforce(|| "", |lc| add_number::<S>(lc, &number, Scalar::ONE), |lc| lc + Cs::one(), |lc| lc);
    }
}

#[inline(never)]
fn packing_by_lc(material: &Material, cs: &mut Cs) {
    packing::<ByLc>(material, cs);
}

#[inline(never)]
fn packing_in_place(material: &Material, cs: &mut Cs) {
    packing::<InPlace>(material, cs);
}

/// Rows of SHA-256's choice, `(b - c) · a = d - c`.
fn choices<S: Style>(material: &Material, cs: &mut Cs) {
    let rows = material.bits(0).zip(material.bits(1)).zip(material.bits(2).zip(material.bits(3)));
    for ((a, b), (c, d)) in rows.take(CHOICE_ROWS) {
        cs.enforce(
            || "",
            |lc| S::add(S::add(lc, b, Scalar::ONE), c, -Scalar::ONE),
            |lc| S::add(lc, a, Scalar::ONE),
            |lc| S::add(S::add(lc, d, Scalar::ONE), c, -Scalar::ONE),
        );
    }
}

#[inline(never)]
fn choices_by_lc(material: &Material, cs: &mut Cs) {
    choices::<ByLc>(material, cs);
}

#[inline(never)]
fn choices_in_place(material: &Material, cs: &mut Cs) {
    choices::<InPlace>(material, cs);
}

type Rows = fn(&Material, &mut Cs);

const ADDITION_VARIANTS: [(&str, Rows); 3] = [
    ("lc()", additions_by_lc),
    ("add_to_lc", additions_in_place),
    ("collected, sorted once", additions_sorted_once),
];
const PACKING_VARIANTS: [(&str, Rows); 2] = [("lc()", packing_by_lc), ("add_to_lc", packing_in_place)];
const CHOICE_VARIANTS: [(&str, Rows); 2] = [("lc()", choices_by_lc), ("add_to_lc", choices_in_place)];

/// The kinds of rows of SHA-256's circuit that are built from bits.
pub fn comparisons() -> Result<Vec<Comparison<'static>>, SynthesisError> {
    let kinds: [(&str, &[(&str, Rows)]); 3] = [
        ("additions of words, 64 rows", &ADDITION_VARIANTS),
        ("packing 254 bits, 2,000 rows", &PACKING_VARIANTS),
        ("choices, 100,000 rows", &CHOICE_VARIANTS),
    ];
    kinds
        .into_iter()
        .map(|(what, variants)| {
            let variants = variants
                .iter()
                .map(|(name, rows)| {
                    let (material, rows) = (Material::new()?, *rows);
                    let run: Run<'static> = Box::new(move |stopwatch| {
                        let mut cs = material.base.clone();
                        Ok(stopwatch.time(|| rows(&material, &mut cs)).1)
                    });
                    Ok((*name, run))
                })
                .collect::<Result<Vec<_>, SynthesisError>>()?;
            Ok(Comparison { what, variants })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_make_the_same_rows() {
        let material = Material::new().unwrap();
        let made = |rows: Rows| {
            let mut cs = material.base.clone();
            rows(&material, &mut cs);
            cs
        };
        for variants in [&ADDITION_VARIANTS[..], &PACKING_VARIANTS, &CHOICE_VARIANTS] {
            let first = made(variants[0].1);
            assert!(first.a().len() > material.base.a().len());
            for (name, rows) in &variants[1..] {
                assert!(made(*rows) == first, "{name}");
            }
        }
    }
}
