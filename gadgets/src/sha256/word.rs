//! A 32-bit word of the native side: values, and how the constraint side represents each bit.

use assignment::WitnessSink;
use ff::PrimeField;

use crate::uint32::sum_bits;

/// A word, and for each bit whether it is a constant, a variable, or the negation of a variable.
///
/// The constraint side folds constants, which decides what is allocated; these masks do the same for 32 bits at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub value: u32,
    /// One for a constant.
    pub constant: u32,
    /// One for the negation of a variable. Zero for constants.
    negated: u32,
}

impl std::ops::Not for Word {
    type Output = Self;

    fn not(self) -> Self {
        Self { value: !self.value, constant: self.constant, negated: !self.negated & !self.constant }
    }
}

impl Word {
    pub fn new(value: u32, constant: u32) -> Self {
        Self { value, constant, negated: 0 }
    }

    pub fn constant(value: u32) -> Self {
        Self::new(value, u32::MAX)
    }

    pub fn variable(value: u32) -> Self {
        Self::new(value, 0)
    }

    /// Whether all bits are variables as they stand.
    pub fn is_plain(self) -> bool {
        self.constant | self.negated == 0
    }

    fn map(self, f: impl Fn(u32) -> u32) -> Self {
        Self { value: f(self.value), constant: f(self.constant), negated: f(self.negated) }
    }

    pub fn rotr(self, by: u32) -> Self {
        self.map(|word| word.rotate_right(by))
    }

    pub fn shr(self, by: u32) -> Self {
        let filled = !(u32::MAX >> by);
        let shifted = self.map(|word| word >> by);
        Self { constant: shifted.constant | filled, ..shifted }
    }

    fn zeros(self) -> u32 {
        self.constant & !self.value
    }

    fn ones(self) -> u32 {
        self.constant & self.value
    }

    pub fn xor<F: PrimeField>(self, sink: &mut impl WitnessSink<F>, other: Self) -> Self {
        let both = !(self.constant | other.constant);
        let value = self.value ^ other.value;
        let negated = self.negated ^ other.negated;
        // The variable is the exclusive or of the operands' variables.
        push_where(sink, u64::from(value ^ negated), u64::from(both));
        // A constant one negates, and a constant has no negation of its own.
        let flipped = negated ^ self.ones() ^ other.ones();
        let constant = self.constant & other.constant;
        Self { value, constant, negated: flipped & !constant }
    }

    /// The conjunction, and where it is a variable of its own rather than an operand or a constant.
    fn and(self, other: Self) -> (Self, u32) {
        let allocated = !(self.constant | other.constant);
        let constant = self.zeros() | other.zeros() | (self.constant & other.constant);
        let negated = (self.ones() & other.negated) | (other.ones() & self.negated);
        (Self { value: self.value & other.value, constant, negated }, allocated)
    }

    /// The counterpart of [`choose`](crate::boolean::choose), bit by bit.
    pub fn ch<F: PrimeField>(sink: &mut impl WitnessSink<F>, a: Self, b: Self, c: Self) -> Self {
        let value = (a.value & b.value) ^ (!a.value & c.value);
        if a.constant | b.constant | c.constant == 0 {
            sink.bits(u64::from(value), 32);
            return Self::variable(value);
        }
        let mut cases = Cases::new();
        cases.take(a.constant & b.constant & c.constant, (Self::constant(value), 0));
        cases.take(a.zeros(), (c, 0));
        cases.take(b.zeros(), (!a).and(c));
        cases.take(c.zeros(), a.and(b));
        cases.take(c.ones(), not(a.and(!b)));
        cases.take(b.ones(), not((!a).and(!c)));
        cases.take(u32::MAX, (Self::variable(value), u32::MAX));
        // The value of the conjunctions' own variables, which some cases negate.
        push_where(sink, u64::from(cases.result.value ^ cases.inverted), u64::from(cases.allocated));
        cases.result
    }

