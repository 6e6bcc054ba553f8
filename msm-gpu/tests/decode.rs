//! The decoding of points on the device against blst's. Where there is no device each test says that it was skipped.

mod common;

use blstrs::Scalar;
use bytemuck::Zeroable;
use common::encoding::{Encoding, bad_encodings, words};
use common::subgroup::{outside, outside_g2};
use common::{Shelf, device, random_bases, random_scalars, seed};
use gpu::{Budget, Fr, Pool, Staging};
use group::Curve as _;
use group::prime::PrimeCurveAffine;
use msm_gpu::device::{
    Decoder, Demand, Dense, DeviceCurve, DeviceMsm, DevicePacked, Encoded, Scalars, Source,
};
use msm_gpu::{Error, G1, G2, PackedScalars, cpu};

/// A group of points that blst encodes.
trait Points: DeviceCurve<Affine: Encoding> {}
impl<C: DeviceCurve<Affine: Encoding>> Points for C {}

fn elements(scalars: &[Scalar]) -> &[Fr] {
    bytemuck::TransparentWrapper::wrap_slice(scalars)
}

fn encodings<C: Points>(points: &[C::Affine]) -> Vec<C::Words> {
    points.iter().map(|point| words::<C::Words>(&point.encode())).collect()
}

/// The index of the bad point that an answer names.
fn named<T>(answer: Result<T, Error>) -> Option<usize> {
    match answer {
        Ok(_) => None,
        Err(Error::Encoding { index }) => Some(index),
        Err(error) => panic!("{error}"),
    }
}

/// First, middle and last, as far as they are different.
fn places(n: usize) -> Vec<usize> {
    let mut places = vec![0, n / 2, n.saturating_sub(1)];
    places.dedup();
    places.retain(|place| *place < n);
    places
}

/// In a buffer: what became of the points, and the bad one's index, counted from `index`.
fn decode<C: Points>(msm: &DeviceMsm, raw: &[C::Words], index: usize) -> (Vec<C::Words>, Option<usize>) {
    let (pool, stream) = (msm.pool(), msm.stream());
    let mut buffer = pool.upload(raw, stream).expect("upload");
    let mut decoder = Decoder::new(pool, stream).expect("a decoder");
    decoder.decode::<C>(&mut buffer, 0..raw.len(), index, stream).expect("queued");
    let bad = named(decoder.finish(stream));
    (buffer.download(stream).expect("download"), bad)
}

fn buffers<C: Points>(msm: &DeviceMsm, small: &C::Affine) {
    let seed = seed();
    for n in [0, 1, 33, 5000] {
        let mut points = random_bases::<C>(n, seed);
        if n > 20 {
            // On the curve is enough.
            (points[3], points[4], points[17]) = (*small, -*small, -points[17]);
        }
        let (expected, raw) = (C::words(&points).to_vec(), encodings::<C>(&points));
        assert_eq!(decode::<C>(msm, &raw, 0), (expected.clone(), None), "{}: n = {n}, seed {seed}", C::NAME);
        let of_bad = bad_encodings(&random_bases::<C>(1, !seed)[0].encode(), &small.encode());
        for place in places(n) {
            for (kind, bytes) in &of_bad {
                let (mut raw, mut expected) = (raw.clone(), expected.clone());
                (raw[place], expected[place]) = (words::<C::Words>(bytes), C::Words::zeroed());
                let name = format!("{}: {kind} at {place} of {n}, seed {seed}", C::NAME);
                assert_eq!(decode::<C>(msm, &raw, 70_000), (expected, Some(70_000 + place)), "{name}");
            }
        }
        if n > 40 {
            // Of several the least is named.
            let mut raw = raw.clone();
            for (place, (_, bytes)) in [n - 1, 37, 36, n / 2].into_iter().zip(&of_bad) {
                raw[place] = words::<C::Words>(bytes);
            }
            assert_eq!(decode::<C>(msm, &raw, 0).1, Some(36));
        }
    }
}

#[test]
fn decoded_points_of_g1_equal_blst() {
    let Some(msm) = device("decoded_points_of_g1_equal_blst") else { return };
    buffers::<G1>(&msm, &outside());
}

