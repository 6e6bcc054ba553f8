//! Products element by element on eight lanes.

use blstrs::Scalar;

use super::ifma::{LANES, Lanes};

/// `values[i] *= factors[i]`, and by a constant; returns how many leading elements were done.
///
/// # Safety
/// [`is_available`](super::ifma::is_available) must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) unsafe fn multiply_each(
    values: &mut [Scalar],
    factors: &[Scalar],
    constant: Option<&Scalar>,
) -> usize {
    let constant = constant.map(|constant| Lanes::common_factor(constant));
    let (values, _) = values.as_chunks_mut::<LANES>();
    let (factors, _) = factors.as_chunks::<LANES>();
    let mut done = 0;
    for (values, factors) in values.iter_mut().zip(factors) {
        // Below 1.5, and below 1.7 with the constant.
        let mut product = Lanes::load(values).multiply(&Lanes::factor(factors));
        if let Some(constant) = &constant {
            product = product.multiply(constant);
        }
        product.store(values);
        done += LANES;
    }
    done
}

/// `sums[i] = sums[i]·of_sums - values[i]·factors[i]·of_values`; returns how many leading elements were done.
///
/// # Safety
/// [`is_available`](super::ifma::is_available) must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(super) unsafe fn combine_each(
    (sums, of_sums): (&mut [Scalar], &Scalar),
    (values, factors, of_values): (&[Scalar], &[Scalar], &Scalar),
) -> usize {
    let (of_sums, of_values) = (Lanes::common_factor(of_sums), Lanes::common_factor(of_values));
    let (sums, _) = sums.as_chunks_mut::<LANES>();
    let (values, _) = values.as_chunks::<LANES>();
    let (factors, _) = factors.as_chunks::<LANES>();
    let mut done = 0;
    for ((sums, values), factors) in sums.iter_mut().zip(values).zip(factors) {
        // Below 1.5 and 1.7, so the difference in (0.3, 3.5).
        let first = Lanes::load(sums).multiply(&of_sums);
        let second = Lanes::load(values).multiply(&Lanes::factor(factors)).multiply(&of_values);
        first.subtract(&second, 2).settled().store(sums);
        done += LANES;
    }
    done
}
