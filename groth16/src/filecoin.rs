//! Entry points by Filecoin's proof types: from vanilla proofs to verified proofs.

use std::ops::ControlFlow;
use std::path::Path;
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

use crate::{
    Backend, FileOptions, Fleet, FleetError, Outcome, Parameters, ProveError, ProveManyError, Proved,
    ToxicWaste, until_error,
};

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
    /// Proving failed, or the finished proof does not verify.
    #[error("partition {partition}: {source}")]
    Prove {
        /// The partition, counted through all sectors.
        partition: usize,
        /// Why.
        source: Box<ProveError>,
    },
    /// A prover could not be set up.
    #[error(transparent)]
    Fleet(#[from] FleetError),
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

/// A prover of one of Filecoin's circuits, reused for proof after proof, on one device or several.
///
/// A method that is given another proof's circuit answers [`CircuitError::Proof`]. All proofs of a call are verified as one batch
/// before they are returned.
#[derive(Debug)]
pub struct FilecoinProver {
    name: CircuitName,
    fleet: Fleet,
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
    /// A prover of `name`'s circuit, [compiled](compile) before, on each of the backends.
    pub fn new(
        name: CircuitName,
        circuit: Arc<CompiledCircuit>,
        parameters: Arc<Parameters>,
        backends: &[Backend],
    ) -> Result<Self, FilecoinError> {
        check_circuit(name, &circuit)?;
        Ok(Self { name, fleet: Fleet::with_parameters(&circuit, &parameters, backends)? })
    }

    /// The same with parameters in a file: see [`Prover::with_parameter_file`](crate::Prover::with_parameter_file).
    pub fn with_parameter_file(
        name: CircuitName,
        circuit: Arc<CompiledCircuit>,
        path: impl AsRef<Path>,
        options: FileOptions<'_>,
        backends: &[Backend],
    ) -> Result<Self, FilecoinError> {
        check_circuit(name, &circuit)?;
        Ok(Self { name, fleet: Fleet::with_parameter_file(&circuit, path, options, backends)? })
    }

    /// The same with **test parameters** from a trapdoor: see [`Fleet::with_test_parameters`].
    pub fn with_test_parameters(
        name: CircuitName,
        circuit: Arc<CompiledCircuit>,
        waste: ToxicWaste,
        backends: &[Backend],
    ) -> Result<Self, FilecoinError> {
        check_circuit(name, &circuit)?;
        Ok(Self { name, fleet: Fleet::with_test_parameters(&circuit, waste, backends)? })
    }

    /// The same with provers that exist already, for instance in [workers](crate::worker). Their circuit is not looked at: every proof
    /// of another one fails.
    pub fn with_fleet(name: CircuitName, fleet: Fleet) -> Self {
        Self { name, fleet }
    }

    /// The provers, for instance to put a new one in the place of one whose device failed.
    pub fn fleet_mut(&mut self) -> &mut Fleet {
        &mut self.fleet
    }

    /// One partition of a PoRep.
    pub fn porep_partition(
        &self,
        partition: PorepPartition,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<Proved, FilecoinError> {
        let mut proved = self.prove(Partitions::Porep(vec![partition]), rng)?;
        proved.pop().ok_or(CircuitError::Shape { what: "a partition", got: 0 }.into())
    }

    /// All partitions of a sector's PoRep.
    pub fn porep_sector(
        &self,
        partitions: Vec<PorepPartition>,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.prove(Partitions::Porep(partitions), rng)? })
    }

    /// The PoReps of many sectors. A sector of which a partition fails has an error of its own, and the others are proved all the same.
    ///
    /// # Errors
    /// Only what is wrong with the call as a whole.
    pub fn porep_sectors(
        &self,
        sectors: Vec<Vec<PorepPartition>>,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<Vec<Result<FilecoinProof, FilecoinError>>, FilecoinError> {
        let lengths: Vec<usize> = sectors.iter().map(Vec::len).collect();
        let partitions = Partitions::Porep(sectors.into_iter().flatten().collect());
        let mut outcomes = self.outcomes(partitions, rng, |_| ControlFlow::Continue(()))?.into_iter();
        let sector = |len| {
            // All of a sector's outcomes are taken, whichever of them is an error.
            let outcomes: Vec<_> = outcomes.by_ref().take(len).collect();
            let partitions = outcomes.into_iter().collect::<Result<_, _>>()?;
            Ok(FilecoinProof { partitions })
        };
        Ok(lengths.into_iter().map(sector).collect())
    }

    /// A WinningPoSt.
    pub fn winning_post(
        &self,
        partition: PostPartition,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.prove(Partitions::Post(vec![partition]), rng)? })
    }

    /// All partitions of a WindowPoSt.
    pub fn window_post(
        &self,
        partitions: Vec<PostPartition>,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.prove(Partitions::Post(partitions), rng)? })
    }

    /// All partitions of a SnapDeals proof.
    pub fn update(
        &self,
        partitions: Vec<UpdatePartition>,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<FilecoinProof, FilecoinError> {
        Ok(FilecoinProof { partitions: self.prove(Partitions::Update(partitions), rng)? })
    }

    /// All of these partitions, whichever proof they are of; or the first error, which ends the work.
    pub fn prove(
        &self,
        partitions: Partitions,
        rng: &mut (impl RngCore + CryptoRng + Send),
    ) -> Result<Vec<Proved>, FilecoinError> {
        self.outcomes(partitions, rng, until_error)?.into_iter().collect()
    }

    /// `flow` says after each outcome whether to go on.
    fn outcomes(
        &self,
        partitions: Partitions,
        rng: &mut (impl RngCore + CryptoRng + Send),
        flow: impl FnMut(&Outcome<NativeWitnessError<WitnessError>>) -> ControlFlow<()>,
    ) -> Result<Vec<Result<Proved, FilecoinError>>, FilecoinError> {
        let circuits = FilecoinCircuit::all(self.name, partitions)?;
        let witnesses = circuits.into_iter().enumerate().map(|(partition, circuit)| {
            let _span = tracing::info_span!("witness", partition).entered();
            native_witness(&circuit)
        });
        let batch = self.fleet.prove_all(witnesses, rng, flow);
        let error = |error| match error {
            ProveManyError::Witness { index, source } => {
                FilecoinError::Witness { partition: index, source: Box::new(source) }
            }
            ProveManyError::Prove { index, source } => FilecoinError::Prove { partition: index, source },
        };
        Ok(batch.outcomes.into_iter().map(|outcome| outcome.map_err(error)).collect())
    }
}
