#!/usr/bin/env bash
# Makes testdata/ptx/debug-types-*, with COMMANDS that say how, and
# testdata/script/debug_type_*.txtar, with nvcc and clang.
# Wants internal/oracles/fetch.sh --compilers.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
include=$(echo "$oracles"/nvcc-*/include)

# One fixed place, because compilers write paths into .file.
at=/tmp/ptxlink-debug-types
trap 'rm -rf "$at"' EXIT
rm -rf "$at"
mkdir -m 700 "$at"
cp -R . "$at"
cd "$at"

# make SET/FILE.ptx TOOL ARG...
make() {
	local out=$1 tool=$2
	shift 2
	mkdir -p "$root/testdata/ptx/debug-types-${out%/*}"
	echo "${out##*/}: $tool $* -o ${out##*/}" | sed "s| -I$include||" >>"COMMANDS-${out%/*}"
	"$oracles/bin/$tool" "$@" -o "$root/testdata/ptx/debug-types-$out"
}
nvcc=(nvcc "-I$include" -std=c++17 -rdc=true -arch=compute_75 -G -ptx)
clang=(clang --target=nvptx64-nvidia-cuda -march=sm_75 -g -fno-verbose-asm -fdebug-compilation-dir=/src -S)

# Types that must be equal, whoever describes them.
make same/nvcc.ptx "${nvcc[@]}" -DNAME=nvcc -DHIDDEN=int zoo.cu
make same/clang.ptx "${clang[@]}" -Xclang -debug-info-kind=standalone -x c++ -std=c++17 -D__device__= -DNAME=clang -DHIDDEN=long zoo.cu
make same/simple.ptx "${clang[@]}" -Xclang -debug-info-kind=standalone -gsimple-template-names -x c++ -std=c++20 -D__device__= -DNAME=simple -DHIDDEN=short zoo.cu

# script NAME VARIABLE TYPE COMPILER MESSAGE COMMENT: new.ptx and old.ptx each
# define one variable of the type.
script() {
	local out=$root/testdata/script/debug_type_$1.txtar v
	local tool=("${nvcc[@]}") how='nvcc -rdc=true -arch=compute_75 -G -ptx'
	if [[ $4 == clang ]]; then
		tool=("${clang[@]}" -x c++ -D__device__=)
		how='clang --target=nvptx64-nvidia-cuda -march=sm_75 -g -S -x c++'
	fi
	{
		echo "$6"
		echo "# testdata/src/debug-types/regenerate.sh made this: $how."
		echo 'ptxlink new.ptx old.ptx -o out.ptx'
		echo "stderr '$5'"
		echo 'ptxlink -Wno-odr new.ptx old.ptx -o out.ptx'
		echo "! stderr 'Wodr'"
		for v in new old; do
			printf '#include "%s/shapes.h"\n__device__ %s %s_%s;\n' "$v" "$3" "$2" "$v" >"$2_$v.cu"
			"$oracles/bin/${tool[0]}" "${tool[@]:1}" "$2_$v.cu" -o out.ptx
			echo "-- $v.ptx --"
			cat out.ptx
		done
		for v in new old; do
			echo "-- $v/shapes.h --"
			cat "$v/shapes.h"
		done
	} >"$out"
}
h='\(.*new/shapes\.h'
o='\(.*old/shapes\.h'
script size shape Shape nvcc "old\.ptx:126:5: warning: struct Shape has 16 bytes $o:2\) here but 24 $h:1\) in new\.ptx; it has no member w here but one at byte 16 there \[-Wodr\]" \
	'# Two modules disagree about the size of a struct.'
script offset span geo::Span nvcc "old\.ptx:126:5: warning: member unit of struct geo::Span is at byte 0 $o:3\) here but at byte 4 $h:2\) in new\.ptx \[-Wodr\]" \
	'# Two modules put the members of a struct of one size in different places.'
script bits flags Flags nvcc "old\.ptx:132:5: warning: bit field color of struct Flags is at bit 1 of byte 0 $o:4\) here but at bit 6 of byte 0 $h:3\) in new\.ptx \[-Wodr\]" \
	'# Two modules disagree about the order of bit fields.'
script align quad Quad clang "old\.ptx:\d+:5: warning: struct Quad is aligned to 4 $o:5\) here but to 16 $h:4\) in new\.ptx \[-Wodr\]" \
	'# Two modules disagree about nothing but the alignment of a struct. Only clang writes it down.'

{
	echo "# nvcc and clang describe one struct in their own ways; nobody is told of a difference."
	echo '# testdata/src/debug-types/regenerate.sh made this.'
	echo 'ptxlink nvcc.ptx clang.ptx -o out.ptx'
	echo "! stderr 'Wodr'"
	for unit in nvcc clang; do
		printf '#include "new/shapes.h"\n__device__ geo::Span span_%s; __device__ Flags flags_%s; __device__ Quad quad_%s;\n' $unit $unit $unit >same_$unit.cu
	done
	"$oracles/bin/nvcc" "${nvcc[@]:1}" same_nvcc.cu -o nvcc.ptx
	"$oracles/bin/clang" "${clang[@]:1}" -x c++ -D__device__= same_clang.cu -o clang.ptx
	for unit in nvcc clang; do
		echo "-- $unit.ptx --"
		cat $unit.ptx
	done
	echo '-- new/shapes.h --'
	cat new/shapes.h
} >"$root/testdata/script/debug_type_same.txtar"

# C, where only what functions share must agree.
make c/define.ptx "${clang[@]}" -DDEFINE -DSECRET=int -DCOUNT=int private.c
make c/same.ptx "${clang[@]}" -DGIVE=same -DSECRET=long -DCOUNT=int private.c
"$oracles/bin/${clang[0]}" "${clang[@]:1}" -DGIVE=differs -DSECRET=long -DCOUNT=long private.c -o differs.ptx # no part of a correct set
{
	echo '# C: struct node is private to each file, struct item part of a call between them.'
	echo '# testdata/src/debug-types/regenerate.sh made this.'
	echo 'ptxlink define.ptx differs.ptx -o out.ptx'
	echo "stderr 'differs\.ptx:\d+:5: warning: struct item has 16 bytes \(/src/private\.c:3\) here but 8 \(/src/private\.c:3\) in define\.ptx; member count has 8 bytes here but 4 there \[-Wodr\]'"
	echo "stderr 'help: both come from one declaration; compile both modules with the same macros and options'"
	echo "! stderr 'struct node'"
	echo 'ptxlink define.ptx same.ptx -o out.ptx'
	echo "! stderr 'Wodr'"
	for unit in define same; do
		echo "-- $unit.ptx --"
		cat "$root/testdata/ptx/debug-types-c/$unit.ptx"
	done
	echo '-- differs.ptx --'
	cat differs.ptx
	echo '-- private.c --'
	cat private.c
} >"$root/testdata/script/debug_type_c.txtar"

for commands in COMMANDS-*; do
	cp "$commands" "$root/testdata/ptx/debug-types-${commands#COMMANDS-}/COMMANDS"
done
