package kernels_test

import (
	"fmt"
	"slices"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/kernels"
	"ptxlink/object/ptx"
)

// TestKernels compares some programs in the interpreter and on the host; make simulate
// continues with others.
func TestKernels(t *testing.T) {
	cxx := oracles.Require(t, "g++")
	programs := 10
	if testing.Short() {
		programs = 2
	}
	for seed := range uint64(programs) {
		c := kernels.Compilers[int(seed)%len(kernels.Compilers)]
		t.Run(fmt.Sprint(seed, " ", c.Name), func(t *testing.T) {
			t.Parallel()
			path := oracles.RequireCompiler(t, c.Tool)
			p, dir := kernels.Generate(seed), t.TempDir()
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
