#!/usr/bin/env bash
# Makes testdata/forms, the forms that need nvcc, clang or binutils, of the four
# units beside this script. Go code in the tests makes the other forms of the
# PTX in it. Nothing of NVIDIA's is linked in.
#
#   regenerate.sh
#
# Wants internal/oracles/fetch.sh --compilers, gcc, ld, ar, strip, llvm-ar,
# llvm-lib, lld-link (or $LLD_LINK), and clang-offload-packager of clang's own version
# on PATH or in $PACKAGER.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
oracles=$("$root/internal/oracles/fetch.sh" --print-dir)
bin=$oracles/bin
packager=${PACKAGER:-clang-offload-packager}
forms=$root/testdata/forms
units='kernel alpha beta gamma'

# One fixed place, whoever runs this, with fixed times: nvcc makes names of both.
at=/tmp/ptxlink-forms
rm -rf "$at"
mkdir -m 700 "$at"
trap 'rm -rf "$at"' EXIT
cp ./*.cu ./*.h ./*.c bitcode/*.c "$at"
find "$at" -exec touch -h -d '2024-01-01 00:00:00 UTC' {} +
cd "$at"
rm -rf "$forms"
mkdir -p "$forms/nvcc" "$forms/clang" "$forms/gcc" "$forms/windows" "$forms/bitcode"

for u in $units; do
	gen='-gencode arch=compute_80,code=compute_80'
	"$bin/nvcc" $gen -rdc=true -ptx "$u.cu" -o "$forms/nvcc/$u.ptx"
	"$bin/nvcc" $gen -dc "$u.cu" -o "$u.o"
	strip --strip-unneeded "$u.o" -o "$forms/nvcc/$u.o"
done
"$bin/nvcc" $gen -rdc=true -ptx gcc-main.cu -o main.ptx
sed 's/\bgcc_\([a-z_]\)/\1/g' main.ptx >"$forms/gcc/main.ptx"
cd "$forms/nvcc"
objects=${units// /.o }.o
texts=${units// /.ptx }.ptx
ld -r $objects -o linked.o
strip --strip-unneeded linked.o
gcc -c -Os "$at/stub.c" -o "$at/stub.o"
ld -s -e main --unresolved-symbols=ignore-all $objects "$at/stub.o" -o program
ar rcD gnu.a $texts
ar rcDT thin.a $texts
llvm-ar --format=bsd -rcD bsd.a $texts
llvm-ar --format=darwin -rcD darwin.a $texts

# The old driver runs ptxas and fatbinary of this toolkit.
cd "$at"
mkdir -p cuda/bin cuda/include cuda/nvvm/libdevice
ln -s "$bin/ptxas" "$bin/fatbinary" cuda/bin/
ln -s "$oracles"/nvcc-12.4/include/cuda.h cuda/include/
ln -s "$oracles"/cuda-12.4/nvvm/libdevice/* cuda/nvvm/libdevice/
for u in $units; do
	clang=("$bin/clang" -x cuda --cuda-path="$at/cuda" -Wno-unknown-cuda-version -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -fgpu-rdc -O2 "$u.cu")
	"${clang[@]}" --cuda-device-only -S -o "$forms/clang/$u.ptx"
	"${clang[@]}" --no-offload-new-driver -c -o "$forms/clang/$u.o"
	strip --strip-unneeded "$forms/clang/$u.o"
done
images=()
for u in $units; do
	# The packager takes the kind of an image from its suffix, and .s means PTX.
	cp "$forms/clang/$u.ptx" "$u.s"
	images+=("--image=file=$u.s,triple=nvptx64-nvidia-cuda,arch=sm_80,kind=cuda")
done
"$packager" -o "$forms/clang/units.offload" "${images[@]}"

# LLVM bitcode of four units of C.
for u in call f wide two; do
	"$bin/clang" --target=nvptx64-nvidia-cuda -march=sm_80 -Os -emit-llvm -c "$u.c" -o "$forms/bitcode/$u.bc"
done

# For Windows: objects, one with the long header, a library and a program. The paths in
# the library are long and have backslashes, as those of Visual Studio.
export PATH=$bin:$PATH
lld=${LLD_LINK:-lld-link}
for u in $units; do
	"$bin/clang" --target=x86_64-pc-windows-msvc -x cuda --cuda-path="$at/cuda" -Wno-unknown-cuda-version -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -fgpu-rdc -O2 \
		--no-offload-new-driver -c "$u.cu" -o "$u.obj"
	objcopy --strip-unneeded "$u.obj" "$forms/windows/$u.obj"
done
objcopy -I pe-x86-64 -O pe-bigobj-x86-64 kernel.obj "$forms/windows/kernel-bigobj.obj"
"$bin/clang" --target=x86_64-pc-windows-msvc -c stub.c -o stub.obj
cd "$forms/windows"
"$lld" /entry:main /nodefaultlib /force:unresolved /opt:noref /timestamp:0 kernel.obj alpha.obj beta.obj gamma.obj "$at/stub.obj" /out:program.exe 2>/dev/null
cd "$at"
for u in $units; do
	cp "$u.obj" "device\\release\\$u.obj"
done
llvm-lib /out:units.lib device*.obj
cp units.lib "$forms/windows/"
