//! What `bench` refuses, leaving nothing behind.

mod common;

use common::{entries, xtask};

#[test]
fn benches_name_the_flag_or_the_missing_device() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], i32, &str, &str); 10] = [
        (&["ntt", "--svg", "p.svg"], 3, "device", "bench"),
        (&["msm", "--log-n", "18..=20"], 3, "device", "bench"),
        (&["msm", "--log-n", "20..=18"], 2, "usage", "--log-n"),
        (&["ntt", "--runs", "3"], 2, "usage", "--runs"),
        (&["synthesis", "--svg", "p.svg"], 2, "usage", "--svg"),
        (&["ntt", "--circuit", "winning-2KiB"], 2, "usage", "--circuit"),
        (&["msm", "--backend", "cuda"], 2, "usage", "--backend"),
        (&["prove", "--svg", "p.svg"], 2, "usage", "--svg"),
        (&["prove", "--log-n", "14..=18"], 2, "usage", "--log-n"),
        (&["prove", "--backend", "cuda"], 3, "device", "--backend"),
    ];
    for (arguments, code, kind, place) in cases {
        let answer = xtask(folder.path(), &[&["bench", "--json"], arguments].concat());
        let (got_kind, message, got_place) = answer.error();
        assert_eq!((answer.code, got_kind.as_str()), (code, kind), "{arguments:?}: {message}");
        assert!(got_place.contains(place), "{arguments:?}: {got_place}");
    }
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn whole_proofs_on_the_processor() {
    let folder = tempfile::tempdir().unwrap();
    let answer = xtask(
        folder.path(),
        &["bench", "prove", "--json", "--backend", "cpu", "--log-n", "15", "--runs", "1"],
    );
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let rows = answer.json()["rows"].as_array().unwrap().clone();
    let what: Vec<_> = rows.iter().map(|row| row["what"].as_str().unwrap()).collect();
    let stages = ["witness", "products", "quotient", "msm", "verify", "total"];
    assert_eq!(what, stages.map(|stage| format!("chain: {stage}")));
    for row in &rows {
        assert_eq!((row["log_n"].as_u64(), row["constraints"].as_u64()), (Some(15), Some(27_468)));
        assert!(row["ms"].as_f64().unwrap() > 0.0, "{row}");
        // The floors are a device's.
        assert!(row.get("floor_ms").is_none() && row.get("share").is_none(), "{row}");
    }
}
