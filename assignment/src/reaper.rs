//! Deferred deallocation: large buffers are freed by one thread, off the path that leads to a proof.
//!
//! Returning gigabytes to the system takes seconds. One thread of low ambition does it; a thread for each buffer would
//! contend with the proof that runs meanwhile. The queue is bounded, so that memory waiting to be freed cannot pile up.

use std::any::Any;
use std::sync::LazyLock;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;

/// Values that wait at most. A proof defers about a dozen.
const QUEUE: usize = 64;

enum Order {
    Drop(#[allow(dead_code, reason = "owned to be dropped")] Box<dyn Any + Send>),
    Report(SyncSender<()>),
}

static REAPER: LazyLock<Option<SyncSender<Order>>> = LazyLock::new(|| {
    let (sender, orders) = sync_channel(QUEUE);
    let reap = move || {
        for order in orders {
            match order {
                Order::Drop(value) => drop(value),
                // Whoever asked may have gone.
                Order::Report(done) => drop(done.send(())),
            }
        }
    };
    thread::Builder::new().name("reaper".into()).spawn(reap).ok().map(|_| sender)
});

/// Drops `value` on the reaper thread. Drops it here if the queue is full or there is no such thread.
pub fn defer<T: Send + 'static>(value: T) {
    if let Some(reaper) = &*REAPER
        && let Err(TrySendError::Full(_)) = reaper.try_send(Order::Drop(Box::new(value)))
    {
        tracing::debug!(queue = QUEUE, "reaper's queue is full: dropped in place");
    }
}

/// Waits until everything deferred before has been dropped.
pub fn flush() {
    let (done, wait) = sync_channel(1);
    if let Some(reaper) = &*REAPER
        && reaper.send(Order::Report(done)).is_ok()
    {
        // An error means that the thread is gone, and its queue with it.
        let _ = wait.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn drops_everything_deferred() {
        let tracked = Arc::new(());
        (0..10 * QUEUE).for_each(|_| defer(tracked.clone()));
        flush();
        assert_eq!(Arc::strong_count(&tracked), 1);
    }

    #[test]
    fn drops_on_the_reaper_thread() {
        struct Witness(std::sync::mpsc::Sender<Option<String>>);
        impl Drop for Witness {
            fn drop(&mut self) {
                let _ = self.0.send(thread::current().name().map(str::to_owned));
            }
        }
        let (sender, names) = std::sync::mpsc::channel();
        flush();
        defer(Witness(sender));
        assert_eq!(names.recv().unwrap().as_deref(), Some("reaper"));
    }
}
