//! `prove` and `verify` on real vanilla proofs: the round trip, and what verification refuses.

mod common;

use std::{fs, path::Path};

use common::{command, entries, run, vanilla, xtask};
use serde_json::Value;

/// Proves `window-2KiB` into `folder` as `p.*` and returns the report.
fn proved(folder: &Path) -> Value {
    let answer = xtask(folder, &["prove", "--circuit", "window-2KiB", "--out", "p", "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_eq!(answer.stdout.lines().count(), 1);
    answer.json()
}

fn verify(folder: &Path) -> common::Answer {
    let arguments = ["verify", "--vk", "p.vk", "--proof", "p.proof", "--public", "p.public.json", "--json"];
    xtask(folder, &arguments)
}

#[test]
fn round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let report = proved(folder);
    assert_eq!(entries(folder), ["p.proof", "p.public.json", "p.vk"]);
    let text = |name: &str| report[name].as_str().unwrap().to_owned();
    assert_eq!([text("circuit"), text("backend"), text("params_kind")], ["window-2KiB", "cpu", "test"]);
    let number = |name: &str| report[name].as_u64().unwrap();
    assert_eq!([number("partitions"), number("constraints"), number("domain_log2")], [1, 21866, 15]);
    assert_eq!(report["verified"], true);
    assert_eq!(report["proofs"][0].as_str().unwrap(), hex::encode(fs::read(folder.join("p.proof")).unwrap()));
    assert_eq!(report["public_inputs"][0].as_array().unwrap().len(), 22);
    let run = &report["runs"][0];
    let stages = ["witness_ms", "products_ms", "quotient_ms", "msm_ms", "verify_ms"];
    let sum: f64 = stages.iter().map(|stage| run[stage].as_f64().unwrap()).sum();
    let total = run["total_ms"].as_f64().unwrap();
    assert!(0.0 < sum && sum <= total && total == report["total_ms"].as_f64().unwrap());
    assert!(number("peak_rss_bytes") >= 10 << 20);
    assert!(report.get("device_peak_bytes").is_none(), "absent, not 0");

    let answer = verify(folder);
    assert_eq!((answer.code, &answer.json()["valid"]), (0, &Value::Bool(true)), "{}", answer.stderr);

    // The expected inputs are the ones derived, and the second run finds the parameters in the cache.
    let arguments =
        ["prove", "--circuit", "window-2KiB", "--public", "p.public.json", "--repeat", "2", "--json"];
    let answer = xtask(folder, &arguments);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report = answer.json();
    assert_eq!(report["runs"].as_array().unwrap().len(), 2);
    assert!(report.get("setup_ms").is_none() && report["load_ms"].as_f64().unwrap() > 0.0);
}

/// Parameters that the budget does not hold are read from their file for each proof; what a proof itself takes is not to be had for less.
#[test]
fn parameters_stay_in_their_file_under_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let answer = xtask(folder, &["setup", "--circuit", "window-2KiB", "--seed", "3", "--out", "s", "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let prove = |memory: &str| {
        let arguments = ["--params", "s.params", "--vk", "s.vk", "--host-memory", memory, "--json"];
        xtask(folder, &[&["prove", "--circuit", "window-2KiB"], &arguments[..]].concat())
    };
    for memory in ["100MiB", "6MiB"] {
        let answer = prove(memory);
        assert_eq!(answer.code, 0, "{memory}: {}", answer.stderr);
        assert_eq!(answer.json()["verified"], true);
    }
    let answer = prove("3MiB");
    let (kind, message, place) = answer.error();
    assert_eq!((answer.code, kind.as_str()), (4, "memory"), "{message}");
    assert!(place == "--host-memory" && message.contains("only 3.0 MiB are allowed"), "{place}: {message}");
}

#[test]
fn the_report_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let answer = xtask(folder.path(), &["prove", "--circuit", "window-2KiB", "--no-verify"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    for word in ["21866 constraints", "test (forgeable)", "cpu (", "quotient", "peak memory", "NOT verified"]
    {
        assert!(answer.stdout.contains(word), "{word}: {}", answer.stdout);
    }
    assert!(!answer.stdout.contains("verify "));
    assert!(entries(folder.path()).is_empty());
}

/// One proof for each, in the order of the sectors, in one file.
#[test]
fn several_sectors() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let two = ["prove", "--synthetic", "7", "--sectors", "2", "--json"];
    let answer = xtask(folder, &[&two[..], &["--out", "p"]].concat());
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report = answer.json();
    assert_eq!(report["partitions"], 2);
    let proofs: Vec<_> =
        report["proofs"].as_array().unwrap().iter().map(|proof| proof.as_str().unwrap()).collect();
    assert_eq!(proofs.concat(), hex::encode(fs::read(folder.join("p.proof")).unwrap()));
    let inputs = report["public_inputs"].as_array().unwrap();
    assert_ne!(inputs[0], inputs[1]);
    assert_eq!(verify(folder).code, 0);
    let second = xtask(folder, &[&two[..], &["--partition", "1"]].concat());
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert_eq!(second.json()["public_inputs"].as_array().unwrap()[..], inputs[1..]);
}

#[test]
fn what_is_invalid_and_what_is_unusable() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    proved(folder);
    let proof = fs::read(folder.join("p.proof")).unwrap();
    let public: Vec<Vec<String>> =
        serde_json::from_slice(&fs::read(folder.join("p.public.json")).unwrap()).unwrap();
    let key = fs::read(folder.join("p.vk")).unwrap();

    // Invalid: exit code 1, with the reason.
    let mut flipped = proof.clone();
    flipped[100] ^= 1;
    let swapped = [&proof[144..], &proof[48..144], &proof[..48]].concat();
    let infinity = [&[0xc0][..], &[0; 47], &proof[48..]].concat();
    for bytes in [flipped, swapped, infinity, vec![0; 192]] {
        fs::write(folder.join("p.proof"), bytes).unwrap();
        let answer = verify(folder);
        assert_eq!((answer.code, &answer.json()["valid"]), (1, &Value::Bool(false)), "{}", answer.stderr);
        assert!(answer.json()["reason"].is_string());
    }
    fs::write(folder.join("p.proof"), &proof).unwrap();
    let mut permuted = public.clone();
    permuted[0].swap(0, 1);
    fs::write(folder.join("p.public.json"), serde_json::to_vec(&permuted).unwrap()).unwrap();
    assert_eq!(verify(folder).code, 1);

    // Unusable: exit code 2, with the place.
    let unusable = |kind: &str, place: &str, message: &str| {
        let answer = verify(folder);
        let error = answer.error();
        assert_eq!((answer.code, error.0.as_str()), (2, kind), "{error:?}");
        assert!(error.2.contains(place) && error.1.contains(message), "{error:?}");
    };
    let modulus = "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73";
    let mut too_large = public.clone();
    too_large[0][3] = modulus.into();
    let cases = [
        (vec![public[0][1..].to_vec()], "expected 22 inputs, got 21"),
        (vec![[&public[0][..], &public[0][..1]].concat()], "expected 22 inputs, got 23"),
        (vec![], "expected inputs of 1 partitions"),
        (too_large, "below the modulus"),
    ];
    for (inputs, message) in cases {
        fs::write(folder.join("p.public.json"), serde_json::to_vec(&inputs).unwrap()).unwrap();
        unusable("input", "p.public.json", message);
    }
    fs::write(folder.join("p.public.json"), serde_json::to_vec(&public).unwrap()).unwrap();
    for length in [0, 191] {
        fs::write(folder.join("p.proof"), &proof[..length]).unwrap();
        unusable("input", "p.proof", "192 bytes a partition");
    }
    fs::write(folder.join("p.proof"), &proof).unwrap();
    let mut long_ic = key.clone();
    long_ic[864..868].fill(0xff);
    let cases: [(&[u8], &str); 4] = [
        (&key[..key.len() - 1], "ic"),
        (&[&key[..], &[0]].concat(), "1 bytes follow"),
        (&long_ic, "ic"),
        (&[], "alpha_g1"),
    ];
    for (bytes, message) in cases {
        fs::write(folder.join("p.vk"), bytes).unwrap();
        unusable("input", "p.vk", message);
    }
    fs::remove_file(folder.join("p.vk")).unwrap();
    unusable("input", "p.vk", "No such file");
}

