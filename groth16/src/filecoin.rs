//! Entry points by Filecoin's proof types: from vanilla proofs to verified proofs.

use std::sync::Arc;

use assignment::{NativeWitnessError, StructuredCircuit, native_witness};
use circuits::FilecoinCircuit;
use circuits::error::{CircuitError, WitnessError};
use circuits::input::Partitions;
use circuits::shape::CircuitName;
use circuits::vanilla::{PorepPartition, PostPartition, UpdatePartition};
use r1cs::{CompileError, CompiledCircuit};
use rand_core::{CryptoRng, RngCore};
use thiserror::Error;

use crate::{Backend, BatchError, Parameters, Proof, ProveError, ProveManyError, Proved, Prover, ToxicWaste};

/// A Filecoin proof that was not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilecoinError {
    /// The circuit could not be compiled.
    #[error("compiling {name}: {source}")]
    Compile {
        /// The circuit's name.
        name: CircuitName,
        /// Why.
        source: CompileError,
    },
    /// The compiled circuit is another one.
    #[error("the compiled circuit is {got}, not {name}")]
    OtherCircuit {
        /// The name that was asked for.
        name: CircuitName,
        /// The key of the compiled circuit.
        got: String,
    },
    /// The vanilla proofs are of another proof or size.
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    /// A vanilla proof does not hold: the source names the relation.
    #[error("partition {partition}: {source}")]
    Witness {
        /// The partition, counted through all sectors.
        partition: usize,
        /// Which relation.
        source: Box<NativeWitnessError<WitnessError>>,
    },
    /// Proving failed.
    #[error("partition {partition}: {source}")]
    Prove {
        /// The partition, counted through all sectors.
        partition: usize,
        /// Why.
        source: Box<ProveError>,
    },
    /// The finished proofs do not verify.
    #[error("the finished proofs do not verify: {0}")]
    Verification(#[from] BatchError),
    /// The prover could not be set up.
    #[error(transparent)]
    Prover(ProveError),
}

/// The partitions of one sector, proven and verified.
#[derive(Debug, Clone)]
pub struct FilecoinProof {
    /// One proof for each partition, in order.
    pub partitions: Vec<Proved>,
}

impl FilecoinProof {
    /// Filecoin's form of the proof: the partitions' proofs one after another, 192 bytes each.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.partitions.iter().flat_map(|proved| proved.proof.to_bytes()).collect()
    }
}

/// A prover of one of Filecoin's circuits, reused for proof after proof.
///
/// A method that is given another proof's circuit answers [`CircuitError::Proof`]. All proofs of a call are verified as one batch
/// before they are returned.
#[derive(Debug)]
pub struct FilecoinProver {
    name: CircuitName,
    prover: Prover,
}

/// Compiles a production circuit.
pub fn compile(name: CircuitName) -> Result<CompiledCircuit, FilecoinError> {
    let circuit = FilecoinCircuit::blank(name)?;
    CompiledCircuit::compile(&circuit).map_err(|source| FilecoinError::Compile { name, source })
}

fn check_circuit(name: CircuitName, circuit: &CompiledCircuit) -> Result<(), FilecoinError> {
    match FilecoinCircuit::blank(name)?.id() == *circuit.id() {
        true => Ok(()),
        false => Err(FilecoinError::OtherCircuit { name, got: circuit.id().to_string() }),
    }
}

impl FilecoinProver {
    /// A prover of `name`'s circuit, [compiled](compile) before.
    pub fn new(
        name: CircuitName,
        circuit: Arc<CompiledCircuit>,
        parameters: Arc<Parameters>,
        backend: Backend,
    ) -> Result<Self, FilecoinError> {
        check_circuit(name, &circuit)?;
        let prover = Prover::new(circuit, parameters, backend).map_err(FilecoinError::Prover)?;
        Ok(Self { name, prover: prover.verify_proofs(false) })
    }

    /// The same with **test parameters** from a trapdoor: see [`Prover::with_test_parameters`].
    pub fn with_test_parameters(
        name: CircuitName,
        circuit: Arc<CompiledCircuit>,
        waste: ToxicWaste,
        backend: Backend,
    ) -> Result<Self, FilecoinError> {
        check_circuit(name, &circuit)?;
        let prover = Prover::with_test_parameters(circuit, waste, backend).map_err(FilecoinError::Prover)?;
        Ok(Self { name, prover: prover.verify_proofs(false) })
    }

    /// One partition of a PoRep.
    pub fn porep_partition(
        &self,
        partition: PorepPartition,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Proved, FilecoinError> {
        let mut proved = self.all(Partitions::Porep(vec![partition]), rng)?;
        proved.pop().ok_or(FilecoinError::Verification(BatchError::Empty))
    }

    /// All partitions of a sector's PoRep.
    pub fn porep_sector(
        &self,
        partitions: Vec<PorepPartition>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.all(Partitions::Porep(partitions), rng)? })
    }

    /// The PoReps of many sectors.
    pub fn porep_sectors(
        &self,
        sectors: Vec<Vec<PorepPartition>>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Vec<FilecoinProof>, FilecoinError> {
        let lengths: Vec<usize> = sectors.iter().map(Vec::len).collect();
        let all = self.all(Partitions::Porep(sectors.into_iter().flatten().collect()), rng)?;
        let mut all = all.into_iter();
        Ok(lengths
            .into_iter()
            .map(|len| FilecoinProof { partitions: all.by_ref().take(len).collect() })
            .collect())
    }

    /// A WinningPoSt.
    pub fn winning_post(
        &self,
        partition: PostPartition,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.all(Partitions::Post(vec![partition]), rng)? })
    }

    /// All partitions of a WindowPoSt.
    pub fn window_post(
        &self,
        partitions: Vec<PostPartition>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.all(Partitions::Post(partitions), rng)? })
    }

    /// All partitions of a SnapDeals proof.
    pub fn update(
        &self,
        partitions: Vec<UpdatePartition>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.all(Partitions::Update(partitions), rng)? })
    }

    fn all(
        &self,
        partitions: Partitions,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<Vec<Proved>, FilecoinError> {
        let circuits = FilecoinCircuit::all(self.name, partitions)?;
        let mut out = Vec::with_capacity(circuits.len());
        let witnesses = circuits.into_iter().map(|circuit| native_witness(&circuit));
        self.prover.prove_many(witnesses, rng, |proved| out.push(proved)).map_err(|error| match error {
            ProveManyError::Witness { index, source } => {
                FilecoinError::Witness { partition: index, source: Box::new(source) }
            }
            ProveManyError::Prove { index, source } => FilecoinError::Prove { partition: index, source },
        })?;
        let batch: Vec<(Proof, _)> =
            out.iter().map(|proved| (proved.proof, proved.public_inputs.clone())).collect();
        self.prover.verifying_key().verify_batch(&batch, rng)?;
        Ok(out)
    }
}
