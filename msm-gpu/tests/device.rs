//! The kernels against the CPU side. Where there is no device each test says that it was skipped.

mod common;

use blstrs::Scalar;
use common::subgroup::{of_order_three, outside, outside_g2};
use common::{
    Input, Shelf, Unreadable, awkward_bases, awkward_scalars, device, last_kind, random_bases,
    random_scalars, seed,
};
use ff::Field;
use gpu::{Budget, Fr, PinnedBuffer, Pool, Staging};
use group::Curve as _;
use group::prime::PrimeCurveAffine;
use msm_gpu::device::{
    Demand, Dense, DeviceCurve, DeviceMsm, DevicePacked, FixedBase, Integer, Scalars, Source,
};
use msm_gpu::{Density, G1, G2, PackedScalars, cpu};
use rand_core::SeedableRng;

fn elements(scalars: &[Scalar]) -> &[Fr] {
    bytemuck::TransparentWrapper::wrap_slice(scalars)
}

fn integers(scalars: &[Scalar]) -> Vec<Integer> {
    scalars.iter().map(|scalar| bytemuck::cast(scalar.to_bytes_le())).collect()
}

fn check<C: DeviceCurve>(msm: &DeviceMsm, input: &Input<C>) {
    let got = msm
        .msm::<C>(
            Source::Host(C::words(&input.bases)),
            Dense::Montgomery(Source::Host(elements(&input.scalars))),
        )
        .unwrap_or_else(|error| panic!("{}: {error}", input.name));
    let expected = cpu::msm::<C>(&input.bases, &input.scalars).expect("lengths agree");
    assert_eq!(got.to_affine(), expected.to_affine(), "{} {}", C::NAME, input.name);
}

fn dense_of_every_kind<C: DeviceCurve>(msm: &DeviceMsm, sizes: &[usize]) {
    let seed = seed();
    for &n in sizes {
        for (kind, scalars) in awkward_scalars(n, seed) {
            let name = format!("n = {n}, {kind}, random bases, seed {seed}");
            check::<C>(msm, &Input { name, bases: random_bases::<C>(n, seed), scalars });
        }
        for (kind, bases) in awkward_bases::<C>(n, seed) {
            for (scalar_kind, scalars) in awkward_scalars(n, seed ^ 1) {
                let name = format!("n = {n}, {scalar_kind}, {kind}, seed {seed}");
                check::<C>(msm, &Input { name, bases: bases.clone(), scalars });
            }
        }
    }
}

#[test]
fn dense_g1_equals_the_cpu() {
    let Some(msm) = device("dense_g1_equals_the_cpu") else { return };
    dense_of_every_kind::<G1>(&msm, &[0, 1, 2, 3, 31, 33, 1000, 3 * 1024 + 1]);
}

#[test]
fn dense_g2_equals_the_cpu() {
    let Some(msm) = device("dense_g2_equals_the_cpu") else { return };
    dense_of_every_kind::<G2>(&msm, &[0, 1, 2, 3, 33, 1000, 1537]);
}

#[test]
fn long_buckets_are_shared_by_blocks() {
    let Some(msm) = device("long_buckets_are_shared_by_blocks") else { return };
    let (n, seed) = (40_001, seed());
    let bases = random_bases::<G1>(n, seed);
    for (kind, scalars) in awkward_scalars(n, seed) {
        check::<G1>(
            &msm,
            &Input { name: format!("n = {n}, {kind}, seed {seed}"), bases: bases.clone(), scalars },
        );
    }
}

#[test]
fn large_g1_equals_the_cpu() {
    let Some(msm) = device("large_g1_equals_the_cpu") else { return };
    let seed = seed();
    for n in [1 << 18, (3 << 17) + 1, 1 << 20] {
        let (bases, scalars) = (random_bases::<G1>(n, seed), random_scalars(n, seed));
        check::<G1>(&msm, &Input { name: format!("n = {n}, seed {seed}"), bases, scalars });
    }
}

#[test]
fn large_g2_equals_the_cpu() {
    let Some(msm) = device("large_g2_equals_the_cpu") else { return };
    let (n, seed) = ((3 << 15) + 1, seed());
    let (bases, scalars) = (random_bases::<G2>(n, seed), random_scalars(n, seed));
    check::<G2>(&msm, &Input { name: format!("n = {n}, seed {seed}"), bases, scalars });
}

