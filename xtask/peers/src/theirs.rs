//! bellperson behind the few operations that the comparisons need.

use std::{error::Error, fs::File, io::BufReader, path::Path};

use bellpepper_core_02::Circuit;
use bellperson::groth16::{self, Parameters, Proof};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use group::Group;

/// The five secrets of a setup, in bellperson's order: alpha, beta, gamma, delta, tau.
pub type Secrets = [Scalar; 5];

/// Parameters from known secrets and the standard generators, as a file's bytes.
pub fn setup(circuit: impl Circuit<Scalar>, secrets: &Secrets) -> Result<Vec<u8>, Box<dyn Error>> {
    let [alpha, beta, gamma, delta, tau] = *secrets;
    let parameters = groth16::generate_parameters::<Bls12, _>(
        circuit,
        G1Projective::generator(),
        G2Projective::generator(),
        alpha,
        beta,
        gamma,
        delta,
        tau,
    )?;
    let mut bytes = Vec::new();
    parameters.write(&mut bytes)?;
    Ok(bytes)
}

/// Reads parameters, every point checked to be on the curve and in the subgroup.
pub fn parse(bytes: &[u8]) -> Result<Parameters<Bls12>, Box<dyn Error>> {
    Ok(Parameters::read(bytes, true)?)
}

/// Reads a parameter file without the checks, as production does.
pub fn load(path: &Path) -> Result<Parameters<Bls12>, Box<dyn Error>> {
    Ok(Parameters::read(BufReader::with_capacity(1 << 20, File::open(path)?), false)?)
}

/// The 192 bytes of the proof for these r and s.
pub fn prove(
    circuit: impl Circuit<Scalar> + Send,
    parameters: &Parameters<Bls12>,
    r: Scalar,
    s: Scalar,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let proof = groth16::create_proof::<Bls12, _, _>(circuit, parameters, r, s)?;
    let mut bytes = Vec::with_capacity(192);
    proof.write(&mut bytes)?;
    Ok(bytes)
}

/// Whether the proof verifies; `inputs` are without ONE.
pub fn verify(
    parameters: &Parameters<Bls12>,
    proof: &[u8],
    inputs: &[Scalar],
) -> Result<bool, Box<dyn Error>> {
    let key = groth16::prepare_verifying_key(&parameters.vk);
    Ok(groth16::verify_proof(&key, &Proof::read(proof)?, inputs)?)
}
