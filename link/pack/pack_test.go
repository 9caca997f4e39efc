package pack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/object/diag"
)

func mustMake(t *testing.T, o pack.Options) *pack.Package {
	t.Helper()
	p, err := pack.Make(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func memberNames(members []pack.Member) (list []string) {
	for _, m := range members {
		list = append(list, m.Name)
	}
	return list
}

// TestPackNames checks that members are named after their files, without
// duplicates, and that no name leads out of a directory.
func TestPackNames(t *testing.T) {
	text := top + ".visible .func f () { ret; }\n"
	lib := archive("k.o", text, "k.ptx", text)
	for _, test := range []struct {
		inputs []link.Input
		format pack.Format
		want   []string
	}{
		{[]link.Input{{Name: "dir/a.ptx", Text: []byte(text)}, {Name: "a.ptx", Text: []byte(text)}}, "", []string{"a.ptx", "a-2.ptx"}},
		{[]link.Input{{Name: "sin.o", Text: []byte(text)}}, "", []string{"sin.o"}}, // gcc calls PTX so
		{[]link.Input{{Name: "libx(1).a", Text: lib}}, "", []string{"k.ptx", "k-2.ptx"}},
		{[]link.Input{{Name: "libx.a", Text: archive("in(ner).a", string(lib))}}, "", []string{"k.ptx", "k-2.ptx"}},
		{[]link.Input{{Name: "a.ptx", Text: []byte(text + "\x00" + text)}}, "", []string{"a.ptx", "a-2.ptx"}},
		{[]link.Input{{Name: "a.ptx", Text: []byte(text)}, {Name: "b", Text: []byte(text)}}, pack.Zstd, []string{"a.ptx.zst", "b.zst"}},
		{[]link.Input{{Name: "a.ptx", Text: []byte(text)}, {Name: "a.o", Text: []byte(text)}}, pack.NV, []string{"a.o", "a-2.o"}},
		{[]link.Input{{Name: "../.-x\ny:\u202ez.ptx", Text: []byte(text)}, {Name: "..", Text: []byte(text)}, {Name: "__.PTXMETA", Text: []byte(text)}}, "", []string{"x_y__z.ptx", "module.ptx", "PTXMETA"}},
	} {
		p := mustMake(t, pack.Options{Inputs: test.inputs, Format: test.format})
		if got := memberNames(p.Members); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.inputs[0].Name, got, test.want)
		}
	}
}

// TestPackTakesAll checks that a package gets all members of its inputs, also those
// that no link would use.
func TestPackTakesAll(t *testing.T) {
	p := mustMake(t, pack.Options{Host: "windows-x86_64", Inputs: []link.Input{
		{Name: "none.ptx", Text: []byte(top + ".func own () { ret; }\n")},
		{Name: "f.ptx", Text: []byte(top + ".visible .func f () { ret; }\n")},
		{Name: "same.ptx", Text: []byte(top + ".visible .func f () { ret; }\n")},
	}})
	again := mustMake(t, pack.Options{Format: pack.Zstd, Inputs: []link.Input{{Name: "lib.a", Text: p.Data}}})
	if got := memberNames(again.Members); !slices.Equal(got, []string{"none.ptx.zst", "f.ptx.zst", "same.ptx.zst"}) {
		t.Errorf("got %q", got)
	}
	for _, m := range again.Members {
		if m.Record.OS != "windows" || m.Record.Model != "llp64" || m.Record.Arch != "x86_64" {
			t.Errorf("%s is for %s-%s (%s)", m.Name, m.Record.OS, m.Record.Arch, m.Record.Model)
		}
	}
	if len(again.Messages) != 1 || again.Messages[0].ID != "empty-member" {
		t.Errorf("got %v", again.Messages)
	}
}

