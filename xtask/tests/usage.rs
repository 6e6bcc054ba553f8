//! The command line itself: what is refused, how, and with which exit code.

mod common;

use common::{entries, xtask};

#[test]
fn help_and_version_succeed() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["help", "prove"], &["--version"], &["prove", "--help", "--json"]] {
        let answer = xtask(folder.path(), arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {}", answer.stderr);
        assert!(!answer.stdout.is_empty() && answer.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_command_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let help = xtask(folder.path(), &["--help"]).stdout;
    for command in ["prove", "verify", "setup", "compile", "inspect", "synth-only", "bench", "peers", "ci"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command}");
    }
}

#[test]
fn wrong_usage_is_refused_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&[], ""),
        (&["frobnicate"], "frobnicate"),
        (&["prove", "--frobnicate"], "--frobnicate"),
        (&["prove", "--repeat", "0"], "--repeat"),
        (&["prove", "--synthetic", "1", "--sectors", "4294967295"], "65536"),
        (&["prove", "--partition", "-1"], "-1"),
        (&["prove", "--host-memory", "16G"], "GiB"),
        (&["prove", "--device-memory", "lots"], "GiB"),
        (&["prove", "--backend", "tpu"], "tpu"),
        (&["prove", "--input", "a", "--synthetic", "1"], "--synthetic"),
        (&["verify", "--vk", "a", "--proof", "b"], "--public"),
        (&["inspect"], "--circuit"),
        (&["inspect", "--circuit", "winning-2KiB", "--check", "golden.json"], "--all"),
    ];
    for (arguments, mention) in cases {
        let answer = xtask(folder.path(), arguments);
        assert_eq!(answer.code, 2, "{arguments:?}");
        assert!(
            answer.stdout.is_empty() && answer.stderr.contains(mention),
            "{arguments:?}: {}",
            answer.stderr
        );

        let answer = xtask(folder.path(), &[arguments, &["--json"]].concat());
        assert_eq!(answer.code, 2, "{arguments:?}");
        assert_eq!(answer.error().0, "usage", "{arguments:?}");
    }
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn unknown_circuits_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 5] =
        [&["prove"], &["setup", "--out", "x"], &["inspect"], &["compile"], &["synth-only"]];
    for command in commands {
        for name in ["", "porep", "porep-1KiB", "winning_2KiB", "porep-2KiB "] {
            let answer = xtask(folder.path(), &[command, &["--json", "--circuit", name]].concat());
            assert_eq!(answer.code, 2, "{command:?} {name:?}");
            let (kind, message, place) = answer.error();
            assert_eq!(kind, "usage", "{command:?} {name:?}");
            assert!(place.starts_with("--circuit"), "{place}");
            assert!(message.contains("unknown circuit"), "{message}");
        }
    }
    assert!(entries(folder.path()).is_empty());
}
