#!/usr/bin/env bash
# Makes testdata/ptx of testdata/src with real compilers, or checks it.
#
#   regenerate.sh           compile everything; testdata/ptx/COMMANDS says how
#   regenerate.sh --check   ptxas takes every module, nvlink every link set
#
# Compiling wants internal/oracles/fetch.sh --compilers, checking only fetch.sh.
# The bytes are the same on every machine with the same compilers: sources and
# CUDA's headers are copied to one fixed directory, with fixed times, because
# nvcc writes paths, times and sizes into .file.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
ptx=$root/testdata/ptx
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
bin=$oracles/bin

tmp= at=
trap '[[ ! $tmp ]] || rm -rf "$tmp"; [[ ! $at ]] || rm -rf "$at"' EXIT

# The link sets: a name, and its modules in command-line order.
sets=(
	'nvcc-rdc main math shapes table log'
	'nvcc-lineinfo main math shapes table log'
	'nvcc-debug main math shapes table log'
	'mixed kernel clang gcc'
	'opencl kernel helpers'
	'clang-debug caller callee'
	'guide foo test'
	'example main lib'
)

check() {
	local set name m bad=0
	tmp=$(mktemp -d)
	for set in "${sets[@]}"; do
		read -ra m <<<"$set"
		name=${m[0]}
		m=("${m[@]:1}")
		local cubins=() f
		for f in "${m[@]}"; do
			"$bin/ptxas" -c -arch=sm_75 "$ptx/$name/$f.ptx" -o "$tmp/$f.cubin" || { echo "$name/$f.ptx: ptxas refuses it" >&2; bad=1; }
			cubins+=("$tmp/$f.cubin")
		done
		# nvlink 12.4 refuses a prototype of .b32 against one of .f32, which is
		# how clang and gcc spell the same float. The ABI is the same, so gcc's
		# headers are respelled here for nvlink, and for nothing else.
		if [[ $name == mixed ]]; then
			"$bin/nvlink" -arch=sm_75 "${cubins[@]}" -o "$tmp/linked.cubin" >/dev/null 2>&1 &&
				{ echo 'mixed: nvlink now takes .b32 for .f32; drop the respelling' >&2; bad=1; }
			sed -E 's/\.param \.f32 %(value_out|in_ar)/.param .b32 %\1/g' "$ptx/mixed/gcc.ptx" >"$tmp/gcc.ptx"
			"$bin/ptxas" -c -arch=sm_75 "$tmp/gcc.ptx" -o "$tmp/gcc.cubin" || bad=1
		fi
		if ! "$bin/nvlink" -arch=sm_75 "${cubins[@]}" -o "$tmp/linked.cubin" >"$tmp/said" 2>&1 || [[ ! -s $tmp/linked.cubin ]]; then
			cat "$tmp/said" >&2
			echo "$name: nvlink refuses it" >&2
			bad=1
		fi
		rm -f "$tmp"/*
	done
	"$bin/ptxas" -c -arch=sm_75 "$ptx/guide/call_example.ptx" -o "$tmp/x.cubin" || bad=1
	return "$bad"
}

if [[ ${1:-} == --check ]]; then
	check
	exit
elif [[ $# -gt 0 ]]; then
	echo 'usage: regenerate.sh [--check]' >&2
	exit 2
fi

"$root/internal/oracles/fetch.sh" --compilers

# One fixed place, whoever runs this; it holds copies only.
at=/tmp/ptxlink-testdata
rm -rf "$at"
mkdir -m 700 "$at"
cp -R nvcc mixed opencl clang-debug "$at"
cp -RL "$oracles"/nvcc-*/include "$at/cuda"
find "$at" -exec touch -h -d '2024-01-01 00:00:00 UTC' {} +
cd "$at"

cuda="-I$at/cuda"
: >COMMANDS
# make FILE.ptx IN COMMAND...: runs COMMAND -o out in directory IN.
make() {
	local out=$1 in=$2
	shift 2
	mkdir -p "$ptx/${out%/*}"
	echo "$out: $* -o ${out##*/}" | sed "s| $cuda||" >>COMMANDS
	local tool=$1
	shift
	(cd "$in" && "$bin/$tool" "$@" -o "$ptx/$out")
}

# PTXLINK_NO_HOST keeps the runtime's host-only code, and its headers, out.
for unit in main math shapes table log; do
	make "nvcc-rdc/$unit.ptx" nvcc nvcc "$cuda" -rdc=true -arch=compute_75 -O3 -DPTXLINK_NO_HOST -ptx "$unit.cu"
	make "nvcc-lineinfo/$unit.ptx" nvcc nvcc "$cuda" -rdc=true -arch=compute_75 -O3 -lineinfo -DPTXLINK_NO_HOST -ptx "$unit.cu"
	make "nvcc-debug/$unit.ptx" nvcc nvcc "$cuda" -rdc=true -arch=compute_75 -O0 -G -DPTXLINK_NO_HOST -ptx "$unit.cu"
done

clang='clang --target=nvptx64-nvidia-cuda -march=sm_75'
make mixed/kernel.ptx mixed nvcc "$cuda" -rdc=true -arch=compute_75 -O3 -ptx kernel.cu
make mixed/clang.ptx mixed $clang -O2 -S clang.c
make mixed/gcc.ptx mixed gcc-nvptx -O2 gcc.c

for unit in kernel helpers; do
	make "opencl/$unit.ptx" opencl $clang -x cl -cl-std=CL1.2 -O2 -S "$unit.cl"
done
for unit in caller callee; do
	make "clang-debug/$unit.ptx" clang-debug $clang -O0 -g -fdebug-compilation-dir=/src -S "$unit.c"
done
# Two units in one module: llvm-link, whose references cross the units.
for unit in caller callee; do
	(cd clang-debug && "$bin/clang" --target=nvptx64-nvidia-cuda -march=sm_75 -O0 -g -fdebug-compilation-dir=/src -c -emit-llvm "$unit.c" -o "$at/$unit.bc")
done
"$bin/llvm-link" "$at/caller.bc" "$at/callee.bc" -o "$at/clang-debug/both.bc"
make clang-linked/both.ptx clang-debug $clang -O0 -S both.bc

{
	echo '# How each file was made, in testdata/src/<set> (nvcc-* in nvcc); guide and example are written by hand.'
	echo "# $("$bin/nvcc" --version | sed -n 's/^Cuda.*release/nvcc/p'); $("$bin/clang" --version | head -n 1); gcc $(cat "$oracles/gcc-nvptx/gcc-version") with the nvptx offload compiler"
	cat COMMANDS
} >"$ptx/COMMANDS"
cd "$root"
check
