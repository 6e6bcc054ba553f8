//! Test parameters from a trapdoor, straight into device memory: the points that [`crate::setup`] makes from the same trapdoor.

use std::time::Instant;

use assignment::Bitmap;
use blstrs::{G1Affine, G2Affine, Scalar};
use bytemuck::TransparentWrapper;
use ff::Field;
use gpu::{DeviceBuffer, Fr};
use group::prime::PrimeCurveAffine;
use msm_gpu::device::{FixedBase, Source};
use msm_gpu::{G1, G2, cpu};
use ntt_gpu::device::Polynomial;
use ntt_gpu::{Evaluations, Natural};
use r1cs::MatrixName;

use super::{Srs, Workshop};
use crate::ffi;
use crate::secret::SecretVec;
use crate::setup::{Trapdoor, check_query};
use crate::{Parameters, SetupError, ToxicWaste, VerifyingKey};

/// The verifying key on the host, everything else on the device. Vectors that reveal the trapdoor are wiped.
pub(crate) fn setup(workshop: &Workshop, waste: &ToxicWaste) -> Result<(VerifyingKey, Srs), SetupError> {
    let circuit = workshop.circuit.circuit();
    let (rows, inputs, aux) = (circuit.num_rows(), circuit.num_inputs(), circuit.num_aux());
    let span = tracing::info_span!("setup", rows, domain = workshop.domain.size()).entered();
    let Workshop { pool, msm, densities, .. } = workshop;
    let stream = workshop.stream();
    let start = Instant::now();
    // Each multiplication before has been queued only; the wait makes the times those of the stages.
    let done = |stage: &'static str| -> Result<(), gpu::Error> {
        stream.synchronize()?;
        tracing::debug!(stage, seconds = start.elapsed().as_secs_f64(), "setup");
        Ok(())
    };
    let trapdoor = Trapdoor::new(waste, workshop.domain)?;
    let n = workshop.domain.size();

    let g1 = FixedBase::<G1>::new(msm, &G1Affine::generator(), n + 3 * aux)?;
    let h = {
        let mut powers = pool.allocate::<Fr>(n, stream)?.wipe_on_release();
        let scale = trapdoor.vanishing * trapdoor.over_delta;
        ffi::powers(stream, &powers.write(stream)?, &trapdoor.tau, &scale, n - 1)?;
        g1.multiply(Source::Device(&powers))?
    };

    done("h")?;

    let [a, b, c] = columns_at(workshop, &trapdoor.tau)?;
    done("polynomials at tau")?;
    let of_inputs = |column: &DeviceBuffer<Fr>| -> Result<SecretVec, SetupError> {
        let mut values = SecretVec(vec![Scalar::ZERO; inputs]);
        column.download_into(stream, 0, Fr::wrap_slice_mut(&mut values.0))?;
        Ok(values)
    };
    let combined = |first: usize, count: usize, scale: &Scalar| -> Result<DeviceBuffer<Fr>, SetupError> {
        let mut out = pool.allocate::<Fr>(count, stream)?.wipe_on_release();
        let columns = [a.read(stream)?, b.read(stream)?, c.read(stream)?];
        let [a, b, c] = &columns;
        let factors = [&trapdoor.beta, &trapdoor.alpha, scale];
        ffi::combine(stream, [a, b, c], first, factors, &out.write(stream)?)?;
        drop(columns);
        Ok(out)
    };
    let on_host = cpu::FixedBase::<G1>::new(&G1Affine::generator(), inputs);
    let ic = on_host.multiply(&of_inputs(&combined(0, inputs, &trapdoor.over_gamma)?)?.0);
    let l = {
        let scalars = combined(inputs, aux, &trapdoor.over_delta)?;
        if let Some(index) = first_zero(workshop, &scalars)? {
            return Err(SetupError::Unconstrained { index });
        }
        g1.multiply(Source::Device(&scalars))?
    };
    drop(c);
    done("l")?;

    let (a, a_inputs) = {
        let scalars = gather(workshop, &a, inputs, &densities.a_aux)?;
        let of_inputs = of_inputs(&a)?;
        check_query("A", &of_inputs.0)?;
        if first_zero(workshop, &scalars)?.is_some() {
            return Err(SetupError::VanishesAtTau { query: "A" });
        }
        drop(a);
        (g1.multiply(Source::Device(&scalars))?, on_host.multiply(&of_inputs.0))
    };
    done("a")?;
    let scalars = gather(workshop, &b, inputs, &densities.b_aux)?;
    let all = of_inputs(&b)?;
    drop(b);
    let of_inputs = SecretVec(densities.b_inputs.ones().map(|i| all.0[i]).collect());
    drop(all);
    check_query("B", &of_inputs.0)?;
    if first_zero(workshop, &scalars)?.is_some() {
        return Err(SetupError::VanishesAtTau { query: "B" });
    }
    let (b_g1, b_g1_inputs) = (g1.multiply(Source::Device(&scalars))?, on_host.multiply(&of_inputs.0));
    drop((g1, on_host));
    let b_g2 = FixedBase::<G2>::new(msm, &G2Affine::generator(), scalars.len())?
        .multiply(Source::Device(&scalars))?;
    drop(scalars);
    let b_g2_inputs =
        cpu::FixedBase::<G2>::new(&G2Affine::generator(), of_inputs.0.len()).multiply(&of_inputs.0);
    done("b")?;
    drop(span);

    let vk = trapdoor.verifying_key(ic)?;
    Ok((vk, Srs { h, l, a, b_g1, b_g2, a_inputs, b_g1_inputs, b_g2_inputs }))
}

