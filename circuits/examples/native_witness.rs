//! Times the native witness of a synthetic partition: `native_witness porep-32GiB [repetitions]`.
//!
//! A WindowPoSt has the partition's full number of sectors.

use std::time::Instant;

use assignment::native_witness;
use circuits::FilecoinCircuit;
use circuits::shape::CircuitName;
use circuits::synthetic::synthetic;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name: CircuitName = arguments.next().as_deref().unwrap_or("porep-32GiB").parse()?;
    let repetitions: usize = arguments.next().as_deref().unwrap_or("5").parse()?;

    let start = Instant::now();
    let circuit =
        FilecoinCircuit::all(name, synthetic(name, 1, 1))?.into_iter().next().ok_or("no partition")?;
    println!("{name}: synthetic sector in {:.3} s", start.elapsed().as_secs_f64());
    for _ in 0..repetitions {
        let start = Instant::now();
        let witness = native_witness(&circuit)?;
        let (elapsed, aux) = (start.elapsed().as_secs_f64(), witness.num_aux());
        let dense = witness.dense_values().len();
        println!("{elapsed:.3} s, {aux} aux, {dense} of them field elements, {} MB", witness.memory() >> 20);
    }
    Ok(())
}
