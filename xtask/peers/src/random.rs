//! Random circuits, described once and synthesised for either version of bellpepper-core.

use blstrs::Scalar;
use ff::Field;
use rand_core::RngCore;

/// A variable by its kind and its number among those of that kind, in order of allocation. Input 0 is ONE.
#[derive(Clone, Copy, Debug)]
pub enum Var {
    Input(usize),
    Aux(usize),
}

/// A linear combination as it is written down: terms may repeat a variable, and may cancel.
pub type Combination = Vec<(Var, Scalar)>;

/// One step of a synthesis.
#[derive(Clone, Debug)]
pub enum Step {
    Input(Scalar),
    Aux(Scalar),
    Enforce([Combination; 3]),
}

/// A satisfied circuit with its witness.
#[derive(Clone, Debug, Default)]
pub struct RandomCircuit {
    pub steps: Vec<Step>,
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
}

/// What [`RandomCircuit::new`] may put into a circuit besides ordinary constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Combinations of up to half of all variables.
    Dense,
    /// Combinations of one or two terms.
    Sparse,
    /// Combinations of ONE alone, and empty ones.
    Constant,
    /// The same variable several times in one combination, cancelling in part or entirely.
    Repeated,
    /// Inputs that no constraint names.
    UnusedInputs,
    /// Everything at once.
    Mixed,
}

impl Feature {
    pub const ALL: [Feature; 6] = [
        Feature::Dense,
        Feature::Sparse,
        Feature::Constant,
        Feature::Repeated,
        Feature::UnusedInputs,
        Feature::Mixed,
    ];

    fn allows(self, other: Feature) -> bool {
        self == other || self == Feature::Mixed
    }
}

impl RandomCircuit {
    /// About `constraints` random constraints, all satisfied. Inputs are allocated between constraints, the last one
    /// after all of them, and every aux variable is in some constraint.
    pub fn new(feature: Feature, constraints: usize, rng: &mut impl RngCore) -> Self {
        let mut circuit = Self { inputs: vec![Scalar::ONE], ..Self::default() };
        circuit.input(Scalar::random(&mut *rng));
        for _ in 0..3 {
            circuit.aux(Scalar::random(&mut *rng));
        }
        // The first aux variables would otherwise be at the mercy of chance.
        for index in 0..3 {
            circuit.constrain(vec![(Var::Aux(index), Scalar::ONE)], vec![(Var::Input(0), Scalar::ONE)], rng);
        }
        while circuit.constraints() < constraints {
            let a = circuit.combination(feature, rng);
            let b = circuit.combination(feature, rng);
            circuit.constrain(a, b, rng);
            if feature.allows(Feature::UnusedInputs) && rng.next_u32().is_multiple_of(8) {
                circuit.input(Scalar::random(&mut *rng));
            }
        }
        circuit.input(Scalar::random(&mut *rng));
        circuit
    }

    /// Adds an aux variable that no constraint names.
    pub fn with_unused_aux(mut self) -> Self {
        self.aux(Scalar::ONE);
        self
    }

