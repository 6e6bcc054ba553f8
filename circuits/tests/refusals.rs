//! Wrong inputs are refused with a message that says what and where.

mod common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use circuits::input::{InputError, InputFile, Partitions, Problem, read};
use common::*;
use serde_json::{Value, json};

fn read_bytes(circuit: &str, bytes: &[u8]) -> Result<Partitions, InputError> {
    read(circuit.parse().unwrap(), &[InputFile { name: "proof", bytes }])
}

fn read_json(circuit: &str, value: &Value) -> Result<Partitions, InputError> {
    read_bytes(circuit, &serde_json::to_vec(value).unwrap())
}

fn phase1() -> Value {
    let wrapper: Value = serde_json::from_slice(&file("porep-2KiB.json")).unwrap();
    serde_json::from_slice(&STANDARD.decode(wrapper["Phase1Out"].as_str().unwrap()).unwrap()).unwrap()
}

fn json_file(name: &str) -> Value {
    serde_json::from_slice(&file(name)).unwrap()
}

/// The message for a JSON proof after a change at a JSON pointer.
fn message(circuit: &str, mut proof: Value, pointer: &str, change: impl FnOnce(&mut Value)) -> String {
    change(proof.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}")));
    read_json(circuit, &proof).map(|_| ()).unwrap_err().to_string()
}

const CHALLENGE: &str = "/vanilla_proofs/StackedDrg2KiBV1/0/1";

