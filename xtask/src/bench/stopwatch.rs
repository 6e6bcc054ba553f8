//! Time and instructions of one thread.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use perf_event::{Builder, Counter, events::Hardware};
use rustix::time::{ClockId, clock_gettime};

/// What one piece of work cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The thread's time on a processor. On a shared machine this is the figure to compare.
    pub cpu_ms: f64,
    /// Elapsed time.
    pub wall_ms: f64,
    /// Instructions of the thread outside the kernel, where the machine counts them.
    pub instructions: Option<u64>,
}

/// Measures work on the thread that made it.
pub struct Stopwatch {
    #[cfg(target_os = "linux")]
    instructions: Option<Counter>,
}

impl Stopwatch {
    /// A stopwatch that counts instructions where the kernel and the processor let it: virtual machines mostly do not.
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            instructions: Builder::new().kind(Hardware::INSTRUCTIONS).build().ok(),
        }
    }

    /// Whether instructions are counted.
    pub fn counts_instructions(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.instructions.is_some();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    /// Runs `work`.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> (T, Cost) {
        self.start_counting();
        let (cpu, started) = (thread_time(), Instant::now());
        let value = work();
        let (elapsed, cpu) = (started.elapsed(), thread_time().saturating_sub(cpu));
        let instructions = self.stop_counting();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        (value, Cost { cpu_ms: ms(cpu), wall_ms: ms(elapsed), instructions })
    }

    #[cfg(target_os = "linux")]
    fn start_counting(&mut self) {
        // A counter that fails is not read later either.
        self.instructions = self
            .instructions
            .take()
            .and_then(|mut counter| counter.reset().and_then(|()| counter.enable()).ok().map(|()| counter));
    }

    #[cfg(target_os = "linux")]
    fn stop_counting(&mut self) -> Option<u64> {
        let counter = self.instructions.as_mut()?;
        counter.disable().and_then(|()| counter.read()).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn start_counting(&mut self) {}

    #[cfg(not(target_os = "linux"))]
    fn stop_counting(&mut self) -> Option<u64> {
        None
    }
}

/// The time that this thread has spent on a processor.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

/// The time that all threads of this process have spent on a processor.
pub fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_no_processor() {
        let mut stopwatch = Stopwatch::new();
        let ((), cost) = stopwatch.time(|| std::thread::sleep(Duration::from_millis(50)));
        assert!(cost.wall_ms >= 50.0 && cost.cpu_ms < 25.0, "{cost:?}");
        assert_eq!(cost.instructions.is_some(), stopwatch.counts_instructions());
    }

    #[test]
    fn more_work_costs_more() {
        let work = |n: u64| (0..n).fold(1u64, |x, i| std::hint::black_box(x.wrapping_mul(i | 1)));
        let mut stopwatch = Stopwatch::new();
        let [few, many] = [1_000_000, 50_000_000].map(|n| stopwatch.time(|| work(n)).1);
        assert!(many.cpu_ms > few.cpu_ms, "{few:?}, {many:?}");
        assert!(many.instructions >= few.instructions, "{few:?}, {many:?}");
    }
}
