#!/bin/sh
# nvjitlink.sh DIR: builds with $CC what takes the place of nvJitLink 12 and 13. Nothing loads it that is
# not told to.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
for release in 12.9 13.5; do
	major=${release%.*} name=libnvJitLink.so.${release%.*}
	echo "$name { global: nvJitLink*; __nvJitLink*; local: *; };" >"$1/$name.map"
	${CC:-cc} -std=c11 -O2 -Wall -Wextra -fPIC -fvisibility=hidden -shared -DMAJOR="$major" -DMINOR="${release#*.}" -DPTXLINK_API= \
		-Wl,-soname,"$name" -Wl,--version-script="$1/$name.map" "$here/nvjitlink.c" "$here/ptxlink.c" -o "$1/$name" -lpthread -ldl
	rm "$1/$name.map"
done
