//! The known-answer test that every device passes before it is used.
//!
//! Old compilers have turned carry chains into wrong machine code on some targets. The chains of `selftest.cuh` would show
//! it; [`crate::Device::open`] runs them.

use crate::{Budget, Device, Error, Fr, Pool, ffi};

/// Where the Fr chain of `selftest.cuh` ends: Montgomery limbs, least significant first. Computed with blstrs.
pub const FR_ANSWER: [u64; 4] =
    [0x7e9d_ec94_45b9_c3a3, 0x21cf_eed1_a1a3_a233, 0xe539_7584_69a7_0679, 0x6ac0_aef1_6b39_c192];

/// Runs the chains on a device.
///
/// # Errors
/// [`Error::SelfTest`] with both answers when they differ.
pub fn run(device: &Device) -> Result<(), Error> {
    let stream = device.stream()?;
    let pool = Pool::new(device, Budget::Bytes(1 << 12))?;
    let mut scratch = pool.allocate::<Fr>(1, &stream)?;
    let write = scratch.write(&stream)?;
    let answer: [u64; 4] = bytemuck::cast(ffi::selftest_fr(write.address, stream.handle())?);
    if answer == FR_ANSWER {
        return Ok(());
    }
    let (expected, got) = (hexadecimal(&FR_ANSWER), hexadecimal(&answer));
    Err(Error::SelfTest { ordinal: device.ordinal(), field: "Fr", expected, got })
}

fn hexadecimal(limbs: &[u64]) -> String {
    limbs.iter().rev().map(|limb| format!("{limb:016x}")).collect()
}
