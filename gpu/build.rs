//! Decides whether the crates of this workspace are built with CUDA, and tells them how.
//!
//! The compiler is looked for in `NVCC`, then in `CUDA_PATH` and `CUDA_HOME`, then in `PATH`. `NVCC=off` builds without. A
//! missing compiler is an error only with feature `cuda`. The device of the building machine is never asked: a build is
//! often made where there is none.
//!
//! Crates that depend on `gpu` read the decision from the metadata that Cargo hands to their build scripts, all three present
//! or all three absent:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `DEP_GPU_NVCC` | the compiler |
//! | `DEP_GPU_INCLUDE` | the folder of the shared headers |
//! | `DEP_GPU_FLAGS` | flags, separated by blanks |
//!
//! `compile_kernels` below is the pattern that a kernel crate repeats.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cuda");
    println!("cargo::rerun-if-changed=host");
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    for variable in ["NVCC", "CUDA_PATH", "CUDA_HOME", "PATH", "CUDAARCHS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }

    let result = build();
    if let Err(message) = result {
        println!("cargo::error={message}");
    }
}

fn build() -> Result<(), String> {
    if env::var_os("CARGO_FEATURE_HOST_ARITHMETIC").is_some() {
        compile_host()?;
    }
    let demanded = env::var_os("CARGO_FEATURE_CUDA").is_some();
    let toolkit = match find_toolkit() {
        Search::Found(toolkit) => toolkit,
        Search::Off if demanded => {
            return Err(
                "feature `cuda` demands CUDA code, but NVCC=off turns it off: drop one of the two".into()
            );
        }
        Search::Missing(reason) if demanded => {
            return Err(format!("feature `cuda` demands CUDA code, but {reason}"));
        }
        Search::Off => return Ok(()),
        Search::Missing(reason) => {
            if env::var_os("NVCC").is_some() {
                println!("cargo::warning=building without CUDA: {reason}");
            }
            return Ok(());
        }
    };

    let include = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(|e| e.to_string())?).join("cuda");
    let flags = flags()?;
    println!("cargo::rustc-cfg=cuda");
    println!("cargo::metadata=NVCC={}", toolkit.nvcc.display());
    println!("cargo::metadata=INCLUDE={}", include.display());
    println!("cargo::metadata=FLAGS={flags}");
    compile_kernels(&toolkit.nvcc, &include, &flags, &["cuda/runtime.cu", "cuda/selftest.cu"], "gpu_cuda")?;
    println!("cargo::rustc-link-search=native={}", toolkit.libraries.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for library in ["dl", "rt", "pthread"] {
        println!("cargo::rustc-link-lib={library}");
    }
    Ok(())
}

struct Toolkit {
    nvcc: PathBuf,
    /// The folder of `libcudart_static.a`.
    libraries: PathBuf,
}

enum Search {
    Found(Toolkit),
    Off,
    Missing(String),
}

fn find_toolkit() -> Search {
    let candidates: Vec<PathBuf> = match env::var_os("NVCC") {
        Some(value) if value == "off" => return Search::Off,
        // An explicit choice is not overridden by what else lies around.
        Some(value) if !value.is_empty() => {
            let path = PathBuf::from(value);
            if path.components().count() > 1 { vec![path] } else { on_path(&path) }
        }
        _ => ["CUDA_PATH", "CUDA_HOME"]
            .iter()
            .filter_map(env::var_os)
            .map(|root| Path::new(&root).join("bin/nvcc"))
            .chain(on_path(Path::new("nvcc")))
            .collect(),
    };
    let Some(nvcc) = candidates.into_iter().find(|path| path.is_file()) else {
        return Search::Missing("no nvcc is in NVCC, CUDA_PATH, CUDA_HOME or PATH".into());
    };
    // `nvcc` on PATH is often a link into the toolkit.
    let resolved = nvcc.canonicalize().unwrap_or_else(|_| nvcc.clone());
    let roots = [resolved.as_path(), nvcc.as_path()].map(|path| path.parent().and_then(Path::parent));
    let libraries = roots
        .into_iter()
        .flatten()
        .flat_map(|root| ["lib64", "targets/x86_64-linux/lib", "lib"].map(|folder| root.join(folder)))
        .find(|folder| folder.join("libcudart_static.a").is_file());
    match libraries {
        Some(libraries) => Search::Found(Toolkit { nvcc, libraries }),
        None => Search::Missing(format!("{} has no libcudart_static.a beside it", nvcc.display())),
    }
}

fn on_path(name: &Path) -> Vec<PathBuf> {
    env::var_os("PATH")
        .map(|path| env::split_paths(&path).map(|folder| folder.join(name)).collect())
        .unwrap_or_default()
}

/// Optimised, position independent, with machine code for every architecture of `CUDAARCHS` and PTX of the newest.
fn flags() -> Result<String, String> {
    let list = env::var("CUDAARCHS").unwrap_or_else(|_| "90".into());
    let mut architectures = Vec::new();
    for item in list.split([',', ';', ' ']).filter(|item| !item.is_empty()) {
        let number = item.parse::<u32>().map_err(|_| {
            format!("CUDAARCHS: `{item}` is not a number such as 90 (several are separated by `;`)")
        })?;
        architectures.push(number);
    }
    architectures.sort_unstable();
    architectures.dedup();
    let newest = architectures.last().ok_or("CUDAARCHS names no architecture")?;
    let mut flags = String::from("-O3 -std=c++17 -Xcompiler=-fPIC -lineinfo");
    for a in &architectures {
        flags.push_str(&format!(" -gencode=arch=compute_{a},code=sm_{a}"));
    }
    flags.push_str(&format!(" -gencode=arch=compute_{newest},code=compute_{newest}"));
    Ok(flags)
}

/// What a kernel crate does with `DEP_GPU_NVCC`, `DEP_GPU_INCLUDE` and `DEP_GPU_FLAGS`. The library's own defaults are
/// for C compilers, so the flags replace them.
fn compile_kernels(
    nvcc: &Path,
    include: &Path,
    flags: &str,
    files: &[&str],
    name: &str,
) -> Result<(), String> {
    cc::Build::new()
        .cpp(true)
        .compiler(nvcc)
        .no_default_flags(true)
        .warnings(false)
        .flags(flags.split_whitespace())
        .include(include)
        .files(files)
        .try_compile(name)
        .map_err(|error| format!("nvcc: {error}"))
}

/// The arithmetic headers under an ordinary C++ compiler, for the tests.
fn compile_host() -> Result<(), String> {
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .files(["host/fr.cpp"])
        .try_compile("gpu_host")
        .map_err(|error| format!("C++ compiler, needed by feature `host-arithmetic`: {error}"))
}
