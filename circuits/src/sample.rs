//! Real vanilla proofs of 2 KiB sectors, made by the reference implementation: inputs for a first try.

use crate::input::InputFile;
use crate::shape::{CircuitName, PorepMode, Proof, SectorSize};

/// A proof's file for this circuit, if there is one: for PoRep, WinningPoSt, WindowPoSt and SnapDeals of 2 KiB.
pub fn sample(circuit: CircuitName) -> Option<InputFile<'static>> {
    if circuit.size != SectorSize::KiB2 {
        return None;
    }
    let (name, bytes): (_, &[u8]) = match circuit.proof {
        Proof::Porep(PorepMode::Interactive) => {
            ("porep-2KiB.json", include_bytes!("../data/porep-2KiB.json"))
        }
        Proof::Porep(_) => return None,
        Proof::Winning => ("winning-2KiB.bincode", include_bytes!("../data/winning-2KiB.bincode")),
        Proof::Window => ("window-2KiB.bincode", include_bytes!("../data/window-2KiB.bincode")),
        Proof::Update => ("update-2KiB.bincode", include_bytes!("../data/update-2KiB.bincode")),
    };
    Some(InputFile { name, bytes })
}
