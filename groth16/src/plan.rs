//! Where the points of a prover on a device live, and how much memory that takes: decided before anything is allocated.

use std::fmt;

use assignment::PackedWitness;
use blstrs::Scalar;
use msm_gpu::device::{Demand, Scalars};
use msm_gpu::{G1, G2};
use ntt_gpu::device::Memory;
use ntt_gpu::{Domain, Natural};
use r1cs::CompiledCircuit;
use r1cs::device::DeviceCircuit;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Section, Shape};

/// The most memory that a prover on a device may take; `None` is all that is free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Bytes of device memory. What the driver keeps for itself, some hundred megabytes a process, comes on top.
    pub device: Option<u64>,
    /// Bytes of host memory that the prover holds: pinned points and pieces of points under way. The compiled circuit, parameters in
    /// memory and witnesses are the caller's.
    pub host: Option<u64>,
}

/// Where a prover's parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Made from a trapdoor as the prover is set up: they have to be kept.
    Made,
    /// In the caller's memory, for as long as the prover lives.
    Memory,
    /// In a file, which can be read again for each proof.
    File,
}

/// Where a query's points are between proofs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In device memory. They never travel.
    Device,
    /// In pinned host memory, from which each proof copies them while it works on earlier ones.
    Pinned,
    /// Where they [come from](Origin), from which each proof takes them anew.
    Origin,
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The circuit's numbers.
    pub shape: Shape,
    /// Its evaluation domain.
    pub domain: Domain,
    /// Bytes of the matrices on the device.
    pub matrices: u64,
    /// The most full field elements that a witness may have among its auxiliary variables. The others are bits.
    pub dense: usize,
    /// Where the parameters come from.
    pub origin: Origin,
    /// The device's multiprocessors ([`gpu::DeviceInfo::multiprocessors`]): sums have scratch for each.
    pub multiprocessors: u32,
}

impl Sizes {
    /// The sizes for a circuit and any of its witnesses.
    ///
    /// # Errors
    /// The circuit has more rows than any domain.
    pub fn of(
        circuit: &CompiledCircuit,
        origin: Origin,
        multiprocessors: u32,
    ) -> Result<Self, ntt_gpu::Error> {
        let shape = Shape::from(circuit);
        let (domain, matrices) = (shape.domain()?, DeviceCircuit::bytes(circuit));
        Ok(Self { shape, domain, matrices, dense: shape.aux, origin, multiprocessors })
    }
}

/// Budgets that cannot work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Not enough device memory, wherever the points are.
    #[error(
        "this circuit takes at least {needed} bytes of device memory, but only {budget} are allowed or free"
    )]
    Device {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed, or free.
        budget: u64,
    },
    /// Points that were made for the prover fit neither the device nor the host, and no file holds them.
    #[error(
        "the points that do not fit the device, and what is on its way there, take {needed} bytes of host memory, but \
         only {budget} are allowed: parameters from a file can stay there"
    )]
    Host {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// Not enough host memory for the pieces in which everything travels to the device, wherever the points are.
    #[error(
        "what is on its way to the device takes {needed} bytes of host memory, but only {budget} are allowed"
    )]
    Pieces {
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
}

/// Where everything is while a prover proves, and the most memory that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The H query. Its sum takes longer than its copy, so it is the first to leave the device.
    pub h: Place,
    /// The L query.
    pub l: Place,
    /// The A query.
    pub a: Place,
    /// The B query in G1.
    pub b_g1: Place,
    /// The B query in G2.
    pub b_g2: Place,
    /// How much of the device the quotient takes.
    #[serde(with = "QuotientMemory")]
    pub quotient: Memory,
    /// A witness of at most so many bytes stays on the device while the quotient is computed; a longer one is sent twice.
    pub witness_room: u64,
    /// Bytes of device memory at the peak, with a witness of the most field elements. Sums take more where a shorter one leaves it to
    /// them, within the budget.
    pub device_peak: u64,
    /// The device's budget.
    pub device_budget: u64,
    /// Bytes of host memory at the peak, counted as in [`Budgets::host`], without a witness's copy.
    pub host_peak: u64,
    /// Of many proofs' witnesses, one of at most so many bytes has a pinned copy as soon as it is made, and is sent from there: what the
    /// host's budget leaves.
    pub pinned_room: u64,
}

/// [`Memory`] for serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Memory")]
enum QuotientMemory {
    Ample,
    Tight,
}

/// The queries in the order of a file.
const QUERIES: [Section; 5] = [Section::H, Section::L, Section::A, Section::BG1, Section::BG2];