#[test]
fn decoded_points_of_g2_equal_blst() {
    let Some(msm) = device("decoded_points_of_g2_equal_blst") else { return };
    buffers::<G2>(&msm, &outside_g2());
}

#[test]
fn parts_of_a_buffer_are_decoded_and_the_rest_left() {
    let Some(msm) = device("parts_of_a_buffer_are_decoded_and_the_rest_left") else { return };
    let (n, seed) = (300, seed());
    let points = random_bases::<G1>(n, seed);
    let raw = encodings::<G1>(&points);
    let (pool, stream) = (msm.pool(), msm.stream());
    let mut buffer = pool.upload(&raw, stream).expect("upload");
    let mut decoder = Decoder::new(pool, stream).expect("a decoder");
    decoder.decode::<G1>(&mut buffer, 200..300, 0, stream).expect("queued");
    decoder.decode::<G1>(&mut buffer, 7..150, 100, stream).expect("queued");
    decoder.decode::<G1>(&mut buffer, 60..60, 0, stream).expect("queued");
    // Neither points nor indices that there are not.
    for (range, index) in [(200..301, 0), (301..301, 0), (0..2, u32::MAX as usize - 1)] {
        let error = decoder.decode::<G1>(&mut buffer, range, index, stream).expect_err("out of range");
        assert!(matches!(error, Error::Device(gpu::Error::Length { .. })), "{error}");
    }
    decoder.finish(stream).expect("good points");
    let expected =
        [&raw[..7], &G1::words(&points)[7..150], &raw[150..200], &G1::words(&points)[200..]].concat();
    assert_eq!(buffer.download(stream).expect("download"), expected, "seed {seed}");
}

/// A dense sum over encoded bases, and a packed one, with a point at infinity behind them that is not encoded.
fn sums<C: Points>(msm: &DeviceMsm, n: usize, bad: &[(usize, &[u8])]) -> [Option<usize>; 2] {
    let seed = seed();
    let mut points: Vec<_> = random_bases::<C>(5000, seed).into_iter().cycle().take(n).collect();
    points.push(C::Affine::identity());
    let scalars = random_scalars(n + 1, seed);
    let mut raw = encodings::<C>(&points[..n]);
    raw.push(C::Words::zeroed());
    for (place, bytes) in bad {
        raw[*place] = words::<C::Words>(bytes);
    }
    let shelf = Shelf { elements: &raw, broken: vec![] };
    let bases = Source::Encoded(Encoded::new::<C>(&shelf, n));
    assert_eq!(bases.len(), n + 1);
    let dense = msm.msm::<C>(bases, Dense::Montgomery(Source::Host(elements(&scalars))));
    // All are ones, so that every base counts.
    let mut ones = vec![u64::MAX; (n + 1).div_ceil(64)];
    if let Some(last) = ones.last_mut() {
        *last &= u64::MAX >> (63 - n % 64);
    }
    let none = vec![0; ones.len()];
    let packed = PackedScalars::new(n + 1, &ones, &none, &[]).expect("parts fit");
    let on_device = DevicePacked::new(msm, &packed, Source::Host(&[])).expect("upload");
    let of_packed = msm.msm_packed::<C>(bases, &on_device, None);
    if bad.is_empty() {
        let expected = cpu::msm::<C>(&points, &scalars).expect("lengths agree").to_affine();
        assert_eq!(dense.as_ref().expect("works").to_affine(), expected, "n = {n}, seed {seed}");
        let expected = cpu::msm_packed::<C>(&points, &packed, None).expect("lengths agree").to_affine();
        assert_eq!(of_packed.as_ref().expect("works").to_affine(), expected, "n = {n}, seed {seed}");
    }
    [named(dense), named(of_packed)]
}

/// Small pieces, of a size that no point divides.
fn with_small_pieces(msm: DeviceMsm) -> DeviceMsm {
    let staging = Staging::with_pieces(msm.pool().device(), 3, 50_001);
    msm.with_staging(&staging)
}

