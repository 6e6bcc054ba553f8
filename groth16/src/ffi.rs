//! The boundary to the kernels of the setup, and the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::ffi::c_void;

use blstrs::Scalar;
use gpu::{Error, Fr, Read, Stream, Write};

/// `Fr` of `fr.cuh` is aligned to 16 bytes.
#[repr(C, align(16))]
struct Element(Fr);

#[allow(clippy::too_many_arguments)] // one argument for each of a kernel's own
mod raw {
    use super::{Element, c_void};

    gpu::entry_points! {
        fn groth16_powers(
            out: *mut c_void,
            base: *const Element,
            scale: *const Element,
            count: u64,
            stream: *mut c_void,
        );
        fn groth16_combine(
            a: *const c_void,
            b: *const c_void,
            c: *const c_void,
            out: *mut c_void,
            count: u64,
            of_a: *const Element,
            of_b: *const Element,
            scale: *const Element,
            stream: *mut c_void,
        );
        fn groth16_gather(
            from: *const c_void,
            density: *const c_void,
            rank: *const c_void,
            out: *mut c_void,
            count: u64,
            stream: *mut c_void,
        );
        fn groth16_find_zero(values: *const c_void, count: u64, first: *mut c_void, stream: *mut c_void);
    }
}

/// Queues `out[i] = scale·base^i`.
pub(crate) fn powers(
    stream: &Stream,
    out: &Write<'_, Fr>,
    base: &Scalar,
    scale: &Scalar,
) -> Result<(), Error> {
    let (base, scale) = (Element(Fr(*base)), Element(Fr(*scale)));
    let (to, count) = (out.pointer(), out.len() as u64);
    // SAFETY: a live buffer in use on this stream, and its length; the elements are read during the call.
    unsafe { raw::groth16_powers(to, &base, &scale, count, stream.raw()?) }.into_result()
}

/// Queues `out[i] = scale·(of_a·a[i] + of_b·b[i] + c[i])`.
pub(crate) fn combine(
    stream: &Stream,
    columns: [&Read<'_, Fr>; 3],
    [of_a, of_b, scale]: [&Scalar; 3],
    out: &Write<'_, Fr>,
) -> Result<(), Error> {
    let shortest = columns.iter().map(|column| column.len()).min().unwrap_or(0);
    expect_at_least("columns", out.len(), shortest)?;
    let [a, b, c] = columns.map(Read::pointer);
    let [of_a, of_b, scale] = [of_a, of_b, scale].map(|value| Element(Fr(*value)));
    let (count, to, queue) = (out.len() as u64, out.pointer(), stream.raw()?);
    // SAFETY: live buffers in use on this stream, of lengths checked above; the elements are read during the call.
    unsafe { raw::groth16_combine(a, b, c, to, count, &of_a, &of_b, &scale, queue) }.into_result()
}

/// Queues gathering the elements whose bit is set in the density, in order; `rank` counts the set bits before each word of the
/// density, which has as many set bits, all of them of elements, as `out` has elements.
pub(crate) fn gather(
    stream: &Stream,
    from: &Read<'_, Fr>,
    density: &Read<'_, u64>,
    rank: &Read<'_, u32>,
    out: &Write<'_, Fr>,
) -> Result<(), Error> {
    let count = from.len();
    expect_at_least("words of the density", count.div_ceil(64), density.len().min(rank.len()))?;
    let (from, density, rank) = (from.pointer(), density.pointer(), rank.pointer());
    let queue = stream.raw()?;
    // SAFETY: live buffers in use on this stream, of lengths checked above; the caller made the ranks from the density, and `out`
    // of its number of set bits.
    unsafe { raw::groth16_gather(from, density, rank, out.pointer(), count as u64, queue) }.into_result()
}

/// Queues lowering `first` to the index of the first zero.
pub(crate) fn find_zero(stream: &Stream, values: &Read<'_, Fr>, first: &Write<'_, u32>) -> Result<(), Error> {
    expect_at_least("the first zero", 1, first.len())?;
    let (count, first) = (values.len() as u64, first.pointer());
    // SAFETY: live buffers in use on this stream, and the length of one.
    unsafe { raw::groth16_find_zero(values.pointer(), count, first, stream.raw()?) }.into_result()
}

fn expect_at_least(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    match got >= expected {
        true => Ok(()),
        false => Err(Error::Length { what, expected: expected as u64, got: got as u64 }),
    }
}
