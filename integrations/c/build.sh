#!/bin/sh
# build.sh DIR VERSION: builds the C library with $CC: libptxlink.so, libptxlink.a, ptxlink.h and
# the file for pkg-config.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc} flags='-std=c11 -O2 -Wall -Wextra -fPIC -fvisibility=hidden'
mkdir -p "$1/pkgconfig"
$cc $flags -c "$here/ptxlink.c" -o "$1/ptxlink.o"
$cc -shared -Wl,-soname,libptxlink.so.1 "$1/ptxlink.o" -o "$1/libptxlink.so.1" -lpthread
ln -sf libptxlink.so.1 "$1/libptxlink.so"
rm -f "$1/libptxlink.a"
${AR:-ar} rcsD "$1/libptxlink.a" "$1/ptxlink.o"
rm "$1/ptxlink.o"
cp "$here/ptxlink.h" "$1/"
sed "s/@VERSION@/$2/" "$here/ptxlink-c.pc.in" >"$1/pkgconfig/ptxlink-c.pc"
