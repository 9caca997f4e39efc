package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const small = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"

// degenerate returns inputs with nothing in them, or hardly anything.
func degenerate() map[string]string {
	const header = ".version 7.0\n.target sm_80\n.address_size 64\n"
	member := func(name, data string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", name, 0, 0, 0, 0o644, len(data), data, "\n"[:len(data)%2])
	}
	gzipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	zstded := func(text string) string {
		w, _ := zstd.NewWriter(nil)
		return string(w.EncodeAll([]byte(text), nil))
	}
	le := func(size int, values ...uint64) string {
		var b []byte
		for _, v := range values {
			b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
		}
		return string(b)
	}
	elf := func(machine, kind uint64) string {
		return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + le(2, kind, machine) + le(4, 1) + strings.Repeat("\x00", 28) + le(2, 64, 0, 0, 64, 0, 0)
	}
	fatbin := func(entries string) string {
		return "\x50\xed\x55\xba" + le(2, 1, 16) + le(8, uint64(len(entries))) + entries
	}
	entry := func(kind uint64) string { // of fatbin, without data
		return le(2, kind, 0x101) + le(4, 64) + le(8, 0) + strings.Repeat("\x00", 12) + le(4, 80) + strings.Repeat("\x00", 32)
	}
	inputs := map[string]string{
		"nothing": "", "line": "\n", "NUL": "\x00", "NULs": strings.Repeat("\x00", 1024), "blank": " \t", "comment": "// nothing\n",
		"version": ".version 7.0\n", "header": header, "record": header + "// ptxlink-meta\n",
		"archive": "!<arch>\n", "archive cut": "!<arch>", "thin": "!<thin>\n",
		"index":             "!<arch>\n" + member("/", "\x00\x00\x00\x00"),
		"empty index":       "!<arch>\n" + member("/", ""),
		"index of one":      "!<arch>\n" + member("/", "\x00\x00\x00\x01\x00\x00\x00\x00"),
		"Darwin's index":    "!<arch>\n" + member("__.SYMDEF", le(4, 0, 0)),
		"two indexes":       "!<arch>\n" + member("/", "\x00\x00\x00\x00") + member("/", ""),
		"names":             "!<arch>\n" + member("//", ""),
		"empty member":      "!<arch>\n" + member("a.ptx/", ""),
		"empty members":     "!<arch>\n" + member("a.ptx/", "") + member("a.ptx/", "") + member("b.o/", ""),
		"nameless member":   "!<arch>\n" + member("", "") + member("/", ""),
		"blank member":      "!<arch>\n" + member("a.ptx/", "\n\n"),
		"header in archive": "!<arch>\n" + member("a.ptx/", header),
		"nested":            "!<arch>\n" + member("a.a/", "!<arch>\n"),
		"nested thin":       "!<arch>\n" + member("a.a/", "!<thin>\n"),
		"empty package":     "!<arch>\n" + member("ptxlink.meta/", ""),
		"thin of itself":    "!<thin>\n" + fmt.Sprintf("%-16s%-42s%-10d`\n", "in/", "", 0),
		"thin of nothing":   "!<thin>\n" + fmt.Sprintf("%-16s%-42s%-10d`\n", "nothing.ptx/", "", 0),
		"thin of none":      "!<thin>\n" + fmt.Sprintf("%-16s%-42s%-10d`\n", "none.ptx/", "", 0),
		"gzip":              gzipped(""), "gzip of archive": gzipped("!<arch>\n"), "gzip of header": gzipped(header), "gzip of gzip": gzipped(gzipped("")), "gzip cut": "\x1f\x8b",
		"zstd": zstded(""), "zstd of archive": zstded("!<arch>\n"), "zstd cut": "\x28\xb5\x2f\xfd", "zstd skipped": "\x50\x2a\x4d\x18\x00\x00\x00\x00",
		"lz4": "\x04\x22\x4d\x18\x60\x40\x82\x00\x00\x00\x00", "lz4 cut": "\x04\x22\x4d\x18",
		"fatbin": fatbin(""), "fatbin cut": "\x50\xed\x55\xba", "fatbin of empty PTX": fatbin(entry(1)), "fatbin of empty cubin": fatbin(entry(2)), "fatbins": fatbin("") + fatbin(""),
		"ELF": elf(62, 1), "ELF cut": "\x7fELF", "cubin": elf(190, 2), "relocatable cubin": elf(190, 1), "program": elf(62, 2),
		"offload": "\x10\xff\x10\xad" + le(4, 1) + le(8, 32, 32, 0), "offload cut": "\x10\xff\x10\xad",
		"COFF": "\x64\x86" + strings.Repeat("\x00", 18), "PE": "MZ" + strings.Repeat("\x00", 62), "PE cut": "MZ",
		"LTO-IR": "\xed\x43\x4e\x7f" + strings.Repeat("\x00", 28), "LTO-IR cut": "\xed\x43\x4e\x7f",
		"bitcode": "BC\xc0\xde", "wrapped bitcode": "\xde\xc0\x17\x0b" + le(4, 0, 20, 0, 0), "Tile IR": "\x7fTileIR\x00",
		"tar": "empty" + strings.Repeat("\x00", 1019), "zip": "PK\x05\x06" + strings.Repeat("\x00", 18),
	}
	for _, name := range []string{"empty member", "fatbin", "cubin", "bitcode", "LTO-IR"} {
		inputs[name+" in gzip"] = gzipped(inputs[name])
		inputs[name+" in archive"] = "!<arch>\n" + member("in.o/", inputs[name])
	}
	return inputs
}

