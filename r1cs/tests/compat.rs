//! The same circuit through bellpepper-core 0.2 and 0.4.

use assignment::{CircuitId, ProvingAssignment, WitnessCS};
use blstrs::Scalar;
use ff::Field;
use r1cs::{DigestCS, Recorder};

/// Defines `synthesize` for one version: `sectors` pieces, in parallel pieces where the system is extensible, as
/// storage-proofs' WindowPoSt does it.
macro_rules! circuit {
    ($module:ident, $core:ident) => {
        mod $module {
            use super::*;
            use $core::{ConstraintSystem, SynthesisError};

            fn sector<CS: ConstraintSystem<Scalar>>(cs: &mut CS, i: u64) -> Result<(), SynthesisError> {
                let mut cs = cs.namespace(|| format!("sector {i}"));
                let x = cs.alloc(|| "x", || Ok(Scalar::from(i + 2)))?;
                let square = cs.alloc(|| "square", || Ok(Scalar::from(i + 2).square()))?;
                cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
                let public =
                    cs.alloc_input(|| "public", || Ok(Scalar::from(i + 2).square() - Scalar::ONE))?;
                cs.enforce(
                    || "public",
                    |lc| lc + square - CS::one() + (Scalar::ZERO, x),
                    |lc| lc + CS::one(),
                    |lc| lc + public,
                );
                Ok(())
            }

            pub fn synthesize<CS: ConstraintSystem<Scalar>>(cs: &mut CS, sectors: u64) {
                for i in 0..sectors {
                    if CS::is_extensible() {
                        let mut piece = CS::new();
                        piece.alloc_input(|| "temp ONE", || Ok(Scalar::ONE)).unwrap();
                        sector(&mut piece, i).unwrap();
                        cs.extend(&piece);
                    } else {
                        sector(cs, i).unwrap();
                    }
                }
            }
        }
    };
}

circuit!(old, bellpepper_core_02);
circuit!(new, bellpepper_core);

#[test]
fn both_versions_are_one() {
    for sectors in [0, 1, 5] {
        let compile = |drive: &dyn Fn(&mut Recorder)| {
            let mut recorder = Recorder::new();
            drive(&mut recorder);
            recorder.finish(CircuitId::new("compat", [0; 32])).unwrap()
        };
        let old = compile(&|recorder| old::synthesize(recorder, sectors));
        let new = compile(&|recorder| new::synthesize(recorder, sectors));
        assert_eq!(old.digest(), new.digest());
        assert_eq!(old.num_constraints() as u64, 2 * sectors);

        let mut digest = DigestCS::new();
        old::synthesize(&mut digest, sectors);
        assert_eq!(digest.finish().digest, new.digest());

        let mut old_assignment = ProvingAssignment::with_hint(None);
        let mut new_assignment = ProvingAssignment::with_hint(None);
        old::synthesize(&mut old_assignment, sectors);
        new::synthesize(&mut new_assignment, sectors);
        assert_eq!(old_assignment, new_assignment);
        assert_eq!(old_assignment.first_unsatisfied(), None);

        let mut witness = WitnessCS::with_hint(None);
        old::synthesize(&mut witness, sectors);
        let witness = witness.into_witness();
        assert_eq!(old.check(&witness), Ok(()));
        let [a, b, c] = old.products(&witness).unwrap();
        new_assignment.append_input_rows();
        assert_eq!((a, b, c), {
            let vectors = new_assignment.into_vectors();
            (vectors.a, vectors.b, vectors.c)
        });
    }
}
