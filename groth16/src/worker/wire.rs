//! What travels between a worker and its caller.
//!
//! A message is a 32-bit little-endian length and so many bytes of JSON. Some are followed by raw bytes, of which the message, or the
//! witness before, says how many: a witness as its four vectors lie in memory, a key as in a file, the sums as uncompressed points.

use std::io::{self, Read, Write};

use assignment::{Bitmap, PackedError, PackedWitness};
use blstrs::Scalar;
use bytemuck::TransparentWrapper as _;
use ff::{Field, PrimeField};
use gpu::Fr;
use group::Curve as _;
use group::prime::PrimeCurveAffine as _;
use msm_gpu::{G1, G2};
use r1cs::CheckError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::WorkerError;
use crate::encoding::Encoding;
use crate::pipeline::Sums;
use crate::{Plan, ProveError, Prover, StageTimes, VerifyingKey};

/// The longest message: of one that claims more nothing is read.
const MESSAGE: usize = 1 << 20;
/// The longest key, as in a file.
const KEY: usize = 1 << 30;
/// Elements that are read at a time: what a length announces takes no memory before it comes.
const STRETCH: usize = 1 << 15;

/// Goes up when any of this changes: a program that is replaced while it runs starts workers that may speak otherwise.
const VERSION: u32 = 1;

/// What a worker says first; its key follows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    version: u32,
    pub(super) plan: Option<Plan>,
}

impl Hello {
    pub(super) fn of(prover: &Prover) -> Self {
        Self { version: VERSION, plan: prover.plan().copied() }
    }

    /// Of a worker that can be talked to.
    pub(super) fn check(self) -> Result<Self, WorkerError> {
        match self.version {
            VERSION => Ok(self),
            got => Err(WorkerError::Message(format!("version {got}, but this is version {VERSION}"))),
        }
    }
}

/// The lengths of the witness that follows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    inputs: usize,
    aux: usize,
    dense: usize,
}

/// A worker's answer to a witness.
pub(super) type Answer = Result<Done, Failure>;

/// The sums follow.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) times: StageTimes,
    pub(super) device_peak: Option<u64>,
}

