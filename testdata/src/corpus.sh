#!/usr/bin/env bash
# Compiles testdata/src at many optimisation levels, architectures and debug
# settings, mixes producers, and links each set with every warning an error: a
# correct program gets no message. ptxas takes every result where it knows the
# architecture. Not part of make test: it wants fetch.sh --compilers.
#
#   corpus.sh           prints a line a set and, last, how many failed
#   corpus.sh calls     only calls between all pairs of compilers
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
"$root/internal/oracles/fetch.sh" --compilers
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
bin=$oracles/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$root" && go build -o "$tmp/ptxlink" ./cmd/ptxlink)
cuda=$(echo "$oracles"/nvcc-*/include)

# Without a CUDA toolkit, clang 22 assumes PTX 4.2, which has no newer GPU than sm_52.
ptx78='-Xclang -target-feature -Xclang +ptx78'

sets=0 failed=0
# link NAME ARCH PTXAS-FLAGS FILES: gcc writes no DWARF, which is said beside modules
# that do.
link() {
	local name=$1 arch=$2 flags=$3
	shift 3
	sets=$((sets + 1))
	if ! "$tmp/ptxlink" --no-gc-sections --fatal-warnings -Wno-debug-mixed "$@" -o "$tmp/out.ptx" >"$tmp/said" 2>&1; then
		echo "FAIL $name: ptxlink"; head -n 12 "$tmp/said"; failed=$((failed + 1)); return
	fi
	# shellcheck disable=SC2086
	if ! "$bin/$ptxas" $flags -arch="$arch" "$tmp/out.ptx" -o "$tmp/out.cubin" >"$tmp/said" 2>&1 || [[ ! -s $tmp/out.cubin ]]; then
		echo "FAIL $name: ptxas"; head -n 12 "$tmp/said"; failed=$((failed + 1)); return
	fi
	echo "ok   $name"
}

# Callers and callees, each with each, from nvcc and NVRTC 11.8, 12.4 and 13.5, and
# from clang 14, 16, 19 and 22 at two optimisation levels.
calls() {
	local unit c opt more a b jobs=()
	mkdir "$tmp/calls"
	for unit in caller callee; do
		for c in nvcc-old nvcc nvcc-new nvrtc-old nvrtc nvrtc-new; do
			case $c in
				nvcc*) "$bin/$c" -std=c++17 -rdc=true -arch=compute_75 -Wno-deprecated-gpu-targets -ptx calls/$unit.cu -o "$tmp/calls/$unit.$c.ptx" & ;;
				*) "$bin/$c" -std=c++17 -rdc=true -arch=compute_75 calls/$unit.cu -o "$tmp/calls/$unit.$c.ptx" & ;;
			esac
			jobs+=($!)
		done
		wait "${jobs[@]}"; jobs=()
		for c in clang-14 clang-16 clang clang-22; do
			more=
			[[ $c == clang-22 ]] && more=$ptx78
			for opt in -O0 -O2; do
				# shellcheck disable=SC2086
				"$bin/$c" -std=c++17 -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_75 -fgpu-rdc $opt $more -S calls/$unit.cu -o "$tmp/calls/$unit.$c$opt.ptx"
			done
		done
	done
	for a in "$tmp"/calls/caller.*.ptx; do
		for b in "$tmp"/calls/callee.*.ptx; do
			c=${a##*/caller.}
			link "call ${c%.ptx} -> $(basename "$b" .ptx)" sm_75 '' "$a" "$b"
		done
	done
}

ptxas=ptxas-new # nvcc 13.5 writes PTX 9
calls
ptxas=ptxas
if [[ ${1:-} == calls ]]; then
	echo "$sets sets, $failed failed"
	exit $((failed > 0))
fi

for arch in 50 60 70 75 80 86 89 90 90a; do
	for opt in '-O0' '-O3'; do
		for debug in '' '-lineinfo' '-G'; do
			name="nvcc $opt $debug sm_$arch"
			files=() jobs=()
			for unit in main math shapes table log; do
				out=$tmp/$unit-${name// /_}.ptx
				files+=("$out")
				# shellcheck disable=SC2086
				"$bin/nvcc" -I"$cuda" -Wno-deprecated-gpu-targets -rdc=true -arch=compute_$arch $opt $debug -DPTXLINK_NO_HOST -ptx nvcc/$unit.cu -o "$out" &
				jobs+=($!)
				[[ ${#jobs[@]} -lt 3 ]] || { wait "${jobs[@]}"; jobs=(); }
			done
			wait "${jobs[@]}"
			flags=''
			[[ $debug == -G ]] && flags=-g
			link "$name" "sm_$arch" "$flags" "${files[@]}"
		done
	done
	# Three compilers in one program; gcc knows one architecture.
	[[ $arch == 90a ]] && continue
	for opt in -O0 -O2; do
		for debug in '' -g; do
			"$bin/nvcc" -I"$cuda" -Wno-deprecated-gpu-targets -rdc=true -arch=compute_$arch ${debug:+-G} -ptx mixed/kernel.cu -o "$tmp/kernel.ptx"
			"$bin/gcc-nvptx" $opt $debug mixed/gcc.c -o "$tmp/gcc.ptx"
			for clang in clang-14 clang clang-22; do
				more=
				case $clang in
					clang-14) # knows no GPU after sm_86, and crashes on optimised code with DWARF 5
						[[ $arch -gt 86 ]] && continue
						more="-Wno-unknown-attributes ${debug:+-gdwarf-2}" ;;
					clang-22) more=$ptx78 ;;
				esac
				flags="--target=nvptx64-nvidia-cuda -march=sm_$arch $opt $debug $more"
				# shellcheck disable=SC2086
				"$bin/$clang" $flags -S mixed/clang.c -o "$tmp/clang.ptx"
				link "mixed $clang $opt $debug sm_$arch" "sm_$arch" "${debug:+-g}" "$tmp/kernel.ptx" "$tmp/clang.ptx" "$tmp/gcc.ptx"
				for unit in caller callee; do
					# shellcheck disable=SC2086
					"$bin/$clang" $flags -S clang-debug/$unit.c -o "$tmp/$unit.ptx"
				done
				link "$clang $opt $debug sm_$arch" "sm_$arch" "${debug:+-g}" "$tmp/caller.ptx" "$tmp/callee.ptx"
			done
		done
	done
done
echo "$sets sets, $failed failed"
[[ $failed -eq 0 ]]