#[track_caller]
fn refused(message: String, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

fn pop(list: &mut Value) {
    list.as_array_mut().unwrap().pop().unwrap();
}

#[test]
fn paths_of_another_shape() {
    let porep = |pointer: &str, change: fn(&mut Value)| {
        message("porep-2KiB", phase1(), &format!("{CHALLENGE}{pointer}"), change)
    };
    let at = "proof: partition 0, challenge 1, ";
    refused(
        porep("/comm_d_proofs/data/Single/path/path", pop),
        &[at, "comm_d_proofs: expected 6 levels of the base path, got 5"],
    );
    refused(
        porep("/replica_column_proofs/exp_parents/7/inclusion_proof/data/Single/path/path", pop),
        &[at, "exp_parents 7, inclusion_proof: expected 2 levels of the base path, got 1"],
    );
    refused(
        porep("/comm_r_last_proof/data/Single/path/path/1/hashes", pop),
        &[at, "comm_r_last_proof, level 1: expected 7 siblings, got 6"],
    );
    // The reference reduces an index modulo the arity.
    refused(
        porep("/comm_r_last_proof/data/Single/path/path/1/index", |index| {
            *index = json!(index.as_u64().unwrap() + 8)
        }),
        &[at, "comm_r_last_proof, level 1: index ", " is out of range for arity 8"],
    );
    refused(
        porep("/comm_d_proofs/data/Single/path/path/0/index", |index| *index = json!(u64::MAX)),
        &["level 0: index 18446744073709551615 is out of range for arity 2"],
    );
    let window = message(
        "window-2KiB",
        json_file("window-2KiB.json"),
        "/vanilla_proof/sectors/0/inclusion_proofs/3/data/Single/path/path",
        pop,
    );
    refused(window, &["proof: sector 42, challenge 3: expected 2 levels of the base path, got 1"]);
    let update = message(
        "update-2KiB",
        json_file("update-2KiB.json"),
        "/challenge_proofs/9/proof_d_new/data/Single/path/path",
        pop,
    );
    refused(update, &["proof: challenge 9, proof_d_new: expected 6 levels of the base path, got 5"]);
}

#[test]
fn values_that_are_no_field_elements() {
    // The modulus, little-endian.
    let modulus = hex::decode("01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73").unwrap();
    let set = |value: &mut Value| *value = json!(modulus);
    for (pointer, place) in [
        ("/comm_r", "comm_r: "),
        ("/replica_id", "replica_id: "),
        ("/vanilla_proofs/StackedDrg2KiBV1/0/1/comm_d_proofs/data/Single/leaf", "comm_d_proofs, leaf: "),
        (
            "/vanilla_proofs/StackedDrg2KiBV1/0/1/comm_r_last_proof/data/Single/path/path/0/hashes/6",
            "challenge 1, comm_r_last_proof, level 0, sibling 6: ",
        ),
        ("/vanilla_proofs/StackedDrg2KiBV1/0/1/replica_column_proofs/c_x/column/rows/1", "c_x, row 1: "),
    ] {
        refused(message("porep-2KiB", phase1(), pointer, set), &[place, "is not below the field's modulus"]);
    }
}

#[test]
fn the_wrong_sector_size_or_proof() {
    let wrapper = json_file("porep-2KiB.json");
    let size = |value: &mut Value| *value = json!(4096);
    refused(
        message("porep-2KiB", wrapper.clone(), "/SectorSize", size),
        &["SectorSize: ", "expected 2048, got 4096"],
    );
    refused(
        read_json("porep-4KiB", &wrapper).unwrap_err().to_string(),
        &["registered_proof: ", "expected 4KiB, got 2KiB"],
    );
    let name = |name: &'static str| {
        message("porep-2KiB", phase1(), "/registered_proof", |value| *value = json!(name))
    };
    refused(name("StackedDrg2KiBV7"), &["registered_proof: unknown registered proof \"StackedDrg2KiBV7\""]);
    // A proof of another mode has other challenges.
    refused(name("StackedDrg2KiBV1_1_Feat_SyntheticPoRep"), &["the index of the path = the challenge"]);
    // A key with the same tree type, which the reference takes.
    let rename = |value: &mut Value| {
        let proofs = value.as_object_mut().unwrap().remove("StackedDrg2KiBV1").unwrap();
        *value = json!({ "StackedDrg8MiBV1": proofs });
    };
    refused(
        message("porep-2KiB", phase1(), "/vanilla_proofs", rename),
        &["expected StackedDrg2KiBV1, got StackedDrg8MiBV1"],
    );
    refused(
        read_json("porep-ni-2KiB", &wrapper).unwrap_err().to_string(),
        &["expected NonInteractive, got Interactive"],
    );

    let window = file("window-2KiB.bincode");
    refused(read_bytes("window-4KiB", &window).unwrap_err().to_string(), &["expected Sub, got Single"]);
    refused(
        read_bytes("window-8MiB", &window).unwrap_err().to_string(),
        &["expected 6 levels of the base path, got 2"],
    );
    refused(
        read_bytes("winning-2KiB", &window).unwrap_err().to_string(),
        &["expected 66 inclusion proofs, got 10"],
    );
    refused(
        read_bytes("update-2KiB", &window).unwrap_err().to_string(),
        &["expected a SnapDeals proof, got a PoSt proof"],
    );
    refused(
        read_json("window-2KiB", &wrapper).unwrap_err().to_string(),
        &["expected a PoSt proof, got a PoRep proof"],
    );
    refused(
        read_bytes("porep-2KiB", &window).unwrap_err().to_string(),
        &["expected a PoRep proof, got a PoSt proof"],
    );
}

#[test]
fn numbers_of_partitions_and_sectors() {
    let double = |value: &mut Value| {
        let partition = value[0].clone();
        value.as_array_mut().unwrap().push(partition);
    };
    refused(
        message("porep-2KiB", phase1(), "/vanilla_proofs/StackedDrg2KiBV1", double),
        &["partition 1, challenge 0", "the index of the path = the challenge"],
    );
    refused(
        message("porep-2KiB", phase1(), "/vanilla_proofs/StackedDrg2KiBV1", pop),
        &["expected 1 partitions, got 0"],
    );
    refused(
        message("porep-2KiB", phase1(), "/vanilla_proofs/StackedDrg2KiBV1/0", pop),
        &["partition 0: expected 2 challenges, got 1"],
    );
    let winning = file("winning-2KiB.bincode");
    let twice = [winning.clone(), winning].concat();
    refused(
        read_bytes("winning-2KiB", &twice).unwrap_err().to_string(),
        &["expected 1 sectors of a WinningPoSt, got 2"],
    );
    let update = proof_files("update-32KiB");
    let of = |order: &[usize]| {
        let files: Vec<_> = order.iter().map(|i| update[*i].clone()).collect();
        read("update-32KiB".parse().unwrap(), &inputs(&files))
    };
    refused(of(&[1]).unwrap_err().to_string(), &["expected 2 partitions, got 1"]);
    refused(of(&[1, 1]).unwrap_err().to_string(), &["every partition is there once: expected 0, got 1"]);
    assert!(of(&[1, 0]).is_ok());
    assert_eq!(read("winning-2KiB".parse().unwrap(), &[]).unwrap_err().problem, Problem::NoFile);
}