    /// The counterpart of [`majority`](crate::boolean::majority), bit by bit.
    pub fn maj<F: PrimeField>(sink: &mut impl WitnessSink<F>, a: Self, b: Self, c: Self) -> Self {
        let bc = b.value & c.value;
        let value = (a.value & (b.value ^ c.value)) ^ bc;
        if a.constant | b.constant | c.constant == 0 {
            sink.bits(interleave(value, bc), 64);
            return Self::variable(value);
        }
        let mut cases = Cases::new();
        cases.take(a.constant & b.constant & c.constant, (Self::constant(value), 0));
        cases.take(a.zeros(), b.and(c));
        cases.take(b.zeros(), a.and(c));
        cases.take(c.zeros(), a.and(b));
        cases.take(c.ones(), not((!a).and(!b)));
        cases.take(b.ones(), not((!a).and(!c)));
        cases.take(a.ones(), not((!b).and(!c)));
        let general = cases.rest;
        cases.take(u32::MAX, (Self::variable(value), u32::MAX));
        let first = cases.result.value ^ cases.inverted;
        push_where(sink, interleave(first, bc), interleave(cases.allocated, general));
        cases.result
    }

    /// The counterpart of [`UInt32::addmany`](crate::uint32::UInt32::addmany).
    pub fn add_many<F: PrimeField>(sink: &mut impl WitnessSink<F>, operands: &[Self]) -> Self {
        let sum: u64 = operands.iter().map(|operand| u64::from(operand.value)).sum();
        if operands.iter().all(|operand| operand.constant == u32::MAX) {
            return Self::constant(sum as u32);
        }
        sink.bits(sum, sum_bits(operands.len()));
        Self::variable(sum as u32)
    }
}

/// The negation of a conjunction: the variable is still the conjunction's.
fn not((word, allocated): (Word, u32)) -> (Word, u32, u32) {
    // A conjunction's own variable is never negated before, so that it is afterwards.
    (!word, allocated, allocated)
}

/// The outcome of a chain of cases, each taking the bits that none before took.
struct Cases {
    rest: u32,
    result: Word,
    allocated: u32,
    /// Where the allocated variable is the negation of the result.
    inverted: u32,
}

impl Cases {
    fn new() -> Self {
        Self { rest: u32::MAX, result: Word::variable(0), allocated: 0, inverted: 0 }
    }

    fn take(&mut self, condition: u32, outcome: impl Into<Outcome>) {
        let Outcome { word, allocated, inverted } = outcome.into();
        let taken = self.rest & condition;
        self.rest &= !taken;
        self.result.value |= word.value & taken;
        self.result.constant |= word.constant & taken;
        self.result.negated |= word.negated & taken;
        self.allocated |= allocated & taken;
        self.inverted |= inverted & taken;
    }
}

struct Outcome {
    word: Word,
    allocated: u32,
    inverted: u32,
}

impl From<(Word, u32)> for Outcome {
    fn from((word, allocated): (Word, u32)) -> Self {
        Self { word, allocated, inverted: 0 }
    }
}

impl From<(Word, u32, u32)> for Outcome {
    fn from((word, allocated, inverted): (Word, u32, u32)) -> Self {
        Self { word, allocated, inverted }
    }
}

/// Pushes the bits of `value` under `mask`, lowest first.
fn push_where<F: PrimeField>(sink: &mut impl WitnessSink<F>, value: u64, mut mask: u64) {
    let (mut packed, mut count) = (0, 0);
    // Masks consist of few runs of ones.
    while mask != 0 {
        let start = mask.trailing_zeros();
        let run = (mask >> start).trailing_ones();
        let ones = u64::MAX >> (64 - run);
        packed |= ((value >> start) & ones) << count;
        count += run;
        mask &= !(ones << start);
    }
    if count > 0 {
        sink.bits(packed, count);
    }
}

/// `even` at the even positions, `odd` at the odd ones.
pub(super) fn interleave(even: u32, odd: u32) -> u64 {
    spread(even) | (spread(odd) << 1)
}

fn spread(word: u32) -> u64 {
    let mut x = u64::from(word);
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | (x << 2)) & 0x3333_3333_3333_3333;
    (x | (x << 1)) & 0x5555_5555_5555_5555
}
