//! Why a measurement failed.

use groth16::ProveError;
use ntt_gpu::Error as Ntt;

use crate::{
    backend::device_kind,
    failure::{Failure, Kind},
};

/// The device failed, a size is one that there is no transform of, or else there is a fault of this program. Transforms and sums fail
/// as they do within a proof.
pub fn failure(error: impl Into<ProveError>) -> Failure {
    let error = error.into();
    if let Some(device) = error.device() {
        return Failure::new(device_kind(device), device).at("bench");
    }
    match error {
        ProveError::Transform(
            error @ (Ntt::DomainTooLarge { .. } | Ntt::DeviceDomain { .. } | Ntt::NoCoset { .. }),
        ) => Failure::new(Kind::Usage, error).at("--log-n"),
        _ => Failure::new(Kind::Internal, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beneath_decides() {
        let memory = || gpu::Error::OutOfMemory { requested: 3, in_use: 2, limit: 1 };
        let none = || gpu::Error::NoDevice(gpu::Absence::NoneFound);
        let cases = [
            (failure(memory()), Kind::Memory, Some("bench")),
            (failure(msm_gpu::Error::Device(none())), Kind::Device, Some("bench")),
            (failure(Ntt::Device(memory())), Kind::Memory, Some("bench")),
            (failure(Ntt::NoCoset { log_size: 32 }), Kind::Usage, Some("--log-n")),
            (failure(Ntt::InexactQuotient { degree: 7 }), Kind::Internal, None),
            (failure(msm_gpu::Error::Bases { expected: 2, got: 1 }), Kind::Internal, None),
        ];
        for (failure, kind, place) in cases {
            assert_eq!((failure.kind, failure.location.as_deref()), (kind, place), "{failure}");
        }
    }
}
