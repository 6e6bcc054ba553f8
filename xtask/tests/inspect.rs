//! `inspect`, `compile` and `synth-only` against the reference's counts and digests.

mod common;

use std::fs;

use common::{entries, xtask};
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("../../circuits/tests/data/golden.json");
const SMALL: [&str; 2] = ["window-2KiB", "winning-2KiB"];

/// The reference's counts of a circuit.
fn golden(name: &str) -> Value {
    let all: Vec<Value> = serde_json::from_str(GOLDEN).unwrap();
    all.into_iter().find(|circuit| circuit["name"] == name).unwrap()
}

#[test]
fn counts_and_digests_are_golden() {
    let folder = tempfile::tempdir().unwrap();
    for name in SMALL {
        let golden = golden(name);
        let answer = xtask(folder.path(), &["inspect", "--circuit", name, "--json"]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let nnz = &golden["nnz"];
        let expected = json!({
            "circuit": name,
            "inputs": golden["num_public_inputs"],
            "aux": golden["num_aux"],
            "constraints": golden["num_constraints"],
            "domain_log2": if name == "window-2KiB" { 15 } else { 17 },
            "a_aux_density": golden["a_aux_density"],
            "b_aux_density": golden["b_aux_density"],
            "b_input_density": golden["b_input_density"],
            "nnz": { "a": nnz[0], "b": nnz[1], "c": nnz[2] },
            "digest": golden["r1cs_sha256"],
        });
        assert_eq!(answer.json(), expected);
    }
}

#[test]
fn a_difference_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("golden.json");
    let mut some = json!({
        "window-2KiB": golden("window-2KiB"),
        "winning-2KiB": golden("winning-2KiB"),
        "window-3KiB": golden("window-2KiB"),
    });
    let check = |golden: &Value| {
        fs::write(&file, golden.to_string()).unwrap();
        xtask(folder.path(), &["inspect", "--all", "--check", "golden.json", "--json"])
    };
    let answer = check(&some);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_eq!(answer.json(), json!({ "checked": 2, "identical": 2, "different": [], "skipped": 1 }));

    some["window-2KiB"]["num_aux"] = 1.into();
    let answer = check(&some);
    assert_eq!(answer.code, 1);
    assert_eq!(answer.json()["different"], json!(["window-2KiB"]));
    assert!(answer.stderr.lines().any(|line| line.starts_with("window-2KiB") && line.ends_with(" aux")));

    // A list of circuits that name themselves will do as well, and a wrong domain is found too.
    some = json!([golden("window-2KiB")]);
    assert_eq!(check(&some).json()["identical"], 1);
    some[0]["domain_log2"] = 16.into();
    assert_eq!(check(&some).json()["different"], json!(["window-2KiB"]));

    for nothing in [json!({}), json!([1])] {
        assert_eq!(check(&nothing).code, 2);
    }
}

#[test]
fn compile_writes_the_circuit_and_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let answer = xtask(folder.path(), &["compile", "--circuit", "window-2KiB", "--out", "w.r1cs", "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report = answer.json();
    assert_eq!(report["digest"], golden("window-2KiB")["r1cs_sha256"]);
    assert_eq!(report["bytes"], fs::metadata(folder.path().join("w.r1cs")).unwrap().len());
    assert_eq!(entries(folder.path()), ["w.r1cs"]);
}

#[test]
fn synthesis_says_which_iteration_had_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["classic", "packed"] {
        let arguments = ["synth-only", "--circuit", "window-2KiB", "-i", "3", "--path", path, "--json"];
        let answer = xtask(folder.path(), &arguments);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let report = answer.json();
        let hints: Vec<_> =
            report["iterations"].as_array().unwrap().iter().map(|i| i["hint"].clone()).collect();
        assert_eq!(hints, [json!(false), json!(true), json!(true)], "{path}");
        assert_eq!((&report["path"], &report["aux"]), (&json!(path), &json!(22128)));
    }
}
