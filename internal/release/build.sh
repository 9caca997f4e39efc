#!/usr/bin/env bash
# build.sh DIR: builds the files of a release in DIR: for each platform a static binary
# in a tarball (for Windows a zip) with manual pages, completions, docs and examples; packages for
# dpkg and RPM; a wheel for Python; what they are built from (CycloneDX); SHA256SUMS.
# TARGETS restricts the platforms: "linux/amd64 darwin/arm64".
#
# The same commit gives the same bytes: nothing depends on the directory, the user, the
# umask or the time; files have the time of the commit, or SOURCE_DATE_EPOCH. Go takes
# the version and the commit from a clone, not from a further worktree.
set -euo pipefail
umask 022
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOFLAGS=-trimpath GOAMD64=v1 GOARM64=v8.0 GOWORK=off
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # GOOS GOARCH FILE [PACKAGE]
	GOOS=$1 GOARCH=$2 go build -tags urfave_cli_no_docs -buildvcs=auto -ldflags='-s -w -buildid=' -o "$3" "${4:-./cmd/ptxlink}"
}

# archive DIR FILE: the directory DIR, below $work, in sorted order and without users.
archive() {
	case $2 in
	*.zip)
		"$work/zip" "$work/$1" "$2"
		return ;;
	esac
	tar -C "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@"$SOURCE_DATE_EPOCH" -cf - "$1" | gzip -9n > "$2"
}

build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/host"
go build -o "$work/zip" ./internal/release/zip
internal/release/share.sh "$work/host" "$work/share"
version=$(internal/release/version.sh "$work/host")

rm -f "$out"/ptxlink[-_]* "$out"/SHA256SUMS
go run ./internal/release/sbom "$work/host" "$version" > "$out/ptxlink-$version.cdx.json"
for target in $targets; do
	os=${target%/*} arch=${target#*/} suffix='' form=tar.gz
	[ "$os" = windows ] && suffix=.exe form=zip
	name=ptxlink-$version-$os-$arch
	mkdir -p "$work/$name/bin"
	build "$os" "$arch" "$work/$name/bin/ptxlink$suffix"
	cp -R "$work/share" "$work/$name/"
	if [ "$os" = linux ]; then
		internal/release/rpm.sh "$work/$name" "$version" "$arch" "$out"
		if command -v dpkg-deb > /dev/null; then
			internal/release/deb.sh "$work/$name" "$version" "$arch" "$out"
		fi
	fi
	internal/release/wheel.sh "$work/$name/bin/ptxlink$suffix" "$version" "$os" "$arch" "$out" "$work/zip"
	mv "$work/$name/share/doc/ptxlink"/* "$work/$name/"
	rm -r "$work/$name/share/doc"
	archive "$name" "$out/$name.$form"
	echo "$name.$form"
	rm -rf "${work:?}/$name"
done
command -v dpkg-deb > /dev/null || echo 'no dpkg-deb: the Debian packages are left out'
cd "$out"
sha256sum ptxlink[-_]* > SHA256SUMS
