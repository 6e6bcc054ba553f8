//! The entry point of decode.cuh.

use std::ops::Range;

use gpu::{Stream, Write};

use super::{DeviceCurve, Kernels, expect, within};

/// What stands for the least index of a bad point while there is none.
pub(crate) const NO_BAD_POINT: u32 = u32::MAX;

/// Decodes points `range` of the buffer where they lie; the first of them has this index. Lowers `bad` to the index of a bad one.
pub(crate) fn decode<C: DeviceCurve>(
    points: &Write<'_, C::Words>,
    range: Range<usize>,
    index: usize,
    bad: &Write<'_, u32>,
    stream: &Stream,
) -> Result<(), gpu::Error> {
    within("the points to decode", points.len(), range.start, range.len())?;
    within("the indices of points", NO_BAD_POINT as usize, index, range.len())?;
    expect("the index of a bad point", 1, bad.len())?;
    let first = points.pointer().cast::<C::Words>().wrapping_add(range.start);
    let _span = stream.span("decode points", range.len());
    // SAFETY: the points and the index exist, as checked, and are in use on the stream.
    unsafe {
        C::Kernels::decode(
            first.cast(),
            range.len() as u32,
            index as u32,
            bad.pointer().cast(),
            stream.raw()?,
        )
    }
    .into_result()
}