#[test]
fn expected_public_inputs_must_be_the_derived_ones() {
    let folder = tempfile::tempdir().unwrap();
    let zero = "00".repeat(32);
    fs::write(folder.path().join("public.json"), format!(r#"[["{zero}"]]"#)).unwrap();
    let arguments = ["prove", "--circuit", "window-2KiB", "--public", "public.json", "--out", "p", "--json"];
    let answer = xtask(folder.path(), &arguments);
    let (kind, message, place) = answer.error();
    assert_eq!((answer.code, kind.as_str(), place.as_str()), (2, "input", "--public"));
    assert!(message.contains("22 inputs derived, 1 expected"), "{message}");
    assert_eq!(entries(folder.path()), ["public.json"]);
}

#[test]
fn the_cache_survives_races_and_damage() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let prove = || {
        let mut command = command(folder);
        command.env("XDG_CACHE_HOME", folder.join("cache"));
        let answer = run(command.args(["prove", "--circuit", "window-2KiB", "--json"]));
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        (answer.json().get("setup_ms").is_some(), answer.stderr)
    };
    // Of two processes that need the parameters at once, one makes them and the other waits.
    let both = std::thread::scope(|scope| {
        let both = [scope.spawn(prove), scope.spawn(prove)];
        both.map(|one| one.join().unwrap().0)
    });
    assert!(both[0] != both[1], "{both:?}");

    let parameters = folder.join("cache/filecoin-groth16/parameters");
    let file = entries(&parameters).into_iter().find(|name| name.ends_with(".params")).unwrap();
    let good = fs::read(parameters.join(&file)).unwrap();
    let mut changed = good.clone();
    // The second point of H in place of the first, behind the key's 3,076 bytes: only the digest tells.
    changed.copy_within(3080 + 96..3080 + 192, 3080);
    for bytes in [&changed[..], &good[..good.len() / 2]] {
        fs::write(parameters.join(&file), bytes).unwrap();
        let (made, log) = prove();
        assert!(made && log.contains("made anew"), "{log}");
        assert_eq!(fs::read(parameters.join(&file)).unwrap(), good, "the seed gives the same again");
    }
    let names = entries(&parameters);
    assert!(names.iter().all(|name| !name.starts_with('.')), "nothing unfinished: {names:?}");
}

#[test]
fn winning_is_the_default_and_a_file_does_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = xtask(folder.path(), &["synth-only", "-i", "1", "--json"]);
    let file = vanilla("winning-2KiB.bincode");
    let given = xtask(folder.path(), &["synth-only", "-i", "1", "--json", "--input", &file]);
    for answer in [embedded, given] {
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert_eq!(answer.json()["circuit"], "winning-2KiB");
        assert_eq!(answer.json()["aux"], 91674);
    }
}
