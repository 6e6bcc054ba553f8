//! Setup and proofs against their definition, in the exponent, and the faults that are refused.

mod common;

use std::sync::Arc;

use blstrs::{G1Affine, G2Affine, Scalar};
use common::{Cubic, Mimc, Random, assignment, compile, parameters, rng, waste, witness};
use ff::Field;
use groth16::{
    Backend, ParameterError, Parameters, PreparedVerifyingKey, ProveError, Prover, Randomness, Section,
    SetupError, Shape, ToxicWaste, VerificationError, ZeroSecret, prove_assignment, setup,
};
use group::Curve;
use group::prime::PrimeCurveAffine;
use proptest::prelude::*;
use r1cs::{CheckError, CompiledCircuit, Term};

/// A trapdoor and what it makes of a circuit, by the definitions and without any transform.
struct Exponents {
    alpha: Scalar,
    beta: Scalar,
    gamma: Scalar,
    delta: Scalar,
    tau: Scalar,
    vanishing: Scalar,
    columns: [Vec<Scalar>; 3],
}

impl Exponents {
    fn new(circuit: &CompiledCircuit, seed: u64) -> Self {
        let mut rng = rng(seed);
        let [alpha, beta, gamma, delta, tau] = std::array::from_fn(|_| Scalar::random(&mut rng));
        let n = circuit.num_rows().next_power_of_two();
        let root = ntt_gpu::Domain::covering(n).unwrap().root();
        let points: Vec<Scalar> = (0..n as u64).map(|i| root.pow_vartime([i])).collect();
        let mut columns = [(); 3].map(|()| vec![Scalar::ZERO; circuit.num_inputs() + circuit.num_aux()]);
        let mut rows = circuit.rows(0..circuit.num_rows());
        while let Some(row) = rows.next() {
            // L_i(τ) = Π_{k ≠ i} (τ - ω^k) / (ω^i - ω^k)
            let at = points[row.index];
            let others = points.iter().filter(|point| **point != at);
            let lagrange: Scalar =
                others.map(|point| (tau - point) * (at - point).invert().unwrap()).product();
            let add = |column: &mut Vec<Scalar>, terms: &[Term]| {
                for term in terms {
                    column[term.column as usize] +=
                        circuit.coefficients()[term.coefficient as usize] * lagrange;
                }
            };
            let [a, b, c] = &mut columns;
            add(a, row.a);
            add(b, row.b);
            add(c, row.c);
        }
        let vanishing = points.iter().map(|point| tau - point).product();
        Self { alpha, beta, gamma, delta, tau, vanishing, columns }
    }

    fn waste(&self) -> ToxicWaste {
        ToxicWaste::new(self.alpha, self.beta, self.gamma, self.delta, self.tau).unwrap()
    }

    fn combined(&self, i: usize) -> Scalar {
        let [a, b, c] = &self.columns;
        self.beta * a[i] + self.alpha * b[i] + c[i]
    }

    /// The logarithms of a proof's points.
    fn proof(&self, values: &[Scalar], inputs: usize, r: Scalar, s: Scalar) -> [Scalar; 3] {
        let [a, b, c] = &self.columns;
        let at = |column: &[Scalar]| column.iter().zip(values).map(|(c, v)| *c * v).sum::<Scalar>();
        let (wa, wb, wc) = (at(a), at(b), at(c));
        let (a, b) = (self.alpha + wa + r * self.delta, self.beta + wb + s * self.delta);
        let of_aux: Scalar = (inputs..values.len()).map(|i| self.combined(i) * values[i]).sum();
        let h = wa * wb - wc;
        let c = (of_aux + h) * self.delta.invert().unwrap() + s * a + r * b - r * s * self.delta;
        [a, b, c]
    }
}

fn g1(exponent: Scalar) -> G1Affine {
    (G1Affine::generator() * exponent).to_affine()
}

