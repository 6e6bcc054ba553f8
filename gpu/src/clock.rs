//! What a device did when, by its own clock.
//!
//! Code that queues work brackets it with [`Stream::span`], which does nothing until somebody records the stream with a
//! [`Clock`]. Then each bracket is a pair of events. They are read when the work is over, so that recording never makes the
//! host wait. They come as [`DeviceSpan`]s on the host's time axis, and as `tracing` spans called `device`, level debug, target
//! `gpu::clock`, whose fields `start_ns` and `end_ns` count from the [`epoch`].

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Device, Error, Event, Stream};

/// The instant that the fields of `tracing` spans count from: when it was first asked for.
pub fn epoch() -> Instant {
    static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);
    *EPOCH
}

/// A clock for some streams of one device.
#[derive(Debug)]
pub struct Clock {
    streams: Vec<Stream>,
    /// Never has work, so that an event on it is passed when it is recorded.
    idle: Stream,
}

impl Clock {
    /// A clock for these streams, which must be the device's. Their places in the slice name them in [`DeviceSpan::stream`].
    pub fn new(device: &Device, streams: &[&Stream]) -> Result<Self, Error> {
        let streams = streams.iter().map(|&stream| stream.clone()).collect();
        Ok(Self { streams, idle: device.stream()? })
    }

    /// Records the spans of the streams from now on. A stream has one recording, the latest.
    pub fn record(&self) -> Result<Recording<'_>, Error> {
        epoch();
        let base = self.idle.record()?;
        let tape = Arc::new(Tape { base, base_at: Instant::now(), marks: Mutex::default() });
        for (number, stream) in self.streams.iter().enumerate() {
            stream.recorder().set(Some((number, Arc::clone(&tape))));
        }
        Ok(Recording { clock: self, tape })
    }
}

/// Spans under way; [`read`](Self::read) it. One that is dropped records no more.
#[derive(Debug)]
pub struct Recording<'a> {
    clock: &'a Clock,
    tape: Arc<Tape>,
}

impl Recording<'_> {
    /// Spans that begin from now on belong to this stage.
    pub fn stage(&self, name: &'static str) {
        self.tape.lock().stage = name;
    }

    /// Ends the recording. Waits only for spans that are not over. They come in the order in which they ended.
    ///
    /// # Errors
    /// Those of recording, and those of the work.
    pub fn read(self) -> Result<Vec<DeviceSpan>, Error> {
        self.detach();
        let Marks { marks, failed, .. } = std::mem::take(&mut *self.tape.lock());
        let at = |event: &Event| Ok(self.tape.base_at + event.since(&self.tape.base)?);
        let spans = marks.into_iter().map(|mark| {
            let Mark { stage, work, size, stream, .. } = mark;
            Ok(DeviceSpan { stage, work, size, stream, start: at(&mark.start)?, end: at(&mark.end)? })
        });
        let mut spans = spans.collect::<Result<Vec<_>, Error>>()?;
        one_after_another(&mut spans);
        spans.iter().for_each(|span| span.trace(self.clock.idle.device().ordinal()));
        failed.map_or(Ok(spans), Err)
    }

    fn detach(&self) {
        for stream in &self.clock.streams {
            stream.recorder().clear(&self.tape);
        }
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Work of a stream, and when the device did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSpan {
    /// The stage it belongs to; empty before the first.
    pub stage: &'static str,
    /// What was done.
    pub work: &'static str,
    /// How much of it, in the work's own unit.
    pub size: u64,
    /// The stream's place among those of the clock.
    pub stream: usize,
    /// When it began.
    pub start: Instant,
    /// When it was over.
    pub end: Instant,
}

impl DeviceSpan {
    fn trace(&self, device: u32) {
        let nanoseconds = |at: Instant| at.saturating_duration_since(epoch()).as_nanos() as u64;
        let (start_ns, end_ns) = (nanoseconds(self.start), nanoseconds(self.end));
        let Self { stage, work, size, stream, .. } = *self;
        tracing::debug_span!("device", work, size, stage, device, stream, start_ns, end_ns);
    }
}

/// Puts spans in the order in which they ended. A stream does one thing after another: where several threads queued work on it, a span
/// that seems to begin within another one waited for its end.
fn one_after_another(spans: &mut [DeviceSpan]) {
    spans.sort_by_key(|span| (span.end, span.start));
    let mut ends = BTreeMap::new();
    for span in spans {
        let last = ends.insert(span.stream, span.end);
        span.start = last.map_or(span.start, |last| span.start.max(last));
    }
}

/// How long at least one of the spans was under way.
pub fn busy<'a>(spans: impl IntoIterator<Item = &'a DeviceSpan>) -> Duration {
    let mut extents: Vec<_> = spans.into_iter().map(|span| (span.start, span.end)).collect();
    extents.sort_unstable();
    let mut until = None;
    let mut sum = Duration::ZERO;
    for (start, end) in extents {
        let from = until.map_or(start, |until| start.max(until));
        sum += end.saturating_duration_since(from);
        until = Some(until.map_or(end, |until| end.max(until)));
    }
    sum
}

