package kernels_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
	"ptxlink/object/ptx"
)

// TestKernels compares some programs in the interpreter and on the host. make simulate
// continues with others (PTXLINK_PROGRAMS, PTXLINK_SEED), and keeps those that differ.
func TestKernels(t *testing.T) {
	cxx := oracles.Require(t, "g++")
	programs, first := uint64(10), uint64(0)
	if testing.Short() {
		programs = 2
	}
	fmt.Sscan(os.Getenv("PTXLINK_PROGRAMS"), &programs)
	fmt.Sscan(os.Getenv("PTXLINK_SEED"), &first)
	for seed := first; seed < first+programs; seed++ {
		c := kernels.Compilers[int(seed)%len(kernels.Compilers)]
		t.Run(fmt.Sprint(seed, " ", c.Name), func(t *testing.T) {
			t.Parallel()
			path := oracles.RequireCompiler(t, c.Tool)
			p, dir := kernels.Generate(seed), t.ArtifactDir()
			want, err := p.RunOnHost(cxx, dir)
			if err != nil {
				t.Fatal(err)
			}
			units, err := p.Compile(c, path, dir)
			if err != nil {
				t.Fatal(err)
			}
			modules := parse(t, units)
			// Uninitialised memory does not matter.
			for _, fill := range []byte{0xa5, 0xff} {
				got, err := p.Simulate(ptxsim.Options{Fill: fill}, modules...)
				if err != nil {
					t.Error(err)
				} else if d := kernels.Diff(want, got); d != "" {
					t.Error(d)
				}
			}
			t.Logf("%d kernels", p.Kernels)
			if !t.Failed() {
				os.RemoveAll(dir)
			}
		})
	}
}

// TestGenerate checks that a program depends on its seed alone.
func TestGenerate(t *testing.T) {
	for seed := range uint64(20) {
		if a, b := kernels.Generate(seed), kernels.Generate(seed); !slices.Equal(a.Units, b.Units) {
			t.Errorf("seed %d makes two programs", seed)
		}
	}
}

// parse parses the PTX of units.
func parse(t *testing.T, units []string) (modules []*ptx.Module) {
	t.Helper()
	for i, text := range units {
		m, err := ptx.Parse(&ptx.Source{Name: fmt.Sprintf("unit%d.ptx", i), Text: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, m)
	}
	return modules
}
