//! `verify`: proofs against a verifying key and public inputs.

use groth16::{BatchError, PreparedVerifyingKey, Proof, ProofError, VerificationError, VerifyingKey};
use rand_core::OsRng;
use serde_json::json;

use super::{Answer, Outcome};
use crate::{
    cli::Verify,
    console::Console,
    failure::{Failure, Kind},
    files, parameters, public_inputs,
};

/// Longer proof files are refused; an NI-PoRep's has 126 proofs.
const LIMIT: u64 = 1 << 20;

/// Verifies all partitions; the answer is no if any proof is invalid.
pub fn run(flags: &Verify, console: Console) -> Outcome {
    let key =
        VerifyingKey::read_file(&flags.vk).map_err(|error| parameters::read_failure(&flags.vk, &error))?;
    let key =
        PreparedVerifyingKey::new(&key).map_err(|error| Failure::input(error).at(flags.vk.display()))?;
    let inputs = public_inputs::read(&flags.public)?;
    let bytes = files::read(&flags.proof, LIMIT)?;
    if bytes.is_empty() || !bytes.len().is_multiple_of(Proof::BYTES) {
        let message = format_args!("expected {} bytes a partition, got {} bytes", Proof::BYTES, bytes.len());
        return Err(Failure::input(message).at(flags.proof.display()));
    }
    let count = bytes.len() / Proof::BYTES;
    if inputs.len() != count {
        let message =
            format_args!("expected inputs of {count} partitions, as many as proofs, got {}", inputs.len());
        return Err(Failure::input(message).at(flags.public.display()));
    }
    for (k, partition) in inputs.iter().enumerate() {
        if partition.len() != key.num_public_inputs() {
            let message = format_args!(
                "partition {k}: expected {} inputs, got {}",
                key.num_public_inputs(),
                partition.len()
            );
            return Err(Failure::input(message).at(flags.public.display()));
        }
    }
    let reason = match proofs(&bytes) {
        Ok(proofs) => {
            let batch: Vec<_> = proofs.into_iter().zip(inputs).collect();
            match verify(&key, &batch) {
                Ok(()) => None,
                Err(failure) if failure.kind == Kind::Invalid => Some(failure.message),
                Err(failure) => return Err(failure),
            }
        }
        // Bytes of the right length that are no proof are an invalid proof.
        Err((k, error)) => Some(format!("proof {k}: {error}")),
    };
    let valid = reason.is_none();
    match &reason {
        None => console
            .say(format_args!("valid: {count} proof(s), {} public inputs each", key.num_public_inputs())),
        Some(reason) => console.say(format_args!("invalid: {reason}")),
    }
    console.result(&json!({ "valid": valid, "reason": reason }));
    Ok(if valid { Answer::Yes } else { Answer::No(Kind::Invalid.exit_code()) })
}

fn proofs(bytes: &[u8]) -> Result<Vec<Proof>, (usize, ProofError)> {
    let proofs = bytes.chunks(Proof::BYTES).enumerate();
    proofs.map(|(k, bytes)| Proof::from_bytes(bytes).map_err(|error| (k, error))).collect()
}

/// Verifies one proof, or several together.
fn verify(key: &PreparedVerifyingKey, batch: &[(Proof, Vec<blstrs::Scalar>)]) -> Result<(), Failure> {
    let outcome = match batch {
        [(proof, inputs)] => {
            key.verify(proof, inputs).map_err(|source| BatchError::Proof { index: 0, source })
        }
        batch => key.verify_batch(batch, &mut OsRng),
    };
    outcome.map_err(|error| {
        let kind = match &error {
            BatchError::Proof { source: VerificationError::Sum { .. }, .. }
            | BatchError::Sum(_)
            | BatchError::Inconsistent => Kind::Internal,
            _ => Kind::Invalid,
        };
        Failure::new(kind, error)
    })
}
