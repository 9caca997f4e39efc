package ptxsim_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/ptxsim"
	"ptxlink/object/ptx"
)

// read parses a module.
func read(t testing.TB, name, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(&ptx.Source{Name: name, Text: []byte(text)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// files parses the modules of a directory of testdata.
func files(t testing.TB, pattern string) (list []*ptx.Module) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../testdata/ptx", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s (%v)", pattern, err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, read(t, filepath.Base(p), string(text)))
	}
	return list
}

func machine(t testing.TB, opt ptxsim.Options, modules ...*ptx.Module) *ptxsim.Machine {
	t.Helper()
	m, err := ptxsim.New(opt, modules...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// words returns memory as 32-bit numbers.
func words(b []byte) (list []int32) {
	for ; len(b) >= 4; b = b[4:] {
		list = append(list, int32(binary.LittleEndian.Uint32(b)))
	}
	return list
}

// printed returns the calls of vprintf.
func printed(m *ptxsim.Machine) string {
	var b strings.Builder
	for _, p := range m.Prints {
		fmt.Fprintf(&b, "%s%x %q\n", p.Format, p.Args, p.Strings)
	}
	return b.String()
}

// TestPrograms runs the programs of testdata, which are not linked. The results are
// those of their sources on the host, with qualifiers and threadIdx defined away.
func TestPrograms(t *testing.T) {
	table := []int32{88, 7, 300, 308, 31, 19, 300, 405, 101, 66, 25, 11, 325, 4, 102, 90}
	for _, test := range []struct {
		files   string
		threads int
		want    []int32
		again   []int32 // after a second launch
	}{
		{"nvcc-rdc/*.ptx", 32, table, nil},
		{"nvcc-lineinfo/*.ptx", 32, table, nil},
		{"nvcc-debug/*.ptx", 32, table, nil},
		{"mixed/*.ptx", 32, []int32{1, 11, 165, 16, 20, 25, 30, 35, 0}, nil},
		{"clang-debug/*.ptx", 1, []int32{31, 0}, []int32{32, 0}},
		{"clang-linked/both.ptx", 1, []int32{31, 0}, []int32{32, 0}},
		{"example/*.ptx", 8, []int32{0, 25, 50, 30, 40, 0}, nil},
	} {
		t.Run(test.files, func(t *testing.T) {
			m := machine(t, ptxsim.Options{}, files(t, test.files)...)
			out := m.Alloc("out", make([]byte, 64), 256)
			for _, want := range [][]int32{test.want, test.again} {
				if want == nil {
					continue
				}
				if err := m.Launch("k_main", ptxsim.Grid{Threads: [3]int{test.threads}, Shared: 128}, out, int32(5)); err != nil {
					t.Fatal(err)
				}
				if got := words(out.Data)[:len(want)]; !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			}
			if !strings.HasPrefix(test.files, "nvcc") {
				return
			}
			want := `table: %s(%d, %d) = %d
000000000000000019000000060000001f000000 ["add"]
table: %s(%d, %d) = %d
0000000000000000190000000600000013000000 ["sub"]
table: %s(%d, %d) = %d
000000000000000019000000060000002c010000 ["mul"]
table: %s(%d, %d) = %d
0000000000000000190000000600000095010000 ["last"]
math: sum=%g counter=%d
0000000000805040ca000000 []
log %d: out[%d]=%d
f90100000f0000005a000000 []
main: n=%d counter=%d
0500000066000000 []
`
			if got := printed(m); got != want {
				t.Errorf("printed\n%s", got)
			}
		})
	}
}

// TestOpenCL runs a kernel that gets the address of local memory as an argument.
func TestOpenCL(t *testing.T) {
	m := machine(t, ptxsim.Options{}, files(t, "opencl/*.ptx")...)
	out := m.Alloc("out", make([]byte, 16), 4)
	var in []byte
	for i := range 16 {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(i)))
	}
	err := m.Launch("k_main", ptxsim.Grid{Threads: [3]int{4}, Shared: 16}, out, m.Alloc("in", in, 16), int32(0), m.Dynamic())
	// x and w of a vector are x*0.5+1 and w*0.5+4; limits[0] is 1.
	if got, want := words(out.Data), []int32{7, 11, 15, 19}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
}
