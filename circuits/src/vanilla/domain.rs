//! Field elements and the 32 bytes that stand for them: canonical, little-endian.

use blstrs::Scalar;
use ff::PrimeField;
use gadgets::pack::digest_to_scalar;

/// The field element with these little-endian bytes; `None` where they are the modulus or above.
pub fn from_bytes(bytes: &[u8; 32]) -> Option<Scalar> {
    Scalar::from_repr(*bytes).into()
}

/// The canonical little-endian bytes of a field element.
pub fn to_bytes(value: &Scalar) -> [u8; 32] {
    value.to_repr()
}

/// A hash made a field element: its two top bits are cleared, which puts it below the modulus.
pub fn from_hash(hash: [u8; 32]) -> Scalar {
    digest_to_scalar(hash)
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    #[test]
    fn the_modulus_is_refused_and_one_less_is_not() {
        let mut bytes = to_bytes(&-Scalar::ONE);
        assert_eq!(from_bytes(&bytes), Some(-Scalar::ONE));
        bytes[0] += 1;
        assert_eq!(from_bytes(&bytes), None);
        assert_eq!(to_bytes(&from_hash([0xff; 32]))[31], 0x3f);
    }
}
