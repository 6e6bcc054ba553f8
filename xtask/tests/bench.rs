//! What `bench` refuses, leaving nothing behind.

mod common;

use common::{entries, xtask};

#[test]
fn benches_name_the_flag_or_the_missing_device() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], i32, &str, &str); 5] = [
        (&["ntt", "--svg", "p.svg"], 3, "device", "bench"),
        (&["msm", "--log-n", "18..=20"], 3, "device", "bench"),
        (&["msm", "--log-n", "20..=18"], 2, "usage", "--log-n"),
        (&["ntt", "--runs", "3"], 2, "usage", "--runs"),
        (&["synthesis", "--svg", "p.svg"], 2, "usage", "--svg"),
    ];
    for (arguments, code, kind, place) in cases {
        let answer = xtask(folder.path(), &[&["bench", "--json"], arguments].concat());
        let (got_kind, message, got_place) = answer.error();
        assert_eq!((answer.code, got_kind.as_str()), (code, kind), "{arguments:?}: {message}");
        assert!(got_place.contains(place), "{arguments:?}: {got_place}");
    }
    assert!(entries(folder.path()).is_empty());
}
