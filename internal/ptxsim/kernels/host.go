package kernels

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed prelude.h
var prelude string

//go:embed host.h
var hostRuntime string

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

// main returns the host's program around the kernels.
func (p Program) main() string {
	var b strings.Builder
	b.WriteString(hostRuntime)
	header, _, _ := strings.Cut(p.Units[0], "#define UNIT")
	b.WriteString(header)
	bytes := func(name string, data []byte) {
		fmt.Fprintf(&b, "static u8 %s[] = {", name)
		for _, v := range data {
			fmt.Fprintf(&b, "%d,", v)
		}
		b.WriteString("};\n")
	}
	bytes("input", Input())
	bytes("structure", Struct())
	fmt.Fprintf(&b, "static u64 out_[%d];\n", p.Slab*p.Threads*Blocks/8)
	for i := range p.Kernels {
		fmt.Fprintf(&b, "extern \"C\" void k%d(u8 *out, const u32 *in, S0 s, i32 n);\n", i)
		fmt.Fprintf(&b, "static void run%d() { S0 s; memcpy(&s, structure, sizeof s); k%d((u8 *)out_, (const u32 *)input, s, %d); }\n", i, i, N)
	}
	b.WriteString("int main()\n{\n")
	for i := range p.Kernels {
		fmt.Fprintf(&b, "\tmemset(out_, 0, sizeof out_);\n\tbody = run%d;\n\tfor (int i = 0; i < %d; i++)\n\t\tblock(%d, i);\n\tprint(\"out%d\", out_, sizeof out_);\n", i, Blocks, p.Threads, i)
	}
	for _, g := range p.Globals {
		fmt.Fprintf(&b, "\tprint(\"%s\", %s, sizeof %s);\n", g, g, g)
	}
	b.WriteString("}\n")
	return b.String()
}

// RunOnHost compiles the program with a C++ compiler of the host in a directory and
// returns the memory that it leaves: the buffer of each kernel as out0, out1, and
// the globals.
func (p Program) RunOnHost(cxx, dir string) (map[string][]byte, error) {
	args := []string{"-x", "c++", "-std=c++14", "-frounding-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-w", "-DHOST"}
	for i, text := range append(append([]string{}, p.Units...), p.main()) {
		path := filepath.Join(dir, fmt.Sprintf("host%d.cc", i))
		if err := os.WriteFile(path, []byte(prelude+text), 0o666); err != nil {
			return nil, err
		}
		args = append(args, path)
	}
	program := filepath.Join(dir, "host")
	args = append(args, "-x", "none", "-lm", "-o", program)
	if out, err := exec.Command(cxx, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %v\n%s", cxx, err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		return nil, fmt.Errorf("host program: %v", err)
	}
	memory := map[string][]byte{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, data, _ := strings.Cut(line, " ")
		if memory[name], err = hex.DecodeString(data); err != nil {
			return nil, err
		}
	}
	return memory, nil
}

// A Compiler turns a unit into PTX.
type Compiler struct {
	Name string // in messages
	Tool string // see oracles.Find
	args []string
}

// Compilers are those that programs are compiled with.
var Compilers = []Compiler{
	{"nvrtc", "nvrtc", []string{"-rdc=true", "-fmad=false", "-arch=compute_70", "-std=c++14", "-w"}},
	{"clang -O2", "clang", append([]string{"-O2"}, clang...)},
	{"nvrtc-old", "nvrtc-old", []string{"-rdc=true", "-fmad=false", "-arch=compute_70", "-std=c++14", "-w"}},
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
