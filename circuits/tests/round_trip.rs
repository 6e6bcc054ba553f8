//! Proofs of every size, written as the reference implementation writes them, are read as they were.

#[path = "common/write.rs"]
mod write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use circuits::challenge::update::{phi, rho};
use circuits::input::{InputFile, read_porep, read_update, read_window, read_winning};
use circuits::shape::{PorepMode, PostShape, SectorSize, UpdateShape};
use circuits::synthetic::{porep, update, window, winning};
use circuits::vanilla::{MerklePath, Opening, UpdatePartition};
use gadgets::merkle::{NodeHasher, PathElement, hash_node_value};

fn files(contents: &[Vec<u8>]) -> Vec<InputFile<'_>> {
    contents.iter().map(|bytes| InputFile { name: "proof", bytes }).collect()
}

fn wrapper(size: SectorSize, phase1: &str) -> Vec<u8> {
    let inner = STANDARD.encode(phase1);
    format!(r#"{{"SectorNum":3,"Phase1Out":"{inner}","SectorSize":{}}}"#, size.bytes()).into_bytes()
}

fn check_porep(size: SectorSize) {
    let made = porep(size, PorepMode::Interactive, (1, 3));
    let name = format!("StackedDrg{size}V1_1");
    let read = |contents: &[Vec<u8>]| read_porep(size, PorepMode::Interactive, &files(contents)).unwrap();
    let whole = write::phase1(size, &name, &made.instance.seed, &made.partitions);
    let wrapped = wrapper(size, &whole);
    let start = std::time::Instant::now();
    assert_eq!(read(&[wrapped]), made.partitions, "{size}");
    println!("{size}: {} MB of JSON read in {:.2?}", whole.len() / 1_000_000, start.elapsed());
    // A file for each partition.
    let parts = made.partitions.chunks(1);
    let parts: Vec<_> =
        parts.map(|part| write::phase1(size, &name, &made.instance.seed, part).into_bytes()).collect();
    assert_eq!(read(&parts), made.partitions, "{size}");
}

#[test]
fn poreps() {
    use SectorSize::*;
    [KiB2, KiB4, KiB16, KiB32, MiB8, MiB512].into_iter().for_each(check_porep);
}

#[test]
#[ignore = "100 MB of JSON each"]
fn large_poreps() {
    [SectorSize::GiB32, SectorSize::GiB64].into_iter().for_each(check_porep);
}

#[test]
fn posts() {
    for size in SectorSize::ALL {
        let made = winning(size, (1, 5));
        let openings: Vec<Opening> =
            made.partition.sectors.iter().flat_map(|sector| sector.openings.clone()).collect();
        let file = write::bincode::post(5, size, &made.partition.sectors[0], &openings);
        assert_eq!(read_winning(size, &files(&[file])).unwrap(), made.partition, "{size}");

        let shape = PostShape { sectors: 2, ..size.window() };
        let made = window(&shape, 1, 3);
        let sectors = made.partitions.iter().flat_map(|partition| &partition.sectors).take(3);
        let written: Vec<_> = sectors
            .zip(0..)
            .map(|(sector, id)| write::bincode::post(id, size, sector, &sector.openings))
            .collect();
        assert_eq!(read_window(&shape, &files(&written)).unwrap(), made.partitions, "{size}");
    }
}

/// The challenges' paths in tree D up to its root: what a partition keeps of them once.
fn whole_d_paths(shape: &UpdateShape, partition: &UpdatePartition) -> Vec<MerklePath> {
    let hash = |pair: &[_]| hash_node_value(NodeHasher::Sha256, pair).unwrap();
    let mut rows = vec![partition.apex_leaves.clone()];
    while rows.last().unwrap().len() > 1 {
        let row = rows.last().unwrap().chunks(2).map(hash).collect();
        rows.push(row);
    }
    let paths = partition.challenges.iter().map(|challenge| {
        let mut levels = challenge.d_new.path.levels.clone();
        let mut index = (challenge.node >> shape.node_levels()) as usize % shape.apex_leaves;
        for row in &rows[..shape.apex_levels()] {
            levels.push(PathElement { siblings: vec![row[index ^ 1]], index: index % 2 });
            index /= 2;
        }
        levels.extend(partition.partition_path.levels.iter().cloned());
        MerklePath { levels }
    });
    paths.collect()
}

fn check_update(size: SectorSize) {
    let shape = size.update();
    let made = update(&shape, (1, 0));
    let written = made.partitions.iter().map(|partition| {
        let phi = phi(partition.comm_d_new, partition.comm_r_old);
        let new_leaves = partition.challenges.iter().map(|challenge| {
            let rho = rho(&shape, phi, challenge.node, shape.hs[partition.rate]);
            challenge.r_old.leaf + challenge.d_new.leaf * rho
        });
        let new_leaves: Vec<_> = new_leaves.collect();
        write::bincode::update(size, partition, &whole_d_paths(&shape, partition), &new_leaves)
    });
    let written: Vec<_> = written.rev().collect();
    assert_eq!(read_update(&shape, &files(&written)).unwrap(), made.partitions, "{size}");
    // One file for all.
    assert_eq!(read_update(&shape, &files(&[written.concat()])).unwrap(), made.partitions, "{size}");
}

#[test]
fn updates() {
    use SectorSize::*;
    [KiB2, KiB4, KiB16, KiB32].into_iter().for_each(check_update);
}

#[test]
#[ignore = "the trees of large sectors take seconds"]
fn large_updates() {
    use SectorSize::*;
    [MiB8, MiB512, GiB32, GiB64].into_iter().for_each(check_update);
}
