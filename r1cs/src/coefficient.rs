//! The distinct coefficients of a circuit.

use std::collections::HashMap;

use blst::blst_fr;
use blstrs::Scalar;
use ff::Field;

/// Numbers distinct coefficients in order of appearance; 0 is always 1, and 1 is always -1.
#[derive(Clone)]
pub(crate) struct Dictionary {
    values: Vec<Scalar>,
    index: HashMap<[u64; 4], u16>,
    /// One recent coefficient for each value of a small hash: most look-ups end here.
    recent: Box<[([u64; 4], u16)]>,
}

const RECENT_BITS: u32 = 10;

/// A coefficient's limbs in Montgomery form: equal exactly for equal coefficients.
#[inline]
fn limbs(coefficient: &Scalar) -> [u64; 4] {
    blst_fr::from(*coefficient).l
}

/// A slot in a table of `2^bits` recent coefficients.
#[inline]
fn slot(limbs: &[u64; 4], bits: u32) -> usize {
    let mixed = limbs[0] ^ limbs[1].rotate_left(23) ^ limbs[3].rotate_left(41);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

impl Dictionary {
    pub(crate) fn new() -> Self {
        let values = vec![Scalar::ONE, -Scalar::ONE];
        let index = values.iter().zip(0..).map(|(value, i)| (limbs(value), i)).collect();
        // Every entry is true, so none needs to be told apart as empty.
        let recent = vec![(limbs(&Scalar::ONE), 0); 1 << RECENT_BITS].into();
        Self { values, index, recent }
    }

    /// The coefficient's number, a new one if need be; `None` once all 65,536 are taken.
    #[inline]
    pub(crate) fn intern(&mut self, coefficient: &Scalar) -> Option<u16> {
        let limbs = limbs(coefficient);
        let slot = slot(&limbs, RECENT_BITS);
        if self.recent[slot].0 != limbs {
            self.recent[slot] = (limbs, self.intern_slowly(coefficient, limbs)?);
        }
        Some(self.recent[slot].1)
    }

    #[cold]
    fn intern_slowly(&mut self, coefficient: &Scalar, limbs: [u64; 4]) -> Option<u16> {
        if let Some(number) = self.index.get(&limbs) {
            return Some(*number);
        }
        let number = u16::try_from(self.values.len()).ok()?;
        self.values.push(*coefficient);
        self.index.insert(limbs, number);
        Some(number)
    }

    pub(crate) fn into_values(self) -> Vec<Scalar> {
        self.values
    }
}

/// Remembers the canonical bytes of recent coefficients, which cost a Montgomery reduction each.
pub(crate) struct CanonicalBytes {
    recent: Box<[([u64; 4], [u8; 32])]>,
}

const BYTES_BITS: u32 = 12;

impl CanonicalBytes {
    pub(crate) fn new() -> Self {
        let one = (limbs(&Scalar::ONE), Scalar::ONE.to_bytes_le());
        Self { recent: vec![one; 1 << BYTES_BITS].into() }
    }

    /// 32 bytes, little-endian.
    #[inline]
    pub(crate) fn of(&mut self, coefficient: &Scalar) -> &[u8; 32] {
        let limbs = limbs(coefficient);
        let entry = &mut self.recent[slot(&limbs, BYTES_BITS)];
        if entry.0 != limbs {
            *entry = (limbs, coefficient.to_bytes_le());
        }
        &entry.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_order_and_ends_at_65536() {
        let mut dictionary = Dictionary::new();
        assert_eq!(dictionary.intern(&-Scalar::ONE), Some(1));
        assert_eq!(dictionary.intern(&Scalar::ONE), Some(0));
        for i in 2..=u16::MAX {
            assert_eq!(dictionary.intern(&Scalar::from(u64::from(i))), Some(i));
        }
        assert_eq!(dictionary.intern(&Scalar::from(65_536)), None);
        assert_eq!(dictionary.intern(&Scalar::from(2)), Some(2));
        let values = dictionary.into_values();
        assert_eq!(values.len(), 65_536);
        assert_eq!(values[77], Scalar::from(77));
    }

    #[test]
    fn bytes_are_canonical() {
        let mut bytes = CanonicalBytes::new();
        for _ in 0..2 {
            for i in 0..10_000u64 {
                let value = Scalar::from(i) * Scalar::from(u64::MAX);
                assert_eq!(*bytes.of(&value), value.to_bytes_le());
            }
        }
    }
}
