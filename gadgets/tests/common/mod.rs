//! What the tests hold gadgets against: a recording constraint system, a recording sink, values to try.
#![allow(dead_code, missing_docs)]

use assignment::WitnessSink;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::{Field, PrimeField};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// A value and whether it is a bit.
pub type Kinded = (Scalar, bool);

/// Records values and their kinds, checks every row as it comes, and digests the rows.
pub struct Recorder {
    blank: bool,
    pub inputs: Vec<Scalar>,
    pub aux: Vec<Kinded>,
    pub rows: usize,
    pub unsatisfied: Option<String>,
    stream: Option<Sha256>,
}

impl Recorder {
    pub fn with_values() -> Self {
        Self {
            blank: false,
            inputs: vec![Scalar::ONE],
            aux: vec![],
            rows: 0,
            unsatisfied: None,
            stream: None,
        }
    }

    /// Evaluates nothing, digests rows.
    pub fn blank() -> Self {
        Self { blank: true, stream: Some(Sha256::new()), ..Self::with_values() }
    }

    /// The first eight bytes of the digest of the rows so far.
    pub fn prefix_digest(&self) -> String {
        hex::encode(&self.stream.clone().unwrap().finalize()[..8])
    }

    /// The digest of the whole circuit, with counts.
    pub fn digest(&self) -> String {
        let mut stream = self.stream.clone().unwrap();
        for count in [self.inputs.len(), self.aux.len(), self.rows] {
            stream.update((count as u64).to_le_bytes());
        }
        hex::encode(stream.finalize())
    }

    fn evaluate(&self, lc: &LinearCombination<Scalar>) -> Scalar {
        let value = |variable: Variable| match variable.get_unchecked() {
            Index::Input(i) => self.inputs[i],
            Index::Aux(i) => self.aux[i].0,
        };
        lc.iter().map(|(variable, coeff)| value(variable) * coeff).sum()
    }

    fn digest_lc(stream: &mut Sha256, lc: &LinearCombination<Scalar>) {
        let terms = || lc.iter().filter(|(_, coeff)| !coeff.is_zero_vartime());
        stream.update((terms().count() as u32).to_le_bytes());
        for (variable, coeff) in terms() {
            let (tag, index) = match variable.get_unchecked() {
                Index::Input(i) => (0, i),
                Index::Aux(i) => (1, i),
            };
            stream.update([tag]);
            stream.update((index as u64).to_le_bytes());
            stream.update(coeff.to_repr());
        }
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<V, A, AR>(&mut self, annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = if self.blank { Scalar::ZERO } else { value()? };
        let name: String = annotation().into();
        let is_bit =
            ["boolean", "xor result", "and result", "and not result", "nor result"].contains(&&*name);
        self.aux.push((value, is_bit));
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<V, A, AR>(&mut self, _annotation: A, value: V) -> Result<Variable, SynthesisError>
    where
        V: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(if self.blank { Scalar::ZERO } else { value()? });
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let [a, b, c] =
            [a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())];
        if let Some(stream) = &mut self.stream {
            [&a, &b, &c].iter().for_each(|lc| Self::digest_lc(stream, lc));
        }
        if !self.blank
            && self.unsatisfied.is_none()
            && self.evaluate(&a) * self.evaluate(&b) != self.evaluate(&c)
        {
            self.unsatisfied = Some(format!("row {} ({})", self.rows, annotation().into()));
        }
        self.rows += 1;
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _name: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}

/// Records what a native generator pushes.
#[derive(Default)]
pub struct RecordingSink {
    pub inputs: Vec<Scalar>,
    pub aux: Vec<Kinded>,
}

impl WitnessSink<Scalar> for RecordingSink {
    fn bits(&mut self, word: u64, n: u32) {
        assert!((1..=64).contains(&n), "pushed {n} bits at once");
        assert!(n == 64 || word >> n == 0, "pushed {n} bits of {word:#x}");
        self.aux.extend((0..n).map(|i| (Scalar::from((word >> i) & 1), true)));
    }

    fn element(&mut self, value: Scalar) {
        self.aux.push((value, false));
    }

    fn input(&mut self, value: Scalar) {
        self.inputs.push(value);
    }
}

/// Runs both sides of a gadget and compares them: `before` allocates operands, which the native side
/// does not push; `gadget` and `native` are the two sides.
pub fn assert_same<T, G, N>(
    before: impl FnOnce(&mut Recorder) -> T,
    gadget: impl FnOnce(&mut Recorder, T) -> G,
    native: impl FnOnce(&mut RecordingSink) -> N,
) -> (G, N) {
    let mut cs = Recorder::with_values();
    let operands = before(&mut cs);
    let (aux, inputs) = (cs.aux.len(), cs.inputs.len());
    let result = gadget(&mut cs, operands);
    assert_eq!(cs.unsatisfied, None);
    let mut sink = RecordingSink::default();
    let native_result = native(&mut sink);
    let classic = &cs.aux[aux..];
    if let Some(i) = (0..classic.len().min(sink.aux.len())).find(|i| classic[*i] != sink.aux[*i]) {
        panic!("value {i}: classic {:?}, native {:?} (value, is a bit)", classic[i], sink.aux[i]);
    }
    assert_eq!(classic.len(), sink.aux.len(), "number of values");
    assert_eq!(cs.inputs[inputs..], sink.inputs, "public inputs");
    (result, native_result)
}

/// An allocated number.
pub fn num(cs: &mut impl ConstraintSystem<Scalar>, name: &str, value: Scalar) -> AllocatedNum<Scalar> {
    AllocatedNum::alloc(cs.namespace(|| name), || Ok(value)).unwrap()
}

/// Allocated numbers.
pub fn nums(
    cs: &mut impl ConstraintSystem<Scalar>,
    name: &str,
    values: &[Scalar],
) -> Vec<AllocatedNum<Scalar>> {
    values.iter().enumerate().map(|(i, value)| num(cs, &format!("{name} {i}"), *value)).collect()
}

/// An allocated bit.
pub fn bit(cs: &mut impl ConstraintSystem<Scalar>, name: &str, value: bool) -> Boolean {
    AllocatedBit::alloc(cs.namespace(|| name), Some(value)).unwrap().into()
}

/// The allocated low bits of a number, least significant first.
pub fn bits(cs: &mut impl ConstraintSystem<Scalar>, name: &str, value: u64, n: usize) -> Vec<Boolean> {
    (0..n).map(|i| bit(cs, &format!("{name} {i}"), (value >> i) & 1 == 1)).collect()
}

/// A property test of so many cases.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Field elements: any, and the awkward ones.
pub fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        8 => any::<[u64; 4]>().prop_map(|limbs| {
            limbs.iter().fold(Scalar::ZERO, |sum, limb| sum * Scalar::from(u64::MAX) + Scalar::from(*limb))
        }),
        1 => Just(Scalar::ZERO),
        1 => Just(Scalar::ONE),
        1 => Just(-Scalar::ONE),
    ]
}

/// A vector of field elements.
pub fn scalars(n: usize) -> impl Strategy<Value = Vec<Scalar>> {
    prop::collection::vec(scalar(), n)
}