#[test]
fn every_source_and_representation_gives_the_same() {
    let Some(msm) = device("every_source_and_representation_gives_the_same") else { return };
    let seed = seed();
    // More than 2^20, so that what comes from the host comes in several chunks.
    let n = (1 << 20) + 77;
    let (bases, scalars) = (random_bases::<G1>(n, seed), random_scalars(n, seed));
    let expected = cpu::msm::<G1>(&bases, &scalars).expect("lengths agree").to_affine();
    let (words, montgomery, canonical) = (G1::words(&bases), elements(&scalars), integers(&scalars));
    let (pool, stream) = (msm.pool(), msm.stream());
    let device_bases = pool.upload(words, stream).expect("upload");
    let device_montgomery = pool.upload(montgomery, stream).expect("upload");
    let device_canonical = pool.upload(&canonical, stream).expect("upload");
    let mut pinned_bases = PinnedBuffer::new(pool.device(), n).expect("pinned memory");
    pinned_bases.as_mut_slice().expect("no copy").copy_from_slice(words);
    let mut pinned_canonical = PinnedBuffer::new(pool.device(), n).expect("pinned memory");
    pinned_canonical.as_mut_slice().expect("no copy").copy_from_slice(&canonical);
    let shelf = Shelf { elements: words, broken: vec![] };
    let scalar_shelf = Shelf { elements: montgomery, broken: vec![] };
    for (bases_at, bases) in [
        ("shelf", Source::Reader(&shelf)),
        ("device", Source::Device(&device_bases)),
        ("pinned", Source::Pinned(&pinned_bases)),
        ("host", Source::Host(words)),
    ] {
        for (scalars_at, scalars) in [
            ("device, montgomery", Dense::Montgomery(Source::Device(&device_montgomery))),
            ("device, canonical", Dense::Canonical(Source::Device(&device_canonical))),
            ("pinned, canonical", Dense::Canonical(Source::Pinned(&pinned_canonical))),
            ("host, montgomery", Dense::Montgomery(Source::Host(montgomery))),
            ("shelf, montgomery", Dense::Montgomery(Source::Reader(&scalar_shelf))),
        ] {
            let got = msm.msm::<G1>(bases, scalars).expect("multiplication").to_affine();
            assert_eq!(got, expected, "bases on {bases_at}, scalars on {scalars_at}, seed {seed}");
        }
    }
}

#[test]
fn integers_above_the_order_count_modulo_it() {
    let Some(msm) = device("integers_above_the_order_count_modulo_it") else { return };
    let seed = seed();
    let bases = random_bases::<G1>(4, seed);
    // r, r + 5, 2r + 1 and 2^256 - 1.
    let integers: [Integer; 4] = [
        [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48],
        [0xffff_ffff_0000_0006, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48],
        [0xffff_fffe_0000_0003, 0xa77b_4805_fffc_b7fd, 0x6673_b010_1343_b00a, 0xe7db_4ea6_533a_fa90],
        [u64::MAX; 4],
    ];
    let all_ones = Scalar::from(2).pow_vartime([256]) - Scalar::ONE;
    let scalars = [Scalar::ZERO, Scalar::from(5), Scalar::ONE, all_ones];
    let got = msm
        .msm::<G1>(Source::Host(G1::words(&bases)), Dense::Canonical(Source::Host(&integers)))
        .expect("works");
    let expected = cpu::msm::<G1>(&bases, &scalars).expect("lengths agree");
    assert_eq!(got.to_affine(), expected.to_affine());
}

/// Small pieces, of a size that no element divides.
fn with_small_pieces(msm: DeviceMsm) -> DeviceMsm {
    let staging = Staging::with_pieces(msm.pool().device(), 3, 50_001);
    msm.with_staging(&staging)
}

