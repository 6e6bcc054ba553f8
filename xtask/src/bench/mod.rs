//! What `bench` measures, and how.

mod alternate;
mod failure;
mod log_sizes;
pub mod msm;
pub mod ntt;
pub mod prove;
mod stopwatch;
mod svg;
pub mod synthesis;
mod table;

pub use log_sizes::LogSizes;
pub use stopwatch::process_time;