/// Small buffers: inputs, sums of windows, tables of a few thousand elements.
const SMALL: u64 = 16 << 20;
/// A sum's scratch that does not depend on its length: batches of additions for every lane of a device with at most so many
/// multiprocessors, and as much more as it has more of them.
const SCRATCH: u64 = 512 << 20;
const MULTIPROCESSORS: u64 = 192;
/// Bytes that a sum gets for each point beside it. It runs in a fifth of that, with more and shorter chunks.
const PER_POINT: u64 = 48;
/// The pinned pieces of [`gpu::Staging`], through which everything travels that is not pinned itself, points of a file included.
const PIECES: u64 = 64 << 20;

/// What the device holds at the peaks, in bytes, queries not counted.
struct Peaks {
    domain: Domain,
    /// Held always, without twiddles.
    base: u64,
    /// A vector of the domain's size.
    vector: u64,
    /// A witness of the greatest number of field elements.
    witness: u64,
    /// The sums over the witness, beside it.
    packed: u64,
    /// The sum over the quotient, beside that.
    h: u64,
}

impl Peaks {
    fn new(sizes: &Sizes) -> Self {
        let (shape, domain) = (&sizes.shape, sizes.domain);
        let (n, aux) = (domain.size() as u64, shape.aux as u64);
        // Two densities.
        let base = sizes.matrices + aux / 4 + SMALL;
        let witness = witness_bytes(shape.inputs, shape.aux, sizes.dense);
        // Lists of points by kind, and the counts from which they are made.
        let lists = 8 * aux + aux / 4;
        let scratch = SCRATCH.max(SCRATCH / MULTIPROCESSORS * u64::from(sizes.multiprocessors));
        let sum = |points: u64| scratch + PER_POINT * points;
        Self { domain, base, vector: 32 * n, witness, packed: lists + sum(aux), h: sum(n) }
    }

    fn quotient(&self, memory: Memory) -> u64 {
        memory.quotient_bytes::<Natural>(self.domain)
    }

    /// The peak over the stages of a proof, whose witness is sent twice.
    fn all(&self, memory: Memory) -> u64 {
        let products = self.witness + 2 * self.vector;
        let packed = self.witness + self.packed;
        self.between(memory).max(self.base + memory.twiddle_bytes(self.domain) + products.max(packed))
    }

    /// The peak of the stages between the products and the sums over the witness, without one.
    fn between(&self, memory: Memory) -> u64 {
        let stage = self.quotient(memory).max(self.vector + self.h);
        self.base + memory.twiddle_bytes(self.domain) + stage
    }
}

/// Bytes of a witness on the device: bitmaps with ranks, and field elements.
pub(crate) fn witness_bytes(inputs: usize, aux: usize, dense: usize) -> u64 {
    aux.div_ceil(64) as u64 * 20 + 32 * (inputs + dense) as u64
}

fn bytes_of(witness: &PackedWitness<Scalar>) -> u64 {
    witness_bytes(witness.inputs().len(), witness.num_aux(), witness.dense_values().len())
}

impl Plan {
    /// The fastest plan within the budgets, of which the device's must be known here.
    ///
    /// Of the queries whose sums go over the witness, which are short so that their copies would show, as many bytes as fit
    /// are on the device; then H, whose copy hides behind its sum; then the quotient takes the fast way if it can. Of what is left as
    /// many bytes as the host's budget allows are in pinned memory. The more memory, the more bytes are near.
    pub fn new(sizes: &Sizes, budgets: &Budgets) -> Result<Self, PlanError> {
        let device_budget = budgets.device.unwrap_or(u64::MAX);
        let peaks = Peaks::new(sizes);
        let least = peaks.all(Memory::Tight);
        let Some(spare) = device_budget.checked_sub(least) else {
            return Err(PlanError::Device { needed: least, budget: device_budget });
        };
        let bytes = |section| sizes.shape.query_bytes(section);
        let mut on_device = most(&[Section::L, Section::A, Section::BG1, Section::BG2], bytes, spare);
        let mut resident: u64 = on_device.iter().map(|section| bytes(*section)).sum();
        if bytes(Section::H) <= spare - resident {
            on_device.push(Section::H);
            resident += bytes(Section::H);
        }
        let ample = resident.saturating_add(peaks.all(Memory::Ample)) <= device_budget;
        let quotient = if ample { Memory::Ample } else { Memory::Tight };
        let witness_room = device_budget - resident - peaks.between(quotient);

        let away: Vec<Section> = QUERIES.into_iter().filter(|query| !on_device.contains(query)).collect();
        let host_budget = budgets.host.unwrap_or(u64::MAX);
        let pinned = most(&away, bytes, host_budget.saturating_sub(PIECES));
        let all: u64 = away.iter().map(|section| bytes(*section)).sum();
        let held = if sizes.origin == Origin::Made { all } else { 0 };
        let (needed, budget) = (PIECES + held, host_budget);
        if needed > budget {
            return Err(match held {
                0 => PlanError::Pieces { needed, budget },
                _ => PlanError::Host { needed, budget },
            });
        }
        let host_peak = PIECES + pinned.iter().map(|section| bytes(*section)).sum::<u64>();
        let pinned_room = budgets.host.map_or(u64::MAX, |budget| budget - host_peak);
        let place = |section| match () {
            () if on_device.contains(&section) => Place::Device,
            () if pinned.contains(&section) => Place::Pinned,
            () => Place::Origin,
        };
        let [h, l, a, b_g1, b_g2] = QUERIES.map(place);
        let device_peak = resident + peaks.base + quotient.twiddle_bytes(sizes.domain);
        let mut plan = Self {
            h,
            l,
            a,
            b_g1,
            b_g2,
            quotient,
            witness_room,
            device_peak,
            device_budget,
            host_peak,
            pinned_room,
        };
        plan.device_peak += plan.stages(sizes, &peaks);
        Ok(plan)
    }

