//! Subgroup membership of many points at once, by one multiplication.

use std::error::Error as StdError;

use rand_chacha::ChaCha8Rng;
use rand_core::{CryptoRng, RngCore, SeedableRng};

use super::{Dense, DeviceCurve, DeviceMsm, Integer, Reader, Source};
use crate::Error;

/// Bits of each scalar, which are the bits of soundness.
const WORDS: usize = 3;

impl DeviceMsm {
    /// Whether all bases, which must be on the curve, are in the subgroup of prime order. Waits for the answer.
    ///
    /// The bases are multiplied by random scalars of 96 bits, and every sum that the device leaves to the host is looked at, a few
    /// hundred: for each window the sum `T` of the bases with a digit other than zero, each with the digit's sign, and for each bit `b` the
    /// sum `S_b` of those among them whose digit, less one and without its sign, has that bit. All are in the subgroup if all bases are.
    ///
    /// Let a base `P` lie outside. Whatever the other bases and their scalars are, at most one scalar of `P` leaves all of these sums
    /// inside: in each window `T` settles whether `P`'s digit is zero and its sign, since of `0`, `P` and `-P` no two differ by an element
    /// of the subgroup (their differences `P` and `2P` are outside, as no group of points here has elements of even order); then each
    /// `S_b` settles one bit; and the digits settle the scalar. So it is missed with probability at most 2^-96, however the
    /// points were chosen and whatever the cofactor, provided that `rng` is unpredictable to whoever chose them; it seeds ChaCha8, whose
    /// words the scalars are.
    ///
    /// # Errors
    /// As of [`msm`](Self::msm), and those of the source.
    pub fn are_in_subgroup<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<bool, Error> {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let scalars = RandomScalars { seed, count: bases.len() };
        let sums = self.window_sums::<C>(bases, Dense::Canonical(Source::Reader(&scalars)))?;
        Ok(sums.are_in_subgroup())
    }
}

/// Scalars from a seed; each is a function of its place.
#[derive(Debug)]
struct RandomScalars {
    seed: [u8; 32],
    count: usize,
}

impl Reader<Integer> for RandomScalars {
    fn len(&self) -> usize {
        self.count
    }

    fn read(&self, first: usize, out: &mut [Integer]) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let mut rng = ChaCha8Rng::from_seed(self.seed);
        rng.set_word_pos((first * WORDS) as u128);
        for scalar in out {
            let low = rng.next_u64();
            *scalar = [low, u64::from(rng.next_u32()), 0, 0];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_depend_on_their_place_alone() {
        let scalars = RandomScalars { seed: [7; 32], count: 1000 };
        let mut all = vec![[0; 4]; 1000];
        scalars.read(0, &mut all).unwrap();
        for first in [1, 2, 7, 15, 16, 21, 500, 999] {
            let mut part = vec![[0; 4]; (1000 - first).min(40)];
            scalars.read(first, &mut part).unwrap();
            assert_eq!(part, all[first..first + part.len()], "{first}");
        }
        assert!(all.iter().all(|scalar| scalar[1] >> 32 == 0 && scalar[2..] == [0, 0]));
        let ones: u32 = all.iter().flatten().map(|word| word.count_ones()).sum();
        assert!((47_000..49_000).contains(&ones), "{ones}");
    }
}
