#!/usr/bin/env bash
# twice.sh: builds the committed tree twice, in two directories, with two umasks and time
# zones, and compares the files.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/first"
git clone -q . "$work/second-directory"
(umask 077; TZ=Asia/Tokyo LANG=de_DE.UTF-8 "$work/first/internal/release/build.sh" "$work/1")
sleep 1
(umask 002; TZ=UTC "$work/second-directory/internal/release/build.sh" "$work/2" > /dev/null)
diff "$work/1/SHA256SUMS" "$work/2/SHA256SUMS"
(cd "$work/2" && sha256sum --quiet -c ../1/SHA256SUMS)
echo "the same $(wc -l < "$work/1/SHA256SUMS") files twice"
