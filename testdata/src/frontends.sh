#!/usr/bin/env bash
# Makes the link sets triton, numba, numba-debug, rust and rust-debug of testdata/ptx with the
# real compilers of these languages. No GPU is needed.
#
#   frontends.sh
#
# nvcc, Triton, Numba and rustc come from fetch.sh --compilers.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
"$root/internal/oracles/fetch.sh" --compilers
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
bin=$oracles/bin

# One fixed place, since the compilers write paths.
at=/tmp/ptxlink-testdata
rm -rf "$at"
mkdir -m 700 "$at"
trap 'rm -rf "$at"' EXIT
cp -R triton numba rust "$at"
cd "$at"
export PYTHONHASHSEED=0 # Numba names the constants of strings after their hashes
ptx=$root/testdata/ptx
mkdir -p "$ptx"/{triton,numba,numba-debug,rust,rust-debug}

TRITON_CACHE_DIR=$at/cache "$bin/python-triton" -W ignore triton/kernels.py "$ptx/triton"
"$bin/nvcc" -rdc=true -arch=compute_80 -lineinfo -ptx triton/scale.cu -o "$ptx/triton/scale.ptx"

"$bin/python-numba" -W ignore numba/device.py "$ptx/numba"
"$bin/nvcc" -rdc=true -arch=compute_80 -lineinfo -ptx numba/kernel.cu -o "$ptx/numba/kernel.ptx"
"$bin/python-numba" -W ignore numba/device.py "$ptx/numba-debug" --debug
"$bin/nvcc" -rdc=true -arch=compute_80 -G -ptx numba/kernel.cu -o "$ptx/numba-debug/kernel.ptx"

sysroot=$("$bin/rustc-nvptx" --print sysroot)
rustc() {
	RUSTC_BOOTSTRAP=1 "$bin/rustc-nvptx" --remap-path-prefix "$sysroot=/usr" --edition 2021 --target nvptx64-nvidia-cuda -C target-cpu=sm_80 -C panic=abort -L core "$@"
}
cd rust
rustc -O --cap-lints allow --crate-name core --crate-type rlib --out-dir core "$sysroot/lib/rustlib/src/rust/library/core/src/lib.rs"
rustc -O --cap-lints allow --crate-name compiler_builtins --crate-type rlib --out-dir core builtins.rs
for crate in kernel device; do
	rustc --crate-type rlib -C codegen-units=1 --emit asm -O "$crate.rs" -o "$ptx/rust/$crate.ptx"
	# No ptxas takes the .debug_aranges that rustc writes unless it is told otherwise.
	rustc --crate-type rlib -C codegen-units=1 --emit asm -g -C opt-level=1 -C llvm-args=-generate-arange-section=0 "$crate.rs" -o "$ptx/rust-debug/$crate.ptx"
done
"$bin/nvcc" -rdc=true -arch=compute_80 -ptx scale.cu -o "$ptx/rust/scale.ptx"
"$bin/nvcc" -rdc=true -arch=compute_80 -G -ptx scale.cu -o "$ptx/rust-debug/scale.ptx"
