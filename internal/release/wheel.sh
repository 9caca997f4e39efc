#!/usr/bin/env bash
# wheel.sh PROGRAM VERSION OS ARCH DIR ZIP: writes the wheel of integrations/python with the
# program for one platform to DIR. ZIP is the built internal/release/zip.
set -euo pipefail
program=$1 version=$2 os=$3 arch=$4 out=$5 zip=$6
cd "$(dirname "$0")/../.."
# PEP 440 writes 1.2.0-rc.1 as 1.2.0rc1, and does not know the version of a commit without a tag.
version=$(sed -E 's/^([0-9.]+)-(a|b|rc)(lpha|eta)?[.]?([0-9]+)$/\1\2\4/' <<< "$version")
[[ $version =~ ^[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?$ ]] || version=0.0.0+$(tr -c 'a-zA-Z0-9\n' . <<< "${version#*-}")
case $os/$arch in
# The program is static, so it runs with both C libraries of Linux.
linux/amd64) platform=manylinux2014_x86_64.musllinux_1_1_x86_64 ;;
linux/arm64) platform=manylinux2014_aarch64.musllinux_1_1_aarch64 ;;
darwin/amd64) platform=macosx_12_0_x86_64 ;; # the oldest that Go supports
darwin/arm64) platform=macosx_12_0_arm64 ;;
windows/amd64) platform=win_amd64 ;;
windows/arm64) platform=win_arm64 ;;
*) exit 0 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
info=ptxlink-$version.dist-info
mkdir -p "$work/ptxlink/bin" "$work/$info/licenses"
cp integrations/python/ptxlink/{__init__.py,__main__.py,cuda_core.py,py.typed} "$work/ptxlink"
cp "$program" "$work/ptxlink/bin"
cp LICENSE "$work/$info/licenses"
find "$work" -type f -exec chmod 644 {} +
chmod 755 "$work"/ptxlink/bin/*
# The page stands alone on an index, so its links to other pages become text.
cat > "$work/$info/METADATA" << END
Metadata-Version: 2.4
Name: ptxlink
Version: $version
Summary: A linker for NVIDIA PTX
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: ptxas
Requires-Dist: nvidia-cuda-nvcc; extra == "ptxas"
Description-Content-Type: text/markdown

$(sed 's/\[\([^]]*\)\]([^):]*)/\1/g' docs/python.md)
END
printf 'Wheel-Version: 1.0\nGenerator: ptxlink\nRoot-Is-Purelib: false\n' > "$work/$info/WHEEL"
IFS=. read -ra platforms <<< "$platform"
printf 'Tag: py3-none-%s\n' "${platforms[@]}" >> "$work/$info/WHEEL"
printf '[console_scripts]\nptxlink = ptxlink.__main__:main\n' > "$work/$info/entry_points.txt"
file=ptxlink-$version-py3-none-$platform.whl
"$zip" "$work" "$out/$file" "$info/RECORD"
echo "$file"
