//! How long the two sides of the expensive gadgets take. Prints medians of several runs.

mod common;

use std::hint::black_box;
use std::time::Instant;

use assignment::{Packer, ProvingAssignment, WitnessCS, WitnessSink};
use bellpepper_core::ConstraintSystem;
use blstrs::Scalar;
use common::{bit, nums};
use ff::Field;
use gadgets::poseidon::{Constants, hash, hash_value, hash_witness, hash_witness_each};
use gadgets::sha256::{Message, sha256, sha256_witness};

/// Microseconds for one of `units` units, the median of nine runs.
fn time(name: &str, units: usize, mut run: impl FnMut()) {
    run();
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e6 / units as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name}: {:.2} µs (least {:.2})", times[4], times[0]);
}

/// Takes everything and keeps nothing.
struct Null(u64);

impl WitnessSink<Scalar> for Null {
    fn bits(&mut self, word: u64, n: u32) {
        self.0 ^= word.wrapping_add(n.into());
    }

    fn element(&mut self, value: Scalar) {
        black_box(value);
    }

    fn input(&mut self, value: Scalar) {
        black_box(value);
    }
}

#[test]
#[ignore = "a benchmark: run it alone, with --nocapture"]
fn timing() {
    // A PoRep label: 39 field elements and constants, 20 blocks.
    let mut message = Message::with_capacity(1248);
    message.push_scalar(&[0x35; 32]);
    message.push_constant(&[0, 0, 0, 3]);
    message.push_variable(&[7; 8]);
    message.push_constant(&[0; 20]);
    (0..37).for_each(|i| message.push_scalar(&[i; 32]));
    time("sha256 native, a label's block, no sink", 20 * 50, || {
        (0..50).for_each(|_| {
            let mut null = Null(0);
            black_box(sha256_witness(&mut null, &message));
            black_box(null.0);
        });
    });
    let mut packer = Packer::<Scalar>::new();
    sha256_witness(&mut packer, &message);
    let counts = packer.counts();
    println!("  {} values a block", counts.aux / 20);
    time("sha256 native, a label's block, packed", 20 * 50, || {
        (0..50).for_each(|_| {
            let mut packer = Packer::<Scalar>::with_capacity(counts);
            black_box(sha256_witness(&mut packer, &message));
            black_box(&packer);
        });
    });
    fn synthesize(mut cs: impl ConstraintSystem<Scalar>, bytes: &[u8]) {
        let bits: Vec<_> = bytes
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |i| (byte >> i) & 1 == 1))
            .map(|value| bit(&mut cs, "bit", value))
            .collect();
        black_box(sha256(cs.namespace(|| "hash"), &bits).unwrap());
    }
    time("sha256 classic, a block, proving assignment", 20, || {
        let mut cs = ProvingAssignment::<Scalar>::with_hint(None);
        synthesize(&mut cs, message.bytes());
        black_box(&cs);
    });
    time("sha256 classic, a block, witness only", 20, || {
        let mut cs = WitnessCS::<Scalar>::with_hint(None);
        synthesize(&mut cs, message.bytes());
        black_box(&cs);
    });

    for constants in [Constants::arity_2(), Constants::arity_4(), Constants::arity_8(), Constants::arity_11()]
    {
        let arity = constants.arity();
        let preimage: Vec<Scalar> = (1..=arity as u64).map(|i| (-Scalar::from(i)).square()).collect();
        time(&format!("poseidon {arity} native, value"), 100, || {
            (0..100).for_each(|_| {
                black_box(hash_value(black_box(&preimage), constants).unwrap());
            });
        });
        let mut packer = Packer::<Scalar>::new();
        hash_witness(&mut packer, &preimage, constants).unwrap();
        let counts = packer.counts();
        time(&format!("poseidon {arity} native, packed witness"), 100, || {
            (0..100).for_each(|_| {
                let mut packer = Packer::<Scalar>::with_capacity(counts);
                black_box(hash_witness(&mut packer, black_box(&preimage), constants).unwrap());
                black_box(&packer);
            });
        });
        time(&format!("poseidon {arity} native, packed witness, eight at a time"), 96, || {
            (0..12).for_each(|_| {
                let mut packers = [(); 8].map(|()| Packer::<Scalar>::with_capacity(counts));
                black_box(
                    hash_witness_each(&mut packers, black_box(&[&preimage[..]; 8]), constants).unwrap(),
                );
                black_box(&packers);
            });
        });
        time(&format!("poseidon {arity} classic, proving assignment"), 5, || {
            (0..5).for_each(|_| {
                let mut cs = ProvingAssignment::<Scalar>::with_hint(None);
                let preimage = nums(&mut cs, "input", &preimage);
                black_box(hash(&mut cs, &preimage, constants).unwrap());
                black_box(&cs);
            });
        });
    }
}
