//! Inputs, parameters and flags that are refused before any proving, leaving nothing behind.

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{command, entries, limited, run, vanilla, xtask};

/// Runs `prove` with `--out p`, which must fail and leave the folder as it was.
fn refused(folder: &Path, arguments: &[&str]) -> (i32, (String, String, String)) {
    let before = entries(folder);
    let answer = xtask(folder, &[&["prove", "--json", "--out", "p"], arguments].concat());
    assert_ne!(answer.code, 0, "{arguments:?}");
    assert_eq!(entries(folder), before, "{arguments:?}");
    (answer.code, answer.error())
}

#[test]
fn flags_that_this_build_cannot_honour() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [&[&str]; 1] = [&["--device-memory", "16GiB"]];
    for arguments in cases {
        let (code, (kind, message, place)) = refused(folder.path(), arguments);
        assert_eq!((code, kind.as_str(), place.as_str()), (2, "usage", arguments[0]));
        assert!(message.contains("not available"), "{message}");
    }
}

#[test]
fn devices_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--backend", "cuda"], &["--device", "4095"], &["--device", "4095,4096"]] {
        let (code, (kind, ..)) = refused(folder.path(), arguments);
        assert_eq!((code, kind.as_str()), (3, "device"), "{arguments:?}");
    }
    let cases: [(&[&str], &str); 2] = [
        (&["--device", "1,0,1"], "device 1 is named twice"),
        (&["--backend", "cpu", "--device", "0"], "uses no device"),
    ];
    for (arguments, mention) in cases {
        let (code, (kind, message, place)) = refused(folder.path(), arguments);
        assert_eq!((code, kind.as_str(), place.as_str()), (2, "usage", "--device"));
        assert!(message.contains(mention), "{message}");
    }
}

#[test]
fn sectors_are_synthetic() {
    let folder = tempfile::tempdir().unwrap();
    let (code, (kind, message, place)) = refused(folder.path(), &["--sectors", "2"]);
    assert_eq!((code, kind.as_str(), place.as_str()), (2, "usage", "--sectors"));
    assert!(message.contains("--synthetic"), "{message}");
    let (code, (kind, message, place)) =
        refused(folder.path(), &["--synthetic", "1", "--sectors", "2", "--partition", "2"]);
    assert_eq!((code, kind.as_str(), place.as_str()), (2, "usage", "--partition"));
    assert!(message.contains("the proof has 2"), "{message}");
}

