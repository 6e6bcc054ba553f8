//! What a multiplication leaves to the host.

use group::{Curve as _, Group};
use rayon::prelude::*;

use super::ffi::{DeviceCurve, Windows};
use super::plan::SUMS_OF_WINDOW;

/// The sums of a multiplication by window, in host memory. A few hundred additions and doublings make the result of them
/// ([`join`](Self::join)): half a millisecond in G1, during which the device can do something else.
#[derive(Debug, Clone)]
#[must_use = "join it"]
pub struct WindowSums<C: DeviceCurve> {
    windows: Windows,
    /// [`SUMS_OF_WINDOW`] Jacobian points for each window; none where no scalar went through windows.
    of_windows: Vec<u64>,
    /// Jacobian points that are added to that.
    outside: Vec<u64>,
    curve: std::marker::PhantomData<fn() -> C>,
}

impl<C: DeviceCurve> WindowSums<C> {
    pub(crate) fn new(windows: Windows, of_windows: Vec<u64>, outside: Vec<u64>) -> Self {
        Self { windows, of_windows, outside, curve: std::marker::PhantomData }
    }

    /// The empty sum.
    pub(crate) fn zero() -> Self {
        Self::new(Windows::new(1), vec![], vec![])
    }

    /// Whether all of the sums are in the subgroup of prime order. By several threads.
    pub(crate) fn are_in_subgroup(&self) -> bool {
        let sums = self.of_windows.par_chunks_exact(SUMS_OF_WINDOW * C::JACOBIAN_WORDS);
        let of_windows =
            sums.zip(self.windows.extents().collect::<Vec<_>>()).flat_map_iter(|(sums, (_, width))| {
                // What lies beyond the bits of the window is no sum.
                sums.chunks_exact(C::JACOBIAN_WORDS).take(width as usize)
            });
        let outside = self.outside.par_chunks_exact(C::JACOBIAN_WORDS);
        of_windows.chain(outside).all(|sum| C::is_in_subgroup(&C::jacobian(sum).to_affine()))
    }

    /// The result. By several threads.
    pub fn join(&self) -> C::Projective {
        let points = |limbs: &[u64]| -> Vec<C::Projective> {
            limbs.chunks_exact(C::JACOBIAN_WORDS).map(C::jacobian).collect()
        };
        let joined = match points(&self.of_windows).as_slice() {
            [] => C::Projective::identity(),
            sums => join_windows::<C::Projective>(&self.windows, sums),
        };
        points(&self.outside).iter().fold(joined, |sum, point| sum + point)
    }
}

/// The sum of 2^offset (T + sum of 2^b S_b) over the windows, where T is the sum of a window's buckets and S_b that of the buckets
/// whose number has bit b set. Windows in parallel: on one core these additions would take as long as a small multiplication.
fn join_windows<P: Group>(windows: &Windows, sums: &[P]) -> P {
    let widths: Vec<u32> = windows.extents().map(|(_, width)| width).collect();
    let results: Vec<P> = widths
        .par_iter()
        .zip(sums.par_chunks_exact(SUMS_OF_WINDOW))
        .map(|(&width, sums)| {
            let (all, bits) = sums.split_first().map_or((P::identity(), sums), |(all, bits)| (*all, bits));
            let bits = bits.iter().take(width as usize - 1).rev();
            all + bits.fold(P::identity(), |high, bit| high.double() + bit)
        })
        .collect();
    let lift = |high: P, width: u32| (0..width).fold(high, |point, _| point.double());
    widths.iter().zip(&results).rev().fold(P::identity(), |high, (&width, window)| lift(high, width) + window)
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, Scalar};
    use ff::Field;

    use super::*;

    #[test]
    fn windows_are_joined_as_the_formula_says() {
        for count in [1, 9, 17] {
            let windows = Windows::new(count);
            let exponent = |window: usize, sum: usize| Scalar::from((1000 * window + 7 * sum + 1) as u64);
            let (mut points, mut expected) = (vec![], Scalar::ZERO);
            for (window, (offset, width)) in windows.extents().enumerate() {
                for sum in 0..SUMS_OF_WINDOW {
                    points.push(G1Projective::generator() * exponent(window, sum));
                    // What lies beyond the bits of the window is not looked at.
                    let bit = sum.checked_sub(1).map_or(0, |bit| bit as u64);
                    if sum < width as usize {
                        expected +=
                            exponent(window, sum) * Scalar::from(2).pow_vartime([u64::from(offset) + bit]);
                    }
                }
            }
            assert_eq!(join_windows(&windows, &points), G1Projective::generator() * expected, "{count}");
        }
    }

    #[test]
    fn the_empty_sum_is_the_identity() {
        assert_eq!(WindowSums::<crate::G1>::zero().join(), G1Projective::identity());
    }
}
