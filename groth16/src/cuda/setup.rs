//! Test parameters from a trapdoor on a device, in chunks of points: those that [`crate::setup`] makes from the same trapdoor.

use std::ops::Range;
use std::time::Instant;

use assignment::Bitmap;
use blstrs::{G1Affine, G2Affine, Scalar};
use bytemuck::TransparentWrapper;
use ff::Field;
use gpu::{DeviceBuffer, Fr};
use group::prime::PrimeCurveAffine;
use msm_gpu::device::FixedBase;
use msm_gpu::{G1, G2, cpu};
use ntt_gpu::device::{Memory, Ntt, Polynomial};
use ntt_gpu::{Evaluations, Natural};
use r1cs::MatrixName;

use super::Workshop;
use super::query::OfInputs;
use super::target::{Target, Targets};
use crate::ffi;
use crate::secret::SecretVec;
use crate::setup::{Trapdoor, check_query};
use crate::{SetupError, ToxicWaste, VerifyingKey};

/// Device memory that a chunk takes for each point: three columns and the counters of one, scalars, points, descriptors of their
/// additions and these additions' scratch.
const CHUNK_BYTES: u64 = 560;
/// What it takes beside that.
const CHUNK_FIXED: u64 = 256 << 20;
/// Points of a chunk; a whole number of a bitmap's words.
const LEAST_CHUNK: usize = 1 << 12;
const MOST_CHUNK: usize = 1 << 24;

/// Makes all points: those of auxiliary variables go to the targets, those of inputs and the verifying key are returned. Vectors that
/// reveal the trapdoor are wiped.
pub(super) fn setup(
    workshop: &Workshop,
    waste: &ToxicWaste,
    targets: &mut Targets<'_>,
) -> Result<(VerifyingKey, OfInputs), SetupError> {
    let (rows, inputs) = (workshop.shape.rows, workshop.shape.inputs);
    let span = tracing::info_span!("setup", rows, domain = workshop.domain.size()).entered();
    let trapdoor = Trapdoor::new(waste, workshop.domain)?;
    let start = Instant::now();
    // Work before has been queued only; the wait makes the times those of the stages.
    let done = |stage: &'static str| -> Result<(), gpu::Error> {
        workshop.stream().synchronize()?;
        tracing::debug!(stage, seconds = start.elapsed().as_secs_f64(), "setup");
        Ok(())
    };
    let maker = Maker { workshop, trapdoor: &trapdoor };
    let g1 = FixedBase::<G1>::new(&workshop.msm, &G1Affine::generator(), MOST_CHUNK.min(4 * rows))?;
    maker.h(&g1, targets.h)?;
    done("h")?;
    let lagrange = maker.lagrange()?;
    done("lagrange polynomials at tau")?;
    let (ic, of_inputs) = maker.of_inputs(&lagrange)?;
    for part in maker.parts(inputs) {
        maker.columns(part, &lagrange, &g1, targets)?;
    }
    drop(g1);
    done("l, a and b in g1")?;
    let g2 = FixedBase::<G2>::new(&workshop.msm, &G2Affine::generator(), MOST_CHUNK.min(rows))?;
    for part in maker.parts(inputs) {
        let b = maker.column(MatrixName::B, part.clone(), &lagrange)?;
        let (first, scalars) = gather(workshop, &b, &workshop.densities.b_aux, part, inputs)?;
        targets.b_g2.multiply(first, &scalars, &g2, workshop)?;
    }
    drop(lagrange);
    done("b in g2")?;
    drop(span);
    Ok((trapdoor.verifying_key(ic)?, of_inputs))
}

/// Makes points from one trapdoor.
struct Maker<'a> {
    workshop: &'a Workshop,
    trapdoor: &'a Trapdoor,
}