#[test]
fn budgets_that_do_not_suffice() {
    let folder = tempfile::tempdir().unwrap();
    let (code, (kind, message, place)) = refused(folder.path(), &["--host-memory", "1MiB"]);
    assert_eq!((code, kind.as_str(), place.as_str()), (4, "memory", "--host-memory"), "{message}");
    assert!(message.contains("only 1.0 MiB are allowed"), "{message}");
    let answer = xtask(
        folder.path(),
        &["setup", "--json", "--circuit", "winning-2KiB", "--out", "s", "--host-memory", "1MiB"],
    );
    let (kind, _, place) = answer.error();
    assert_eq!((answer.code, kind.as_str(), place.as_str()), (4, "memory", "--host-memory"));
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn inputs_that_are_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let proof = fs::read(vanilla("window-2KiB.bincode")).unwrap();
    let porep = fs::read(vanilla("porep-2KiB.json")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("empty", b"");
    write("text", b"a vanilla proof");
    write("cut", &proof[..proof.len() - 1]);
    write("long", &[&proof[..], &[0]].concat());
    write("cut.json", &porep[..porep.len() / 2]);
    write("other.json", b"{\"some\": \"object\"}");
    let cases = [
        ("window-2KiB", "empty", "empty"),
        ("window-2KiB", "text", "unrecognised"),
        ("window-2KiB", "cut", "truncated"),
        ("window-2KiB", "long", "trailing"),
        ("window-2KiB", "missing", "No such file"),
        ("window-4KiB", &vanilla("window-2KiB.bincode"), "expected"),
        ("update-2KiB", &vanilla("window-2KiB.bincode"), "expected a SnapDeals proof, got a PoSt proof"),
        ("porep-2KiB", "cut.json", "truncated JSON"),
        ("porep-2KiB", "other.json", "without the keys"),
    ];
    for (circuit, file, mention) in cases {
        let (code, (kind, message, place)) = refused(folder, &["--circuit", circuit, "--input", file]);
        assert_eq!((code, kind.as_str()), (2, "input"), "{file}: {message}");
        assert!(message.contains(mention) && place.contains(file), "{place}: {message}");
    }
}

#[test]
fn a_circuit_without_an_embedded_proof_names_the_flags() {
    let folder = tempfile::tempdir().unwrap();
    let (code, (kind, message, _)) = refused(folder.path(), &["--circuit", "winning-32GiB"]);
    assert_eq!((code, kind.as_str()), (2, "usage"));
    assert!(message.contains("--synthetic") && message.contains("--input"), "{message}");
    let (code, (kind, message, place)) = refused(folder.path(), &["--partition", "1"]);
    assert_eq!((code, kind.as_str(), place.as_str()), (2, "usage", "--partition"));
    assert!(message.contains("no partition 1: the proof has 1"), "{message}");
}

/// A changed sibling keeps the form of the proof, so that only the hashing finds it.
#[test]
fn a_proof_that_does_not_hold_is_unsatisfied() {
    let folder = tempfile::tempdir().unwrap();
    let mut proof = fs::read(vanilla("window-2KiB.bincode")).unwrap();
    // In the middle of the file there are siblings; the lowest byte keeps the value below the modulus.
    let middle = proof.len() / 2;
    let mut unsatisfied = 0;
    for offset in (middle..middle + 512).step_by(32) {
        proof[offset] ^= 1;
        fs::write(folder.path().join("changed"), &proof).unwrap();
        proof[offset] ^= 1;
        let (code, (kind, message, place)) =
            refused(folder.path(), &["--circuit", "window-2KiB", "--input", "changed"]);
        match kind.as_str() {
            "unsatisfied" => {
                unsatisfied += 1;
                assert_eq!(code, 1);
                assert!(place.contains("partition 0") && place.contains("opening"), "{place}");
                assert!(message.contains("does not lead to the root"), "{message}");
            }
            // An index, a length or the high byte of a value.
            kind => assert_eq!((code, kind), (2, "input"), "{message}"),
        }
    }
    assert!(unsatisfied > 0);
}

#[test]
fn parameters_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let setup = |name: &str, seed: &str| {
        let answer =
            xtask(folder, &["setup", "--circuit", "window-2KiB", "--out", name, "--seed", seed, "--json"]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert_eq!(
            answer.json()["bytes"],
            fs::metadata(folder.join(format!("{name}.params"))).unwrap().len()
        );
        fs::read(folder.join(format!("{name}.params"))).unwrap()
    };
    let good = setup("a", "5");
    assert_eq!(good, setup("b", "5"), "a seed gives the same parameters");
    assert_ne!(good, setup("b", "6"));
    assert_eq!(entries(folder), ["a.params", "a.vk", "b.params", "b.vk"]);
    let key = fs::read(folder.join("a.vk")).unwrap();
    assert_eq!(good[..key.len()], key);

    let prove = |arguments: &[&str]| refused(folder, &[&["--circuit", "window-2KiB"], arguments].concat());
    let (code, error) = prove(&["--params", "a.params", "--vk", "b.vk"]);
    assert_eq!((code, error.0.as_str(), error.2.as_str()), (2, "input", "b.vk"), "{error:?}");

    let h = key.len();
    let mut lie = good.clone();
    lie[h..h + 4].fill(0xff);
    let mut off_curve = good.clone();
    off_curve[h + 4 + 95] ^= 1;
    let cases: [(&[u8], &str); 5] = [
        (&good[..h - 1], "section ic"),
        (&good[..h + 3], "section h"),
        (&good[..good.len() - 1], "section b_g2"),
        (&lie, "section h: 4294967295 elements"),
        (&off_curve, "section h, element 0"),
    ];
    for (bytes, mention) in cases {
        fs::write(folder.join("bad.params"), bytes).unwrap();
        let (code, (kind, message, place)) = prove(&["--params", "bad.params"]);
        assert_eq!((code, kind.as_str(), place.as_str()), (2, "input", "bad.params"), "{message}");
        assert!(message.contains(mention), "{message}");
    }
    let (code, (kind, message, _)) = refused(folder, &["--circuit", "winning-2KiB", "--params", "a.params"]);
    assert_eq!((code, kind.as_str()), (2, "input"));
    assert!(message.contains("expected 133 elements for this circuit, got 23"), "{message}");
}

#[test]
fn ceremony_names_and_folders_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let stem = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-\
                0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0";
    let setup = |out: &str| xtask(folder, &["setup", "--circuit", "window-2KiB", "--out", out, "--json"]);
    let answer = setup(stem);
    assert_eq!((answer.code, answer.error().0.as_str()), (2, "input"));
    assert!(entries(folder).is_empty());

    // What stands under the ceremony's name in the ceremony's folder is taken, checked and reported as such.
    fs::create_dir(folder.join("ceremony")).unwrap();
    let target = format!("ceremony/{stem}.params");
    fs::write(folder.join(&target), with_ceremony_gamma()).unwrap();
    let prove = || {
        let mut command = command(folder);
        command.env("FIL_PROOFS_PARAMETER_CACHE", folder.join("ceremony"));
        run(command.args(["prove", "--circuit", "window-2KiB", "--json"]))
    };
    let answer = prove();
    assert_eq!((answer.code, &answer.json()["params_kind"]), (0, &"ceremony".into()), "{}", answer.stderr);
    assert_eq!(setup("ceremony/mine").code, 2, "not beside a ceremony's files");
    let compiled = ["compile", "--circuit", "window-2KiB", "--json", "--out", "ceremony/mine"];
    assert_eq!(xtask(folder, &compiled).code, 2);
    for out in ["ceremony/mine", "V28-mine"] {
        let answer = xtask(folder, &["prove", "--circuit", "window-2KiB", "--json", "--out", out]);
        assert_eq!((answer.code, answer.error().0.as_str()), (2, "input"), "{out}");
    }
    assert_eq!(entries(&folder.join("ceremony")).len(), 1);

    // Our setup's parameters under the ceremony's name are seen through.
    let original = fs::read(folder.join(&target)).unwrap();
    assert_eq!(setup("made").code, 0);
    fs::copy(folder.join("made.params"), folder.join(&target)).unwrap();
    assert_eq!((prove().code, &prove().json()["params_kind"]), (0, &"test".into()));
    fs::write(folder.join(&target), original).unwrap();

    // A damaged ceremony file is an error, not a reason for test parameters.
    let bytes = fs::read(folder.join(&target)).unwrap();
    fs::write(folder.join(&target), &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!((prove().code, prove().error().0.as_str()), (2, "input"));
}

/// Parameters of window-2KiB with the gamma of Filecoin's ceremonies.
fn with_ceremony_gamma() -> Vec<u8> {
    let blank = circuits::FilecoinCircuit::blank("window-2KiB".parse().unwrap()).unwrap();
    let circuit = r1cs::CompiledCircuit::compile(&blank).unwrap();
    let [alpha, beta, delta, tau] = [3, 5, 7, 11].map(blstrs::Scalar::from);
    let waste = groth16::ToxicWaste::new(alpha, beta, 1.into(), delta, tau).unwrap();
    let mut bytes = vec![];
    groth16::setup(&circuit, waste).unwrap().write(&mut bytes).unwrap();
    bytes
}

/// Nothing that stands where the cache should be keeps anyone from proving.
#[test]
fn a_cache_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("file"), b"").unwrap();
    fs::create_dir_all(folder.join("ceremony/filecoin-groth16/parameters/v28-x")).unwrap();
    for cache in ["file", "ceremony"] {
        let mut command = command(folder);
        command.env("XDG_CACHE_HOME", folder.join(cache));
        let answer = run(command.args(["prove", "--circuit", "window-2KiB", "--json"]));
        assert_eq!(answer.code, 0, "{cache}: {}", answer.stderr);
        assert!(answer.stderr.contains("without the cache"), "{cache}: {}", answer.stderr);
    }
}

