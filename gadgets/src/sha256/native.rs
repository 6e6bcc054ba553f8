//! The native side.

use assignment::WitnessSink;
use blstrs::Scalar;
use ff::PrimeField;

use super::word::{Word, interleave};
use super::{IV, K, padding};
use crate::num::to_bits_le_witness;
use crate::pack::pack_digest_witness;

/// A message and which of its bits are constants on the constraint side. Others are variables, not negated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    bytes: Vec<u8>,
    /// One bit for each of `bytes`: one for a constant.
    constant: Vec<u8>,
}

impl Message {
    /// An empty message.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty message with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), constant: Vec::with_capacity(bytes) }
    }

    /// Bytes whose bits are all variables.
    pub fn push_variable(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.constant.resize(self.bytes.len(), 0);
    }

    /// Bytes whose bits are all constants.
    pub fn push_constant(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.constant.resize(self.bytes.len(), 0xff);
    }

    /// Bytes of which the bits under `constant` are constants. Bytes beyond the mask are variables.
    pub fn push_mixed(&mut self, bytes: &[u8], constant: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.constant.extend_from_slice(&constant[..constant.len().min(bytes.len())]);
        self.constant.resize(self.bytes.len(), 0);
    }

    /// The little-endian bytes of a field element: 255 variable bits and a constant zero, the highest.
    pub fn push_scalar(&mut self, bytes: &[u8; 32]) {
        self.push_variable(bytes);
        if let Some(last) = self.constant.last_mut() {
            *last = 0x80;
        }
    }

    /// Makes the message empty and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.constant.clear();
    }

    /// The message's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The values of [`sha256`](super::sha256), and the digest.
pub fn sha256_witness<F: PrimeField>(sink: &mut impl WitnessSink<F>, message: &Message) -> [u8; 32] {
    let mut state = IV.map(Word::constant);
    let (blocks, rest) = message.bytes.as_chunks::<64>();
    let (masks, rest_mask) = message.constant.as_chunks::<64>();
    for (block, mask) in blocks.iter().zip(masks) {
        compress(sink, &mut state, block, mask);
    }
    let mut tail = Message { bytes: rest.to_vec(), constant: rest_mask.to_vec() };
    tail.push_constant(&padding(message.bytes.len()));
    let (blocks, _) = tail.bytes.as_chunks::<64>();
    let (masks, _) = tail.constant.as_chunks::<64>();
    for (block, mask) in blocks.iter().zip(masks) {
        compress(sink, &mut state, block, mask);
    }
    let mut digest = [0; 32];
    let (words, _) = digest.as_chunks_mut::<4>();
    words.iter_mut().zip(state).for_each(|(bytes, word)| *bytes = word.value.to_be_bytes());
    digest
}

/// The values of a node of a SHA-256 tree: the children's bits, the hash, the packed digest.
pub fn hash_scalars_witness(sink: &mut impl WitnessSink<Scalar>, children: &[Scalar]) -> Scalar {
    let mut message = Message::with_capacity(32 * children.len());
    for child in children {
        message.push_scalar(&to_bits_le_witness(sink, child));
    }
    let digest = sha256_witness(sink, &message);
    pack_digest_witness(sink, digest)
}

/// [`hash_scalars_witness`] of two children.
pub fn hash_pair_witness(sink: &mut impl WitnessSink<Scalar>, left: Scalar, right: Scalar) -> Scalar {
    hash_scalars_witness(sink, &[left, right])
}

/// The values of [`compress`](super::compress) where every bit of chaining value and block is a variable, not negated; and the next
/// chaining value. Words as SHA-256 numbers them.
pub fn compress_witness<F: PrimeField>(
    sink: &mut impl WitnessSink<F>,
    state: &[u32; 8],
    block: &[u32; 16],
) -> [u32; 8] {
    let mut words = state.map(Word::variable);
    let w = extend(sink, block.map(Word::variable));
    let mut rounds = PlainRounds::from(Rounds { words, last: None });
    for (k, w) in K.iter().zip(&w) {
        rounds.step(sink, *k, w.value);
    }
    rounds.finish(sink, &mut words);
    words.map(|word| word.value)
}

