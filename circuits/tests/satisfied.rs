//! Synthetic sectors satisfy their circuits: row by row, and by the relations that the native witness checks.

use std::sync::OnceLock;

use assignment::native_witness;
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::porep::PorepCircuit;
use circuits::post::PostCircuit;
use circuits::shape::{CircuitName, PorepMode, PostShape, SectorSize};
use circuits::synthetic::{porep, synthetic, window};
use proptest::prelude::*;
use r1cs::CompiledCircuit;

/// The first `limit` partitions of a synthetic sector satisfy the circuit.
fn check(compiled: &CompiledCircuit, circuits: &[FilecoinCircuit], limit: usize) {
    for (k, circuit) in circuits.iter().take(limit).enumerate() {
        let witness = native_witness(circuit).unwrap_or_else(|error| panic!("partition {k}: {error}"));
        compiled.check(&witness).unwrap_or_else(|error| panic!("partition {k}: {error}"));
    }
}

fn check_name(name: &str, seed: u64, limit: usize) {
    let name: CircuitName = name.parse().unwrap();
    let circuits = FilecoinCircuit::all(name, synthetic(name, seed, 1)).unwrap();
    let compiled = CompiledCircuit::compile(&circuits[0]).unwrap();
    check(&compiled, &circuits, limit);
}

#[test]
fn winning_of_every_size() {
    for size in SectorSize::ALL {
        check_name(&format!("winning-{size}"), 1, 1);
    }
}

#[test]
fn window_of_every_size() {
    for size in SectorSize::ALL {
        // A unit of the circuit is a sector and refers to no other: two say what 2,349 would.
        let shape = PostShape { sectors: 2, ..size.window() };
        let partitions = window(&shape, 2, 3).partitions.into_iter();
        let circuits: Vec<_> =
            partitions.map(|p| FilecoinCircuit::Post(PostCircuit::new(shape, p).unwrap())).collect();
        check(&CompiledCircuit::compile(&circuits[0]).unwrap(), &circuits, 2);
    }
}

#[test]
fn porep_of_every_tree_form() {
    for name in ["porep-4KiB", "porep-16KiB", "porep-32KiB", "porep-ni-2KiB"] {
        check_name(name, 3, 2);
    }
}

#[test]
fn update_of_every_tree_form() {
    for name in ["update-4KiB", "update-32KiB"] {
        check_name(name, 4, 2);
    }
}

#[test]
#[ignore = "minutes, and up to 2 GiB: production's sizes"]
fn large_porep() {
    for name in ["porep-8MiB", "porep-512MiB", "porep-32GiB", "porep-64GiB"] {
        check_name(name, 5, 2);
    }
}

#[test]
#[ignore = "minutes, and up to 2 GiB: production's sizes"]
fn large_update() {
    for name in ["update-16KiB", "update-8MiB", "update-512MiB", "update-32GiB", "update-64GiB"] {
        check_name(name, 6, 2);
    }
}

#[test]
#[ignore = "4 GiB of witness: a whole partition of 2,349 sectors"]
fn whole_window_partition() {
    let name: CircuitName = "window-32GiB".parse().unwrap();
    let circuits = FilecoinCircuit::all(name, synthetic(name, 7, 2349)).unwrap();
    check(&CompiledCircuit::compile(&circuits[0]).unwrap(), &circuits, 1);
}

/// Compiled once for all seeds.
fn compiled(name: &'static str, cell: &'static OnceLock<CompiledCircuit>) -> &'static CompiledCircuit {
    cell.get_or_init(|| {
        let blank = FilecoinCircuit::blank(name.parse().unwrap()).unwrap();
        CompiledCircuit::compile(&blank).unwrap()
    })
}

fn any_seed(name: &'static str, cell: &'static OnceLock<CompiledCircuit>, seed: u64) {
    let circuit: CircuitName = name.parse().unwrap();
    let circuits = FilecoinCircuit::all(circuit, synthetic(circuit, seed, 1)).unwrap();
    check(compiled(name, cell), &circuits, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn a_changed_sibling_is_refused(seed: u64, pick: prop::sample::Index, level: prop::sample::Index) {
        let size = SectorSize::KiB32;
        let mut partition = porep(size, PorepMode::Interactive, (seed, 0)).partitions.remove(0);
        let challenge = &mut partition.challenges[0];
        let own = [&mut challenge.data.path, &mut challenge.replica_path, &mut challenge.column_path];
        let parents = challenge.drg_parents.iter_mut().chain(&mut challenge.exp_parents);
        let mut paths: Vec<_> = own.into_iter().chain(parents.map(|parent| &mut parent.path)).collect();
        let path = paths.swap_remove(pick.index(paths.len()));
        let siblings = path.levels.iter_mut().flat_map(|level| &mut level.siblings);
        let mut siblings: Vec<_> = siblings.collect();
        *siblings.swap_remove(level.index(siblings.len())) += Scalar::from(1);
        let circuit = FilecoinCircuit::Porep(PorepCircuit::new(size.porep(), partition).unwrap());
        prop_assert!(native_witness(&circuit).is_err());
    }

    #[test]
    fn under_any_seed(seed: u64) {
        static CELLS: [OnceLock<CompiledCircuit>; 4] = [const { OnceLock::new() }; 4];
        for (name, cell) in ["porep-2KiB", "winning-2KiB", "window-2KiB", "update-2KiB"].into_iter().zip(&CELLS) {
            any_seed(name, cell, seed);
        }
    }
}
