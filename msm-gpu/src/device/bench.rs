//! Timing, for `xtask bench msm` and for anyone who wants the numbers of their own device.

use std::time::{Duration, Instant};

use blstrs::{G1Affine, G2Affine};
use gpu::{Budget, DeviceBuffer, Fr, PinnedBuffer, Pool, Timer};
use group::prime::PrimeCurveAffine;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

use super::ffi::{DeviceCurve, Windows};
use super::{Dense, DeviceMsm, DevicePacked, FixedBase, Integer, Source};
use crate::{Error, G1, G2, PackedScalars};

/// Multiplications in Fp that one second has room for: the schoolbook kernel alone on an H200, all of its multiprocessors busy.
const FP_MULTIPLICATIONS: f64 = 27.4e9;
/// Multiplications of an affine addition whose inversion is shared.
const PER_ADDITION: f64 = 6.0;
/// Shares of the packed input: 60 % zero, 38 % one, 2 % dense.
const ONES_PERCENT: u32 = 38;
const DENSE_PERCENT: u32 = 2;

/// Bytes of device memory for the lines that say so, or what the pool has where that is less.
pub const BUDGET: u64 = 16_000_000_000;

/// What to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// G1, dense scalars, everything on the device.
    G1Dense,
    /// G1, dense scalars, bases and scalars on the device, and [`BUDGET`] bytes of device memory beside them.
    G1Bounded,
    /// G1, dense scalars, bases and scalars in pinned host memory, and [`BUDGET`] bytes of device memory in all.
    G1Pinned,
    /// G1, dense scalars, bases and scalars in pageable host memory, and [`BUDGET`] bytes of device memory in all.
    G1Host,
    /// G1, 60 % zero, 38 % one and 2 % dense scalars, packed, everything on the device.
    G1Packed,
    /// G2, dense scalars, everything on the device.
    G2Dense,
    /// Multiples of the generator of G1.
    G1FixedBase,
    /// Multiples of the generator of G2.
    G2FixedBase,
}

impl Work {
    /// All of them. The numbers that `msm_bench` takes are places here: append.
    pub const ALL: [Self; 8] = [
        Self::G1Dense,
        Self::G1Pinned,
        Self::G1Packed,
        Self::G2Dense,
        Self::G1FixedBase,
        Self::G2FixedBase,
        Self::G1Bounded,
        Self::G1Host,
    ];

    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::G1Dense => "msm g1 dense",
            Self::G1Bounded => "msm g1 dense, 16 GB beside inputs",
            Self::G1Pinned => "msm g1 dense, pinned, 16 GB in all",
            Self::G1Host => "msm g1 dense, pageable, 16 GB in all",
            Self::G1Packed => "msm g1 60/38/2 packed",
            Self::G2Dense => "msm g2 dense",
            Self::G1FixedBase => "fixed base g1",
            Self::G2FixedBase => "fixed base g2",
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was timed.
    pub what: Work,
    /// Scalars.
    pub n: usize,
    /// The median by device events, host work between them included.
    pub median: Duration,
    /// The median by the host's clock.
    pub host_median: Duration,
    /// The time that the multiplications alone need (`6` for each addition in G1, `18` in G2) at the rate of the bare kernel.
    pub floor: Duration,
    /// Scalars in one second.
    pub rate: f64,
    /// `floor / median`.
    pub share: f64,
    /// Runs that the medians are of.
    pub runs: usize,
}

/// How to time.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Runs that count, over the input sets in turn, after one that does not.
    pub runs: usize,
    /// Sets of fresh random scalars.
    pub sets: usize,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { runs: 7, sets: 3, seed: 1 }
    }
}

/// Times one kind of work at one size.
///
/// # Errors
/// Those of the work itself; out of memory where the inputs do not fit.
pub fn measure(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    match what {
        Work::G1Dense => dense::<G1>(msm, what, n, options),
        Work::G2Dense => dense::<G2>(msm, what, n, options),
        Work::G1Bounded => {
            let bounded = bounded(msm)?;
            dense_with::<G1>(msm, &bounded, what, n, options)
        }
        Work::G1Pinned => pinned(msm, what, n, options),
        Work::G1Host => pageable(msm, what, n, options),
        Work::G1Packed => packed(msm, what, n, options),
        Work::G1FixedBase => fixed::<G1>(msm, what, n, options),
        Work::G2FixedBase => fixed::<G2>(msm, what, n, options),
    }
}

/// Random limbs, by all cores; `shift` bits of the top one are zero.
fn fill(out: &mut [Integer], seed: u64, shift: u32) {
    const CHUNK: usize = 1 << 14;
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(number, chunk)| {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        for integer in chunk {
            *integer = std::array::from_fn(|_| rng.next_u64());
            integer[3] >>= shift;
        }
    });
}

