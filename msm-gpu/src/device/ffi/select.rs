//! The entry points of select.cu.

use gpu::{Read, Stream, Write};

use super::{expect, raw};

pub(crate) fn select_bytes(words: u32) -> Result<u64, gpu::Error> {
    let mut bytes = 0;
    // SAFETY: a live number to write.
    unsafe { raw::msm_select_bytes(words, &mut bytes) }.into_result()?;
    Ok(bytes)
}

/// Bitmaps on the device, of equally many words.
#[derive(Debug)]
pub(crate) struct Bitmaps<'a> {
    pub(crate) ones: Read<'a, u64>,
    pub(crate) is_dense: Read<'a, u64>,
    pub(crate) density: Option<Read<'a, u64>>,
}

impl Bitmaps<'_> {
    fn words(&self) -> Result<u32, gpu::Error> {
        let words = self.ones.len();
        for other in [Some(&self.is_dense), self.density.as_ref()].into_iter().flatten() {
            expect("a bitmap", words, other.len())?;
        }
        u32::try_from(words).map_err(|_| gpu::Error::Length {
            what: "a bitmap",
            expected: u32::MAX.into(),
            got: words as u64,
        })
    }

    fn density(&self) -> *const u64 {
        self.density.as_ref().map_or(std::ptr::null(), |read| read.pointer().cast())
    }

    /// Counts what each word holds and sums the counts; `counts` has four numbers for each word and four more.
    pub(crate) fn count(
        &self,
        counts: &Write<'_, u32>,
        temporary: &Write<'_, u8>,
        stream: &Stream,
    ) -> Result<(), gpu::Error> {
        let words = self.words()?;
        expect("the counts of a selection", 4 * (words as usize + 1), counts.len())?;
        let _span = stream.span("count scalars", 64 * words as usize);
        // SAFETY: bitmaps of `words` words, counts of one entry more, and a scratch whose length is passed; all in use on the stream.
        unsafe {
            raw::msm_select_count(
                self.ones.pointer().cast(),
                self.is_dense.pointer().cast(),
                self.density(),
                words,
                counts.pointer(),
                temporary.pointer(),
                temporary.len() as u64,
                stream.raw()?,
            )
        }
        .into_result()
    }

    /// Writes the lists, whose lengths are the totals in the last entry of `counts`.
    pub(crate) fn list(
        &self,
        counts: &Read<'_, u32>,
        totals: (usize, usize),
        ones: &Write<'_, u32>,
        dense_bases: &Write<'_, u32>,
        dense_scalars: &Write<'_, u32>,
        stream: &Stream,
    ) -> Result<(), gpu::Error> {
        let words = self.words()?;
        expect("the counts of a selection", 4 * (words as usize + 1), counts.len())?;
        expect("the list of ones", totals.0, ones.len())?;
        expect("the list of dense bases", totals.1, dense_bases.len())?;
        expect("the list of dense scalars", totals.1, dense_scalars.len())?;
        let _span = stream.span("list scalars", totals.0 + totals.1);
        // SAFETY: as in `count`; the lists have the lengths that the counts of these bitmaps add up to.
        unsafe {
            raw::msm_select_list(
                self.ones.pointer().cast(),
                self.is_dense.pointer().cast(),
                self.density(),
                words,
                counts.pointer(),
                ones.pointer().cast(),
                dense_bases.pointer().cast(),
                dense_scalars.pointer().cast(),
                stream.raw()?,
            )
        }
        .into_result()
    }
}

/// found[i] = how many entries of the rising list are below bounds[i].
pub(crate) fn find_bounds(
    list: &Read<'_, u32>,
    bounds: &Read<'_, u32>,
    found: &Write<'_, u32>,
    stream: &Stream,
) -> Result<(), gpu::Error> {
    expect("the bounds found", bounds.len(), found.len())?;
    let _span = stream.span("find bounds", bounds.len());
    // SAFETY: three buffers in use on the stream, with the lengths passed.
    unsafe {
        raw::msm_find_bounds(
            list.pointer().cast(),
            list.len() as u32,
            bounds.pointer().cast(),
            bounds.len() as u32,
            found.pointer().cast(),
            stream.raw()?,
        )
    }
    .into_result()
}
