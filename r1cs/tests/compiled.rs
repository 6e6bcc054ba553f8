//! The compiled form against the classic path and against a naive reading of the same constraints.

mod common;

use assignment::{
    Assembly, Combination, PackedWitness, ProvingAssignment, StructuredCircuit, Whole, WitnessCS,
};
use blstrs::Scalar;
use common::Synthetic;
use ff::Field;
use proptest::prelude::*;
use r1cs::{
    CheckError, CompileError, CompiledCircuit, DigestCS, PlainAssignment, ProductsMut, Recorder, Row,
    SizeError,
};
use rayon::iter::ParallelIterator;
use sha2::{Digest, Sha256};

type NaiveTerm = (bool, usize, Scalar);

/// Keeps combinations as they come.
#[derive(Default)]
struct Naive {
    rows: Vec<[Vec<NaiveTerm>; 3]>,
    inputs: usize,
    aux: usize,
}

impl Naive {
    fn of(circuit: &Synthetic) -> Self {
        let mut naive = Self { inputs: 1, ..Self::default() };
        circuit.synthesize_all(&mut naive).unwrap();
        naive
    }

    /// The digest, byte for byte as documented.
    fn digest(&self, rows: usize) -> Sha256 {
        let mut hasher = Sha256::new();
        for terms in self.rows[..rows].iter().flatten() {
            hasher.update((terms.len() as u32).to_le_bytes());
            for (is_input, index, coefficient) in terms {
                hasher.update([if *is_input { 0 } else { 1 }]);
                hasher.update((*index as u64).to_le_bytes());
                hasher.update(coefficient.to_bytes_le());
            }
        }
        hasher
    }

    fn final_digest(&self) -> [u8; 32] {
        let mut hasher = self.digest(self.rows.len());
        for n in [self.inputs, self.aux, self.rows.len()] {
            hasher.update((n as u64).to_le_bytes());
        }
        hasher.finalize().into()
    }
}

impl Assembly<Scalar> for Naive {
    fn new_aux<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.aux += 1;
        Ok(self.aux - 1)
    }
    fn new_input<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.inputs += 1;
        Ok(self.inputs - 1)
    }
    fn constrain<L: Combination<Scalar>>(&mut self, a: &L, b: &L, c: &L) {
        let terms = |lc: &L| {
            let mut terms: Vec<_> = lc.input_terms().map(|(i, c)| (true, i, *c)).collect();
            terms.extend(lc.aux_terms().map(|(i, c)| (false, i, *c)));
            terms.retain(|(_, _, c)| *c != Scalar::ZERO);
            terms.sort_by_key(|(is_input, i, _)| (!is_input, *i));
            terms
        };
        self.rows.push([terms(a), terms(b), terms(c)]);
    }
}

assignment::constraint_system!(bellpepper_core, [], Scalar, Naive);

fn classic(circuit: &Synthetic) -> ProvingAssignment<Scalar> {
    let mut assignment = ProvingAssignment::with_hint(None);
    circuit.synthesize_all(&mut assignment).unwrap();
    assignment
}

fn naive_row(row: &Row<'_>, circuit: &CompiledCircuit) -> [Vec<NaiveTerm>; 3] {
    [row.a, row.b, row.c].map(|terms| {
        let of = |term: &r1cs::Term| {
            let coefficient = circuit.coefficients()[term.coefficient as usize];
            match (term.column as usize).checked_sub(circuit.num_inputs()) {
                None => (true, term.column as usize, coefficient),
                Some(aux) => (false, aux, coefficient),
            }
        };
        terms.iter().map(of).collect()
    })
}

