//! Buffers, streams and errors on a device. Without one each test says that it was skipped, by name.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use gpu::{Absence, Budget, Clock, Device, Error, PinnedBuffer, Pool, Staging, Timer};

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
    assert!(refused.to_string().contains("device memory"), "{refused}");
    assert_eq!(whole.in_use(), 0);
    // The refusal leaves the device usable.
    assert!(whole.upload(&[1u8, 2], &stream).is_ok());
}

#[test]
fn device_pools_go_while_work_is_queued() {
    let Some(device) = device("device_pools_go_while_work_is_queued") else { return };
    let stream = device.stream().unwrap();
    for round in 1..=200 {
        let pool = Pool::new(&device, Budget::Bytes(8 << 20)).unwrap();
        let mut buffers =
            [0; 3].map(|_| pool.allocate::<u64>(1000 * round, &stream).unwrap().wipe_on_release());
        for buffer in &mut buffers {
            buffer.fill_bytes(&stream, 1).unwrap();
        }
    }
    assert_eq!(stream.synchronize(), Ok(()));
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
    // A part, of 3-byte elements, and not one byte behind it. So large a block is kept, and handed out again at its size.
    let pool = Pool::new(&device, Budget::Bytes(64 << 20)).unwrap();
    let (part, all) = (7_000_000, 12_000_000);
    let secret = pool.upload(&vec![[0x5a_u8; 3]; all], &stream).unwrap().wipe_first_on_release(part);
    assert!(secret.is_wiped_on_release());
    drop(secret);
    let bytes = pool.allocate::<u8>(3 * all, &stream).unwrap().download(&stream).unwrap();
    let (wiped, left) = bytes.split_at(3 * part);
    assert!(wiped.iter().all(|&byte| byte == 0) && left.iter().all(|&byte| byte == 0x5a));
}