#[test]
fn every_budget_gives_the_same() {
    let Some(large) = device("every_budget_gives_the_same") else { return };
    let seed = seed();
    let n = (3 << 16) + 1;
    let (bases, scalars) = (random_bases::<G1>(n, seed), random_scalars(n, seed));
    let (words, montgomery) = (G1::words(&bases), elements(&scalars));
    let shelf = Shelf { elements: words, broken: vec![] };
    let expected = cpu::msm::<G1>(&bases, &scalars).expect("lengths agree").to_affine();
    let demand = Demand { bases: n, bases_stream: true, scalars: Scalars::Dense { stream: true } };
    let (device, pool_of) =
        (large.pool().device(), |bytes| Pool::new(large.pool().device(), Budget::Bytes(bytes)));
    let memory = |budget| demand.memory::<G1>(device.info().multiprocessors, budget);
    let least = memory(0).least;
    for budget in [1 << 32, 512 << 20, 220 << 20, least + (20 << 20), least, least - 1, 1 << 20] {
        let pool = pool_of(budget).expect("a pool");
        let msm = with_small_pieces(DeviceMsm::new(&pool).expect("streams"));
        for bases in [Source::Host(words), Source::Reader(&shelf)] {
            match msm.msm::<G1>(bases, Dense::Montgomery(Source::Host(montgomery))) {
                Ok(got) => {
                    assert_eq!(got.to_affine(), expected, "{budget} bytes, seed {seed}");
                    assert!(memory(budget).taken.is_some(), "{budget} bytes were enough");
                }
                Err(msm_gpu::Error::Device(gpu::Error::OutOfMemory { requested, limit, .. })) => {
                    assert_eq!((requested, limit), (least, budget));
                    assert!(budget < least, "{budget} bytes were not enough");
                }
                Err(error) => panic!("{budget} bytes: {error}"),
            }
            assert_eq!(pool.in_use(), 0, "memory is given back");
        }
    }
}

#[test]
fn packed_scalars_within_the_least_memory_equal_the_cpu() {
    let Some(large) = device("packed_scalars_within_the_least_memory_equal_the_cpu") else { return };
    let (n, seed) = (60_001, seed());
    let multiprocessors = large.pool().device().info().multiprocessors;
    for (name, packed) in common::packed_inputs(n, seed) {
        let scalars =
            PackedScalars::new(n, &packed.ones, &packed.is_dense, &packed.dense).expect("parts fit");
        let on_device =
            DevicePacked::new(&large, &scalars, Source::Host(elements(&packed.dense))).expect("upload");
        let bases = random_bases::<G1>(n, seed);
        let expected = cpu::msm_packed::<G1>(&bases, &scalars, None).expect("lengths agree");
        let ones = packed.ones.iter().map(|word| word.count_ones() as usize).sum();
        let demand = Demand {
            bases: n,
            bases_stream: true,
            scalars: Scalars::Packed { len: n, ones, dense: packed.dense.len(), stream: packed.dense.len() },
        };
        let least = demand.memory::<G1>(multiprocessors, 0).least;
        for (budget, enough) in [(least, true), (least / 2, false)] {
            let pool = Pool::new(large.pool().device(), Budget::Bytes(budget)).expect("a pool");
            let msm = with_small_pieces(DeviceMsm::new(&pool).expect("streams"));
            let got = msm.msm_packed::<G1>(Source::Host(G1::words(&bases)), &on_device, None);
            match got {
                Ok(got) => {
                    assert_eq!(got.to_affine(), expected.to_affine(), "{name}, {budget} bytes, seed {seed}")
                }
                Err(msm_gpu::Error::Device(gpu::Error::OutOfMemory { .. })) if !enough => {}
                Err(error) => panic!("{name}, {budget} bytes: {error}"),
            }
        }
    }
}

#[test]
fn a_readers_error_comes_back_whole_and_leaves_the_rest_usable() {
    let Some(msm) = device("a_readers_error_comes_back_whole_and_leaves_the_rest_usable") else { return };
    let (msm, seed, n) = (with_small_pieces(msm), seed(), (1 << 20) + 3);
    let (bases, scalars) = (random_bases::<G1>(n, seed), random_scalars(n, seed));
    let (words, montgomery) = (G1::words(&bases), elements(&scalars));
    let expected = cpu::msm::<G1>(&bases, &scalars).expect("lengths agree").to_affine();
    let unreadable = |result: Result<_, msm_gpu::Error>| match result {
        Err(msm_gpu::Error::Reader(error)) => *error.downcast::<Unreadable>().expect("the shelf's own error"),
        other => panic!("{other:?}"),
    };
    // In the first chunk, in a later one, at the very end; of the bases and of the scalars.
    for broken in [vec![0], vec![700_001, 700_000], vec![n - 1]] {
        let least = broken.iter().copied().min().unwrap_or(0);
        let shelf = Shelf { elements: words, broken: broken.clone() };
        let got = msm.msm::<G1>(Source::Reader(&shelf), Dense::Montgomery(Source::Host(montgomery)));
        assert_eq!(unreadable(got), Unreadable(least));
        let shelf = Shelf { elements: montgomery, broken };
        let got = msm.msm::<G1>(Source::Host(words), Dense::Montgomery(Source::Reader(&shelf)));
        assert_eq!(unreadable(got), Unreadable(least));
    }
    let got = msm.msm::<G1>(Source::Host(words), Dense::Montgomery(Source::Host(montgomery))).expect("works");
    assert_eq!(got.to_affine(), expected, "seed {seed}");
}

