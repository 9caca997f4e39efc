#!/usr/bin/env bash
# chroot.sh DEB RPM: installs a Debian package in a bare Debian, which it makes with
# mmdebstrap (needs root and the network), and links a program there; then the package for
# RPM, in a directory of its own.
set -euo pipefail
deb=$(realpath "$1") rpm=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/bare
mmdebstrap --quiet --variant=essential "${SUITE:-bookworm}" "$root"
cp "$deb" "$root/tmp/ptxlink.deb"
cp testdata/ptx/example/main.ptx testdata/ptx/example/lib.ptx "$root/tmp/"
chroot "$root" /bin/sh -euxc '
	dpkg -i /tmp/ptxlink.deb
	cd /tmp
	ptxlink version
	ptxlink --version
	ptxlink main.ptx lib.ptx -o out.ptx
	ptxlink check out.ptx
	zcat /usr/share/man/man1/ptxlink.1.gz | grep -q "^.TH PTXLINK 1"
	grep -q "^### undefined-symbol" /usr/share/doc/ptxlink/docs/errors.md
	cmp /usr/share/doc/ptxlink/testdata/ptx/example/main.ptx main.ptx
	bash -c ". /usr/share/bash-completion/completions/ptxlink; complete -p ptxlink"
	dpkg --verify ptxlink
	dpkg -P ptxlink
	test ! -e /usr/bin/ptxlink
'
cp "$root/tmp/out.ptx" "$work/want.ptx"

root=$work/rpm
mmdebstrap --quiet --variant=essential --include=rpm,rpm2cpio,cpio "${SUITE:-bookworm}" "$root"
mkdir "$root/tmp/files"
cp "$rpm" "$root/tmp/ptxlink.rpm"
cp testdata/ptx/example/main.ptx testdata/ptx/example/lib.ptx "$work/want.ptx" "$root/tmp/"
chroot "$root" /bin/sh -euxc '
	cd /tmp
	rpm -qpi ptxlink.rpm
	rpm -qpl ptxlink.rpm | grep -x /usr/bin/ptxlink
	rpm -qpl ptxlink.rpm | grep -x /usr/share/man/man1/ptxlink.1.gz
	rpm -qpl ptxlink.rpm | grep -x /usr/share/doc/ptxlink/docs/errors.md
	if rpm -qpl ptxlink.rpm | grep -x /usr/share; then exit 1; fi # another package has it
	rpm -K --nosignature ptxlink.rpm
	(cd files && rpm2cpio ../ptxlink.rpm | cpio -idm --quiet && find . -type f | sort)
	rpm --root /tmp/installed --initdb
	rpm --root /tmp/installed --force-debian -i /tmp/ptxlink.rpm
	rpm --root /tmp/installed -V ptxlink
	/tmp/installed/usr/bin/ptxlink --version
	/tmp/installed/usr/bin/ptxlink main.ptx lib.ptx -o out.ptx
	cmp out.ptx want.ptx
'
