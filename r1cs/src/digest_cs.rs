//! Digest and counts of any circuit, while it is synthesised and without keeping it.

use assignment::{Assembly, Bitmap, Combination};
use blstrs::Scalar;
use ff::Field;

use crate::coefficient::CanonicalBytes;
use crate::stats::{Checkpoint, CircuitStats};
use crate::stream::{StreamHasher, with_trailer};

/// A constraint system that hashes constraints and forgets them. It keeps two bits for each variable.
///
/// Implements bellpepper-core's `ConstraintSystem`; it is not extensible. Values are not asked for. Checkpoints are taken
/// after every constraint whose number is a power of two, and on request at the end of namespaces.
///
/// # Panics
/// `enforce` panics on a variable of A or B that this system has not allocated.
pub struct DigestCS {
    stream: StreamHasher,
    bytes: CanonicalBytes,
    stats: CircuitStats,
    a_aux: Bitmap,
    b_input: Bitmap,
    b_aux: Bitmap,
    /// What each mark of the stream is for, in order.
    marks: Vec<Mark>,
    trace: Option<Trace>,
}

enum Mark {
    Checkpoint { constraints: usize, inputs: usize, aux: usize },
    Namespace(NamespaceEnd),
}

struct Trace {
    depth: usize,
    path: Vec<String>,
}

/// A circuit's digest and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitDigest {
    /// The counts.
    pub stats: CircuitStats,
    /// SHA-256 of the constraint stream and the counts: [`CompiledCircuit::digest`](crate::CompiledCircuit::digest).
    pub digest: [u8; 32],
    /// After each power of two of constraints: the stream's digest, and the numbers of inputs (with ONE) and aux
    /// allocated by then.
    pub checkpoints: Vec<(Checkpoint, usize, usize)>,
    /// The namespaces traced, as they ended.
    pub namespaces: Vec<NamespaceEnd>,
}

/// The state at the end of a namespace: the first that differs from a known good one localises a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceEnd {
    /// The names, outermost first, with slashes between.
    pub path: String,
    /// Constraints so far.
    pub constraints: usize,
    /// Inputs so far, ONE included.
    pub inputs: usize,
    /// Auxiliary variables so far.
    pub aux: usize,
    /// SHA-256 of the constraint stream so far.
    pub stream_sha256: [u8; 32],
}

impl DigestCS {
    /// A system with the input ONE.
    ///
    /// # Panics
    /// If the system refuses another thread.
    pub fn new() -> Self {
        Self {
            stream: StreamHasher::new(),
            bytes: CanonicalBytes::new(),
            stats: CircuitStats { inputs: 1, ..CircuitStats::default() },
            a_aux: Bitmap::new(),
            b_input: Bitmap::zeros(1),
            b_aux: Bitmap::new(),
            marks: vec![],
            trace: None,
        }
    }

    /// Also records the state at the end of every namespace of at most this depth.
    pub fn with_trace(depth: usize) -> Self {
        Self { trace: Some(Trace { depth, path: vec![] }), ..Self::new() }
    }

    /// The number of constraints so far.
    pub fn num_constraints(&self) -> usize {
        self.stats.constraints
    }

    /// The digest of all that was synthesised.
    pub fn finish(mut self) -> CircuitDigest {
        self.stats.a_aux_density = self.a_aux.count_ones();
        self.stats.b_input_density = self.b_input.count_ones();
        self.stats.b_aux_density = self.b_aux.count_ones();
        let CircuitStats { inputs, aux, constraints, .. } = self.stats;
        let (hasher, digests) = self.stream.finish();
        let mut checkpoints = vec![];
        let mut namespaces = vec![];
        for (mark, stream_sha256) in self.marks.into_iter().zip(digests) {
            match mark {
                Mark::Checkpoint { constraints, inputs, aux } => {
                    checkpoints.push((Checkpoint { constraints, stream_sha256 }, inputs, aux));
                }
                Mark::Namespace(end) => namespaces.push(NamespaceEnd { stream_sha256, ..end }),
            }
        }
        let digest = with_trailer(hasher, inputs, aux, constraints);
        CircuitDigest { stats: self.stats, digest, checkpoints, namespaces }
    }

    #[inline]
    fn push<L: Combination<Scalar>>(&mut self, matrix: usize, combination: &L) {
        let inputs = || combination.input_terms().filter(|(_, coefficient)| **coefficient != Scalar::ZERO);
        let aux = || combination.aux_terms().filter(|(_, coefficient)| **coefficient != Scalar::ZERO);
        let terms = inputs().count() + aux().count();
        self.stats.count_row(matrix, terms);
        self.stream.begin(terms);
        for (index, coefficient) in inputs() {
            self.stream.term(true, index, self.bytes.of(coefficient));
            if matrix == 1 {
                self.b_input.set(index);
            }
        }
        for (index, coefficient) in aux() {
            self.stream.term(false, index, self.bytes.of(coefficient));
            match matrix {
                0 => self.a_aux.set(index),
                1 => self.b_aux.set(index),
                _ => {}
            }
        }
    }
}

impl Default for DigestCS {
    fn default() -> Self {
        Self::new()
    }
}

impl Assembly<Scalar> for DigestCS {
    #[inline]
    fn new_aux<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.stats.aux += 1;
        Ok(self.stats.aux - 1)
    }

    #[inline]
    fn new_input<E>(&mut self, _: impl FnOnce() -> Result<Scalar, E>) -> Result<usize, E> {
        self.stats.inputs += 1;
        Ok(self.stats.inputs - 1)
    }

    fn constrain<L: Combination<Scalar>>(&mut self, a: &L, b: &L, c: &L) {
        self.a_aux.grow(self.stats.aux);
        self.b_aux.grow(self.stats.aux);
        self.b_input.grow(self.stats.inputs);
        self.push(0, a);
        self.push(1, b);
        self.push(2, c);
        self.stats.constraints += 1;
        let CircuitStats { constraints, inputs, aux, .. } = self.stats;
        if constraints.is_power_of_two() {
            self.marks.push(Mark::Checkpoint { constraints, inputs, aux });
            self.stream.mark();
        }
    }

    fn enter(&mut self, name: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.path.push(name());
        }
    }

    fn leave(&mut self) {
        let Some(trace) = &mut self.trace else { return };
        if trace.path.len() <= trace.depth {
            let CircuitStats { constraints, inputs, aux, .. } = self.stats;
            let path = trace.path.join("/");
            let end = NamespaceEnd { path, constraints, inputs, aux, stream_sha256: [0; 32] };
            self.marks.push(Mark::Namespace(end));
            self.stream.mark();
        }
        trace.path.pop();
    }
}

assignment::constraint_system!(bellpepper_core, [], Scalar, DigestCS);
#[cfg(feature = "bellperson-compat")]
assignment::constraint_system!(bellpepper_core_02, [], Scalar, DigestCS);
