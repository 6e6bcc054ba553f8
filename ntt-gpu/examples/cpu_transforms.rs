//! Prints the time of one transform and of the quotient on the CPU: `cargo run --release --example cpu_transforms -- 20 22`.

use std::time::Instant;

use blstrs::Scalar;
use ntt_gpu::cpu::Ntt;
use ntt_gpu::{Coefficients, Domain, Evaluations, Natural, Polynomial};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for arg in std::env::args().skip(1) {
        let domain = Domain::new(arg.parse()?)?;
        let values: Vec<Scalar> = (0..domain.size() as u64).map(|i| Scalar::from(i ^ 0x9e37_79b9)).collect();
        let time = Instant::now();
        let ntt = Ntt::new(domain);
        println!("2^{arg} twiddles  {:>9.1} ms", time.elapsed().as_secs_f64() * 1e3);
        let poly = Polynomial::<Coefficients, Natural>::new(domain, values.clone())?;
        let time = Instant::now();
        let out = ntt.forward(poly)?;
        println!("2^{arg} forward   {:>9.1} ms", time.elapsed().as_secs_f64() * 1e3);
        let time = Instant::now();
        let back = ntt.inverse(out)?;
        println!("2^{arg} inverse   {:>9.1} ms", time.elapsed().as_secs_f64() * 1e3);
        let a = Polynomial::<Evaluations, Natural>::new(domain, back.into_values())?;
        let b = a.clone();
        let time = Instant::now();
        ntt.quotient(a, b)?;
        println!("2^{arg} quotient  {:>9.1} ms", time.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
