//! The events of a trace, and their form as JSON: Chrome's trace event format, as an object.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use serde::Serialize;
use serde_json::{Map, Value, json};

/// A trace of hours would not fit into a viewer; what comes after so many events is counted only.
const CAPACITY: usize = 1 << 19;
/// The process that the host's threads belong to; that of device N is this plus 1 plus N.
const HOST: u64 = 1;

/// Where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A thread of this process, by its number here.
    Thread(u64),
    /// A stream of a device.
    Stream { device: u64, stream: u64 },
}

/// A name and the values that go with it.
#[derive(Clone, Debug, Default)]
pub struct Label {
    pub name: String,
    pub category: &'static str,
    pub values: Map<String, Value>,
}

/// A span that is under way on a thread.
#[derive(Debug)]
struct Open {
    id: u64,
    label: Label,
    start_ns: u64,
}

/// What has been recorded so far. Times are in nanoseconds since [`gpu::clock::epoch`].
#[derive(Debug)]
pub struct Trace {
    events: Vec<Event>,
    threads: BTreeMap<u64, Thread>,
    capacity: usize,
    lost: u64,
}

#[derive(Debug, Default)]
struct Thread {
    name: String,
    open: Vec<Open>,
}

#[derive(Debug)]
struct Event {
    track: Track,
    label: Label,
    start_ns: u64,
    /// None of what has no duration.
    end_ns: Option<u64>,
}

/// Now, on the trace's axis.
pub fn now_ns() -> u64 {
    Instant::now().saturating_duration_since(gpu::clock::epoch()).as_nanos() as u64
}

impl Trace {
    /// An empty one.
    pub fn new() -> Self {
        // The axis begins here.
        gpu::clock::epoch();
        Self { events: vec![], threads: BTreeMap::new(), capacity: CAPACITY, lost: 0 }
    }

    /// One that records nothing.
    pub fn closed() -> Self {
        Self { capacity: 0, ..Self::new() }
    }

    /// How many events found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A span begins on a thread. A thread without a name takes that of its first span.
    pub fn enter(&mut self, thread: u64, id: u64, label: Label, start_ns: u64) {
        let thread = self.thread(thread, &label.name);
        thread.open.push(Open { id, label, start_ns });
    }

    /// The span that was entered last under this number ends.
    pub fn exit(&mut self, number: u64, id: u64, end_ns: u64) {
        let Some(thread) = self.threads.get_mut(&number) else { return };
        let Some(place) = thread.open.iter().rposition(|open| open.id == id) else { return };
        let Open { label, start_ns, .. } = thread.open.remove(place);
        self.span(Track::Thread(number), label, start_ns, end_ns);
    }

    /// A whole span.
    pub fn span(&mut self, track: Track, label: Label, start_ns: u64, end_ns: u64) {
        self.push(Event { track, label, start_ns, end_ns: Some(end_ns) });
    }

    /// Something without a duration.
    pub fn instant(&mut self, thread: u64, label: Label, at_ns: u64) {
        self.thread(thread, &label.name);
        self.push(Event { track: Track::Thread(thread), label, start_ns: at_ns, end_ns: None });
    }

    fn thread(&mut self, number: u64, otherwise: &str) -> &mut Thread {
        self.threads.entry(number).or_insert_with(|| {
            let name = std::thread::current().name().unwrap_or(otherwise).to_owned();
            Thread { name, open: vec![] }
        })
    }

    fn push(&mut self, event: Event) {
        if self.events.len() < self.capacity {
            self.events.push(event);
        } else {
            self.lost += 1;
        }
    }

    /// The trace as it is written. What is still under way ends here.
    pub fn finish(mut self) -> File {
        let end_ns = now_ns();
        for (number, thread) in std::mem::take(&mut self.threads) {
            for Open { label, start_ns, .. } in thread.open {
                self.span(Track::Thread(number), label, start_ns, end_ns);
            }
            self.threads.insert(number, Thread { name: thread.name, open: vec![] });
        }
        // On each track in order of time, the outer one of two that begin together first.
        self.events.sort_by_key(|event| (event.track, event.start_ns, std::cmp::Reverse(event.end_ns)));
        let mut records = self.names();
        records.extend(self.events.into_iter().map(Record::of));
        let lost = self.lost;
        let program = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
        File {
            trace_events: records,
            display_time_unit: "ms",
            other_data: json!({ "program": program, "lost": lost }),
        }
    }

