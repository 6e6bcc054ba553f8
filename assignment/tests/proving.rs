//! The classic path: evaluations, densities, and synthesis in pieces.

use assignment::{ProvingAssignment, WitnessCS};
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use proptest::prelude::*;

fn scalar(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

/// Allocates values, every third an input, and enforces random combinations, some before later allocations.
fn piece<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    values: &[i64],
    terms: &[(usize, i64)],
) -> Result<(), SynthesisError> {
    let mut variables: Vec<Variable> = vec![CS::one()];
    for (i, value) in values.iter().enumerate() {
        variables.push(match i % 3 {
            0 => cs.alloc_input(|| "", || Ok(scalar(*value)))?,
            _ => cs.alloc(|| "", || Ok(scalar(*value)))?,
        });
        let combination = |part: usize| {
            terms.iter().skip(i + part).step_by(3).take(5).fold(LinearCombination::zero(), |lc, (at, c)| {
                lc + (scalar(*c), variables[at % variables.len()])
            })
        };
        cs.enforce(|| "", |_| combination(0), |_| combination(1), |_| combination(2));
    }
    Ok(())
}

/// Values and terms.
type Part = (Vec<i64>, Vec<(usize, i64)>);

fn values() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![0i64..2, -2i64..3, any::<i64>()], 0..70)
}

fn terms() -> impl Strategy<Value = Vec<(usize, i64)>> {
    prop::collection::vec((any::<usize>(), prop_oneof![-1i64..2, any::<i64>()]), 0..80)
}

proptest! {
    #[test]
    fn evaluates_and_counts(values in values(), terms in terms()) {
        let mut assignment = ProvingAssignment::with_hint(None);
        piece(&mut assignment, &values, &terms).unwrap();
        let hint = assignment.capacity_hint();
        prop_assert_eq!(hint.constraints, values.len());
        let again = {
            let mut again = ProvingAssignment::with_hint(Some(hint));
            piece(&mut again, &values, &terms).unwrap();
            again
        };
        prop_assert_eq!(&again, &assignment);

        // The oracle: each combination evaluated by its definition.
        let mut inputs = vec![Scalar::ONE];
        let mut aux = vec![];
        let mut variables = vec![(true, 0)];
        let mut density = [vec![false; 1 + values.len()], vec![false; 1 + values.len()], vec![false; values.len()]];
        let mut products = [vec![], vec![], vec![]];
        for (i, value) in values.iter().enumerate() {
            let target = if i % 3 == 0 { &mut inputs } else { &mut aux };
            target.push(scalar(*value));
            variables.push((i % 3 == 0, target.len() - 1));
            for part in 0..3 {
                let mut coefficients = vec![Scalar::ZERO; variables.len()];
                for (at, c) in terms.iter().skip(i + part).step_by(3).take(5) {
                    coefficients[at % variables.len()] += scalar(*c);
                }
                let mut sum = Scalar::ZERO;
                for (coefficient, (is_input, index)) in coefficients.iter().zip(&variables) {
                    sum += coefficient * if *is_input { inputs[*index] } else { aux[*index] };
                    if *coefficient != Scalar::ZERO {
                        match (part, is_input) {
                            (0, false) => density[2][*index] = true,
                            (1, true) => density[0][*index] = true,
                            (1, false) => density[1][*index] = true,
                            _ => {}
                        }
                    }
                }
                products[part].push(sum);
            }
        }
        let bits = |bitmap: &assignment::Bitmap| (0..bitmap.len()).map(|i| bitmap.get(i)).collect::<Vec<_>>();
        assignment.append_input_rows();
        let [a, b, c] = &mut products;
        a.extend(&inputs);
        b.resize(a.len(), Scalar::ZERO);
        c.resize(a.len(), Scalar::ZERO);
        let vectors = assignment.into_vectors();
        prop_assert_eq!((&vectors.a, &vectors.b, &vectors.c), (&*a, &*b, &*c));
        prop_assert_eq!((&vectors.inputs, &vectors.aux), (&inputs, &aux));
        prop_assert_eq!(bits(&vectors.b_input_density), &density[0][..inputs.len()]);
        prop_assert_eq!(bits(&vectors.b_aux_density), &density[1][..aux.len()]);
        prop_assert_eq!(bits(&vectors.a_aux_density), &density[2][..aux.len()]);
    }

    #[test]
    fn pieces_extend_to_the_whole(parts in prop::collection::vec((values(), terms()), 0..5)) {
        fn pieces<CS: ConstraintSystem<Scalar>>(cs: &mut CS, parts: &[Part]) {
            assert!(CS::is_extensible() && !cs.is_witness_generator());
            for (values, terms) in parts {
                let mut part = CS::new();
                part.alloc_input(|| "temporary ONE", || Ok(Scalar::ONE)).unwrap();
                piece(&mut part, values, terms).unwrap();
                cs.extend(&part);
            }
        }
        let mut whole = ProvingAssignment::with_hint(None);
        let mut extended = ProvingAssignment::with_hint(None);
        let mut witness = WitnessCS::with_hint(None);
        parts.iter().for_each(|(values, terms)| piece(&mut whole, values, terms).unwrap());
        pieces(&mut extended, &parts);
        pieces(&mut witness, &parts);
        prop_assert_eq!(witness.into_witness().to_assignment(), (whole.inputs().to_vec(), whole.aux().to_vec()));
        prop_assert_eq!(extended.into_vectors(), whole.into_vectors());
    }
}

#[test]
fn zero_coefficients_are_in_no_density() {
    let mut assignment = ProvingAssignment::with_hint(None);
    let x = assignment.alloc(|| "", || Ok(Scalar::from(3))).unwrap();
    let zero = |lc: LinearCombination<Scalar>| {
        lc + (Scalar::ZERO, x) + ProvingAssignment::<Scalar>::one() - ProvingAssignment::<Scalar>::one()
    };
    assignment.enforce(|| "", zero, zero, zero);
    let vectors = assignment.into_vectors();
    assert_eq!(vectors.a_aux_density.count_ones(), 0);
    assert_eq!(vectors.b_aux_density.count_ones(), 0);
    assert_eq!(vectors.b_input_density.count_ones(), 0);
    assert_eq!((vectors.a_aux_density.len(), vectors.b_input_density.len()), (1, 1));
}

#[test]
#[should_panic(expected = "first input is ONE")]
fn a_piece_without_one_is_refused() {
    let mut assignment = ProvingAssignment::<Scalar>::with_hint(None);
    let mut piece = <ProvingAssignment<Scalar> as ConstraintSystem<Scalar>>::new();
    piece.alloc_input(|| "", || Ok(Scalar::from(2))).unwrap();
    assignment.extend(&piece);
}
