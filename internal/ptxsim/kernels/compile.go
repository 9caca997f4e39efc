package kernels

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed prelude.h
var prelude string

// A Compiler turns a unit into PTX.
type Compiler struct {
	Name string // in messages
	Tool string // see oracles.Find
	args []string
}

// Compilers are those that programs are compiled with.
var Compilers = []Compiler{
	{"nvrtc", "nvrtc", nvrtc},
	{"clang -O2", "clang", append([]string{"-O2"}, clang...)},
	{"nvrtc-old", "nvrtc-old", nvrtc},
	{"clang -O0", "clang", append([]string{"-O0"}, clang...)},
	{"nvrtc-new", "nvrtc-new", []string{"-rdc=true", "-fmad=false", "-arch=compute_75", "-std=c++14", "-w"}},
	{"clang -O1", "clang", append([]string{"-O1"}, clang...)},
}

// Others are compilers that are not compared with the host in turn, as their code
// differs in little: settings with line numbers and DWARF, and other versions.
var Others = []Compiler{
	{"nvrtc -G", "nvrtc", append(nvrtc[:len(nvrtc):len(nvrtc)], "-G")},
	{"clang -O0 -g", "clang", append([]string{"-O0", "-g"}, clang...)},
	{"nvrtc -lineinfo", "nvrtc", append(nvrtc[:len(nvrtc):len(nvrtc)], "-lineinfo")},
	{"clang -O2 -gline-tables-only", "clang", append([]string{"-O2", "-gline-tables-only"}, clang...)},
	{"nvcc", "nvcc", append(nvrtc[:len(nvrtc):len(nvrtc)], "-ptx")},
	{"clang-16 -O1", "clang-16", append([]string{"-O1"}, clang...)},
	{"clang-22 -O2", "clang-22", append([]string{"-O2"}, clang...)},
	// Not -dopt=on of 13.5: it defines functions with a struct of alignas(16) as .align 2.
	{"nvrtc-new -G", "nvrtc-new", []string{"-rdc=true", "-fmad=false", "-arch=compute_75", "-std=c++14", "-w", "-G"}},
	{"clang -O3", "clang", append([]string{"-O3"}, clang...)},
}

var nvrtc = []string{"-rdc=true", "-fmad=false", "-arch=compute_70", "-std=c++14", "-w"}

var clang = []string{"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_70", "--cuda-feature=+ptx70", "-fgpu-rdc", "-ffp-contract=off", "-w", "-S"}

// Compile compiles the units in a directory, with the compiler at a path.
func (p Program) Compile(c Compiler, path, dir string) (units []string, err error) {
	for i, text := range p.Units {
		source, out := filepath.Join(dir, fmt.Sprintf("unit%d.cu", i)), filepath.Join(dir, fmt.Sprintf("unit%d.ptx", i))
		if err := os.WriteFile(source, []byte(prelude+text), 0o666); err != nil {
			return nil, err
		}
		args := append(append([]string{}, c.args...), source, "-o", out)
		if output, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %v\n%s", c.Name, err, output)
		}
		ptx, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		units = append(units, string(ptx))
	}
	return units, nil
}