/// One block: the values of [`compress`](super::compress).
fn compress<F: PrimeField>(
    sink: &mut impl WitnessSink<F>,
    state: &mut [Word; 8],
    block: &[u8; 64],
    constant: &[u8; 64],
) {
    let w = schedule(sink, block, constant);
    let mut rounds = Rounds { words: *state, last: None };
    let mut next = 0;
    // Constants last for a few rounds of a first block.
    while next < 64 && !rounds.is_plain() {
        rounds.step(sink, K[next], w[next]);
        next += 1;
    }
    if next == 64 {
        *state = rounds.finish(sink, state);
        return;
    }
    let mut plain = PlainRounds::from(rounds);
    for (k, w) in K.iter().zip(&w).skip(next) {
        plain.step(sink, *k, w.value);
    }
    plain.finish(sink, state);
}

fn schedule<F: PrimeField>(
    sink: &mut impl WitnessSink<F>,
    block: &[u8; 64],
    constant: &[u8; 64],
) -> [Word; 64] {
    let mut first = [Word::constant(0); 16];
    let (words, _) = block.as_chunks::<4>();
    let (masks, _) = constant.as_chunks::<4>();
    for ((w, bytes), mask) in first.iter_mut().zip(words).zip(masks) {
        *w = Word::new(u32::from_be_bytes(*bytes), u32::from_be_bytes(*mask));
    }
    extend(sink, first)
}

/// The message schedule from its first sixteen words.
fn extend<F: PrimeField>(sink: &mut impl WitnessSink<F>, block: [Word; 16]) -> [Word; 64] {
    let mut w = [Word::constant(0); 64];
    w[..16].copy_from_slice(&block);
    for i in 16..64 {
        let sigma0 = sigma(sink, w[i - 15], [7, 18, 3]);
        let sigma1 = sigma(sink, w[i - 2], [17, 19, 10]);
        w[i] = Word::add_many(sink, &[w[i - 16], sigma0, w[i - 7], sigma1]);
    }
    w
}

/// Two rotations and a shift, combined by exclusive or.
#[inline(always)]
fn sigma<F: PrimeField>(sink: &mut impl WitnessSink<F>, word: Word, [r1, r2, shift]: [u32; 3]) -> Word {
    if word.is_plain() {
        let first = word.value.rotate_right(r1) ^ word.value.rotate_right(r2);
        let second = first ^ (word.value >> shift);
        // Where the shift fills with constants, the second exclusive or allocates nothing.
        let kept = u64::from(second & (u32::MAX >> shift));
        sink.bits(u64::from(first) | (kept << 32), 64 - shift);
        return Word::variable(second);
    }
    word.rotr(r1).xor(sink, word.rotr(r2)).xor(sink, word.shr(shift))
}

/// The words a to h (of which a and e are those of the last round until its sums are taken) with constants among them.
struct Rounds {
    words: [Word; 8],
    last: Option<Sums>,
}

/// The operands of the next `e` and `a`.
struct Sums {
    shared: [Word; 5],
    d: Word,
    temp2: [Word; 2],
}

impl Sums {
    fn e(&self) -> [Word; 6] {
        let [h, s1, ch, k, w] = self.shared;
        [h, s1, ch, k, w, self.d]
    }

    fn a(&self) -> [Word; 7] {
        let [h, s1, ch, k, w] = self.shared;
        [h, s1, ch, k, w, self.temp2[0], self.temp2[1]]
    }
}

impl Rounds {
    /// Whether no constant or negated bit can reach any later round but by its schedule word.
    fn is_plain(&self) -> bool {
        let [a, b, c, d, e, f, g, h] = self.words;
        // The last round's sums are variables as soon as one operand has a variable bit.
        let sums_are_plain = match &self.last {
            None => a.is_plain() && e.is_plain(),
            Some(sums) => {
                let is_variable = |operands: &[Word]| operands.iter().any(|word| word.constant != u32::MAX);
                is_variable(&sums.e()) && is_variable(&sums.a())
            }
        };
        sums_are_plain && [b, c, d, f, g, h].iter().all(|word| word.is_plain())
    }

    fn step<F: PrimeField>(&mut self, sink: &mut impl WitnessSink<F>, k: u32, w: Word) {
        let [mut a, b, c, d, mut e, f, g, h] = self.words;
        if let Some(last) = &self.last {
            e = Word::add_many(sink, &last.e());
        }
        let s1 = e.rotr(6).xor(sink, e.rotr(11)).xor(sink, e.rotr(25));
        let ch = Word::ch(sink, e, f, g);
        if let Some(last) = &self.last {
            a = Word::add_many(sink, &last.a());
        }
        let s0 = a.rotr(2).xor(sink, a.rotr(13)).xor(sink, a.rotr(22));
        let maj = Word::maj(sink, a, b, c);
        self.last = Some(Sums { shared: [h, s1, ch, Word::constant(k), w], d, temp2: [s0, maj] });
        self.words = [a, a, b, c, e, e, f, g];
    }

