//! Amounts of memory as people write them.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// A number of bytes, written with one of the units `GiB`, `GB` or `MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// Why a text is no [`Size`].
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SizeError {
    /// No known unit at the end.
    #[error("expected a number with a unit, GiB, GB or MiB (as in 24GiB)")]
    Unit,
    /// What stands before the unit is no positive number.
    #[error("expected a positive number before {0}")]
    Number(&'static str),
    /// The amount is not below 2^63 bytes.
    #[error("the amount does not fit into 63 bits")]
    TooLarge,
}

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20)];

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let (digits, unit, bytes) = UNITS
            .iter()
            .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?.trim_end(), *unit, *bytes)))
            .ok_or(SizeError::Unit)?;
        // `f64` would also take "inf", "1e3" and a sign.
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return Err(SizeError::Number(unit));
        }
        let total = digits.parse::<f64>().map_err(|_| SizeError::Number(unit))? * bytes as f64;
        if total < 1.0 {
            return Err(SizeError::Number(unit));
        }
        if total >= (1u64 << 63) as f64 {
            return Err(SizeError::TooLarge);
        }
        Ok(Self(total as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            n if n >= 1 << 30 => write!(f, "{:.2} GiB", bytes / (1u64 << 30) as f64),
            n if n >= 1 << 20 => write!(f, "{:.1} MiB", bytes / (1u64 << 20) as f64),
            n if n >= 1 << 10 => write!(f, "{:.1} KiB", bytes / 1024.0),
            n => write!(f, "{n} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!("16GiB".parse(), Ok(Size(16 << 30)));
        assert_eq!("16 GB".parse(), Ok(Size(16_000_000_000)));
        assert_eq!("1.5MiB".parse(), Ok(Size(3 << 19)));
    }

    #[test]
    fn refusals() {
        for text in ["", "16", "16G", "16KiB", "16gib"] {
            assert_eq!(text.parse::<Size>(), Err(SizeError::Unit), "{text:?}");
        }
        for text in ["GiB", "-1GiB", "infGiB", "1e3GiB", "0GiB", "1.2.3GiB", "+1GiB"] {
            assert_eq!(text.parse::<Size>(), Err(SizeError::Number("GiB")), "{text:?}");
        }
        assert_eq!("99999999999999GiB".parse::<Size>(), Err(SizeError::TooLarge));
    }
}
