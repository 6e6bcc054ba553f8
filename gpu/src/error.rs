//! What can go wrong between the host and a device.

/// Why there is no device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The crate was built without a CUDA compiler.
    BuiltWithoutCuda,
    /// CUDA's runtime found no driver, or one older than itself.
    NoDriver,
    /// The driver is there and lists no device.
    NoneFound,
}

impl std::fmt::Display for Absence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Absence::BuiltWithoutCuda => "this program was built without CUDA",
            Absence::NoDriver => "no CUDA driver, or one older than this program's CUDA runtime",
            Absence::NoneFound => "the CUDA driver lists no device",
        })
    }
}

/// An error of the device layer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to run on.
    #[error("no CUDA device: {0}")]
    NoDevice(Absence),
    /// A device of that number does not exist.
    #[error("no CUDA device {ordinal}: there are {count}")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: u32,
        /// How many devices there are.
        count: u32,
    },
    /// A device lacks something that this crate needs.
    #[error("CUDA device {ordinal} cannot be used: {reason}")]
    Unsupported {
        /// The device's number.
        ordinal: u32,
        /// What is missing.
        reason: &'static str,
    },
    /// A CUDA call failed.
    #[error("CUDA: {message} (error {code}) in {call}")]
    Cuda {
        /// `cudaError_t`.
        code: i32,
        /// CUDA's own message.
        message: String,
        /// The call that failed, or whose turn it was when earlier work failed.
        call: String,
    },
    /// A kernel, or the hardware, failed in a way after which CUDA refuses this process everything on the device. Whatever was on
    /// the device is gone, for all who used it. Other processes are not concerned, but the process's other devices are: CUDA's next
    /// answer there is the same error, with the number of that device. See [`crate::Device`].
    #[error("CUDA device {ordinal} is lost to this process: {message} (error {code}) in {call}")]
    DeviceLost {
        /// The device's number.
        ordinal: u32,
        /// `cudaError_t` of what went wrong first.
        code: i32,
        /// CUDA's own message.
        message: String,
        /// The call that reported it, which need not be the one that failed.
        call: String,
    },
    /// Device memory, or the pool's budget, is used up; or the host cannot pin so much memory.
    #[error("{}", out_of_memory(*requested, *in_use, *limit))]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes of the pool in use; 0 of host memory.
        in_use: u64,
        /// The pool's budget, or the device's memory where there is none. [`u64::MAX`] is no pool's: host memory was asked for, of which
        /// nobody says how much can be pinned.
        limit: u64,
    },
    /// Two lengths that must agree do not.
    #[error("{what}: expected {expected} elements, got {got}")]
    Length {
        /// Which buffer or slice.
        what: &'static str,
        /// The length that is right.
        expected: u64,
        /// The length that came.
        got: u64,
    },
    /// Something from two devices was used together.
    #[error("{what} belongs to device {got}, not to device {expected}")]
    OtherDevice {
        /// What was handed in.
        what: &'static str,
        /// The device it should belong to.
        expected: u32,
        /// The device it belongs to.
        got: u32,
    },
    /// The device computes wrongly: nothing it says can be used.
    #[error("CUDA device {ordinal} fails the known-answer test of {field}: expected {expected}, got {got}")]
    SelfTest {
        /// The device's number.
        ordinal: u32,
        /// Which field.
        field: &'static str,
        /// The known answer, hexadecimal limbs, most significant first.
        expected: String,
        /// The device's answer.
        got: String,
    },
}

fn out_of_memory(requested: u64, in_use: u64, limit: u64) -> String {
    match limit {
        u64::MAX => format!("out of host memory: {requested} bytes could not be pinned"),
        _ => {
            format!("out of device memory: {requested} bytes asked for, {in_use} in use, {limit} allowed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_ran_out_is_named() {
        let text = |limit| Error::OutOfMemory { requested: 3, in_use: 0, limit }.to_string();
        assert_eq!(text(2), "out of device memory: 3 bytes asked for, 0 in use, 2 allowed");
        assert_eq!(text(u64::MAX), "out of host memory: 3 bytes could not be pinned");
    }
}
