//! From `tracing` to a trace.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Map, Value};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::trace::{Label, Trace, Track, now_ns};

/// The target of spans that a device's clock has timed.
const DEVICE: &str = "gpu::clock";

/// Records spans and events into a trace.
pub struct Recorder {
    trace: Arc<Mutex<Trace>>,
}

impl Recorder {
    pub fn new(trace: Arc<Mutex<Trace>>) -> Self {
        Self { trace }
    }

    fn lock(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This thread's number in traces.
fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

/// The values of a span or an event.
#[derive(Default)]
struct Values(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let mut values = Values::default();
        attributes.record(&mut values);
        let metadata = attributes.metadata();
        if metadata.target() == DEVICE {
            if let Some((track, label, start_ns, end_ns)) = values.on_device(metadata) {
                self.lock().span(track, label, start_ns, end_ns);
            }
            return;
        }
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(values);
        }
    }

    fn on_record(&self, id: &span::Id, record: &span::Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(values) = span.extensions_mut().get_mut::<Values>()
        {
            record.record(values);
        }
    }

    fn on_enter(&self, id: &span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if span.metadata().target() == DEVICE {
            return;
        }
        let label = span.extensions().get::<Values>().map(|values| values.label(span.metadata()));
        self.lock().enter(thread(), id.into_u64(), label.unwrap_or_default(), now_ns());
    }

    fn on_exit(&self, id: &span::Id, _: Context<'_, S>) {
        let end_ns = now_ns();
        self.lock().exit(thread(), id.into_u64(), end_ns);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut values = Values::default();
        event.record(&mut values);
        let mut label = values.label(event.metadata());
        // An event's own name is the line that it stands in.
        label.name = match label.values.remove("message") {
            Some(Value::String(message)) => message,
            _ => event.metadata().target().to_owned(),
        };
        self.lock().instant(thread(), label, now_ns());
    }
}

impl Values {
    /// A span's name, with its first text if it has one: "sum h".
    fn label(&self, metadata: &'static Metadata<'static>) -> Label {
        let texts = metadata.fields().iter().filter_map(|field| self.0.get(field.name())?.as_str());
        let mut name = metadata.name().to_owned();
        if let Some(text) = texts.into_iter().next() {
            name.push(' ');
            name.push_str(text);
        }
        Label { name, category: metadata.target(), values: self.0.clone() }
    }

    /// Work that a device's clock has timed.
    fn on_device(mut self, metadata: &'static Metadata<'static>) -> Option<(Track, Label, u64, u64)> {
        let mut number = |name| self.0.remove(name).and_then(|value| value.as_u64());
        let track = Track::Stream { device: number("device")?, stream: number("stream")? };
        let (start_ns, end_ns) = (number("start_ns")?, number("end_ns")?);
        let name = self.0.remove("work")?.as_str()?.to_owned();
        Some((track, Label { name, category: metadata.target(), values: self.0 }, start_ns, end_ns))
    }

    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }
}
