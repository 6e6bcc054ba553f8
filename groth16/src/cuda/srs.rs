//! Parameters in device memory.

use blstrs::{G1Affine, G2Affine};
use gpu::{DeviceBuffer, Stream};
use msm_gpu::device::DeviceCurve;
use msm_gpu::{G1, G2};

use super::Workshop;
use crate::{Parameters, VerifyingKey};

type Points<C> = DeviceBuffer<<C as DeviceCurve>::Words>;

/// The points of a circuit's parameters. Those of inputs are few and stay on the host.
#[derive(Debug)]
pub(crate) struct Srs {
    /// One more than there are, at infinity, so that the quotient's coefficients fit it as they are.
    pub(super) h: Points<G1>,
    pub(super) l: Points<G1>,
    pub(super) a: Points<G1>,
    pub(super) b_g1: Points<G1>,
    pub(super) b_g2: Points<G2>,
    pub(super) a_inputs: Vec<G1Affine>,
    pub(super) b_g1_inputs: Vec<G1Affine>,
    pub(super) b_g2_inputs: Vec<G2Affine>,
}

impl Srs {
    /// Copies parameters of the circuit's shape to the device.
    pub(super) fn upload(workshop: &Workshop, parameters: &Parameters) -> Result<Self, gpu::Error> {
        fn points<C: DeviceCurve>(from: &[C::Affine], workshop: &Workshop) -> Result<Points<C>, gpu::Error> {
            workshop.msm.staging().upload(&workshop.pool, C::words(from), workshop.stream())
        }
        let inputs = workshop.densities.b_inputs.len();
        let in_b = workshop.densities.b_inputs.count_ones();
        let mut h = workshop.pool.allocate(parameters.h.len() + 1, workshop.stream())?;
        workshop.msm.staging().upload_at(workshop.stream(), &mut h, 0, G1::words(&parameters.h))?;
        h.upload_at(workshop.stream(), parameters.h.len(), G1::words(&[G1Affine::default()]))?;
        // The lengths were checked with the shape.
        let (a_inputs, a) = parameters.a.split_at(inputs.min(parameters.a.len()));
        let (b_g1_inputs, b_g1) = parameters.b_g1.split_at(in_b.min(parameters.b_g1.len()));
        let (b_g2_inputs, b_g2) = parameters.b_g2.split_at(in_b.min(parameters.b_g2.len()));
        Ok(Self {
            h,
            l: points::<G1>(&parameters.l, workshop)?,
            a: points::<G1>(a, workshop)?,
            b_g1: points::<G1>(b_g1, workshop)?,
            b_g2: points::<G2>(b_g2, workshop)?,
            a_inputs: a_inputs.to_vec(),
            b_g1_inputs: b_g1_inputs.to_vec(),
            b_g2_inputs: b_g2_inputs.to_vec(),
        })
    }

    /// Copies the points to the host.
    pub(super) fn download(&self, vk: VerifyingKey, stream: &Stream) -> Result<Parameters, gpu::Error> {
        fn points<C: DeviceCurve>(
            inputs: &[C::Affine],
            rest: &Points<C>,
            keep: usize,
            stream: &Stream,
        ) -> Result<Vec<C::Affine>, gpu::Error> {
            let mut out = vec![C::Affine::default(); inputs.len() + keep];
            let (of_inputs, of_rest) = out.split_at_mut(inputs.len());
            of_inputs.copy_from_slice(inputs);
            let mut words = vec![bytemuck::Zeroable::zeroed(); (1 << 20).min(keep)];
            let size = words.len().max(1);
            for (number, target) in of_rest.chunks_mut(size).enumerate() {
                let words = &mut words[..target.len()];
                rest.download_into(stream, number * size, words)?;
                target.copy_from_slice(C::affine(words));
            }
            Ok(out)
        }
        Ok(Parameters {
            vk,
            h: points::<G1>(&[], &self.h, self.h.len() - 1, stream)?,
            l: points::<G1>(&[], &self.l, self.l.len(), stream)?,
            a: points::<G1>(&self.a_inputs, &self.a, self.a.len(), stream)?,
            b_g1: points::<G1>(&self.b_g1_inputs, &self.b_g1, self.b_g1.len(), stream)?,
            b_g2: points::<G2>(&self.b_g2_inputs, &self.b_g2, self.b_g2.len(), stream)?,
        })
    }
}
