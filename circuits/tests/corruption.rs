//! A partition with one wrong value, or of a wrong form, is refused, and the message says where.

mod common;

use std::sync::{Arc, OnceLock};

use assignment::{NativeWitnessError, PackedWitness, StructuredCircuit, WitnessCS, native_witness};
use blstrs::Scalar;
use circuits::FilecoinCircuit;
use circuits::error::{CircuitError, RelationError, WitnessError};
use circuits::input::{Partitions, read};
use circuits::porep::PorepCircuit;
use circuits::post::PostCircuit;
use circuits::shape::SectorSize;
use circuits::update::UpdateCircuit;
use circuits::vanilla::{Column, MerklePath, PorepPartition, PostPartition, UpdatePartition};
use common::{circuit, inputs, proof_files};
use ff::Field;
use proptest::prelude::*;
use r1cs::CompiledCircuit;

/// A value of a partition.
enum Slot<'a> {
    Field(&'a mut Scalar),
    Position(&'a mut usize),
    Node(&'a mut u64),
}

impl Slot<'_> {
    /// Another value.
    fn change(self, by: u64) {
        match self {
            Slot::Field(value) => *value += Scalar::from(by.max(1)),
            // Within every arity, so that the form stays right.
            Slot::Position(position) => *position ^= 1,
            Slot::Node(node) => *node ^= 1,
        }
    }
}

fn path(path: &mut MerklePath) -> impl Iterator<Item = Slot<'_>> {
    path.levels.iter_mut().flat_map(|level| {
        let position = std::iter::once(Slot::Position(&mut level.index));
        position.chain(level.siblings.iter_mut().map(Slot::Field))
    })
}

fn column(column: &mut Column) -> impl Iterator<Item = Slot<'_>> {
    column.labels.iter_mut().map(Slot::Field).chain(path(&mut column.path))
}

fn porep_slots(partition: &mut PorepPartition) -> Vec<Slot<'_>> {
    let PorepPartition { replica_id, comm_d, comm_r, comm_r_last, comm_c, challenges } = partition;
    let mut slots: Vec<_> = [replica_id, comm_d, comm_r, comm_r_last, comm_c].map(Slot::Field).into();
    for challenge in challenges {
        slots.push(Slot::Node(&mut challenge.node));
        slots.push(Slot::Field(&mut challenge.data.leaf));
        slots.extend(path(&mut challenge.data.path));
        slots.extend(path(&mut challenge.replica_path));
        slots.extend(path(&mut challenge.column_path));
        slots.extend(challenge.drg_parents.iter_mut().chain(&mut challenge.exp_parents).flat_map(column));
    }
    slots
}

fn post_slots(partition: &mut PostPartition) -> Vec<Slot<'_>> {
    let mut slots = vec![];
    for sector in &mut partition.sectors {
        let sector = Arc::make_mut(sector);
        slots.extend([&mut sector.comm_r, &mut sector.comm_c, &mut sector.comm_r_last].map(Slot::Field));
        for opening in &mut sector.openings {
            slots.push(Slot::Field(&mut opening.leaf));
            slots.extend(path(&mut opening.path));
        }
    }
    slots
}

fn update_slots(partition: &mut UpdatePartition) -> Vec<Slot<'_>> {
    let UpdatePartition { comm_r_old, comm_d_new, comm_r_new, comm_c, root_r_old, root_r_new, .. } =
        partition;
    let mut slots: Vec<_> =
        [comm_r_old, comm_d_new, comm_r_new, comm_c, root_r_old, root_r_new].map(Slot::Field).into();
    slots.extend(partition.apex_leaves.iter_mut().map(Slot::Field));
    slots.extend(path(&mut partition.partition_path));
    for challenge in &mut partition.challenges {
        slots.push(Slot::Node(&mut challenge.node));
        slots.extend([&mut challenge.r_old.leaf, &mut challenge.d_new.leaf].map(Slot::Field));
        slots.extend(path(&mut challenge.r_old.path));
        slots.extend(path(&mut challenge.d_new.path));
        slots.extend(path(&mut challenge.r_new_path));
    }
    slots
}

