#!/bin/sh
# zig.sh ARG...: runs Zig, whose C compiler has the headers and libraries of other systems: 98 MB of PyPI,
# beside the oracles.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fetch=$here/../../internal/oracles/fetch.sh version=0.17.1
dir=$("$fetch" --print-dir)/zig-$version
if [ ! -x "$dir/ziglang/zig" ]; then
	mkdir -p "$dir"
	python3 -m pip --disable-pip-version-check download -q --no-deps --only-binary=:all: -d "$dir" ziglang==$version >&2
	"$fetch" --verify "$dir"/ziglang-*.whl
	python3 -m zipfile -e "$dir"/ziglang-*.whl "$dir"
	rm "$dir"/ziglang-*.whl
	chmod +x "$dir/ziglang/zig"
fi
exec "$dir/ziglang/zig" "$@"
