//! Rank-1 constraint systems: recording, satisfaction, products, statistics, the digest, the compiled form on disk.
