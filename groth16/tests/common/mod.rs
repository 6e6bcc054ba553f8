//! Circuits to prove.
#![allow(dead_code, reason = "each test binary uses some of it")]

use assignment::{CircuitId, PackedWitness, ProvingAssignment, WitnessCS};
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::{G1Affine, Scalar};
use ff::Field;
use groth16::{Parameters, ToxicWaste, setup};
use r1cs::CompiledCircuit;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

pub fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// `x³ + x + 5 = y` with public `y`.
#[derive(Clone)]
pub struct Cubic(pub u64);

impl Circuit<Scalar> for Cubic {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = Scalar::from(self.0);
        let y = x * x * x + x + Scalar::from(5);
        let [vx, vx2] = [x, x * x].map(|value| cs.alloc(|| "", || Ok(value)));
        let (vx, vx2) = (vx?, vx2?);
        cs.enforce(|| "", |lc| lc + vx, |lc| lc + vx, |lc| lc + vx2);
        let vy = cs.alloc_input(|| "", || Ok(y))?;
        let five = (Scalar::from(5), CS::one());
        cs.enforce(|| "", |lc| lc + vx2, |lc| lc + vx, |lc| lc + vy - vx - five);
        Ok(())
    }
}

/// A random circuit with a satisfying assignment: sparse and dense rows, constants, repeated variables, zero coefficients, bits,
/// inputs allocated between constraints.
#[derive(Clone)]
pub struct Random {
    pub structure: u64,
    pub values: u64,
    pub constraints: usize,
    /// This constraint's product is off by one.
    pub wrong: Option<usize>,
}

impl Random {
    pub fn new(structure: u64, constraints: usize) -> Self {
        Self { structure, values: structure ^ 0xabcd, constraints, wrong: None }
    }
}

impl Circuit<Scalar> for Random {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut shape, mut values) = (rng(self.structure), rng(self.values));
        let mut known: Vec<(Variable, Scalar)> = vec![(CS::one(), Scalar::ONE)];
        for i in 0..self.constraints {
            match shape.next_u32() % 4 {
                0 => {
                    let value = Scalar::random(&mut values);
                    known.push((cs.alloc_input(|| "", || Ok(value))?, value));
                }
                1 => {
                    // A bit: (1 - b)·b = 0.
                    let bit = Scalar::from(u64::from(values.next_u32() & 1));
                    let variable = cs.alloc(|| "", || Ok(bit))?;
                    cs.enforce(|| "", |lc| lc + CS::one() - variable, |lc| lc + variable, |lc| lc);
                    known.push((variable, bit));
                }
                _ => {}
            }
            let mut combination = |known: &[(Variable, Scalar)]| {
                let terms = [1, 1, 2, 3, 20][shape.next_u32() as usize % 5];
                let (mut lc, mut value) = (LinearCombination::zero(), Scalar::ZERO);
                for _ in 0..terms {
                    let (variable, of) = known[shape.next_u32() as usize % known.len()];
                    let coefficient = match shape.next_u32() % 5 {
                        0 => -Scalar::ONE,
                        1 => Scalar::ZERO,
                        2 => Scalar::from(u64::from(shape.next_u32())).square().square(),
                        _ => Scalar::ONE,
                    };
                    lc = lc + (coefficient, variable);
                    value += coefficient * of;
                }
                (lc, value)
            };
            let (a, a_value) = combination(&known);
            let (b, b_value) = combination(&known);
            let off = if self.wrong == Some(i) { Scalar::ONE } else { Scalar::ZERO };
            let value = a_value * b_value + off;
            let product = cs.alloc(|| "", || Ok(value))?;
            cs.enforce(|| "", |_| a, |_| b, |lc| lc + product);
            known.push((product, value));
        }
        Ok(())
    }
}

/// MiMC with public image: `x ← (x + c_i)³`, repeated.
#[derive(Clone)]
pub struct Mimc {
    pub preimage: Scalar,
    pub rounds: u64,
}

impl Circuit<Scalar> for Mimc {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.preimage;
        let mut x = cs.alloc(|| "", || Ok(value))?;
        for i in 0..self.rounds {
            let constant = Scalar::from(i).square() + Scalar::from(7);
            let square = (value + constant).square();
            let squared = cs.alloc(|| "", || Ok(square))?;
            let term = (constant, CS::one());
            cs.enforce(|| "", |lc| lc + x + term, |lc| lc + x + term, |lc| lc + squared);
            let cube = square * (value + constant);
            let cubed = if i + 1 == self.rounds {
                cs.alloc_input(|| "", || Ok(cube))?
            } else {
                cs.alloc(|| "", || Ok(cube))?
            };
            cs.enforce(|| "", |lc| lc + squared, |lc| lc + x + term, |lc| lc + cubed);
            (x, value) = (cubed, cube);
        }
        Ok(())
    }
}

pub fn compile(circuit: impl Circuit<Scalar>) -> CompiledCircuit {
    CompiledCircuit::compile_plain(CircuitId::new("test", [0; 32]), circuit).unwrap()
}

pub fn witness(circuit: impl Circuit<Scalar>) -> PackedWitness<Scalar> {
    let mut cs = WitnessCS::with_hint(None);
    circuit.synthesize(&mut cs).unwrap();
    cs.into_witness()
}

pub fn assignment(circuit: impl Circuit<Scalar>) -> ProvingAssignment<Scalar> {
    let mut cs = ProvingAssignment::with_hint(None);
    circuit.synthesize(&mut cs).unwrap();
    cs
}

pub fn waste(seed: u64) -> ToxicWaste {
    ToxicWaste::random(&mut rng(seed))
}

pub fn parameters(circuit: &CompiledCircuit) -> Parameters {
    setup(circuit, waste(11)).unwrap()
}

/// A point on the curve outside the subgroup.
pub fn outside_subgroup() -> G1Affine {
    (1u8..=255)
        .find_map(|x| {
            let mut bytes = [0; 48];
            (bytes[0], bytes[47]) = (0x80, x);
            let point = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))?;
            (!bool::from(point.is_torsion_free())).then_some(point)
        })
        .unwrap()
}
