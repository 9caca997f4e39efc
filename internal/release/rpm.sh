#!/usr/bin/env bash
# rpm.sh TREE VERSION ARCH DIR: packs TREE, which has bin and share, as a package for RPM in DIR.
# build.sh calls it, with its environment.
set -euo pipefail
tree=$1 out=$4
# A pre-release sorts before its release, and a version has no "-".
version=${2//-/\~}
case $3 in
amd64) arch=x86_64 ;;
arm64) arch=aarch64 ;;
*) arch=$3 ;;
esac
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tree/usr/share/licenses/ptxlink"
cp -R "$tree/bin" "$tree/share" "$root/tree/usr/"
rm -r "$root/tree/usr/share/powershell"
gzip -9n "$root"/tree/usr/share/man/man1/*.1
mv "$root/tree/usr/share/doc/ptxlink/LICENSE" "$root/tree/usr/share/licenses/ptxlink/"
# Other directories belong to other packages.
(cd "$root/tree" && find usr/share/*/ptxlink -type d) | sed 's,^,/,' | sort > "$root/directories"
file=ptxlink-$version-1.$arch.rpm
tar -C "$root/tree" --sort=name --format=ustar --owner=root:0 --group=root:0 --mode=u=rwX,go=rX --mtime=@"$SOURCE_DATE_EPOCH" --transform='s,^,/,' -P -cf "$root/tree.tar" usr
# GOFLAGS are those of the program; its go.mod does not have the tool.
GOFLAGS=-trimpath GOOS='' GOARCH='' go tool -modfile=internal/tools/go.mod tar2rpm -name ptxlink -version "$version" -release 1 -arch "$arch" \
	-build_time "$SOURCE_DATE_EPOCH" -use_dir_allowlist -dir_allowlist_file "$root/directories" \
	-summary 'linker for NVIDIA PTX' -licence Apache-2.0 \
	-description 'ptxlink links separately compiled PTX modules (from nvcc, clang, gcc, Rust,
Triton, Numba, or written by hand) into one module that ptxas accepts, or into
a cubin with ptxas. It does not need a CUDA toolkit.' \
	-file "$out/$file" "$root/tree.tar"
echo "$file"
