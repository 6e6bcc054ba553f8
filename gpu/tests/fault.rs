//! A kernel that fails, which costs its process the device; so this is one test, in a process of its own.

use std::process::Command;

use gpu::testing::{self, Fault};
use gpu::{Budget, Device, Error, PinnedBuffer, Pool};

/// Set in the process that the test starts.
const CHILD: &str = "GPU_FAULT_TEST_CHILD";
/// Before the bytes that the process finds free.
const FREE: &str = "free bytes: ";
const TEST: &str = "device_is_lost_by_a_kernel_that_traps";

fn round_trip(device: &Device) -> Result<(), Error> {
    let stream = device.stream()?;
    let pool = Pool::new(device, Budget::Bytes(1 << 20))?;
    let buffer = pool.upload(&[1u64, 2, 3], &stream)?;
    assert_eq!(buffer.download(&stream)?, [1, 2, 3]);
    Ok(())
}

#[test]
fn device_is_lost_by_a_kernel_that_traps() {
    let Some(device) = testing::device_or_skip(TEST).unwrap() else { return };
    round_trip(&device).unwrap();
    if std::env::var_os(CHILD).is_some() {
        let (free, _) = device.memory().unwrap();
        return println!("{FREE}{free}");
    }
    let at_first = free_in_another_process();
    let other = Device::open(0).unwrap();
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::Bytes(8 << 30)).unwrap();
    let mut large = pool.allocate::<u8>(4 << 30, &stream).unwrap().wipe_on_release();
    large.fill_bytes(&stream, 7).unwrap();
    let mut pinned = PinnedBuffer::<u8>::new(&device, 1 << 20).unwrap().wipe_on_release();
    pinned.as_mut_slice().unwrap().fill(9);
    let mut busy = PinnedBuffer::<u8>::new(&device, 1 << 20).unwrap();
    let before = stream.record().unwrap();

    testing::inject(Fault::Kernel, 0);
    let small = pool.allocate::<u8>(1, &stream).unwrap();
    large.copy_to_pinned(&stream, 0, &mut busy, 0..1 << 20).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(error, Error::DeviceLost { ordinal: 0, code: 719, .. }), "{error}");
    println!("{error}");

    // Everybody is told, and what is not on the device is still there.
    let lost = |outcome: Result<(), Error>| assert_eq!(outcome.unwrap_err(), error);
    lost(device.check());
    lost(other.synchronize());
    lost(other.memory().map(drop));
    lost(stream.raw().map(drop));
    lost(before.synchronize());
    lost(pool.allocate::<u8>(1, &stream).map(drop));
    lost(large.fill_bytes(&stream, 0));
    lost(small.download(&stream).map(drop));
    lost(busy.as_slice().map(drop));
    lost(PinnedBuffer::<u8>::new(&device, 1).map(drop));
    lost(Device::open(0).map(drop));
    assert!(pinned.as_slice().unwrap().iter().all(|&byte| byte == 9));

    // Another process can use the device, meanwhile and after the last of ours is dropped.
    let while_lost = free_in_another_process();
    drop((small, large, pinned, busy, before, stream));
    drop(pool);
    drop((device, other));
    let after = free_in_another_process();
    println!(
        "free in another process: at first {at_first}, while the lost device was held {while_lost}, after that {after}"
    );
    assert!(after >= while_lost);
    // Whether the driver gives the device back to this process too is the driver's affair.
    match Device::open(0) {
        Ok(device) => round_trip(&device).unwrap(),
        Err(again) => assert_eq!(again, error),
    }
}

fn free_in_another_process() -> u64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", TEST, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| Some(line.split_once(FREE)?.1)).unwrap();
    line.trim().parse().unwrap()
}
