//! Times compilation and the products with their check for a synthetic partition: `products porep-32GiB [REPETITIONS]`.
//!
//! A 32 GiB PoRep partition takes 9 GiB of memory.

use std::time::Instant;

use assignment::native_witness;
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::shape::CircuitName;
use circuits::synthetic::synthetic;
use ff::Field;
use r1cs::CompiledCircuit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name: CircuitName = arguments.next().as_deref().unwrap_or("porep-32GiB").parse()?;
    let repetitions: usize = arguments.next().as_deref().unwrap_or("3").parse()?;

    let circuit =
        FilecoinCircuit::all(name, synthetic(name, 1, 1))?.into_iter().next().ok_or("no partition")?;
    let (compiled, seconds) = timed(|| CompiledCircuit::compile(&circuit));
    let compiled = compiled?;
    println!("{name}: {} rows, compiled in {seconds}", compiled.num_rows());
    let (witness, seconds) = timed(|| native_witness(&circuit));
    println!("witness {seconds}");
    let witness = witness?;
    let [mut a, mut b] = [(); 2].map(|()| vec![Scalar::ONE; compiled.num_rows()]);
    for _ in 0..repetitions {
        let (satisfied, seconds) = timed(|| compiled.satisfied_products_into(&witness, &mut a, &mut b));
        satisfied?;
        println!("a, b and the check against c {seconds}");
    }
    Ok(())
}

/// What `work` gives, and how long it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, String) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let value = work();
    let elapsed = start.elapsed().as_secs_f64();
    let cpu =
        cpu_seconds().zip(cpu).map_or_else(String::new, |(now, then)| format!(", {:.2} s CPU", now - then));
    (value, format!("{elapsed:.2} s{cpu}"))
}

/// The processor time of all threads so far, where the system tells it (in hundredths of a second).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may contain blanks.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}
