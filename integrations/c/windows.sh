#!/bin/sh
# windows.sh DIR VERSION: builds the C library for Windows (amd64) in DIR with Zig, and runs its test,
# an example, and what nvcc asks of nvlink with Wine, with ptxas.exe from PyPI.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fetch=$here/../../internal/oracles/fetch.sh
command -v wine >/dev/null || { echo 'windows.sh: no wine, which runs the test (Debian: apt-get install --no-install-recommends wine64 wine, 0.7 GB)' >&2; exit 1; }
cc="$here/zig.sh cc -target x86_64-windows-gnu"
CC="$cc -Werror" AR="$here/zig.sh ar" "$here/build.sh" "$1" "$2"

tmp=$(mktemp -d)
trap 'WINEPREFIX=$tmp/wine wineserver -k 2>/dev/null || :; rm -rf "$tmp"' EXIT
export WINEPREFIX="$tmp/wine" WINEDEBUG=-all DISPLAY= LC_ALL=C.UTF-8
wine wineboot -i >/dev/null 2>&1
# Programs of Go need this DLL, and Wine before 9 has none.
if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
	cat >"$tmp/random.c" <<-END
		#include <windows.h>
		BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
		__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
	END
	$cc -shared "$tmp/random.c" -ladvapi32 -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
fi
wheel=nvidia_cuda_nvcc_cu12-12.4.131-py3-none-win_amd64.whl cache=$("$fetch" --print-dir)/windows
if [ ! -e "$cache/$wheel" ]; then
	python3 -m pip --disable-pip-version-check download -q --no-deps --platform win_amd64 --only-binary=:all: -d "$tmp/wheel" nvidia-cuda-nvcc-cu12==12.4.131
	"$fetch" --verify "$tmp/wheel/$wheel"
	mkdir -p "$cache"
	mv "$tmp/wheel/$wheel" "$cache/"
fi
python3 -m zipfile -e "$cache/$wheel" "$tmp/cuda"

(cd "$here" && GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} build -tags urfave_cli_no_docs -o "$tmp/ptxlink.exe" ../../cmd/ptxlink)
cat >"$tmp/slow.c" <<-END
	#include <windows.h>
	int main(void) { Sleep(60000); return 0; }
END
$cc "$tmp/slow.c" -o "$tmp/slow.exe"
cat >"$tmp/read.c" <<-END
	#include <stdio.h>
	#include <windows.h>
	// Reads a file until 0.2 s after another program has begun to replace it.
	int main(int argc, char **argv) {
		WIN32_FIND_DATAA found;
		if (CreateFileA(argv[1], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL) == INVALID_HANDLE_VALUE) return 1;
		puts("reading");
		fflush(stdout);
		while (FindFirstFileA(".ptxlink-*", &found) == INVALID_HANDLE_VALUE) Sleep(1);
		Sleep(200);
		return 0;
	}
END
$cc "$tmp/read.c" -o "$tmp/read.exe"
$cc -std=c11 -Wall -Wextra -Werror -I"$1" "$here/test.c" "$1/libptxlink.a" -lpthread -o "$tmp/test.exe"
$cc -I"$1" "$here/example.c" "$1/libptxlink.dll.a" -o "$tmp/example.exe"
cp "$1/ptxlink.dll" "$tmp/"

# path FILE: as Windows names it.
path() { winepath -w "$1"; }
example=$here/../../testdata/ptx/example
wine "$tmp/test.exe" "$(path "$tmp/ptxlink.exe")" "$(path "$tmp/cuda/nvidia/cuda_nvcc/bin/ptxas.exe")" "$(path "$example")" "$(path "$tmp")"
PTXLINK="$(path "$tmp/ptxlink.exe")" wine "$tmp/example.exe" "$(path "$tmp/out.ptx")" "$(path "$example/main.ptx")" "$(path "$example/lib.ptx")"
grep -q '\.visible \.entry k_main' "$tmp/out.ptx"

