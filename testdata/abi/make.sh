#!/usr/bin/env bash
# Makes layout.c beside it: generates the structs and has nvcc and clang lay
# them out. Needs internal/oracles/fetch.sh --compilers.
set -euo pipefail
cd "$(dirname "$0")/../.."
PTXLINK_REQUIRE_ORACLES=1 go test ./abicheck/ctype -count=1 -run TestLayoutOfLiveCompilers -v -update
