package kernels

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/ptxsim"
	"ptxlink/object/ptx"
)

//go:embed host.h
var hostRuntime string

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
	fmt.Fprintf(&b, "static u64 out_[%d];\n", slab*p.Threads*blocks/8)
	for i := range p.Kernels {
		fmt.Fprintf(&b, "extern \"C\" void k%d(u8 *out, const u32 *in, S0 s, i32 n);\n", i)
		fmt.Fprintf(&b, "static void run%d() { S0 s; memcpy(&s, structure, sizeof s); k%d((u8 *)out_, (const u32 *)input, s, %d); }\n", i, i, N)
	}
	b.WriteString("int main()\n{\n")
	for i := range p.Kernels {
		fmt.Fprintf(&b, "\tmemset(out_, 0, sizeof out_);\n\tbody = run%d;\n\tfor (int i = 0; i < %d; i++)\n\t\tblock(%d, i);\n\tprint(\"out%d\", out_, sizeof out_);\n", i, blocks, p.Threads, i)
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

// Simulate runs the kernels of the program in modules, which may have been linked,
// and returns the memory that they leave, as RunOnHost does.
func (p Program) Simulate(opt ptxsim.Options, modules ...*ptx.Module) (map[string][]byte, error) {
	m, err := ptxsim.New(opt, modules...)
	if err != nil {
		return nil, err
	}
	if err := p.Launch(m); err != nil {
		return nil, err
	}
	names := slices.Clone(p.Globals)
	for i := range p.Kernels {
		names = append(names, fmt.Sprintf("out%d", i))
	}
	memory := map[string][]byte{}
	for _, name := range names {
		o := m.Global(name)
		if o == nil {
			return nil, fmt.Errorf("no variable %s", name)
		}
		memory[name] = o.Data
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
