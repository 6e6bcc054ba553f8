//! The three clocks of a proof: each sees what the one within sees.

mod common;

use std::sync::Arc;
use std::time::Duration;

use blstrs::Scalar;
use common::{Mimc, compile, rng, waste, witness};
use gpu::testing::device_or_skip;
use groth16::{Backend, Clocks, Prover, StageTimes};

fn times(backend: Backend) -> StageTimes {
    let circuit = Mimc { preimage: Scalar::from(42), rounds: 300 };
    let prover = Prover::with_test_parameters(Arc::new(compile(circuit.clone())), waste(1), backend).unwrap();
    prover.prove(&witness(circuit), &mut rng(2)).unwrap().times
}

fn check(times: &StageTimes) {
    let pipeline = |names: &[&str]| -> Duration {
        let clocks = times.clocks().into_iter().filter(|(name, _)| names.contains(name));
        clocks.filter_map(|(_, clocks)| clocks).map(|clocks| clocks.pipeline).sum()
    };
    assert!(pipeline(&["upload"]) <= pipeline(&["products"]));
    assert!(pipeline(&["h", "l", "a", "b_g1", "b_g2"]) <= pipeline(&["msm"]));
    assert!(pipeline(&["products", "quotient", "msm"]) <= pipeline(&["whole"]));
    assert!(times.verify.is_some() && times.witness.is_none());
}

fn nested(name: &str, clocks: Option<Clocks>) -> Clocks {
    let clocks = clocks.unwrap_or_else(|| panic!("{name} has no clocks"));
    assert!(!clocks.wrapper.is_zero() && clocks.wrapper <= clocks.pipeline, "{name}: {clocks:?}");
    clocks
}

#[test]
fn the_processor_has_two() {
    let times = times(Backend::Cpu);
    assert!(times.upload.is_none());
    for (name, clocks) in times.clocks().into_iter().filter(|(name, _)| *name != "upload") {
        assert_eq!(nested(name, clocks).device, None, "{name}");
    }
    check(&times);
}

#[test]
fn device_has_three() {
    if device_or_skip("device_has_three").unwrap().is_none() {
        return;
    }
    let times = times(Backend::cuda(0));
    for (name, clocks) in times.clocks() {
        let clocks = nested(name, clocks);
        let device = clocks.device.unwrap_or_else(|| panic!("{name}: no device clock"));
        // Two clocks, which differ by a part in ten thousand, and events, which have a grain of half a microsecond.
        let grain = Duration::from_micros(20) + clocks.wrapper / 1000;
        assert!(!device.is_zero() && device <= clocks.wrapper + grain, "{name}: {clocks:?}");
    }
    check(&times);
}
