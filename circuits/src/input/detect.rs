//! What a file holds, by its content.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::InputFile;
use super::bincode::{Cursor, Decode};
use super::error::{InputError, Problem, Within};
use super::raw::{Phase1, PostProof, UpdateProof, Wrapper};

/// A kind of JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Wrapper,
    Phase1,
    Post,
    Update,
}

impl Kind {
    /// A key that objects of this kind have and others have not.
    const KEYS: [(&'static str, Kind); 4] = [
        ("Phase1Out", Kind::Wrapper),
        ("vanilla_proofs", Kind::Phase1),
        ("vanilla_proof", Kind::Post),
        ("challenge_proofs", Kind::Update),
    ];

    fn describe(self) -> &'static str {
        match self {
            Kind::Wrapper | Kind::Phase1 => "a PoRep proof",
            Kind::Post => "a PoSt proof",
            Kind::Update => "a SnapDeals proof",
        }
    }

    /// The kind of a JSON object.
    fn of_object(text: &str) -> Result<Kind, InputError> {
        let keys: BTreeMap<Cow<'_, str>, IgnoredAny> = parse(text)?;
        let known = Kind::KEYS.into_iter().find(|(key, _)| keys.contains_key(*key));
        let unknown = || Problem::Unrecognised("a JSON object without the keys of a vanilla proof".into());
        known.map(|(_, kind)| kind).ok_or_else(|| unknown().into())
    }

    /// Whether the bytes are one proof of this kind in bincode.
    fn is_binary(self, bytes: &[u8]) -> bool {
        let mut cursor = Cursor::new(bytes);
        let read = match self {
            Kind::Post => PostProof::decode(&mut cursor).is_ok(),
            Kind::Update => UpdateProof::decode(&mut cursor).is_ok(),
            Kind::Wrapper | Kind::Phase1 => false,
        };
        read && cursor.left() == 0
    }
}

/// The phase-1 output in a file, with the sector size that its wrapper states.
pub(super) fn phase1(file: &InputFile<'_>) -> Result<(Phase1, Option<u64>), InputError> {
    let wrong = |got| InputError::new(Problem::Kind { expected: Kind::Phase1.describe(), got });
    let mut values = match content(file.bytes)? {
        Content::Json(text) => json_values(text)?.into_iter(),
        Content::Binary => {
            let kind = [Kind::Post, Kind::Update].into_iter().find(|kind| kind.is_binary(file.bytes));
            return Err(wrong(kind.map_or("binary data", Kind::describe)));
        }
    };
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Problem::Unrecognised("a PoRep proof is one JSON object".into()).into());
    };
    match Kind::of_object(value.get())? {
        Kind::Phase1 => Ok((parse(value.get())?, None)),
        Kind::Wrapper => {
            let wrapper: Wrapper = parse(value.get())?;
            let inner = base64_bytes(&wrapper.phase1_out).and_then(|bytes| {
                let inner = utf8(&bytes)?;
                match Kind::of_object(inner)? {
                    Kind::Phase1 => parse(inner),
                    kind => Err(wrong(kind.describe())),
                }
            });
            Ok((inner.within(|| "Phase1Out".into())?, Some(wrapper.sector_size)))
        }
        kind => Err(wrong(kind.describe())),
    }
}

/// A proof of which a file may hold several: a sector's PoSt, or a partition of SnapDeals.
pub(super) trait Record: Decode + for<'de> Deserialize<'de> {
    /// The kind of its JSON objects.
    const KIND: Kind;
}

impl Record for PostProof {
    const KIND: Kind = Kind::Post;
}

impl Record for UpdateProof {
    const KIND: Kind = Kind::Update;
}

/// All records of a file, in order, at least one.
pub(super) fn records<T: Record>(file: &InputFile<'_>) -> Result<Vec<T>, InputError> {
    let values = match content(file.bytes)? {
        Content::Json(text) => json_values(text)?,
        Content::Binary => return binary_records(file.bytes),
    };
    let mut records = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let place = || format!("value {i}");
        if value.get().starts_with('"') {
            let text: String = parse(value.get()).within(place)?;
            records.extend(base64_bytes(&text).and_then(|bytes| binary_records(&bytes)).within(place)?);
        } else {
            let record = json_record(value.get());
            records.push(if values.len() > 1 { record.within(place)? } else { record? });
        }
    }
    if records.is_empty() {
        return Err(Problem::Unrecognised("an empty JSON array".into()).into());
    }
    Ok(records)
}

fn json_record<T: Record>(text: &str) -> Result<T, InputError> {
    let kind = Kind::of_object(text)?;
    if kind != T::KIND {
        return Err(Problem::Kind { expected: T::KIND.describe(), got: kind.describe() }.into());
    }
    parse(text)
}

/// Records in bincode, one after another.
fn binary_records<T: Record>(bytes: &[u8]) -> Result<Vec<T>, InputError> {
    let mut cursor = Cursor::new(bytes);
    let mut records = Vec::new();
    loop {
        let offset = cursor.offset();
        match T::decode(&mut cursor) {
            Ok(record) => records.push(record),
            Err(_) if !records.is_empty() => {
                return Err(Problem::Trailing { offset, count: bytes.len() - offset }.into());
            }
            Err(error) => {
                let other = [Kind::Post, Kind::Update].into_iter().find(|kind| kind.is_binary(bytes));
                let wrong = |kind: Kind| Problem::Kind { expected: T::KIND.describe(), got: kind.describe() };
                return Err(other.map_or(error, |kind| wrong(kind).into()));
            }
        }
        if cursor.left() == 0 {
            return Ok(records);
        }
    }
}

enum Content<'a> {
    Json(&'a str),
    Binary,
}

/// Tells JSON from bincode. Bincode has lengths, whose high bytes are zero; JSON is text and has no such bytes.
fn content(bytes: &[u8]) -> Result<Content<'_>, InputError> {
    if bytes.is_empty() {
        return Err(Problem::Empty.into());
    }
    let head = &bytes[..bytes.len().min(64)];
    if head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
        return Ok(Content::Binary);
    }
    match head.trim_ascii_start().first() {
        Some(b'{' | b'[') => utf8(bytes).map(Content::Json),
        _ => Err(Problem::Unrecognised("neither JSON nor bincode".into()).into()),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, InputError> {
    std::str::from_utf8(bytes).map_err(|error| Problem::Json(format!("no UTF-8: {error}")).into())
}

fn base64_bytes(text: &str) -> Result<Vec<u8>, InputError> {
    STANDARD.decode(text).map_err(|error| Problem::Base64(error.to_string()).into())
}

/// The values of a JSON text: those that stand one after another, and the elements of an array in place of the array.
fn json_values(text: &str) -> Result<Vec<&RawValue>, InputError> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = value.map_err(json_problem)?;
        if value.get().starts_with('[') {
            values.extend(parse::<Vec<&RawValue>>(value.get())?);
        } else {
            values.push(value);
        }
    }
    Ok(values)
}

/// Parses a whole JSON text; errors name the path to the fault.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, InputError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let problem = InputError::new(json_problem(error.into_inner()));
        if path == "." { problem } else { problem.within(path) }
    })?;
    deserializer.end().map_err(json_problem)?;
    Ok(value)
}

fn json_problem(error: serde_json::Error) -> Problem {
    let kind = match error.classify() {
        serde_json::error::Category::Eof => "truncated JSON",
        serde_json::error::Category::Syntax => "malformed JSON",
        serde_json::error::Category::Data | serde_json::error::Category::Io => "unexpected JSON",
    };
    Problem::Json(format!("{kind}: {error}"))
}
