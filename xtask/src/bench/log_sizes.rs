//! Sizes as powers of two, as people write them.

use std::{collections::BTreeSet, str::FromStr};

use thiserror::Error;

/// Below it a launch's latency is all that there is to measure; above it a domain has no memory.
const SIZES: std::ops::RangeInclusive<u32> = 10..=30;

/// Base-two logarithms of sizes, ascending and without repetition: `18..=24`, `20`, or several of these with commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSizes(pub Vec<u32>);

/// Why a text is no [`LogSizes`].
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LogSizesError {
    /// Neither a number nor a range.
    #[error("expected numbers or ranges such as 18..=24, with commas between them, got {0:?}")]
    Form(String),
    /// The range ends before it begins.
    #[error("the range {0} is empty")]
    Empty(String),
    /// A size that is not measured.
    #[error("{got} is not among the sizes from {} to {}", SIZES.start(), SIZES.end())]
    Bounds {
        /// The logarithm given.
        got: u32,
    },
}

impl FromStr for LogSizes {
    type Err = LogSizesError;

    fn from_str(text: &str) -> Result<Self, LogSizesError> {
        let mut sizes = BTreeSet::new();
        for part in text.split(',') {
            let number = |digits: &str| digits.parse().map_err(|_| LogSizesError::Form(part.to_owned()));
            let (first, last) = match part.split_once("..=") {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(LogSizesError::Empty(part.to_owned()));
            }
            if let Some(got) = [first, last].into_iter().find(|size| !SIZES.contains(size)) {
                return Err(LogSizesError::Bounds { got });
            }
            sizes.extend(first..=last);
        }
        Ok(Self(sizes.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let sizes = |text: &str| text.parse::<LogSizes>().unwrap().0;
        assert_eq!(sizes("20"), [20]);
        assert_eq!(sizes("18..=20"), [18, 19, 20]);
        assert_eq!(sizes("24,18..=20,19"), [18, 19, 20, 24]);
    }

    #[test]
    fn refusals() {
        let error = |text: &str| text.parse::<LogSizes>().unwrap_err();
        for text in ["", "a", "18..20", "18,", "-1", "18..=", "1..=2..=3"] {
            assert!(matches!(error(text), LogSizesError::Form(_)), "{text}");
        }
        assert_eq!(error("20..=18"), LogSizesError::Empty("20..=18".into()));
        assert_eq!(error("9"), LogSizesError::Bounds { got: 9 });
        assert_eq!(error("18..=4294967295"), LogSizesError::Bounds { got: u32::MAX });
    }
}
