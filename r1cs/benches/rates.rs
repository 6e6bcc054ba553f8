//! Rates of the parts that work through a whole circuit: constraints, terms or bytes a second.
//!
//! The circuit has the mix of SHA-256 constraints: booleanity, exclusive or, and sums of hundreds of bits, with an
//! element in a hundred variables. `R1CS_BENCH_ROWS` sets the rows of a unit (default 200,000; a 32 GiB PoRep challenge has
//! 7,200,000), `R1CS_BENCH_UNITS` their number (default 4; 18).

use std::convert::Infallible;
use std::hint::black_box;

use assignment::{
    CircuitId, NativeWitness, PackedWitness, ProvingAssignment, StructuredCircuit, WitnessCS, WitnessSink,
    native_witness,
};
use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use ff::Field;
use r1cs::{CompiledCircuit, DigestCS, ProductsMut, Recorder};

struct Bits {
    rows: usize,
    units: usize,
}

/// Bits between two sums.
const RUN: usize = 200;

impl Bits {
    /// The value of bit `i` of a unit.
    fn bit(unit: usize, i: usize) -> bool {
        (i ^ unit).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 1 == 1
    }

    fn runs(&self) -> usize {
        self.rows / (2 * RUN + 1)
    }
}

impl StructuredCircuit<Scalar> for Bits {
    type Prefix = ();
    fn id(&self) -> CircuitId {
        CircuitId::new("bits", [0; 32])
    }
    fn units(&self) -> usize {
        self.units
    }
    fn synthesize_prefix<CS: ConstraintSystem<Scalar>>(&self, _: &mut CS) -> Result<(), SynthesisError> {
        Ok(())
    }
    fn synthesize_unit<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        (): &(),
        unit: usize,
    ) -> Result<(), SynthesisError> {
        let powers: Vec<_> =
            std::iter::successors(Some(Scalar::ONE), |p| Some(p.double())).take(RUN).collect();
        let one = CS::one();
        for run in 0..self.runs() {
            let mut bits: Vec<(Variable, bool)> = Vec::with_capacity(RUN);
            for i in 0..RUN {
                let value = Self::bit(unit, run * RUN + i);
                let bit = cs.alloc(|| "", || Ok(Scalar::from(u64::from(value))))?;
                cs.enforce(|| "", |lc| lc + one - bit, |lc| lc + bit, |lc| lc);
                let (last, last_value) = bits.last().copied().unwrap_or((bit, value));
                let xor_value = value ^ last_value;
                let xor = cs.alloc(|| "", || Ok(Scalar::from(u64::from(xor_value))))?;
                cs.enforce(|| "", |lc| lc + bit + bit, |lc| lc + last, |lc| lc + bit + last - xor);
                bits.push((xor, xor_value));
            }
            let sum =
                bits.iter().zip(&powers).filter(|((_, bit), _)| *bit).map(|(_, power)| power).sum::<Scalar>();
            let packed = cs.alloc(|| "", || Ok(sum))?;
            let lc = bits
                .iter()
                .zip(&powers)
                .fold(LinearCombination::zero(), |lc, ((bit, _), power)| lc + (*power, *bit));
            cs.enforce(|| "", |_| lc, |lc| lc + one, |lc| lc + packed);
        }
        Ok(())
    }
}

impl NativeWitness<Scalar> for Bits {
    type Context = ();
    type Error = Infallible;
    fn prefix_witness<S: WitnessSink<Scalar>>(&self, _: &mut S) -> Result<(), Infallible> {
        Ok(())
    }
    /// Pushes random values: this measures the sink alone.
    fn unit_witness<S: WitnessSink<Scalar>>(
        &self,
        (): &(),
        unit: usize,
        sink: &mut S,
    ) -> Result<(), Infallible> {
        let element = Scalar::from(unit as u64 + 7).square();
        for run in 0..self.runs() {
            for i in 0..2 * RUN / 50 {
                let word = (run * 31 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) as u64;
                sink.bits(word >> 14, 50);
            }
            sink.element(element);
        }
        Ok(())
    }
}

