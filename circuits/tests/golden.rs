//! The constraints of every circuit against those of production: digests, counts and checkpoints made by the
//! reference implementation.

mod common;

use assignment::StructuredCircuit;
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use common::file;
use r1cs::{CircuitDigest, CircuitStats, CompiledCircuit, DigestCS};
use serde::Deserialize;

/// An entry of `golden.json`.
#[derive(Deserialize)]
struct Golden {
    name: String,
    num_public_inputs: usize,
    num_aux: usize,
    num_constraints: usize,
    nnz: [u64; 3],
    a_aux_density: usize,
    b_aux_density: usize,
    b_input_density: usize,
    r1cs_sha256: String,
    /// Constraints, inputs with ONE, aux, digest of the stream.
    checkpoints: Vec<(usize, usize, usize, String)>,
}

fn golden(name: &str) -> Golden {
    let all: Vec<Golden> = serde_json::from_slice(&file("golden.json")).unwrap();
    all.into_iter().find(|golden| golden.name == name).unwrap_or_else(|| panic!("no golden entry {name}"))
}

fn blank(name: &str) -> FilecoinCircuit {
    FilecoinCircuit::blank(name.parse().unwrap()).unwrap()
}

fn digest<C: StructuredCircuit<Scalar>>(circuit: &C) -> CircuitDigest {
    let mut cs = DigestCS::new();
    circuit.synthesize_all(&mut cs).unwrap();
    cs.finish()
}

type Checkpoints = Vec<(usize, usize, usize, String)>;

fn checkpoints(digest: &CircuitDigest) -> Checkpoints {
    let checkpoints = digest.checkpoints.iter();
    checkpoints
        .map(|(at, inputs, aux)| (at.constraints, *inputs, *aux, hex::encode(at.stream_sha256)))
        .collect()
}

fn check_stats(golden: &Golden, got: &CircuitStats) {
    let name = &golden.name;
    assert_eq!(got.inputs, golden.num_public_inputs + 1, "{name}: inputs");
    assert_eq!(got.aux, golden.num_aux, "{name}: aux");
    assert_eq!(got.constraints, golden.num_constraints, "{name}: constraints");
    assert_eq!(got.nnz, golden.nnz, "{name}: non-zeros");
    assert_eq!(got.a_aux_density, golden.a_aux_density, "{name}: A density");
    assert_eq!(got.b_aux_density, golden.b_aux_density, "{name}: B density");
    assert_eq!(got.b_input_density, golden.b_input_density, "{name}: B input density");
}

/// All of a circuit, synthesised directly.
fn check_whole(name: &str) {
    let (golden, got) = (golden(name), digest(&blank(name)));
    assert_eq!(checkpoints(&got), golden.checkpoints, "{name}");
    check_stats(&golden, &got.stats);
    assert_eq!(hex::encode(got.digest), golden.r1cs_sha256, "{name}: digest");
}

/// Of a large circuit: all counts, and the digests of its first 2^23 constraints, which are its prefix and at least one
/// unit and a part of another.
fn check_beginning(name: &str) -> CompiledCircuit {
    let golden = golden(name);
    let compiled = CompiledCircuit::compile(&blank(name)).unwrap();
    check_stats(&golden, &compiled.stats());
    let wanted = golden.checkpoints.iter().filter(|checkpoint| checkpoint.0 <= 1 << 23);
    let (at, expected): (Vec<usize>, Vec<&String>) = wanted.map(|(at, _, _, digest)| (*at, digest)).unzip();
    let got = compiled.checkpoints(&at);
    assert!(
        got.iter().map(|checkpoint| hex::encode(checkpoint.stream_sha256)).eq(expected.into_iter().cloned()),
        "{name}"
    );
    compiled
}

/// All of a large circuit, expanded from its compiled form.
fn check_expanded(name: &str) {
    assert_eq!(hex::encode(check_beginning(name).digest()), golden(name).r1cs_sha256, "{name}: digest");
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

tests! { check_whole:
    winning_2kib: "winning-2KiB";
    winning_4kib: "winning-4KiB";
    winning_16kib: "winning-16KiB";
    winning_32kib: "winning-32KiB";
    winning_8mib: "winning-8MiB";
    winning_512mib: "winning-512MiB";
    winning_32gib: "winning-32GiB";
    winning_64gib: "winning-64GiB";
    window_2kib: "window-2KiB";
    window_4kib: "window-4KiB";
    window_16kib: "window-16KiB";
    window_32kib: "window-32KiB";
    window_8mib: "window-8MiB";
    window_512mib: "window-512MiB";
    porep_2kib: "porep-2KiB";
    update_2kib: "update-2KiB";
    #[ignore = "seconds"] porep_4kib: "porep-4KiB";
    #[ignore = "seconds"] porep_16kib: "porep-16KiB";
    #[ignore = "seconds"] porep_32kib: "porep-32KiB";
    #[ignore = "seconds"] porep_8mib: "porep-8MiB";
    #[ignore = "seconds"] porep_512mib: "porep-512MiB";
    #[ignore = "seconds"] update_4kib: "update-4KiB";
    #[ignore = "seconds"] update_16kib: "update-16KiB";
    #[ignore = "seconds"] update_32kib: "update-32KiB";
    #[ignore = "seconds"] update_8mib: "update-8MiB";
    #[ignore = "a minute"] update_512mib: "update-512MiB";
}

tests! { check_beginning:
    porep_32gib_beginning: "porep-32GiB";
    porep_64gib_beginning: "porep-64GiB";
    window_32gib_beginning: "window-32GiB";
    // Without checkpoints: its counts are those of the unit, which `winning_64gib` has too, times its sectors.
    window_64gib_beginning: "window-64GiB";
    update_32gib_beginning: "update-32GiB";
    update_64gib_beginning: "update-64GiB";
}

tests! { check_expanded:
    #[ignore = "minutes"] porep_32gib: "porep-32GiB";
    #[ignore = "minutes"] porep_64gib: "porep-64GiB";
    #[ignore = "minutes"] window_32gib: "window-32GiB";
    #[ignore = "minutes"] window_64gib: "window-64GiB";
    #[ignore = "minutes"] update_32gib: "update-32GiB";
    #[ignore = "minutes"] update_64gib: "update-64GiB";
}
