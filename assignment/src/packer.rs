//! Builds packed witnesses from pushes.

use ff::PrimeField;

use crate::{Bitmap, PackedWitness, WitnessCounts, WitnessSink};

/// Where field elements go: a vector of the packer's own, or a window of a shared one whose length is known beforehand.
enum Dense<'a, F> {
    Own(Vec<F>),
    /// Elements beyond the window are counted and dropped; the count then says that the window was wrong.
    Window {
        window: &'a mut [F],
        pushed: usize,
    },
}

/// A [`WitnessSink`] that packs what it receives.
///
/// A generator that wants to work in parallel fills several and hands them on in order with
/// [`replay`](Self::replay).
pub struct Packer<'a, F> {
    inputs: Vec<F>,
    ones: Bitmap,
    is_dense: Bitmap,
    dense: Dense<'a, F>,
}

/// A packer's content.
pub(crate) struct Packed<F> {
    pub(crate) inputs: Vec<F>,
    pub(crate) ones: Bitmap,
    pub(crate) is_dense: Bitmap,
    /// Empty if the elements went to a window.
    pub(crate) dense: Vec<F>,
}

impl<F: PrimeField> Packer<'static, F> {
    /// An empty packer.
    pub fn new() -> Self {
        Self::with_capacity(WitnessCounts::default())
    }

    /// An empty packer that holds the given numbers without growing.
    pub fn with_capacity(counts: WitnessCounts) -> Self {
        Self::build(counts, Dense::Own(Vec::with_capacity(counts.dense)))
    }

    /// The witness, with ONE before the inputs pushed.
    pub fn finish(self) -> PackedWitness<F> {
        let Packed { mut inputs, ones, is_dense, dense } = self.into_packed();
        inputs.insert(0, F::ONE);
        PackedWitness::assemble(inputs, ones, is_dense, dense)
    }

    /// Pushes everything into another sink, in order.
    pub fn replay<S: WitnessSink<F>>(&self, sink: &mut S) {
        let mut elements = match &self.dense {
            Dense::Own(dense) => dense.as_slice(),
            Dense::Window { .. } => &[],
        };
        let words = self.ones.words().iter().zip(self.is_dense.words());
        for (i, (ones, is_dense)) in words.enumerate() {
            let n = (self.ones.len() - 64 * i).min(64) as u32;
            let mut at = 0;
            while at < n {
                let rest = is_dense >> at;
                let run =
                    if rest & 1 == 1 { rest.trailing_ones() } else { rest.trailing_zeros() }.min(n - at);
                if rest & 1 == 1 {
                    let (now, later) = elements.split_at(run as usize);
                    sink.elements(now);
                    elements = later;
                } else {
                    sink.bits((ones >> at) & (u64::MAX >> (64 - run)), run);
                }
                at += run;
            }
        }
        self.inputs.iter().for_each(|value| sink.input(*value));
    }
}

impl<F: PrimeField> Default for Packer<'static, F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, F: PrimeField> Packer<'a, F> {
    /// A packer whose field elements go to `window`.
    pub(crate) fn into_window(counts: WitnessCounts, window: &'a mut [F]) -> Self {
        Self::build(counts, Dense::Window { window, pushed: 0 })
    }

    fn build(counts: WitnessCounts, dense: Dense<'a, F>) -> Self {
        Self {
            inputs: Vec::with_capacity(counts.inputs),
            ones: Bitmap::with_capacity(counts.aux),
            is_dense: Bitmap::with_capacity(counts.aux),
            dense,
        }
    }

    /// How much has been pushed.
    pub fn counts(&self) -> WitnessCounts {
        let dense = match &self.dense {
            Dense::Own(dense) => dense.len(),
            Dense::Window { pushed, .. } => *pushed,
        };
        WitnessCounts { inputs: self.inputs.len(), aux: self.ones.len(), dense }
    }

    pub(crate) fn into_packed(self) -> Packed<F> {
        let Self { inputs, ones, is_dense, dense } = self;
        let dense = match dense {
            Dense::Own(dense) => dense,
            Dense::Window { .. } => Vec::new(),
        };
        Packed { inputs, ones, is_dense, dense }
    }

    /// Appends all of `other` but its first `skip` inputs.
    pub(crate) fn append(&mut self, other: &Packer<'static, F>, skip: usize) {
        self.ones.append(&other.ones);
        self.is_dense.append(&other.is_dense);
        self.inputs.extend_from_slice(&other.inputs[skip..]);
        if let Dense::Own(dense) = &other.dense {
            self.push_dense(dense);
        }
    }

    pub(crate) fn inputs(&self) -> &[F] {
        &self.inputs
    }

    #[inline]
    fn push_dense(&mut self, values: &[F]) {
        match &mut self.dense {
            Dense::Own(dense) => dense.extend_from_slice(values),
            Dense::Window { window, pushed } => {
                if let Some(target) = window.get_mut(*pushed..*pushed + values.len()) {
                    target.copy_from_slice(values);
                }
                *pushed += values.len();
            }
        }
    }
}

impl<F: PrimeField> WitnessSink<F> for Packer<'_, F> {
    #[inline]
    fn bits(&mut self, word: u64, n: u32) {
        self.ones.push_bits(word, n as usize);
        self.is_dense.push_bits(0, n as usize);
    }

    #[inline]
    fn element(&mut self, value: F) {
        self.ones.push(false);
        self.is_dense.push(true);
        match &mut self.dense {
            Dense::Own(dense) => dense.push(value),
            Dense::Window { .. } => self.push_dense(&[value]),
        }
    }

    #[inline]
    fn elements(&mut self, values: &[F]) {
        self.ones.push_repeated(false, values.len());
        self.is_dense.push_repeated(true, values.len());
        self.push_dense(values);
    }

    fn input(&mut self, value: F) {
        self.inputs.push(value);
    }
}
