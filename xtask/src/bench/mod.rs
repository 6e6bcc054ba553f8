//! What `bench` measures, and how.

mod alternate;
mod stopwatch;
pub mod synthesis;

pub use stopwatch::process_time;
