//! Products on the device against those of the processor.

mod common;

use std::sync::Arc;

use assignment::{Bitmap, PackedWitness, Whole, WitnessCS};
use bellpepper_core::Circuit as _;
use blstrs::Scalar;
use common::Synthetic;
use ff::Field;
use gpu::testing::{device_or_skip, leave};
use gpu::{Budget, Device, DeviceBuffer, Fr, Pool, Staging, Stream};
use r1cs::device::{DeviceCircuit, DeviceError, DeviceWitness, PinnedWitness};
use r1cs::{CheckError, CompiledCircuit, MatrixName, SizeError};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

struct Setup {
    pool: Pool,
    stream: Stream,
    staging: Staging,
    rng: ChaCha8Rng,
    _device: Device,
}

fn setup(test: &str) -> Option<Setup> {
    let device = device_or_skip(test).unwrap()?;
    let pool = Pool::new(&device, Budget::Bytes(8 << 30)).unwrap();
    let stream = device.stream().unwrap();
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let staging = Staging::with_pieces(&device, 3, 1 << 14);
    Some(Setup { pool, stream, staging, rng: ChaCha8Rng::seed_from_u64(seed), _device: device })
}

fn witness(circuit: &Synthetic) -> PackedWitness<Scalar> {
    let mut witness = WitnessCS::with_hint(None);
    Whole(circuit).synthesize(&mut witness).unwrap();
    witness.into_witness()
}

/// The same values with every one kept as a field element.
fn all_dense(witness: &PackedWitness<Scalar>) -> PackedWitness<Scalar> {
    let (inputs, aux) = witness.to_assignment();
    let (mut ones, mut is_dense) = (Bitmap::new(), Bitmap::new());
    aux.iter().for_each(|_| {
        ones.push(false);
        is_dense.push(true);
    });
    PackedWitness::new(inputs, ones, is_dense, aux).unwrap()
}

fn download(setup: &Setup, buffer: &DeviceBuffer<Fr>) -> Vec<Scalar> {
    buffer.download(&setup.stream).unwrap().into_iter().map(|value| value.0).collect()
}

#[test]
fn device_products_match_cpu() {
    let Some(mut setup) = setup("device_products_match_cpu") else { return };
    // For longer witnesses after shorter ones, and the other way round.
    let mut pinned = PinnedWitness::new(&setup._device).unwrap();
    for units in [1, 2, 7, 40] {
        for bound in [0, 5] {
            for steps in [(0, 1), (3, 60), (40, 300)] {
                let synthetic = Synthetic { steps, bound, ..Synthetic::new(setup.rng.next_u64(), units) };
                let circuit = Arc::new(CompiledCircuit::compile(&synthetic.blank()).unwrap());
                let device = DeviceCircuit::upload(circuit.clone(), &setup.pool, &setup.stream).unwrap();
                let packed = witness(&synthetic);
                for (witness, is_pinned) in
                    [(&packed, false), (&packed, true), (&all_dense(&packed), true), (&packed, true)]
                {
                    let uploaded = match is_pinned {
                        true => {
                            pinned.copy(witness).unwrap();
                            DeviceWitness::upload_pinned(witness, &pinned, &setup.pool, &setup.stream)
                        }
                        false => DeviceWitness::upload(witness, &setup.staging, &setup.pool, &setup.stream),
                    };
                    let uploaded = uploaded.unwrap();
                    let [a, b] = device.satisfied_products(&uploaded, &setup.pool, &setup.stream).unwrap();
                    let [mut expected_a, mut expected_b, _] = circuit.products(witness).unwrap();
                    expected_a.resize(1 << circuit.domain_log2(), Scalar::ZERO);
                    expected_b.resize(1 << circuit.domain_log2(), Scalar::ZERO);
                    let differ = |got: Vec<Scalar>, expected: &[Scalar]| {
                        assert_eq!(got.len(), expected.len());
                        got.iter().zip(expected).position(|(got, expected)| got != expected)
                    };
                    assert_eq!(differ(download(&setup, &a), &expected_a), None, "{synthetic:?}: a");
                    assert_eq!(differ(download(&setup, &b), &expected_b), None, "{synthetic:?}: b");
                }
            }
        }
    }
}

#[test]
fn device_names_the_first_unsatisfied_row() {
    let Some(mut setup) = setup("device_names_the_first_unsatisfied_row") else { return };
    let mut found = 0;
    for _ in 0..60 {
        let good = Synthetic { steps: (10, 80), ..Synthetic::new(setup.rng.next_u64(), 5) };
        let fault = (setup.rng.next_u64() as usize % 5, setup.rng.next_u64() as usize % 80);
        let bad = Synthetic { fault: Some(fault), ..good.clone() };
        let circuit = Arc::new(CompiledCircuit::compile(&good.blank()).unwrap());
        let device = DeviceCircuit::upload(circuit.clone(), &setup.pool, &setup.stream).unwrap();
        let witness = witness(&bad);
        let uploaded = DeviceWitness::upload(&witness, &setup.staging, &setup.pool, &setup.stream).unwrap();
        let got = device.satisfied_products(&uploaded, &setup.pool, &setup.stream);
        match circuit.check(&witness) {
            // The step was none that multiplies.
            Ok(()) => assert!(got.is_ok()),
            Err(expected) => {
                found += 1;
                assert_eq!(got.unwrap_err(), DeviceError::Check(expected), "{bad:?}");
            }
        }
    }
    assert!(found > 5, "{found} faults");
}