/// Random 256-bit integers.
fn integers(n: usize, seed: u64) -> Vec<Integer> {
    let mut out = vec![[0; 4]; n];
    fill(&mut out, seed, 0);
    out
}

/// Random elements of Fr whose limbs are below 2^254, so below r.
fn elements(n: usize, seed: u64) -> Vec<Fr> {
    let mut out = vec![Fr::default(); n];
    fill(bytemuck::cast_slice_mut(&mut out), seed, 2);
    out
}

fn bases<C: DeviceCurve>(msm: &DeviceMsm, n: usize, seed: u64) -> Result<DeviceBuffer<C::Words>, Error> {
    FixedBase::<C>::new(msm, &C::Affine::generator(), n)?.multiply(Source::Host(&elements(n, seed)))
}

/// Fp multiplications of one addition in the group.
fn multiplications<C: DeviceCurve>() -> f64 {
    if size_of::<C::Words>() == size_of::<G1Affine>() { PER_ADDITION } else { 3.0 * PER_ADDITION }
}

fn seconds_of(additions: f64, per_addition: f64) -> f64 {
    additions * per_addition / FP_MULTIPLICATIONS
}

/// Additions of a dense multiplication: every point into every window, less the first of each bucket, and two for each bucket.
fn dense_additions(n: usize) -> f64 {
    let windows = Windows::for_points(n as u64, 1);
    n as f64 * f64::from(windows.count) + windows.all_buckets() as f64
}

/// The time that the Fp multiplications of a sum alone need, of so many dense scalars and so many ones.
pub fn floor<C: DeviceCurve>(dense: usize, ones: usize) -> Duration {
    Duration::from_secs_f64(seconds_of(dense_additions(dense) + ones as f64, multiplications::<C>()))
}

