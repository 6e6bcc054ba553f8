//! Counts that tell circuits apart, and the digest that settles it.

use blstrs::Scalar;

use crate::compiled::CompiledCircuit;
use crate::stream::{StreamHasher, with_trailer};

/// What is known of a circuit's size. None of it counts the input rows, but for the domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CircuitStats {
    /// Inputs, ONE included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// Constraints.
    pub constraints: usize,
    /// Terms of A, B and C.
    pub nnz: [u64; 3],
    /// Rows of A, B and C without terms.
    pub empty_rows: [u64; 3],
    /// The most terms of a row of A, B and C.
    pub max_terms: [usize; 3],
    /// Auxiliary variables that occur in A.
    pub a_aux_density: usize,
    /// Inputs that occur in B.
    pub b_input_density: usize,
    /// Auxiliary variables that occur in B.
    pub b_aux_density: usize,
}

impl CircuitStats {
    /// The logarithm of the least power of two that holds a row for each constraint and each input.
    pub fn domain_log2(&self) -> u32 {
        (self.constraints + self.inputs).next_power_of_two().trailing_zeros()
    }

    pub(crate) fn count_row(&mut self, matrix: usize, terms: usize) {
        self.nnz[matrix] += terms as u64;
        self.empty_rows[matrix] += u64::from(terms == 0);
        self.max_terms[matrix] = self.max_terms[matrix].max(terms);
    }
}

/// The digest of a prefix of the constraint stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// How many constraints the stream holds.
    pub constraints: usize,
    /// SHA-256 of the stream so far.
    pub stream_sha256: [u8; 32],
}

impl CompiledCircuit {
    /// Counts of the whole circuit, from those of the prefix and the unit.
    pub fn stats(&self) -> CircuitStats {
        let mut stats = CircuitStats {
            inputs: self.num_inputs(),
            aux: self.num_aux(),
            constraints: self.num_constraints(),
            a_aux_density: self.a_aux_density().count_ones(),
            b_input_density: self.b_input_density().count_ones(),
            b_aux_density: self.b_aux_density().count_ones(),
            ..CircuitStats::default()
        };
        for matrix in 0..3 {
            let mut unit = CircuitStats::default();
            let lengths = |block: &crate::matrix::Block, stats: &mut CircuitStats| {
                block.matrices[matrix].lengths().for_each(|n| stats.count_row(matrix, n as usize));
            };
            lengths(&self.prefix, &mut stats);
            lengths(&self.unit, &mut unit);
            stats.nnz[matrix] += self.units as u64 * unit.nnz[matrix];
            stats.empty_rows[matrix] += self.units as u64 * unit.empty_rows[matrix];
            stats.max_terms[matrix] = stats.max_terms[matrix].max(unit.max_terms[matrix]);
        }
        stats
    }

    /// The digest, if it is known: it was computed here, or came with the file.
    pub fn known_digest(&self) -> Option<[u8; 32]> {
        self.digest.get().copied()
    }

    /// SHA-256 of the whole circuit, expanded: the constraint stream, then the numbers of inputs with ONE, of aux and of
    /// constraints. Equal exactly for equal constraint systems, whatever their compiled form. Takes as long as hashing
    /// 41 bytes for each term does, the first time.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.digest_with(|_| ()))
    }

    /// [`digest`](Self::digest), computed afresh, calling `progress` now and then with the number of constraints done.
    pub fn digest_with(&self, progress: impl FnMut(usize)) -> [u8; 32] {
        let stream = self.stream(self.num_constraints(), &[], progress);
        with_trailer(stream.finish().0, self.num_inputs(), self.num_aux(), self.num_constraints())
    }

    /// The digests of the constraint stream after each of these numbers of constraints (ascending, without those that
    /// exceed the circuit).
    pub fn checkpoints(&self, constraints: &[usize]) -> Vec<Checkpoint> {
        let wanted: Vec<_> =
            constraints.iter().copied().filter(|n| (1..=self.num_constraints()).contains(n)).collect();
        let stream = self.stream(wanted.last().copied().unwrap_or(0), &wanted, |_| ());
        let marks = stream.finish().1;
        let checkpoints = wanted.into_iter().zip(marks);
        checkpoints.map(|(constraints, stream_sha256)| Checkpoint { constraints, stream_sha256 }).collect()
    }

    /// Streams the first constraints.
    fn stream(&self, end: usize, marks: &[usize], mut progress: impl FnMut(usize)) -> StreamHasher {
        let bytes: Vec<_> = self.coefficients.iter().map(Scalar::to_bytes_le).collect();
        let num_inputs = self.num_inputs();
        let mut stream = StreamHasher::new();
        let mut marks = marks.iter().peekable();
        let mut rows = self.rows(0..end);
        while let Some(row) = rows.next() {
            for terms in [row.a, row.b, row.c] {
                stream.begin(terms.len());
                for term in terms {
                    let column = term.column as usize;
                    let (is_input, index) = match column.checked_sub(num_inputs) {
                        None => (true, column),
                        Some(aux) => (false, aux),
                    };
                    stream.term(is_input, index, &bytes[term.coefficient as usize]);
                }
            }
            let done = row.index + 1;
            while marks.next_if_eq(&&done).is_some() {
                stream.mark();
            }
            if done.is_multiple_of(1 << 20) {
                progress(done);
            }
        }
        stream
    }
}
