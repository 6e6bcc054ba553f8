//! Packed witnesses: round trips, the native path in parallel, and generators that lie.

use std::sync::atomic::{AtomicUsize, Ordering};

use assignment::{
    AuxValue, Bitmap, CircuitId, Difference, NativeWitness, NativeWitnessError, PackedError, PackedWitness,
    Packer, ProvingAssignment, StructuredCircuit, WitnessCS, WitnessCounts, WitnessSink, hints,
    native_witness,
};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::{Field, PrimeField};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// A value by kind: bits, elements (some of them 0 or 1), and inputs.
#[derive(Clone, Debug)]
enum Push {
    Bits(u64, u32),
    Element(u64),
    Elements(Vec<u64>),
    Input(u64),
}

fn pushes() -> impl Strategy<Value = Vec<Push>> {
    let bits = (any::<u64>(), 0u32..=64).prop_map(|(word, n)| {
        let mask = if n == 64 { u64::MAX } else { (1 << n) - 1 };
        Push::Bits(word & mask, n)
    });
    let push = prop_oneof![
        bits,
        (0u64..4).prop_map(Push::Element),
        prop::collection::vec(any::<u64>(), 0..150).prop_map(Push::Elements),
        any::<u64>().prop_map(Push::Input),
    ];
    prop::collection::vec(push, 0..40)
}

fn push_all<S: WitnessSink<Scalar>>(pushes: &[Push], sink: &mut S) {
    for push in pushes {
        match push {
            Push::Bits(word, n) => sink.bits(*word, *n),
            Push::Element(value) => sink.element(Scalar::from(*value)),
            Push::Elements(values) => {
                sink.elements(&values.iter().map(|value| Scalar::from(*value)).collect::<Vec<_>>());
            }
            Push::Input(value) => sink.input(Scalar::from(*value)),
        }
    }
}

/// What the pushes mean.
fn plain(pushes: &[Push]) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut inputs, mut aux) = (vec![], vec![]);
    for push in pushes {
        match push {
            Push::Bits(word, n) => aux.extend((0..*n).map(|i| Scalar::from(word >> i & 1))),
            Push::Element(value) => aux.push(Scalar::from(*value)),
            Push::Elements(values) => aux.extend(values.iter().map(|value| Scalar::from(*value))),
            Push::Input(value) => inputs.push(Scalar::from(*value)),
        }
    }
    (inputs, aux)
}