const SIZE: SectorSize = SectorSize::KiB2;

fn first(name: &str) -> Partitions {
    read(circuit(name), &inputs(&proof_files(name))).unwrap()
}

fn porep() -> PorepPartition {
    static PARTITION: OnceLock<PorepPartition> = OnceLock::new();
    let read = || match first("porep-2KiB") {
        Partitions::Porep(partitions) => partitions[0].clone(),
        _ => unreachable!(),
    };
    PARTITION.get_or_init(read).clone()
}

fn window() -> PostPartition {
    match first("window-2KiB") {
        Partitions::Post(partitions) => partitions[0].clone(),
        _ => unreachable!(),
    }
}

fn update(name: &str) -> UpdatePartition {
    match first(name) {
        Partitions::Update(partitions) => partitions[0].clone(),
        _ => unreachable!(),
    }
}

/// The relation that the circuit's native witness finds broken.
fn refused(circuit: FilecoinCircuit) -> RelationError {
    match native_witness(&circuit) {
        Err(NativeWitnessError::Circuit(WitnessError::Relation(error))) => error,
        Err(error) => panic!("refused for another reason: {error}"),
        Ok(_) => panic!("accepted"),
    }
}

fn refused_porep(partition: PorepPartition) -> RelationError {
    refused(FilecoinCircuit::Porep(PorepCircuit::new(SIZE.porep(), partition).unwrap()))
}

fn refused_window(partition: PostPartition) -> RelationError {
    refused(FilecoinCircuit::Post(PostCircuit::new(SIZE.window(), partition).unwrap()))
}

fn refused_update(partition: UpdatePartition) -> RelationError {
    refused(FilecoinCircuit::Update(UpdateCircuit::new(SIZE.update(), partition).unwrap()))
}

