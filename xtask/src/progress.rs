//! A progress bar for work that takes more than two seconds; on a terminal only.

use std::{
    io::{self, IsTerminal},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::{
    Subscriber,
    span::{self, EnteredSpan},
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// The bar on the screen, if any.
static CURRENT: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn current() -> MutexGuard<'static, Option<ProgressBar>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `write` with the bar out of the way.
pub fn suspended<T>(write: impl FnOnce() -> T) -> T {
    let bar = current().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// One phase of a command under way; its bar goes when this is dropped. In a timeline it is a span.
pub struct Progress {
    _span: EnteredSpan,
    bar: ProgressBar,
    reveal: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work of `total` equal parts, or of an unknown number of them.
    pub fn start(label: &str, total: Option<u64>) -> Self {
        let _span = tracing::debug_span!("phase", label).entered();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if !io::stderr().is_terminal() {
            return Self { _span, bar, reveal: None };
        }
        let template = match total {
            Some(_) => "{prefix} [{bar:30}] {pos}/{len} {elapsed} {msg}",
            None => "{prefix} {spinner} {elapsed} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(label.to_owned());
        *current() = Some(bar.clone());
        let (done, wait) = channel::<()>();
        let hidden = bar.clone();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                hidden.set_draw_target(ProgressDrawTarget::stderr());
                hidden.enable_steady_tick(Duration::from_millis(200));
            }
        });
        Self { _span, bar, reveal: Some((done, thread)) }
    }

    /// `parts` more of the total are done.
    pub fn advance(&self, parts: u64) {
        self.bar.inc(parts);
    }

    /// So many parts of the total are done.
    pub fn reach(&self, parts: u64) {
        self.bar.set_position(parts);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((done, thread)) = self.reveal.take() else { return };
        drop(done);
        let _ = thread.join();
        self.bar.finish_and_clear();
        *current() = None;
    }
}

/// Shows on the bar which stage the libraries are in, from the spans they open.
pub struct StageLayer;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for StageLayer {
    fn on_enter(&self, id: &span::Id, context: Context<'_, S>) {
        show(context.span(id));
    }

    fn on_close(&self, id: span::Id, context: Context<'_, S>) {
        show(context.span(&id).and_then(|span| span.parent()));
    }
}

fn show<'a, S: LookupSpan<'a>>(span: Option<SpanRef<'a, S>>) {
    if let (Some(bar), Some(span)) = (current().as_ref(), span) {
        bar.set_message(span.name());
    }
}