/// A second round whose buffers are a bit smaller than those of the first has the same budget.
#[test]
fn device_memory_that_was_reserved_can_be_had_again_and_again() {
    let Some(device) = device("device_memory_that_was_reserved_can_be_had_again_and_again") else { return };
    let stream = device.stream().unwrap();
    const LARGE: usize = 64 << 20;
    for (room, longer) in [(0, false), (LARGE, true)] {
        let pool = Pool::new(&device, Budget::Bytes((3 * LARGE + room) as u64)).unwrap();
        pool.reserve(3 * LARGE as u64, &stream).unwrap();
        drop([0; 3].map(|_| pool.allocate::<u8>(LARGE, &stream).unwrap()));
        for _ in 0..3 {
            let less = LARGE / 16 * 15;
            let first = pool.allocate::<u8>(less, &stream).unwrap();
            assert_eq!(pool.in_use(), if longer { LARGE } else { less } as u64);
            let _rest = pool.allocate::<u8>(3 * LARGE - less, &stream).unwrap();
            drop(first);
        }
    }
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

#[test]
fn device_staging_round_trips() {
    let Some(device) = device("device_staging_round_trips") else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let pool = Pool::new(&device, Budget::Bytes(256 << 20)).unwrap();
    // 12-byte elements do not divide a piece.
    for (pieces, bytes) in [(1, 4096), (2, 5000), (3, 1 << 16), (32, 2 << 20)] {
        let staging = Staging::with_pieces(&device, pieces, bytes);
        assert_eq!(staging.bytes(), (pieces * bytes) as u64);
        for length in [0, 1, 341, 342, 100_003, 4_000_001] {
            let data: Vec<[u32; 3]> = (0..length as u32).map(|i| [i, !i, i.wrapping_mul(i)]).collect();
            let mut buffer = staging.upload(&pool, &data, &stream).unwrap();
            // On the other stream, behind the copies.
            assert!(buffer.download(&other).unwrap() == data, "{length} in pieces of {bytes}");
            let half = length / 2;
            staging.upload_at(&other, &mut buffer, half, &data[..length - half]).unwrap();
            let mut back = vec![[0; 3]; length];
            staging.download_into(&stream, &buffer, 0, &mut back).unwrap();
            let moved = back[..half] == data[..half] && back[half..] == data[..length - half];
            assert!(moved, "{length} in pieces of {bytes}");
            staging.download_into(&stream, &buffer, half, &mut back[half..]).unwrap();
        }
    }
}

#[test]
fn device_staging_gives_back_the_callers_error() {
    let Some(device) = device("device_staging_gives_back_the_callers_error") else { return };
    #[derive(Debug, PartialEq)]
    enum Failure {
        At(usize),
        Device(Error),
    }
    impl From<Error> for Failure {
        fn from(error: Error) -> Self {
            Self::Device(error)
        }
    }
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::Bytes(16 << 20)).unwrap();
    let staging = Staging::with_pieces(&device, 3, 4096);
    let mut buffer = pool.allocate::<u64>(1 << 20, &stream).unwrap();
    // Elements 300,000 and 900,000 cannot be read.
    let read = |first: usize, out: &mut [u64]| match [300_000, 900_000]
        .iter()
        .find(|&&bad| first <= bad && bad < first + out.len())
    {
        Some(&bad) => Err(Failure::At(bad)),
        None => {
            out.iter_mut().zip(first..).for_each(|(to, index)| *to = index as u64);
            Ok(())
        }
    };
    assert_eq!(staging.fill(&stream, &mut buffer, 0, 1 << 20, read), Err(Failure::At(300_000)));
    let short = staging.fill(&stream, &mut buffer, 1, 1 << 20, read);
    assert!(matches!(short, Err(Failure::Device(Error::Length { .. }))), "{short:?}");
    let work = || Ok(stream.synchronize().map(|()| 5)?);
    assert_eq!(staging.fill_while(&stream, &mut buffer, 0, 100_000, read, work), Ok(5));
    let refused = || Err::<(), _>(Failure::At(1));
    assert_eq!(staging.fill_while(&stream, &mut buffer, 0, 1 << 20, read, refused), Err(Failure::At(1)));
    // The pieces are free again and the buffer works.
    staging.fill(&stream, &mut buffer, 7, 1000, read).unwrap();
    let sum = Mutex::new(0);
    let take = |first: usize, elements: &[u64]| {
        let good = elements.iter().zip(first as u64..).all(|(&got, want)| got == want);
        if !good {
            return Err(Failure::At(first));
        }
        *sum.lock().unwrap() += elements.len();
        Ok(())
    };
    staging.drain(&stream, &buffer, 7..1007, take).unwrap();
    assert_eq!(sum.into_inner().unwrap(), 1000);
    let bad = staging.drain(&stream, &buffer, 0..1 << 20, |first, _| {
        if first < 4096 { Ok(()) } else { Err(Failure::At(first)) }
    });
    assert_eq!(bad, Err(Failure::At(4096)));
    assert!(staging.drain(&stream, &buffer, 1..(1 << 20) + 1, |_, _| Ok::<_, Failure>(())).is_err());
}

#[test]
fn device_staging_is_shared_by_threads() {
    let Some(device) = device("device_staging_is_shared_by_threads") else { return };
    let pool = Pool::new(&device, Budget::Bytes(256 << 20)).unwrap();
    let staging = Staging::with_pieces(&device, 2, 1 << 16);
    std::thread::scope(|scope| {
        for seed in 0..6u64 {
            let (pool, staging, device) = (&pool, staging.clone(), &device);
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                let data: Vec<u64> = (0..300_000).map(|i| i ^ (seed << 32)).collect();
                let buffer = staging.upload(pool, &data, &stream).unwrap();
                assert!(buffer.download(&stream).unwrap() == data, "{seed}");
            });
        }
    });
}

