//! What native witness generators push into.

use ff::PrimeField;

/// Receives a witness in allocation order, knowing of each auxiliary value whether it is a bit or a field element.
///
/// The kind is structural: it belongs to the circuit, not to the value. A field element that happens to be 0 or 1
/// is pushed with [`element`](Self::element) all the same, so that offsets are the same for every witness.
pub trait WitnessSink<F: PrimeField> {
    /// The next auxiliary variables are the `n <= 64` low bits of `word`, least significant first.
    /// Bits of `word` above `n` must be zero.
    fn bits(&mut self, word: u64, n: u32);

    /// The next auxiliary variable is one bit.
    fn bit(&mut self, bit: bool) {
        self.bits(bit as u64, 1);
    }

    /// The next auxiliary variable is a field element.
    fn element(&mut self, value: F);

    /// The next auxiliary variables are field elements.
    fn elements(&mut self, values: &[F]) {
        values.iter().for_each(|value| self.element(*value));
    }

    /// The next public input (the constant ONE is not pushed).
    fn input(&mut self, value: F);
}
