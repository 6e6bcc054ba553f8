//! Choices, sums and bits of numbers.

use assignment::WitnessSink;
use bellpepper_core::boolean::{AllocatedBit, Boolean, field_into_allocated_bits_le};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::{PrimeField, PrimeFieldBits};

use crate::boolean::BooleanExt;

/// A number of siblings that [`insert`] has no layout for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("insertion is defined among 1, 3 or 7 siblings, got {siblings}")]
pub struct UnsupportedInsertion {
    /// The siblings given.
    pub siblings: usize,
}

impl From<UnsupportedInsertion> for SynthesisError {
    fn from(error: UnsupportedInsertion) -> Self {
        Self::IncompatibleLengthVector(error.to_string())
    }
}

/// `a` where `condition` is one, otherwise `b`: one variable `c`, one row `(b - a) · condition = b - c`.
pub fn pick<F, CS>(
    mut cs: CS,
    condition: &Boolean,
    a: &AllocatedNum<F>,
    b: &AllocatedNum<F>,
) -> Result<AllocatedNum<F>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let c = AllocatedNum::alloc(cs.namespace(|| "pick result"), || {
        let condition = condition.get_value().ok_or(SynthesisError::AssignmentMissing)?;
        if condition { a } else { b }.get_value().ok_or(SynthesisError::AssignmentMissing)
    })?;
    cs.enforce(
        || "pick",
        |lc| lc + b.get_variable() - a.get_variable(),
        |lc| condition.add_to_lc(lc, CS::one(), F::ONE),
        |lc| lc + b.get_variable() - c.get_variable(),
    );
    Ok(c)
}

/// The values of [`pick`].
pub fn pick_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, condition: bool, a: F, b: F) -> F {
    let c = if condition { a } else { b };
    sink.element(c);
    c
}

/// The row `a · 1 = b`.
pub fn equal<F, CS>(mut cs: CS, annotation: impl FnOnce() -> String, a: &AllocatedNum<F>, b: &AllocatedNum<F>)
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    cs.enforce(annotation, |lc| lc + a.get_variable(), |lc| lc + CS::one(), |lc| lc + b.get_variable());
}

/// `a + b`: one variable, one row `(a + b) · 1 = sum`. A replica's node is its label plus its data, computed by this.
pub fn add<F, CS>(
    mut cs: CS,
    a: &AllocatedNum<F>,
    b: &AllocatedNum<F>,
) -> Result<AllocatedNum<F>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let sum = AllocatedNum::alloc(cs.namespace(|| "add_num"), || {
        let (a, b) = a.get_value().zip(b.get_value()).ok_or(SynthesisError::AssignmentMissing)?;
        Ok(a + b)
    })?;
    cs.enforce(
        || "sum constraint",
        |lc| lc + a.get_variable() + b.get_variable(),
        |lc| lc + CS::one(),
        |lc| lc + sum.get_variable(),
    );
    Ok(sum)
}

/// The values of [`add`].
pub fn add_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, a: F, b: F) -> F {
    let sum = a + b;
    sink.element(sum);
    sum
}

/// The values of `AllocatedNum::to_bits_le` and of [`decompose`]: 255 bits, least significant first.
///
/// Returns the 32 little-endian bytes.
pub fn to_bits_le_witness(sink: &mut impl WitnessSink<Scalar>, value: &Scalar) -> [u8; 32] {
    let bytes = value.to_bytes_le();
    let (words, _) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        // The modulus has 255 bits: bit 255 is zero and not allocated.
        sink.bits(u64::from_le_bytes(*word), if i == 3 { 63 } else { 64 });
    }
    bytes
}

/// The 255 bits of a number, least significant first, with the row `(Σ 2^i · bit_i) · 1 = num`.
///
/// `AllocatedNum::to_bits_le` differs in this row only: there it is `0 · 0 = Σ 2^i · bit_i - num`. SnapDeals' circuit
/// uses this form for its challenges. Neither excludes a representation above the modulus.
pub fn decompose<F, CS>(mut cs: CS, num: &AllocatedNum<F>) -> Result<Vec<AllocatedBit>, SynthesisError>
where
    F: PrimeField + PrimeFieldBits,
    CS: ConstraintSystem<F>,
{
    let bits = field_into_allocated_bits_le(&mut cs, num.get_value())?;
    cs.enforce(
        || "binary decomp",
        |mut lc| {
            let mut coeff = F::ONE;
            for bit in &bits {
                lc = lc + (coeff, bit.get_variable());
                coeff = coeff.double();
            }
            lc
        },
        |lc| lc + CS::one(),
        |lc| lc + num.get_variable(),
    );
    Ok(bits)
}

