package link_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/internal/oracles"
	"ptxlink/link"
)

var gccLibraries = []string{"m", "c", "gfortran", "gcc"} // -lm -lc -lgfortran -lgcc

// gccMembers maps the text of each member of gcc's libraries to a name such as
// "libm.a(x.o)". Members of both libm and libc get the name of the library that is
// read first.
func gccMembers(t *testing.T) map[string]string {
	members := map[string]string{}
	for _, lib := range gccLibraries {
		file, err := os.ReadFile(oracles.RequireFile(t, "gcc-nvptx/lib"+lib+".a"))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range gnuMembers(t, file) {
			if members[string(text)] == "" {
				members[string(text)] = fmt.Sprintf("lib%s.a(%s)", lib, name)
			}
		}
	}
	return members
}

// gccLinker passes a program that declares names to nvptx-none-ld and returns the
// members that it linked. nvptx-none-ld concatenates their texts, each followed by
// a NUL. It finds symbols only by gcc's comments, so they are written for an nvcc
// kernel.
func gccLinker(t *testing.T, names []string, members map[string]string) (pulled []string) {
	main := "// BEGIN PREAMBLE\n.version 6.0\n.target sm_30\n.address_size 64\n// END PREAMBLE\n\n"
	for _, name := range names {
		main += "// BEGIN GLOBAL FUNCTION DECL: " + name + "\n"
	}
	main += "\n// BEGIN GLOBAL FUNCTION DEF: main\n.visible .func main () { ret; }\n"
	dir := t.TempDir()
	in, out := filepath.Join(dir, "main.ptx"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(main), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-L" + filepath.Join(oracles.Dir(), "gcc-nvptx"), in, "-o", out}
	for _, lib := range gccLibraries {
		args = append(args, "-l"+lib)
	}
	if said, err := exec.Command(oracles.Require(t, "nvptx-none-ld"), args...).CombinedOutput(); err != nil {
		t.Fatalf("nvptx-none-ld: %v %s", err, said)
	}
	linked, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for module := range bytes.SplitSeq(linked, []byte{0}) {
		switch name, ok := members[string(module)]; {
		case ok:
			pulled = append(pulled, name)
		case string(module) != main && len(bytes.TrimSpace(module)) > 0:
			t.Fatalf("nvptx-none-ld writes a module that is no member: %.200s", module)
		}
	}
	slices.Sort(pulled)
	return pulled
}

// TestGCCPulls checks that ptxlink links the same members of gcc's libraries as
// nvptx-none-ld, and that ptxas accepts the result. The program is a kernel
// compiled by nvcc, or a list of -u names.
func TestGCCPulls(t *testing.T) {
	kernel, err := os.ReadFile("../testdata/forms/gcc/main.ptx")
	if err != nil {
		t.Fatal(err)
	}
	var called []string
	for _, match := range regexp.MustCompile(`(?m)^\.extern \.func\s+(?:\([^)]*\) )?(\w+)`).FindAllSubmatch(kernel, -1) {
		called = append(called, string(match[1]))
	}
	if len(called) != 11 {
		t.Fatalf("the kernel calls %v", called)
	}
	members := gccMembers(t)
	var libraries []link.Input
	for _, lib := range gccLibraries {
		libraries = append(libraries, link.Input{Name: "lib" + lib + ".a", Path: oracles.RequireFile(t, "gcc-nvptx/lib"+lib+".a")})
	}
	words := strings.Fields
	for _, test := range []struct {
		name   string
		main   string
		needs  []string
		atMost int // members, so that a library that comes in whole is noticed
		not    []string
	}{
		{"kernel", string(kernel), called, 100, nil},
		{"libm", top, words("sin pow"), 50, nil},
		{"complex", top, words("cexp ctanh"), 50, nil},
		{"memory", top, words("memcpy memset memmove bsearch qsort"), 5, nil},
		// strtol.o declares __global_locale without using it. nvptx-none-ld treats
		// the declaration as a reference and links locale.o with everything it
		// needs. ptxas accepts the module without it.
		{"strings", top, words("strlen strtol"), 50, words("locale.o mbtowc_r.o strcmp.o wctomb_r.o")},
		{"printf", top, words("snprintf"), 60, nil},
		{"libgcc", top, words("__divdc3 __popcountti2 __divti3"), 6, nil},
		{"libgfortran strings", top, words("_gfortran_string_len_trim _gfortran_compare_string"), 50, nil},
		{"libgfortran arrays", top, words("_gfortran_matmul_r8 _gfortran_pack"), 60, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := link.Options{Inputs: append([]link.Input{{Name: "main.ptx", Text: []byte(test.main)}}, libraries...)}
			if test.main == top {
				o.Undefined = test.needs
			}
			r := mustLink(t, o)
			var got []string
			for _, pull := range r.Pulls {
				got = append(got, pull.Member)
			}
			slices.Sort(got)
			want := gccLinker(t, test.needs, members)
			want = slices.DeleteFunc(want, func(name string) bool {
				_, object, _ := strings.Cut(name, "_a-") // lib_a-, or libc_a- in later newlibs
				return slices.Contains(test.not, strings.TrimSuffix(object, ")"))
			})
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("members differ from those of nvptx-none-ld (-):\n%s", d)
			}
			if len(got) == 0 || len(got) > test.atMost {
				t.Errorf("%d members come in", len(got))
			}
			if len(r.Modules) != len(got)+1 {
				t.Errorf("%d modules of %d members", len(r.Modules), len(got))
			}
			defined := map[string]bool{}
			for _, s := range symbols(t, assemble(t, "sm_80", r.PTX, "-c")) {
				if s.Section != 0 {
					defined[s.Name] = true
				}
			}
			for _, name := range test.needs {
				if !defined[name] {
					t.Errorf("%s is not in the cubin", name)
				}
			}
		})
	}
}
