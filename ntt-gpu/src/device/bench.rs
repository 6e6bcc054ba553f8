//! Measurements on a device: medians of device time over several input sets in turn.

use std::time::Duration;

use blstrs::Scalar;
use ff::Field;
use gpu::{Device, DeviceBuffer, Fr, Pool, Stream, Timer};
use rand_core::RngCore;

use super::{Memory, Ntt, Polynomial};
use crate::{BitReversed, Coefficients, Domain, Error, Evaluations, Natural, ffi};

/// Canonical Fr multiplications per second that floors are counted with: what an H200 does when it does nothing else. Those by
/// a known factor are faster, and nearly all of a transform are, so that a share may exceed 1.
pub const MULTIPLICATIONS_PER_SECOND: f64 = 65.3e9;

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// What was measured.
    pub what: &'static str,
    /// log2 of the domain's size, or of the number of elements.
    pub log_size: u32,
    /// The median of the device times.
    pub median: Duration,
    /// The shortest and the longest.
    pub range: (Duration, Duration),
    /// Multiplications that the textbook algorithm needs.
    pub multiplications: f64,
}

impl Measurement {
    /// The time of the multiplications alone at [`MULTIPLICATIONS_PER_SECOND`].
    pub fn floor(&self) -> Duration {
        Duration::from_secs_f64(self.multiplications / MULTIPLICATIONS_PER_SECOND)
    }

    /// The floor over the median: 1 is at the floor.
    pub fn share(&self) -> f64 {
        self.floor().as_secs_f64() / self.median.as_secs_f64()
    }
}

impl std::fmt::Display for Measurement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (low, high) = self.range;
        write!(f, "{:<34} 2^{:<3} {:>9.3} ms", self.what, self.log_size, ms(self.median))?;
        write!(
            f,
            " ({:.3} to {:.3})  floor {:>8.3} ms  {:>5.1} %",
            ms(low),
            ms(high),
            ms(self.floor()),
            100.0 * self.share()
        )?;
        write!(f, "  {:>5.1} G mul/s", self.multiplications / self.median.as_secs_f64() / 1e9)
    }
}

