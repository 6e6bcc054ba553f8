//! The names of Filecoin's parameter files.
//!
//! A name is `v28-<prefix>-<hex of SHA-256 over an identifier>`, and the identifier spells out the public parameters
//! of the proof as the reference implementation prints them.

use sha2::{Digest, Sha256};

use crate::shape::{CircuitName, Proof};
use crate::shape::{DRG_PARENTS, EXP_PARENTS, PorepShape, PostShape, UpdateShape};

const VERSION: &str = "v28";

/// The file name, without extension, of a circuit's ceremony parameters: `.params`, `.vk` and `.meta` follow.
pub fn file_stem(name: CircuitName) -> String {
    format!("{VERSION}-{}", cache_identifier(name))
}

/// The identifier of a circuit's parameters: what [`file_stem`] has after the version.
pub fn cache_identifier(name: CircuitName) -> String {
    let tree = name.size.tree().parameter_name();
    let (prefix, identifier) = match name.proof {
        Proof::Porep(_) => {
            (format!("stacked-proof-of-replication-{tree}-sha256_hasher"), porep(&name.size.porep(), &tree))
        }
        Proof::Winning => (format!("proof-of-spacetime-fallback-{tree}"), post(&name.size.winning())),
        Proof::Window => (format!("proof-of-spacetime-fallback-{tree}"), post(&name.size.window())),
        Proof::Update => (format!("empty-sector-update-{tree}"), update(&name.size.update())),
    };
    format!("{prefix}-{}", hex::encode(Sha256::digest(identifier)))
}

fn porep(shape: &PorepShape, tree: &str) -> String {
    let nodes = shape.size.nodes();
    let base =
        format!("drgraph::BucketGraph{{size: {nodes}; degree: {DRG_PARENTS}; hasher: poseidon_hasher}}");
    let graph = format!("stacked_graph::StackedGraph{{expansion_degree: {EXP_PARENTS} base_graph: {base} }}");
    let challenges =
        format!("LayerChallenges {{ layers: {}, max_count: {} }}", shape.layers, shape.challenges);
    format!("layered_drgporep::PublicParams{{ graph: {graph}, challenges: {challenges}, tree: {tree} }}")
}

fn post(shape: &PostShape) -> String {
    format!(
        "FallbackPoSt::PublicParams{{sector_size: {}, challenge_count: {}, sector_count: {}}}",
        shape.size.bytes(),
        shape.challenges,
        shape.sectors
    )
}

fn update(shape: &UpdateShape) -> String {
    format!("empty_sector_update::PublicParams{{ sector_nodes: {} }}", shape.size.nodes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name and identifier of every production circuit, from the reference implementation.
    const GOLDEN: &str = include_str!("../tests/data/cache_identifiers.txt");

    #[test]
    fn identifiers_are_the_reference_implementations() {
        let mut checked = 0;
        for line in GOLDEN.lines() {
            let (name, identifier) = line.split_once(' ').unwrap();
            assert_eq!(cache_identifier(name.parse().unwrap()), identifier, "{name}");
            checked += 1;
        }
        assert_eq!(checked, 34);
    }

    #[test]
    fn the_name_of_the_most_used_file() {
        let name = file_stem("porep-32GiB".parse().unwrap());
        assert!(name.starts_with(
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2"
        ));
    }
}
