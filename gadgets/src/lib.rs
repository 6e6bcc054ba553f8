//! Filecoin's circuit gadgets, each with a native witness generator: SHA-256, Poseidon, Merkle paths, packing.
