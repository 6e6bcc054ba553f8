//! Inputs for the tests of the kernels.
#![allow(dead_code, reason = "each test binary uses some of it")]

use blstrs::Scalar;
use ff::Field;
use gpu::{Budget, Pool};
use group::prime::PrimeCurveAffine;
use msm_gpu::device::{DeviceMsm, Reader};
use msm_gpu::{Curve, cpu};
use rand_chacha::ChaCha8Rng;
use rand_core::{OsRng, RngCore, SeedableRng};

pub mod encoding;
pub mod subgroup;

/// One multiplication.
pub struct Input<C: Curve> {
    pub name: String,
    pub bases: Vec<C::Affine>,
    pub scalars: Vec<Scalar>,
}

/// The first device, or a line that says that the test is skipped.
pub fn device(test: &str) -> Option<DeviceMsm> {
    let device = gpu::testing::device_or_skip(test).expect("a device that works")?;
    let pool = Pool::new(&device, Budget::WholeDevice).expect("a pool");
    Some(DeviceMsm::new(&pool).expect("streams"))
}

/// Elements in memory as a reader; reading one of `broken` fails with [`Unreadable`].
#[derive(Debug)]
pub struct Shelf<'a, T> {
    pub elements: &'a [T],
    pub broken: Vec<usize>,
}

/// The error of a [`Shelf`].
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("element {0} is broken")]
pub struct Unreadable(pub usize);

impl<T: Copy + std::fmt::Debug + Sync> Reader<T> for Shelf<'_, T> {
    fn len(&self) -> usize {
        self.elements.len()
    }
    fn read(&self, first: usize, out: &mut [T]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let part = first..first + out.len();
        match self.broken.iter().filter(|broken| part.contains(broken)).min() {
            Some(&broken) => Err(Unreadable(broken).into()),
            None => {
                out.copy_from_slice(&self.elements[part]);
                Ok(())
            }
        }
    }
}

/// A fresh seed for each run; failures name it.
pub fn seed() -> u64 {
    OsRng.next_u64()
}

pub fn random_scalars(n: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

pub fn random_bases<C: Curve>(n: usize, seed: u64) -> Vec<C::Affine> {
    cpu::FixedBase::<C>::new(&C::Affine::generator(), n).multiply(&random_scalars(n, !seed))
}

/// Scalars that fill few buckets, or one, or none; and those of every size.
pub fn awkward_scalars(n: usize, seed: u64) -> Vec<(&'static str, Vec<Scalar>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5ca1a5);
    let one = random_scalars(1, seed ^ 7).pop().unwrap_or_default();
    let few: Vec<Scalar> = random_scalars(7, seed ^ 8);
    let mut pick = |choices: &[Scalar]| choices[rng.next_u32() as usize % choices.len()];
    let opposite: Vec<Scalar> = few.iter().chain([&Scalar::ZERO]).flat_map(|s| [*s, -*s]).collect();
    let small: Vec<Scalar> = (0..40u64).map(|k| Scalar::from(k * k * k)).collect();
    let powers: Vec<Scalar> = (0..255u64).map(|k| Scalar::from(2).pow_vartime([k])).collect();
    vec![
        ("random scalars", random_scalars(n, seed)),
        ("all zero", vec![Scalar::ZERO; n]),
        ("all one", vec![Scalar::ONE; n]),
        ("all r - 1", vec![-Scalar::ONE; n]),
        ("all (r - 1)/2", vec![-Scalar::from(2).invert().unwrap_or(Scalar::ZERO); n]),
        ("one random scalar", vec![one; n]),
        ("seven scalars and their negatives", (0..n).map(|_| pick(&opposite)).collect()),
        ("small scalars", (0..n).map(|_| pick(&small)).collect()),
        ("powers of two", (0..n).map(|_| pick(&powers)).collect()),
    ]
}

/// Bases that meet their equal or their opposite, and infinity.
pub fn awkward_bases<C: Curve>(n: usize, seed: u64) -> Vec<(&'static str, Vec<C::Affine>)> {
    let random = random_bases::<C>(n.max(8), seed);
    let repeat = |count: usize, sign: bool| -> Vec<C::Affine> {
        (0..n)
            .map(|i| if sign && (i / count) % 2 == 1 { -random[i % count] } else { random[i % count] })
            .collect()
    };
    let mut holes = repeat(5, true);
    holes.iter_mut().step_by(3).for_each(|point| *point = C::Affine::identity());
    vec![
        ("one base", repeat(1, false)),
        ("one base and its opposite", repeat(1, true)),
        ("five bases and their opposites", repeat(5, true)),
        ("all infinity", vec![C::Affine::identity(); n]),
        ("infinity among them", holes),
    ]
}

/// The last kind: infinity among others.
pub fn last_kind<P>(mut kinds: Vec<(&'static str, Vec<P>)>) -> Vec<P> {
    kinds.pop().map(|(_, bases)| bases).unwrap_or_default()
}

/// Packed scalars in parts.
pub struct Packed {
    pub ones: Vec<u64>,
    pub is_dense: Vec<u64>,
    pub dense: Vec<Scalar>,
}

/// Packed scalars of every mixture, with dense values of every kind.
pub fn packed_inputs(n: usize, seed: u64) -> Vec<(&'static str, Packed)> {
    [
        ("all zero", 0, 0),
        ("all one", 100, 0),
        ("all dense", 0, 100),
        ("38 % ones, 2 % dense", 38, 2),
        ("a third each", 33, 33),
    ]
    .into_iter()
    .map(|(name, ones_percent, dense_percent)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ ones_percent);
        let (mut ones, mut is_dense) = (vec![0u64; n.div_ceil(64)], vec![0u64; n.div_ceil(64)]);
        let mut count = 0;
        for i in 0..n {
            let draw = u64::from(rng.next_u32() % 100);
            if draw < ones_percent {
                ones[i / 64] |= 1 << (i % 64);
            } else if draw < ones_percent + dense_percent {
                is_dense[i / 64] |= 1 << (i % 64);
                count += 1;
            }
        }
        let mut dense = random_scalars(count, seed);
        dense.iter_mut().step_by(7).for_each(|scalar| *scalar = Scalar::ZERO);
        (name, Packed { ones, is_dense, dense })
    })
    .collect()
}

/// Bitmaps of variables that have a base.
pub fn densities(n: usize, seed: u64) -> Vec<(&'static str, Vec<u64>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xde);
    let trim = |mut words: Vec<u64>| {
        if let (Some(last), false) = (words.last_mut(), n.is_multiple_of(64)) {
            *last &= (1 << (n % 64)) - 1;
        }
        words
    };
    let words = n.div_ceil(64);
    vec![
        ("no base", vec![0; words]),
        ("half of the bases", trim((0..words).map(|_| rng.next_u64()).collect())),
    ]
}
