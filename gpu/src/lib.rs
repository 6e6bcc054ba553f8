//! The device under the prover: discovery, streams, buffers, pinned staging, and the CUDA headers for BLS12-381 fields and groups.
