//! The numbers of a circuit that its parameters have to match.

use assignment::Bitmap;
use ntt_gpu::Domain;
use r1cs::CompiledCircuit;

use crate::{ParameterError, Section};

/// How many points of which kind a circuit's parameters have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Inputs, ONE included.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// Constraints and one row for each input.
    pub rows: usize,
    /// Auxiliary variables that occur in A.
    pub a_aux: usize,
    /// Inputs that occur in B.
    pub b_inputs: usize,
    /// Auxiliary variables that occur in B.
    pub b_aux: usize,
}

impl Shape {
    /// The number of values of the evaluation domain, `n`: the least power of two that holds all rows.
    pub fn domain_size(&self) -> usize {
        self.rows.next_power_of_two()
    }

    /// How many points a section has.
    pub(crate) fn points(&self, section: Section) -> usize {
        match section {
            Section::Ic => self.inputs,
            Section::H => self.domain_size() - 1,
            Section::L => self.aux,
            Section::A => self.inputs + self.a_aux,
            Section::BG1 | Section::BG2 => self.b_inputs + self.b_aux,
            _ => 1,
        }
    }

    /// The bytes of a parameter file of this shape.
    pub fn file_size(&self) -> u64 {
        let g1 = [Section::Ic, Section::H, Section::L, Section::A, Section::BG1];
        file_size(g1.map(|section| self.points(section)).iter().sum(), self.points(Section::BG2))
    }

    /// Where the points of a query begin in a parameter file of this shape.
    pub(crate) fn offset(&self, query: Section) -> u64 {
        let before = |section: &Section| *section < query;
        let g1 = [Section::Ic, Section::H, Section::L, Section::A, Section::BG1];
        let (mut sections, mut points) = (1, 0);
        for section in g1.iter().filter(|section| before(section)) {
            sections += 1;
            points += self.points(*section);
        }
        KEY_POINTS + 4 * sections + 96 * points as u64
    }

    /// How many points a prover on a device has of a query: those of auxiliary variables, as those of inputs stay on the host. To H
    /// belongs one more point, at infinity, so that a quotient's coefficients fit it as they are.
    pub(crate) fn query_points(&self, query: Section) -> usize {
        match query {
            Section::H => self.domain_size(),
            query => self.points(query) - self.input_points(query),
        }
    }

    /// The bytes of these.
    pub(crate) fn query_bytes(&self, query: Section) -> u64 {
        let bytes = if query == Section::BG2 { 192 } else { 96 };
        bytes * self.query_points(query) as u64
    }

    /// How many of a section's points are of inputs; they come first.
    pub(crate) fn input_points(&self, query: Section) -> usize {
        match query {
            Section::A | Section::Ic => self.inputs,
            Section::BG1 | Section::BG2 => self.b_inputs,
            _ => 0,
        }
    }

    /// That a section has as many points as it should.
    pub(crate) fn check(&self, section: Section, got: usize) -> Result<(), ParameterError> {
        match self.points(section) {
            expected if expected == got => Ok(()),
            expected => Err(ParameterError::Shape { section, expected, got }),
        }
    }

    /// The evaluation domain.
    pub fn domain(&self) -> Result<Domain, ntt_gpu::Error> {
        Domain::covering(self.rows)
    }
}

/// Bytes of a key's six points.
const KEY_POINTS: u64 = 3 * 96 + 3 * 192;

/// The bytes of a parameter file with these numbers of points in its sections: the key's six points, six lengths, the points.
pub(crate) fn file_size(g1: usize, g2: usize) -> u64 {
    KEY_POINTS + 6 * 4 + 96 * g1 as u64 + 192 * g2 as u64
}

/// Which variables have points in the queries. Fixed by the circuit.
#[derive(Debug, Clone)]
pub(crate) struct Densities {
    pub(crate) a_aux: Bitmap,
    pub(crate) b_inputs: Bitmap,
    pub(crate) b_aux: Bitmap,
}

impl Densities {
    pub(crate) fn of(circuit: &CompiledCircuit) -> Self {
        Self {
            a_aux: circuit.a_aux_density(),
            b_inputs: circuit.b_input_density(),
            b_aux: circuit.b_aux_density(),
        }
    }

    pub(crate) fn shape(&self, rows: usize) -> Shape {
        Shape {
            inputs: self.b_inputs.len(),
            aux: self.a_aux.len(),
            rows,
            a_aux: self.a_aux.count_ones(),
            b_inputs: self.b_inputs.count_ones(),
            b_aux: self.b_aux.count_ones(),
        }
    }
}

impl From<&CompiledCircuit> for Shape {
    fn from(circuit: &CompiledCircuit) -> Self {
        Densities::of(circuit).shape(circuit.num_rows())
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    /// The size that `porep-32GiB.params` of Filecoin's ceremony has.
    #[test]
    fn a_production_file_has_its_published_size() {
        let (inputs, constraints) = (328, 130_278_541);
        let (aux, a_aux, b_aux) = (130_169_893, 129_753_292, 33_112_281);
        let shape = Shape { inputs, aux, rows: constraints + inputs, a_aux, b_inputs: 1, b_aux };
        assert_eq!(shape.file_size(), 47_373_928_632);
    }
}
