//! `prove --timeline`: what the trace holds, and that there is a whole one or none.

mod common;

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use common::{entries, limited, run, xtask};
use serde_json::Value;

/// A span of the trace, in microseconds.
struct Span {
    name: String,
    thread: u64,
    start: f64,
    end: f64,
    arguments: Value,
}

/// The spans of the host, which must nest or follow one another on each thread, and the threads' names.
fn read(path: &Path) -> (Vec<Span>, BTreeMap<u64, String>) {
    let trace: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(trace["otherData"]["lost"], 0);
    let (mut spans, mut names) = (vec![], BTreeMap::new());
    for event in trace["traceEvents"].as_array().unwrap() {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        assert_eq!(event["pid"], 1, "no device here: {event}");
        match event["ph"].as_str().unwrap() {
            "X" => {
                let [start, length] = ["ts", "dur"].map(|field| event[field].as_f64().unwrap());
                assert!(start >= 0.0 && length >= 0.0, "{event}");
                spans.push(Span {
                    name: text(&event["name"]),
                    thread: event["tid"].as_u64().unwrap(),
                    start,
                    end: start + length,
                    arguments: event["args"].clone(),
                });
            }
            "M" if event["name"] == "thread_name" => {
                names.insert(event["tid"].as_u64().unwrap(), text(&event["args"]["name"]));
            }
            other => assert!(["M", "i"].contains(&other), "{event}"),
        }
    }
    // Times are rounded to nanoseconds on their way into the file.
    let grain = 2e-3;
    let mut open: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for span in &spans {
        assert!(names.contains_key(&span.thread), "{}", span.name);
        let open = open.entry(span.thread).or_default();
        while open.last().is_some_and(|&end| end <= span.start + grain) {
            open.pop();
        }
        assert!(
            open.last().is_none_or(|&end| span.end <= end + grain),
            "{} outlives the one around it",
            span.name
        );
        open.push(span.end);
    }
    (spans, names)
}

#[test]
fn all_stages_are_there_with_their_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    fs::write(&path, "what was there before").unwrap();
    let arguments = ["prove", "--circuit", "window-2KiB", "--repeat", "2", "--timeline", "t.json", "--json"];
    let answer = xtask(folder.path(), &arguments);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_eq!(entries(folder.path()), ["t.json"]);
    let (spans, names) = read(&path);
    let all = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let sizes = [
        ("witness", "partition", 0),
        ("prove", "aux", 22_128),
        ("products", "rows", 21_889),
        ("r1cs::satisfied_products", "rows", 21_889),
        ("quotient", "domain", 1 << 15),
        ("ntt_gpu::quotient", "size", 1 << 15),
        ("sum h", "len", (1 << 15) - 1),
        ("verify", "proofs", 1),
    ];
    for (name, field, size) in sizes {
        let found: Vec<_> = all(name).iter().map(|span| span.arguments[field].clone()).collect();
        assert!(found.len() >= 2 && found.iter().all(|got| *got == size), "{name}: {found:?}");
    }
    for name in ["msm", "sum l", "sum a", "sum b_g1", "sum b_g2", "phase proving"] {
        assert_eq!(all(name).len(), 2, "{name}");
    }
    // Stages lie within the proof, and the calls within the stages.
    let within = |inner: &str, outer: &str| {
        let outer = all(outer);
        let around = |span: &Span| {
            let holds = |outer: &&Span| outer.start <= span.start && span.end <= outer.end + 2e-3;
            outer.iter().any(|outer| outer.thread == span.thread && holds(outer))
        };
        assert!(all(inner).into_iter().all(around), "{inner} within {outer}", outer = outer[0].name);
    };
    for stage in ["products", "quotient", "msm"] {
        within(stage, "prove");
    }
    within("r1cs::satisfied_products", "products");
    within("ntt_gpu::quotient", "quotient");
    within("sum h", "msm");
    // A witness is made on a thread of its own.
    let threads = |name: &str| all(name).iter().map(|span| names[&span.thread].as_str()).collect::<Vec<_>>();
    // The first one is checked before any proving.
    assert_eq!(threads("witness"), ["main", "witness", "witness"]);
    assert_eq!(threads("products"), ["main", "main"]);
}

#[test]
fn a_run_that_fails_half_way_leaves_what_there_was() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("key"), "no key").unwrap();
    let arguments =
        ["prove", "--circuit", "window-2KiB", "--vk", "key", "--timeline", "t.json", "--json", "--out", "p"];
    let answer = xtask(folder.path(), &arguments);
    assert_eq!((answer.code, answer.error().2.contains("key")), (2, true), "{}", answer.stderr);
    assert_eq!(entries(folder.path()), ["key", "t.json"]);
    let (spans, _) = read(&folder.path().join("t.json"));
    let has = |name: &str| spans.iter().any(|span| span.name.starts_with(name));
    assert!(has("phase checking the input") && !has("phase proving"));
}

/// Proofs are out before the timeline, which is longer: what keeps it from being written takes nothing else with it.
#[test]
fn a_timeline_that_gets_too_long_costs_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    // The parameters are in the cache then.
    assert_eq!(xtask(folder.path(), &["prove", "--circuit", "window-2KiB"]).code, 0);
    let mut command = limited(folder.path(), 8);
    command.args(["prove", "--circuit", "window-2KiB", "--repeat", "6", "--timeline", "t.json"]);
    command.args(["--out", "p", "--json"]);
    let answer = run(&mut command);
    let (kind, message, place) = answer.error();
    assert_eq!((answer.code, kind.as_str(), place.as_str()), (4, "disk", "t.json"), "{message}");
    assert!(message.contains("all else was done"), "{message}");
    assert_eq!(entries(folder.path()), ["p.proof", "p.public.json", "p.vk"]);
    let proof = hex::encode(fs::read(folder.path().join("p.proof")).unwrap());
    assert!(answer.stderr.contains(&proof), "{}", answer.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let cases: [(&[&str], &str, &str); 6] = [
        (&["--timeline", "no/t.json"], "input", "no/t.json"),
        (&["--timeline", "."], "input", "."),
        (&["--timeline", "new/"], "input", "new/"),
        (&["--timeline", "pipe"], "input", "pipe"),
        (&["--timeline", "p.vk", "--out", "p"], "usage", "--timeline"),
        (&["--timeline", "./p.proof", "--out", "p"], "usage", "--timeline"),
    ];
    for (arguments, kind, place) in cases {
        let answer = xtask(folder.path(), &[&["prove", "--json"], arguments].concat());
        let error = answer.error();
        assert_eq!((answer.code, error.0.as_str(), error.2.as_str()), (2, kind, place), "{error:?}");
        assert!(!error.1.contains("all else was done"), "{error:?}");
        assert_eq!(entries(folder.path()), ["pipe"]);
    }
}
