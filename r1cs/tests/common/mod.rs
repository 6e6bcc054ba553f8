//! Random structured circuits: dense, sparse, constant, unused and repeated variables, cancelling terms, inputs after
//! constraints, and bindings.
#![allow(dead_code, reason = "each test crate uses its part")]

use assignment::{CircuitId, StructuredCircuit};
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A variable and its value, unless the circuit is blank.
pub type Known = (Variable, Option<Scalar>);

/// A circuit whose structure depends on `seed` alone, and whose values also on `values`.
#[derive(Clone, Debug)]
pub struct Synthetic {
    pub seed: u64,
    pub values: Option<u64>,
    pub units: usize,
    /// Steps in the prefix and in a unit; each gives one or two constraints.
    pub steps: (usize, usize),
    /// Bindings of each unit.
    pub bound: usize,
    /// The unit and step where a product's value is wrong.
    pub fault: Option<(usize, usize)>,
    /// The unit that does one thing differently.
    pub odd: Option<usize>,
}

impl Synthetic {
    pub fn new(seed: u64, units: usize) -> Self {
        Self { seed, values: Some(seed), units, steps: (40, 60), bound: 5, fault: None, odd: None }
    }

    pub fn blank(&self) -> Self {
        Self { values: None, fault: None, ..self.clone() }
    }
}

pub struct Prefix {
    pub bound: Vec<Known>,
    pub fixed: Vec<Known>,
}

fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// The coefficients that circuits have, and some that they have rarely.
fn coefficient(rng: &mut ChaCha8Rng) -> Scalar {
    match below(rng, 8) {
        0 | 1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(2).pow_vartime([rng.next_u64() % 255]),
        4 => -Scalar::from(2).pow_vartime([rng.next_u64() % 64]),
        5 => Scalar::from(rng.next_u64() % 1000),
        6 => Scalar::ZERO,
        _ => Scalar::random(&mut *rng),
    }
}

struct Builder<'a, CS> {
    cs: &'a mut CS,
    structure: ChaCha8Rng,
    values: Option<ChaCha8Rng>,
    scope: Vec<Known>,
    fault: Option<usize>,
}

impl<CS: ConstraintSystem<Scalar>> Builder<'_, CS> {
    fn value(&mut self, f: impl FnOnce(&mut ChaCha8Rng) -> Scalar) -> Option<Scalar> {
        self.values.as_mut().map(f)
    }

    fn alloc(&mut self, input: bool, value: Option<Scalar>) -> Variable {
        let known = || value.ok_or(SynthesisError::AssignmentMissing);
        let variable = if input { self.cs.alloc_input(|| "", known) } else { self.cs.alloc(|| "", known) };
        let variable = variable.unwrap();
        self.scope.push((variable, value));
        variable
    }

    fn bit(&mut self) -> Known {
        let value = self.value(|rng| Scalar::from(rng.next_u64() % 2));
        let bit = self.alloc(false, value);
        let one = CS::one();
        self.cs.enforce(|| "", |lc| lc + one - bit, |lc| lc + bit, |lc| lc);
        (bit, value)
    }

    /// A random combination over the scope, with repetitions, and its value.
    fn combination(&mut self) -> (LinearCombination<Scalar>, Option<Scalar>) {
        let mut lc = LinearCombination::zero();
        let mut sum = Some(Scalar::ZERO);
        for _ in 0..below(&mut self.structure, 6) {
            let (variable, value) = match below(&mut self.structure, 4) {
                0 => (CS::one(), Some(Scalar::ONE)),
                _ => self.scope[below(&mut self.structure, self.scope.len())],
            };
            let coefficient = coefficient(&mut self.structure);
            lc = lc + (coefficient, variable);
            sum = sum.zip(value).map(|(sum, value)| sum + coefficient * value);
            // Terms that cancel leave a zero coefficient behind.
            if below(&mut self.structure, 5) == 0 {
                lc = lc - (coefficient, variable);
                sum = sum.zip(value).map(|(sum, value)| sum - coefficient * value);
            }
        }
        (lc, sum)
    }

    fn step(&mut self, step: usize) {
        match below(&mut self.structure, 8) {
            0 | 1 => drop(self.bit()),
            2 => {
                // Unused unless a later combination takes it.
                let value = self.value(|rng| Scalar::random(rng));
                self.alloc(false, value);
            }
            3 => {
                let value = self.value(|rng| Scalar::random(rng));
                self.alloc(true, value);
            }
            4 => {
                let k = coefficient(&mut self.structure);
                let one = CS::one();
                self.cs.enforce(|| "", |lc| lc + (k, one), |lc| lc + (k, one), |lc| lc + (k * k, one));
            }
            5 => {
                let bits: Vec<_> = (0..70).map(|_| self.bit()).collect();
                let mut power = Scalar::ONE;
                let mut lc = LinearCombination::zero();
                let mut sum = Some(Scalar::ZERO);
                for (bit, value) in bits {
                    lc = lc + (power, bit);
                    sum = sum.zip(value).map(|(sum, value)| sum + power * value);
                    power = power.double();
                }
                let packed = self.alloc(false, sum);
                let one = CS::one();
                self.cs.enforce(|| "", |_| lc, |lc| lc + one, |lc| lc + packed);
            }
            _ => {
                let (a, a_value) = self.combination();
                let (b, b_value) = self.combination();
                let mut product = a_value.zip(b_value).map(|(a, b)| a * b);
                if self.fault == Some(step) {
                    product = product.map(|product| product + Scalar::ONE);
                }
                let input = below(&mut self.structure, 4) == 0;
                let c = self.alloc(input, product);
                self.cs.enforce(|| "", |_| a, |_| b, |lc| lc + c);
            }
        }
    }
}

