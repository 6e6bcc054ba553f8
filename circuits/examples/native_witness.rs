//! Times the native witness of a synthetic partition: `native_witness porep-32GiB [REPETITIONS [SECTORS]]`.
//!
//! A number of sectors makes a WindowPoSt circuit of so many; without it the partition has its full number.

use std::time::Instant;

use assignment::native_witness;
use circuits::FilecoinCircuit;
use circuits::post::PostCircuit;
use circuits::shape::{CircuitName, PostShape};
use circuits::synthetic::{synthetic, window};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name: CircuitName = arguments.next().as_deref().unwrap_or("porep-32GiB").parse()?;
    let repetitions: usize = arguments.next().as_deref().unwrap_or("5").parse()?;

    let start = Instant::now();
    let circuit = match arguments.next() {
        Some(sectors) => {
            let shape = PostShape { sectors: sectors.parse()?, ..name.size.window() };
            let partition = window(&shape, 1, shape.sectors).partitions.into_iter().next();
            FilecoinCircuit::Post(PostCircuit::new(shape, partition.ok_or("no sectors")?)?)
        }
        None => {
            FilecoinCircuit::all(name, synthetic(name, 1, 1))?.into_iter().next().ok_or("no partition")?
        }
    };
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