// forms are the command lines of each subcommand. IN is the input; main.ptx is a module.
var forms = map[string]string{
	"": "IN -o out.ptx|IN -o -|main.ptx IN -o out.ptx|IN main.ptx IN -o out.ptx|- -o out.ptx|IN -r -o out.ptx|--whole-archive IN -o out.ptx|main.ptx --whole-archive IN -o out.ptx|IN -O2 -o out.ptx|" +
		"IN -g -o out.ptx|IN -S -o out.ptx|IN -M -o out.ptx|IN --Map=map.json --dot=dot --report=r.html --dependency-file=d --unused-inputs=u --time-trace=t --reproduce=r.tar -o out.ptx|" +
		"IN --emit-parts=p%.ptx -o out.ptx|IN --cubin --dry-run|IN -o out.fatbin --arch=sm_80 --arch=sm_90|IN -c -o out.cubin|IN --arch=sm_80 -o out.ptx|IN --version-script=IN -o out.ptx|@IN|IN --icf -o out.ptx|main.ptx -L. -l:in -o out.ptx",
	"abi":                  "IN|-|{",
	"ar":                   "out.a IN|out.a main.ptx IN|--format=nv out.a IN|--compress out.a IN|rc out.a IN|rc IN main.ptx|q IN main.ptx|t IN|tv IN|p IN|x IN --output d|d IN main.ptx|d IN a.ptx|s IN|cr out.a -|x IN a.ptx",
	"check":                "IN|main.ptx IN|--cubin IN|-",
	"clang-nvlink-wrapper": "IN -o out.cubin --arch=sm_80|--format=ptx IN -o out.ptx",
	"completion":           "IN",
	"deps":                 "IN|main.ptx IN|--json IN|-",
	"explain":              "IN",
	"extract":              "IN|IN -o out|IN -o d/|IN -o -|IN -t|IN -t -o out|IN --json|IN --json -o out|IN --json -o -|IN -t -o -|IN --arch=sm_80|IN --arch=sm_80 -o out|-|- -o -|IN main.ptx -o d/|IN main.ptx -o out|IN IN -o out|IN -f -o out",
	"info":                 "IN|--json IN|IN main.ptx|-",
	"libdevice":            "--cuda IN -o out.a",
	"llvm-bitcode-linker":  "IN -o out.ptx --target nvptx64-nvidia-cuda",
	"manual":               "IN",
	"nm":                   "IN|--json IN|IN main.ptx|-C -g IN|--output out IN|-P IN|-",
	"nvlink":               "--arch=sm_80 IN -o out.cubin|--arch=compute_80 IN --register-link-binaries=r.c|--arch=sm_80 main.ptx IN -o out.cubin --dry-run",
	"nvptx-none-ld":        "IN -o out|main.ptx IN -o out",
	"serve":                "",
	"size":                 "IN|--json IN|IN main.ptx|-",
	"version":              "",
}

// TestDegenerate gives every subcommand, in every form of its output, inputs with nothing in them.
func TestDegenerate(t *testing.T) {
	t.Setenv("CC", "./none")
	for _, s := range allCommands() {
		if _, ok := forms[s.Name]; !ok {
			t.Errorf("forms has no command lines of %q", s.Name)
		}
	}
	bug := regexp.MustCompile(`internal error|panic|runtime error|goroutine|index out of range|nil pointer`)
	inputs := degenerate()
	for i, name := range slices.Sorted(maps.Keys(inputs)) {
		if i%4 != 0 && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for command, lines := range forms {
				t.Chdir(t.TempDir())
				for line := range strings.SplitSeq(lines, "|") {
					for path, text := range map[string]string{"in": inputs[name], "main.ptx": small, "nothing.ptx": ""} {
						if err := os.WriteFile(filepath.FromSlash(path), []byte(text), 0o666); err != nil {
							t.Fatal(err)
						}
					}
					args := strings.Fields(command + " " + strings.ReplaceAll(line, "IN", "in"))
					var out, said bytes.Buffer
					code := run(context.Background(), args, strings.NewReader(inputs[name]), &out, &said)
					if code < 0 || code > exitIO || bug.MatchString(said.String()) {
						t.Errorf("ptxlink %s: exit code %d\n%s", strings.Join(args, " "), code, &said)
					}
				}
			}
		})
	}
}