impl StructuredCircuit<Scalar> for Synthetic {
    type Prefix = Prefix;

    fn id(&self) -> CircuitId {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&self.seed.to_le_bytes());
        digest[8..16].copy_from_slice(&(self.units as u64).to_le_bytes());
        CircuitId::new("synthetic", digest)
    }

    fn units(&self) -> usize {
        self.units
    }

    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(&self, cs: &mut CS) -> Result<Prefix, SynthesisError> {
        let mut builder = Builder {
            cs,
            structure: ChaCha8Rng::seed_from_u64(self.seed),
            values: self.values.map(|seed| ChaCha8Rng::seed_from_u64(seed ^ 0xabcd)),
            scope: vec![(CS::one(), Some(Scalar::ONE))],
            fault: None,
        };
        let mut bound = vec![];
        for i in 0..self.units * self.bound {
            // Bound variables are bits, elements and inputs.
            match i % 3 {
                0 => bound.push(builder.bit()),
                1 => {
                    let value = builder.value(|rng| Scalar::random(rng));
                    bound.push((builder.alloc(false, value), value));
                }
                _ => {
                    let value = builder.value(|rng| Scalar::random(rng));
                    bound.push((builder.alloc(true, value), value));
                }
            }
        }
        builder.scope.truncate(1);
        (0..self.steps.0).for_each(|step| builder.step(step));
        Ok(Prefix { bound, fixed: builder.scope })
    }

    fn bindings(&self, prefix: &Prefix, unit: usize) -> Vec<Variable> {
        // In an order of each copy's own, so that expanded rows must be sorted anew.
        let mut bound: Vec<_> =
            prefix.bound[unit * self.bound..][..self.bound].iter().map(|(variable, _)| *variable).collect();
        bound.rotate_left(unit % self.bound.max(1));
        bound
    }

    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        prefix: &Prefix,
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let mut bound = prefix.bound[unit * self.bound..][..self.bound].to_vec();
        bound.rotate_left(unit % self.bound.max(1));
        // A few of the prefix's variables, so that most combinations are over the unit's own.
        let fixed = prefix.fixed.iter().step_by(7).copied();
        let mut builder = Builder {
            cs,
            structure: ChaCha8Rng::seed_from_u64(self.seed ^ 0x1234_5678),
            values: self.values.map(|seed| ChaCha8Rng::seed_from_u64(seed.wrapping_add(unit as u64 + 1))),
            scope: bound.into_iter().chain(fixed).collect(),
            fault: self.fault.filter(|(u, _)| *u == unit).map(|(_, step)| step),
        };
        for step in 0..self.steps.1 {
            builder.step(step);
            if self.odd == Some(unit) && step == self.steps.1 / 2 {
                let (variable, _) = builder.scope[builder.scope.len() - 1];
                builder.cs.enforce(|| "", |lc| lc + variable, |lc| lc, |lc| lc);
            }
        }
        Ok(())
    }
}
