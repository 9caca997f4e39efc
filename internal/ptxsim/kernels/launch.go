package kernels

import (
	"fmt"

	"ptxlink/internal/ptxsim"
)

// Input is the contents of the parameter in of every kernel: 16 numbers.
func Input() []byte {
	b := make([]byte, 64)
	for i := range b {
		b[i] = byte(i*i*7 + i*13 + i/4)
	}
	return b
}

// Struct is the contents of the parameter s, of which its size is used.
func Struct() []byte {
	b := make([]byte, 1024)
	for i := range b {
		b[i] = byte(i*37 + 11)
	}
	return b
}

// N is the parameter n.
const N = 5

// Launch runs the kernels of the program in a machine that has its modules. The objects
// out0, out1, and so on are the buffers of the kernels.
func (p Program) Launch(m *ptxsim.Machine) error {
	in := m.Alloc("in", Input(), 256)
	for i := range p.Kernels {
		out := m.Alloc(fmt.Sprintf("out%d", i), make([]byte, slab*p.Threads*blocks), 256)
		kernel := fmt.Sprintf("k%d", i)
		sizes := m.Params(kernel)
		if len(sizes) != 4 {
			return fmt.Errorf("%s has %d parameters", kernel, len(sizes))
		}
		grid := ptxsim.Grid{Blocks: [3]int{blocks}, Threads: [3]int{p.Threads}, Shared: 512}
		if err := m.Launch(kernel, grid, out, in, Struct()[:sizes[2]], int32(N)); err != nil {
			return err
		}
	}
	return nil
}