#[test]
fn lengths_that_differ_are_refused() {
    let Some(msm) = device("lengths_that_differ_are_refused") else { return };
    let bases = random_bases::<G1>(3, 1);
    let scalars = random_scalars(2, 1);
    let refused =
        msm.msm::<G1>(Source::Host(G1::words(&bases)), Dense::Montgomery(Source::Host(elements(&scalars))));
    assert!(matches!(refused, Err(msm_gpu::Error::Bases { expected: 2, got: 3 })), "{refused:?}");
}

fn packed_of_every_kind<C: DeviceCurve>(msm: &DeviceMsm, n: usize) {
    let seed = seed();
    for (name, packed) in common::packed_inputs(n, seed) {
        let scalars =
            PackedScalars::new(n, &packed.ones, &packed.is_dense, &packed.dense).expect("parts fit");
        let on_device =
            DevicePacked::new(msm, &scalars, Source::Host(elements(&packed.dense))).expect("upload");
        for (density_name, words) in common::densities(n, seed) {
            let density = Density::new(n, &words).expect("a bitmap");
            let bases = random_bases::<C>(density.count(), seed);
            let expected = cpu::msm_packed::<C>(&bases, &scalars, Some(&density)).expect("lengths agree");
            let uploaded = msm.upload_density(&density).expect("upload");
            let got = msm
                .msm_packed::<C>(Source::Host(C::words(&bases)), &on_device, Some(&uploaded))
                .expect("works");
            assert_eq!(
                got.to_affine(),
                expected.to_affine(),
                "{}: n = {n}, {name}, {density_name}, seed {seed}",
                C::NAME
            );
        }
        let bases = random_bases::<C>(n, seed);
        let expected = cpu::msm_packed::<C>(&bases, &scalars, None).expect("lengths agree");
        let got = msm.msm_packed::<C>(Source::Host(C::words(&bases)), &on_device, None).expect("works");
        assert_eq!(
            got.to_affine(),
            expected.to_affine(),
            "{}: n = {n}, {name}, no density, seed {seed}",
            C::NAME
        );
    }
}

#[test]
fn packed_g1_equals_the_cpu() {
    let Some(msm) = device("packed_g1_equals_the_cpu") else { return };
    for n in [0, 1, 63, 64, 65, 1000, 100_001] {
        packed_of_every_kind::<G1>(&msm, n);
    }
}

#[test]
fn packed_g2_equals_the_cpu() {
    let Some(msm) = device("packed_g2_equals_the_cpu") else { return };
    for n in [65, 20_001] {
        packed_of_every_kind::<G2>(&msm, n);
    }
}

#[test]
fn packed_from_the_host_in_chunks_equals_the_cpu() {
    let Some(msm) = device("packed_from_the_host_in_chunks_equals_the_cpu") else { return };
    packed_of_every_kind::<G1>(&msm, (1 << 20) + 65);
}

fn fixed_base<C: DeviceCurve>(msm: &DeviceMsm, n: usize) {
    let seed = seed();
    for (base_name, base) in [("generator", C::Affine::generator()), ("infinity", C::Affine::identity())] {
        let (table_bytes, most) = FixedBase::<C>::memory(n, msm.pool().device().info().multiprocessors);
        let small = Pool::new(msm.pool().device(), Budget::Bytes(most)).expect("a pool");
        let small = DeviceMsm::new(&small).expect("streams");
        let frugal = FixedBase::<C>::new(&small, &base, n).expect("a table in the memory foretold");
        assert_eq!(small.pool().in_use(), table_bytes);
        drop(frugal);
        let table = FixedBase::<C>::new(msm, &base, n).expect("a table");
        for (kind, scalars) in awkward_scalars(n, seed) {
            let got = table.multiply_to_host(elements(&scalars)).expect("works");
            let shelf = Shelf { elements: elements(&scalars), broken: vec![] };
            let read = table.multiply(Source::Reader(&shelf)).expect("works").download(msm.stream());
            assert!(C::affine(&read.expect("a copy")) == got, "from a reader, {kind}, seed {seed}");
            let expected = cpu::FixedBase::<C>::new(&base, n).multiply(&scalars);
            assert!(got == expected, "{}: {n} multiples of {base_name}, {kind}, seed {seed}", C::NAME);
        }
    }
}

