//! Synthetic sectors: deterministic, and what a verifier derives from their public values.

use std::sync::Arc;

use circuits::identity::ApiVersion;
use circuits::public::*;
use circuits::shape::{CircuitName, PorepMode, PostShape, Proof, SectorSize};
use circuits::synthetic::*;
use proptest::prelude::*;

#[test]
fn partitions_have_their_shapes() {
    use SectorSize::*;
    for size in [KiB2, KiB4, KiB16, KiB32] {
        for proof in Proof::ALL {
            let circuit = CircuitName { proof, size };
            let partitions = synthetic(circuit, 7, 3);
            let expected = circuit.partitions().map_or(2, |partitions| 3 * partitions);
            assert_eq!(partitions.len(), expected, "{circuit}");
            for inputs in partitions.public_inputs(circuit) {
                assert_eq!(inputs.len(), circuit.public_inputs(), "{circuit}");
            }
            assert!(synthetic(circuit, 7, 0).is_empty());
        }
    }
}

#[test]
fn a_short_window_partition_repeats_its_last_sector() {
    let shape = PostShape { sectors: 4, ..SectorSize::KiB2.window() };
    let partitions = window(&shape, 1, 6).partitions;
    let [_, last] = partitions.as_slice() else { panic!("{} partitions", partitions.len()) };
    assert!(last.sectors[2..].iter().all(|sector| Arc::ptr_eq(sector, &last.sectors[1])));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_verifier_derives_their_inputs(seed: u64, sector: u64, size in 0..SectorSize::ALL.len()) {
        let size = SectorSize::ALL[size];
        let made = porep(size, PorepMode::Interactive, (seed, sector));
        for (k, partition) in made.partitions.iter().enumerate() {
            prop_assert_eq!(porep_inputs(partition), made.instance.public_inputs(k));
        }
        let made = winning(size, (seed, sector));
        prop_assert_eq!(post_inputs(&made.partition), winning_inputs(size, &made.randomness, &made.sector));

        let shape = PostShape { sectors: 2, ..size.window() };
        let made = window(&shape, seed, 3);
        for (k, partition) in made.partitions.iter().enumerate() {
            let inputs = window_inputs(&shape, ApiVersion::V1_2_0, &made.randomness, &made.sectors, k);
            prop_assert_eq!(post_inputs(partition), inputs);
        }
    }

    #[test]
    fn updates_of_small_sectors(seed: u64, size in 0..5usize) {
        let shape = SectorSize::ALL[size].update();
        let made = update(&shape, (seed, 0));
        prop_assert_eq!(made.partitions.len(), shape.partitions);
        for (k, partition) in made.partitions.iter().enumerate() {
            prop_assert_eq!(update_inputs(&shape, partition), made.instance.public_inputs(&shape, k));
        }
    }

    #[test]
    fn equal_seeds_make_equal_sectors(seed: u64) {
        let inputs = |name: &str, seed| {
            let circuit: CircuitName = name.parse().unwrap();
            synthetic(circuit, seed, 1).public_inputs(circuit)
        };
        for name in ["porep-2KiB", "winning-2KiB", "window-2KiB", "update-2KiB"] {
            prop_assert_eq!(inputs(name, seed), inputs(name, seed));
            prop_assert_ne!(inputs(name, seed), inputs(name, seed ^ 1));
        }
    }
}

#[test]
#[ignore = "a minute on two cores: production's sizes in full"]
fn production_sizes() {
    for (name, sectors) in [
        ("porep-32GiB", 1),
        ("porep-64GiB", 1),
        ("porep-ni-32GiB", 1),
        ("winning-32GiB", 1),
        ("window-32GiB", 1),
        ("window-32GiB", 2349),
        ("update-32GiB", 1),
        ("update-64GiB", 1),
    ] {
        let circuit: CircuitName = name.parse().unwrap();
        let start = std::time::Instant::now();
        let partitions = synthetic(circuit, 1, sectors);
        println!("{name}, {sectors} sectors: {} partitions in {:.2?}", partitions.len(), start.elapsed());
        for inputs in partitions.public_inputs(circuit) {
            assert_eq!(inputs.len(), circuit.public_inputs());
        }
    }
}