// TestPackIsTheSameAnyway checks that a package does not depend on the number of
// jobs, or on whether it was made at once or member by member.
func TestPackIsTheSameAnyway(t *testing.T) {
	var inputs []link.Input
	for i := range 40 {
		inputs = append(inputs, link.Input{Name: fmt.Sprintf("a_rather_long_name_%d.ptx", i%35), Text: fmt.Appendf(nil, "%s.visible .func f%d () { ret; }\n", top, i)})
	}
	for _, format := range []pack.Format{pack.Plain, pack.Zstd, pack.NV} {
		o := pack.Options{Inputs: inputs, Format: format, Host: "linux-x86_64"}
		want := mustMake(t, o).Data
		for _, o.Jobs = range []int{1, 7} {
			if !bytes.Equal(mustMake(t, o).Data, want) {
				t.Errorf("%s: -j%d makes another package", format, o.Jobs)
			}
		}
		a := &pack.Archive{Name: "lib.a"}
		for _, in := range inputs {
			if _, _, _, err := a.Add(context.Background(), pack.Options{Inputs: []link.Input{in}, Format: format, Host: o.Host}, false); err != nil {
				t.Fatal(err)
			}
			data, _, err := a.Bytes(context.Background(), true)
			if err != nil {
				t.Fatal(err)
			}
			if a, err = pack.ReadArchive("lib.a", data); err != nil {
				t.Fatal(err)
			}
		}
		got, _, err := a.Bytes(context.Background(), true)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: put together from single members it is another package (%v)", format, err)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	text := []byte(top + ".visible .func f () { ret; }\n")
	narrow := []byte(strings.Replace(string(text), "64", "32", 1))
	for _, test := range []struct {
		want string
		o    pack.Options
	}{
		{"bad.ptx:1:1: error: ", pack.Options{Inputs: []link.Input{{Name: "bad.ptx", Text: []byte("nothing")}}}},
		{"none.ptx: error: cannot read: ", pack.Options{Inputs: []link.Input{{Path: "none.ptx"}}}},
		{"objects of an nv package are ELF", pack.Options{Inputs: []link.Input{{Name: "a", Text: text}}, Format: pack.NV, Host: "mac-aarch64"}},
		{`no host object for "i386"`, pack.Options{Inputs: []link.Input{{Name: "a", Text: text}}, Format: pack.NV, Host: "linux-i386"}},
		{"it has 32-bit addresses", pack.Options{Inputs: []link.Input{{Name: "a", Text: narrow}}, Format: pack.NV}},
	} {
		_, err := pack.Make(context.Background(), test.o)
		var refused *link.Errors
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if _, err := pack.Make(context.Background(), pack.Options{}); err == nil {
		t.Error("no inputs are no fault")
	}
}

// TestGCCArchivesAsPackages checks that packages made from gcc's libraries have an
// index and records, keep every byte of the members, and link as the libraries do.
func TestGCCArchivesAsPackages(t *testing.T) {
	for _, name := range []string{"libm.a", "libc.a", "libgomp.a"} {
		path := oracles.RequireFile(t, "gcc-nvptx/"+name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := pack.ReadArchive(name, data)
		if err != nil {
			t.Fatal(err)
		}
		indexed, _, err := a.Bytes(context.Background(), true)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, indexed, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, m := range a.Members {
			out, err := exec.Command(oracles.Require(t, "ar"), "p", file, m.Name).Output()
			if err != nil || !bytes.Equal(out, m.Data) {
				t.Fatalf("%s: ar finds another %s (%v)", name, m.Name, err)
			}
			if len(a.Members) > 100 {
				break // one program a member is enough for the small library
			}
		}
		again, err := pack.ReadArchive(name, indexed)
		if err != nil {
			t.Fatal(err)
		}
		last := len(again.Members) - 1
		if last != len(a.Members) || !again.Members[last].IsMeta() {
			t.Fatalf("%s: %d members of %d, the last is %s", name, last+1, len(a.Members)+1, again.Members[last].Name)
		}
		for i, m := range a.Members {
			if again.Members[i].Name != m.Name || !bytes.Equal(again.Members[i].Data, m.Data) {
				t.Errorf("%s: member %d is not as it was", name, i)
			}
		}
		twice, _, err := again.Bytes(context.Background(), true)
		if err != nil || !bytes.Equal(twice, indexed) {
			t.Errorf("%s: a second time gives another archive (%v)", name, err)
		}
	}
}

// TestHostArchive checks that an archive of nvcc's objects keeps its members and
// the index of host symbols that ranlib wrote.
func TestHostArchive(t *testing.T) {
	data, err := os.ReadFile(oracles.RequireFile(t, "cudadevrt/libcudadevrt.a"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := pack.ReadArchive("libcudadevrt.a", data)
	if err != nil {
		t.Fatal(err)
	}
	indexed, _, err := a.Bytes(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := map[string]string{}
	for name, data := range map[string][]byte{"theirs.a": data, "ours.a": indexed} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if name == "theirs.a" {
			if out, err := exec.Command(oracles.Require(t, "ar"), "sD", path).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		out, err := exec.Command(oracles.Require(t, "nm"), "-s", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		list[name] = strings.ReplaceAll(string(out), name, "")
	}
	if list["ours.a"] != list["theirs.a"] || !strings.Contains(list["ours.a"], "cudartErrorTable in cuda_device_runtime.o\n") {
		t.Errorf("got\n%s\nwant\n%s", list["ours.a"], list["theirs.a"])
	}
}

// TestNVPackageOfGCC checks that nvlink accepts a library of gcc as host objects.
func TestNVPackageOfGCC(t *testing.T) {
	oracles.Long(t) // nvlink compiles all 65 members
	path := oracles.RequireFile(t, "gcc-nvptx/libatomic.a")
	p := mustMake(t, pack.Options{Inputs: []link.Input{{Path: path}}, Format: pack.NV})
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"libatomic.a": p.Data,
		"k.ptx":       []byte(top + ".extern .func (.param .u32 r) __atomic_fetch_add_4 (.param .u64 a, .param .u32 b, .param .u32 c);\n.visible .entry k () { .param .u32 r; .param .u64 a; .param .u32 b; .param .u32 c; call (r), __atomic_fetch_add_4, (a, b, c); ret; }\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-new"} {
		run := func(tool string, args ...string) []byte {
			t.Helper()
			cmd := exec.Command(oracles.Require(t, tool+suffix), args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", tool, err, out)
			}
			return out
		}
		run("ptxas", "-c", "-arch=sm_80", "k.ptx", "-o", "main.cubin")
		if out := run("nvlink", "-arch=sm_80", "main.cubin", "-L.", "-latomic", "-o", "k.cubin"); bytes.Contains(out, []byte("rror")) {
			t.Errorf("nvlink%s says %s", suffix, out)
		}
		if out := run("nvdisasm", "k.cubin"); !bytes.Contains(out, []byte("\n.text.__atomic_fetch_add_4:")) || !bytes.Contains(out, []byte("\n.text.k:")) {
			t.Errorf("nvlink%s did not link the library", suffix)
		}
	}
}

// TestPackOptions checks that an invalid option is not reported as an error in an
// input.
func TestPackOptions(t *testing.T) {
	inputs := []link.Input{{Name: "a.ptx", Text: []byte(top + ".visible .func f () { ret; }\n")}}
	for _, o := range []pack.Options{
		{Inputs: inputs, Format: "zip"},
		{Inputs: inputs, Arch: "fast"},
		{Inputs: inputs, Host: "moon"},
	} {
		_, err := pack.Make(context.Background(), o)
		var faults *link.Errors
		if err == nil || errors.As(err, &faults) || strings.Contains(err.Error(), "a.ptx") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := pack.Extract(context.Background(), pack.ExtractOptions{Inputs: inputs, Arch: "sm80"}); !errors.Is(err, diag.Usage) || !strings.Contains(err.Error(), `"sm80" is not the name of a GPU`) {
		t.Errorf("extract for sm80: %v", err)
	}
}
