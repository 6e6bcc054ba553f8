//! Products element by element.

use blstrs::Scalar;
use rayon::prelude::*;

use crate::domain::CHUNK;
use crate::ffi::vector;

/// `values[i] *= factors[i]`, and by a constant; in parallel.
pub(super) fn multiply_each(values: &mut [Scalar], factors: &[Scalar], constant: Option<&Scalar>) {
    values.par_chunks_mut(CHUNK).zip(factors.par_chunks(CHUNK)).for_each(|(values, factors)| {
        let done = vector::multiply_each(values, factors, constant);
        for (value, factor) in values.iter_mut().zip(factors).skip(done) {
            *value *= factor;
            if let Some(constant) = constant {
                *value *= constant;
            }
        }
    });
}

/// `sums[i] = sums[i]·of_sums - values[i]·factors[i]·of_values`.
pub(super) fn combine_each(
    (sums, of_sums): (&mut [Scalar], &Scalar),
    (values, factors, of_values): (&[Scalar], &[Scalar], &Scalar),
) {
    let done = vector::combine_each((&mut *sums, of_sums), (values, factors, of_values));
    for ((sum, value), factor) in sums.iter_mut().zip(values).zip(factors).skip(done) {
        *sum = *sum * of_sums - value * factor * of_values;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    proptest! {
        #[test]
        fn products_are_the_field_s(len in 0usize..50, seed: u64, extreme: bool) {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let mut vector = || -> Vec<Scalar> {
                (0..len).map(|_| if extreme { -Scalar::ONE } else { Scalar::random(&mut rng) }).collect()
            };
            let [x, y, z] = [vector(), vector(), vector()];
            let [k, l] = [Scalar::from(seed), -Scalar::from(3)];
            let mut out = x.clone();
            multiply_each(&mut out, &y, None);
            prop_assert_eq!(&out, &x.iter().zip(&y).map(|(x, y)| x * y).collect::<Vec<_>>());
            multiply_each(&mut out, &z, Some(&k));
            prop_assert_eq!(&out, &(0..len).map(|i| x[i] * y[i] * z[i] * k).collect::<Vec<_>>());
            let mut out = x.clone();
            combine_each((&mut out, &k), (&y, &z, &l));
            prop_assert_eq!(&out, &(0..len).map(|i| x[i] * k - y[i] * z[i] * l).collect::<Vec<_>>());
        }
    }
}
