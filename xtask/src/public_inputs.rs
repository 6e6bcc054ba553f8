//! Public inputs as JSON: an array per partition of 32-byte little-endian hex strings, without ONE.

use std::path::Path;

use blstrs::Scalar;

use crate::{
    failure::{Failure, Kind},
    files,
};

/// Longer files are refused. A 64 GiB NI-PoRep has 126 partitions of 327 inputs, 2.8 MB of text.
const LIMIT: u64 = 256 << 20;

/// Reads a file of public inputs; every value must be canonical, below the modulus.
pub fn read(path: &Path) -> Result<Vec<Vec<Scalar>>, Failure> {
    parse(&files::read(path, LIMIT)?).map_err(|failure| match failure.location {
        Some(place) => {
            Failure::new(failure.kind, failure.message).at(format_args!("{}: {place}", path.display()))
        }
        None => failure.at(path.display()),
    })
}

fn parse(bytes: &[u8]) -> Result<Vec<Vec<Scalar>>, Failure> {
    let texts: Vec<Vec<String>> = serde_json::from_slice(bytes)
        .map_err(|error| Failure::input(format_args!("no array of arrays of hex strings: {error}")))?;
    let mut partitions = Vec::with_capacity(texts.len());
    for (k, partition) in texts.iter().enumerate() {
        let values = partition.iter().enumerate().map(|(i, text)| {
            scalar(text).map_err(|why| Failure::input(why).at(format_args!("partition {k}, input {i}")))
        });
        partitions.push(values.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(partitions)
}

fn scalar(text: &str) -> Result<Scalar, &'static str> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| "expected 64 hex digits")?;
    Option::from(Scalar::from_bytes_le(&bytes)).ok_or("the value is not below the modulus of Fr")
}

/// The hex strings of `partitions`.
pub fn to_hex(partitions: &[Vec<Scalar>]) -> Vec<Vec<String>> {
    let hex_of = |value: &Scalar| hex::encode(value.to_bytes_le());
    partitions.iter().map(|partition| partition.iter().map(hex_of).collect()).collect()
}

/// Refuses the first difference between derived and expected inputs, saying where it is.
pub fn compare(derived: &[Vec<Scalar>], expected: &[Vec<Scalar>]) -> Result<(), Failure> {
    let differ = |message: String| Err(Failure::new(Kind::Input, message).at("--public"));
    if derived.len() != expected.len() {
        return differ(format!("expected inputs of {} partitions, got {}", derived.len(), expected.len()));
    }
    for (k, (derived, expected)) in derived.iter().zip(expected).enumerate() {
        if derived.len() != expected.len() {
            return differ(format!(
                "partition {k}: {} inputs derived, {} expected",
                derived.len(),
                expected.len()
            ));
        }
        if let Some(i) = derived.iter().zip(expected).position(|(derived, expected)| derived != expected) {
            let [derived, expected] = [derived[i], expected[i]].map(|value| hex::encode(value.to_bytes_le()));
            return differ(format!("partition {k}, input {i}: derived {derived}, expected {expected}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0100000000000000000000000000000000000000000000000000000000000000";
    /// The modulus itself.
    const R: &str = "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73";

    fn failure(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn round_trip() {
        let values = parse(format!(r#"[["{ONE}"],[]]"#).as_bytes()).unwrap();
        assert_eq!(values, [vec![Scalar::from(1)], vec![]]);
        assert_eq!(to_hex(&values)[0][0], ONE);
    }

    #[test]
    fn refusals_say_where() {
        assert!(
            failure(&format!(r#"[["{ONE}"],["{ONE}","{R}"]]"#))
                .starts_with("partition 1, input 1: the value")
        );
        assert!(failure(r#"[["01"]]"#).contains("partition 0, input 0: expected 64 hex digits"));
        for text in ["", "{}", "[1]", "[[1]]", r#"["01"]"#, r#"[["#] {
            assert!(failure(text).contains("no array"), "{text}");
        }
    }

    #[test]
    fn differences_are_located() {
        let [zero, one] = [0, 1].map(Scalar::from);
        let mine = [vec![one, zero], vec![one]];
        compare(&mine, &mine.clone()).unwrap();
        let message = |expected: &[Vec<Scalar>]| compare(&mine, expected).unwrap_err().message;
        assert!(message(&mine[..1]).contains("2 partitions, got 1"));
        assert!(message(&[vec![one, zero], vec![]]).contains("partition 1: 1 inputs derived, 0"));
        assert!(message(&[vec![one, one], vec![one]]).contains("partition 0, input 1"));
    }
}