/// `from[index]` for the index with the given bits, least significant first: `from.len() - 1` [`pick`]s, decided by the
/// most significant bit first.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] unless there are `2^bits` numbers.
pub fn select<F, CS>(
    mut cs: CS,
    from: &[AllocatedNum<F>],
    bits: &[Boolean],
) -> Result<AllocatedNum<F>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    check_index_bits(from.len(), bits.len())?;
    let mut state = from.to_vec();
    for (i, bit) in bits.iter().rev().enumerate() {
        let (low, high) = state.split_at(state.len() / 2);
        let picks = low.iter().zip(high).enumerate();
        let picks =
            picks.map(|(j, (low, high))| pick(cs.namespace(|| format!("pick {i}, {j}")), bit, high, low));
        state = picks.collect::<Result<_, _>>()?;
    }
    state.pop().ok_or(SynthesisError::Unsatisfiable)
}

/// The values of [`select`] among a power of two of numbers: `None`, with nothing pushed, unless `from` has so many and
/// `index` is one of theirs.
pub fn select_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, from: &[F], index: usize) -> Option<F> {
    if !from.len().is_power_of_two() || index >= from.len() {
        return None;
    }
    let mut state = from.to_vec();
    while state.len() > 1 {
        let half = state.len() / 2;
        let (low, high) = state.split_at_mut(half);
        let bit = index & half != 0;
        for (low, high) in low.iter_mut().zip(high) {
            *low = pick_witness(sink, bit, *high, *low);
        }
        state.truncate(half);
    }
    state.pop()
}

/// The siblings with `element` inserted at the position with the given bits, least significant first.
///
/// Defined among 1, 3 and 7 siblings, with the picks in the order of production circuits: 2, 8 and 22 of them, and among 7
/// siblings the variables `b0 nor b1` and `b0 and b1` before them. The bits are allocated ones.
///
/// # Errors
/// [`SynthesisError::IncompatibleLengthVector`] for another number of siblings or bits.
pub fn insert<F, CS>(
    mut cs: CS,
    element: &AllocatedNum<F>,
    bits: &[Boolean],
    siblings: &[AllocatedNum<F>],
) -> Result<Vec<AllocatedNum<F>>, SynthesisError>
where
    F: PrimeField,
    CS: ConstraintSystem<F>,
{
    let layout = Insertion::among(siblings.len())?;
    check_index_bits(siblings.len() + 1, bits.len())?;
    let mut conditions = bits.to_vec();
    if let [b0, b1, _] = bits {
        conditions.push(Boolean::and(cs.namespace(|| "b0 nor b1"), &b0.not(), &b1.not())?);
        conditions.push(Boolean::and(cs.namespace(|| "b0 and b1"), b0, b1)?);
    }
    let mut values = Vec::with_capacity(siblings.len() + 1 + layout.picks.len());
    values.push(element.clone());
    values.extend_from_slice(siblings);
    for step in layout.picks {
        let (one, zero) = (&values[step.one], &values[step.zero]);
        values.push(pick(cs.namespace(|| step.name), &conditions[step.condition], one, zero)?);
    }
    Ok(layout.outputs().map(|i| values[i].clone()).collect())
}

