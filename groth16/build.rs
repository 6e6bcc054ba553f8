//! Compiles the kernels where `gpu` found a CUDA compiler; see `gpu/build.rs` for how it decides.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cuda");
    let (Ok(nvcc), Ok(include), Ok(flags)) =
        (var("DEP_GPU_NVCC"), var("DEP_GPU_INCLUDE"), var("DEP_GPU_FLAGS"))
    else {
        return; // without CUDA: the entry points are stubs
    };
    println!("cargo::rerun-if-changed={include}");
    let compiled = cc::Build::new()
        .cpp(true)
        .compiler(nvcc)
        .no_default_flags(true)
        .warnings(false)
        .flags(flags.split_whitespace())
        .include(include)
        .files(["cuda/setup.cu"])
        .try_compile("groth16_cuda");
    if let Err(error) = compiled {
        println!("cargo::error=nvcc: {error}");
    }
}
