//! Times multiplications on the first device and prints one line for each argument.
//!
//! An argument is `WORK,LOG_N,EXTRA,BUDGET_GIB,RUNS`, all numbers and the later ones optional: WORK counts in `Work::ALL`, the size is
//! 2^LOG_N + EXTRA, and a budget of 0 is the whole device. The budget includes bases and scalars on the device.

use gpu::{Budget, Device, Pool};
use msm_gpu::device::DeviceMsm;
use msm_gpu::device::bench::{Options, Work, measure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(0)?;
    println!(
        "{:34} {:>10} {:>8} {:>10} {:>10} {:>9} {:>6}",
        "work", "n", "budget", "device ms", "host ms", "floor ms", "share"
    );
    for argument in std::env::args().skip(1) {
        let mut parts = argument.split(',');
        let mut number = |default: usize| parts.next().map_or(Ok(default), str::parse::<usize>);
        let (work, log_n, extra, gib, runs) = (number(0)?, number(20)?, number(0)?, number(0)?, number(5)?);
        let budget = if gib == 0 { Budget::WholeDevice } else { Budget::Bytes((gib as u64) << 30) };
        let msm = DeviceMsm::new(&Pool::new(&device, budget)?)?;
        let what = *Work::ALL.get(work).ok_or("no such work")?;
        let n = (1usize << log_n) + extra;
        match measure(&msm, what, n, &Options { runs, ..Options::default() }) {
            Ok(row) => println!(
                "{:34} {n:>10} {gib:>8} {:>10.3} {:>10.3} {:>9.3} {:>5.1}%",
                what.name(),
                row.median.as_secs_f64() * 1e3,
                row.host_median.as_secs_f64() * 1e3,
                row.floor.as_secs_f64() * 1e3,
                row.share * 100.0
            ),
            Err(error) => println!("{:34} {n:>10} {gib:>8} {error}", what.name()),
        }
    }
    Ok(())
}
