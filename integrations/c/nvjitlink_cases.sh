#!/usr/bin/env bash
# nvjitlink_cases.sh DIR PTXLINK: runs nvjitlink_cases.py with three releases of NVIDIA's nvJitLink, 108 MB
# of PyPI beside the oracles, and the libraries in DIR, and writes nvjitlink-cases.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fetch=$here/../../internal/oracles/fetch.sh
"$fetch" --compilers
oracles=$("$fetch" --print-dir) columns=()
for package in nvidia-nvjitlink-cu12==12.4.127 nvidia-nvjitlink-cu12==12.9.86 nvidia-nvjitlink==13.5.37; do
	release=${package##*=} release=${release%.*} to=$oracles/nvjitlink-${package##*=}
	if [[ ! -e $to/nvidia ]]; then
		rm -rf "$to"
		python3 -m pip --disable-pip-version-check download -q --no-deps --only-binary=:all: -d "$to" "$package"
		"$fetch" --verify "$to"/*.whl
		python3 -m zipfile -e "$to"/*.whl "$to"
		rm "$to"/*.whl
	fi
	columns+=("$release=$(find "$to" -name 'libnvJitLink.so.*')")
done
export PTXAS=$oracles/bin/ptxas NVCC=$oracles/bin/nvcc FATBINARY=$oracles/bin/fatbinary NVVM=$(echo "$oracles"/numba/lib/python*/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so) PTXLINK_NVJITLINK=
PTXLINK=$(realpath "$2") python3 "$here/nvjitlink_cases.py" --update "${columns[@]}" "here 12=$(realpath "$1")/libnvJitLink.so.12" "here 13=$(realpath "$1")/libnvJitLink.so.13"
