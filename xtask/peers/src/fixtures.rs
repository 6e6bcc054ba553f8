//! The vanilla proofs that `circuits` has built in, in the forms that storage-proofs reads.

use std::error::Error;

use base64::{Engine, engine::general_purpose::STANDARD};
use circuits::{sample::sample, shape::CircuitName};
use serde::Deserialize;

/// What WinningPoSt and WindowPoSt of the 2 KiB fixtures were challenged with.
pub const POST_RANDOMNESS: [u8; 32] = cleared(9);
/// The prover of the fixtures.
pub const PROVER_ID: [u8; 32] = cleared(7);

/// A repeated byte, the last one zero, so that the whole is a field element.
const fn cleared(byte: u8) -> [u8; 32] {
    let mut bytes = [byte; 32];
    bytes[31] = 0;
    bytes
}

#[derive(Deserialize)]
struct Wrapper {
    #[serde(rename = "Phase1Out")]
    phase1_out: String,
}

/// The built-in vanilla proof of a circuit.
pub fn vanilla(name: &str) -> Result<&'static [u8], Box<dyn Error>> {
    let file = sample(name.parse::<CircuitName>()?).ok_or("no built-in proof")?;
    Ok(file.bytes)
}

/// The phase-1 output of the built-in PoRep, in JSON.
pub fn porep_phase1() -> Result<Vec<u8>, Box<dyn Error>> {
    let wrapper: Wrapper = serde_json::from_slice(vanilla("porep-2KiB")?)?;
    Ok(STANDARD.decode(wrapper.phase1_out)?)
}