    /// The most that a stage takes beside what is held always, `device_peak` so far.
    fn stages(&self, sizes: &Sizes, peaks: &Peaks) -> u64 {
        let shape = &sizes.shape;
        let sum = |section, beside: u64| {
            let (bases, stays) = (shape.query_points(section), self.place(section) == Place::Device);
            let scalars = match section {
                Section::H => Scalars::Dense { stream: false },
                _ => Scalars::Packed { len: shape.aux, ones: bases, dense: sizes.dense, stream: 0 },
            };
            let demand = Demand { bases, bases_stream: !stays, scalars };
            let budget = self.device_budget.saturating_sub(self.device_peak + beside);
            let memory = match section {
                Section::BG2 => demand.memory::<G2>(sizes.multiprocessors, budget),
                _ => demand.memory::<G1>(sizes.multiprocessors, budget),
            };
            beside + memory.taken.unwrap_or(memory.least)
        };
        let kept = peaks.witness.min(self.witness_room);
        let products = peaks.witness + 2 * peaks.vector;
        let stages = [products, kept + peaks.quotient(self.quotient), sum(Section::H, kept + peaks.vector)];
        let packed = QUERIES.into_iter().skip(1).map(|section| sum(section, peaks.witness));
        stages.into_iter().chain(packed).max().unwrap_or(0)
    }

    /// Where a query is; what is no query is at its origin.
    pub fn place(&self, query: Section) -> Place {
        match query {
            Section::H => self.h,
            Section::L => self.l,
            Section::A => self.a,
            Section::BG1 => self.b_g1,
            Section::BG2 => self.b_g2,
            _ => Place::Origin,
        }
    }

    /// Whether a witness stays on the device while the quotient is computed.
    pub(crate) fn keeps(&self, witness: &PackedWitness<Scalar>) -> bool {
        bytes_of(witness) <= self.witness_room
    }

    /// Whether there is room for a pinned copy of a witness.
    pub(crate) fn pins(&self, witness: &PackedWitness<Scalar>) -> bool {
        bytes_of(witness) <= self.pinned_room
    }

    /// The queries that are in a place.
    pub fn queries_in(&self, place: Place) -> impl Iterator<Item = Section> + '_ {
        QUERIES.into_iter().filter(move |query| self.place(*query) == place)
    }
}

/// Of these, as many bytes as there is room for; of equal choices one with the most queries, as some may have no points.
fn most(queries: &[Section], bytes: impl Fn(Section) -> u64, room: u64) -> Vec<Section> {
    let chosen = |choice: u32| {
        queries.iter().enumerate().filter(move |(i, _)| choice >> i & 1 == 1).map(|(_, query)| *query)
    };
    let total = |choice: u32| chosen(choice).map(&bytes).sum::<u64>();
    let best = (0..1u32 << queries.len())
        .filter(|choice| total(*choice) <= room)
        .max_by_key(|choice| (total(*choice), choice.count_ones()));
    chosen(best.unwrap_or(0)).collect()
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places =
            [(Place::Device, "on the device"), (Place::Pinned, "pinned"), (Place::Origin, "at their origin")];
        for (place, words) in places {
            let names: Vec<String> = self.queries_in(place).map(|query| query.to_string()).collect();
            if !names.is_empty() {
                write!(f, "{} {words}, ", names.join(" "))?;
            }
        }
        let way = match self.quotient {
            Memory::Ample => "ample",
            Memory::Tight => "tight",
        };
        let [stays, pinned] = [self.witness_room, self.pinned_room].map(Gigabytes);
        write!(
            f,
            "{way} quotient, a witness of up to {stays} stays, one of up to {pinned} has a pinned copy; "
        )?;
        let [device, budget, host] = [self.device_peak, self.device_budget, self.host_peak].map(Gigabytes);
        write!(f, "{device} of {budget} on the device, {host} on the host")
    }
}

/// Bytes, in units of 10^9.
struct Gigabytes(u64);

impl fmt::Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => f.write_str("any number of bytes"),
            bytes => write!(f, "{:.2} GB", bytes as f64 / 1e9),
        }
    }
}