/// A [`ProveError`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// [`gpu::Error::DeviceLost`].
    DeviceLost { ordinal: u32, code: i32, message: String, call: String },
    /// [`gpu::Error::Cuda`].
    Cuda { code: i32, message: String, call: String },
    /// [`gpu::Error::OutOfMemory`].
    OutOfMemory { requested: u64, in_use: u64, limit: u64 },
    /// [`CheckError::Unsatisfied`], with canonical bytes.
    Unsatisfied { row: usize, values: [[u8; 32]; 3] },
    /// Anything else, in words.
    Failed(String),
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        match (error.device(), &error) {
            (Some(gpu::Error::DeviceLost { ordinal, code, message, call }), _) => {
                let (message, call) = (message.clone(), call.clone());
                Self::DeviceLost { ordinal: *ordinal, code: *code, message, call }
            }
            (Some(gpu::Error::Cuda { code, message, call }), _) => {
                Self::Cuda { code: *code, message: message.clone(), call: call.clone() }
            }
            (Some(&gpu::Error::OutOfMemory { requested, in_use, limit }), _) => {
                Self::OutOfMemory { requested, in_use, limit }
            }
            (_, ProveError::Witness(CheckError::Unsatisfied { row, a, b, c })) => {
                Self::Unsatisfied { row: *row, values: [a, b, c].map(|value| value.to_repr()) }
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Failure> for ProveError {
    fn from(failure: Failure) -> Self {
        use Failure as F;
        match failure {
            F::DeviceLost { ordinal, code, message, call } => {
                gpu::Error::DeviceLost { ordinal, code, message, call }.into()
            }
            F::Cuda { code, message, call } => gpu::Error::Cuda { code, message, call }.into(),
            F::OutOfMemory { requested, in_use, limit } => {
                gpu::Error::OutOfMemory { requested, in_use, limit }.into()
            }
            F::Unsatisfied { row, values } => {
                match values.map(|value| Option::<Scalar>::from(Scalar::from_repr(value))) {
                    [Some(a), Some(b), Some(c)] => CheckError::Unsatisfied { row, a, b, c }.into(),
                    _ => WorkerError::Message(format!("row {row} has a value that is no scalar")).into(),
                }
            }
            F::Failed(words) => WorkerError::Failed(words).into(),
        }
    }
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<(), WorkerError> {
    let json = serde_json::to_vec(message).map_err(|error| WorkerError::Message(error.to_string()))?;
    send_bytes(to, &json)
}

/// Reads one. `None` where the other side has hung up, in between of messages.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, WorkerError> {
    let Some(json) = receive_bytes(from, MESSAGE)? else { return Ok(None) };
    serde_json::from_slice(&json).map(Some).map_err(|error| WorkerError::Message(error.to_string()))
}

fn send_bytes(to: &mut impl Write, bytes: &[u8]) -> Result<(), WorkerError> {
    let length = u32::try_from(bytes.len()).map_err(|_| too_long(bytes.len(), u32::MAX as usize))?;
    write(to, &length.to_le_bytes())?;
    write(to, bytes)
}

fn receive_bytes(from: &mut impl Read, limit: usize) -> Result<Option<Vec<u8>>, WorkerError> {
    let mut length = [0; 4];
    // Nothing at all is an end, less than a length is none.
    let [first, rest @ ..] = &mut length;
    match from.read_exact(std::slice::from_mut(first)) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(WorkerError::Connection)?,
    }
    read(from, rest)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > limit {
        return Err(too_long(length, limit));
    }
    receive_elements(from, length, 0, |bytes| bytes).map(Some)
}

pub(super) fn send_key(to: &mut impl Write, key: &VerifyingKey) -> Result<(), WorkerError> {
    let mut bytes = Vec::new();
    key.write(&mut bytes).map_err(WorkerError::Connection)?;
    send_bytes(to, &bytes)
}

pub(super) fn receive_key(from: &mut impl Read) -> Result<VerifyingKey, WorkerError> {
    let bytes = receive_bytes(from, KEY)?.ok_or_else(WorkerError::hung_up)?;
    VerifyingKey::from_bytes(&bytes).map_err(|error| WorkerError::Message(format!("verifying key: {error}")))
}

pub(super) fn send_witness(to: &mut impl Write, witness: &PackedWitness<Scalar>) -> Result<(), WorkerError> {
    let (inputs, dense) = (witness.inputs(), witness.dense_values());
    send(to, &Request { inputs: inputs.len(), aux: witness.num_aux(), dense: dense.len() })?;
    write(to, bytemuck::cast_slice(Fr::wrap_slice(inputs)))?;
    write(to, bytemuck::cast_slice(witness.ones().words()))?;
    write(to, bytemuck::cast_slice(witness.is_dense().words()))?;
    write(to, bytemuck::cast_slice(Fr::wrap_slice(dense)))
}

/// The witness of a request: all of its bytes are read, whether they make one or not.
pub(super) fn receive_witness(
    from: &mut impl Read,
    request: &Request,
) -> Result<Result<PackedWitness<Scalar>, PackedError>, WorkerError> {
    let Request { inputs, aux, dense } = *request;
    let limit = u32::MAX as usize;
    if let Some(length) = [inputs, aux, dense].into_iter().find(|length| *length > limit) {
        return Err(too_long(length, limit));
    }
    let inputs = receive_scalars(from, inputs)?;
    let mut bitmap = || {
        let words = receive_elements(from, aux.div_ceil(64), 0u64, bytemuck::cast_slice_mut)?;
        Bitmap::from_words(words, aux)
            .ok_or_else(|| WorkerError::Message(format!("a bitmap has ones behind its {aux} bits")))
    };
    let (ones, is_dense) = (bitmap()?, bitmap()?);
    Ok(PackedWitness::new(inputs, ones, is_dense, receive_scalars(from, dense)?))
}

/// Elements in Montgomery form, as memory has them: the other side is trusted with that.
fn receive_scalars(from: &mut impl Read, count: usize) -> Result<Vec<Scalar>, WorkerError> {
    receive_elements(from, count, Scalar::ZERO, |stretch| {
        bytemuck::cast_slice_mut(Fr::wrap_slice_mut(stretch))
    })
}

fn receive_elements<T: Clone>(
    from: &mut impl Read,
    count: usize,
    zero: T,
    bytes: impl Fn(&mut [T]) -> &mut [u8],
) -> Result<Vec<T>, WorkerError> {
    let mut out = Vec::new();
    out.try_reserve_exact(count)
        .map_err(|_| WorkerError::Message(format!("there is no memory for {count} elements")))?;
    while out.len() < count {
        let first = out.len();
        out.resize(count.min(first + STRETCH), zero.clone());
        read(from, bytes(out.split_at_mut(first).1))?;
    }
    Ok(out)
}

pub(super) fn send_sums(to: &mut impl Write, sums: &Sums) -> Result<(), WorkerError> {
    for point in [&sums.a, &sums.b_g1, &sums.l, &sums.h] {
        send_point::<G1>(to, point)?;
    }
    send_point::<G2>(to, &sums.b_g2)
}

pub(super) fn receive_sums(from: &mut impl Read) -> Result<Sums, WorkerError> {
    let mut g1 = || receive_point::<G1>(from);
    let [a, b_g1, l, h] = [g1()?, g1()?, g1()?, g1()?];
    Ok(Sums { a, b_g1, b_g2: receive_point::<G2>(from)?, l, h })
}

fn send_point<C: Encoding>(to: &mut impl Write, point: &C::Projective) -> Result<(), WorkerError> {
    let mut bytes = vec![0; C::BYTES];
    C::write_uncompressed(&point.to_affine(), &mut bytes);
    write(to, &bytes)
}

/// Infinity is a sum, too.
fn receive_point<C: Encoding>(from: &mut impl Read) -> Result<C::Projective, WorkerError> {
    let mut bytes = vec![0; C::BYTES];
    read(from, &mut bytes)?;
    let point = C::parse(&bytes, false).filter(C::is_in_subgroup);
    point
        .map(|point| point.to_curve())
        .ok_or_else(|| WorkerError::Message(format!("a sum is no point of {}", C::NAME)))
}

fn too_long(got: usize, limit: usize) -> WorkerError {
    WorkerError::Message(format!("a length of {got}, but at most {limit} is possible"))
}

fn write(to: &mut impl Write, bytes: &[u8]) -> Result<(), WorkerError> {
    to.write_all(bytes).map_err(WorkerError::Connection)
}

fn read(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), WorkerError> {
    from.read_exact(bytes).map_err(WorkerError::Connection)
}
