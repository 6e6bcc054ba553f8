//! `bench ntt`: multiplication in Fr, transforms and the quotient, on the device.

use ntt_gpu::device::{
    Memory,
    bench::{self, Measurement},
};
use rand_core::OsRng;

use super::{
    failure::failure,
    table::{Row, Table, ms, open_device},
};
use crate::{cli::Bench, cmd::Outcome, console::Console};

/// The sizes without `--log-n`.
const SIZES: std::ops::RangeInclusive<u32> = 16..=27;

/// Measures and prints the table.
pub fn run(flags: &Bench, console: Console) -> Outcome {
    let (device, pool) = open_device()?;
    let mut table = Table::new("ntt", "G mul/s", &device, flags.svg.as_deref(), console)?;
    for multiply in bench::multiply(&device, &pool, &mut OsRng).map_err(failure)? {
        table.push(Row { by_size: false, ..row(&multiply) });
    }
    for log_n in flags.sizes(SIZES) {
        for line in bench::transforms(&device, &pool, log_n, &mut OsRng).map_err(failure)? {
            table.push(row(&line));
        }
        for memory in [Memory::Ample, Memory::Tight] {
            table.push(row(&bench::quotient(&device, &pool, memory, log_n, &mut OsRng).map_err(failure)?));
        }
    }
    table.finish()
}

fn row(line: &Measurement) -> Row {
    Row {
        what: line.what,
        log_n: line.log_size,
        ms: ms(line.median),
        floor_ms: ms(line.floor()),
        share: line.share(),
        rate: line.multiplications / line.median.as_secs_f64() / 1e9,
        by_size: true,
    }
}
