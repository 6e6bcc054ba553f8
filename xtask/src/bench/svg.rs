//! Plots by size, as SVG text.

use std::fmt::{self, Display, Formatter};

/// How a panel's vertical axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From one of 1, 2, 5 times a power of ten to another.
    Logarithmic,
    /// From 0 to 100, or to the next multiple of 20 above all values.
    Percent,
}

/// One quantity by size: a line for each name of the plot, whose points are (log2 of the size, value).
pub struct Panel {
    /// The quantity and its unit.
    pub title: String,
    /// The vertical axis.
    pub scale: Scale,
    /// As many as the plot has names.
    pub lines: Vec<Vec<(u32, f64)>>,
}

/// Panels side by side, with one legend.
pub struct Plot {
    /// What is plotted, and where it was measured.
    pub title: String,
    /// The lines' names.
    pub names: Vec<String>,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// Distinguishable with the common kinds of colour blindness (Okabe and Ito), dark enough for a white ground.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#a07800"];
const PANEL: f64 = 400.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 340.0;
const LEGEND: f64 = 396.0;
const LEGEND_COLUMNS: usize = 3;
const LEGEND_STEP: f64 = 20.0;

impl Display for Plot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = PANEL * self.panels.len() as f64;
        let legend_rows = self.names.len().div_ceil(LEGEND_COLUMNS);
        let height = LEGEND + LEGEND_STEP * legend_rows as f64;
        writeln!(
            f,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="12" fill="#222">"##
        )?;
        writeln!(f, r##"<rect width="{width}" height="{height}" fill="#fff"/>"##)?;
        writeln!(f, r#"<text x="{LEFT}" y="26" font-size="16">{}</text>"#, Escaped(&self.title))?;
        for (index, panel) in self.panels.iter().enumerate() {
            writeln!(f, r#"<g transform="translate({} 0)">"#, PANEL * index as f64)?;
            panel.draw(f)?;
            writeln!(f, "</g>")?;
        }
        for (index, name) in self.names.iter().enumerate() {
            let x = LEFT + width / LEGEND_COLUMNS as f64 * (index % LEGEND_COLUMNS) as f64;
            let y = LEGEND + LEGEND_STEP * (index / LEGEND_COLUMNS) as f64;
            let (colour, end, middle, base) = (colour(index), x + 24.0, x + 12.0, y + 4.0);
            writeln!(f, r#"<path d="M{x} {y}H{end}" stroke="{colour}" stroke-width="2"/>"#)?;
            writeln!(f, r#"<circle cx="{middle}" cy="{y}" r="3" fill="{colour}"/>"#)?;
            writeln!(f, r#"<text x="{}" y="{base}">{}</text>"#, end + 6.0, Escaped(name))?;
        }
        writeln!(f, "</svg>")
    }
}

impl Panel {
    fn draw(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let points = || self.lines.iter().flatten().filter(|(_, y)| y.is_finite() && *y > 0.0);
        let middle = (LEFT + PANEL - RIGHT) / 2.0;
        writeln!(f, r#"<text x="{LEFT}" y="{}" font-size="13">{}</text>"#, TOP - 14.0, Escaped(&self.title))?;
        writeln!(f, r#"<text x="{middle}" y="{}" text-anchor="middle">n</text>"#, BOTTOM + 34.0)?;
        let Some(first) = points().map(|(x, _)| *x).min() else { return Ok(()) };
        let last = points().map(|(x, _)| *x).max().unwrap_or(first);
        let low = points().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
        let high = points().map(|(_, y)| *y).fold(0.0, f64::max);
        let axis = Axis::new(self.scale, low, high);
        // A single size stands in the middle.
        let (start, end) = if first == last { (first - 1, last + 1) } else { (first, last) };
        let x_of = |x: u32| LEFT + (PANEL - LEFT - RIGHT) * f64::from(x - start) / f64::from(end - start);
        let right = PANEL - RIGHT;

        for tick in &axis.ticks {
            let (y, label) = (axis.position(*tick), Label(*tick));
            writeln!(f, r##"<path d="M{LEFT} {y:.1}H{right}" stroke="#ddd"/>"##)?;
            writeln!(f, r#"<text x="{}" y="{:.1}" text-anchor="end">{label}</text>"#, LEFT - 6.0, y + 4.0)?;
        }
        for size in first..=last {
            writeln!(f, r##"<path d="M{0:.1} {TOP}V{BOTTOM}" stroke="#eee"/>"##, x_of(size))?;
            writeln!(
                f,
                r#"<text x="{:.1}" y="{}" text-anchor="middle">2<tspan dy="-5" font-size="9">{size}</tspan></text>"#,
                x_of(size),
                BOTTOM + 18.0
            )?;
        }
        writeln!(f, r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{right}" fill="none" stroke="#222"/>"##)?;
        for (index, line) in self.lines.iter().enumerate() {
            let colour = colour(index);
            let drawn: Vec<_> = line
                .iter()
                .filter(|(_, y)| y.is_finite() && *y > 0.0)
                .map(|(x, y)| (x_of(*x), axis.position(*y)))
                .collect();
            let path: Vec<_> = drawn.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            writeln!(
                f,
                r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
                path.join(" ")
            )?;
            for (x, y) in drawn {
                writeln!(f, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#)?;
            }
        }
        Ok(())
    }
}

/// A vertical axis that covers all values.
struct Axis {
    scale: Scale,
    /// Ascending, at least two; the first and the last are the axis's ends.
    ticks: Vec<f64>,
}

impl Axis {
    /// `low` and `high` are positive.
    fn new(scale: Scale, low: f64, high: f64) -> Self {
        let ticks = match scale {
            Scale::Percent => {
                let steps = ((high / 20.0).ceil() as u32).max(5);
                (0..=steps).map(|step| f64::from(20 * step)).collect()
            }
            Scale::Logarithmic => {
                let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
                let all = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(decade)));
                let mut ticks: Vec<f64> = all.collect();
                // The last tick at or below all values, and the first one at or above them but not the same.
                let start = ticks.iter().rposition(|tick| *tick <= low).unwrap_or(0);
                ticks.drain(..start);
                let end = ticks.iter().skip(1).position(|tick| *tick >= high);
                ticks.truncate(end.map_or(ticks.len(), |index| index + 2));
                ticks
            }
        };
        Self { scale, ticks }
    }

    fn position(&self, value: f64) -> f64 {
        let along = |tick: f64| if self.scale == Scale::Logarithmic { tick.log10() } else { tick };
        let [low, high] =
            [self.ticks.first(), self.ticks.last()].map(|end| along(end.copied().unwrap_or(1.0)));
        BOTTOM - (BOTTOM - TOP) * (along(value) - low) / (high - low)
    }
}

/// A tick's value without digits that say nothing.
struct Label(f64);

impl Display for Label {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let decimals = (-self.0.max(f64::MIN_POSITIVE).log10().floor()).clamp(0.0, 9.0) as usize;
        let decimals = if self.0 == 0.0 { 0 } else { decimals };
        write!(f, "{:.decimals$}", self.0)
    }
}

/// Text as XML has it.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            c => write!(f, "{c}"),
        })
    }
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_covers_the_values_tightly() {
        let ticks = |low, high| Axis::new(Scale::Logarithmic, low, high).ticks;
        let labels = |low, high| ticks(low, high).iter().map(|t| Label(*t).to_string()).collect::<Vec<_>>();
        assert_eq!(labels(0.03, 0.7), ["0.02", "0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(30.0, 60.0), ["20", "50", "100"]);
        // Of one value, which may be a tick itself.
        assert_eq!(labels(10.0, 10.0), ["10", "20"]);
        assert_eq!(labels(7.0, 7.0), ["5", "10"]);
        for (low, high) in [(0.001, 9e4), (0.99, 1.01), (2.0, 5.0), (4.9, 5.1)] {
            let ticks = ticks(low, high);
            assert!(ticks[0] <= low && high <= ticks[ticks.len() - 1], "{low} {high} {ticks:?}");
        }
    }

    #[test]
    fn percentages_go_beyond_a_hundred_where_values_do() {
        assert_eq!(Axis::new(Scale::Percent, 3.0, 70.0).ticks.last(), Some(&100.0));
        assert_eq!(Axis::new(Scale::Percent, 3.0, 104.0).ticks.last(), Some(&120.0));
    }

    #[test]
    fn points_stand_where_their_values_say() {
        let panel = Panel {
            title: "a < b".into(),
            scale: Scale::Percent,
            lines: vec![vec![(18, 0.0), (18, 50.0), (20, 100.0)], vec![(19, f64::NAN)]],
        };
        let plot = Plot { title: "t & u".into(), names: vec!["a".into(), "b".into()], panels: vec![panel] };
        let text = plot.to_string();
        // Zero and no number at all are left out; the others are half way up and at the top, at both ends.
        assert!(text.contains(r#"<polyline points="52.0,205.0 386.0,70.0""#), "{text}");
        assert!(text.contains(r#"<polyline points="" "#), "{text}");
        assert!(text.contains("a &lt; b") && text.contains("t &amp; u"), "{text}");
        assert_eq!(text.matches("<tspan").count(), 3, "one label a size: {text}");
        for tag in ["svg", "g", "text"] {
            let open = text.matches(&format!("<{tag} ")).count();
            assert_eq!(open, text.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn a_plot_of_nothing_is_still_a_drawing() {
        let panel = Panel { title: "t".into(), scale: Scale::Logarithmic, lines: vec![] };
        let text = Plot { title: "u".into(), names: vec![], panels: vec![panel] }.to_string();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
    }
}
