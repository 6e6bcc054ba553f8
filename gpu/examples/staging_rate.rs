//! How fast pageable memory travels to a device and back: by CUDA's own way, and through pinned pieces of several sizes.
//!
//! `cargo run --release -p gpu --features cuda --example staging_rate`

use std::time::{Duration, Instant};

use gpu::{Budget, Device, DeviceBuffer, Error, Pool, Staging};

/// Runs of each kind, whose median counts.
const RUNS: usize = 7;

fn median(mut run: impl FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    run()?;
    let mut times = (0..RUNS)
        .map(|_| {
            let clock = Instant::now();
            run()?;
            Ok(clock.elapsed())
        })
        .collect::<Result<Vec<_>, Error>>()?;
    times.sort_unstable();
    Ok(times[RUNS / 2])
}

fn main() -> Result<(), Error> {
    let device = Device::open(0)?;
    let stream = device.stream()?;
    let pool = Pool::new(&device, Budget::WholeDevice)?;
    let show = |what: &str, bytes: usize, time: Duration| {
        let (ms, rate) = (time.as_secs_f64() * 1e3, bytes as f64 / time.as_secs_f64() / 1e9);
        println!("{what:<28} {:>7.1} MB {ms:>9.2} ms {rate:>6.1} GB/s", bytes as f64 / 1e6);
    };
    for bytes in [4 << 20, 87_000_000, 1 << 30] {
        let mut host: Vec<u8> = (0..bytes).map(|i| (i * i) as u8).collect();
        let mut buffer: DeviceBuffer<u8> = pool.allocate(bytes, &stream)?;
        show("pageable, to the device", bytes, median(|| buffer.upload(&stream, &host))?);
        show("pageable, back", bytes, median(|| buffer.download_into(&stream, 0, &mut host))?);
        for (pieces, kib) in [(4, 16384), (16, 4096), (32, 2048), (64, 1024), (128, 512)] {
            let staging = Staging::with_pieces(&device, pieces, kib << 10);
            let to = median(|| {
                staging.upload_at(&stream, &mut buffer, 0, &host)?;
                stream.synchronize()
            })?;
            show(&format!("{pieces} x {kib} KiB, to the device"), bytes, to);
            let back = median(|| staging.download_into(&stream, &buffer, 0, &mut host))?;
            show(&format!("{pieces} x {kib} KiB, back"), bytes, back);
        }
    }
    let clock = Instant::now();
    Staging::new(&device).reserve()?;
    println!("pinning {:.1} ms", clock.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
