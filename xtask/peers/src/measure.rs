//! Time and memory of one proof, each in a process of its own.

use std::{
    error::Error,
    path::Path,
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize};

/// What one process measured of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Synthesis and proving, in milliseconds; loading and verifying are not in it.
    pub prove_ms: f64,
    /// Peak resident memory (`VmHWM`), in bytes: parameters included.
    pub peak_bytes: u64,
    /// The proof, in hex.
    pub proof: String,
}

/// The process's peak resident memory.
pub fn peak_bytes() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}

/// Runs this program again to take one sample of one side.
pub fn sample(side: &str, params: &Path) -> Result<Sample, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["sample", side, "--params"])
        .arg(params)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{side}: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The middle value; of an even number, the mean of the two middle ones.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}
