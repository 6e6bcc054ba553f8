//! Plans: where points live under which budgets, and that nothing takes more than it may.

use groth16::{Budgets, Origin, Place, Plan, PlanError, Section, Shape, Sizes};
use ntt_gpu::device::Memory;
use proptest::prelude::*;

const GB: u64 = 1_000_000_000;

fn sizes(shape: Shape, matrices: u64, origin: Origin) -> Sizes {
    let domain = shape.domain().unwrap();
    Sizes { shape, domain, matrices, dense: shape.aux, origin, multiprocessors: 132 }
}

/// `porep-32GiB`.
fn porep(origin: Origin) -> Sizes {
    let (inputs, constraints) = (328, 130_278_541);
    let (aux, a_aux, b_aux) = (130_169_893, 129_753_292, 33_112_281);
    let shape = Shape { inputs, aux, rows: constraints + inputs, a_aux, b_inputs: 1, b_aux };
    sizes(shape, 350_000_000, origin)
}

fn budgets(device: u64, host: Option<u64>) -> Budgets {
    Budgets { device: Some(device), host }
}

/// h, l, a, b_g1, b_g2: `d` on the device, `p` pinned, `o` at the origin.
fn places(plan: &Plan) -> String {
    let letter = |place| match place {
        Place::Device => 'd',
        Place::Pinned => 'p',
        Place::Origin => 'o',
    };
    [plan.h, plan.l, plan.a, plan.b_g1, plan.b_g2].map(letter).iter().collect()
}

#[test]
fn plans_of_a_porep_partition() {
    let host = |gigabytes: u64| Some(gigabytes * GB);
    // Device and host budget in GB; places; quotient; peak on the host in tenths of a GB.
    let cases = [
        (140, None, "ddddd", Memory::Ample, 1),
        (74, None, "ddddd", Memory::Ample, 1),
        (66, None, "ddddd", Memory::Tight, 1),
        (61, None, "pdddd", Memory::Ample, 130),
        (40, None, "pdpdd", Memory::Tight, 254),
        (24, None, "ppppd", Memory::Tight, 411),
        (16, None, "ppppp", Memory::Tight, 474),
        (16, host(24), "poopp", Memory::Tight, 225),
        (16, host(4), "ooopo", Memory::Tight, 32),
        (16, host(1), "ooooo", Memory::Tight, 1),
    ];
    for (device, host, expected, quotient, tenths) in cases {
        let origin = if host.is_some() { Origin::File } else { Origin::Made };
        let plan = Plan::new(&porep(origin), &budgets(device * GB, host)).unwrap();
        assert_eq!(places(&plan), expected, "{device} GB: {plan}");
        assert_eq!(plan.quotient, quotient, "{device} GB: {plan}");
        assert_eq!((plan.host_peak + GB / 20) / (GB / 10), tenths, "{device} GB: {plan}");
        println!("{device} GB: {plan}");
    }
}

#[test]
fn budgets_that_cannot_work_name_what_is_needed() {
    let sizes = porep(Origin::Made);
    let Err(PlanError::Device { needed, budget }) = Plan::new(&sizes, &budgets(15 * GB, None)) else {
        panic!("15 GB are enough");
    };
    assert_eq!(budget, 15 * GB);
    assert!((15 * GB..16 * GB).contains(&needed), "{needed}");
    Plan::new(&sizes, &budgets(needed, None)).unwrap();
    assert!(Plan::new(&sizes, &budgets(needed - 1, None)).is_err());

    let Err(PlanError::Host { needed, budget }) = Plan::new(&sizes, &budgets(16 * GB, Some(24 * GB))) else {
        panic!("24 GB are enough");
    };
    assert_eq!(budget, 24 * GB);
    assert!((47 * GB..49 * GB).contains(&needed), "{needed}");
    let plan = Plan::new(&sizes, &budgets(16 * GB, Some(needed))).unwrap();
    assert_eq!(plan.host_peak, needed);
    // With everything on the device, or elsewhere already, only what is on its way there takes host memory.
    for (origin, device) in [(Origin::Made, 140 * GB), (Origin::Memory, 16 * GB), (Origin::File, 16 * GB)] {
        let error = Plan::new(&porep(origin), &budgets(device, Some(1))).unwrap_err();
        let PlanError::Pieces { needed, budget: 1 } = error else { panic!("{origin:?}: {error}") };
        assert!(needed < GB && !error.to_string().contains("points"), "{error}");
        Plan::new(&porep(origin), &budgets(device, Some(needed))).unwrap();
    }
    // A file can be read again.
    for origin in [Origin::Memory, Origin::File] {
        Plan::new(&porep(origin), &budgets(16 * GB, Some(GB))).unwrap();
    }
}

#[test]
fn a_plan_says_what_it_is() {
    let text = Plan::new(&porep(Origin::Made), &budgets(24 * GB, None)).unwrap().to_string();
    for part in ["b_g2 on the device", "h l a b_g1 pinned", "tight quotient", "of 24.00 GB"] {
        assert!(text.contains(part), "{text}");
    }
}