impl Maker<'_> {
    /// Points that can be made at a time, in the memory that is left.
    fn chunk(&self) -> usize {
        let room = self.workshop.pool.available().saturating_sub(CHUNK_FIXED) / CHUNK_BYTES;
        let most = usize::try_from(room).unwrap_or(MOST_CHUNK).min(MOST_CHUNK);
        most.max(LEAST_CHUNK) & !(LEAST_CHUNK - 1)
    }

    /// The columns of auxiliary variables, in parts of a chunk.
    fn parts(&self, inputs: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (chunk, end) = (self.chunk(), inputs + self.workshop.shape.aux);
        (inputs..end).step_by(chunk).map(move |first| first..end.min(first + chunk))
    }

    /// `τ^i·t(τ)/δ · G1`.
    fn h(&self, base: &FixedBase<'_, G1>, target: &mut dyn Target<G1>) -> Result<(), SetupError> {
        let (workshop, trapdoor, stream) = (self.workshop, self.trapdoor, self.workshop.stream());
        let count = workshop.domain.size() - 1;
        let scale = trapdoor.vanishing * trapdoor.over_delta;
        let chunk = self.chunk();
        for first in (0..count).step_by(chunk) {
            let len = chunk.min(count - first);
            let mut powers = workshop.pool.allocate::<Fr>(len, stream)?.wipe_on_release();
            let scale = scale * trapdoor.tau.pow_vartime([first as u64]);
            ffi::powers(stream, &powers.write(stream)?, &trapdoor.tau, &scale)?;
            target.multiply(first, &powers, base, workshop)?;
        }
        Ok(())
    }

    /// The Lagrange polynomials at τ: the inverse transform of τ's powers, as `L_i(τ) = (1/n) Σ_k τ^k ω^(-ik)`.
    fn lagrange(&self) -> Result<DeviceBuffer<Fr>, SetupError> {
        let Workshop { pool, domain, .. } = self.workshop;
        let stream = self.workshop.stream();
        // The twiddles go when this is done.
        let ntt = Ntt::within(Memory::Tight, *domain, pool, stream)?;
        let mut powers = pool.allocate::<Fr>(domain.size(), stream)?.wipe_on_release();
        ffi::powers(stream, &powers.write(stream)?, &self.trapdoor.tau, &Scalar::ONE)?;
        let powers = Polynomial::<Evaluations, Natural>::new(*domain, powers)?;
        let lagrange = ntt.inverse(stream, powers)?;
        Ok(ntt.reorder(stream, lagrange)?.into_buffer())
    }

    /// Some variables' polynomials at τ.
    fn column(
        &self,
        matrix: MatrixName,
        part: Range<usize>,
        lagrange: &DeviceBuffer<Fr>,
    ) -> Result<DeviceBuffer<Fr>, gpu::Error> {
        let Workshop { circuit, pool, .. } = self.workshop;
        circuit.transposed_product(matrix, lagrange, part, pool, self.workshop.stream())
    }

    fn all_columns(
        &self,
        part: Range<usize>,
        lagrange: &DeviceBuffer<Fr>,
    ) -> Result<[DeviceBuffer<Fr>; 3], gpu::Error> {
        let column = |matrix| self.column(matrix, part.clone(), lagrange);
        Ok([column(MatrixName::A)?, column(MatrixName::B)?, column(MatrixName::C)?])
    }

    /// `scale·(β·A_i(τ) + α·B_i(τ) + C_i(τ))`.
    fn combine(
        &self,
        columns: &[DeviceBuffer<Fr>; 3],
        scale: &Scalar,
    ) -> Result<DeviceBuffer<Fr>, gpu::Error> {
        let (stream, [a, b, c]) = (self.workshop.stream(), columns);
        let mut out = self.workshop.pool.allocate::<Fr>(a.len(), stream)?.wipe_on_release();
        let columns = [&a.read(stream)?, &b.read(stream)?, &c.read(stream)?];
        let factors = [&self.trapdoor.beta, &self.trapdoor.alpha, scale];
        ffi::combine(stream, columns, factors, &out.write(stream)?)?;
        Ok(out)
    }

    /// The points of inputs, of which there are few, by the processor: `ic` and those of the queries.
    fn of_inputs(&self, lagrange: &DeviceBuffer<Fr>) -> Result<(Vec<G1Affine>, OfInputs), SetupError> {
        let stream = self.workshop.stream();
        let inputs = self.workshop.shape.inputs;
        let download = |column: &DeviceBuffer<Fr>| -> Result<SecretVec, SetupError> {
            let mut values = SecretVec(vec![Scalar::ZERO; inputs]);
            column.download_into(stream, 0, Fr::wrap_slice_mut(&mut values.0))?;
            Ok(values)
        };
        let columns = self.all_columns(0..inputs, lagrange)?;
        let combined = download(&self.combine(&columns, &self.trapdoor.over_gamma)?)?;
        let [a, b, _] = &columns;
        let (a, all) = (download(a)?, download(b)?);
        let in_b = &self.workshop.densities.b_inputs;
        let b = SecretVec::gather(in_b.count_ones(), &all, in_b.ones());
        check_query("A", &a.0)?;
        check_query("B", &b.0)?;
        let g1 = cpu::FixedBase::<G1>::new(&G1Affine::generator(), inputs);
        let g2 = cpu::FixedBase::<G2>::new(&G2Affine::generator(), b.0.len());
        let of_inputs = OfInputs { a: g1.multiply(&a.0), b_g1: g1.multiply(&b.0), b_g2: g2.multiply(&b.0) };
        Ok((g1.multiply(&combined.0), of_inputs))
    }

    /// The points in G1 of some columns of auxiliary variables.
    fn columns(
        &self,
        part: Range<usize>,
        lagrange: &DeviceBuffer<Fr>,
        base: &FixedBase<'_, G1>,
        targets: &mut Targets<'_>,
    ) -> Result<(), SetupError> {
        let (workshop, inputs) = (self.workshop, self.workshop.shape.inputs);
        let first = part.start - inputs;
        let columns = self.all_columns(part.clone(), lagrange)?;
        let combined = self.combine(&columns, &self.trapdoor.over_delta)?;
        let [a, b, c] = columns;
        drop(c);
        if let Some(index) = first_zero(workshop, &combined)? {
            return Err(SetupError::Unconstrained { index: first + index });
        }
        targets.l.multiply(first, &combined, base, workshop)?;
        drop(combined);
        let densities = &workshop.densities;
        for (query, column, density, target) in
            [("A", a, &densities.a_aux, &mut *targets.a), ("B", b, &densities.b_aux, &mut *targets.b_g1)]
        {
            let (first, scalars) = gather(workshop, &column, density, part.clone(), inputs)?;
            drop(column);
            if first_zero(workshop, &scalars)?.is_some() {
                return Err(SetupError::VanishesAtTau { query });
            }
            target.multiply(first, &scalars, base, workshop)?;
        }
        Ok(())
    }
}

