package kernels

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"ptxlink/internal/ptxsim"
	"ptxlink/object/ptx"
)

// Simulate runs the kernels of the program in modules, which may have been linked,
// and returns the memory that they leave, as RunOnHost does.
func (p Program) Simulate(opt ptxsim.Options, modules ...*ptx.Module) (map[string][]byte, error) {
	m, err := ptxsim.New(opt, modules...)
	if err != nil {
		return nil, err
	}
	return p.Launch(m)
}

// Launch runs the kernels of the program in a machine that has its modules, and
// returns the memory that they leave.
func (p Program) Launch(m *ptxsim.Machine) (map[string][]byte, error) {
	memory := map[string][]byte{}
	in := m.Alloc("in", Input(), 256)
	for i := range p.Kernels {
		name := fmt.Sprintf("out%d", i)
		out := m.Alloc(name, make([]byte, p.Slab*p.Threads*Blocks), 256)
		kernel := fmt.Sprintf("k%d", i)
		sizes := m.Params(kernel)
		if len(sizes) != 4 {
			return nil, fmt.Errorf("%s has %d parameters", kernel, len(sizes))
		}
		grid := ptxsim.Grid{Blocks: [3]int{Blocks}, Threads: [3]int{p.Threads}, Shared: 512}
		if err := m.Launch(kernel, grid, out, in, Struct()[:sizes[2]], int32(N)); err != nil {
			return nil, err
		}
		memory[name] = out.Data
	}
	for _, g := range p.Globals {
		o := m.Global(g)
		if o == nil {
			return nil, fmt.Errorf("no variable %s", g)
		}
		memory[g] = o.Data
	}
	return memory, nil
}

// Diff returns the first difference between two memories, or "".
func Diff(want, got map[string][]byte) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		a, b := want[name], got[name]
		if bytes.Equal(a, b) {
			continue
		}
		at, count := -1, 0
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				if at < 0 {
					at = i
				}
				count++
			}
		}
		if len(a) != len(b) || at < 0 {
			return fmt.Sprintf("%s has %d bytes, want %d", name, len(b), len(a))
		}
		from := at &^ 7
		return fmt.Sprintf("%s+%d is %x, want %x (%d bytes differ)", name, at, b[from:min(from+8, len(b))], a[from:min(from+8, len(a))], count)
	}
	return ""
}
