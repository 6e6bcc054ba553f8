//! Budgets for the tests on a device.

use groth16::{Budgets, Origin, Plan, PlanError, Sizes};
use r1cs::CompiledCircuit;

/// Host memory with which no query is pinned: that of the pieces in which points travel.
pub const PIECES: u64 = 64 << 20;

/// Budgets for many plans of a circuit: on the device from the least memory to enough for everything, on the host with room for
/// all queries, for some, and for none.
pub fn budgets_of_many_plans(circuit: &CompiledCircuit, origin: Origin) -> Vec<(Plan, Budgets)> {
    const STEPS: u64 = 12;
    let sizes = Sizes::of(circuit, origin, 132).unwrap();
    let least = match Plan::new(&sizes, &Budgets { device: Some(0), host: None }) {
        Err(PlanError::Device { needed, .. }) => needed,
        other => panic!("{other:?}"),
    };
    // The queries, more twiddles, and a fourth vector.
    let rest = sizes.shape.file_size() + 96 * sizes.shape.domain_size() as u64;
    let mut plans: Vec<(Plan, Budgets)> = vec![];
    for step in 0..=STEPS {
        let device = Some(least + rest * step / STEPS);
        let all = Plan::new(&sizes, &Budgets { device, host: None }).unwrap();
        for host in [None, Some(PIECES + (all.host_peak - PIECES) / 4 * 3), Some(PIECES)] {
            let budgets = Budgets { device, host };
            let Ok(plan) = Plan::new(&sizes, &budgets) else { continue };
            let same = |other: &Plan| {
                let kind = |plan: &Plan| (plan.h, plan.l, plan.a, plan.b_g1, plan.b_g2, plan.quotient);
                kind(other) == kind(&plan)
            };
            if !plans.iter().any(|(other, _)| same(other)) {
                plans.push((plan, budgets));
            }
        }
    }
    plans
}