#[test]
fn outputs_without_a_name_and_inputs_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // An empty value is refused by the parser of flags, before there is a flag to name.
    assert_eq!(xtask(folder, &["prove", "--circuit", "window-2KiB", "--json", "--out", ""]).code, 2);
    for out in [".", "..", "a/", "a/.."] {
        let answer = xtask(folder, &["prove", "--circuit", "window-2KiB", "--json", "--out", out]);
        assert_eq!((answer.code, answer.error().2.as_str()), (2, "--out"), "{out:?}");
    }
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    for flag in ["--params", "--vk", "--input"] {
        for file in ["pipe", "."] {
            let (code, (kind, message, _)) = refused(folder, &["--circuit", "window-2KiB", flag, file]);
            assert_eq!((code, kind.as_str()), (2, "input"), "{flag} {file}");
            assert!(message.contains("not a regular file"), "{flag} {file}: {message}");
        }
    }
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.args(["prove", "--circuit", "window-2KiB", "--json"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(command.stdout(full).status().unwrap().code(), Some(4));
}

/// A limit on the length of files is a full disk to this program, not the end of it.
#[test]
fn a_file_that_gets_too_long_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    for (what, file) in [("compile", "x"), ("setup", "x.params")] {
        let arguments = [what, "--circuit", "window-2KiB", "--out", "x", "--json"];
        let mut command = limited(folder.path(), 16);
        let answer = run(command.args(arguments));
        let (kind, message, place) = answer.error();
        assert_eq!((answer.code, kind.as_str()), (4, "disk"), "{what}: {message}\n{}", answer.stderr);
        assert_eq!(place, file, "{message}");
        assert!(entries(folder.path()).is_empty());
    }
}