# What nvcc writes for nvlink, in the code page of the system.
mkdir "$tmp/ü"
forms=$tmp/ü
cp "$here/../../testdata/forms/windows/"* "$forms/"
PTXAS=$(path "$tmp/cuda/nvidia/cuda_nvcc/bin/ptxas.exe")
export PTXAS
printf ' -m64 --arch=sm_80 --register-link-binaries="%s" cudadevrt.lib "/LIBPATH:%s" -cpu-arch=X86_64 units.lib kernel32.lib cudadevrt.lib -o "%s"\r\n' \
	"$(path "$tmp/reg.c")" "$(path "$forms")" "$(path "$tmp/out.cubin")" | iconv -t cp1252 >"$tmp/nvlink.optf"
wine "$tmp/ptxlink.exe" nvlink -optf "$(path "$tmp/nvlink.optf")"
grep -q 'NUM_PRELINKED_OBJECTS 4' "$tmp/reg.c"
test -s "$tmp/out.cubin"
# An error of ptxas is no crash.
printf '.version 8.0\n.target sm_80\n.address_size 64\n.entry k() { none.u32 1; }\n' >"$tmp/bad.ptx"
wine "$tmp/ptxlink.exe" "$(path "$tmp/bad.ptx")" --arch=sm_80 -o "$(path "$tmp/bad.cubin")" 2>"$tmp/said" || :
grep -q '\[ptxas-error\]' "$tmp/said"
if grep 'killed' "$tmp/said"; then exit 1; fi
wine "$tmp/ptxlink.exe" "$(path "$tmp/cuda")" 2>"$tmp/said" || :
grep -q 'is a directory' "$tmp/said"
wine "$tmp/ptxlink.exe" none/none.ptx 2>"$tmp/said" || :
grep -q 'cannot read: no such file or directory' "$tmp/said"
wine "$tmp/ptxlink.exe" "$(path "$tmp/bad.ptx")" --arch=sm_80 -o "$(path "$tmp/bad.cubin")" --ptxas=none/ptxas 2>"$tmp/said" || :
grep -q 'which --ptxas names: no such file or directory' "$tmp/said"
# A member is not written to a device.
(
	cd "$tmp"
	cp "$example/main.ptx" con.ptx
	"$here/zig.sh" ar rc dev.a con.ptx
	rm con.ptx
	wine ptxlink.exe extract dev.a >written
	test -s _con.ptx
	wine ptxlink.exe ar x dev.a 2>said || :
	grep -q 'Windows reserves its name' said
	# A name that is relative to the directory of a drive, and one with \\?\.
	mkdir here
	cp "$example/lib.ptx" here/
	(cd here && wine ../ptxlink.exe ar drive.a Z:lib.ptx && wine ../ptxlink.exe ar t drive.a | grep -q '^lib.ptx')
	wine ptxlink.exe "\\\\?\\$(path "$tmp/_con.ptx")" here/lib.ptx -o new.ptx --reproduce=new.tar
	tar tf new.tar | grep -q '/_con.ptx'
	if tar tf new.tar | grep '?'; then exit 1; fi
	# CON is the console.
	TERM=xterm script -qec 'wine ptxlink.exe _con.ptx here/lib.ptx -o CON' /dev/null </dev/null | grep -q 'Linked by'
	# Ctrl-C ends ptxlink, and not before it the program that it runs.
	(sleep 2; printf '\003'; sleep 1) | TERM=xterm script -qec 'wine ptxlink.exe _con.ptx here/lib.ptx --arch=sm_80 -o slow.cubin --ptxas=./slow.exe' /dev/null >said || :
	grep -q 'interrupted; nothing was written' said
	if grep 'error' said; then exit 1; fi
	# Windows does not tell names apart by case.
	cp "$forms/units.lib" .
	wine ptxlink.exe --whole-archive units.lib UNITS.LIB -o new.ptx
	if wine ptxlink.exe _con.ptx "$(path "$example/lib.ptx")" -o new.ptx -Map=NEW.PTX 2>said; then exit 1; fi
	grep -q 'would both write' said
	# An output that another program reads for a moment is replaced.
	echo old >new.ptx
	wine read.exe new.ptx >reader &
	until grep -q reading reader; do sleep 0.1; done
	wine ptxlink.exe _con.ptx "$(path "$example/lib.ptx")" -o new.ptx
	wait
	grep -q k_main new.ptx
)
echo 'windows.sh: the test passed'
