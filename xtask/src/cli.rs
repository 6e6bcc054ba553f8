//! The commands and their flags.

use std::{ops::RangeInclusive, path::PathBuf};

use circuits::shape::CircuitName;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::{bench::LogSizes, size::Size};

/// A Groth16 prover for Filecoin's circuits.
#[derive(Debug, Parser)]
#[command(name = "xtask", version, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON object as the last line of standard output; everything else goes to standard error.
    #[arg(long, global = true, display_order = 900)]
    pub json: bool,
}

/// One command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// From a vanilla proof to a verified Groth16 proof.
    Prove(Prove),
    /// Verify a proof: exit code 0 for a valid one, 1 for an invalid one, 2 for unusable input.
    Verify(Verify),
    /// Make test parameters. Whoever knows their seed can forge proofs.
    Setup(Setup),
    /// Compile a circuit, into the cache or a file.
    Compile(Compile),
    /// Counts, densities and digest of a circuit.
    Inspect(Inspect),
    /// Synthesis alone.
    SynthOnly(SynthOnly),
    /// Medians, rates and shares of the floor.
    Bench(Bench),
    /// Comparisons with bellperson and storage-proofs, from their own workspace (needs cargo and the sources).
    Peers(Peers),
    /// What continuous integration runs (needs cargo and the sources).
    Ci(Ci),
}

/// Where the arithmetic runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A device where there is one, otherwise the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device, or exit code 3.
    Cuda,
}

/// Where the arithmetic runs, and how much memory it may take.
#[derive(Args, Clone, Debug, Default)]
pub struct Hardware {
    /// Where the arithmetic runs.
    #[arg(long, value_enum, default_value_t)]
    pub backend: Backend,
    /// The devices to use, by number. Default: 0.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub device: Vec<u32>,
    /// At most this much memory of each device (GiB, GB or MiB). Default: what is free.
    #[arg(long, value_name = "SIZE")]
    pub device_memory: Option<Size>,
    /// At most this much host memory (GiB, GB or MiB). Default: what is available, of which a device's points take three quarters.
    #[arg(long, value_name = "SIZE")]
    pub host_memory: Option<Size>,
}

/// Which statement to prove.
#[derive(Args, Clone, Debug)]
pub struct Source {
    /// The circuit: porep, winning, window or update, with a sector size (porep-2KiB, window-32GiB, …).
    #[arg(long, value_name = "NAME", default_value = "winning-2KiB")]
    pub circuit: CircuitName,
    /// The vanilla proof; several for the sectors or partitions of one proof. Default: the embedded one.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "synthetic")]
    pub input: Vec<PathBuf>,
    /// Prove a synthetic sector, made from this seed.
    #[arg(long, value_name = "SEED")]
    pub synthetic: Option<u64>,
    /// Only this partition, counted from 0.
    #[arg(long, value_name = "K")]
    pub partition: Option<usize>,
}

/// Flags of `prove`.
#[derive(Args, Debug)]
pub struct Prove {
    #[command(flatten)]
    pub source: Source,
    /// The number of synthetic sectors, which are all in memory at a time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub sectors: u32,
    /// The parameter file. Default: the ceremony's from FIL_PROOFS_PARAMETER_CACHE, otherwise test parameters.
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,
    /// A verifying key that the parameters must carry.
    #[arg(long, value_name = "FILE")]
    pub vk: Option<PathBuf>,
    #[command(flatten)]
    pub hardware: Hardware,
    /// Prove this many times in one process.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Expected public inputs: JSON, an array per partition of 32-byte little-endian hex strings, without ONE.
    #[arg(long, value_name = "FILE")]
    pub public: Option<PathBuf>,
    /// Return the proof without verifying it.
    #[arg(long)]
    pub no_verify: bool,
    /// Write a Chrome trace of the run.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Write FILE.proof, FILE.public.json and FILE.vk.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Flags of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    /// The verifying key.
    #[arg(long, value_name = "FILE")]
    pub vk: PathBuf,
    /// 192 bytes a partition.
    #[arg(long, value_name = "FILE")]
    pub proof: PathBuf,
    /// JSON: an array per partition of 32-byte little-endian hex strings, without ONE.
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
}

/// Flags of `setup`.
#[derive(Args, Debug)]
pub struct Setup {
    /// The circuit's name.
    #[arg(long, value_name = "NAME")]
    pub circuit: CircuitName,
    /// Writes FILE.params and FILE.vk.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Makes the same parameters every time. Default: fresh randomness, forgotten afterwards.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub hardware: Hardware,
}

/// Flags of `compile`.
#[derive(Args, Debug)]
pub struct Compile {
    /// The circuit's name.
    #[arg(long, value_name = "NAME")]
    pub circuit: CircuitName,
    /// Where the compiled circuit goes. Default: the cache.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Flags of `inspect`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("which").required(true).args(["circuit", "all"])))]
pub struct Inspect {
    /// The circuit's name.
    #[arg(long, value_name = "NAME")]
    pub circuit: Option<CircuitName>,
    /// Every circuit; with --check, every circuit that the file names.
    #[arg(long)]
    pub all: bool,
    /// Compare with the golden counts and digests of this file.
    #[arg(long, value_name = "FILE", requires = "all", conflicts_with = "circuit")]
    pub check: Option<PathBuf>,
}

/// How `synth-only` synthesises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SynthesisPath {
    /// The whole assignment with a, b and c.
    Classic,
    /// The packed witness by native generators.
    #[default]
    Packed,
}

/// Flags of `synth-only`.
#[derive(Args, Debug)]
pub struct SynthOnly {
    #[command(flatten)]
    pub source: Source,
    /// The number of iterations; the first has no capacity hint.
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Which way.
    #[arg(long, value_enum, default_value_t)]
    pub path: SynthesisPath,
}

/// What `bench` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Subject {
    /// Transforms.
    Ntt,
    /// Multi-scalar multiplications.
    Msm,
    /// Whole proofs.
    Prove,
    /// Synthesis.
    Synthesis,
}

impl Subject {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ntt => "ntt",
            Self::Msm => "msm",
            Self::Prove => "prove",
            Self::Synthesis => "synthesis",
        }
    }
}

/// Flags of `bench`.
#[derive(Args, Debug)]
pub struct Bench {
    /// What to measure.
    #[arg(value_enum)]
    pub subject: Subject,
    /// Base-two logarithms of the sizes: 18..=24, 20, or several of these.
    #[arg(long, value_name = "A..=B,K,…")]
    pub log_n: Option<LogSizes>,
    /// Runs of each variant or size, whose medians are reported. Default: 12 for synthesis, 7 for msm, 5 for prove; ntt sets its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Plot time, rate and share of the floor by size.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Prove these circuits (all partitions of a synthetic sector); chains of SHA-256 too, if --log-n gives their sizes.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub circuit: Vec<CircuitName>,
    /// Where whole proofs are made. Default: a device where there is one, otherwise the processor.
    #[arg(long, value_enum)]
    pub backend: Option<Backend>,
}

impl Bench {
    /// The sizes asked for, or these.
    pub fn sizes(&self, default: RangeInclusive<u32>) -> Vec<u32> {
        self.log_n.as_ref().map_or_else(|| default.collect(), |sizes| sizes.0.clone())
    }
}

/// Flags of `peers`.
#[derive(Args, Debug)]
pub struct Peers {
    /// The comparison (prove, interop, …) and its flags; all of them without one.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

/// Flags of `ci`.
#[derive(Args, Debug)]
pub struct Ci {
    /// Also run the ignored tests and the long sweeps.
    #[arg(long)]
    pub full: bool,
}