/// The parameters on the host.
pub(crate) fn parameters(workshop: &Workshop, waste: &ToxicWaste) -> Result<Parameters, SetupError> {
    let (vk, srs) = setup(workshop, waste)?;
    Ok(srs.download(vk, workshop.stream())?)
}

/// Every variable's polynomials at τ, inputs first.
///
/// The Lagrange polynomials at τ are the inverse transform of τ's powers: `L_i(τ) = (1/n) Σ_k τ^k ω^(-ik)`.
fn columns_at(workshop: &Workshop, tau: &Scalar) -> Result<[DeviceBuffer<Fr>; 3], SetupError> {
    let (pool, stream, n) = (&workshop.pool, workshop.stream(), workshop.domain.size());
    let mut powers = pool.allocate::<Fr>(n, stream)?.wipe_on_release();
    ffi::powers(stream, &powers.write(stream)?, tau, &Scalar::ONE, n)?;
    let powers = Polynomial::<Evaluations, Natural>::new(workshop.domain, powers)?;
    let lagrange = workshop.ntt.inverse(stream, powers)?;
    let lagrange = workshop.ntt.reorder(stream, lagrange)?.into_buffer();
    let circuit = workshop.circuit.circuit();
    let all = circuit.num_inputs() + circuit.num_aux();
    let column = |matrix| workshop.circuit.transposed_product(matrix, &lagrange, 0..all, pool, stream);
    Ok([column(MatrixName::A)?, column(MatrixName::B)?, column(MatrixName::C)?])
}

/// The elements from `first` on whose bit is set, close together.
fn gather(
    workshop: &Workshop,
    from: &DeviceBuffer<Fr>,
    first: usize,
    density: &Bitmap,
) -> Result<DeviceBuffer<Fr>, gpu::Error> {
    let (pool, stream) = (&workshop.pool, workshop.stream());
    let mut before = 0;
    let rank: Vec<u32> = density
        .words()
        .iter()
        .map(|word| {
            let rank = before;
            before += word.count_ones();
            rank
        })
        .collect();
    let mut out = pool.allocate::<Fr>(before as usize, stream)?.wipe_on_release();
    let (words, rank) = (pool.upload(density.words(), stream)?, pool.upload(&rank, stream)?);
    let (words, rank, from) = (words.read(stream)?, rank.read(stream)?, from.read(stream)?);
    ffi::gather(stream, &from, first, &words, &rank, density.len(), &out.write(stream)?)?;
    Ok(out)
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