    /// What processes and threads are called.
    fn names(&self) -> Vec<Record> {
        let mut records = vec![Record::name("process_name", HOST, None, "host")];
        for (number, thread) in &self.threads {
            records.push(Record::name("thread_name", HOST, Some(*number), &thread.name));
        }
        let streams: BTreeSet<Track> = self.events.iter().map(|event| event.track).collect();
        let mut last = None;
        for track in streams {
            let Track::Stream { device, stream } = track else { continue };
            let (process, _) = track.numbers();
            if last.replace(device) != Some(device) {
                records.push(Record::name("process_name", process, None, &format!("device {device}")));
            }
            records.push(Record::name("thread_name", process, Some(stream), &format!("stream {stream}")));
        }
        records
    }
}

impl Track {
    /// Process and thread.
    fn numbers(self) -> (u64, u64) {
        match self {
            Self::Thread(thread) => (HOST, thread),
            Self::Stream { device, stream } => (HOST + 1 + device, stream),
        }
    }
}

/// The file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    trace_events: Vec<Record>,
    display_time_unit: &'static str,
    other_data: Value,
}

/// An event of the format. Times are in microseconds.
#[derive(Debug, Serialize)]
struct Record {
    ph: &'static str,
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'static str,
    pid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// How far an instant event reaches: its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

impl Record {
    fn name(what: &str, pid: u64, tid: Option<u64>, name: &str) -> Self {
        let args = Map::from_iter([("name".to_owned(), name.into())]);
        Self { ph: "M", name: what.to_owned(), cat: "", pid, tid, ts: None, dur: None, s: None, args }
    }

    fn of(Event { track, label, start_ns, end_ns }: Event) -> Self {
        let (pid, tid) = track.numbers();
        let microseconds = |ns: u64| ns as f64 / 1e3;
        let (ph, s) = if end_ns.is_some() { ("X", None) } else { ("i", Some("t")) };
        Self {
            ph,
            name: label.name,
            cat: label.category,
            pid,
            tid: Some(tid),
            ts: Some(microseconds(start_ns)),
            dur: end_ns.map(|end_ns| microseconds(end_ns.saturating_sub(start_ns))),
            s,
            args: label.values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: &str) -> Label {
        Label { name: name.to_owned(), ..Label::default() }
    }

    fn events(trace: Trace) -> Vec<Value> {
        let file = serde_json::to_value(trace.finish()).unwrap();
        file["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn spans_end_with_their_own_enter_and_open_ones_at_the_end() {
        let mut trace = Trace::new();
        trace.enter(7, 1, label("outer"), 1_000);
        trace.enter(7, 2, label("inner"), 2_000);
        trace.exit(7, 2, 3_500);
        trace.exit(7, 9, 3_600);
        trace.exit(8, 1, 3_700);
        trace.span(Track::Stream { device: 0, stream: 1 }, label("copy"), 2_000, 2_250);
        let events = events(trace);
        let spans: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["outer", "inner", "copy"]);
        assert_eq!((&spans[1]["ts"], &spans[1]["dur"]), (&json!(2.0), &json!(1.5)));
        assert!(spans[0]["dur"].as_f64().is_some_and(|dur| dur >= 0.0));
        assert_eq!((&spans[2]["pid"], &spans[2]["tid"]), (&json!(2), &json!(1)));
        let named = |what: &str, pid: u64| {
            let of = events.iter().filter(move |event| event["name"] == what && event["pid"] == pid);
            of.map(|event| event["args"]["name"].as_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!([named("process_name", 1), named("process_name", 2)], [["host"], ["device 0"]]);
        assert_eq!(named("thread_name", 2), ["stream 1"]);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut trace = Trace { capacity: 1, ..Trace::new() };
        trace.instant(1, label("first"), 5);
        trace.instant(1, label("second"), 6);
        assert_eq!(trace.lost(), 1);
        let file = serde_json::to_value(trace.finish()).unwrap();
        assert_eq!(file["otherData"]["lost"], 1);
    }
}
