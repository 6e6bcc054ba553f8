//! Compiles the kernels where `gpu` found a CUDA compiler, and the host's test of the curve headers for feature
//! `host-arithmetic`.

use std::env;

fn main() {
    for path in ["build.rs", "cuda", "host"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Err(message) = build() {
        println!("cargo::error={message}");
    }
}

fn build() -> Result<(), String> {
    if env::var_os("CARGO_FEATURE_HOST_ARITHMETIC").is_some() {
        compile_host()?;
    }
    let variable = |name: &str| env::var(name).ok();
    let metadata = (variable("DEP_GPU_NVCC"), variable("DEP_GPU_INCLUDE"), variable("DEP_GPU_FLAGS"));
    let (Some(nvcc), Some(include), Some(flags)) = metadata else {
        // `gpu` has answered feature `cuda` already.
        return Ok(());
    };
    println!("cargo::rerun-if-changed={include}");
    cc::Build::new()
        .cpp(true)
        .compiler(nvcc)
        .no_default_flags(true)
        .warnings(false)
        .flags(flags.split_whitespace())
        .include(include)
        .files(["cuda/buckets.cu", "cuda/select.cu", "cuda/g1.cu", "cuda/g2.cu"])
        .try_compile("msm_gpu_cuda")
        .map_err(|error| format!("nvcc: {error}"))
}

fn compile_host() -> Result<(), String> {
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .include("../gpu/cuda")
        .include("cuda")
        .files(["host/curve.cpp", "host/windows.cpp"])
        .try_compile("msm_gpu_host")
        .map_err(|error| format!("C++ compiler, needed by feature `host-arithmetic`: {error}"))
}