fn circuits() -> impl Strategy<Value = Synthetic> {
    let sizes = (0usize..50, 0usize..80);
    (any::<u64>(), 1usize..5, sizes, 0usize..6).prop_map(|(seed, units, steps, bound)| Synthetic {
        steps,
        bound,
        ..Synthetic::new(seed, units)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_are_the_circuits(circuit in circuits()) {
        let naive = Naive::of(&circuit.blank());
        let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
        prop_assert_eq!(compiled.num_inputs(), naive.inputs);
        prop_assert_eq!(compiled.num_aux(), naive.aux);
        prop_assert_eq!(compiled.num_constraints(), naive.rows.len());
        let mut rows = compiled.rows(0..usize::MAX);
        for (i, expected) in naive.rows.iter().enumerate() {
            let row = rows.next().unwrap();
            prop_assert_eq!(row.index, i);
            prop_assert_eq!(&naive_row(&row, &compiled), expected);
        }
        for input in 0..naive.inputs {
            let row = rows.next().unwrap();
            prop_assert_eq!(naive_row(&row, &compiled), [vec![(true, input, Scalar::ONE)], vec![], vec![]]);
        }
        prop_assert!(rows.next().is_none());
        // Any part is the same as in the whole.
        let (from, to) = (naive.rows.len() / 3, naive.rows.len() / 3 * 2);
        let mut rows = compiled.rows(from..to);
        for expected in &naive.rows[from..to] {
            prop_assert_eq!(&naive_row(&rows.next().unwrap(), &compiled), expected);
        }
        prop_assert!(rows.next().is_none());
    }

    #[test]
    fn rows_in_parallel_are_the_rows(circuit in circuits(), size in 0usize..50) {
        let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
        let collect = |mut rows: r1cs::Rows<'_>| {
            let mut all = vec![];
            while let Some(row) = rows.next() {
                all.push((row.index, naive_row(&row, &compiled)));
            }
            all
        };
        let parallel: Vec<_> = compiled.par_rows(size).flat_map(collect).collect();
        prop_assert_eq!(parallel, collect(compiled.rows(0..usize::MAX)));
    }

    #[test]
    fn products_are_the_classic_vectors(circuit in circuits()) {
        let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
        let mut classic = classic(&circuit);
        prop_assert_eq!(classic.capacity_hint(), compiled.capacity_hint());
        prop_assert_eq!(classic.first_unsatisfied(), None);
        classic.append_input_rows();
        let classic = classic.into_vectors();

        let mut witness = WitnessCS::with_hint(Some(compiled.capacity_hint()));
        circuit.synthesize_all(&mut witness).unwrap();
        let witness = witness.into_witness();
        prop_assert_eq!(witness.to_assignment(), (classic.inputs.clone(), classic.aux.clone()));

        let [a, b, c] = compiled.products(&witness).unwrap();
        prop_assert_eq!((&a, &b, &c), (&classic.a, &classic.b, &classic.c));
        let plain = PlainAssignment { inputs: &classic.inputs, aux: &classic.aux };
        let [a, b, c] = compiled.products(&plain).unwrap();
        prop_assert_eq!((&a, &b, &c), (&classic.a, &classic.b, &classic.c));
        let (mut a2, mut b2) = (vec![Scalar::ZERO; a.len()], vec![Scalar::ZERO; a.len()]);
        prop_assert_eq!(compiled.satisfied_products_into(&witness, &mut a2, &mut b2), Ok(()));
        prop_assert_eq!((&a2, &b2), (&a, &b));
        prop_assert_eq!(compiled.check(&witness), Ok(()));
        prop_assert_eq!(compiled.check(&plain), Ok(()));
        prop_assert_eq!(r1cs::first_unsatisfied(&a, &b, &c), None);

        prop_assert_eq!(compiled.a_aux_density(), classic.a_aux_density);
        prop_assert_eq!(compiled.b_input_density(), classic.b_input_density);
        prop_assert_eq!(compiled.b_aux_density(), classic.b_aux_density);
    }

    #[test]
    fn digests_agree(circuit in circuits()) {
        let naive = Naive::of(&circuit.blank());
        let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
        let mut digest = DigestCS::new();
        circuit.blank().synthesize_all(&mut digest).unwrap();
        let digest = digest.finish();
        prop_assert_eq!(digest.digest, naive.final_digest());
        prop_assert_eq!(compiled.known_digest(), None);
        prop_assert_eq!(compiled.digest(), naive.final_digest());
        prop_assert_eq!(compiled.known_digest(), Some(naive.final_digest()));
        prop_assert_eq!(&compiled.stats(), &digest.stats);
        let wanted: Vec<_> = digest.checkpoints.iter().map(|(checkpoint, ..)| checkpoint.constraints).collect();
        let checkpoints: Vec<_> = digest.checkpoints.iter().map(|(checkpoint, ..)| *checkpoint).collect();
        prop_assert_eq!(compiled.checkpoints(&wanted), checkpoints.clone());
        for checkpoint in checkpoints {
            let expected: [u8; 32] = naive.digest(checkpoint.constraints).finalize().into();
            prop_assert_eq!(checkpoint.stream_sha256, expected);
        }
    }

    #[test]
    fn a_plain_circuit_is_the_same_whole(circuit in circuits()) {
        let structured = CompiledCircuit::compile(&circuit.blank()).unwrap();
        let plain = CompiledCircuit::compile_plain(circuit.id(), Whole(&circuit.blank())).unwrap();
        prop_assert_eq!(plain.digest(), structured.digest());
        prop_assert_eq!(plain.stats(), structured.stats());
        prop_assert_eq!(plain.nnz(), structured.nnz());
    }

    #[test]
    fn the_first_wrong_row_is_named(seed in any::<u64>(), units in 1usize..4, step in 0usize..60) {
        let circuit = Synthetic { fault: Some((units - 1, step)), ..Synthetic::new(seed, units) };
        let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
        let classic = classic(&circuit);
        let (inputs, aux) = (classic.inputs().to_vec(), classic.aux());
        let witness = PackedWitness::from_assignment(inputs, aux).unwrap();
        match (compiled.check(&witness), classic.first_unsatisfied()) {
            // The faulty step may not be a product.
            (Ok(()), None) => {}
            (Err(CheckError::Unsatisfied { row, a, b, c }), Some(expected)) => {
                prop_assert_eq!(row, expected);
                prop_assert_eq!((a, b, c), (classic.a()[row], classic.b()[row], classic.c()[row]));
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn many_chunks_and_the_last_one_short() {
    let circuit = Synthetic { steps: (3_000, 3_000), ..Synthetic::new(5, 9) };
    let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
    let mut assignment = classic(&circuit);
    let witness = PackedWitness::from_assignment(assignment.inputs().to_vec(), assignment.aux()).unwrap();
    assignment.append_input_rows();
    let [a, b, c] = compiled.products(&witness).unwrap();
    assert!(a == assignment.a() && b == assignment.b() && c == assignment.c());
    assert_eq!(compiled.check(&witness), Ok(()));
    // One wrong bit late in the circuit.
    let mut aux = assignment.aux().to_vec();
    let last_bit = aux.iter().rposition(|value| *value == Scalar::ONE).unwrap();
    aux[last_bit] = Scalar::from(2);
    let wrong = PackedWitness::from_assignment(assignment.inputs().to_vec(), &aux).unwrap();
    let [a, b, c] = compiled.products(&wrong).unwrap();
    let by_products = r1cs::first_unsatisfied(&a, &b, &c).unwrap();
    let (mut a, mut b) = (a, b);
    assert_eq!(compiled.satisfied_products_into(&wrong, &mut a, &mut b), Err(by_products.clone()));
    assert_eq!(compiled.check(&wrong), Err(by_products));
}

#[test]
fn sizes_are_checked() {
    let circuit = Synthetic::new(1, 2);
    let compiled = CompiledCircuit::compile(&circuit.blank()).unwrap();
    let classic = classic(&circuit);
    let (inputs, aux) = (classic.inputs(), classic.aux());
    let short = PlainAssignment { inputs, aux: &aux[1..] };
    let expected =
        SizeError { what: "auxiliary variables of the witness", expected: aux.len(), got: aux.len() - 1 };
    assert_eq!(compiled.check(&short), Err(expected.into()));
    assert_eq!(compiled.products(&short).unwrap_err(), expected);
    let more = [inputs, &[Scalar::ONE]].concat();
    assert!(compiled.check(&PlainAssignment { inputs: &more, aux }).is_err());
    let rows = compiled.num_rows();
    let (mut a, mut b, mut c) =
        (vec![Scalar::ONE; rows + 1], vec![Scalar::ONE; rows], vec![Scalar::ONE; rows - 1]);
    let targets = ProductsMut { a: &mut a, b: &mut b, c: &mut c };
    let error = compiled.products_into(&PlainAssignment { inputs, aux }, targets).unwrap_err();
    assert_eq!((error.expected, error.got), (rows, rows - 1));
}

#[test]
fn a_unit_that_is_no_copy_is_refused() {
    for odd in [0, 1] {
        let circuit = Synthetic { odd: Some(odd), ..Synthetic::new(3, 3) };
        let error = CompiledCircuit::compile(&circuit.blank()).unwrap_err();
        assert!(matches!(error, CompileError::NotACopy { unit: 1, .. }), "{error}");
    }
    assert!(matches!(CompiledCircuit::compile(&Synthetic::new(3, 0)), Err(CompileError::NoUnits)));
}

#[test]
fn unknown_variables_are_refused() {
    use bellpepper_core::{ConstraintSystem, Index, Variable};
    for index in [Index::Input(1), Index::Aux(7)] {
        let mut recorder = Recorder::new();
        recorder.enforce(|| "", |lc| lc, |lc| lc, |lc| lc);
        recorder.enforce(|| "", |lc| lc, |lc| lc + Variable::new_unchecked(index), |lc| lc);
        let error = recorder.finish(Synthetic::new(1, 1).id()).unwrap_err();
        assert!(matches!(error, CompileError::UnknownVariable { row: 1, matrix: r1cs::MatrixName::B, .. }));
    }
}

#[test]
fn coefficients_beyond_65536_are_refused() {
    use bellpepper_core::ConstraintSystem;
    let mut recorder = Recorder::new();
    for i in 0..65_536u64 {
        recorder.enforce(|| "", |lc| lc, |lc| lc, |lc| lc + (Scalar::from(i), Recorder::one()));
    }
    // Zero is no coefficient, and -1 came unasked.
    recorder.enforce(|| "", |lc| lc + (Scalar::from(65_536), Recorder::one()), |lc| lc, |lc| lc);
    let error = recorder.finish(Synthetic::new(1, 1).id()).unwrap_err();
    let CompileError::TooManyCoefficients { row: 65_536, matrix: r1cs::MatrixName::A } = error else {
        panic!("{error}");
    };
}

#[test]
fn namespaces_are_traced() {
    use bellpepper_core::ConstraintSystem;
    let mut digest = DigestCS::with_trace(2);
    {
        let mut outer = digest.namespace(|| "outer");
        let mut inner = outer.namespace(|| "inner");
        let x = inner.alloc(|| "x", || Err(bellpepper_core::SynthesisError::AssignmentMissing)).unwrap();
        let mut too_deep = inner.namespace(|| "deep");
        too_deep.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc);
    }
    let digest = digest.finish();
    let paths: Vec<_> = digest.namespaces.iter().map(|end| end.path.as_str()).collect();
    assert_eq!(paths, ["outer/inner", "outer"]);
    let [inner, outer] = digest.namespaces.as_slice() else { panic!() };
    assert_eq!((inner.constraints, inner.inputs, inner.aux), (1, 1, 1));
    assert_eq!(inner.stream_sha256, outer.stream_sha256);
    assert_eq!(inner.stream_sha256, digest.checkpoints[0].0.stream_sha256);
}
