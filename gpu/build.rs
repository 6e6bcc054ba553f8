//! Finds the CUDA compiler.
fn main() {}
