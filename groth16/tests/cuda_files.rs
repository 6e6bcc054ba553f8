//! Parameter files that a device decodes: what is bad in them is named as the processor names it, wherever a query is kept.

mod common;
#[path = "common/plans.rs"]
mod plans;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use common::{Random, compile, parameters, rng, witness};
use gpu::testing::device_or_skip;
use groth16::{Backend, FileOptions, Origin, ParameterError, Place, ProveError, Prover, Section, Sizes};
use plans::budgets_of_many_plans;

const MODULUS: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64,
    0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab,
    0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

/// What makes a point's bytes bad.
type Damage = fn(&mut [u8]);

const DAMAGES: [(&str, Damage); 8] = [
    ("compressed", |bytes| bytes[0] |= 0x80),
    ("infinity's flag", |bytes| bytes[0] |= 0x40),
    ("sign", |bytes| bytes[0] |= 0x20),
    ("infinity", |bytes| {
        bytes.fill(0);
        bytes[0] = 0x40;
    }),
    ("all zero", |bytes| bytes.fill(0)),
    ("x = p", |bytes| bytes[..48].copy_from_slice(&MODULUS)),
    ("the last coordinate all ones", |bytes| bytes.iter_mut().rev().take(48).for_each(|byte| *byte = 0xff)),
    ("off the curve", |bytes| bytes[95] ^= 1),
];

/// Where a section's points are in the file, and how many belong to inputs, which come first and stay on the host.
struct Extent {
    section: Section,
    at: usize,
    bytes: usize,
    inputs: usize,
    points: usize,
}

#[test]
fn bad_encodings_are_named_as_the_processor_names_them() {
    if device_or_skip("bad_encodings_are_named_as_the_processor_names_them").unwrap().is_none() {
        return;
    }
    let random = Random::new(21, 300);
    let (circuit, packed) = (Arc::new(compile(random.clone())), witness(random));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.params");
    let good = parameters(&circuit);
    good.write_file(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut key = Vec::new();
    good.vk.write(&mut key).unwrap();
    let mut at = key.len();
    let b_inputs = Sizes::of(&circuit, Origin::File, 132).unwrap().shape.b_inputs;
    let extents = [
        (Section::H, 96, 0, good.h.len()),
        (Section::L, 96, 0, good.l.len()),
        (Section::A, 96, good.vk.ic.len(), good.a.len()),
        (Section::BG1, 96, b_inputs, good.b_g1.len()),
        (Section::BG2, 192, b_inputs, good.b_g2.len()),
    ]
    .map(|(section, bytes, inputs, points)| {
        let extent = Extent { section, at: at + 4, bytes, inputs, points };
        at += 4 + bytes * points;
        extent
    });
    assert_eq!(at, bytes.len());

    let file = File::options().write(true).open(&path).unwrap();
    // The prover is set up anew, as the file has changed.
    let prove = |backend, check_subgroups| {
        let options = FileOptions { check_subgroups, digest: None };
        let prover = Prover::with_parameter_file(circuit.clone(), &path, options, backend)?;
        prover.prove(&packed, &mut rng(3))
    };
    let mut places = [[false; 3]; 5];
    for (number, (plan, budgets)) in budgets_of_many_plans(&circuit, Origin::File).into_iter().enumerate() {
        let backend = Backend::Cuda { device: 0, budgets };
        for check in [false, true] {
            prove(backend, check).unwrap_or_else(|error| panic!("{plan}: {error}"));
        }
        for (k, extent) in extents.iter().enumerate() {
            let Extent { section, at, bytes: size, inputs, points } = *extent;
            let place =
                [Place::Device, Place::Pinned, Place::Origin].iter().position(|p| *p == plan.place(section));
            let place = place.unwrap();
            let first_here = !std::mem::replace(&mut places[k][place], true);
            // Every damage of a point of each group wherever it can be; otherwise one of them for each plan.
            let all = first_here && matches!(section, Section::L | Section::BG2);
            for (d, (name, damage)) in DAMAGES.into_iter().enumerate() {
                if !all && d != (number + k) % DAMAGES.len() {
                    continue;
                }
                // Of two the first is named. Those of inputs are looked at by themselves.
                let last = points - 1;
                let bad: &[usize] = match d % 4 {
                    0 => &[last],
                    1 => &[last, inputs + (last - inputs) / 2],
                    2 => &[last, inputs],
                    _ => &[0],
                };
                let least = bad.iter().copied().min().unwrap();
                let offset = |index: usize| at + index * size;
                for &index in bad {
                    let mut point = bytes[offset(index)..][..size].to_vec();
                    damage(&mut point);
                    file.write_all_at(&point, offset(index) as u64).unwrap();
                }
                let name = format!("{name} at {least} of {section}, {plan}");
                let expected = prove(Backend::Cpu, true).unwrap_err();
                let named = matches!(
                    &expected,
                    ProveError::Parameters(ParameterError::Point { section: of, index, .. })
                        if *of == section && *index == least
                );
                assert!(named, "{name}: {expected}");
                for check in [false, true] {
                    let error = prove(backend, check).unwrap_err();
                    assert_eq!(error.to_string(), expected.to_string(), "{name}");
                }
                for &index in bad {
                    file.write_all_at(&bytes[offset(index)..][..size], offset(index) as u64).unwrap();
                }
            }
        }
        prove(backend, false).unwrap_or_else(|error| panic!("{plan}: {error}"));
    }
    assert_eq!(places, [[true; 3]; 5]);
}
