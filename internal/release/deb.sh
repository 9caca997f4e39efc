#!/usr/bin/env bash
# deb.sh TREE VERSION ARCH DIR: packs TREE, which has bin and share, as a Debian package in DIR.
# build.sh calls it, with its environment.
set -euo pipefail
tree=$1 arch=$3
# A pre-release sorts before its release.
version=${2//-/\~}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
doc=$root/usr/share/doc/ptxlink
mkdir -p "$root/DEBIAN" "$root/usr"
cp -R "$tree/bin" "$tree/share" "$root/usr/"
mkdir "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_ptxlink" "$root/usr/share/zsh/vendor-completions/"
rm -r "$root/usr/share/zsh/site-functions" "$root/usr/share/powershell"
gzip -9n "$root"/usr/share/man/man1/*.1
gzip -9nc "$doc/CHANGELOG.md" > "$doc/changelog.gz"
{
	echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
	echo 'Files: *'
	echo 'Copyright: the authors of ptxlink'
	echo 'License: Apache-2.0'
	sed 's/^$/./; s/^/ /' "$doc/LICENSE"
} > "$doc/copyright"
rm "$doc/LICENSE"
cat > "$root/DEBIAN/control" << EOF
Package: ptxlink
Version: $version
Architecture: $arch
Maintainer: The authors of ptxlink <ptxlink@invalid>
Installed-Size: $(du -k --apparent-size -s "$root/usr" | cut -f1)
Section: devel
Priority: optional
Description: linker for NVIDIA PTX
 ptxlink links separately compiled PTX modules (from nvcc, clang, gcc, Rust,
 Triton, Numba, or written by hand) into one module that ptxas accepts, or into
 a cubin with ptxas. It does not need a CUDA toolkit.
EOF
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d @"$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zgzip -z9 --build "$root" "$4/ptxlink_${version}_$arch.deb" > /dev/null
echo "ptxlink_${version}_$arch.deb"