#[test]
fn fixed_base_g1_equals_the_cpu() {
    let Some(msm) = device("fixed_base_g1_equals_the_cpu") else { return };
    [0, 1, 2, 1000, 20_001].into_iter().for_each(|n| fixed_base::<G1>(&msm, n));
}

#[test]
fn fixed_base_g2_equals_the_cpu() {
    let Some(msm) = device("fixed_base_g2_equals_the_cpu") else { return };
    [1, 1000, 5001].into_iter().for_each(|n| fixed_base::<G2>(&msm, n));
}

/// Good points are said to be good, and one bad among them is found wherever it is and whatever its order.
fn subgroups<C: DeviceCurve>(msm: &DeviceMsm, sizes: &[usize], bad: &[C::Affine]) {
    let seed = seed();
    let mut rng = rand_chacha::ChaCha8Rng::from_seed([9; 32]);
    for &n in sizes {
        let mut points = random_bases::<C>(n, seed);
        if n > 50 {
            // What else there may be: infinity, and the same point again.
            points[7] = C::Affine::identity();
            points[9] = points[8];
        }
        let mut check = |points: &[C::Affine]| {
            let words = C::words(points);
            let on_device = msm.pool().upload(words, msm.stream()).expect("upload");
            let shelf = Shelf { elements: words, broken: vec![] };
            let sources = [Source::Device(&on_device), Source::Host(words), Source::Reader(&shelf)];
            let answers = sources.map(|source| msm.are_in_subgroup::<C>(source, &mut rng).expect("works"));
            assert!(answers.iter().all(|answer| *answer == answers[0]), "n = {n}, seed {seed}: {answers:?}");
            answers[0]
        };
        assert!(check(&points), "{}: n = {n}, seed {seed}", C::NAME);
        for index in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|index| *index < n) {
            for bad in bad {
                let good = std::mem::replace(&mut points[index], *bad);
                assert!(!check(&points), "{}: {index} of {n}, seed {seed}", C::NAME);
                points[index] = good;
            }
        }
        if n > 4 {
            // Two that cancel in a plain sum.
            (points[1], points[3]) = (bad[0], -bad[0]);
            assert!(!check(&points), "{}: two of {n}, seed {seed}", C::NAME);
        }
    }
}

#[test]
fn points_outside_the_subgroups_are_found() {
    let Some(msm) = device("points_outside_the_subgroups_are_found") else { return };
    let of_g1 = [outside(), of_order_three(), -of_order_three()];
    subgroups::<G1>(&msm, &[0, 1, 2, 5, 300, 70_001], &of_g1);
    subgroups::<G2>(&msm, &[0, 1, 5, 3000], &[outside_g2()]);
    // A sum with random coefficients misses a point of order three one time in three; here that would take 2^-96.
    for _ in 0..10 {
        subgroups::<G1>(&msm, &[6], &of_g1);
    }
    // In chunks.
    let small = Pool::new(msm.pool().device(), Budget::Bytes(3 << 28)).expect("a pool");
    let small = DeviceMsm::new(&small).expect("streams");
    subgroups::<G1>(&small, &[(1 << 20) + 77], &of_g1[..2]);
}

// Small sizes of everything, for a memory checker; one test a kind, since some checkers take a minute for a few sums.

#[test]
fn checker_dense_g1() {
    let Some(msm) = device("checker_dense_g1") else { return };
    let seed = seed();
    for (kind, scalars) in awkward_scalars(300, seed).into_iter().take(3) {
        let bases = last_kind(awkward_bases::<G1>(300, seed));
        check::<G1>(&msm, &Input { name: format!("{kind}, seed {seed}"), bases, scalars });
    }
}

#[test]
fn checker_dense_g2() {
    let Some(msm) = device("checker_dense_g2") else { return };
    let seed = seed();
    let (bases, scalars) = (random_bases::<G2>(100, seed), random_scalars(100, seed));
    check::<G2>(&msm, &Input { name: format!("seed {seed}"), bases, scalars });
}

#[test]
fn checker_packed() {
    let Some(msm) = device("checker_packed") else { return };
    packed_of_every_kind::<G1>(&msm, 130);
}

#[test]
fn checker_fixed_base() {
    let Some(msm) = device("checker_fixed_base") else { return };
    fixed_base::<G1>(&msm, 200);
}
