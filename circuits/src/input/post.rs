//! WinningPoSt and WindowPoSt.

use std::sync::Arc;

use rayon::prelude::*;

use super::InputFile;
use super::detect::records;
use super::error::{InputError, Problem, Within, count, equal};
use super::merkle::scalar;
use super::raw::PostProof;
use crate::hash;
use crate::shape::{PostShape, SectorSize};
use crate::vanilla::{Opening, PostPartition, PostSector};

/// Reads the partition of a WinningPoSt: one sector, whose openings become as many sectors of one opening each.
pub fn read_winning(size: SectorSize, files: &[InputFile<'_>]) -> Result<PostPartition, InputError> {
    let shape = size.winning();
    // The file has one sector with an opening for each of the circuit's sectors.
    let file_shape = PostShape { sectors: 1, challenges: shape.sectors * shape.challenges, ..shape };
    let sectors = read_sectors(&file_shape, files)?;
    count("sectors of a WinningPoSt", 1, sectors.len())?;
    let unrolled = sectors.iter().flat_map(|sector| {
        let part =
            |openings: &[Opening]| PostSector { openings: openings.to_vec(), ..sector.as_ref().clone() };
        sector.openings.chunks(shape.challenges).map(part).map(Arc::new).collect::<Vec<_>>()
    });
    Ok(PostPartition { sectors: unrolled.collect() })
}

/// Reads the partitions of a WindowPoSt. Sectors fill partitions in the order given; the last partition is filled by
/// repeating the last sector.
pub fn read_window(shape: &PostShape, files: &[InputFile<'_>]) -> Result<Vec<PostPartition>, InputError> {
    let sectors = read_sectors(shape, files)?;
    Ok(PostPartition::fill(shape, &sectors))
}

/// The sectors of all files, each with as many openings as the shape has challenges.
fn read_sectors(shape: &PostShape, files: &[InputFile<'_>]) -> Result<Vec<Arc<PostSector>>, InputError> {
    if files.is_empty() {
        return Err(Problem::NoFile.into());
    }
    let sectors = files.par_iter().map(|file| {
        let sectors = records::<PostProof>(file)?;
        let checked = sectors
            .par_iter()
            .map(|proof| proof.check(shape).map(Arc::new).within(|| format!("sector {}", proof.sector_id)));
        checked.collect::<Result<Vec<_>, _>>()
    });
    let sectors = sectors
        .zip(files)
        .map(|(sectors, file)| sectors.map_err(|error: InputError| error.in_file(file.name)));
    // The first file's error, not the first in time.
    let sectors: Vec<_> = sectors.collect();
    sectors.into_iter().collect::<Result<Vec<_>, _>>().map(|files| files.concat())
}

impl PostProof {
    fn check(&self, shape: &PostShape) -> Result<PostSector, InputError> {
        let comm_r = scalar(&self.comm_r).within(|| "comm_r".into())?;
        let [sector] = self.vanilla_proof.sectors.as_slice() else {
            return Err(InputError::count(
                "sectors in a sector's proof",
                1,
                self.vanilla_proof.sectors.len(),
            ));
        };
        count("inclusion proofs", shape.challenges, sector.inclusion_proofs.len())?;
        let comm_c = scalar(&sector.comm_c).within(|| "comm_c".into())?;
        let comm_r_last = scalar(&sector.comm_r_last).within(|| "comm_r_last".into())?;
        equal("comm_r = Poseidon(comm_c, comm_r_last)", &hash::comm_r(comm_c, comm_r_last), &comm_r)?;

        let tree = shape.tree();
        let openings = sector.inclusion_proofs.iter().enumerate().map(|(i, proof)| {
            let check = || {
                let proof = proof.check(&tree)?;
                equal("the root of the inclusion proof = comm_r_last", &comm_r_last, &proof.root)?;
                Ok(Opening { leaf: proof.leaf, path: proof.path })
            };
            check().within(|| format!("challenge {i}"))
        });
        let openings = openings.collect::<Result<_, _>>()?;
        Ok(PostSector { comm_r, comm_c, comm_r_last, openings })
    }
}