/// The values of [`insert`] at position `index`, of which only the bits that an index among the siblings has are looked at.
pub fn insert_witness<F: PrimeField>(
    sink: &mut impl WitnessSink<F>,
    element: F,
    index: usize,
    siblings: &[F],
) -> Result<Vec<F>, UnsupportedInsertion> {
    let layout = Insertion::among(siblings.len())?;
    let bit = |i: usize| (index >> i) & 1 == 1;
    let conditions = [bit(0), bit(1), bit(2), !(bit(0) | bit(1)), bit(0) & bit(1)];
    if siblings.len() == 7 {
        sink.bit(conditions[NOR]);
        sink.bit(conditions[AND]);
    }
    let mut values = [F::ZERO; 30];
    values[0] = element;
    values[1..=siblings.len()].copy_from_slice(siblings);
    let results = siblings.len() + 1;
    for (i, step) in layout.picks.iter().enumerate() {
        values[results + i] =
            pick_witness(sink, conditions[step.condition], values[step.one], values[step.zero]);
    }
    Ok(layout.outputs().map(|i| values[i]).collect())
}

fn check_index_bits(positions: usize, bits: usize) -> Result<(), SynthesisError> {
    if u32::try_from(bits).ok().and_then(|bits| 1usize.checked_shl(bits)) == Some(positions) {
        return Ok(());
    }
    Err(SynthesisError::IncompatibleLengthVector(format!("{bits} bits do not index {positions} positions")))
}

/// One pick of an insertion. Values are numbered: the element is 0, siblings are 1.., results follow in order.
struct Pick {
    name: &'static str,
    /// The index bit, or [`NOR`] or [`AND`].
    condition: usize,
    one: usize,
    zero: usize,
    /// Whether the result is the next of the inserted sequence, not a step towards it.
    output: bool,
}

const NOR: usize = 3;
const AND: usize = 4;

/// The picks that insert an element among siblings: one definition for the rows and the native values.
struct Insertion {
    siblings: usize,
    picks: &'static [Pick],
}

impl Insertion {
    fn among(siblings: usize) -> Result<Self, UnsupportedInsertion> {
        let picks = match siblings {
            1 => INSERT_2,
            3 => INSERT_4,
            7 => INSERT_8,
            _ => return Err(UnsupportedInsertion { siblings }),
        };
        Ok(Self { siblings, picks })
    }

    fn outputs(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.siblings + 1;
        self.picks.iter().enumerate().filter(|(_, pick)| pick.output).map(move |(i, _)| first + i)
    }
}

const fn step(name: &'static str, condition: usize, one: usize, zero: usize) -> Pick {
    Pick { name, condition, one, zero, output: false }
}

const fn output(name: &'static str, condition: usize, one: usize, zero: usize) -> Pick {
    Pick { name, condition, one, zero, output: true }
}

const INSERT_2: &[Pick] = &[output("binary insert 0", 0, 1, 0), output("binary insert 1", 0, 0, 1)];

const INSERT_4: &[Pick] = &[
    step("p0_x0", 0, 1, 0), // 4
    output("p0", 1, 1, 4),  // 5
    step("p1_x0", 0, 0, 1), // 6
    output("p1", 1, 2, 6),  // 7
    step("p2_x1", 0, 3, 0), // 8
    output("p2", 1, 8, 2),  // 9
    step("p3_x1", 0, 0, 3), // 10
    output("p3", 1, 10, 3), // 11
];

const INSERT_8: &[Pick] = &[
    step("p0_xx0", NOR, 0, 1), // 8
    output("p0", 2, 1, 8),     // 9
    step("p1_x00", 0, 0, 1),   // 10
    step("p1_xx0", 1, 2, 10),  // 11
    output("p1", 2, 2, 11),    // 12
    step("p2_x10", 0, 3, 0),   // 13
    step("p2_xx0", 1, 13, 2),  // 14
    output("p2", 2, 3, 14),    // 15
    step("p3_xx0", AND, 0, 3), // 16
    output("p3", 2, 4, 16),    // 17
    step("p4_xx1", NOR, 0, 5), // 18
    output("p4", 2, 18, 4),    // 19
    step("p5_x01", 0, 0, 5),   // 20
    step("p5_xx1", 1, 6, 20),  // 21
    output("p5", 2, 21, 5),    // 22
    step("p6_x11", 0, 7, 0),   // 23
    step("p6_xx1", 1, 23, 6),  // 24
    output("p6", 2, 24, 6),    // 25
    step("p7_xx1", AND, 0, 7), // 26
    output("p7", 2, 26, 7),    // 27
];