/// A stream's part in a recording, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Option<(usize, Arc<Tape>)>>);

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Option<(usize, Arc<Tape>)>> {
        // Each change is one assignment; a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, tape: Option<(usize, Arc<Tape>)>) {
        *self.lock() = tape;
    }

    /// Forgets this tape, but not a later one.
    fn clear(&self, tape: &Arc<Tape>) {
        self.lock().take_if(|(_, current)| Arc::ptr_eq(current, tape));
    }
}

#[derive(Debug)]
struct Tape {
    base: Event,
    base_at: Instant,
    marks: Mutex<Marks>,
}

impl Tape {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Marks {
    stage: &'static str,
    marks: Vec<Mark>,
    /// The first event that could not be recorded.
    failed: Option<Error>,
}

#[derive(Debug)]
struct Mark {
    stage: &'static str,
    work: &'static str,
    size: u64,
    stream: usize,
    start: Event,
    end: Event,
}

impl Stream {
    /// Marks the work queued until the guard is dropped, where the stream is recorded: what it is, and how much, in its own
    /// unit. Spans of one stream do not nest. Events that fail make [`Recording::read`] fail, not the work.
    pub fn span(&self, work: &'static str, size: usize) -> Span<'_> {
        let tape = self.recorder().lock().clone();
        let open = tape.and_then(|(number, tape)| {
            let stage = tape.lock().stage;
            match self.record() {
                Ok(start) => Some(Open { tape, stage, work, size: size as u64, number, start }),
                Err(error) => {
                    tape.lock().failed.get_or_insert(error);
                    None
                }
            }
        });
        Span { stream: self, open }
    }
}

/// Marks the end of work on a stream when it is dropped.
#[derive(Debug)]
#[must_use = "the work ends when this is dropped"]
pub struct Span<'a> {
    stream: &'a Stream,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    tape: Arc<Tape>,
    stage: &'static str,
    work: &'static str,
    size: u64,
    number: usize,
    start: Event,
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        let Some(Open { tape, stage, work, size, number, start }) = self.open.take() else { return };
        let end = self.stream.record();
        let mut marks = tape.lock();
        match end {
            Ok(end) => marks.marks.push(Mark { stage, work, size, stream: number, start, end }),
            Err(error) => drop(marks.failed.get_or_insert(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> DeviceSpan {
        let at = |milliseconds| epoch() + Duration::from_millis(milliseconds);
        DeviceSpan { stage: "", work: "", size: 0, stream: 0, start: at(start), end: at(end) }
    }

    #[test]
    fn spans_of_one_stream_follow_one_another() {
        // The second was queued by another thread between the events of the first.
        let mut spans = [span(0, 10), span(1, 4), span(12, 13), DeviceSpan { stream: 1, ..span(2, 9) }];
        one_after_another(&mut spans);
        let other = DeviceSpan { stream: 1, ..span(2, 9) };
        assert_eq!(spans, [span(1, 4), other, span(4, 10), span(12, 13)]);
    }

    #[test]
    fn busy_counts_overlaps_once_and_gaps_never() {
        let cases: [(&[(u64, u64)], u64); 6] = [
            (&[], 0),
            (&[(3, 5)], 2),
            (&[(3, 5), (5, 6)], 3),
            (&[(7, 9), (0, 2)], 4),
            (&[(0, 10), (2, 3), (4, 12)], 12),
            (&[(0, 4), (0, 4), (3, 3)], 4),
        ];
        for (extents, expected) in cases {
            let spans: Vec<_> = extents.iter().map(|&(start, end)| span(start, end)).collect();
            assert_eq!(busy(&spans), Duration::from_millis(expected), "{extents:?}");
        }
    }
}
