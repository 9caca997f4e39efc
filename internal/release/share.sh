#!/bin/sh
# share.sh PTXLINK DIR: writes the manual pages and completions of a ptxlink, its
# packages for CMake and pkg-config, and the documentation with its examples to DIR, which is called share.
set -eu
mkdir -p "$2/man/man1" "$2/bash-completion/completions" "$2/zsh/site-functions" "$2/fish/vendor_completions.d" "$2/powershell"
"$1" manual --output-dir "$2/man/man1"
"$1" completion bash > "$2/bash-completion/completions/ptxlink"
"$1" completion zsh > "$2/zsh/site-functions/_ptxlink"
"$1" completion fish > "$2/fish/vendor_completions.d/ptxlink.fish"
"$1" completion powershell > "$2/powershell/ptxlink.ps1"
here=$(cd "$(dirname "$0")/../.." && pwd)
doc=$(mkdir -p "$2/doc/ptxlink" && cd "$2/doc/ptxlink" && pwd)
# The pages, and what their links and commands name. Tests stay in the clone.
(
	cd "$here"
	cp ./*.md LICENSE "$doc/"
	for file in docs/*.md docs/*.svg docs/*.py \
		testdata/quickstart/*.cu testdata/quickstart/*.[ch] \
		testdata/ptx/example/* testdata/ptx/numba/* testdata/ptx/rust/* testdata/ptx/triton/* \
		testdata/src/numba/* testdata/src/rust/* testdata/src/triton/* \
		integrations/*/README.md integrations/make/Makefile integrations/cache/reapi.py \
		$(find integrations/bazel integrations/cmake/example -type f ! -name README.md ! -name MODULE.bazel.lock) \
		integrations/c/CMakeLists.txt integrations/c/ptxlink.[ch] integrations/c/json.h integrations/c/process_*.h \
		integrations/c/example.* integrations/c/nvjitlink-cases.md; do
		mkdir -p "$doc/${file%/*}"
		cp "$file" "$doc/$file"
	done
)
mkdir -p "$2/cmake/ptxlink" "$2/pkgconfig"
cp "$here/integrations/cmake/ptxlinkConfig.cmake" "$2/cmake/ptxlink/"
version=$("$here/internal/release/version.sh" "$1")
sed "s,@VERSION@,$version," "$here/integrations/make/ptxlink.pc.in" > "$2/pkgconfig/ptxlink.pc"
# CMake compares numbers.
sed "s,@VERSION@,${version%%[-+]*}," "$here/integrations/cmake/ptxlinkConfigVersion.cmake.in" > "$2/cmake/ptxlink/ptxlinkConfigVersion.cmake"
