//! `--timeline`: the run as a trace that Chrome (`about:tracing`) and Perfetto (ui.perfetto.dev) show.
//!
//! It has the `tracing` spans of all crates by thread, and what the device did on a track of its own, on the same axis. The crate
//! tracing-chrome is not used because it stamps every span itself: a device's spans become known, with their times, when the
//! work is over.

mod layer;
mod trace;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use crate::{
    failure::{Failure, Kind},
    files::Outputs,
};
use trace::Trace;

/// The trace being recorded, and its file.
static CURRENT: Mutex<Option<Timeline>> = Mutex::new(None);

struct Timeline {
    trace: Arc<Mutex<Trace>>,
    path: PathBuf,
    output: Outputs,
}

/// Creates the file, under a temporary name, and answers the layer that records.
pub fn begin<S>(path: &Path) -> Result<impl Layer<S> + use<S>, Failure>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let output = Outputs::create(&[path.to_owned()])?;
    let trace = Arc::new(Mutex::new(Trace::new()));
    let layer = layer::Recorder::new(Arc::clone(&trace));
    let timeline = Timeline { trace, path: path.to_owned(), output };
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(timeline);
    Ok(layer.with_filter(filter_fn(is_recorded)))
}

/// All spans but those of single steps, and what is said to people.
fn is_recorded(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= if metadata.is_span() { Level::DEBUG } else { Level::INFO }
}

/// Ends the recording and gives the file its name. Does nothing where nothing is recorded, or not any more.
pub fn publish() -> Result<(), Failure> {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Timeline { trace, path, mut output }) = current else { return Ok(()) };
    let trace =
        std::mem::replace(&mut *trace.lock().unwrap_or_else(PoisonError::into_inner), Trace::closed());
    if trace.lost() > 0 {
        tracing::warn!(path = %path.display(), lost = trace.lost(), "the timeline is full: it lacks what came last");
    }
    let json = serde_json::to_vec(&trace.finish()).map_err(|error| Failure::new(Kind::Internal, error))?;
    output.fill(0, |out| std::io::Write::write_all(out, &json))?;
    output.publish()
}