#[test]
fn truncated_and_trailing_bytes() {
    for (circuit, name) in [
        ("window-2KiB", "window-2KiB.bincode"),
        ("update-2KiB", "update-2KiB.bincode"),
        ("window-2KiB", "window-2KiB.json"),
        ("porep-2KiB", "porep-2KiB.json"),
    ] {
        let bytes = file(name);
        assert!(read_bytes(circuit, &bytes).is_ok());
        for length in [0, 1, 8, 39, 44, bytes.len() / 2, bytes.len() - 33, bytes.len() - 1] {
            let error = read_bytes(circuit, &bytes[..length]).unwrap_err();
            let known = matches!(
                error.problem,
                Problem::Empty
                    | Problem::Truncated { .. }
                    | Problem::Length { .. }
                    | Problem::Json(_)
                    | Problem::Unrecognised(_)
            );
            assert!(known, "{name}, {length} bytes: {error}");
        }
        for tail in [&b"\0"[..], b"x", &[0; 40], b"{"] {
            let error = read_bytes(circuit, &[&bytes, tail].concat()).unwrap_err();
            assert!(matches!(error.problem, Problem::Trailing { .. } | Problem::Json(_)), "{name}: {error}");
        }
    }
}

#[test]
fn lengths_that_lie() {
    let bytes = file("window-2KiB.bincode");
    for offset in [40, 48, 124] {
        for lie in [u64::MAX, 1 << 60, 1 << 32] {
            let mut wrong = bytes.clone();
            wrong[offset..offset + 8].copy_from_slice(&lie.to_le_bytes());
            let error = read_bytes("window-2KiB", &wrong).unwrap_err();
            assert!(matches!(error.problem, Problem::Length { claimed, .. } if claimed == lie), "{error}");
        }
    }
}

#[test]
fn malformed_json_says_where() {
    let byte = message(
        "porep-2KiB",
        phase1(),
        "/vanilla_proofs/StackedDrg2KiBV1/0/1/comm_d_proofs/data/Single/leaf/3",
        |value| *value = json!(256),
    );
    refused(byte, &["vanilla_proofs.StackedDrg2KiBV1[0][1].comm_d_proofs.data.Single.leaf[3]", "256"]);
    let short = message("window-2KiB", json_file("window-2KiB.json"), "/comm_r", pop);
    refused(short, &["comm_r: unexpected JSON: invalid length 31"]);
    let extra = message("window-2KiB", json_file("window-2KiB.json"), "", |value| value["more"] = json!(1));
    refused(extra, &["unknown field `more`"]);
    let base64 =
        message("porep-2KiB", json_file("porep-2KiB.json"), "/Phase1Out", |value| *value = json!("A*=="));
    refused(base64, &["Phase1Out: malformed base64"]);
    for (content, problem) in
        [("hello", "neither JSON nor bincode"), ("{}", "without the keys"), ("[]", "empty JSON array")]
    {
        refused(read_bytes("window-2KiB", content.as_bytes()).unwrap_err().to_string(), &[problem]);
    }
}

/// Pointers to all arrays of 32 numbers and to all other numbers.
fn values(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| values(value, format!("{at}/{key}"), found))
        }
        Value::Array(items) if items.len() == 32 && items.iter().all(Value::is_number) => found.push(at),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| values(value, format!("{at}/{i}"), found))
        }
        Value::Number(_) => found.push(at),
        _ => {}
    }
}