fn row(
    what: Work,
    n: usize,
    floor: f64,
    options: &Options,
    msm: &DeviceMsm,
    mut run: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Row, Error> {
    run(0)?;
    let (mut device, mut host) = (Vec::new(), Vec::new());
    for number in 0..options.runs.max(1) {
        let clock = Instant::now();
        let timer = Timer::start(msm.stream())?;
        run(number)?;
        device.push(timer.stop()?);
        host.push(clock.elapsed());
    }
    device.sort_unstable();
    host.sort_unstable();
    let median = device.get(device.len() / 2).copied().unwrap_or_default();
    let host_median = host.get(host.len() / 2).copied().unwrap_or_default();
    let seconds = median.as_secs_f64();
    Ok(Row {
        what,
        n,
        median,
        host_median,
        floor: Duration::from_secs_f64(floor),
        rate: n as f64 / seconds,
        share: floor / seconds,
        runs: device.len(),
    })
}

/// One that works within [`BUDGET`] bytes of its own. What the other's pool has cached goes back to the driver.
fn bounded(msm: &DeviceMsm) -> Result<DeviceMsm, Error> {
    let pool = msm.pool();
    pool.trim(0)?;
    let bounded = Pool::new(pool.device(), Budget::Bytes(BUDGET.min(pool.limit())))?;
    Ok(DeviceMsm::new(&bounded)?.with_staging(msm.staging()))
}

/// The seeds of the sets of scalars; that of the bases is the options' own.
fn seeds(options: &Options) -> impl Iterator<Item = u64> {
    let seed = options.seed;
    (0..options.sets.max(1) as u64).map(move |set| seed + 1 + set)
}

fn dense<C: DeviceCurve>(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    dense_with::<C>(msm, msm, what, n, options)
}

/// The inputs are where `inputs` has its memory, and the work is `msm`'s.
fn dense_with<C: DeviceCurve>(
    inputs: &DeviceMsm,
    msm: &DeviceMsm,
    what: Work,
    n: usize,
    options: &Options,
) -> Result<Row, Error> {
    let bases = bases::<C>(inputs, n, options.seed)?;
    let sets = seeds(options)
        .map(|seed| Ok(inputs.staging().upload(inputs.pool(), &integers(n, seed), inputs.stream())?))
        .collect::<Result<Vec<_>, Error>>()?;
    let floor = seconds_of(dense_additions(n), multiplications::<C>());
    row(what, n, floor, options, msm, |number| {
        let Some(scalars) = sets.get(number % sets.len()) else { return Ok(()) };
        msm.msm::<C>(Source::Device(&bases), Dense::Canonical(Source::Device(scalars))).map(drop)
    })
}

fn pinned(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    let device = msm.pool().device();
    let mut host_bases = PinnedBuffer::new(device, n)?;
    bases::<G1>(msm, n, options.seed)?.copy_to_pinned(msm.stream(), 0, &mut host_bases, 0..n)?;
    let sets = seeds(options)
        .map(|seed| {
            let mut scalars = PinnedBuffer::<Integer>::new(device, n)?;
            fill(scalars.as_mut_slice()?, seed, 0);
            Ok(scalars)
        })
        .collect::<Result<Vec<_>, Error>>()?;
    msm.stream().synchronize()?;
    let msm = bounded(msm)?;
    let floor = seconds_of(dense_additions(n), PER_ADDITION);
    row(what, n, floor, options, &msm, |number| {
        let Some(scalars) = sets.get(number % sets.len()) else { return Ok(()) };
        msm.msm::<G1>(Source::Pinned(&host_bases), Dense::Canonical(Source::Pinned(scalars))).map(drop)
    })
}

fn pageable(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    let mut host_bases = vec![Default::default(); n];
    {
        let bases = bases::<G1>(msm, n, options.seed)?;
        msm.staging().download_into(msm.stream(), &bases, 0, &mut host_bases)?;
    }
    let sets: Vec<_> = seeds(options).map(|seed| integers(n, seed)).collect();
    let msm = bounded(msm)?;
    let floor = seconds_of(dense_additions(n), PER_ADDITION);
    row(what, n, floor, options, &msm, |number| {
        let Some(scalars) = sets.get(number % sets.len()) else { return Ok(()) };
        msm.msm::<G1>(Source::Host(&host_bases), Dense::Canonical(Source::Host(scalars))).map(drop)
    })
}

/// Bitmaps and dense elements with the shares above.
struct PackedInput {
    ones: Vec<u64>,
    is_dense: Vec<u64>,
    dense: Vec<Fr>,
}

fn packed_input(n: usize, seed: u64) -> PackedInput {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let (mut ones, mut is_dense) = (vec![0u64; n.div_ceil(64)], vec![0u64; n.div_ceil(64)]);
    for i in 0..n {
        let draw = rng.next_u32() % 100;
        let word = i / 64;
        if let (Some(one), Some(full)) = (ones.get_mut(word), is_dense.get_mut(word)) {
            *one |= u64::from(draw < ONES_PERCENT) << (i % 64);
            *full |= u64::from((ONES_PERCENT..ONES_PERCENT + DENSE_PERCENT).contains(&draw)) << (i % 64);
        }
    }
    let count: usize = is_dense.iter().map(|word| word.count_ones() as usize).sum();
    PackedInput { ones, is_dense, dense: elements(count, seed ^ 1) }
}

fn packed(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    let bases = bases::<G1>(msm, n, options.seed)?;
    let inputs: Vec<_> = seeds(options).map(|seed| packed_input(n, seed)).collect();
    let dense = inputs
        .iter()
        .map(|input| Ok(msm.pool().upload(&input.dense, msm.stream())?))
        .collect::<Result<Vec<_>, Error>>()?;
    let sets = inputs
        .iter()
        .zip(&dense)
        .map(|(input, dense)| {
            let elements = bytemuck::TransparentWrapper::peel_slice(&input.dense);
            let scalars = PackedScalars::new(n, &input.ones, &input.is_dense, elements)?;
            DevicePacked::new(msm, &scalars, Source::Device(dense))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let additions =
        n as f64 * f64::from(ONES_PERCENT) / 100.0 + dense_additions(n * DENSE_PERCENT as usize / 100);
    row(what, n, seconds_of(additions, PER_ADDITION), options, msm, |number| {
        let Some(scalars) = sets.get(number % sets.len()) else { return Ok(()) };
        msm.msm_packed::<G1>(Source::Device(&bases), scalars, None).map(drop)
    })
}

fn fixed<C: DeviceCurve>(msm: &DeviceMsm, what: Work, n: usize, options: &Options) -> Result<Row, Error> {
    let base = FixedBase::<C>::new(msm, &C::Affine::generator(), n)?;
    let sets = seeds(options)
        .map(|seed| Ok(msm.staging().upload(msm.pool(), &elements(n, seed), msm.stream())?))
        .collect::<Result<Vec<_>, Error>>()?;
    let mut out = msm.pool().allocate(n, msm.stream())?;
    let additions = n as f64 * f64::from(Windows::for_multiples(n as u64).count - 1);
    row(what, n, seconds_of(additions, multiplications::<C>()), options, msm, |number| {
        let Some(scalars) = sets.get(number % sets.len()) else { return Ok(()) };
        base.multiply_into(Source::Device(scalars), &mut out, 0)
    })
}

// The two affine types differ in size alone here.
const _: () = assert!(size_of::<G2Affine>() == 2 * size_of::<G1Affine>());
