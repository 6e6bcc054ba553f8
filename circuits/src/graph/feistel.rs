//! A keyed permutation of `0..n`: a Feistel network with cycle walking.

use blake2b_simd::blake2b;

const ROUNDS: usize = 3;

/// A permutation of `0..elements` under three round keys.
#[derive(Clone, Debug)]
pub struct Feistel {
    elements: u64,
    /// The bits of one half: the network permutes `0..4^half_bits`, the smallest such range that holds `elements`.
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Feistel {
    /// The permutation of `0..elements`, for 1 to 2^62 elements.
    pub fn new(elements: u64, keys: [u64; ROUNDS]) -> Self {
        let bits = elements.next_power_of_two().trailing_zeros();
        Self { elements, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// The image of `index`, which is below the number of elements.
    pub fn permute(&self, index: u64) -> u64 {
        self.walk(index, Self::encrypt)
    }

    /// The index whose image is `image`, which is below the number of elements.
    pub fn invert(&self, image: u64) -> u64 {
        self.walk(image, Self::decrypt)
    }

    /// The network permutes a range that may exceed the elements: follow the cycle until it is back among them.
    fn walk(&self, start: u64, step: impl Fn(&Self, u64) -> u64) -> u64 {
        let mut value = step(self, start);
        while value >= self.elements {
            value = step(self, value);
        }
        value
    }

    fn encrypt(&self, index: u64) -> u64 {
        let (left, right) = self.split(index);
        let (left, right) = self
            .keys
            .iter()
            .fold((left, right), |(left, right), key| (right, left ^ self.round(right, *key)));
        left << self.half_bits | right
    }

    fn decrypt(&self, image: u64) -> u64 {
        let (left, right) = self.split(image);
        let (left, right) = self
            .keys
            .iter()
            .rev()
            .fold((left, right), |(left, right), key| (right ^ self.round(left, *key), left));
        left << self.half_bits | right
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    fn split(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits & self.mask(), value & self.mask())
    }

    /// The first eight bytes of BLAKE2b-512 over the half and the key, big-endian all three, cut to a half.
    fn round(&self, half: u64, key: u64) -> u64 {
        let mut data = [0; 16];
        data[..8].copy_from_slice(&half.to_be_bytes());
        data[8..].copy_from_slice(&key.to_be_bytes());
        let hash = blake2b(&data);
        hash.as_bytes()[..8].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte)) & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_bijection(elements in 1u64..600, keys: [u64; 3]) {
            let feistel = Feistel::new(elements, keys);
            let mut seen = vec![false; elements as usize];
            for index in 0..elements {
                let image = feistel.permute(index);
                prop_assert!(image < elements);
                prop_assert!(!std::mem::replace(&mut seen[image as usize], true), "{image} twice");
                prop_assert_eq!(feistel.invert(image), index);
            }
        }

        #[test]
        fn large_domains_invert(log in 10u32..40, short in 0u64..1000, index: u64, keys: [u64; 3]) {
            let elements = (1 << log) - short;
            let feistel = Feistel::new(elements, keys);
            let image = feistel.permute(index % elements);
            prop_assert!(image < elements);
            prop_assert_eq!(feistel.invert(image), index % elements);
        }
    }
}