/// Whatever a proof states, a change of it is refused. What no reader can know, since nothing else depends on it, is
/// listed in `free`; siblings in Poseidon trees are the witness's to refuse.
fn every_change_is_refused(circuit: &str, proof: &Value, free: &[&str], siblings: &[&str]) {
    let mut pointers = Vec::new();
    values(proof, String::new(), &mut pointers);
    // A PoRep has two challenges; one is enough.
    pointers.retain(|pointer| !pointer.starts_with("/vanilla_proofs/StackedDrg2KiBV1/0/0"));
    let mut left = 0;
    for pointer in &pointers {
        let mut changed = proof.clone();
        match changed.pointer_mut(pointer).unwrap() {
            Value::Array(bytes) => bytes[5] = json!(bytes[5].as_u64().unwrap() ^ 4),
            number => *number = json!(number.as_u64().unwrap() ^ 1),
        }
        let accepted = read_json(circuit, &changed).is_ok();
        let sibling = pointer.contains("/hashes/") && siblings.iter().any(|part| pointer.contains(part));
        let expected = free.contains(&pointer.as_str()) || sibling;
        assert_eq!(accepted, expected, "{pointer}");
        left += usize::from(accepted);
    }
    assert!(left < pointers.len());
}

#[test]
fn every_change_of_a_porep_is_refused() {
    let mut proof = phase1();
    let trees = ["/comm_r_last_proof/", "/replica_column_proofs/", "/comm_d_proofs/"];
    every_change_is_refused("porep-2KiB", &proof, &["/ticket"], &trees);
    proof["registered_proof"] = json!("StackedDrg2KiBV1");
    refused(
        read_json("porep-2KiB", &proof).unwrap_err().to_string(),
        &["drg_parents 5: the predecessor is a parent"],
    );
}

#[test]
fn every_change_of_a_post_is_refused() {
    // Files carry no randomness, so the challenges are what the file says: another index is another path, which the
    // witness refuses.
    let proof = json_file("window-2KiB.json");
    let mut indices = Vec::new();
    values(&proof, String::new(), &mut indices);
    indices.retain(|pointer| pointer.ends_with("/index") || pointer.ends_with("/leaf"));
    let mut free: Vec<&str> = indices.iter().map(String::as_str).collect();
    free.push("/sector_id");
    every_change_is_refused("window-2KiB", &proof, &free, &["/inclusion_proofs/"]);
}

#[test]
fn every_change_of_an_update_is_refused() {
    let proof = json_file("update-2KiB.json");
    every_change_is_refused("update-2KiB", &proof, &[], &["/proof_r_old/", "/proof_r_new/"]);
}

#[test]
fn several_proofs_in_one_file() {
    let files = proof_files("window-4KiB");
    let circuit = "window-4KiB".parse().unwrap();
    let expected = match read(circuit, &inputs(&files)).unwrap() {
        Partitions::Post(partitions) => partitions,
        _ => unreachable!(),
    };
    let together: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let array =
        serde_json::to_vec(&files.iter().map(|(_, bytes)| STANDARD.encode(bytes)).collect::<Vec<_>>())
            .unwrap();
    for bytes in [together, array] {
        match read_bytes("window-4KiB", &bytes).unwrap() {
            Partitions::Post(partitions) => assert_eq!(partitions, expected),
            _ => unreachable!(),
        }
    }
    // JSON and bincode hold the same.
    let json = format!("[{0}, {0}]", String::from_utf8(file("window-2KiB.json")).unwrap());
    let bincode = [file("window-2KiB.bincode"), file("window-2KiB.bincode")].concat();
    match [json.as_bytes(), &bincode].map(|bytes| read_bytes("window-2KiB", bytes).unwrap()) {
        [Partitions::Post(json), Partitions::Post(bincode)] => assert_eq!(json, bincode),
        _ => unreachable!(),
    }
}
