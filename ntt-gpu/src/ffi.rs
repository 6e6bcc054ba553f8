//! The boundary to the kernels, and the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::ffi::c_void;

use bytemuck::Zeroable;
use gpu::{Error, Fr, Read, Status, Stream, Write};

pub(crate) mod vector;

/// Mirrors `ntt_pass` in `pass.cuh`.
#[repr(C)]
struct Pass {
    from: *const c_void,
    factor: *const c_void,
    minuend: *const c_void,
    to: *mut c_void,
    table: *const c_void,
    tiles: u64,
    log_size: u32,
    above: u32,
    layers: u32,
    log_threads: u32,
    coset: u32,
    load: u32,
    store: u32,
    bottom_up: u32,
    inverse: u32,
    log_table: u32,
    reorder: u32,
    scale: Element,
    scale_minuend: Element,
}

/// A twiddle as multiplications take it, `FrFactor` of `fr_factor.cuh`: the canonical integer and its quotient by r.
pub(crate) type Twiddle = [Fr; 2];

/// log2 of the entries of a domain's table and of the parts of which it has one; the others' factors, and -1, stand behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableShape {
    pub(crate) log_entries: u32,
    pub(crate) log_parts: u32,
}

impl TableShape {
    /// In [`Twiddle`]s.
    pub(crate) fn length(self) -> usize {
        (1 << self.log_entries) + (1 << self.log_parts)
    }
}

/// `Fr` of `fr.cuh` is aligned to 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Element(Fr);

mod raw {
    use super::{Element, Pass, c_void};

    gpu::entry_points! {
        fn ntt_run_pass(pass: *const Pass, stream: *mut c_void);
        fn ntt_run_tiny(pass: *const Pass, stream: *mut c_void);
        fn ntt_fill_table(table: *mut c_void, log_size: u32, steps: *const Element, count: u32, stream: *mut c_void);
        fn ntt_reverse(data: *mut c_void, log_size: u32, stream: *mut c_void);
        fn ntt_multiply_chain(data: *mut c_void, length: u64, steps: u32, known: bool, stream: *mut c_void);
        fn ntt_fill_products(data: *mut c_void, factors: *const c_void, log_size: u32, low_bits: u32, stream: *mut c_void);
    }
}

/// What happens to the elements as the first pass reads them.
#[derive(Clone, Copy)]
pub(crate) enum Load<'a> {
    Plain,
    /// Multiplied by another vector.
    Product(&'a Read<'a, Fr>),
    /// Multiplied by `g^rev(position)`.
    Coset,
}

/// What happens to the elements as the last pass writes them.
#[derive(Clone, Copy)]
pub(crate) enum Store<'a> {
    Plain,
    Scaled(Fr),
    /// Multiplied by `g^-rev(position)` and a constant.
    Coset(Fr),
    /// `minuend·of_minuend - element·of_element`.
    Difference {
        minuend: &'a Read<'a, Fr>,
        of_minuend: Fr,
        of_element: Fr,
    },
}

/// Some layers of a transform.
#[derive(Clone, Copy)]
pub(crate) struct Layers {
    pub(crate) log_size: u32,
    /// Layers above the first of these.
    pub(crate) above: u32,
    /// How many: three to nine, or all of a transform of fewer than three.
    pub(crate) count: u32,
    /// From bit-reversed to natural order.
    pub(crate) bottom_up: bool,
    pub(crate) inverse: bool,
    pub(crate) coset: bool,
    /// Whether the side in bit-reversed order stands in natural order in memory: only where `from` and `to` differ, the
    /// bit-reversed side is that of this pass, and no layers are below.
    pub(crate) reorder: bool,
}

/// log2 of the threads of a block: as many as registers allow, fewer where the blocks would not fill the device.
fn log_threads(layers: &Layers) -> u32 {
    const MOST: u32 = 7;
    let least = (layers.count - 3).max(5.min(layers.log_size - 3));
    layers.log_size.saturating_sub(12).clamp(least, MOST)
}