    /// The public inputs, without ONE.
    pub fn public_inputs(&self) -> &[Scalar] {
        &self.inputs[1..]
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Enforce(_))).count()
    }

    fn input(&mut self, value: Scalar) -> Var {
        self.steps.push(Step::Input(value));
        self.inputs.push(value);
        Var::Input(self.inputs.len() - 1)
    }

    fn aux(&mut self, value: Scalar) -> Var {
        self.steps.push(Step::Aux(value));
        self.aux.push(value);
        Var::Aux(self.aux.len() - 1)
    }

    fn value(&self, var: Var) -> Scalar {
        match var {
            Var::Input(index) => self.inputs[index],
            Var::Aux(index) => self.aux[index],
        }
    }

    fn evaluate(&self, combination: &Combination) -> Scalar {
        combination.iter().map(|(var, coefficient)| self.value(*var) * coefficient).sum()
    }

    /// `a * b = c` with a fresh variable for the product: mostly aux, sometimes an input.
    fn constrain(&mut self, a: Combination, b: Combination, rng: &mut impl RngCore) {
        let product = self.evaluate(&a) * self.evaluate(&b);
        let mut c = vec![(self.any(rng), Scalar::random(&mut *rng))];
        let rest = product - self.evaluate(&c);
        // The fresh variable's coefficient: 1 half of the time.
        let coefficient =
            if rng.next_u32().is_multiple_of(2) { Scalar::ONE } else { Scalar::random(&mut *rng) };
        let inverse = Option::<Scalar>::from(coefficient.invert()).unwrap_or(Scalar::ONE);
        let fresh = if rng.next_u32().is_multiple_of(16) {
            self.input(rest * inverse)
        } else {
            self.aux(rest * inverse)
        };
        c.push((fresh, coefficient));
        self.steps.push(Step::Enforce([a, b, c]));
    }

    fn any(&self, rng: &mut impl RngCore) -> Var {
        let index = rng.next_u64() as usize % (self.inputs.len() + self.aux.len());
        if index < self.inputs.len() { Var::Input(index) } else { Var::Aux(index - self.inputs.len()) }
    }

    fn combination(&self, feature: Feature, rng: &mut impl RngCore) -> Combination {
        let mut kinds = [Feature::Dense, Feature::Sparse, Feature::Constant, Feature::Repeated]
            .into_iter()
            .filter(|kind| feature.allows(*kind))
            .collect::<Vec<_>>();
        // A circuit of constants alone would be no circuit.
        if feature == Feature::Constant || kinds.is_empty() {
            kinds.push(Feature::Sparse);
        }
        let term = |var, rng: &mut _| (var, Scalar::random(rng));
        match kinds[rng.next_u64() as usize % kinds.len()] {
            Feature::Dense => {
                let terms = 1 + rng.next_u64() as usize % ((self.inputs.len() + self.aux.len()) / 2);
                (0..terms).map(|_| term(self.any(rng), &mut *rng)).collect()
            }
            Feature::Constant if rng.next_u32().is_multiple_of(4) => Vec::new(),
            Feature::Constant => vec![term(Var::Input(0), rng)],
            Feature::Repeated => {
                let (var, coefficient) = term(self.any(rng), rng);
                let mut terms = vec![(var, coefficient), term(self.any(rng), rng), (var, Scalar::ONE)];
                terms.push((var, -coefficient));
                // Now and then the variable vanishes altogether.
                if rng.next_u32().is_multiple_of(2) {
                    terms.push((var, -Scalar::ONE));
                }
                terms
            }
            _ => (0..1 + rng.next_u64() % 2).map(|_| term(self.any(rng), &mut *rng)).collect(),
        }
    }
}

/// The same synthesis for each version of bellpepper-core.
macro_rules! synthesise_with {
    ($core:ident) => {
        impl $core::Circuit<Scalar> for RandomCircuit {
            fn synthesize<CS: $core::ConstraintSystem<Scalar>>(
                self,
                cs: &mut CS,
            ) -> Result<(), $core::SynthesisError> {
                let (mut inputs, mut aux) = (vec![CS::one()], Vec::new());
                for (index, step) in self.steps.into_iter().enumerate() {
                    match step {
                        Step::Input(value) => {
                            inputs.push(cs.alloc_input(|| format!("input {index}"), || Ok(value))?);
                        }
                        Step::Aux(value) => aux.push(cs.alloc(|| format!("aux {index}"), || Ok(value))?),
                        Step::Enforce([a, b, c]) => {
                            let sum = |terms: Combination| {
                                let (inputs, aux) = (&inputs, &aux);
                                move |zero: $core::LinearCombination<Scalar>| {
                                    terms.iter().fold(zero, |sum, (var, coefficient)| {
                                        let variable = match *var {
                                            Var::Input(index) => inputs[index],
                                            Var::Aux(index) => aux[index],
                                        };
                                        sum + (*coefficient, variable)
                                    })
                                }
                            };
                            cs.enforce(|| format!("row {index}"), sum(a), sum(b), sum(c));
                        }
                    }
                }
                Ok(())
            }
        }
    };
}

synthesise_with!(bellpepper_core);
synthesise_with!(bellpepper_core_02);
