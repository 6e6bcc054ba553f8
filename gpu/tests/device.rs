//! Buffers, streams and errors on a device. Without one each test says that it was skipped, by name.

use gpu::{Absence, Budget, Device, Error, PinnedBuffer, Pool, Timer};

fn device(test: &str) -> Option<Device> {
    gpu::testing::device_or_skip(test).unwrap()
}

#[test]
fn stub_names_its_reason() {
    if gpu::BUILT_WITH_CUDA {
        return gpu::testing::skip("built with CUDA", "stub_names_its_reason");
    }
    assert_eq!(Device::open(0).unwrap_err(), Error::NoDevice(Absence::BuiltWithoutCuda));
    assert_eq!(gpu::devices().unwrap_err(), Error::NoDevice(Absence::BuiltWithoutCuda));
}

#[test]
fn device_copies_round_trip() {
    let Some(device) = device("device_copies_round_trip") else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let pool = Pool::new(&device, Budget::Bytes(64 << 20)).unwrap();
    let data: Vec<u64> = (0..100_003).map(|i| i * i).collect();

    let timer = Timer::start(&stream).unwrap();
    let first = pool.upload(&data, &stream).unwrap();
    assert!(timer.stop().unwrap().as_nanos() > 0);
    let mut second = pool.allocate::<u64>(data.len(), &other).unwrap();
    // Two streams: the copy must wait for the upload, and the download for the copy.
    second.copy_from(&other, &first).unwrap();
    assert_eq!(second.download(&stream).unwrap(), data);

    let mut pinned = PinnedBuffer::<u64>::new(&device, data.len()).unwrap();
    assert!(pinned.as_slice().unwrap().iter().all(|&x| x == 0));
    second.copy_to_pinned(&other, 3, &mut pinned, 1..data.len() - 2).unwrap();
    assert_eq!(pinned.as_slice().unwrap()[1..data.len() - 2], data[3..]);
    pinned.as_mut_slice().unwrap().fill(9);
    second.copy_from_pinned(&stream, 0, &pinned, 0..5).unwrap();
    drop(pinned);
    assert_eq!(second.download(&other).unwrap()[..6], [9, 9, 9, 9, 9, data[5]]);
}

#[test]
fn device_budget_is_kept() {
    let Some(device) = device("device_budget_is_kept") else { return };
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::Bytes(1 << 20)).unwrap();
    let half = pool.allocate::<u8>(1 << 19, &stream).unwrap();
    let refused = pool.allocate::<u8>((1 << 19) + 1, &stream).unwrap_err();
    assert!(matches!(refused, Error::OutOfMemory { in_use: 524_288, limit: 1_048_576, .. }), "{refused}");
    drop(half);
    assert_eq!(pool.in_use(), 0);
    assert!(pool.allocate::<u8>(1 << 20, &stream).is_ok());

    let whole = Pool::new(&device, Budget::Bytes(u64::MAX)).unwrap();
    let refused = whole.allocate::<u8>(1 << 45, &stream).unwrap_err();
    assert!(matches!(refused, Error::OutOfMemory { requested: 35_184_372_088_832, .. }), "{refused}");
    assert_eq!(whole.in_use(), 0);
    // The refusal leaves the device usable.
    assert!(whole.upload(&[1u8, 2], &stream).is_ok());
}

#[test]
fn device_wipes_on_release() {
    let Some(device) = device("device_wipes_on_release") else { return };
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::Bytes(1 << 20)).unwrap();
    let secret = pool.upload(&vec![0x5a_u8; 1 << 20], &stream).unwrap().wipe_on_release();
    drop(secret);
    // The whole budget: the pool hands out the same memory again.
    let reused = pool.allocate::<u8>(1 << 20, &stream).unwrap();
    assert!(reused.download(&stream).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn device_refuses_wrong_lengths_and_numbers() {
    let Some(device) = device("device_refuses_wrong_lengths_and_numbers") else { return };
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::WholeDevice).unwrap();
    let mut buffer = pool.allocate::<u32>(4, &stream).unwrap();
    let refused = buffer.upload(&stream, &[1, 2, 3]).unwrap_err();
    assert!(matches!(refused, Error::Length { expected: 4, got: 3, .. }), "{refused}");
    assert!(buffer.upload_at(&stream, 3, &[1, 2]).is_err());
    let empty = pool.upload::<u32>(&[], &stream).unwrap();
    assert_eq!(empty.download(&stream).unwrap(), []);
    assert!(matches!(Device::open(9999), Err(Error::NoSuchDevice { ordinal: 9999, .. })));
}
