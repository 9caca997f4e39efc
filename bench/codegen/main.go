// Codegen compares the machine code of small programs of two units, linked in several
// ways, with that of the same program as one source file:
//
//	go run ./bench/codegen                      table on standard output
//	go run ./bench/codegen -o docs/codegen.md   what make codegen does
package main

import (
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"ptxlink/bench/machine"
)

//go:embed src
var sources embed.FS

//go:embed page.md.tmpl
var text string

var page = template.Must(template.New("page").Parse(text))

const arch = "sm_80"

// program is a directory of src. Why says where the code of -O1 differs from that of one
// source file, as their PTX and machine code show.
type program struct {
	dir, Title, Why string
	Ways            []code // what was measured
	Generic         bool   // a way has generic accesses
}

var programs = []program{
	{dir: "leaf", Title: "leaf in a loop"},
	{dir: "early", Title: "early returns"},
	{dir: "nested", Title: "nested calls"},
	{dir: "structs", Title: "structures by value and returned"},
	{dir: "narrow", Title: "narrow arguments", Why: "The separate kernel loads the `short` alone (LDG.S16). In one source file nvcc loads a word, narrows it later (PRMT), and computes the second address again (LEA)."},
	{dir: "negative", Title: "negative narrow arguments", Why: "In one source file nvcc multiplies the extended arguments in 64 bits (mul.lo.s64). The separate callee multiplies 32 bits (mul.wide.s32)."},
	{dir: "templates", Title: "templates in two units", Why: "In one source file nvcc sees that `(float)(double)in[i]` is `in[i]` and computes each power once. ptxas keeps both conversions (F2F), so the powers have different operands. ptxlink does not fold them: a conversion changes the bits of some NaNs."},
	{dir: "pointers", Title: "function pointers", Why: "The inlined body adds its 1 before the indirect call, and ptxas moves no arithmetic across a call. In one source file nvcc adds it at the end, so that one IMAD multiplies and adds."},
	{dir: "recursion", Title: "recursion"},
	{dir: "shared", Title: "shared memory in a callee"},
	{dir: "depots", Title: "big local arrays", Why: "ptxlink inlines nothing here. `sorted` is large and called twice, and its array is in memory, so a second copy would have its LDL and STL again: 799 in one source file, where nvcc inlines all. The array of `counted` would lie beside that of `sorted` on the stack, where calls use the same bytes."},
	{dir: "barriers", Title: "divergence and warp barriers", Why: "Each inlined body reads %tid.x again (S2R). nvcc reads it once; ptxas does not merge equal instructions of different blocks."},
	{dir: "numeric", Title: "a numeric kernel", Why: "The kernel and an inlined body both compute the squared distance. nvcc computes it once. ptxas merges equal instructions only within a block, and the slow path of `sqrt` separates the two: with the three instructions of the kernel moved in front of the body, ptxas makes 526 instructions of this program."},
	{dir: "switches", Title: "a switch in a loop", Why: "In one source file ptxas makes more moves in the loop (16 IMAD.MOV against 9)."},
	{dir: "output", Title: "a pointer to a structure", Why: "nvcc sees that the counter in the structure is the loop counter, and keeps one of the two."},
}

func main() {
	log.SetFlags(0)
	file := flag.String("o", "", "write the page to `FILE`")
	flag.Parse()
	machine.WritePage(*file, report())
}

// code is what a cubin holds, and what ptxas and nvlink took to make it.
type code struct {
	machine.Code
	kernel machine.Kernel
	cpu    time.Duration
}

func (c code) String() string {
	stack := strconv.Itoa(c.kernel.Stack)
	if c.kernel.Stack < 0 {
		stack = "?"
	}
	return fmt.Sprintf("%d / %d / %d / %d / %s", c.Instructions, c.Calls, c.Local, c.kernel.Registers, stack)
}

// report returns the page. After an error the files stay.
func report() string {
	dir, err := os.MkdirTemp("", "codegen")
	machine.Check(err)
	defer os.RemoveAll(dir)
	tools := machine.Tools("", "nvcc", "ptxas", "nvlink", "cuobjdump")
	tools["ptxlink"] = filepath.Join(dir, "ptxlink")
	machine.Must("", "go", "build", "-o", tools["ptxlink"], "./cmd/ptxlink")
	var cpu [5]time.Duration
	for i := range programs {
		p := &programs[i]
		p.Ways = build(filepath.Join(dir, p.dir), p.dir, tools)
		for way, c := range p.Ways {
			cpu[way] += c.cpu
			p.Generic = p.Generic || c.Generic > 0
		}
	}
	var b strings.Builder
	machine.Check(page.Execute(&b, map[string]any{"Arch": arch, "Programs": programs, "CPU": cpu}))
	return b.String()
}

// build makes a program in all ways.
func build(dir, name string, tools map[string]string) (ways []code) {
	program, err := fs.Sub(sources, "src/"+name)
	machine.Check(err)
	machine.Check(os.CopyFS(dir, program))
	one := "#include \"a.cu\"\n#include \"b.cu\"\n"
	machine.Check(os.WriteFile(filepath.Join(dir, "one.cu"), []byte(one), 0o666))
	step := func(tool string, args ...string) time.Duration {
		_, cpu := machine.Must(dir, tools[tool], args...)
		return cpu
	}
	for _, unit := range []string{"a", "b"} {
		step("nvcc", "-arch="+arch, "-rdc=true", "-ptx", unit+".cu", "-o", unit+".ptx")
	}
	step("nvcc", "-arch="+arch, "-ptx", "one.cu", "-o", "one.ptx")
	for _, level := range []string{"0", "1", "2"} {
		step("ptxlink", "-O"+level, "a.ptx", "b.ptx", "-o", "linked"+level+".ptx")
	}
	for _, way := range []string{"separate", "linked0", "linked1", "linked2", "one"} {
		least := time.Duration(1 << 62)
		for range 8 {
			var cpu time.Duration
			if way == "separate" {
				cpu = step("ptxas", "-arch="+arch, "-c", "a.ptx", "-o", "a.cubin") +
					step("ptxas", "-arch="+arch, "-c", "b.ptx", "-o", "b.cubin") +
					step("nvlink", "-arch="+arch, "a.cubin", "b.cubin", "-o", way+".cubin")
			} else {
				cpu = step("ptxas", "-arch="+arch, way+".ptx", "-o", way+".cubin")
			}
			least = min(least, cpu)
		}
		c := inspect(tools["cuobjdump"], filepath.Join(dir, way+".cubin"))
		c.cpu = least
		ways = append(ways, c)
	}
	return ways
}

func inspect(cuobjdump, cubin string) (c code) {
	var err error
	c.Code, err = machine.Inspect(cuobjdump, cubin)
	machine.Check(err)
	for name, k := range c.Kernels {
		if strings.HasPrefix(name, "_Z1k") { // the kernel of each program is called k
			c.kernel = k
		}
	}
	if c.kernel.Registers == 0 {
		log.Fatalf("cuobjdump says nothing of %s that can be understood", cubin)
	}
	return c
}
