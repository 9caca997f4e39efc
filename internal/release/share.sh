#!/bin/sh
# share.sh PTXLINK DIR: writes the manual pages and completions of a ptxlink, its
# packages for CMake and pkg-config, and the documentation to DIR, which is called share.
set -eu
mkdir -p "$2/man/man1" "$2/bash-completion/completions" "$2/zsh/site-functions" "$2/fish/vendor_completions.d" "$2/powershell"
"$1" manual --output-dir "$2/man/man1"
"$1" completion bash > "$2/bash-completion/completions/ptxlink"
"$1" completion zsh > "$2/zsh/site-functions/_ptxlink"
"$1" completion fish > "$2/fish/vendor_completions.d/ptxlink.fish"
"$1" completion powershell > "$2/powershell/ptxlink.ps1"
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2/doc/ptxlink/docs"
cp "$here/README.md" "$here/CHANGELOG.md" "$here/LICENSE" "$2/doc/ptxlink/"
cp "$here"/docs/*.md "$here"/docs/*.svg "$here"/docs/*.py "$2/doc/ptxlink/docs/"
mkdir -p "$2/cmake/ptxlink" "$2/pkgconfig"
cp "$here/integrations/cmake/ptxlinkConfig.cmake" "$2/cmake/ptxlink/"
version=$("$here/internal/release/version.sh" "$1")
sed "s,@VERSION@,$version," "$here/integrations/make/ptxlink.pc.in" > "$2/pkgconfig/ptxlink.pc"
# CMake compares numbers.
sed "s,@VERSION@,${version%%[-+]*}," "$here/integrations/cmake/ptxlinkConfigVersion.cmake.in" > "$2/cmake/ptxlink/ptxlinkConfigVersion.cmake"