fn g2(exponent: Scalar) -> G2Affine {
    (G2Affine::generator() * exponent).to_affine()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Parameters, and proofs on both paths, for random circuits.
    #[test]
    fn everything_equals_its_definition(structure: u64, constraints in 1usize..40, seed: u64) {
        let circuit = Random::new(structure, constraints);
        let compiled = compile(circuit.clone());
        let e = Exponents::new(&compiled, seed);
        let parameters = setup(&compiled, e.waste()).unwrap();
        let inputs = compiled.num_inputs();

        let (over_gamma, over_delta) = (e.gamma.invert().unwrap(), e.delta.invert().unwrap());
        prop_assert_eq!(parameters.vk.alpha_g1, g1(e.alpha));
        prop_assert_eq!((parameters.vk.beta_g1, parameters.vk.beta_g2), (g1(e.beta), g2(e.beta)));
        prop_assert_eq!(parameters.vk.gamma_g2, g2(e.gamma));
        prop_assert_eq!((parameters.vk.delta_g1, parameters.vk.delta_g2), (g1(e.delta), g2(e.delta)));
        let ic: Vec<_> = (0..inputs).map(|i| g1(e.combined(i) * over_gamma)).collect();
        prop_assert_eq!(&parameters.vk.ic, &ic);
        let l: Vec<_> = (inputs..e.columns[0].len()).map(|i| g1(e.combined(i) * over_delta)).collect();
        prop_assert_eq!(&parameters.l, &l);
        let n = compiled.num_rows().next_power_of_two() as u64;
        let h: Vec<_> = (0..n - 1).map(|i| g1(e.tau.pow_vartime([i]) * e.vanishing * over_delta)).collect();
        prop_assert_eq!(&parameters.h, &h);
        let [a, b, _] = &e.columns;
        let a: Vec<_> = a.iter().filter(|v| **v != Scalar::ZERO).map(|v| g1(*v)).collect();
        prop_assert_eq!(&parameters.a, &a);
        let b1: Vec<_> = b.iter().filter(|v| **v != Scalar::ZERO).map(|v| g1(*v)).collect();
        prop_assert_eq!(&parameters.b_g1, &b1);
        let b2: Vec<_> = b.iter().filter(|v| **v != Scalar::ZERO).map(|v| g2(*v)).collect();
        prop_assert_eq!(&parameters.b_g2, &b2);
        parameters.check_shape(&Shape::from(&compiled)).unwrap();
        parameters.check_subgroups(&mut rng(seed)).unwrap();

        let mut rng = rng(seed ^ 1);
        let (r, s) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
        let packed = witness(circuit.clone());
        let (all_inputs, aux) = packed.to_assignment();
        let expected = e.proof(&[all_inputs.clone(), aux].concat(), inputs, r, s);
        let parameters = Arc::new(parameters);
        let prover = Prover::new(Arc::new(compiled), parameters.clone(), Backend::Cpu).unwrap();
        let proved = prover.prove_with_randomness(&packed, Randomness::fixed(r, s).unwrap()).unwrap();
        prop_assert_eq!(proved.proof.a(), &g1(expected[0]));
        prop_assert_eq!(proved.proof.b(), &g2(expected[1]));
        prop_assert_eq!(proved.proof.c(), &g1(expected[2]));
        prop_assert_eq!(&proved.public_inputs, &all_inputs[1..]);

        let classic =
            prove_assignment(&parameters, assignment(circuit), Randomness::fixed(r, s).unwrap(), None).unwrap();
        prop_assert_eq!(classic.proof.to_bytes(), proved.proof.to_bytes());
        prop_assert_eq!(&classic.public_inputs, &proved.public_inputs);
    }

    /// A wrong row is named before anything is computed from it, on both paths.
    #[test]
    fn unsatisfied_rows_are_named(structure: u64, constraints in 1usize..60, at: prop::sample::Index) {
        let good = Random::new(structure, constraints);
        let bad = Random { wrong: Some(at.index(constraints)), ..good.clone() };
        let compiled = compile(good);
        let parameters = Arc::new(parameters(&compiled));
        let row = {
            let cs = assignment(bad.clone());
            cs.first_unsatisfied().unwrap()
        };
        let prover = Prover::new(Arc::new(compiled), parameters.clone(), Backend::Cpu).unwrap();
        let error = prover.prove(&witness(bad.clone()), &mut rng(1)).unwrap_err();
        prop_assert!(
            matches!(error, ProveError::Witness(CheckError::Unsatisfied { row: got, .. }) if got == row),
            "{}", error
        );
        let error = prove_assignment(&parameters, assignment(bad), Randomness::random(&mut rng(1)), None).unwrap_err();
        prop_assert!(
            matches!(error, ProveError::Witness(CheckError::Unsatisfied { row: got, .. }) if got == row),
            "{}", error
        );
    }
}

fn prover(circuit: impl bellpepper_core::Circuit<Scalar>) -> Prover {
    let compiled = compile(circuit);
    let parameters = Arc::new(parameters(&compiled));
    Prover::new(Arc::new(compiled), parameters, Backend::Cpu).unwrap()
}

#[test]
fn mimc_end_to_end() {
    let circuit = Mimc { preimage: Scalar::from(42), rounds: 300 };
    let prover = prover(circuit.clone());
    let first = prover.prove(&witness(circuit.clone()), &mut rng(1)).unwrap();
    let second = prover.prove(&witness(circuit), &mut rng(2)).unwrap();
    assert_ne!(first.proof, second.proof, "fresh randomness");
    for proved in [&first, &second] {
        prover.verifying_key().verify(&proved.proof, &proved.public_inputs).unwrap();
        assert!(proved.times.witness.is_none() && proved.times.verify.is_some());
    }
    let wrong = [first.public_inputs[0] + Scalar::ONE];
    assert_eq!(prover.verifying_key().verify(&first.proof, &wrong), Err(VerificationError::InvalidProof));
}

