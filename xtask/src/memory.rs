//! The process's peak memory, as the kernel counts it.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::{
    failure::{Failure, Kind},
    size::Size,
};

/// How often anonymous memory is read. The kernel keeps no peak of it, so a shorter peak can be missed.
const INTERVAL: Duration = Duration::from_millis(10);

/// Peak memory since the start of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peaks {
    /// Anonymous memory (`RssAnon`: heap and stacks, no pages of files), sampled every 10 ms. Memory pinned for a device
    /// is part of it.
    pub anonymous: Option<u64>,
    /// Everything resident, clean file pages included (`VmHWM`), kept by the kernel.
    pub resident: Option<u64>,
}

/// Samples `/proc/self/status` until dropped. Where there is no such file the peaks are absent.
pub struct Meter {
    peak: Arc<AtomicU64>,
    sampler: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Meter {
    /// Starts sampling.
    pub fn start() -> Self {
        let peak = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&peak);
        let (done, wait) = channel::<()>();
        let thread = std::thread::spawn(move || {
            while let Some(bytes) = status("RssAnon:") {
                seen.fetch_max(bytes, Ordering::Relaxed);
                if wait.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self { peak, sampler: Some((done, thread)) }
    }

    /// The peaks so far.
    pub fn peaks(&self) -> Peaks {
        let now = status("RssAnon:");
        let anonymous = now.map(|now| now.max(self.peak.load(Ordering::Relaxed)));
        Peaks { anonymous, resident: status("VmHWM:") }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let Some((done, thread)) = self.sampler.take() else { return };
        drop(done);
        let _ = thread.join();
    }
}

/// Refuses work that would need more memory than the system has to give: it would be killed half way.
pub fn ensure_available(needed: u64, work: &str) -> Result<(), Failure> {
    match read("/proc/meminfo", "MemAvailable:") {
        Some(available) if needed > available => {
            let [needed, available] = [needed, available].map(Size);
            let message = format!("{work} takes about {needed}, but only {available} are available");
            Err(Failure::new(Kind::Memory, message))
        }
        _ => Ok(()),
    }
}

/// One line of `/proc/self/status`, in bytes.
fn status(field: &str) -> Option<u64> {
    read("/proc/self/status", field)
}

fn read(file: &str, field: &str) -> Option<u64> {
    let status = fs::read_to_string(file).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    kib.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sees_an_allocation_that_is_gone_again() {
        const BYTES: usize = 64 << 20;
        let meter = Meter::start();
        let before = meter.peaks().anonymous.unwrap();
        let block = std::hint::black_box(vec![1u8; BYTES]);
        std::thread::sleep(INTERVAL * 5);
        drop(block);
        let peaks = meter.peaks();
        assert!(peaks.anonymous.unwrap() >= before + BYTES as u64 / 2);
        assert!(peaks.resident.unwrap() >= BYTES as u64);
    }
}