/// Queues one pass: `to` receives the layers applied to `from`, or to itself.
pub(crate) fn run_pass(
    stream: &Stream,
    layers: &Layers,
    load: Load<'_>,
    store: Store<'_>,
    from: Option<&Read<'_, Fr>>,
    to: &Write<'_, Fr>,
    (table, shape): (&Read<'_, Twiddle>, TableShape),
) -> Result<(), Error> {
    let size = 1_usize << layers.log_size;
    let tiny = layers.log_size < 3;
    let mut pass = Pass {
        from: from.map_or(to.pointer().cast_const(), Read::pointer),
        factor: std::ptr::null(),
        minuend: std::ptr::null(),
        to: to.pointer(),
        table: table.pointer(),
        tiles: 1,
        log_size: layers.log_size,
        above: layers.above,
        layers: layers.count,
        log_threads: 0,
        coset: layers.coset.into(),
        load: 0,
        store: 0,
        bottom_up: layers.bottom_up.into(),
        inverse: layers.inverse.into(),
        log_table: shape.log_entries,
        reorder: layers.reorder.into(),
        scale: Element(Fr::zeroed()),
        scale_minuend: Element(Fr::zeroed()),
    };
    let mut lengths = vec![("the vector", to.len())];
    lengths.extend(from.map(|from| ("the source", from.len())));
    match load {
        Load::Plain => {}
        Load::Product(factor) => {
            pass.load = 1;
            pass.factor = factor.pointer();
            lengths.push(("the factor", factor.len()));
        }
        Load::Coset => pass.load = 2,
    }
    match store {
        Store::Plain => {}
        Store::Scaled(scale) => (pass.store, pass.scale) = (1, Element(scale)),
        Store::Coset(scale) => (pass.store, pass.scale) = (2, Element(scale)),
        Store::Difference { minuend, of_minuend, of_element } => {
            (pass.store, pass.scale, pass.scale_minuend) = (3, Element(of_element), Element(of_minuend));
            pass.minuend = minuend.pointer();
            lengths.push(("the minuend", minuend.len()));
        }
    }
    for (what, got) in lengths {
        if got != size {
            return Err(Error::Length { what, expected: size as u64, got: got as u64 });
        }
    }
    expect_table(shape, table.len())?;
    if shape.log_entries + shape.log_parts != layers.log_size {
        let (expected, got) = (1 << layers.log_size, 1 << (shape.log_entries + shape.log_parts));
        return Err(Error::Length { what: "the twiddles", expected, got });
    }
    if layers.reorder && pass.from == pass.to.cast_const() {
        return Err(Error::Length { what: "buffers that a pass reorders between", expected: 2, got: 1 });
    }
    let raw_stream = stream.raw()?;
    let _span = stream.span("ntt pass", size);
    if tiny {
        // SAFETY: every pointer is of a live buffer held by a guard for this stream, and has the length the kernel touches.
        return unsafe { raw::ntt_run_tiny(&pass, raw_stream) }.into_result();
    }
    pass.log_threads = log_threads(layers);
    pass.tiles = (size as u64) >> (pass.log_threads + 3);
    // SAFETY: as above; the launch shape fits, since `count` is in 3..=9 and at most `log_size`.
    unsafe { raw::ntt_run_pass(&pass, raw_stream) }.into_result()
}

/// Queues filling a table of this shape with `g^rev(j)`, where `steps[i] = g^rev(2^i)` for each bit `i` of `j`.
pub(crate) fn fill_table(
    stream: &Stream,
    table: &Write<'_, Twiddle>,
    shape: TableShape,
    steps: &[Fr],
) -> Result<(), Error> {
    expect_table(shape, table.len())?;
    let (expected, got) = (u64::from(shape.log_entries + shape.log_parts), steps.len() as u64);
    if expected != got {
        return Err(Error::Length { what: "the steps of a table of twiddles", expected, got });
    }
    let steps: Vec<Element> = steps.iter().copied().map(Element).collect();
    let (log_size, count, raw_stream) = (shape.log_entries, steps.len() as u32, stream.raw()?);
    // SAFETY: the table is live and of this shape; the steps are read before the call returns.
    unsafe { raw::ntt_fill_table(table.pointer(), log_size, steps.as_ptr(), count, raw_stream) }.into_result()
}

fn expect_table(shape: TableShape, got: usize) -> Result<(), Error> {
    let (expected, got) = (shape.length() as u64, got as u64);
    if expected == got { Ok(()) } else { Err(Error::Length { what: "the table of twiddles", expected, got }) }
}

/// Queues the bit-reversal permutation of a whole buffer.
pub(crate) fn reverse(stream: &Stream, data: &Write<'_, Fr>, log_size: u32) -> Result<(), Error> {
    expect_power(data, log_size)?;
    let _span = stream.span("bit reversal", data.len());
    // SAFETY: the buffer is live and of this length.
    unsafe { raw::ntt_reverse(data.pointer(), log_size, stream.raw()?) }.into_result()
}

/// Queues `steps` dependent multiplications for each element, by itself as it was, as a known factor or as any.
pub(crate) fn multiply_chain(
    stream: &Stream,
    data: &Write<'_, Fr>,
    steps: u32,
    known: bool,
) -> Result<(), Error> {
    let length = (data.len() / 256 * 256) as u64;
    // SAFETY: the kernel touches whole blocks of 256 elements within the buffer.
    unsafe { raw::ntt_multiply_chain(data.pointer(), length, steps, known, stream.raw()?) }.into_result()
}

/// Queues filling a buffer with products of two of `factors`.
pub(crate) fn fill_products(
    stream: &Stream,
    data: &Write<'_, Fr>,
    factors: &Read<'_, Fr>,
    log_size: u32,
) -> Result<(), Error> {
    expect_power(data, log_size)?;
    let low_bits = log_size.div_ceil(2);
    let expected = (1_u64 << low_bits) + (1 << (log_size - low_bits));
    if (factors.len() as u64) < expected {
        return Err(Error::Length { what: "the factors", expected, got: factors.len() as u64 });
    }
    // SAFETY: both buffers are live, and long enough as just checked.
    let status: Status = unsafe {
        raw::ntt_fill_products(data.pointer(), factors.pointer(), log_size, low_bits, stream.raw()?)
    };
    status.into_result()
}

fn expect_power(data: &Write<'_, Fr>, log_size: u32) -> Result<(), Error> {
    let (expected, got) = (1_u64 << log_size, data.len() as u64);
    if expected == got { Ok(()) } else { Err(Error::Length { what: "the vector", expected, got }) }
}
