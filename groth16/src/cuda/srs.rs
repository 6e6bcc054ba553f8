//! The points that a prover on a device uses.

use msm_gpu::{G1, G2};

use super::Workshop;
use super::query::{Group, HostParameters, OfInputs, Query};
use super::target::{Queries, Targets, aux_points};
use crate::{ParameterError, Plan, PlanError, ProveError, Section, SetupError, VerifyingKey};

/// The points of a circuit's parameters.
#[derive(Debug)]
pub(super) struct Srs {
    pub(super) h: Query<G1>,
    pub(super) l: Query<G1>,
    pub(super) a: Query<G1>,
    pub(super) b_g1: Query<G1>,
    pub(super) b_g2: Query<G2>,
    pub(super) of_inputs: OfInputs,
}

impl Srs {
    /// Room for points where the plan has them, and what fills it.
    pub(super) fn make(
        plan: &Plan,
        workshop: &Workshop,
        make: impl FnOnce(&mut Targets<'_>) -> Result<(VerifyingKey, OfInputs), SetupError>,
    ) -> Result<(VerifyingKey, Self), SetupError> {
        fn room<C: Group>(
            section: Section,
            plan: &Plan,
            workshop: &Workshop,
        ) -> Result<Query<C>, SetupError> {
            let points = aux_points(section, &workshop.shape);
            // A plan for points that are made leaves none out.
            let needed = workshop.shape.query_bytes(section);
            let room = Query::room(section, plan.place(section), points, workshop)?;
            Ok(room.ok_or(PlanError::Host { needed, budget: 0 })?)
        }
        let g1 = |section| room::<G1>(section, plan, workshop);
        let g2 = |section| room::<G2>(section, plan, workshop);
        let (queries, vk, of_inputs) = Queries::make(g1, g2, make)?;
        let Queries { h, l, a, b_g1, b_g2 } = queries;
        Ok((vk, Self { h, l, a, b_g1, b_g2, of_inputs }))
    }

    /// Brings parameters of the circuit's shape to where the plan has them.
    pub(super) fn load(
        host: &HostParameters,
        plan: &Plan,
        check_subgroups: bool,
        workshop: &Workshop,
    ) -> Result<Self, ProveError> {
        let g1 = |section| Query::<G1>::load(host.query(section, workshop), plan.place(section), workshop);
        let g2 = |section| Query::<G2>::load(host.query(section, workshop), plan.place(section), workshop);
        let inputs = |section| host.of_inputs::<G1>(section, check_subgroups, workshop);
        host.check_unchanged()?;
        // In the order of a file, for the sake of the disk.
        let srs = Self {
            h: g1(Section::H)?,
            l: g1(Section::L)?,
            a: g1(Section::A)?,
            b_g1: g1(Section::BG1)?,
            b_g2: g2(Section::BG2)?,
            of_inputs: OfInputs {
                a: inputs(Section::A)?,
                b_g1: inputs(Section::BG1)?,
                b_g2: host.of_inputs::<G2>(Section::BG2, check_subgroups, workshop)?,
            },
        };
        if check_subgroups {
            // When all is in its place, so that sums find the memory that proofs will find.
            for (section, query) in
                [(Section::H, &srs.h), (Section::L, &srs.l), (Section::A, &srs.a), (Section::BG1, &srs.b_g1)]
            {
                query.check_subgroup(&host.query(section, workshop), workshop)?;
            }
            srs.b_g2.check_subgroup(&host.query(Section::BG2, workshop), workshop)?;
        }
        host.check_unchanged()?;
        Ok(srs)
    }

    /// That a file that holds some of the points is still what it was.
    pub(super) fn check_unchanged(&self) -> Result<(), ParameterError> {
        let Self { h, l, a, b_g1, b_g2, .. } = self;
        [h, l, a, b_g1].into_iter().try_for_each(Query::check_unchanged)?;
        b_g2.check_unchanged()
    }
}