#[test]
fn another_circuits_witness_or_parameters_are_refused() {
    let prover = prover(Cubic(3));
    let error = prover.prove(&witness(Random::new(1, 5)), &mut rng(1)).unwrap_err();
    assert!(matches!(error, ProveError::Witness(CheckError::Size(_))), "{error}");

    let cubic = compile(Cubic(3));
    let other = parameters(&compile(Mimc { preimage: Scalar::ONE, rounds: 9 }));
    let error = Prover::new(Arc::new(cubic.clone()), Arc::new(other), Backend::Cpu).unwrap_err();
    assert!(matches!(error, ProveError::Parameters(ParameterError::Shape { .. })), "{error}");

    let shape = Shape::from(&cubic);
    let good = parameters(&cubic);
    good.check_shape(&shape).unwrap();
    let refused = |change: fn(&mut Parameters), section: Section| {
        let mut bad = good.clone();
        change(&mut bad);
        match bad.check_shape(&shape) {
            Err(ParameterError::Shape { section: got, .. }) => assert_eq!(got, section),
            other => panic!("{other:?}"),
        }
    };
    refused(|p| p.h.truncate(2), Section::H);
    refused(|p| p.l.push(p.l[0]), Section::L);
    refused(|p| p.a.truncate(1), Section::A);
    refused(|p| p.b_g1.clear(), Section::BG1);
    refused(|p| p.b_g2.push(p.b_g2[0]), Section::BG2);
    refused(|p| p.vk.ic.truncate(1), Section::Ic);
    refused(|p| std::mem::swap(&mut p.h, &mut p.l), Section::H);
}

/// Another circuit's parameters that happen to have the same shape: only the finished proof shows it.
#[test]
fn parameters_of_the_same_shape_are_noticed() {
    struct Square(u64, Scalar);
    impl bellpepper_core::Circuit<Scalar> for Square {
        fn synthesize<CS: bellpepper_core::ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), bellpepper_core::SynthesisError> {
            let value = Scalar::from(self.0);
            let x = cs.alloc(|| "", || Ok(value))?;
            let y = cs.alloc_input(|| "", || Ok(value.square() * self.1))?;
            cs.enforce(|| "", |lc| lc + (self.1, x), |lc| lc + x, |lc| lc + y);
            Ok(())
        }
    }
    let circuit = Arc::new(compile(Square(3, Scalar::ONE)));
    let other = parameters(&compile(Square(3, Scalar::from(2))));
    let prover = Prover::new(circuit, Arc::new(other), Backend::Cpu).unwrap();
    let error = prover.prove(&witness(Square(3, Scalar::ONE)), &mut rng(1)).unwrap_err();
    assert!(matches!(error, ProveError::Verification(VerificationError::InvalidProof)), "{error}");
}

#[test]
fn setup_refuses_what_it_cannot_do() {
    struct Unused;
    impl bellpepper_core::Circuit<Scalar> for Unused {
        fn synthesize<CS: bellpepper_core::ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), bellpepper_core::SynthesisError> {
            let x = cs.alloc(|| "", || Ok(Scalar::ONE))?;
            cs.alloc(|| "", || Ok(Scalar::ONE))?;
            cs.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc + x);
            Ok(())
        }
    }
    assert!(matches!(setup(&compile(Unused), waste(1)), Err(SetupError::Unconstrained { index: 1 })));
    let circuit = compile(Cubic(1));
    let root = ntt_gpu::Domain::covering(circuit.num_rows()).unwrap().root();
    let [a, b, c, d] = [2, 3, 4, 5].map(Scalar::from);
    let in_domain = ToxicWaste::new(a, b, c, d, root).unwrap();
    assert!(matches!(setup(&circuit, in_domain), Err(SetupError::TauInDomain)));
    let same = ToxicWaste::new(a, b, c, c, d).unwrap();
    assert!(matches!(setup(&circuit, same), Err(SetupError::Key(_))));
    assert_eq!(ToxicWaste::new(a, b, c, Scalar::ZERO, d).unwrap_err(), ZeroSecret("delta"));
}

#[test]
fn randomness_is_never_zero() {
    assert_eq!(Randomness::fixed(Scalar::ZERO, Scalar::ONE).unwrap_err(), ZeroSecret("r"));
    assert_eq!(Randomness::fixed(Scalar::ONE, Scalar::ZERO).unwrap_err(), ZeroSecret("s"));
    assert_eq!(format!("{:?}", Randomness::random(&mut rng(1))), "Randomness(..)");
    assert_eq!(format!("{:?}", waste(1)), "ToxicWaste(..)");
}

#[test]
fn a_key_in_parameters_is_checked_before_proving() {
    let circuit = Arc::new(compile(Cubic(3)));
    let mut parameters = parameters(&circuit);
    parameters.vk.gamma_g2 = parameters.vk.delta_g2;
    assert!(PreparedVerifyingKey::new(&parameters.vk).is_err());
    assert!(matches!(Prover::new(circuit, Arc::new(parameters), Backend::Cpu), Err(ProveError::Key(_))));
}
