//! The table of a device's times by size, which `bench ntt` and `bench msm` share.

use std::{io::Write, path::Path, time::Duration};

use gpu::{Budget, Device, Pool};
use serde::Serialize;

use super::{
    failure::failure,
    svg::{Panel, Plot, Scale},
};
use crate::{
    cmd::{Answer, Outcome},
    console::Console,
    failure::Failure,
    files::Outputs,
};

/// A table under way: each row is printed as soon as it is known.
pub struct Table {
    console: Console,
    svg: Option<Outputs>,
    rate_unit: &'static str,
    report: Report,
}

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    device: String,
    rows: Vec<Row>,
}

/// One kind of work at one size.
#[derive(Serialize)]
pub struct Row {
    /// The work.
    pub what: &'static str,
    /// The size's logarithm.
    pub log_n: u32,
    /// The median by device events.
    pub ms: f64,
    /// The time that the multiplications alone need.
    pub floor_ms: f64,
    /// `floor_ms / ms`.
    pub share: f64,
    /// In the table's unit.
    #[serde(skip)]
    pub rate: f64,
    /// Whether the work is measured at each size, so that a plot by size shows it.
    #[serde(skip)]
    pub by_size: bool,
}

/// Opens the first device, and a pool of all its memory.
pub fn open_device() -> Result<(Device, Pool), Failure> {
    Device::open(0)
        .and_then(|device| Pool::new(&device, Budget::WholeDevice).map(|pool| (device, pool)))
        .map_err(failure)
}

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Table {
    /// An empty table. The plot's file is created now, so that one that cannot be written is known before anything is measured.
    pub fn new(
        bench: &'static str,
        rate_unit: &'static str,
        device: &Device,
        svg: Option<&Path>,
        console: Console,
    ) -> Result<Self, Failure> {
        let svg = svg.map(|target| Outputs::create(&[target.to_owned()])).transpose()?;
        let device = device.info().name.clone();
        console.say(format_args!("{bench} on {device}: medians by device events"));
        console.say(format_args!(
            "{:<36} {:>5} {:>10} {:>10} {:>8} {rate_unit:>12}",
            "work", "log n", "ms", "floor ms", "% floor"
        ));
        Ok(Self { console, svg, rate_unit, report: Report { bench, device, rows: vec![] } })
    }

    /// Adds a row and prints it.
    pub fn push(&mut self, row: Row) {
        self.console.say(format_args!(
            "{:<36} {:>5} {:>10.3} {:>10.3} {:>8.1} {:>12.1}",
            row.what,
            row.log_n,
            row.ms,
            row.floor_ms,
            100.0 * row.share,
            row.rate
        ));
        self.report.rows.push(row);
    }

    /// Writes the plot and the report.
    pub fn finish(mut self) -> Outcome {
        if let Some(mut outputs) = self.svg.take() {
            let drawing = self.plot().to_string();
            outputs.fill(0, |file| file.write_all(drawing.as_bytes()))?;
            outputs.publish()?;
        }
        self.console.result(&self.report);
        Ok(Answer::Yes)
    }

    fn plot(&self) -> Plot {
        let mut names: Vec<&str> = Vec::new();
        for row in self.report.rows.iter().filter(|row| row.by_size) {
            if !names.contains(&row.what) {
                names.push(row.what);
            }
        }
        let panel = |title: String, scale, value: fn(&Row) -> f64| {
            let line = |name: &&str| {
                let rows = self.report.rows.iter().filter(|row| row.by_size && row.what == *name);
                let mut points: Vec<_> = rows.map(|row| (row.log_n, value(row))).collect();
                points.sort_unstable_by_key(|(log_n, _)| *log_n);
                points
            };
            Panel { title, scale, lines: names.iter().map(line).collect() }
        };
        Plot {
            title: format!("{} on {}, medians by size", self.report.bench, self.report.device),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            panels: vec![
                panel("time, ms".into(), Scale::Logarithmic, |row| row.ms),
                panel(format!("rate, {}", self.rate_unit), Scale::Logarithmic, |row| row.rate),
                panel("% of the floor".into(), Scale::Percent, |row| 100.0 * row.share),
            ],
        }
    }
}