prop_compose! {
    fn shapes()(rows in 1usize..200_000_000)(
        rows in Just(rows),
        aux in 0..=rows,
        inputs in 1..=(rows / 100).max(1),
        of_a in 0.0..=1.0,
        of_b in 0.0..=1.0,
    ) -> Shape {
        let part = |share: f64, of: usize| (share * of as f64) as usize;
        let (a_aux, b_aux, b_inputs) = (part(of_a, aux), part(of_b, aux), part(of_b, inputs));
        Shape { inputs, aux, rows, a_aux, b_inputs, b_aux }
    }
}

/// Bytes on the device by a plan.
fn resident(plan: &Plan, shape: &Shape) -> u64 {
    let n = shape.domain_size() as u64;
    let bytes = [
        (plan.h, 96 * n),
        (plan.l, 96 * shape.aux as u64),
        (plan.a, 96 * shape.a_aux as u64),
        (plan.b_g1, 96 * shape.b_aux as u64),
        (plan.b_g2, 192 * shape.b_aux as u64),
    ];
    bytes.into_iter().filter(|(place, _)| *place == Place::Device).map(|(_, bytes)| bytes).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Peaks are within the budgets, and more memory never has fewer bytes near.
    #[test]
    fn more_memory_is_never_worse(
        shape in shapes(),
        matrices in 0u64..GB,
        device in prop::collection::vec(0u64..100 * GB, 6),
        host in 0u64..60 * GB,
    ) {
        let sizes = sizes(shape, matrices, Origin::File);
        let mut device = device;
        device.sort_unstable();
        let mut before: Option<(Plan, u64)> = None;
        for budget in device {
            let allowed = budgets(budget, Some(host));
            let plan = match Plan::new(&sizes, &allowed) {
                Ok(plan) => plan,
                Err(PlanError::Device { needed, .. }) => {
                    prop_assert!(needed > budget && before.is_none());
                    continue;
                }
                Err(error @ (PlanError::Host { needed, .. } | PlanError::Pieces { needed, .. })) => {
                    // Points in a file can stay there.
                    prop_assert!(needed > host && matches!(error, PlanError::Pieces { .. }), "{}", error);
                    continue;
                }
            };
            prop_assert!(plan.device_peak <= budget, "{}", plan);
            prop_assert!(plan.host_peak <= host, "{}", plan);
            let bytes = resident(&plan, &shape);
            prop_assert!(bytes <= plan.device_peak);
            if let Some((earlier, fewer)) = before {
                prop_assert!(fewer <= bytes, "{} and then {}", earlier, plan);
            }
            // Whatever is pinned or on the device would not be so with less.
            let near = |plan: &Plan| plan.queries_in(Place::Origin).count();
            let roomy = Plan::new(&sizes, &Budgets { host: None, ..allowed }).unwrap();
            prop_assert!(near(&roomy) == 0 && near(&roomy) <= near(&plan));
            before = Some((plan, bytes));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The least that a plan asks for is enough for it, on devices of any width.
    #[test]
    fn the_least_is_enough(
        shape in shapes(),
        share in 0.0..=1.0,
        multiprocessors in 1u32..2000,
        host in prop_oneof![Just(None), Just(Some(u64::MAX)), (0u64..60 * GB).prop_map(Some)],
    ) {
        let dense = (share * shape.aux as f64) as usize;
        let sizes = Sizes { multiprocessors, dense, ..sizes(shape, GB, Origin::File) };
        let Err(PlanError::Device { needed, .. }) = Plan::new(&sizes, &budgets(0, host)) else {
            panic!("no memory is enough");
        };
        for device in [needed, u64::MAX] {
            match Plan::new(&sizes, &budgets(device, host)) {
                Ok(plan) => prop_assert!(plan.device_peak <= device, "{}", plan),
                Err(error) => prop_assert!(matches!(error, PlanError::Pieces { .. }), "{}", error),
            }
        }
    }
}

/// A query without points is wherever there is room, so that none is left out.
#[test]
fn queries_without_points_are_on_the_device() {
    let shape = Shape { inputs: 1, aux: 0, rows: 1, a_aux: 0, b_inputs: 0, b_aux: 0 };
    let plan = Plan::new(&sizes(shape, 1000, Origin::Made), &budgets(GB, None)).unwrap();
    assert_eq!(places(&plan), "ddddd");
}

#[test]
fn queries_are_found_by_name() {
    let plan = Plan::new(&porep(Origin::Made), &budgets(61 * GB, None)).unwrap();
    assert_eq!(plan.place(Section::H), Place::Pinned);
    assert_eq!(plan.queries_in(Place::Pinned).collect::<Vec<_>>(), [Section::H]);
    assert_eq!(plan.queries_in(Place::Device).count(), 4);
}
