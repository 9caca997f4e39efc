package oracles

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lowestGPU is used for modules with a lower target: it is the lowest that the
// newest ptxas supports.
const lowestGPU = "sm_75"

// GPU returns the GPU to assemble a module for that was linked for the target.
func GPU(target string) string {
	if len(target) > len(lowestGPU) || len(target) == len(lowestGPU) && target > lowestGPU {
		return target
	}
	return lowestGPU
}

// Assemble assembles a module with ptxas and returns the cubin. The exit code
// proves little (ptxas stops at a NUL and exits 0), so callers check the symbols.
func Assemble(t testing.TB, tool, gpu string, text []byte, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, text, 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-arch=" + gpu, in, "-o", out}, flags...)
	if output, err := exec.Command(Require(t, tool), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", tool, strings.Join(flags, " "), err, output)
	}
	cubin, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return cubin
}

// ParseCubin opens a cubin, whose ELF version and ABI are CUDA's.
func ParseCubin(cubin []byte) (*elf.File, error) {
	cubin = slices.Clone(cubin)
	if len(cubin) > 24 {
		cubin[6], cubin[7], cubin[8] = 1, 0, 0
		copy(cubin[20:24], []byte{1, 0, 0, 0})
	}
	return elf.NewFile(bytes.NewReader(cubin))
}

// OpenCubin opens a cubin for a test.
func OpenCubin(t testing.TB, cubin []byte) *elf.File {
	t.Helper()
	f, err := ParseCubin(cubin)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Symbols reads the symbol table of a cubin.
func Symbols(t testing.TB, cubin []byte) []elf.Symbol {
	t.Helper()
	list, err := OpenCubin(t, cubin).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// CudaObject is the type of data symbols that ptxas -c and nvlink write (STT_CUDA_OBJECT).
const CudaObject = 13

// Objects returns the entries and data objects of a cubin: name, kind, size. It
// removes suffixes that ptxlink gave to module-local names.
func Objects(t testing.TB, cubin []byte, renamed map[string]string) []string {
	t.Helper()
	var list []string
	for _, s := range Symbols(t, cubin) {
		name := s.Name
		if original, ok := renamed[name]; ok {
			name = original
		}
		switch kind := elf.ST_TYPE(s.Info); {
		case s.Section == elf.SHN_UNDEF:
		case (kind == elf.STT_OBJECT || kind == CudaObject) && !strings.HasPrefix(name, ".nv"):
			list = append(list, fmt.Sprintf("object %s %d", name, s.Size))
		case kind == elf.STT_FUNC && s.Other&0x10 != 0: // STO_CUDA_ENTRY
			list = append(list, "entry "+name)
		}
	}
	slices.Sort(list)
	return list
}

// LeastCubin is the header of a cubin, followed by a table of two sections and the
// eight bytes of the second one.
var LeastCubin = func() []byte {
	b := make([]byte, 64+2*64+8)
	copy(b, "\x7fELF\x02\x01\x01\x33\x07")
	for at, value := range map[int]byte{
		0x10: 2, 0x12: 190, // an executable for CUDA
		0x28: 64, 0x3a: 64, 0x3c: 2, // the place of the table, the size of a row and their number
		128 + 0x04: 1, 128 + 0x18: 192, 128 + 0x20: 8, // PROGBITS, its offset and size
	} {
		b[at] = value
	}
	return b
}()
