//! For the tests of crates with kernels: the device, or a skip that says so.

use std::io::Write as _;

use crate::{Device, Error};

/// The first device. Where there is none, says by name which test does not run, past the capture of test output.
///
/// # Errors
/// Any error but [`Error::NoDevice`]: a device that does not work is no reason to skip.
pub fn device_or_skip(test: &str) -> Result<Option<Device>, Error> {
    match Device::open(0) {
        Ok(device) => Ok(Some(device)),
        Err(Error::NoDevice(_)) => {
            skip("no CUDA device", test);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Writes `skipped: <reason>: <test>` to standard error, past the capture of test output.
pub fn skip(reason: &str, test: &str) {
    // A closed standard error is no reason to fail a test.
    let _ = writeln!(std::io::stderr(), "skipped: {reason}: {test}");
}
