//! Where words go: reports to standard output, everything else to standard error, and with `--json` one object
//! as the last line of standard output.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::OnceLock,
};

use serde::Serialize;
use tracing_subscriber::{
    EnvFilter, Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::{failure::Failure, progress, timeline};

/// Why the machine-readable result was not written. A closed pipe is the reader's choice.
static LOST: OnceLock<Failure> = OnceLock::new();

/// Why the machine-readable result was lost, if it was.
pub fn lost() -> Option<&'static Failure> {
    LOST.get()
}

/// The two outputs and how to use them.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    json: bool,
}

impl Console {
    /// A console that reports to people, or as one JSON object.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether the result is a JSON object.
    pub fn json(&self) -> bool {
        self.json
    }

    /// A line of the report for people: standard output, or standard error with `--json`.
    pub fn say(&self, line: impl fmt::Display) {
        // A closed pipe is the reader's choice, not a failure of the work.
        progress::suspended(|| {
            let _ = if self.json {
                writeln!(io::stderr().lock(), "{line}")
            } else {
                writeln!(io::stdout().lock(), "{line}")
            };
        });
    }

    /// A labelled line of the report.
    pub fn field(&self, label: &str, value: impl fmt::Display) {
        self.say(format_args!("{label:<12} {value}"));
    }

    /// The machine-readable result; nothing without `--json`.
    pub fn result(&self, value: &impl Serialize) {
        if !self.json {
            return;
        }
        match serde_json::to_string(value) {
            Ok(line) => {
                if let Err(error) = writeln!(io::stdout().lock(), "{line}")
                    && error.kind() != io::ErrorKind::BrokenPipe
                {
                    let _ = LOST.set(Failure::io(Path::new("standard output"), &error));
                }
            }
            Err(error) => drop(writeln!(io::stderr().lock(), "error: {error}")),
        }
    }

    /// Reports a failure, to people always and to machines with `--json`.
    pub fn fail(&self, failure: &Failure) {
        let _ = writeln!(io::stderr().lock(), "error: {failure}");
        self.result(&serde_json::json!({ "error": failure }));
    }

    /// Sends `tracing` events to standard error, warnings and errors unless `RUST_LOG` says otherwise; and spans to a timeline, if
    /// there is to be one.
    pub fn install_logging(&self, timeline: Option<&Path>) -> Result<(), Failure> {
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(io::stderr().is_terminal())
            .with_writer(|| LogLine)
            .with_filter(filter);
        let stages = progress::StageLayer.with_filter(LevelFilter::INFO);
        let timeline = timeline.map(timeline::begin).transpose();
        let (timeline, failure) = match timeline {
            Ok(timeline) => (timeline, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let _ = tracing_subscriber::registry().with(lines).with(stages).with(timeline).try_init();
        failure
    }
}

/// Writes log lines above a progress bar instead of into it.
struct LogLine;

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        progress::suspended(|| io::stderr().lock().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
