//! The least time that a proof takes on a device: the multiplications of its transforms and of its sums. Products move bytes, and the
//! rest is the processor's; neither is counted.

use std::time::Duration;

use assignment::{Bitmap, PackedWitness};
use blstrs::Scalar;
use msm_gpu::{G1, G2, device::bench::floor};
use ntt_gpu::device::bench::MULTIPLICATIONS_PER_SECOND;
use r1cs::CompiledCircuit;

/// The transforms of one quotient.
const TRANSFORMS: f64 = 6.0;

/// The floors of the stages that have one.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    quotient: Duration,
    msm: Duration,
}

impl Floor {
    /// For so many proofs with witnesses like this one.
    pub fn of_proofs(circuit: &CompiledCircuit, witness: &PackedWitness<Scalar>, proofs: usize) -> Self {
        let log_n = circuit.domain_log2();
        let n = (1u64 << log_n) as f64;
        let butterflies = n / 2.0 * f64::from(log_n);
        let quotient = Duration::from_secs_f64(TRANSFORMS * butterflies / MULTIPLICATIONS_PER_SECOND);
        let (ones, is_dense) = (witness.ones(), witness.is_dense());
        let query = |density: &Bitmap| (in_both(density, is_dense), in_both(density, ones));
        let (dense, bits) = (witness.dense_values().len(), ones.count_ones());
        let ((a_dense, a_bits), (b_dense, b_bits)) =
            (query(&circuit.a_aux_density()), query(&circuit.b_aux_density()));
        let msm = floor::<G1>(1 << log_n, 0)
            + floor::<G1>(dense, bits)
            + floor::<G1>(a_dense, a_bits)
            + floor::<G1>(b_dense, b_bits)
            + floor::<G2>(b_dense, b_bits);
        let proofs = u32::try_from(proofs).unwrap_or(u32::MAX);
        Self { quotient: quotient * proofs, msm: msm * proofs }
    }

    /// The floor of a stage by its name.
    pub fn of(&self, stage: &str) -> Option<Duration> {
        match stage {
            "quotient" => Some(self.quotient),
            "msm" => Some(self.msm),
            "total" => Some(self.quotient + self.msm),
            _ => None,
        }
    }
}

fn in_both(a: &Bitmap, b: &Bitmap) -> usize {
    a.words().iter().zip(b.words()).map(|(a, b)| (a & b).count_ones() as usize).sum()
}