#[test]
fn device_refuses_another_circuits_witness() {
    let Some(setup) = setup("device_refuses_another_circuits_witness") else { return };
    let synthetic = Synthetic::new(3, 4);
    let circuit = Arc::new(CompiledCircuit::compile(&synthetic.blank()).unwrap());
    let device = DeviceCircuit::upload(circuit, &setup.pool, &setup.stream).unwrap();
    let other = witness(&Synthetic::new(3, 5));
    let uploaded = DeviceWitness::upload(&other, &setup.staging, &setup.pool, &setup.stream).unwrap();
    let error = device.satisfied_products(&uploaded, &setup.pool, &setup.stream).unwrap_err();
    assert!(matches!(error, DeviceError::Check(CheckError::Size(SizeError { .. }))), "{error}");
    // A copy of a shorter one is none of this one.
    let mut pinned = PinnedWitness::new(&setup._device).unwrap();
    pinned.copy(&witness(&synthetic)).unwrap();
    let short = DeviceWitness::upload_pinned(&other, &pinned, &setup.pool, &setup.stream);
    assert!(matches!(short, Err(gpu::Error::Length { .. })), "{short:?}");
}

#[test]
fn device_transposed_products_match_the_rows() {
    let Some(mut setup) = setup("device_transposed_products_match_the_rows") else { return };
    let small = Pool::new(&setup._device, Budget::Bytes(1 << 24)).unwrap();
    for units in [1, 6, 31] {
        let synthetic = Synthetic::new(setup.rng.next_u64(), units);
        let circuit = Arc::new(CompiledCircuit::compile(&synthetic.blank()).unwrap());
        let device = DeviceCircuit::upload(circuit.clone(), &setup.pool, &setup.stream).unwrap();
        let v: Vec<Scalar> = (0..circuit.num_rows())
            .map(|i| match i % 5 {
                0 => -Scalar::ONE,
                1 => Scalar::ZERO,
                _ => Scalar::random(&mut setup.rng),
            })
            .collect();
        let columns = circuit.num_inputs() + circuit.num_aux();
        let mut expected = [(); 3].map(|()| vec![Scalar::ZERO; columns]);
        let mut rows = circuit.rows(0..circuit.num_rows());
        while let Some(row) = rows.next() {
            for (target, terms) in expected.iter_mut().zip([row.a, row.b, row.c]) {
                for term in terms {
                    target[term.column as usize] +=
                        circuit.coefficients()[term.coefficient as usize] * v[row.index];
                }
            }
        }
        let values: Vec<Fr> = v.into_iter().map(Fr).collect();
        let values = setup.pool.upload(&values, &setup.stream).unwrap();
        // Ranges in the inputs, across their end, and anywhere.
        let mut ends = vec![0, 1, circuit.num_inputs().saturating_sub(1), circuit.num_inputs() + 1, columns];
        ends.extend((0..3).map(|_| setup.rng.next_u64() as usize % columns));
        ends.sort_unstable();
        for (name, expected) in MatrixName::ALL.into_iter().zip(expected) {
            // With as much memory as the prediction says, and with a granule less.
            let bytes = DeviceCircuit::transposed_product_bytes(columns);
            let product = |range, bytes| {
                let _rest = leave(&small, bytes).unwrap();
                let got = device.transposed_product(name, &values, range, &small, &setup.stream)?;
                Ok::<_, gpu::Error>(download(&setup, &got))
            };
            assert_eq!(product(0..columns, bytes).unwrap(), expected, "{name:?}");
            let error = product(0..columns, bytes - 512).unwrap_err();
            assert!(matches!(error, gpu::Error::OutOfMemory { .. }), "{error}");
            for ends in ends.windows(2) {
                let range = ends[0]..ends[1];
                let bytes = DeviceCircuit::transposed_product_bytes(range.len());
                let got = product(range.clone(), bytes).unwrap();
                assert_eq!(got, expected[range.clone()], "{name:?}, columns {range:?}");
            }
            let error = product(1..columns + 1, bytes).unwrap_err();
            assert!(matches!(error, gpu::Error::Length { .. }), "{error}");
        }
    }
}

#[test]
fn device_memory_runs_out_with_an_error() {
    let Some(setup) = setup("device_memory_runs_out_with_an_error") else { return };
    let synthetic = Synthetic::new(8, 40);
    let circuit = Arc::new(CompiledCircuit::compile(&synthetic.blank()).unwrap());
    let device = DeviceCircuit::upload(circuit, &setup.pool, &setup.stream).unwrap();
    let witness = witness(&synthetic);
    let uploaded = DeviceWitness::upload(&witness, &setup.staging, &setup.pool, &setup.stream).unwrap();
    let small = Pool::new(&setup._device, Budget::Bytes(1 << 12)).unwrap();
    let error = device.satisfied_products(&uploaded, &small, &setup.stream).unwrap_err();
    assert!(matches!(error, DeviceError::Device(gpu::Error::OutOfMemory { .. })), "{error}");
    assert!(device.satisfied_products(&uploaded, &setup.pool, &setup.stream).is_ok());
}
