//! The wire: what comes out of it, and what is no message.

use std::io::Cursor;

use blstrs::{G1Projective, G2Projective, Scalar};
use ff::Field;
use group::Group as _;
use proptest::prelude::*;
use r1cs::CheckError;

use super::wire::{self, Answer, Done, Failure, Request};
use super::*;
use crate::pipeline::Sums;
use crate::{Clocks, StageTimes};

fn error(outcome: Result<impl std::fmt::Debug, WorkerError>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn errors_keep_their_types() {
    let (message, call) = ("unspecified launch failure".to_owned(), "cudaStreamSynchronize".to_owned());
    let lost = gpu::Error::DeviceLost { ordinal: 3, code: 719, message: message.clone(), call: call.clone() };
    let memory = gpu::Error::OutOfMemory { requested: 1, in_use: 2, limit: u64::MAX };
    let row = CheckError::Unsatisfied { row: 7, a: -Scalar::ONE, b: Scalar::from(5), c: Scalar::ZERO };
    let errors: [ProveError; 6] = [
        lost.clone().into(),
        // Wherever a device's error lies, it arrives as one.
        ProveError::Transform(ntt_gpu::Error::Device(lost)),
        gpu::Error::Cuda { code: 46, message, call }.into(),
        memory.into(),
        row.into(),
        ProveError::NoProverLeft(None),
    ];
    for error in errors {
        let (text, device) = (error.to_string(), error.device().cloned());
        let mut bytes = Vec::new();
        wire::send(&mut bytes, &Answer::Err(Failure::from(error))).unwrap();
        let Some(Err(failure)) = wire::receive::<Answer>(&mut Cursor::new(bytes)).unwrap() else { panic!() };
        let error = ProveError::from(failure);
        assert_eq!(error.device(), device.as_ref());
        match error {
            ProveError::Worker(WorkerError::Failed(words)) => assert_eq!(words, text),
            error if device.is_none() => assert_eq!(error.to_string(), text),
            _ => {}
        }
    }
}

#[test]
fn sums_and_times_arrive() {
    let sums = Sums {
        a: G1Projective::generator(),
        b_g1: G1Projective::identity(),
        b_g2: G2Projective::generator().double(),
        l: G1Projective::generator().double(),
        h: -G1Projective::generator(),
    };
    let clocks = Clocks { device: Some(std::time::Duration::from_nanos(1_234_567_891)), ..Clocks::default() };
    let times = StageTimes { msm: Some(clocks), ..StageTimes::default() };
    let mut bytes = Vec::new();
    wire::send(&mut bytes, &Answer::Ok(Done { times, device_peak: Some(u64::MAX) })).unwrap();
    wire::send_sums(&mut bytes, &sums).unwrap();
    let mut from = Cursor::new(&bytes[..]);
    let Some(Ok(done)) = wire::receive::<Answer>(&mut from).unwrap() else { panic!() };
    assert_eq!((done.times, done.device_peak), (times, Some(u64::MAX)));
    let got = wire::receive_sums(&mut from).unwrap();
    assert_eq!((got.a, got.b_g1, got.b_g2, got.l, got.h), (sums.a, sums.b_g1, sums.b_g2, sums.l, sums.h));
    assert!(wire::receive::<Answer>(&mut from).unwrap().is_none());
    // A point that is none.
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let mut from = Cursor::new(&bytes[..]);
    wire::receive::<Answer>(&mut from).unwrap();
    assert_eq!(
        error(wire::receive_sums(&mut from)),
        "the worker's message is malformed: a sum is no point of G2"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn witnesses_arrive(aux in proptest::collection::vec(0u64..4, 0..300), inputs in 0usize..5) {
        let aux: Vec<Scalar> = aux.into_iter().map(Scalar::from).collect();
        let inputs = vec![Scalar::ONE; inputs + 1];
        let witness = assignment::PackedWitness::from_assignment(inputs, &aux).unwrap();
        let mut bytes = Vec::new();
        wire::send_witness(&mut bytes, &witness).unwrap();
        let mut from = Cursor::new(&bytes[..]);
        let request: Request = wire::receive(&mut from).unwrap().unwrap();
        let got = wire::receive_witness(&mut from, &request).unwrap().unwrap();
        prop_assert_eq!(got.first_difference(&witness), None);
        prop_assert_eq!(from.position(), bytes.len() as u64);
        // One that ends early, wherever that is, is an error and not a witness; only nothing at all is the end.
        for len in [1, 3, 4, 5, bytes.len() - 1] {
            let mut from = Cursor::new(&bytes[..len]);
            let got = wire::receive::<Request>(&mut from)
                .and_then(|request| wire::receive_witness(&mut from, &request.unwrap()));
            prop_assert!(matches!(got, Err(WorkerError::Connection(_))), "{:?}", got);
        }
        prop_assert!(wire::receive::<Request>(&mut Cursor::new(&[])).unwrap().is_none());
    }
}

#[test]
fn lengths_that_cannot_be_are_refused_before_memory_is_asked_for() {
    let message =
        |json: &str| -> Vec<u8> { [&(json.len() as u32).to_le_bytes()[..], json.as_bytes()].concat() };
    let receive = |bytes: Vec<u8>| {
        let mut from = Cursor::new(bytes);
        let request = wire::receive::<Request>(&mut from)?.unwrap();
        wire::receive_witness(&mut from, &request)
    };
    let long = receive(u32::MAX.to_le_bytes().to_vec());
    assert!(error(long).contains("a length of 4294967295, but at most 1048576"));
    let long = receive(message(r#"{"inputs":1,"aux":4294967296,"dense":0}"#));
    assert!(error(long).contains("a length of 4294967296, but at most 4294967295"));
    assert!(error(receive(message(r#"{"inputs":1}"#))).contains("missing field `aux`"));
    // More ones than bits, and no ONE.
    let bits = |inputs: &[u8], ones: u64| {
        let head = message(r#"{"inputs":1,"aux":3,"dense":0}"#);
        receive([&head, inputs, &ones.to_le_bytes()[..], &[0; 8]].concat())
    };
    assert!(error(bits(&[0; 32], 8)).contains("ones behind its 3 bits"));
    assert!(matches!(bits(&[0; 32], 7), Ok(Err(assignment::PackedError::FirstInput))));
}

fn hello(version: u32) -> Vec<u8> {
    let json = format!(r#"{{"version":{version},"plan":null}}"#);
    [&(json.len() as u32).to_le_bytes()[..], json.as_bytes()].concat()
}

#[test]
fn workers_of_another_version_are_refused() {
    let check = |version| wire::receive::<Hello>(&mut Cursor::new(hello(version))).unwrap().unwrap().check();
    assert!(check(1).unwrap().plan.is_none());
    assert_eq!(error(check(2)), "the worker's message is malformed: version 2, but this is version 1");
}

/// Gives these bytes and then no more, and notes the most that it was asked for at once.
struct Announced<'a> {
    bytes: &'a [u8],
    most: usize,
}

impl io::Read for Announced<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.most = self.most.max(out.len());
        self.bytes.read(out)
    }
}

#[test]
fn what_is_announced_takes_no_memory_before_it_comes() {
    let key = (1u32 << 30).to_le_bytes();
    let mut from = Announced { bytes: &key, most: 0 };
    assert!(matches!(wire::receive_key(&mut from), Err(WorkerError::Connection(_))));
    assert!(from.most <= 1 << 20, "{}", from.most);
    // Five gigabytes.
    let json = br#"{"inputs":150000000,"aux":1,"dense":0}"#;
    let message = [&(json.len() as u32).to_le_bytes()[..], json].concat();
    let mut from = Announced { bytes: &message, most: 0 };
    let request: Request = wire::receive(&mut from).unwrap().unwrap();
    assert!(matches!(wire::receive_witness(&mut from, &request), Err(WorkerError::Connection(_))));
    assert!(from.most <= 1 << 20, "{}", from.most);
}

/// Whatever one side says, the other answers by a value or an error.
fn read_everything(bytes: &[u8]) {
    let mut from = Cursor::new(bytes);
    if let Ok(Some(request)) = wire::receive::<Request>(&mut from) {
        let _ = wire::receive_witness(&mut from, &request);
    }
    let mut from = Cursor::new(bytes);
    if let Ok(Some(answer)) = wire::receive::<Answer>(&mut from) {
        let _ = answer
            .map(|_| wire::receive_sums(&mut from))
            .map_err(|failure| ProveError::from(failure).to_string());
    }
    let mut from = Cursor::new(bytes);
    if let Ok(Some(_)) = wire::receive::<Hello>(&mut from) {
        let _ = wire::receive_key(&mut from);
    }
}

/// A message of each kind with what follows it.
fn messages() -> Vec<Vec<u8>> {
    let mut messages = vec![Vec::new(); 4];
    let aux: Vec<Scalar> = (0..100).map(|i| Scalar::from(i % 4)).collect();
    let witness = assignment::PackedWitness::from_assignment(vec![Scalar::ONE; 2], &aux).unwrap();
    wire::send_witness(&mut messages[0], &witness).unwrap();
    let done = Done {
        times: StageTimes { witness: Some(std::time::Duration::MAX), ..StageTimes::default() },
        device_peak: None,
    };
    wire::send(&mut messages[1], &Answer::Ok(done)).unwrap();
    wire::send_sums(&mut messages[1], &Sums::zero()).unwrap();
    let row = CheckError::Unsatisfied { row: 7, a: -Scalar::ONE, b: Scalar::from(5), c: Scalar::ZERO };
    wire::send(&mut messages[2], &Answer::Err(Failure::from(ProveError::from(row)))).unwrap();
    messages[3] = hello(1);
    messages[3].extend(8u32.to_le_bytes());
    messages[3].extend([0; 8]);
    messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn no_message_makes_a_reader_panic(
        which in 0usize..4,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        noise in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = messages().swap_remove(which);
        for (index, byte) in &changes {
            let at = index.index(bytes.len());
            bytes[at] = *byte;
        }
        read_everything(&bytes);
        let json = String::from_utf8_lossy(&bytes).replace(|c: char| c.is_ascii_digit(), "9");
        read_everything(json.as_bytes());
        read_everything(&noise);
    }
}
