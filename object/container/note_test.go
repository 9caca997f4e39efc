package container

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestNote adds a note to cubins of the oldest and the newest ptxas, and asks NVIDIA's tools about them.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "k.ptx")
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 v = 7;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; st.global.u32 [v+0], %r; ret; }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
		}
		return string(out)
	}
	for _, release := range []string{"-old", "", "-new"} {
		plain, noted := filepath.Join(dir, "plain"+release+".cubin"), filepath.Join(dir, "noted"+release+".cubin")
		run(oracles.Require(t, "ptxas"+release), "-arch=sm_80", source, "-o", plain)
		before, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		const text = "ptxlink v0.1.0 -O2"
		after := AddNote(before, text)
		if err := CheckCubin(after); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(noted, after, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, want := (Cubin{Data: after}).Makers(), append([]string{text}, Cubin{Data: before}.Makers()...); !slices.Equal(got, want) {
			t.Errorf("%s: made by %q, want %q", release, got, want)
		}
		if release == "-new" && len(Cubin{Data: before}.Makers()) != 1 {
			t.Error("the note of ptxas is not read")
		}
		if !bytes.Equal(AddNote(after[:40], text), after[:40]) {
			t.Error("what is no cubin is changed")
		}
		for _, tools := range []string{"", "-new"} {
			if release == "-new" && tools == "" || // whose ELF is another
				release != tools && testing.Short() {
				continue
			}
			for _, command := range [][]string{{"nvdisasm" + tools, "-c"}, {"cuobjdump" + tools, "-sass"}, {"cuobjdump" + tools, "-elf"}, {"cuobjdump" + tools, "-res-usage"}} {
				tool := oracles.Require(t, command[0])
				strip := func(text, name string) string { return strings.ReplaceAll(text, name, "") }
				was, is := strip(run(tool, append(command[1:], plain)...), plain), strip(run(tool, append(command[1:], noted)...), noted)
				if command[1] == "-elf" {
					if !strings.Contains(is, noteSection) {
						t.Errorf("%s: %v does not list the note", release, command)
					}
				} else if was != is {
					t.Errorf("%s: %v prints\n%s\nand without the note\n%s", release, command, is, was)
				}
			}
			fatbin := filepath.Join(dir, "out.fatbin")
			run(oracles.Require(t, "fatbinary"+tools), "--create="+fatbin, "--image3=kind=elf,sm=80,file="+noted)
			if is := run(oracles.Require(t, "cuobjdump"+tools), "-sass", fatbin); !strings.Contains(is, "Function : k") {
				t.Errorf("%s: a fatbin of%s prints %s", release, tools, is)
			}
		}
		if got := run(oracles.Require(t, "readelf"), "-n", noted); !strings.Contains(got, noteOwner) {
			t.Errorf("%s: readelf prints %s", release, got)
		}
	}
}
