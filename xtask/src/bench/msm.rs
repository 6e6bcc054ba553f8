//! `bench msm`: sums over G1 and G2 and multiples of a fixed base, on the device.

use msm_gpu::device::{
    DeviceMsm,
    bench::{Options, Work, measure},
};
use rand_core::{OsRng, RngCore};

use super::{
    failure::failure,
    table::{Row, Table, ms, open_device},
};
use crate::{cli::Bench, cmd::Outcome, console::Console};

/// The sizes without `--log-n`.
const SIZES: std::ops::RangeInclusive<u32> = 16..=26;

/// Measures and prints the table.
pub fn run(flags: &Bench, console: Console) -> Outcome {
    let (device, pool) = open_device()?;
    let msm = DeviceMsm::new(&pool).map_err(failure)?;
    let mut table = Table::new("msm", "M scalars/s", &device, flags.svg.as_deref(), console)?;
    let mut options = Options::default();
    if let Some(runs) = flags.runs {
        options.runs = runs as usize;
    }
    for what in Work::ALL {
        for log_n in flags.sizes(SIZES) {
            // Other inputs at each size and in each run of the program.
            options.seed = u64::from(OsRng.next_u32());
            let line = measure(&msm, what, 1 << log_n, &options).map_err(failure)?;
            table.push(Row {
                what: what.name(),
                log_n,
                ms: ms(line.median),
                floor_ms: ms(line.floor),
                share: line.share,
                rate: line.rate / 1e6,
                by_size: true,
            });
        }
    }
    table.finish()
}