#[test]
fn sums_over_encoded_bases_equal_the_cpu() {
    let Some(msm) = device("sums_over_encoded_bases_equal_the_cpu") else { return };
    let msm = with_small_pieces(msm);
    let zero = [0; 192];
    for n in [0, 1, 33, 5000] {
        assert_eq!(sums::<G1>(&msm, n, &[]), [None; 2]);
        assert_eq!(sums::<G2>(&msm, n, &[]), [None; 2]);
        for place in places(n) {
            // All zero is infinity behind the encoded points, and refused among them.
            assert_eq!(sums::<G1>(&msm, n, &[(place, &zero[..96])]), [Some(place); 2]);
            assert_eq!(sums::<G2>(&msm, n, &[(place, &zero)]), [Some(place); 2]);
        }
    }
}

#[test]
fn encoded_bases_come_in_chunks() {
    let Some(large) = device("encoded_bases_come_in_chunks") else { return };
    let (zero, ones) = ([0; 96], [0xff; 96]);
    // So long that they come in several chunks, with much memory and with little.
    let n = (1 << 20) + 77;
    let small = Pool::new(large.pool().device(), Budget::Bytes(3 << 28)).expect("a pool");
    let small = with_small_pieces(DeviceMsm::new(&small).expect("streams"));
    for msm in [&large, &small] {
        assert_eq!(sums::<G1>(msm, n, &[]), [None; 2]);
        for place in places(n) {
            assert_eq!(sums::<G1>(msm, n, &[(place, &zero)]), [Some(place); 2]);
        }
        assert_eq!(
            sums::<G1>(msm, n, &[(n - 1, &zero), (700_001, &ones), (700_003, &zero)]),
            [Some(700_001); 2]
        );
    }
}

/// Decoding takes no memory that other bases from the host do not.
#[test]
fn the_least_memory_is_enough_for_encoded_bases() {
    let Some(large) = device("the_least_memory_is_enough_for_encoded_bases") else { return };
    let (n, seed) = ((3 << 16) + 1, seed());
    let (points, scalars) = (random_bases::<G1>(n, seed), random_scalars(n, seed));
    let raw = encodings::<G1>(&points);
    let shelf = Shelf { elements: &raw, broken: vec![] };
    let demand = Demand { bases: n, bases_stream: true, scalars: Scalars::Dense { stream: true } };
    let device = large.pool().device();
    let least = demand.memory::<G1>(device.info().multiprocessors, 0).least;
    let expected = cpu::msm::<G1>(&points, &scalars).expect("lengths agree").to_affine();
    for budget in [1 << 32, least + (20 << 20), least, least - 1] {
        let pool = Pool::new(device, Budget::Bytes(budget)).expect("a pool");
        let msm = with_small_pieces(DeviceMsm::new(&pool).expect("streams"));
        let bases = Source::Encoded(Encoded::new::<G1>(&shelf, n));
        match msm.msm::<G1>(bases, Dense::Montgomery(Source::Host(elements(&scalars)))) {
            Ok(got) => assert!(budget >= least && got.to_affine() == expected, "{budget} bytes, seed {seed}"),
            Err(Error::Device(gpu::Error::OutOfMemory { .. })) => assert!(budget < least, "{budget} bytes"),
            Err(error) => panic!("{budget} bytes: {error}"),
        }
        assert_eq!(pool.in_use(), 0, "memory is given back");
    }
}

#[test]
fn encoded_points_outside_the_subgroup_are_found() {
    let Some(msm) = device("encoded_points_outside_the_subgroup_are_found") else { return };
    let mut points = random_bases::<G2>(500, seed());
    let check = |points: &[blstrs::G2Affine]| {
        let raw = encodings::<G2>(points);
        let shelf = Shelf { elements: &raw, broken: vec![] };
        let bases = Source::Encoded(Encoded::new::<G2>(&shelf, points.len()));
        msm.are_in_subgroup::<G2>(bases, &mut rand_core::OsRng).expect("works")
    };
    assert!(check(&points));
    points[250] = outside_g2();
    assert!(!check(&points));
}

/// A small size, for a memory checker.
#[test]
fn checker_decode() {
    let Some(msm) = device("checker_decode") else { return };
    let zero = [0; 192];
    assert_eq!(sums::<G1>(&msm, 130, &[]), [None; 2]);
    assert_eq!(sums::<G1>(&msm, 130, &[(129, &zero[..96])]), [Some(129); 2]);
    let points = random_bases::<G2>(33, seed());
    assert_eq!(decode::<G2>(&msm, &encodings::<G2>(&points), 0), (G2::words(&points).to_vec(), None));
}