/// What was proved is in the report, whatever becomes of the files; and a cache that cannot be written keeps nothing half written.
#[test]
fn files_that_cannot_be_written_cost_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cache = folder.join("cache");
    let mut command = limited(folder, 0);
    command.args(["prove", "--circuit", "window-2KiB", "--json", "--out", "p"]);
    let answer = run(command.env("XDG_CACHE_HOME", &cache));
    let (kind, message, place) = answer.error();
    assert_eq!((answer.code, kind.as_str(), place.as_str()), (4, "disk", "p.proof"), "{message}");
    assert!(message.contains("the proofs are in the report"), "{message}");
    assert!(
        answer.stderr.lines().any(|line| line.contains("proof") && line.len() > 384),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("compiled circuit not saved"), "{}", answer.stderr);
    assert!(answer.stderr.contains("test parameters not cached"), "{}", answer.stderr);
    assert_eq!(entries(folder), ["cache"]);
    let cache = cache.join("filecoin-groth16");
    assert!(entries(&cache.join("circuits")).is_empty());
    assert!(entries(&cache.join("parameters")).iter().all(|name| name.ends_with(".lock")));
}

#[test]
fn no_output_takes_an_input_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["in.proof", "in.vk", "real"] {
        fs::write(folder.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
    for (output, input, given) in [
        (["--out", "./in"], "--input", "in.proof"),
        (["--out", "in"], "--params", "in.vk"),
        (["--timeline", "in.vk"], "--params", "in.vk"),
        (["--timeline", "in.vk"], "--vk", "./in.vk"),
        (["--timeline", "in.vk"], "--public", "in.vk"),
        (["--timeline", "real"], "--input", "link"),
    ] {
        let arguments =
            [&["prove", "--circuit", "window-2KiB", "--json", input, given], &output[..]].concat();
        let answer = xtask(folder, &arguments);
        let (kind, message, place) = answer.error();
        assert_eq!((answer.code, kind.as_str(), place.as_str()), (2, "usage", output[0]), "{message}");
        assert!(message.contains(input), "{message}");
    }
    assert_eq!(entries(folder), ["in.proof", "in.vk", "link", "real"]);
    for name in ["in.proof", "in.vk", "real"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), name);
    }
}

#[test]
fn outputs_appear_all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("p.vk")).unwrap();
    let (code, (kind, _, place)) = refused(folder, &["--circuit", "window-2KiB"]);
    assert_eq!((code, kind.as_str(), place.as_str()), (2, "input", "p.vk"));
    let answer = xtask(folder, &["prove", "--circuit", "window-2KiB", "--out", "no/such/folder/p", "--json"]);
    assert_eq!((answer.code, answer.error().0.as_str()), (2, "input"));
    assert_eq!(entries(folder), ["p.vk"]);
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.args(["setup", "--circuit", "porep-2KiB", "--out", "x", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Long before the setup can be done, and long after the handler is in place.
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""kind":"interrupted""#), "{text}");
    assert!(entries(folder.path()).is_empty());
}

/// Compiled circuits are kept in the cache as other files are written: an interrupt leaves the whole of one, or nothing.
#[test]
fn an_interrupt_leaves_nothing_in_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let circuits = folder.path().join("filecoin-groth16/circuits");
    let mut command = command(folder.path());
    command.args(["prove", "--circuit", "porep-2KiB"]).env("XDG_CACHE_HOME", folder.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let unfinished = || circuits.is_dir() && entries(&circuits).iter().any(|name| name.starts_with('.'));
    let started = Instant::now();
    while !unfinished() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(entries(&circuits).iter().all(|name| name.ends_with(".r1cs")), "{:?}", entries(&circuits));
}

#[test]
fn a_reader_who_takes_nothing_does_not_keep_an_interrupt_from_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, mut full) = std::io::pipe().unwrap();
    // As much as a pipe holds.
    full.write_all(&[b' '; 1 << 16]).unwrap();
    let mut command = command(folder.path());
    command.args(["inspect", "--circuit", "window-2KiB", "--json"]);
    let mut child = command.stdout(full).stderr(Stdio::null()).spawn().unwrap();
    // Long after it has begun to write its result.
    std::thread::sleep(Duration::from_secs(3));
    assert!(child.try_wait().unwrap().is_none());
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut code = None;
    for _ in 0..100 {
        code = child.try_wait().unwrap().and_then(|status| status.code());
        if code.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    assert_eq!(code, Some(130));
    drop(reader);
}
