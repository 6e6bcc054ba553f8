//! Native witnesses and compiled products against those of the constraint side, and of the reference implementation.

mod common;

use assignment::{
    PackedWitness, ProvingAssignment, ProvingVectors, StructuredCircuit, WitnessCS, native_witness,
};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::input::{read, read_window};
use circuits::post::PostCircuit;
use circuits::shape::PostShape;
use circuits::synthetic::{self, synthetic};
use common::*;
use r1cs::CompiledCircuit;

/// The circuits of a real proof, one for each partition.
fn circuits(name: &str) -> Vec<FilecoinCircuit> {
    let (files, circuit) = (proof_files(name), circuit(name));
    if name == "window-32GiB" {
        // The real proof is of one sector.
        let shape = PostShape { sectors: 1, ..circuit.size.window() };
        let partitions = read_window(&shape, &inputs(&files)).unwrap();
        return partitions
            .into_iter()
            .map(|p| FilecoinCircuit::Post(PostCircuit::new(shape, p).unwrap()))
            .collect();
    }
    FilecoinCircuit::all(circuit, read(circuit, &inputs(&files)).unwrap()).unwrap()
}

/// A circuit's native witness is what its constraint side assigns, satisfies it, and gives the same products.
fn check_both(circuit: &FilecoinCircuit, compiled: &CompiledCircuit, what: &str) -> PackedWitness<Scalar> {
    let native = native_witness(circuit).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut classic = ProvingAssignment::with_hint(Some(compiled.capacity_hint()));
    circuit.synthesize_all(&mut classic).unwrap();
    classic.append_input_rows();
    assert_eq!(classic.first_unsatisfied(), None, "{what}");
    let ProvingVectors { a, b, c, inputs, aux, a_aux_density, b_input_density, b_aux_density } =
        classic.into_vectors();
    let classic = PackedWitness::from_assignment(inputs, &aux).unwrap();
    assert_eq!(native.first_difference(&classic), None, "{what}");
    drop(aux);
    // Not `assert_eq`, which would print millions of values.
    assert!([a, b, c] == compiled.products(&native).unwrap(), "{what}: products");
    assert!(compiled.a_aux_density() == a_aux_density, "{what}: A density");
    assert!(compiled.b_input_density() == b_input_density, "{what}: B input density");
    assert!(compiled.b_aux_density() == b_aux_density, "{what}: B density");
    native
}

/// Each partition of a real proof: both ways, and as the reference's assignment.
fn check_real(name: &str) {
    let expected = &expected()[name];
    let circuits = circuits(name);
    assert_eq!(circuits.len(), expected.partitions.len(), "{name}");
    let compiled = CompiledCircuit::compile(&circuits[0]).unwrap();
    for (k, (circuit, expected)) in circuits.iter().zip(&expected.partitions).enumerate() {
        let witness = check_both(circuit, &compiled, &format!("{name}, partition {k}"));
        assert_eq!(witness.inputs()[1..], expected.public_inputs(), "{name}, partition {k}");
        assert_eq!(hex::encode(witness.sha256()), expected.witness_sha256, "{name}, partition {k}");
        // From now on the sizes are known, and no unit runs alone.
        assert_eq!(
            native_witness(circuit).unwrap().first_difference(&witness),
            None,
            "{name}, partition {k}"
        );
    }
}

/// The last partition of a synthetic sector, both ways.
fn check_synthetic(name: &str) {
    let circuit = circuit(name);
    let circuits = FilecoinCircuit::all(circuit, synthetic(circuit, 11, 1)).unwrap();
    let last = circuits.last().unwrap();
    check_both(last, &CompiledCircuit::compile(last).unwrap(), name);
}

/// A partition of production's size by digest, without the vectors of the classic path, which are ten times larger.
fn check_large(circuit: &FilecoinCircuit) {
    let native = native_witness(circuit).unwrap();
    let mut cs = WitnessCS::with_hint(None);
    circuit.synthesize_all(&mut cs).unwrap();
    let classic = cs.into_witness();
    assert_eq!(native.first_difference(&classic), None);
    assert_eq!(hex::encode(native.sha256()), hex::encode(classic.sha256()));
}

#[test]
#[ignore = "minutes: 130 million values"]
fn porep_32gib() {
    let name = circuit("porep-32GiB");
    check_large(&FilecoinCircuit::all(name, synthetic(name, 12, 1)).unwrap()[9]);
}

#[test]
#[ignore = "minutes: 81 million values"]
fn update_32gib() {
    let name = circuit("update-32GiB");
    check_large(&FilecoinCircuit::all(name, synthetic(name, 12, 1)).unwrap()[15]);
}

#[test]
#[ignore = "a minute"]
fn window_32gib_of_many_sectors() {
    let shape = PostShape { sectors: 24, ..circuit("window-32GiB").size.window() };
    let partition = synthetic::window(&shape, 12, 23).partitions.swap_remove(0);
    check_large(&FilecoinCircuit::Post(PostCircuit::new(shape, partition).unwrap()));
}

macro_rules! tests {
    ($check:ident: $($(#[$attribute:meta])* $test:ident: $name:literal;)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            $check($name);
        }
    )*};
}

tests! { check_real:
    winning_2kib: "winning-2KiB";
    winning_4kib: "winning-4KiB";
    winning_32kib: "winning-32KiB";
    window_2kib: "window-2KiB";
    window_4kib: "window-4KiB";
    window_32kib: "window-32KiB";
    window_v1_4kib: "window-v1-4KiB";
    window_v1_32kib: "window-v1-32KiB";
    window_32gib: "window-32GiB";
    porep_2kib: "porep-2KiB";
    porep_4kib: "porep-4KiB";
    porep_32kib: "porep-32KiB";
    update_2kib: "update-2KiB";
    update_4kib: "update-4KiB";
    update_32kib: "update-32KiB";
}

tests! { check_synthetic:
    winning_16kib: "winning-16KiB";
    winning_64gib: "winning-64GiB";
    window_16kib: "window-16KiB";
    porep_16kib: "porep-16KiB";
    update_16kib: "update-16KiB";
    #[ignore = "seconds"] winning_8mib: "winning-8MiB";
    #[ignore = "seconds"] winning_512mib: "winning-512MiB";
    #[ignore = "seconds"] window_8mib: "window-8MiB";
    #[ignore = "seconds"] window_512mib: "window-512MiB";
    #[ignore = "seconds"] porep_8mib: "porep-8MiB";
    #[ignore = "seconds"] porep_512mib: "porep-512MiB";
    #[ignore = "seconds"] update_8mib: "update-8MiB";
    #[ignore = "11 GiB: 57 million rows the classic way"] update_512mib: "update-512MiB";
}
