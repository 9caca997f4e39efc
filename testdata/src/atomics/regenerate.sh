#!/usr/bin/env bash
# Makes testdata/ptx/atomics-* of these sources. Wants internal/oracles/fetch.sh
# --compilers: nvcc 12.4 and clang 19.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
cuda=$(echo "$oracles"/nvcc-*/include)

# build SET ARCH NVCC-FLAGS [CLANG-FLAGS]
build() {
	local out=$root/testdata/ptx/atomics-$1
	mkdir -p "$out"
	# shellcheck disable=SC2086
	"$oracles/bin/nvcc" -I"$cuda" -Wno-deprecated-gpu-targets -rdc=true -arch=compute_$2 $3 -ptx nvcc.cu -o "$out/nvcc.ptx"
	[[ ${4:-} ]] || return 0
	"$oracles/bin/clang" --target=nvptx64-nvidia-cuda -march=sm_$2 -Xclang -target-feature -Xclang +ptx78 "$4" -S clang.c -o "$out/clang.ptx"
}
# Link sets are for sm_75 at most, as the tests give them to ptxas so.
build sm_60 60 -O3 -O2
build sm_70 70 -O3 -O3
build sm_75-O0 75 '-Xcicc -O0' -O0
build sm_90 90 -O3
