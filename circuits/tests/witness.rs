//! Native witnesses against those of the constraint side and of the reference implementation.

mod common;

use assignment::{PackedWitness, StructuredCircuit, WitnessCS, native_witness};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::input::{read, read_window};
use circuits::post::PostCircuit;
use circuits::shape::PostShape;
use common::*;
use r1cs::CompiledCircuit;

/// The circuits of a real proof, one for each partition.
fn circuits(name: &str) -> Vec<FilecoinCircuit> {
    let (files, circuit) = (proof_files(name), circuit(name));
    if name == "window-32GiB" {
        // The real proof is of one sector.
        let shape = PostShape { sectors: 1, ..circuit.size.window() };
        let partitions = read_window(&shape, &inputs(&files)).unwrap();
        return partitions.into_iter().map(|p| FilecoinCircuit::Post(PostCircuit::new(shape, p).unwrap())).collect();
    }
    FilecoinCircuit::all(circuit, read(circuit, &inputs(&files)).unwrap()).unwrap()
}

fn classic(circuit: &FilecoinCircuit) -> PackedWitness<Scalar> {
    let mut cs = WitnessCS::with_hint(None);
    circuit.synthesize_all(&mut cs).unwrap();
    cs.into_witness()
}

/// Both witnesses of each partition, value for value, have the reference's digest and public inputs, and satisfy the
/// circuit.
fn check(name: &str) {
    let expected = &expected()[name];
    let circuits = circuits(name);
    assert_eq!(circuits.len(), expected.partitions.len(), "{name}");
    let compiled = CompiledCircuit::compile(&circuits[0]).unwrap();
    for (k, (circuit, expected)) in circuits.iter().zip(&expected.partitions).enumerate() {
        let native = native_witness(circuit).unwrap();
        assert_eq!(native.first_difference(&classic(circuit)), None, "{name}, partition {k}");
        assert_eq!(native.inputs()[1..], expected.public_inputs(), "{name}, partition {k}");
        assert_eq!(hex::encode(native.sha256()), expected.witness_sha256, "{name}, partition {k}");
        compiled.check(&native).unwrap();
        // The second time the sizes are known.
        assert_eq!(native_witness(circuit).unwrap().first_difference(&native), None, "{name}, partition {k}");
    }
}

macro_rules! tests {
    ($($(#[$attribute:meta])* $test:ident: $name:literal;)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            check($name);
        }
    )*};
}

tests! {
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