#[test]
fn every_single_value_of_a_post_is_bound() {
    let slots = post_slots(&mut window()).len();
    let compiled = CompiledCircuit::compile(&PostCircuit::blank(SIZE.window()).unwrap()).unwrap();
    for i in 0..slots {
        let mut partition = window();
        post_slots(&mut partition).swap_remove(i).change(1);
        refused_window(partition.clone());
        // The constraint side alone refuses it too.
        let mut cs = WitnessCS::with_hint(None);
        PostCircuit::new(SIZE.window(), partition).unwrap().synthesize_all(&mut cs).unwrap();
        compiled.check(&cs.into_witness()).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_value_of_a_porep_is_bound(slot: prop::sample::Index, by: u64) {
        let mut partition = porep();
        let mut slots = porep_slots(&mut partition);
        slots.swap_remove(slot.index(slots.len())).change(by);
        refused_porep(partition);
    }

    #[test]
    fn any_value_of_an_update_is_bound(slot: prop::sample::Index, by: u64) {
        let mut partition = update("update-2KiB");
        let mut slots = update_slots(&mut partition);
        slots.swap_remove(slot.index(slots.len())).change(by);
        refused_update(partition);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn any_variable_is_bound(slot: prop::sample::Index, by: u64) {
        let circuits = [
            FilecoinCircuit::Post(PostCircuit::new(SIZE.window(), window()).unwrap()),
            FilecoinCircuit::Porep(PorepCircuit::new(SIZE.porep(), porep()).unwrap()),
            FilecoinCircuit::Update(UpdateCircuit::new(SIZE.update(), update("update-2KiB")).unwrap()),
        ];
        static COMPILED: OnceLock<[CompiledCircuit; 3]> = OnceLock::new();
        let compiled =
            COMPILED.get_or_init(|| circuits.each_ref().map(|circuit| CompiledCircuit::compile(circuit).unwrap()));
        for (circuit, compiled) in circuits.iter().zip(compiled) {
            let (mut inputs, mut aux) = native_witness(circuit).unwrap().to_assignment();
            // ONE is not a variable.
            let i = 1 + slot.index(inputs.len() + aux.len() - 1);
            let variables = inputs.len();
            let value = if i < variables { &mut inputs[i] } else { &mut aux[i - variables] };
            *value += Scalar::from(by.max(1));
            let witness = PackedWitness::from_assignment(inputs, &aux).unwrap();
            prop_assert!(compiled.check(&witness).is_err(), "variable {i}");
        }
    }
}

#[test]
fn a_porep_error_names_the_relation() {
    let message = |change: fn(&mut PorepPartition)| {
        let mut partition = porep();
        change(&mut partition);
        let error = refused_porep(partition).to_string();
        error.split(": expected").next().unwrap().to_owned()
    };
    let root = "the path does not lead to the root";
    type Change = fn(&mut PorepPartition);
    let cases: [(Change, String); 8] = [
        (
            |p| p.comm_r += Scalar::ONE,
            "partition, as a whole: the commitment is not the hash of comm_c and the replica's root".into(),
        ),
        (|p| p.comm_d += Scalar::ONE, format!("challenge 0, data node: {root}")),
        (
            |p| p.challenges[1].data.path.levels[0].index ^= 1,
            "challenge 1, data node: the path does not start at the challenged node".into(),
        ),
        (
            |p| p.challenges[1].drg_parents[3].path.levels[0].siblings[6] += Scalar::ONE,
            format!("challenge 1, DRG parent 3: {root}"),
        ),
        (
            |p| p.challenges[0].exp_parents[7].labels[1] += Scalar::ONE,
            format!("challenge 0, expander parent 7: {root}"),
        ),
        // Another replica id makes other labels, hence another replica.
        (|p| p.replica_id += Scalar::ONE, format!("challenge 0, replica node: {root}")),
        (
            |p| p.challenges[1].replica_path.levels[1].siblings[0] += Scalar::ONE,
            format!("challenge 1, replica node: {root}"),
        ),
        (
            |p| p.challenges[1].column_path.levels[1].siblings[0] += Scalar::ONE,
            format!("challenge 1, column: {root}"),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
}

#[test]
fn an_update_error_names_the_relation() {
    let message = |change: fn(&mut UpdatePartition)| {
        let mut partition = update("update-2KiB");
        change(&mut partition);
        let error = refused_update(partition).to_string();
        error.split(": expected").next().unwrap().to_owned()
    };
    let root = "the path does not lead to the root";
    type Change = fn(&mut UpdatePartition);
    let cases: [(Change, String); 8] = [
        (
            |p| p.root_r_old += Scalar::ONE,
            "partition, as a whole: the commitment is not the hash of comm_c and the replica's root".into(),
        ),
        (
            |p| p.root_r_new += Scalar::ONE,
            "partition, as a whole: the new commitment is not the hash of comm_c and the new replica's root"
                .into(),
        ),
        (|p| p.apex_leaves[5] += Scalar::ONE, format!("partition, apex tree: {root}")),
        (|p| p.challenges[9].node ^= 1, "challenge 9, as a whole: the node is not the one challenged".into()),
        (|p| p.challenges[2].r_old.leaf += Scalar::ONE, format!("challenge 2, old replica's node: {root}")),
        // Only the new replica's node depends on the new data's through rho.
        (|p| p.challenges[2].d_new.leaf += Scalar::ONE, format!("challenge 2, new replica's node: {root}")),
        (
            |p| p.challenges[3].d_new.path.levels[0].siblings[0] += Scalar::ONE,
            format!("challenge 3, new data's node: {root}"),
        ),
        (
            |p| p.challenges[3].r_new_path.levels[0].index ^= 1,
            "challenge 3, new replica's node: the path does not start at the challenged node".into(),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
}

#[test]
fn a_partition_of_another_form_is_refused() {
    let message = |change: fn(&mut PorepPartition)| {
        let mut partition = porep();
        change(&mut partition);
        PorepCircuit::new(SIZE.porep(), partition).map(drop).unwrap_err().to_string()
    };
    assert_eq!(message(|p| drop(p.challenges.pop())), "partition, as a whole: expected 2 challenges, got 1",);
    assert_eq!(
        message(|p| drop(p.challenges[1].data.path.levels.pop())),
        "challenge 1, data node: expected 6 levels of its path, got 5",
    );
    assert_eq!(
        message(|p| p.challenges[0].replica_path.levels[1].siblings.truncate(6)),
        "challenge 0, replica node: expected 7 siblings at level 1 of its path, got 6",
    );
    assert_eq!(
        message(|p| p.challenges[0].column_path.levels[0].index = 8),
        "challenge 0, column: expected the position at level 0 of its path below 8, got 8",
    );
    assert_eq!(
        message(|p| p.challenges[0].drg_parents[2].labels.push(Scalar::ZERO)),
        "challenge 0, DRG parent 2: expected 2 labels, got 3",
    );
    assert_eq!(
        message(|p| drop(p.challenges[0].exp_parents.pop())),
        "challenge 0, as a whole: expected 8 expander parents, got 7",
    );

    let mut partition = window();
    partition.sectors.pop();
    let error = PostCircuit::new(SIZE.window(), partition).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "partition, as a whole: expected 2 sectors, got 1");
    // Enough sectors, but one challenge each.
    let error = PostCircuit::new(SIZE.winning(), window()).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "partition, as a whole: expected 66 sectors, got 2");
    let error = PostCircuit::new(SectorSize::KiB4.window(), window()).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "sector 0, opening 0: expected 3 levels of its path, got 2");

    let update_error = |change: fn(&mut UpdatePartition)| {
        let mut partition = update("update-2KiB");
        change(&mut partition);
        UpdateCircuit::new(SIZE.update(), partition).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        update_error(|p| p.k = 1),
        "partition, as a whole: expected the partition's index below 1, got 1"
    );
    assert_eq!(
        update_error(|p| p.rate = 6),
        "partition, as a whole: expected the index of the rate below 6, got 6"
    );
    assert_eq!(
        update_error(|p| p.apex_leaves.truncate(7)),
        "partition, as a whole: expected 8 apex leaves, got 7",
    );
}

#[test]
fn a_shape_without_a_circuit_is_refused() {
    let mut shape = SIZE.porep();
    shape.layers = 3;
    assert_eq!(
        PorepCircuit::blank(shape).map(drop),
        Err(CircuitError::Shape { what: "2, 4, 8 or 11 layers", got: 3 })
    );
    let mut shape = SIZE.update();
    shape.apex_leaves = 12;
    assert!(matches!(UpdateCircuit::blank(shape), Err(CircuitError::Shape { got: 12, .. })));
    let mut shape = SIZE.update();
    shape.hs[5] = 7;
    assert!(matches!(UpdateCircuit::blank(shape), Err(CircuitError::Shape { got: 7, .. })));
    let other = FilecoinCircuit::all(circuit("porep-2KiB"), Partitions::Post(vec![window()])).map(drop);
    assert!(matches!(other, Err(CircuitError::Proof { .. })));
}

#[test]
fn a_blank_circuit_has_no_witness() {
    for name in ["porep-2KiB", "winning-2KiB", "window-2KiB", "update-2KiB"] {
        let blank = FilecoinCircuit::blank(circuit(name)).unwrap();
        let native = native_witness(&blank).map(drop);
        assert!(
            matches!(native, Err(NativeWitnessError::Circuit(WitnessError::Missing { unit: 0 }))),
            "{name}"
        );
        let mut cs = WitnessCS::with_hint(None);
        assert!(blank.synthesize_all(&mut cs).is_err(), "{name}");
    }
}

#[test]
fn a_partition_index_is_bound_where_there_are_several() {
    let mut partition = update("update-32KiB");
    partition.k = 1;
    let shape = SectorSize::KiB32.update();
    let error = refused(FilecoinCircuit::Update(UpdateCircuit::new(shape, partition).unwrap()));
    assert!(
        error.to_string().starts_with("partition, apex tree: the path does not start at the challenged node")
    );
}
