//! The process's peak memory, as the kernel counts it.

use std::{
    fs,
    path::Path,
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

/// What the system, a control group or a limit of the process has to give.
pub fn available() -> Option<u64> {
    [read("/proc/meminfo", "MemAvailable:"), address_space(), control_groups()].into_iter().flatten().min()
}

/// Refuses work that would need more memory than there is [`available`]: it would be killed half way.
pub fn ensure_available(needed: u64, work: &str) -> Result<(), Failure> {
    ensure_within(needed, None, work)
}

/// The same, and no more than a budget.
pub fn ensure_within(needed: u64, budget: Option<u64>, work: &str) -> Result<(), Failure> {
    let (limit, which, flag) = match (available(), budget) {
        (Some(available), budget) if budget.is_none_or(|budget| available < budget) => {
            (available, "available", None)
        }
        (_, Some(budget)) => (budget, "allowed", Some("--host-memory")),
        (_, None) => return Ok(()),
    };
    if needed <= limit {
        return Ok(());
    }
    let [needed, limit] = [needed, limit].map(Size);
    let message = format!("{work} takes about {needed}, but only {limit} are {which}");
    let failure = Failure::new(Kind::Memory, message);
    Err(match flag {
        Some(flag) => failure.at(flag),
        None => failure,
    })
}

/// What `RLIMIT_AS` leaves.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    Some(address_space_limit(&limits)?.saturating_sub(status("VmSize:")?))
}

/// The soft limit; none if it is `unlimited`.
fn address_space_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the process's control group and those around it leave, by version 2 of control groups.
fn control_groups() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let all = Path::new(own).ancestors().map(|group| root.join(group));
    all.filter_map(|group| control_group(&group)).min()
}

/// What one group leaves; pages of files can be taken from it, and so do not count.
fn control_group(group: &Path) -> Option<u64> {
    let text = |name: &str| fs::read_to_string(group.join(name)).ok();
    let max: u64 = text("memory.max")?.trim().parse().ok()?;
    let current: u64 = text("memory.current")?.trim().parse().ok()?;
    let stat = text("memory.stat").unwrap_or_default();
    let of_files = |field: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(' '));
        line.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0)
    };
    let used = current.saturating_sub(of_files("active_file") + of_files("inactive_file"));
    Some(max.saturating_sub(used))
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
    fn limits_of_address_space() {
        let of = |soft: &str| {
            format!(
                "Max cpu time  unlimited  unlimited  seconds\nMax address space  {soft}  unlimited  bytes\n"
            )
        };
        assert_eq!(address_space_limit(&of("4294967296")), Some(1 << 32));
        assert_eq!(address_space_limit(&of("unlimited")), None);
    }

    #[test]
    fn limits_of_control_groups() {
        let group = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        assert_eq!(control_group(group.path()), None);
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        assert_eq!(control_group(group.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(control_group(group.path()), Some(300));
        write("memory.stat", "anon 1\nactive_file 100\ninactive_file 200\n");
        assert_eq!(control_group(group.path()), Some(600));
    }

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
