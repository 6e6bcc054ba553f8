//! The device's transforms against the CPU's. Without a device each test says that it was skipped, by name.

use blstrs::Scalar;
use ff::Field;
use gpu::{Budget, Device, Pool, Stream};
use ntt_gpu::{
    Basis, BitReversed, Coefficients, CosetEvaluations, Domain, Evaluations, Natural, Order, Polynomial, cpu,
    device::{self, Memory},
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

struct Setup {
    _device: Device,
    pool: Pool,
    stream: Stream,
    rng: ChaCha20Rng,
}

/// A device with a pool, and randomness that is different each time; the seed is printed for a failure's sake.
fn setup(test: &str) -> Option<Setup> {
    let device = gpu::testing::device_or_skip(test).unwrap()?;
    let pool = Pool::new(&device, Budget::Bytes(8 << 30)).unwrap();
    let stream = device.stream().unwrap();
    let seed = rand_core::OsRng.next_u64();
    println!("{test}: seed {seed}");
    Some(Setup { _device: device, pool, stream, rng: ChaCha20Rng::seed_from_u64(seed) })
}

/// Awkward and random vectors of a domain's size.
fn inputs(domain: Domain, rng: &mut ChaCha20Rng) -> Vec<Vec<Scalar>> {
    let size = domain.size();
    let (zero, one, top) = (Scalar::ZERO, Scalar::ONE, -Scalar::ONE);
    let mut unit = vec![zero; size];
    unit[rng.next_u64() as usize % size] = one;
    let mixed = (0..size)
        .map(|_| match rng.next_u32() % 6 {
            0 => zero,
            1 => one,
            2 => top,
            _ => Scalar::random(&mut *rng),
        })
        .collect();
    let random = (0..size).map(|_| Scalar::random(&mut *rng)).collect();
    vec![vec![zero; size], vec![one; size], vec![top; size], unit, mixed, random]
}

fn same<B: Basis, O: Order>(
    setup: &Setup,
    what: &str,
    got: &device::Polynomial<B, O>,
    expected: &Polynomial<B, O>,
) {
    let got = got.download(&setup.stream).unwrap();
    let wrong = got.values().iter().zip(expected.values()).filter(|(a, b)| a != b).count();
    let (n, first) =
        (expected.values().len(), got.values().iter().zip(expected.values()).position(|(a, b)| a != b));
    assert_eq!(wrong, 0, "{what}, n = {n}: {wrong} wrong, the first at {first:?}");
}

fn check_order<O: Order>(setup: &Setup, ntt: &device::Ntt, values: &[Scalar]) {
    let (domain, pool, stream) = (ntt.domain(), &setup.pool, &setup.stream);
    let host = cpu::Ntt::new(domain);
    let order = if O::REVERSED { "from bit-reversed" } else { "from natural" };

    let poly = Polynomial::<Coefficients, O>::new(domain, values.to_vec()).unwrap();
    let up = || device::Polynomial::upload(&poly, pool, stream).unwrap();
    let expected = host.forward(poly.clone()).unwrap();
    same(setup, &format!("forward {order}"), &ntt.forward(stream, up()).unwrap(), &expected);
    let expected = host.coset_forward(poly.clone()).unwrap();
    same(setup, &format!("coset forward {order}"), &ntt.coset_forward(stream, up()).unwrap(), &expected);
    same(setup, &format!("reorder {order}"), &ntt.reorder(stream, up()).unwrap(), &poly.clone().reorder());

    let poly = Polynomial::<Evaluations, O>::new(domain, values.to_vec()).unwrap();
    let up = device::Polynomial::upload(&poly, pool, stream).unwrap();
    same(setup, &format!("inverse {order}"), &ntt.inverse(stream, up).unwrap(), &host.inverse(poly).unwrap());

    let poly = Polynomial::<CosetEvaluations, O>::new(domain, values.to_vec()).unwrap();
    let up = device::Polynomial::upload(&poly, pool, stream).unwrap();
    let expected = host.coset_inverse(poly).unwrap();
    same(setup, &format!("coset inverse {order}"), &ntt.coset_inverse(stream, up).unwrap(), &expected);
}

fn check_in_order(setup: &Setup, ntt: &device::Ntt, values: &[Scalar]) {
    let (domain, pool, stream) = (ntt.domain(), &setup.pool, &setup.stream);
    let host = cpu::Ntt::new(domain);

    let poly = Polynomial::<Coefficients>::new(domain, values.to_vec()).unwrap();
    let up = || device::Polynomial::upload(&poly, pool, stream).unwrap();
    let expected = host.forward(poly.clone()).unwrap().reorder();
    same(setup, "forward in order", &ntt.forward_in_order(stream, up()).unwrap(), &expected);
    let expected = host.coset_forward(poly.clone()).unwrap().reorder();
    same(setup, "coset forward in order", &ntt.coset_forward_in_order(stream, up()).unwrap(), &expected);

    let poly = Polynomial::<Evaluations>::new(domain, values.to_vec()).unwrap();
    let up = device::Polynomial::upload(&poly, pool, stream).unwrap();
    let expected = host.inverse(poly).unwrap().reorder();
    same(setup, "inverse in order", &ntt.inverse_in_order(stream, up).unwrap(), &expected);

    let poly = Polynomial::<CosetEvaluations>::new(domain, values.to_vec()).unwrap();
    let up = device::Polynomial::upload(&poly, pool, stream).unwrap();
    let expected = host.coset_inverse(poly).unwrap().reorder();
    same(setup, "coset inverse in order", &ntt.coset_inverse_in_order(stream, up).unwrap(), &expected);
}

fn check_transforms(test: &str, log_sizes: std::ops::RangeInclusive<u32>) {
    let Some(mut setup) = setup(test) else { return };
    for log_size in log_sizes {
        let domain = Domain::new(log_size).unwrap();
        let mut inputs = inputs(domain, &mut setup.rng);
        if log_size > 14 {
            inputs.drain(..4);
        }
        for memory in [Memory::Ample, Memory::Tight] {
            let ntt = device::Ntt::within(memory, domain, &setup.pool, &setup.stream).unwrap();
            for values in &inputs {
                check_order::<Natural>(&setup, &ntt, values);
                check_order::<BitReversed>(&setup, &ntt, values);
                check_in_order(&setup, &ntt, values);
            }
        }
    }
}

/// One and two passes with every kind of last round; small enough for compute-sanitizer.
#[test]
fn device_small_transforms_match_cpu() {
    check_transforms("device_small_transforms_match_cpu", 0..=13);
}

#[test]
fn device_transforms_match_cpu() {
    check_transforms("device_transforms_match_cpu", 14..=20);
}

#[test]
#[ignore = "minutes on a slow processor: the CPU transforms 2^24 elements several times"]
fn device_large_transforms_match_cpu() {
    let Some(mut setup) = setup("device_large_transforms_match_cpu") else { return };
    for log_size in [21, 22, 23, 24] {
        let domain = Domain::new(log_size).unwrap();
        let values: Vec<_> = (0..domain.size()).map(|_| Scalar::random(&mut setup.rng)).collect();
        let (host, ntt) =
            (cpu::Ntt::new(domain), device::Ntt::new(domain, &setup.pool, &setup.stream).unwrap());
        let poly = Polynomial::<Coefficients>::new(domain, values).unwrap();
        let up = device::Polynomial::upload(&poly, &setup.pool, &setup.stream).unwrap();
        let reversed = ntt.coset_forward(&setup.stream, up).unwrap();
        same(&setup, "coset forward", &reversed, &host.coset_forward(poly.clone()).unwrap());
        same(&setup, "and back", &ntt.coset_inverse(&setup.stream, reversed).unwrap(), &poly);
    }
}

#[test]
fn device_round_trips_at_four_passes() {
    let Some(mut setup) = setup("device_round_trips_at_four_passes") else { return };
    // Too large for a reference; a round trip and two values by their definition.
    let domain = Domain::new(28).unwrap();
    let pool = Pool::new(&setup._device, Budget::WholeDevice).unwrap();
    let stream = &setup.stream;
    let ntt = device::Ntt::within(Memory::Tight, domain, &pool, stream).unwrap();
    let mut buffer = pool.allocate::<gpu::Fr>(domain.size(), stream).unwrap();
    buffer.fill_bytes(stream, 0).unwrap();
    let terms: Vec<(usize, Scalar)> = (0..50)
        .map(|_| (setup.rng.next_u64() as usize % domain.size(), Scalar::random(&mut setup.rng)))
        .collect();
    for (at, value) in &terms {
        buffer.upload_at(stream, *at, &[gpu::Fr(*value)]).unwrap();
    }
    let at = |buffer: &gpu::DeviceBuffer<gpu::Fr>, index: usize| {
        let mut out = [gpu::Fr::default()];
        buffer.download_into(stream, index, &mut out).unwrap();
        out[0].0
    };
    let poly = device::Polynomial::<Coefficients>::new(domain, buffer).unwrap();
    let values = ntt.forward(stream, poly).unwrap();
    for _ in 0..20 {
        let k = setup.rng.next_u64() as usize % domain.size();
        let x = domain.root().pow_vartime([k as u64]);
        let expected: Scalar = terms.iter().map(|(j, a)| *a * x.pow_vartime([*j as u64])).sum();
        let position = k.reverse_bits() >> (usize::BITS - 28);
        assert_eq!(at(values.buffer(), position), expected, "value {k}");
    }
    let back = ntt.inverse(stream, values).unwrap();
    for (j, a) in &terms {
        assert_eq!(at(back.buffer(), *j), *a, "coefficient {j}");
    }
}

fn check_quotients(test: &str, log_sizes: &[u32]) {
    let Some(mut setup) = setup(test) else { return };
    for &log_size in log_sizes {
        // A pool of its own for each size: one that keeps another size's blocks may hand out longer ones than it is asked for.
        setup.pool = Pool::new(&setup._device, Budget::Bytes(1 << 28)).unwrap();
        let domain = Domain::new(log_size).unwrap();
        let host = cpu::Ntt::new(domain);
        let mut cases = inputs(domain, &mut setup.rng);
        let mut others = inputs(domain, &mut setup.rng);
        if log_size > 13 {
            (cases, others) = (cases.split_off(5), others.split_off(5));
        }
        others.reverse();
        for (a, b) in cases.into_iter().zip(others) {
            let natural = [a, b].map(|values| Polynomial::<Evaluations>::new(domain, values).unwrap());
            let reversed = natural.clone().map(Polynomial::reorder);
            let [a, b] = natural.clone();
            let mut expected = host.quotient(a, b).unwrap();
            expected.push(Scalar::ZERO);
            let expected = Polynomial::<Coefficients>::new(domain, expected).unwrap();
            for memory in [Memory::Ample, Memory::Tight] {
                check_quotient(&setup, memory, &natural, &expected);
                check_quotient(&setup, memory, &reversed, &expected);
            }
        }
        for memory in [Memory::Ample, Memory::Tight] {
            let [a, b] = [(); 2].map(|()| vec![Scalar::ONE; domain.size()]);
            let natural = [a, b].map(|values| Polynomial::<Evaluations>::new(domain, values).unwrap());
            check_quotient_in_too_little(&setup, memory, &natural);
            check_quotient_in_too_little(&setup, memory, &natural.map(Polynomial::reorder));
        }
    }
}

/// The quotient, with so many bytes more than are predicted.
fn quotient<O: Order>(
    setup: &Setup,
    memory: Memory,
    [a, b]: &[Polynomial<Evaluations, O>; 2],
    more: i64,
) -> Result<device::Polynomial<Coefficients>, ntt_gpu::Error> {
    let (domain, pool, stream) = (a.domain(), &setup.pool, &setup.stream);
    let vectors = memory.quotient_bytes::<O>(domain).checked_add_signed(more).unwrap();
    let _rest = gpu::testing::leave(pool, memory.twiddle_bytes(domain) + vectors).unwrap();
    let ntt = device::Ntt::within(memory, domain, pool, stream).unwrap();
    assert_eq!(pool.available(), vectors);
    let [a, b] = [a, b].map(|poly| device::Polynomial::upload(poly, pool, stream).unwrap());
    ntt.quotient(stream, a, b)
}

fn check_quotient<O: Order>(
    setup: &Setup,
    memory: Memory,
    factors: &[Polynomial<Evaluations, O>; 2],
    expected: &Polynomial<Coefficients>,
) {
    let what = if O::REVERSED { "quotient from bit-reversed" } else { "quotient" };
    let got = quotient(setup, memory, factors, 0).unwrap();
    same(setup, &format!("{what}, {memory:?}"), &got, expected);
}

fn check_quotient_in_too_little<O: Order>(
    setup: &Setup,
    memory: Memory,
    factors: &[Polynomial<Evaluations, O>; 2],
) {
    let error = quotient(setup, memory, factors, -512).unwrap_err();
    assert!(matches!(error, ntt_gpu::Error::Device(gpu::Error::OutOfMemory { .. })), "{error}");
}

#[test]
fn device_small_quotients_match_cpu() {
    check_quotients("device_small_quotients_match_cpu", &[0, 1, 2, 3, 5, 8, 9, 10, 13]);
}

#[test]
fn device_quotients_match_cpu() {
    check_quotients("device_quotients_match_cpu", &[16, 19, 20]);
}

#[test]
fn device_memory_runs_out_with_an_error() {
    let Some(setup) = setup("device_memory_runs_out_with_an_error") else { return };
    let domain = Domain::new(12).unwrap();
    // The table and a and b fit, the quotient's third vector does not.
    let bytes = Memory::Ample.twiddle_bytes(domain) + (2 << 17);
    let pool = Pool::new(&setup._device, Budget::Bytes(bytes)).unwrap();
    let ntt = device::Ntt::new(domain, &pool, &setup.stream).unwrap();
    let poly = Polynomial::<Evaluations>::new(domain, vec![Scalar::ONE; 1 << 12]).unwrap();
    let [a, b] = [0; 2].map(|_| device::Polynomial::upload(&poly, &pool, &setup.stream).unwrap());
    let error = ntt.quotient(&setup.stream, a, b).unwrap_err();
    assert!(matches!(error, ntt_gpu::Error::Device(gpu::Error::OutOfMemory { .. })), "{error}");
    // And the device goes on.
    let a = device::Polynomial::upload(&poly, &pool, &setup.stream).unwrap();
    assert!(ntt.inverse(&setup.stream, a).is_ok());
}

#[test]
#[ignore = "measures; run alone, with --nocapture"]
fn bench_device() {
    let Some(mut setup) = setup("bench_device") else { return };
    let pool = Pool::new(&setup._device, Budget::WholeDevice).unwrap();
    let device = &setup._device;
    for line in device::bench::multiply(device, &pool, &mut setup.rng).unwrap() {
        println!("{line}");
    }
    for log_size in [12, 16, 18, 20, 22, 24, 26, 27] {
        for line in device::bench::transforms(device, &pool, log_size, &mut setup.rng).unwrap() {
            println!("{line}");
        }
    }
    for log_size in [20, 24, 27] {
        for memory in [Memory::Ample, Memory::Tight] {
            println!("{}", device::bench::quotient(device, &pool, memory, log_size, &mut setup.rng).unwrap());
        }
    }
}
