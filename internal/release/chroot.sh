#!/usr/bin/env bash
# chroot.sh DEB: installs a Debian package in a bare Debian, which it makes with
# mmdebstrap (needs root and the network), and links a program there.
set -euo pipefail
deb=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
mmdebstrap --quiet --variant=essential "${SUITE:-bookworm}" "$root"
cp "$deb" "$root/tmp/ptxlink.deb"
cp testdata/ptx/example/main.ptx testdata/ptx/example/lib.ptx "$root/tmp/"
chroot "$root" /bin/sh -euxc '
	dpkg -i /tmp/ptxlink.deb
	cd /tmp
	ptxlink version
	ptxlink main.ptx lib.ptx -o out.ptx
	ptxlink check out.ptx
	zcat /usr/share/man/man1/ptxlink.1.gz | grep -q "^.TH PTXLINK 1"
	bash -c ". /usr/share/bash-completion/completions/ptxlink; complete -p ptxlink"
	dpkg --verify ptxlink
	dpkg -P ptxlink
	test ! -e /usr/bin/ptxlink
'