    fn finish<F: PrimeField>(self, sink: &mut impl WitnessSink<F>, state: &[Word; 8]) -> [Word; 8] {
        let [a, b, c, d, e, f, g, h] = self.words;
        let (a, e) = match &self.last {
            None => (vec![a], vec![e]),
            Some(last) => (last.a().to_vec(), last.e().to_vec()),
        };
        let [a, e] = [(a, 0), (e, 4)].map(|(mut operands, i)| {
            operands.push(state[i]);
            operands
        });
        [
            Word::add_many(sink, &a),
            Word::add_many(sink, &[state[1], b]),
            Word::add_many(sink, &[state[2], c]),
            Word::add_many(sink, &[state[3], d]),
            Word::add_many(sink, &e),
            Word::add_many(sink, &[state[5], f]),
            Word::add_many(sink, &[state[6], g]),
            Word::add_many(sink, &[state[7], h]),
        ]
    }
}

/// The rounds once every word is a plain variable: the bulk of the work, on bare words.
struct PlainRounds {
    b: u32,
    c: u32,
    d: u32,
    f: u32,
    g: u32,
    h: u32,
    /// The next a and e, unreduced, and whether they are sums to push or words that exist.
    a: u64,
    e: u64,
    pending: bool,
}

impl From<Rounds> for PlainRounds {
    fn from(rounds: Rounds) -> Self {
        let [a, b, c, d, e, f, g, h] = rounds.words.map(|word| word.value);
        let sum = |operands: &[Word]| operands.iter().map(|word| u64::from(word.value)).sum();
        let (a, e) = match &rounds.last {
            None => (u64::from(a), u64::from(e)),
            Some(last) => (sum(&last.a()), sum(&last.e())),
        };
        Self { b, c, d, f, g, h, a, e, pending: rounds.last.is_some() }
    }
}

impl PlainRounds {
    const E_BITS: u32 = crate::uint32::sum_bits(6);
    const A_BITS: u32 = crate::uint32::sum_bits(7);

    #[inline(always)]
    fn step<F: PrimeField>(&mut self, sink: &mut impl WitnessSink<F>, k: u32, w: u32) {
        if self.pending {
            sink.bits(self.e, Self::E_BITS);
        }
        let e = self.e as u32;
        let first = e.rotate_right(6) ^ e.rotate_right(11);
        let s1 = first ^ e.rotate_right(25);
        sink.bits(u64::from(first) | (u64::from(s1) << 32), 64);
        let ch = (e & self.f) ^ (!e & self.g);
        sink.bits(u64::from(ch), 32);
        if self.pending {
            sink.bits(self.a, Self::A_BITS);
        }
        let a = self.a as u32;
        let first = a.rotate_right(2) ^ a.rotate_right(13);
        let s0 = first ^ a.rotate_right(22);
        sink.bits(u64::from(first) | (u64::from(s0) << 32), 64);
        let bc = self.b & self.c;
        let maj = (a & (self.b ^ self.c)) ^ bc;
        sink.bits(interleave(maj, bc), 64);

        let temp1 = u64::from(self.h) + u64::from(s1) + u64::from(ch) + u64::from(k) + u64::from(w);
        self.e = temp1 + u64::from(self.d);
        self.a = temp1 + u64::from(s0) + u64::from(maj);
        self.pending = true;
        (self.h, self.g, self.f) = (self.g, self.f, e);
        (self.d, self.c, self.b) = (self.c, self.b, a);
    }

    fn finish<F: PrimeField>(&self, sink: &mut impl WitnessSink<F>, state: &mut [Word; 8]) {
        let words = [
            (self.a, 8),
            (u64::from(self.b), 2),
            (u64::from(self.c), 2),
            (u64::from(self.d), 2),
            (self.e, 7),
            (u64::from(self.f), 2),
            (u64::from(self.g), 2),
            (u64::from(self.h), 2),
        ];
        for (state, (word, operands)) in state.iter_mut().zip(words) {
            let sum = word + u64::from(state.value);
            sink.bits(sum, crate::uint32::sum_bits(operands));
            *state = Word::variable(sum as u32);
        }
    }
}
