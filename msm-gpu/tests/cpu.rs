//! Sums of products against their definition.

use blstrs::{G1Affine, G1Projective, G2Affine, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use msm_gpu::{Curve, Density, Error, G1, G2, PackedScalars, cpu};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use subgroup::{of_order_three, outside};

#[path = "common/subgroup.rs"]
mod subgroup;

fn naive<C: Curve>(bases: &[C::Affine], scalars: &[Scalar]) -> C::Projective {
    bases.iter().zip(scalars).fold(C::Projective::identity(), |sum, (base, scalar)| sum + *base * *scalar)
}

/// Bases with everything that breaks careless addition: infinity, duplicates, opposites.
fn bases<C: Curve>(n: usize, rng: &mut ChaCha8Rng) -> Vec<C::Affine> {
    let mut out: Vec<C::Affine> = Vec::with_capacity(n);
    for i in 0..n {
        let fresh = || (C::Affine::generator() * Scalar::from(i as u64 * 0x9e37_79b9 + 1)).to_affine();
        out.push(match (rng.next_u32() % 8, out.last()) {
            (0, _) => C::Affine::identity(),
            (1, Some(last)) => *last,
            (2, Some(last)) => -*last,
            _ => fresh(),
        });
    }
    out
}

fn scalars(n: usize, kind: u8, rng: &mut ChaCha8Rng) -> Vec<Scalar> {
    (0..n)
        .map(|_| match (kind, rng.next_u32() % 6) {
            (0, _) => Scalar::ZERO,
            (1, _) => Scalar::ONE,
            (2, _) => -Scalar::ONE,
            // One bucket in every window.
            (3, _) => Scalar::from(0x1234_5678).pow_vartime([9]),
            (4, 0) | (5, 0..=3) => Scalar::ZERO,
            (4, 1) | (5, 4) => Scalar::ONE,
            (4, 2) => -Scalar::ONE,
            (4, 3) => Scalar::from(u64::from(rng.next_u32() % 300)),
            _ => Scalar::random(&mut *rng),
        })
        .collect()
}

fn check_dense<C: Curve>(n: usize, kind: u8, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (bases, scalars) = (bases::<C>(n, &mut rng), scalars(n, kind, &mut rng));
    assert_eq!(cpu::msm::<C>(&bases, &scalars).unwrap(), naive::<C>(&bases, &scalars));
}

/// The bases one stretch at a time.
fn stretches<C: Curve>(
    mut bases: &[C::Affine],
    scalars: PackedScalars<'_>,
    density: Option<Density<'_>>,
) -> C::Projective {
    let mut sum = cpu::PackedSum::<C>::new(scalars, density).unwrap();
    loop {
        let wanted = sum.wanted();
        if wanted == 0 {
            assert!(bases.is_empty());
            return sum.finish();
        }
        let (now, later) = bases.split_at(wanted);
        sum.add(now).unwrap();
        bases = later;
    }
}

/// Bitmaps of plain scalars: some zeros and ones stay dense, as they do in a witness.
fn pack(scalars: &[Scalar], rng: &mut ChaCha8Rng) -> (Vec<u64>, Vec<u64>, Vec<Scalar>) {
    let words = scalars.len().div_ceil(64);
    let (mut ones, mut full, mut dense) = (vec![0u64; words], vec![0u64; words], vec![]);
    for (i, scalar) in scalars.iter().enumerate() {
        let bit = *scalar == Scalar::ZERO || *scalar == Scalar::ONE;
        if bit && !rng.next_u32().is_multiple_of(4) {
            ones[i / 64] |= u64::from(*scalar == Scalar::ONE) << (i % 64);
        } else {
            full[i / 64] |= 1 << (i % 64);
            dense.push(*scalar);
        }
    }
    (ones, full, dense)
}

fn check_packed<C: Curve>(n: usize, kind: u8, sparse: bool, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (bases, scalars) = (bases::<C>(n, &mut rng), scalars(n, kind, &mut rng));
    let (ones, full, dense) = pack(&scalars, &mut rng);
    let packed = PackedScalars::new(n, &ones, &full, &dense).unwrap();
    if !sparse {
        let expected = naive::<C>(&bases, &scalars);
        assert_eq!(cpu::msm_packed::<C>(&bases, &packed, None).unwrap(), expected);
        assert_eq!(stretches::<C>(&bases, packed, None), expected);
        return;
    }
    let mut words: Vec<u64> = (0..n.div_ceil(64)).map(|_| rng.next_u64() | rng.next_u64()).collect();
    if !n.is_multiple_of(64) {
        *words.last_mut().unwrap() &= (1 << (n % 64)) - 1;
    }
    let density = Density::new(n, &words).unwrap();
    let selected: Vec<usize> = (0..n).filter(|i| words[i / 64] >> (i % 64) & 1 == 1).collect();
    let some_bases: Vec<C::Affine> = selected.iter().map(|i| bases[*i]).collect();
    let some_scalars: Vec<Scalar> = selected.iter().map(|i| scalars[*i]).collect();
    let expected = naive::<C>(&some_bases, &some_scalars);
    assert_eq!(cpu::msm_packed::<C>(&some_bases, &packed, Some(&density)).unwrap(), expected);
    assert_eq!(stretches::<C>(&some_bases, packed, Some(density)), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn dense_g1(n in 0usize..400, kind in 0u8..8, seed: u64) {
        check_dense::<G1>(n, kind, seed);
    }

    #[test]
    fn dense_g2(n in 0usize..100, kind in 0u8..8, seed: u64) {
        check_dense::<G2>(n, kind, seed);
    }

    #[test]
    fn packed_g1(n in 0usize..400, kind in 0u8..8, sparse: bool, seed: u64) {
        check_packed::<G1>(n, kind, sparse, seed);
    }

    #[test]
    fn packed_g2(n in 0usize..100, kind in 0u8..8, sparse: bool, seed: u64) {
        check_packed::<G2>(n, kind, sparse, seed);
    }

    #[test]
    fn fixed_base_g1(n in 0usize..200, kind in 0u8..8, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scalars = scalars(n, kind, &mut rng);
        let base = (G1Affine::generator() * Scalar::from(seed | 1)).to_affine();
        let out = cpu::FixedBase::<G1>::new(&base, n).multiply(&scalars);
        let expected: Vec<G1Affine> = scalars.iter().map(|s| (base * s).to_affine()).collect();
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn fixed_base_g2(n in 0usize..50, kind in 0u8..8, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scalars = scalars(n, kind, &mut rng);
        let out = cpu::FixedBase::<G2>::new(&G2Affine::generator(), n).multiply(&scalars);
        let expected: Vec<G2Affine> = scalars.iter().map(|s| (G2Affine::generator() * s).to_affine()).collect();
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn every_small_size() {
    for n in 0..20 {
        check_dense::<G1>(n, 7, n as u64);
        check_dense::<G2>(n, 4, n as u64);
        check_packed::<G1>(n, 5, true, n as u64);
    }
}

/// Several tiles, several tasks, all widths up to the largest: `Σ s_i (e_i·G) = (Σ s_i e_i)·G`.
#[test]
fn large_sums_agree_in_the_exponent() {
    for n in [3 * 1024 + 1, 40_000, 3 * (1 << 16) + 1] {
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        let exponents = scalars(n, 4, &mut rng);
        let table = cpu::FixedBase::<G1>::new(&G1Affine::generator(), n);
        let bases = table.multiply(&exponents);
        for kind in [1, 2, 3, 4, 7] {
            let scalars = scalars(n, kind, &mut rng);
            let product: Scalar = exponents.iter().zip(&scalars).map(|(e, s)| *e * s).sum();
            let expected = G1Affine::generator() * product;
            assert_eq!(cpu::msm::<G1>(&bases, &scalars).unwrap(), expected);
            let (ones, full, dense) = pack(&scalars, &mut rng);
            let packed = PackedScalars::new(n, &ones, &full, &dense).unwrap();
            assert_eq!(cpu::msm_packed::<G1>(&bases, &packed, None).unwrap(), expected);
            assert_eq!(stretches::<G1>(&bases, packed, None), expected);
        }
    }
}

/// Stretches without a base are passed over, together with their elements.
#[test]
fn gaps_in_a_density_are_passed_over() {
    let (n, mut rng) = (5 << 17, ChaCha8Rng::seed_from_u64(1));
    let last = n - 3;
    let (mut full, mut density) = (vec![0u64; n / 64], vec![0u64; n / 64]);
    for i in [7, 1 << 18, last] {
        full[i / 64] |= 1 << (i % 64);
    }
    density[last / 64] |= 1 << (last % 64);
    let (dense, ones) = (scalars(3, 7, &mut rng), vec![0; n / 64]);
    let packed = PackedScalars::new(n, &ones, &full, &dense).unwrap();
    let sum = stretches::<G1>(&[G1Affine::generator()], packed, Some(Density::new(n, &density).unwrap()));
    assert_eq!(sum, G1Affine::generator() * dense[2]);
    let none = vec![0; n / 64];
    let sum = stretches::<G1>(&[], packed, Some(Density::new(n, &none).unwrap()));
    assert_eq!(sum, G1Projective::identity());
}

#[test]
fn wrong_shapes_are_typed_errors() {
    let bases = [G1Affine::generator(); 3];
    let error = cpu::msm::<G1>(&bases, &[Scalar::ONE]).unwrap_err();
    assert!(matches!(error, Error::Bases { expected: 1, got: 3 }), "{error}");
    assert!(matches!(PackedScalars::new(65, &[0], &[0, 0], &[]), Err(Error::Words { what: "ones", .. })));
    assert!(matches!(PackedScalars::new(65, &[0, 0], &[0], &[]), Err(Error::Words { what: "is_dense", .. })));
    assert!(matches!(PackedScalars::new(3, &[8], &[0], &[]), Err(Error::TrailingBits { .. })));
    let overlap = PackedScalars::new(3, &[2], &[2], &[Scalar::ONE]);
    assert!(matches!(overlap, Err(Error::Overlap { index: 1 })), "{overlap:?}");
    let too_few = PackedScalars::new(3, &[0], &[6], &[]);
    assert!(matches!(too_few, Err(Error::Dense { expected: 2, got: 0 })), "{too_few:?}");
    assert!(matches!(Density::new(3, &[8]), Err(Error::TrailingBits { .. })));
    let packed = PackedScalars::new(3, &[1], &[0], &[]).unwrap();
    let density = Density::new(2, &[3]).unwrap();
    let error = cpu::msm_packed::<G1>(&bases[..2], &packed, Some(&density)).unwrap_err();
    assert!(matches!(error, Error::DensityLength { expected: 3, got: 2 }), "{error}");
    let density = Density::new(3, &[5]).unwrap();
    let error = cpu::msm_packed::<G1>(&bases, &packed, Some(&density)).unwrap_err();
    assert!(matches!(error, Error::Bases { expected: 2, got: 3 }), "{error}");
}

#[test]
fn subgroup_checks_find_the_bad_point() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for n in [0usize, 1, 100, 5000, 70_000] {
        let scalars: Vec<Scalar> = (0..n as u64).map(Scalar::from).collect();
        let mut points = cpu::FixedBase::<G1>::new(&G1Affine::generator(), n).multiply(&scalars);
        assert!(cpu::check_subgroup::<G1>(&points, &mut rng).is_ok());
        for index in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|index| *index < n) {
            for bad in [outside(), of_order_three()] {
                let good = std::mem::replace(&mut points[index], bad);
                let found = cpu::check_subgroup::<G1>(&points, &mut rng);
                assert!(matches!(found, Err(Error::NotInSubgroup { index: i }) if i == index), "{found:?}");
                points[index] = good;
            }
        }
        // Two bad points that cancel in a plain sum.
        if n > 4 {
            (points[1], points[3]) = (outside(), -outside());
            let found = cpu::check_subgroup::<G1>(&points, &mut rng);
            assert!(matches!(found, Err(Error::NotInSubgroup { index: 1 })), "{found:?}");
        }
    }
}
