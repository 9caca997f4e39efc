package link_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
)

// units are the modules of the program in testdata/forms, in link order.
var units = []string{"kernel", "alpha", "beta", "gamma"}

// unit reads one module of the program, as compiled by nvcc or clang.
func unit(t *testing.T, compiler, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../testdata/forms/" + compiler + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// eachUnit returns one input for each module compiled by nvcc.
func eachUnit(t *testing.T, suffix string, wrap func(ptx []byte) []byte) (inputs []link.Input) {
	for _, u := range units {
		inputs = append(inputs, link.Input{Name: u + suffix, Text: wrap(unit(t, "nvcc", u+".ptx"))})
	}
	return inputs
}

// files returns inputs from testdata/forms.
func files(compiler string, names ...string) (inputs []link.Input) {
	for _, name := range names {
		inputs = append(inputs, link.Input{Path: "../testdata/forms/" + compiler + "/" + name})
	}
	return inputs
}

func whole(in link.Input) link.Input {
	in.WholeArchive = true
	return in
}

// gnu returns an archive of files of testdata/forms.
func gnu(t *testing.T, compiler, suffix string, names ...string) link.Input {
	var members []string
	for _, name := range names {
		members = append(members, name+suffix, string(unit(t, compiler, name+suffix)))
	}
	return link.Input{Name: "lib.a", Text: archive(members...)}
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func zstded(text []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(text, nil)
}

func lz4ed(text []byte) []byte {
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

// fatbinOf returns the fatbin that fatbinary writes for one PTX; flag is the
// expected compression flag of the entry.
func fatbinOf(t *testing.T, tool, option string, flag uint64, text []byte) []byte {
	t.Helper()
	const lz4, zstd = 0x2000, 0x8000
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.fatbin")
	if err := os.WriteFile(in, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(oracles.Require(t, tool), option, "-64", "--create", out, "--image3=kind=ptx,sm=80,file="+in).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v %s", tool, option, err, said)
	}
	made, err := os.ReadFile(out)
	if err != nil || len(made) < 16+0x30 {
		t.Fatalf("%s: %d bytes, %v", tool, len(made), err)
	}
	if got := binary.LittleEndian.Uint64(made[16+0x28:]) & (lz4 | zstd); got != flag && !oracles.StandsIn(tool) {
		t.Errorf("%s %s compresses in another way than it should: flags %#x", tool, option, got)
	}
	return made
}

// A form is one way to pass the program to the linker.
type form struct {
	name     string
	compiler string
	inputs   []link.Input
	verbatim bool // no tool rewrites the PTX on the way
}

func programForms(t *testing.T) []form {
	fatbins := func(tool, option string, flag uint64) []link.Input {
		return eachUnit(t, ".fatbin", func(ptx []byte) []byte { return fatbinOf(t, tool, option, flag, ptx) })
	}
	var joined []byte
	for _, u := range units {
		joined = append(append(joined, unit(t, "nvcc", u+".ptx")...), 0)
	}
	kernel := files("nvcc", "kernel.ptx")[0]
	packed := func(format pack.Format) link.Input {
		p, err := pack.Make(t.Context(), pack.Options{Inputs: files("nvcc", "kernel.ptx", "alpha.ptx", "beta.ptx", "gamma.ptx"), Format: format, Host: "linux-x86_64"})
		if err != nil {
			t.Fatal(err)
		}
		return link.Input{Name: "lib.a", Text: p.Data}
	}
	return []form{
		{"gzip", "nvcc", eachUnit(t, ".ptx.gz", gzipped), true},
		{"zstd", "nvcc", eachUnit(t, ".ptx.zst", zstded), true},
		{"LZ4 frame", "nvcc", eachUnit(t, ".ptx.lz4", lz4ed), true},
		{"joined by NUL", "nvcc", []link.Input{{Name: "a.out", Text: joined}}, true},
		{"fatbin, LZ4", "nvcc", fatbins("fatbinary", "--compress=true", 0x2000), false},
		{"fatbin, stored", "nvcc", fatbins("fatbinary", "--compress=false", 0), false},
		{"fatbin of CUDA 13, zstd", "nvcc", fatbins("fatbinary-new", "--compress-mode=size", 0x8000), false},
		{"fatbin of CUDA 13, LZ4", "nvcc", fatbins("fatbinary-new", "--compress-mode=speed", 0x2000), false},
		{"fatbin of CUDA 13, stored", "nvcc", fatbins("fatbinary-new", "--compress-mode=none", 0), false},
		{"host objects", "nvcc", files("nvcc", "kernel.o", "alpha.o", "beta.o", "gamma.o"), false},
		{"archive of host objects", "nvcc", []link.Input{whole(gnu(t, "nvcc", ".o", units...))}, false},
		{"kernel and archive of host objects", "nvcc", []link.Input{files("nvcc", "kernel.o")[0], gnu(t, "nvcc", ".o", "alpha", "beta", "gamma")}, false},
		{"ld -r", "nvcc", files("nvcc", "linked.o"), false},
		{"executable", "nvcc", files("nvcc", "program"), false},
		{"GNU archive", "nvcc", []link.Input{whole(files("nvcc", "gnu.a")[0])}, true},
		{"BSD archive", "nvcc", []link.Input{whole(files("nvcc", "bsd.a")[0])}, true},
		{"Darwin archive", "nvcc", []link.Input{whole(files("nvcc", "darwin.a")[0])}, false}, // pads members with line ends, and counts them
		{"thin archive", "nvcc", []link.Input{whole(files("nvcc", "thin.a")[0])}, true},
		{"kernel and archive", "nvcc", []link.Input{kernel, gnu(t, "nvcc", ".ptx", "alpha", "beta", "gamma")}, true},
		{"archive of compressed archives", "nvcc", []link.Input{whole(link.Input{Name: "lib.a", Text: archive(
			"ka.a.gz", string(gzipped(gnu(t, "nvcc", ".ptx", "kernel", "alpha").Text)), "bg.a.zst", string(zstded(gnu(t, "nvcc", ".ptx", "beta", "gamma").Text)))})}, true},
		{"package", "nvcc", []link.Input{kernel, packed(pack.Plain)}, false}, // it says what host it is for
		{"package, whole", "nvcc", []link.Input{whole(packed(pack.Plain))}, false},
		{"package of zstd", "nvcc", []link.Input{kernel, packed(pack.Zstd)}, false},
		{"package of zstd, whole", "nvcc", []link.Input{whole(packed(pack.Zstd))}, false},
		{"package of host objects", "nvcc", []link.Input{kernel, packed(pack.NV)}, false},
		{"package of host objects, whole", "nvcc", []link.Input{whole(packed(pack.NV))}, false},
		{"mix", "nvcc", []link.Input{
			files("nvcc", "kernel.o")[0],
			{Name: "alpha.ptx.zst", Text: zstded(unit(t, "nvcc", "alpha.ptx"))},
			{Name: "beta.fatbin", Text: fatbinOf(t, "fatbinary-new", "--compress-mode=size", 0x8000, unit(t, "nvcc", "beta.ptx"))},
			{Name: "libgamma.a.gz", Text: gzipped(gnu(t, "nvcc", ".o", "gamma").Text)},
		}, false},
		{"clang's old driver", "clang", files("clang", "kernel.o", "alpha.o", "beta.o", "gamma.o"), false},
		{"objects for Windows", "clang", files("windows", "kernel.obj", "alpha.obj", "beta.obj", "gamma.obj"), false},
		{"kernel of /bigobj and Microsoft's archive", "clang", files("windows", "kernel-bigobj.obj", "units.lib"), false},
		{"Windows program", "clang", files("windows", "program.exe"), false},
		{"OffloadBinary", "clang", files("clang", "units.offload"), true},
		{"clang's archive of OffloadBinary", "clang", []link.Input{whole(gnu(t, "clang", ".offload", "units"))}, true},
	}
}

// TestForms links one program from every format that can contain PTX. The symbols
// are the same each time: the kernel, the device functions, a variable that several
// units use, a weak function defined in two units, and a static function of the
// same name in two. The text is the same up to comments and white space, which
// fatbinary drops. ptxas and nvlink agree on the symbols of the plain program.
func TestForms(t *testing.T) {
	plain := map[string]*link.Result{}
	for _, compiler := range []string{"nvcc", "clang"} {
		var separate [][]byte
		var names []string
		for _, u := range units {
			names = append(names, u+".ptx")
			separate = append(separate, assemble(t, "sm_80", unit(t, compiler, u+".ptx"), "-c"))
		}
		r := mustLink(t, link.Options{Inputs: files(compiler, names...)})
		plain[compiler] = r
		sameAsNvlink(t, r, nvlink(t, "sm_80", separate...))
	}
	for _, form := range programForms(t) {
		t.Run(form.name, func(t *testing.T) {
			want := plain[form.compiler]
			got := mustLink(t, link.Options{Inputs: form.inputs})
			if len(got.Messages) > 0 {
				t.Error(got.Messages[0])
			}
			if d := cmp.Diff(outline(want), outline(got)); d != "" {
				t.Errorf("symbols differ from those of plain PTX (-):\n%s", d)
			}
			if d := cmp.Diff(words(want.PTX), words(got.PTX)); d != "" {
				t.Errorf("the text differs from that of plain PTX (-):\n%s", d)
			}
			if form.verbatim && !bytes.Equal(want.PTX, got.PTX) {
				t.Error("the bytes differ from those of plain PTX")
			}
			renamed := map[string]string{}
			for _, s := range got.Symbols() {
				renamed[s.Name] = s.Original
			}
			if list := entries(objects(t, assemble(t, "sm_80", got.PTX), renamed)); len(list) != 2 {
				t.Errorf("ptxas finds these entries: %v", list)
			}
		})
	}
}

// sameAsNvlink compares a result, assembled by ptxas, with a linked cubin.
func sameAsNvlink(t *testing.T, r *link.Result, linked []byte) {
	t.Helper()
	renamed := map[string]string{}
	for _, s := range r.Symbols() {
		renamed[s.Name] = s.Original
	}
	want := objects(t, linked, nil)
	if len(entries(want)) != 2 || len(want) < 3 {
		t.Fatalf("nvlink's output has only %v", want)
	}
	if d := cmp.Diff(want, objects(t, nvlink(t, "sm_80", assemble(t, "sm_80", r.PTX, "-c")), renamed)); d != "" {
		t.Errorf("symbols differ from nvlink's (-):\n%s", d)
	}
}

// outline lists the definitions of a result in order, without their origin.
func outline(r *link.Result) (list []string) {
	for _, s := range slices.Concat(r.Symbols(), r.Dropped()) {
		size := s.Size
		if s.Kind != "object" {
			size = 0 // of the text, which fatbinary shortens
		}
		list = append(list, fmt.Sprintf("%s (%s) %s %s %s size %d align %d", s.Name, s.Original, s.Kind, s.Space, s.Linkage, size, s.Align))
	}
	return list
}

var comments = regexp.MustCompile(`//.*`)

// words returns the text of a result without its record, comments and white space.
func words(ptx []byte) string {
	return strings.Join(strings.Fields(comments.ReplaceAllString(body(ptx), "")), " ")
}