fn with_one(inputs: &[Scalar]) -> Vec<Scalar> {
    [&[Scalar::ONE], inputs].concat()
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A circuit without constraints whose units push the same kinds with other values.
struct Pushed {
    id: CircuitId,
    prefix: Vec<Push>,
    unit: Vec<Push>,
    units: usize,
    at_once: usize,
    /// A unit that pushes one element too many.
    longer: Option<usize>,
    /// A unit that fails.
    fails: Option<usize>,
}

impl Pushed {
    fn new(prefix: Vec<Push>, unit: Vec<Push>, units: usize) -> Self {
        let id = CircuitId::new(format!("pushed {}", NEXT.fetch_add(1, Ordering::Relaxed)), [0; 32]);
        Self { id, prefix, unit, units, at_once: 1, longer: None, fails: None }
    }

    fn unit(&self, unit: usize) -> Vec<Push> {
        let vary = |value: &u64| value.wrapping_add(unit as u64);
        let varied = self.unit.iter().map(|push| match push {
            Push::Bits(word, n) => Push::Bits(word & word.rotate_left(unit as u32), *n),
            Push::Element(value) => Push::Element(vary(value)),
            Push::Elements(values) => Push::Elements(values.iter().map(vary).collect()),
            Push::Input(value) => Push::Input(vary(value)),
        });
        varied.chain((self.longer == Some(unit)).then_some(Push::Element(5))).collect()
    }

    fn all(&self) -> Vec<Push> {
        self.prefix.iter().cloned().chain((0..self.units).flat_map(|unit| self.unit(unit))).collect()
    }
}

fn synthesize<CS: ConstraintSystem<Scalar>>(cs: &mut CS, pushes: &[Push]) -> Result<(), SynthesisError> {
    for push in pushes {
        let (inputs, aux) = plain(std::slice::from_ref(push));
        inputs.iter().try_for_each(|value| cs.alloc_input(|| "", || Ok(*value)).map(drop))?;
        aux.iter().try_for_each(|value| cs.alloc(|| "", || Ok(*value)).map(drop))?;
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("unit {0} fails")]
struct UnitFails(usize);

impl StructuredCircuit<Scalar> for Pushed {
    type Prefix = ();
    fn id(&self) -> CircuitId {
        self.id.clone()
    }
    fn units(&self) -> usize {
        self.units
    }
    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(&self, cs: &mut CS) -> Result<(), SynthesisError> {
        synthesize(cs, &self.prefix)
    }
    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        (): &(),
        unit: usize,
    ) -> Result<(), SynthesisError> {
        synthesize(cs, &self.unit(unit))
    }
}

impl NativeWitness<Scalar> for Pushed {
    type Context = ();
    type Error = UnitFails;
    fn prefix_witness<S: WitnessSink<Scalar>>(&self, sink: &mut S) -> Result<(), UnitFails> {
        push_all(&self.prefix, sink);
        Ok(())
    }
    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        (): &(),
        unit: usize,
        sink: &mut S,
    ) -> Result<(), UnitFails> {
        push_all(&self.unit(unit), sink);
        if self.fails == Some(unit) { Err(UnitFails(unit)) } else { Ok(()) }
    }

    fn units_at_once(&self) -> usize {
        self.at_once
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keeps_what_is_pushed(pushes in pushes()) {
        let (inputs, aux) = plain(&pushes);
        let mut packer = Packer::new();
        push_all(&pushes, &mut packer);
        prop_assert_eq!(packer.counts().aux, aux.len());
        let mut replayed = Packer::new();
        packer.replay(&mut replayed);
        prop_assert_eq!(replayed.counts(), packer.counts());
        let witness = packer.finish();
        prop_assert_eq!(witness.to_assignment(), (with_one(&inputs), aux.clone()));
        prop_assert_eq!(witness.first_difference(&replayed.finish()), None);
        for (i, value) in aux.iter().enumerate() {
            prop_assert_eq!(witness.aux(i).to_field(), *value);
            if let AuxValue::Bit(_) = witness.aux(i) {
                prop_assert!(!witness.is_dense().get(i));
            }
        }

        // Packed by value: other bits and elements, the same values and digest.
        let by_value = PackedWitness::from_assignment(with_one(&inputs), &aux).unwrap();
        prop_assert_eq!(by_value.first_difference(&witness), None);
        prop_assert_eq!(by_value.sha256(), witness.sha256());
        let mut hasher = Sha256::new();
        hasher.update((inputs.len() as u64 + 1).to_le_bytes());
        hasher.update((aux.len() as u64).to_le_bytes());
        with_one(&inputs).iter().chain(&aux).for_each(|value| hasher.update(value.to_repr()));
        prop_assert_eq!(witness.sha256(), <[u8; 32]>::from(hasher.finalize()));

        let parts = (witness.ones().clone(), witness.is_dense().clone(), witness.dense_values().to_vec());
        let again = PackedWitness::new(with_one(&inputs), parts.0, parts.1, parts.2).unwrap();
        prop_assert_eq!(again.first_difference(&witness), None);
    }

    #[test]
    fn native_in_parallel_is_the_synthesis(
        prefix in pushes(), unit in pushes(), units in 0usize..6, at_once in 0usize..4,
    ) {
        let circuit = Pushed { at_once, ..Pushed::new(prefix, unit, units) };
        let mut synthesis = WitnessCS::with_hint(None);
        circuit.synthesize_all(&mut synthesis).unwrap();
        let synthesis = synthesis.into_witness();
        let (inputs, aux) = plain(&circuit.all());
        prop_assert_eq!(synthesis.to_assignment(), (with_one(&inputs), aux));

        let mut sequential = Packer::new();
        push_all(&circuit.all(), &mut sequential);
        let sequential = sequential.finish();
        prop_assert_eq!(hints::shape(&circuit.id), None);
        // The first time learns the unit's shape, the second knows it.
        for _ in 0..2 {
            let native = native_witness(&circuit).unwrap();
            prop_assert_eq!(native.first_difference(&synthesis), None);
            prop_assert_eq!(native.is_dense(), sequential.is_dense());
            prop_assert_eq!(native.dense_values(), sequential.dense_values());
            prop_assert!(hints::shape(&circuit.id).is_some());
        }

        // So does the classic path.
        prop_assert_eq!(hints::capacity(&circuit.id), None);
        let grown = ProvingAssignment::of(&circuit).unwrap();
        prop_assert_eq!(hints::capacity(&circuit.id), Some(grown.capacity_hint()));
        let sized = ProvingAssignment::of(&circuit).unwrap();
        prop_assert_eq!((grown.inputs(), grown.aux()), (sized.inputs(), sized.aux()));
        let classic = PackedWitness::from_assignment(sized.inputs().to_vec(), sized.aux()).unwrap();
        prop_assert_eq!(classic.first_difference(&synthesis), None);
    }
}

#[test]
fn units_that_lie_are_named() {
    let unit = vec![Push::Element(7), Push::Bits(5, 3)];
    let mut circuit = Pushed::new(vec![Push::Input(3)], unit, 4);
    for at_once in [1, 1, 3] {
        circuit.at_once = at_once;
        circuit.longer = Some(2);
        let expected = WitnessCounts { inputs: 0, aux: 4, dense: 1 };
        match native_witness(&circuit) {
            Err(NativeWitnessError::UnitShape { unit: 2, expected: e, got }) => {
                assert_eq!((e, got), (expected, WitnessCounts { inputs: 0, aux: 5, dense: 2 }));
            }
            other => panic!("{:?}", other.map(drop)),
        }
        circuit.fails = Some(1);
        let error = native_witness(&circuit).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "unit 1 fails");
        // Now with the shape known.
        (circuit.fails, circuit.longer) = (None, None);
        native_witness(&circuit).unwrap();
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let one = vec![Scalar::ONE];
    let bits = |bits: &[bool]| {
        let mut bitmap = Bitmap::new();
        bits.iter().for_each(|bit| bitmap.push(*bit));
        bitmap
    };
    let new = |inputs: &[Scalar], ones: &[bool], dense: &[bool], values: usize| {
        let values = vec![Scalar::from(9); values];
        PackedWitness::new(inputs.to_vec(), bits(ones), bits(dense), values).map(drop)
    };
    assert_eq!(new(&[], &[], &[], 0), Err(PackedError::FirstInput));
    assert_eq!(new(&[Scalar::ZERO], &[], &[], 0), Err(PackedError::FirstInput));
    assert_eq!(new(&one, &[true], &[], 0), Err(PackedError::Bitmaps { ones: 1, is_dense: 0 }));
    assert_eq!(new(&one, &[false, true], &[false, true], 1), Err(PackedError::Overlap(1)));
    assert_eq!(new(&one, &[false, true], &[true, false], 0), Err(PackedError::Dense { expected: 1, got: 0 }));
    assert_eq!(new(&one, &[false, true], &[true, false], 1), Ok(()));
}

#[test]
fn differences_are_located() {
    let witness = |inputs: &[u64], aux: &[u64]| {
        let field = |values: &[u64]| values.iter().map(|value| Scalar::from(*value)).collect::<Vec<_>>();
        PackedWitness::from_assignment(field(inputs), &field(aux)).unwrap()
    };
    let base = witness(&[1, 5], &[0, 1, 7]);
    let (five, six) = (Scalar::from(5), Scalar::from(6));
    assert_eq!(base.first_difference(&witness(&[1, 6], &[0, 1, 7])), Some(Difference::Input(1, five, six)));
    let difference = base.first_difference(&witness(&[1, 5], &[0, 1, 6]));
    assert_eq!(difference, Some(Difference::Aux(2, Scalar::from(7), six)));
    let difference = base.first_difference(&witness(&[1], &[0, 1]));
    assert_eq!(difference, Some(Difference::Length { ours: (2, 3), theirs: (1, 2) }));
}
