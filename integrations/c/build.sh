#!/bin/sh
# build.sh DIR VERSION: builds the C library with $CC, for its target: a shared and a static library,
# ptxlink.h and the file for pkg-config.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc} flags='-std=c11 -O2 -Wall -Wextra -fvisibility=hidden'
mkdir -p "$1/pkgconfig"
case $($cc -dM -E -x c /dev/null) in
*'#define _WIN32 '*)
	$cc $flags -DPTXLINK_EXPORTS -shared "$here/ptxlink.c" -o "$1/ptxlink.dll" -Wl,--out-implib,"$1/libptxlink.dll.a"
	;;
*'#define __APPLE__ '*)
	$cc $flags -shared "$here/ptxlink.c" -o "$1/libptxlink.1.dylib" -install_name @rpath/libptxlink.1.dylib
	ln -sf libptxlink.1.dylib "$1/libptxlink.dylib"
	;;
*)
	$cc $flags -fPIC -shared -Wl,-soname,libptxlink.so.1 "$here/ptxlink.c" -o "$1/libptxlink.so.1" -lpthread
	ln -sf libptxlink.so.1 "$1/libptxlink.so"
	;;
esac
$cc $flags -fPIC -c "$here/ptxlink.c" -o "$1/ptxlink.o"
rm -f "$1/libptxlink.a"
${AR:-ar} rcsD "$1/libptxlink.a" "$1/ptxlink.o"
rm "$1/ptxlink.o"
cp "$here/ptxlink.h" "$1/"
sed "s/@VERSION@/$2/" "$here/ptxlink-c.pc.in" >"$1/pkgconfig/ptxlink-c.pc"
