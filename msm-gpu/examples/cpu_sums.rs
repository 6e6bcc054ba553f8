//! Prints times of sums and of fixed-base multiplication on the CPU, beside blst's own sum of products:
//! `cargo run --release --example cpu_sums -- 16 20`.

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use msm_gpu::{G1, G2, cpu};
use rand_core::SeedableRng;

fn timed<T>(what: &str, n: usize, work: impl FnOnce() -> T) -> T {
    let (time, cpu) = (Instant::now(), cpu_seconds());
    let out = work();
    let (elapsed, cpu) = (time.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!(
        "{what:<20} n = {n:<9} {:>8.0} ms, {cpu:>6.2} s of CPU, {:>7.0} ns each",
        elapsed * 1e3,
        cpu * 1e9 / n as f64
    );
    out
}

/// User time of this process so far, all threads; zero where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    stat.split_whitespace().nth(13).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for arg in std::env::args().skip(1) {
        let n = 1usize << arg.parse::<u32>()?;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let scalars: Vec<Scalar> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
        let table = timed("fixed base table, G1", n, || cpu::FixedBase::<G1>::new(&G1Affine::generator(), n));
        let bases = timed("fixed base, G1", n, || table.multiply(&scalars));
        let table = cpu::FixedBase::<G2>::new(&G2Affine::generator(), n / 4);
        timed("fixed base, G2", n / 4, || table.multiply(&scalars[..n / 4]));
        timed("subgroup check, G1", n, || cpu::check_subgroup::<G1>(&bases, &mut rng))?;
        let ours = timed("dense, G1", n, || cpu::msm::<G1>(&bases, &scalars))?;
        let projective: Vec<G1Projective> = bases.iter().map(G1Projective::from).collect();
        let theirs = timed("dense, G1, blst", n, || G1Projective::multi_exp(&projective, &scalars));
        if ours != theirs {
            return Err("the sums differ".into());
        }
    }
    Ok(())
}