/// Times `work` on what `prepare` makes of each input set in turn, `repetitions` times after one round to warm up.
fn measure<S, T>(
    stream: &Stream,
    repetitions: usize,
    sets: &mut [S],
    mut prepare: impl FnMut(&mut S) -> Result<T, Error>,
    mut work: impl FnMut(T) -> Result<(), Error>,
) -> Result<Vec<Duration>, Error> {
    let mut times = Vec::new();
    for round in 0..=repetitions {
        for set in sets.iter_mut() {
            let input = prepare(set)?;
            let timer = Timer::start(stream)?;
            work(input)?;
            let time = timer.stop()?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    times.sort_unstable();
    Ok(times)
}

fn summary(what: &'static str, log_size: u32, times: &[Duration], multiplications: f64) -> Measurement {
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    let range = (at(0), at(times.len().saturating_sub(1)));
    Measurement { what, log_size, median: at(times.len() / 2), range, multiplications }
}

/// Random factors on the device, from which dense vectors of a size are made.
struct Source {
    factors: DeviceBuffer<Fr>,
    log_size: u32,
}

impl Source {
    fn new(log_size: u32, pool: &Pool, stream: &Stream, rng: &mut impl RngCore) -> Result<Self, Error> {
        let factors: Vec<Fr> =
            (0..2 << log_size.div_ceil(2)).map(|_| Fr(Scalar::random(&mut *rng))).collect();
        Ok(Self { factors: pool.upload(&factors, stream)?, log_size })
    }

    /// All products of a factor of the first half and one of the second.
    fn fill(&self, values: &mut DeviceBuffer<Fr>, stream: &Stream) -> Result<(), Error> {
        Ok(ffi::fill_products(stream, &values.write(stream)?, &self.factors.read(stream)?, self.log_size)?)
    }

    fn vector(&self, stream: &Stream) -> Result<DeviceBuffer<Fr>, Error> {
        let mut values = self.factors.pool().allocate(1 << self.log_size, stream)?;
        self.fill(&mut values, stream)?;
        Ok(values)
    }
}

/// Multiplications that n/2·log2 n butterflies take.
fn transform_multiplications(log_size: u32) -> f64 {
    0.5 * f64::from(log_size) * 2f64.powi(log_size as i32)
}

/// The rates of dependent multiplications: by any factor, and by one known beforehand, as twiddles are.
pub fn multiply(device: &Device, pool: &Pool, rng: &mut impl RngCore) -> Result<[Measurement; 2], Error> {
    const STEPS: u32 = 1000;
    const LOG_SIZE: u32 = 22;
    let stream = device.stream()?;
    let mut sets = [Source::new(LOG_SIZE, pool, &stream, rng)?, Source::new(LOG_SIZE, pool, &stream, rng)?];
    let mut rate = |what, known| {
        let prepare = |set: &mut Source| set.vector(&stream);
        let times = measure(&stream, 5, &mut sets, prepare, |mut values| {
            Ok(ffi::multiply_chain(&stream, &values.write(&stream)?, STEPS, known)?)
        })?;
        Ok::<_, Error>(summary(what, LOG_SIZE, &times, f64::from(STEPS) * 2f64.powi(LOG_SIZE as i32)))
    };
    Ok([rate("Fr multiply, canonical", false)?, rate("Fr multiply by a known factor", true)?])
}

/// Transforms over the domain: in place from both orders, and from natural to natural order.
pub fn transforms(
    device: &Device,
    pool: &Pool,
    log_size: u32,
    rng: &mut impl RngCore,
) -> Result<Vec<Measurement>, Error> {
    let stream = device.stream()?;
    let domain = Domain::new(log_size)?;
    let ntt = Ntt::new(domain, pool, &stream)?;
    let mut sets = Vec::new();
    for _ in 0..3 {
        sets.push(Source::new(log_size, pool, &stream, rng)?);
    }
    let multiplications = transform_multiplications(log_size);
    let repetitions = repetitions(log_size);
    let natural = |set: &mut Source| Polynomial::<Coefficients, Natural>::new(domain, set.vector(&stream)?);
    let reversed =
        |set: &mut Source| Polynomial::<Evaluations, BitReversed>::new(domain, set.vector(&stream)?);

    let mut lines = Vec::new();
    let times =
        measure(&stream, repetitions, &mut sets, natural, |poly| ntt.forward(&stream, poly).map(drop))?;
    lines.push(summary("NTT natural to bit-reversed", log_size, &times, multiplications));
    let times =
        measure(&stream, repetitions, &mut sets, reversed, |poly| ntt.inverse(&stream, poly).map(drop))?;
    lines.push(summary("inverse NTT bit-reversed to natural", log_size, &times, multiplications));
    let times = measure(&stream, repetitions, &mut sets, natural, |poly| {
        ntt.forward_in_order(&stream, poly).map(drop)
    })?;
    lines.push(summary("NTT natural to natural", log_size, &times, multiplications));
    Ok(lines)
}

/// The quotient from a and b in natural order.
pub fn quotient(
    device: &Device,
    pool: &Pool,
    memory: Memory,
    log_size: u32,
    rng: &mut impl RngCore,
) -> Result<Measurement, Error> {
    let stream = device.stream()?;
    let domain = Domain::new(log_size)?;
    let ntt = Ntt::within(memory, domain, pool, &stream)?;
    let mut sets = Vec::new();
    for _ in 0..2 {
        sets.push([Source::new(log_size, pool, &stream, rng)?, Source::new(log_size, pool, &stream, rng)?]);
    }
    let prepare = |[a, b]: &mut [Source; 2]| {
        let a = Polynomial::<Evaluations>::new(domain, a.vector(&stream)?)?;
        Ok((a, Polynomial::<Evaluations>::new(domain, b.vector(&stream)?)?))
    };
    let times = measure(&stream, repetitions(log_size), &mut sets, prepare, |(a, b)| {
        ntt.quotient(&stream, a, b).map(drop)
    })?;
    // Besides the transforms a∘b, a'∘b' and the two constants of the difference.
    let multiplications = 6.0 * transform_multiplications(log_size) + 4.0 * 2f64.powi(log_size as i32);
    let what = match memory {
        Memory::Ample => "quotient, six transforms",
        Memory::Tight => "quotient in three vectors",
    };
    Ok(summary(what, log_size, &times, multiplications))
}

fn repetitions(log_size: u32) -> usize {
    if log_size > 24 { 3 } else { 7 }
}