/// Of the columns of a part, those whose variable is in the density, close together; and how many are before them.
fn gather(
    workshop: &Workshop,
    columns: &DeviceBuffer<Fr>,
    density: &Bitmap,
    part: Range<usize>,
    inputs: usize,
) -> Result<(usize, DeviceBuffer<Fr>), gpu::Error> {
    let (pool, stream) = (&workshop.pool, workshop.stream());
    // Parts begin at a word's first bit.
    let words = (part.start - inputs) / 64..(part.end - inputs).div_ceil(64);
    let (before, rest) = density.words().split_at(words.start.min(density.words().len()));
    let words = rest.get(..words.len()).unwrap_or_default();
    let ones = |words: &[u64]| words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    let mut count = 0;
    let rank = words.iter().map(|word| {
        let rank = count;
        count += word.count_ones();
        rank
    });
    let rank: Vec<u32> = rank.collect();
    let mut out = pool.allocate::<Fr>(count as usize, stream)?.wipe_on_release();
    let (words, rank) = (pool.upload(words, stream)?, pool.upload(&rank, stream)?);
    ffi::gather(
        stream,
        &columns.read(stream)?,
        &words.read(stream)?,
        &rank.read(stream)?,
        &out.write(stream)?,
    )?;
    Ok((ones(before), out))
}

/// The index of the first zero. Waits.
fn first_zero(workshop: &Workshop, values: &DeviceBuffer<Fr>) -> Result<Option<usize>, gpu::Error> {
    let stream = workshop.stream();
    let mut first = workshop.pool.upload(&[u32::MAX], stream)?;
    ffi::find_zero(stream, &values.read(stream)?, &first.write(stream)?)?;
    let mut found = [0];
    first.download_into(stream, 0, &mut found)?;
    let [index] = found;
    Ok((index != u32::MAX).then_some(index as usize))
}