fn bench(group: &mut BenchmarkGroup<'_, WallTime>, circuit: &Bits) {
    let compiled = CompiledCircuit::compile(circuit).expect("compiles");
    let rows = compiled.num_constraints() as u64;
    let terms = compiled.nnz().iter().sum::<usize>() as u64;
    println!("{rows} rows, {terms} terms, {} bytes of matrices", compiled.memory());

    group.throughput(Throughput::Elements(rows));
    group.bench_function("classic synthesis, constraints", |b| {
        b.iter(|| {
            let mut assignment = ProvingAssignment::with_hint(Some(compiled.capacity_hint()));
            circuit.synthesize_all(&mut assignment).expect("synthesises");
            assignment.capacity_hint()
        });
    });
    group.bench_function("witness-only synthesis, constraints", |b| {
        b.iter(|| {
            let mut witness = WitnessCS::<Scalar>::with_hint(Some(compiled.capacity_hint()));
            circuit.synthesize_all(&mut witness).expect("synthesises");
            witness.into_witness().memory()
        });
    });
    group.bench_function("recording, constraints", |b| {
        b.iter(|| {
            let mut recorder = Recorder::new();
            circuit.synthesize_all(&mut recorder).expect("synthesises");
            recorder.num_constraints()
        });
    });
    group.throughput(Throughput::Elements(compiled.num_aux() as u64));
    group.bench_function("native witness, packing alone, variables", |b| {
        b.iter(|| native_witness(circuit).expect("is made").memory());
    });

    let bytes = 41 * terms + 12 * rows;
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("digest while synthesising", |b| {
        b.iter(|| {
            let mut digest = DigestCS::new();
            circuit.synthesize_all(&mut digest).expect("synthesises");
            digest.finish().digest
        });
    });
    group.bench_function("digest of the compiled circuit", |b| b.iter(|| compiled.digest_with(|_| ())));

    let mut witness = WitnessCS::with_hint(None);
    circuit.synthesize_all(&mut witness).expect("synthesises");
    let witness: PackedWitness<Scalar> = witness.into_witness();
    let [mut a, mut b, mut c] = compiled.products(&witness).expect("sizes match");
    group.throughput(Throughput::Elements(terms));
    group.bench_function("products, terms", |bencher| {
        bencher.iter(|| {
            let targets = ProductsMut { a: &mut a, b: &mut b, c: &mut c };
            compiled.products_into(&witness, targets).expect("sizes match");
        });
    });
    group.bench_function("satisfied products, terms", |bencher| {
        bencher.iter(|| compiled.satisfied_products_into(&witness, &mut a, &mut b).expect("satisfied"));
    });
    drop([a, b, c]);
    group.bench_function("products in fresh vectors, terms", |b| {
        b.iter_with_large_drop(|| compiled.products(&witness));
    });
    group.bench_function("satisfaction, terms", |b| b.iter(|| compiled.check(&witness)));

    let mut file = vec![];
    compiled.write_to(&mut file).expect("memory takes it");
    group.throughput(Throughput::Bytes(file.len() as u64));
    group.bench_function("file read and checked", |b| {
        b.iter(|| {
            let read = CompiledCircuit::read_from(file.as_slice(), file.len() as u64, &circuit.id());
            black_box(read.expect("reads").memory())
        });
    });
}

fn main() {
    let number = |name, default| {
        std::env::var(name)
            .ok()
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}: no number")))
    };
    let circuit = Bits { rows: number("R1CS_BENCH_ROWS", 200_000), units: number("R1CS_BENCH_UNITS", 4) };
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut group = criterion.benchmark_group("rates");
    bench(&mut group, &circuit);
    group.finish();
    criterion.final_summary();
}