#[test]
fn device_spans_are_recorded_in_order() {
    let Some(device) = device("device_spans_are_recorded_in_order") else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let pool = Pool::new(&device, Budget::Bytes(64 << 20)).unwrap();
    let clock = Clock::new(&device, &[&stream, &other]).unwrap();
    // Nobody listens yet.
    let before = pool.upload(&[1u8; 100], &stream).unwrap();
    let began = Instant::now();
    let recording = clock.record().unwrap();
    recording.stage("first");
    let buffer = pool.upload(&vec![7u8; 1 << 20], &stream).unwrap().wipe_on_release();
    recording.stage("second");
    assert_eq!(before.download(&other).unwrap().len(), 100);
    drop(buffer);
    let spans = recording.read().unwrap();
    let ended = Instant::now();
    let got: Vec<_> = spans.iter().map(|span| (span.stage, span.work, span.size, span.stream)).collect();
    let expected = [
        ("first", "copy to device", 1 << 20, 0),
        ("second", "copy to host", 100, 1),
        ("second", "wipe", 1 << 20, 0),
    ];
    assert_eq!(got, expected);
    // Both clocks agree to better than a millisecond.
    let slack = Duration::from_millis(1);
    for span in &spans {
        assert!(began < span.start + slack && span.start <= span.end && span.end < ended + slack, "{span:?}");
    }
    assert!(gpu::clock::busy(&spans) <= ended - began);
    // The recording is over, and so is another one that nobody reads.
    drop(clock.record().unwrap());
    drop(pool.upload(&[1u8; 100], &stream).unwrap());
    assert!(clock.record().unwrap().read().unwrap().is_empty());
    assert_eq!(pool.peak(), (1 << 20) + 512);
}

#[test]
fn device_pool_takes_memory_ahead_of_need() {
    let Some(device) = device("device_pool_takes_memory_ahead_of_need") else { return };
    let stream = device.stream().unwrap();
    let pool = Pool::new(&device, Budget::Bytes(1 << 30)).unwrap();
    pool.reserve(0, &stream).unwrap();
    pool.reserve(1 << 30, &stream).unwrap();
    assert_eq!((pool.in_use(), pool.peak()), (0, 0));
    let refused = pool.reserve((1 << 30) + 1, &stream).unwrap_err();
    assert!(matches!(refused, Error::OutOfMemory { requested: 1_073_741_825, .. }), "{refused}");
    // Buffers of other sizes fit what was taken.
    let buffers: Vec<_> = (0..7).map(|k| pool.allocate::<u8>(k << 20, &stream).unwrap()).collect();
    drop(buffers);
    assert!(pool.allocate::<u8>(1 << 30, &stream).is_ok());
}

#[test]
fn device_large_memory_is_kept_within_the_budget() {
    let Some(device) = device("device_large_memory_is_kept_within_the_budget") else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    const LARGE: usize = 64 << 20;
    let pool = Pool::new(&device, Budget::Bytes(3 * LARGE as u64)).unwrap();
    let pattern = |seed: usize| -> Vec<u64> { (0..LARGE as u64 / 8).map(|i| i * 3 + seed as u64).collect() };
    // The same block on the same stream, wiped in between, although the other stream reads it until after the drop.
    for round in 0..3 {
        let mut secret = pool.allocate::<u64>(LARGE / 8, &stream).unwrap().wipe_on_release();
        secret.upload(&stream, &pattern(round)).unwrap();
        let mut copy = pool.allocate::<u64>(LARGE / 8, &other).unwrap();
        copy.copy_from(&other, &secret).unwrap();
        drop(secret);
        let next = pool.allocate::<u64>(LARGE / 8, &stream).unwrap();
        assert!(next.download(&stream).unwrap().iter().all(|&word| word == 0), "round {round}");
        assert_eq!(copy.download(&other).unwrap(), pattern(round), "round {round}");
    }
    assert_eq!(pool.in_use(), 0);
    // Kept blocks make room for others: all of the budget can be had at once, and in other pieces.
    drop(pool.allocate::<u8>(3 * LARGE, &stream).unwrap());
    let pieces: Vec<_> = (0..6).map(|_| pool.allocate::<u8>(LARGE / 2, &other).unwrap()).collect();
    assert_eq!((pool.in_use(), pieces.len()), (3 * LARGE as u64, 6));
    assert!(pool.allocate::<u8>(1, &stream).is_err());
    drop(pieces);
    pool.trim(0).unwrap();
    assert_eq!((pool.in_use(), pool.peak()), (0, 3 * LARGE as u64));
}
