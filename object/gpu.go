package object

import (
	"fmt"
	"strconv"
	"strings"
)

// GPU is an architecture: sm_90a is {90, 'a'}.
type GPU struct {
	Number int
	Suffix byte // 'a', 'f' or 0
}

// ParseGPU reads sm_90a or compute_90a. It returns false for other words.
func ParseGPU(name string) (g GPU, ok bool) {
	digits, ok := strings.CutPrefix(name, "sm_")
	if !ok {
		digits, ok = strings.CutPrefix(name, "compute_")
	}
	if !ok {
		return g, false
	}
	if n := len(digits); n > 0 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		g.Suffix, digits = digits[n-1], digits[:n-1]
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	g.Number = int(number)
	return g, err == nil
}

// String returns "sm_90a".
func (g GPU) String() string {
	return "sm_" + strconv.Itoa(g.Number) + strings.TrimRight(string([]byte{g.Suffix}), "\x00")
}

// Family returns the number of a family: the architectures that run each other's f targets
// (PTX ISA, table of family-specific targets).
func (g GPU) Family() int { return g.Renamed().Number / 10 }

// Renamed returns the architecture under the name of CUDA 13, which calls sm_101 sm_110.
func (g GPU) Renamed() GPU {
	if g.Number == 101 {
		g.Number = 110
	}
	return g
}

// Runs reports whether PTX for a target can be assembled for the GPU:
//
//  1. an `a` target only for exactly that GPU
//  2. an `f` target for GPUs of its family, from its number up
//  3. another target for all GPUs from its number up
func (g GPU) Runs(target GPU) bool {
	g, target = g.Renamed(), target.Renamed()
	switch target.Suffix {
	case 'a':
		return g == target
	case 'f':
		return g.Number >= target.Number && g.Family() == target.Family()
	}
	return g.Number >= target.Number
}

// RunsCubin reports whether a cubin for a target runs on the GPU, which must have the same major
// number and must not be older.
func (g GPU) RunsCubin(target GPU) bool { return g.Runs(target) && g.Number/10 == target.Number/10 }

// EmptyModule returns a module without symbols that every ptxas which knows the GPU accepts.
func EmptyModule(gpu GPU) []byte {
	// No lower target would do, because ptxas 13 knows none older than sm_75.
	return fmt.Appendf(nil, "//\n.version 6.3\n.target sm_%d\n.address_size 64\n", min(gpu.Number, 75))
}
