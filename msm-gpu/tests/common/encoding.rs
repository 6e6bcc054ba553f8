//! Points as a file has them, good and bad.
#![allow(dead_code, reason = "each test binary uses some of it")]

use blstrs::{G1Affine, G2Affine};
use bytemuck::Pod;

/// The field's modulus, big-endian.
const MODULUS: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64,
    0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab,
    0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

/// A point that blst encodes.
pub trait Encoding: Sized {
    /// Uncompressed.
    fn encode(&self) -> Vec<u8>;
    /// blst's decoding, without the check of the subgroup; no point at infinity.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

impl Encoding for G1Affine {
    fn encode(&self) -> Vec<u8> {
        self.to_uncompressed().to_vec()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        let point = Option::<Self>::from(Self::from_uncompressed_unchecked(bytes.try_into().ok()?))?;
        (bytes[0] & 0xe0 == 0).then_some(point)
    }
}

impl Encoding for G2Affine {
    fn encode(&self) -> Vec<u8> {
        self.to_uncompressed().to_vec()
    }
    fn decode(bytes: &[u8]) -> Option<Self> {
        let point = Option::<Self>::from(Self::from_uncompressed_unchecked(bytes.try_into().ok()?))?;
        (bytes[0] & 0xe0 == 0).then_some(point)
    }
}

/// An encoding under the type of a point's words.
pub fn words<T: Pod>(bytes: &[u8]) -> T {
    let mut words = T::zeroed();
    bytemuck::bytes_of_mut(&mut words).copy_from_slice(bytes);
    words
}

/// Bytes that are no good point: from the encoding of one with random coordinates, and of one whose first coordinate is small.
pub fn bad_encodings(good: &[u8], small: &[u8]) -> Vec<(String, Vec<u8>)> {
    let with = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = good.to_vec();
        change(&mut bytes);
        bytes
    };
    let mut bad: Vec<(String, Vec<u8>)> = [0x80, 0x40, 0x20, 0xe0]
        .map(|flags| (format!("flags {flags:#x}"), with(&|bytes| bytes[0] |= flags)))
        .into_iter()
        .collect();
    let mut add = |name: &str, bytes| bad.push((name.to_owned(), bytes));
    add("all zero", vec![0; good.len()]);
    add("all ones", vec![0xff; good.len()]);
    add(
        "infinity",
        with(&|bytes| {
            bytes.fill(0);
            bytes[0] = 0x40;
        }),
    );
    add("y off by one", with(&|bytes| bytes[good.len() - 1] ^= 1));
    add("x off by one", with(&|bytes| bytes[good.len() / 2 - 1] ^= 1));
    add("x and y exchanged", with(&|bytes| bytes.rotate_left(good.len() / 2)));
    // In G1 a point of order three, which blst refuses at once; in G2 not on the curve.
    add(
        "x zero, y two",
        with(&|bytes| {
            bytes.fill(0);
            bytes[good.len() - 1] = 2;
        }),
    );
    if good.len() == 192 {
        add(
            "c0 and c1 exchanged",
            with(&|bytes| bytes.chunks_mut(96).for_each(|value| value.rotate_left(48))),
        );
    }
    for at in (0..good.len()).step_by(48) {
        add(&format!("p at {at}"), with(&|bytes| bytes[at..at + 48].copy_from_slice(&MODULUS)));
        // The same number modulo p, so that it is on the curve.
        add(&format!("p more at {at}"), with(&|bytes| add_modulus(&mut bytes[at..at + 48])));
        let mut more = small.to_vec();
        add_modulus(&mut more[at..at + 48]);
        add(&format!("p more at {at}, first coordinate small"), more);
    }
    bad
}

fn add_modulus(coordinate: &mut [u8]) {
    let mut carry = 0;
    for (byte, of) in coordinate.iter_mut().zip(MODULUS).rev() {
        let sum = u16::from(*byte) + u16::from(of) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
}
