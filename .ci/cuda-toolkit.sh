#!/usr/bin/env bash
# Puts a CUDA compiler, its static runtime and its headers into a folder, from Python wheels: no driver, no GPU, no installer.
# Prints the exports that a build needs.
#   eval "$(bash .ci/cuda-toolkit.sh [FOLDER])"
set -euo pipefail

release=13.0
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/cuda-$release}

if [ ! -x "$folder/bin/nvcc" ] || [ ! -e "$folder/lib64/libcudart_static.a" ]; then
    mkdir -p "$(dirname "$folder")"
    # Built beside the target and renamed, so that an interrupted run leaves no half of a toolkit there.
    work=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # The compiler's front, its headers and back end, the runtime, and CUB.
    packages=()
    for part in cuda-nvcc cuda-crt nvvm cuda-runtime cuda-cccl; do
        packages+=("nvidia-$part==$release.*")
    done
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --target "$work/wheels" "${packages[@]}" >&2
    toolkit=$work/wheels/nvidia/cu13
    ln -s lib "$toolkit/lib64"
    # Wheels carry no executable bits and no unversioned name of the library.
    chmod +x "$toolkit"/bin/* "$toolkit"/nvvm/bin/*
    ln -sf libcudart.so.13 "$toolkit/lib/libcudart.so"
    rm -rf "$folder"
    mv "$toolkit" "$folder"
fi

"$folder/bin/nvcc" --version >&2
printf 'export CUDA_PATH=%q NVCC=%q\n' "$folder" "$folder/bin/nvcc"
