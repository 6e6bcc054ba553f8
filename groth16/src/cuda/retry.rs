//! Attempts at a plan, each for less memory than the one before.

use gpu::Pool;
use r1cs::CompiledCircuit;

use super::workshop;
use crate::{Budgets, Origin, Plan, ProveError, Sizes};

/// Plans for the memory that a device has, and tries. Where memory runs out although the plan said that there is enough, another process
/// has taken it since: then a plan for less is tried, and a third.
pub(super) fn retry<T>(
    device: u32,
    budgets: &Budgets,
    circuit: &CompiledCircuit,
    origin: Origin,
    attempt: impl Fn(Pool, Plan) -> Result<T, ProveError>,
) -> Result<T, ProveError> {
    const ATTEMPTS: usize = 3;
    let mut budgets = *budgets;
    let mut attempts = 0;
    let mut ran_out: Option<ProveError> = None;
    loop {
        attempts += 1;
        let pool = workshop::open(device, &budgets)?;
        let limit = pool.limit();
        let sizes = Sizes::of(circuit, origin, pool.device().info().multiprocessors)?;
        let plan = match (Plan::new(&sizes, &Budgets { device: Some(limit), ..budgets }), ran_out) {
            (Ok(plan), _) => plan,
            // No plan makes do with less: what ran out is the error, not the budget that nobody gave.
            (Err(_), Some(error)) => return Err(error),
            (Err(error), None) => return Err(error.into()),
        };
        tracing::debug!(%plan, "planned");
        let error = match attempt(pool, plan) {
            Ok(out) => return Ok(out),
            Err(error) => error,
        };
        match error.device() {
            Some(short @ gpu::Error::OutOfMemory { .. }) if attempts < ATTEMPTS => {
                tracing::warn!(%error, "memory ran out: trying with three quarters of it");
                budgets = for_less(&budgets, short, limit, &plan);
            }
            _ => return Err(error),
        }
        ran_out = Some(error);
    }
}

/// Budgets for another attempt: three quarters of the memory that ran out. Less host memory because the device ran out would refuse plans
/// that move points there.
fn for_less(budgets: &Budgets, short: &gpu::Error, device: u64, plan: &Plan) -> Budgets {
    match short {
        // What cannot be pinned has no limit that the program knows.
        gpu::Error::OutOfMemory { limit: u64::MAX, .. } => {
            Budgets { host: Some(budgets.host.unwrap_or(u64::MAX).min(plan.host_peak) / 4 * 3), ..*budgets }
        }
        _ => Budgets { device: Some(device / 4 * 3), ..*budgets },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Shape};

    /// What ran out is taken less of, and the plan for that can be made.
    #[test]
    fn another_attempt_has_less_of_what_ran_out() {
        let shape = Shape { inputs: 2, aux: 3000, rows: 4000, a_aux: 3000, b_inputs: 1, b_aux: 2000 };
        let domain = shape.domain().unwrap();
        let budgets = Budgets::default();
        for origin in [Origin::Made, Origin::Memory, Origin::File] {
            let sizes = Sizes { shape, domain, matrices: 1 << 20, dense: 3000, origin, multiprocessors: 132 };
            let limit = 100 << 30;
            let plan = Plan::new(&sizes, &Budgets { device: Some(limit), ..budgets }).unwrap();
            assert_eq!(plan.queries_in(Place::Device).count(), 5);
            let short = gpu::Error::OutOfMemory { requested: 1, in_use: 0, limit };
            let less = for_less(&budgets, &short, limit, &plan);
            assert_eq!(less, Budgets { device: Some(limit / 4 * 3), host: None });
            Plan::new(&sizes, &less).unwrap();
            let unpinned = gpu::Error::OutOfMemory { requested: 1, in_use: 0, limit: u64::MAX };
            for host in [None, Some(u64::MAX)] {
                let less = for_less(&Budgets { host, ..budgets }, &unpinned, limit, &plan);
                assert_eq!(less, Budgets { device: None, host: Some(plan.host_peak / 4 * 3) });
            }
        }
    }
}
