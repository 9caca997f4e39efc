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
	"slices"
	"strconv"
	"strings"
	"time"

	"ptxlink/bench/machine"
)

//go:embed src
var sources embed.FS

const arch = "sm_80"

// program is a directory of src. Why says where the code of -O1 differs from that of one
// source file, as their PTX and machine code show.
type program struct{ dir, title, why string }

var programs = []program{
	{"leaf", "leaf in a loop", ""},
	{"early", "early returns", ""},
	{"nested", "nested calls", ""},
	{"structs", "structures by value and returned", ""},
	{"narrow", "narrow arguments", "The separate kernel loads the `short` alone (LDG.S16). In one source file nvcc loads a word, narrows it later (PRMT), and computes the second address again (LEA)."},
	{"negative", "negative narrow arguments", "In one source file nvcc multiplies the extended arguments in 64 bits (mul.lo.s64). The separate callee multiplies 32 bits (mul.wide.s32)."},
	{"templates", "templates in two units", "In one source file nvcc sees that `(float)(double)in[i]` is `in[i]` and computes each power once. ptxas keeps both conversions (F2F), so the powers have different operands. ptxlink does not fold them: a conversion changes the bits of some NaNs."},
	{"pointers", "function pointers", "The inlined body adds its 1 before the indirect call, and ptxas moves no arithmetic across a call. In one source file nvcc adds it at the end, so that one IMAD multiplies and adds."},
	{"recursion", "recursion", ""},
	{"shared", "shared memory in a callee", ""},
	{"depots", "big local arrays", "ptxlink inlines nothing here. `sorted` is large and called twice, and its array is in memory, so a second copy would have its LDL and STL again: 799 in one source file, where nvcc inlines all. The array of `counted` would lie beside that of `sorted` on the stack, where calls use the same bytes."},
	{"barriers", "divergence and warp barriers", "Each inlined body reads %tid.x again (S2R). nvcc reads it once; ptxas does not merge equal instructions of different blocks."},
	{"numeric", "a numeric kernel", "The kernel and an inlined body both compute the squared distance. nvcc computes it once. ptxas merges equal instructions only within a block, and the slow path of `sqrt` separates the two: with the three instructions of the kernel moved in front of the body, ptxas makes 526 instructions of this program."},
	{"switches", "a switch in a loop", "In one source file ptxas makes more moves in the loop (16 IMAD.MOV against 9)."},
	{"output", "a pointer to a structure", "nvcc sees that the counter in the structure is the loop counter, and keeps one of the two."},
}

func main() {
	log.SetFlags(0)
	page := flag.String("o", "", "write the page to `FILE`")
	flag.Parse()
	machine.WritePage(*page, report())
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
	var b strings.Builder
	b.WriteString(`# The code of linked programs

Written by ` + "`make codegen`" + `. Each program has two units, compiled by nvcc 12.4 for ` + arch + ` (bench/codegen/src). A cell holds the instructions of
all functions without NOP / CALL / LDL and STL / registers of the kernel / bytes of its stack, with ptxas 12.4.

ptxas never inlines a device function. ` + "`ptxlink -O1`" + ` inlines functions that are called once and functions that add at most 40 instructions (` + "`--inline-limit`" + `);
` + "`-O2`" + ` also inlines those whose calls together add at most 400. ` + "`--inline=GLOB`" + ` and ` + "`--no-inline=GLOB`" + ` choose functions by name.

- A function whose local objects stay in memory is inlined only where that adds neither to the stack nor to the code that accesses it.
- In functions that grow, generic accesses get the state space that the address proves, so that ptxas keeps small local objects in registers.
- Functions with DWARF stay as they are, unless ` + "`-S`" + ` removes it. With ` + "`-c`" + `, functions that other modules can call or replace stay too.

| program | ptxas -c and nvlink | ptxlink | ptxlink -O1 | ptxlink -O2 | one source file |
|---|---|---|---|---|---|
`)
	var cpu [5]time.Duration
	built := map[string][]code{}
	for _, p := range programs {
		ways := build(filepath.Join(dir, p.dir), p.dir, tools)
		built[p.dir] = ways
		fmt.Fprintf(&b, "| %s |", p.title)
		for i, c := range ways {
			fmt.Fprintf(&b, " %s |", c)
			cpu[i] += c.cpu
		}
		b.WriteString("\n")
	}
	b.WriteString("| CPU time of ptxas and nvlink, all programs |")
	for _, d := range cpu {
		fmt.Fprintf(&b, " %.2f s |", d.Seconds())
	}
	b.WriteString(`

## Where -O1 and one source file differ
`)
	for _, p := range programs {
		if p.why != "" {
			fmt.Fprintf(&b, "- **%s**: %s\n", p.title, p.why)
		}
	}
	b.WriteString(`
## Generic accesses
LD, ST and ATOM in the programs that have any. ptxas never finds the state space of an address itself
(testdata/script/opt_spaces.txtar).

| program | ptxas -c and nvlink | ptxlink | ptxlink -O1 | ptxlink -O2 | one source file |
|---|---|---|---|---|---|
`)
	for _, p := range programs {
		ways := built[p.dir]
		if !slices.ContainsFunc(ways, func(c code) bool { return c.Generic > 0 }) {
			continue
		}
		fmt.Fprintf(&b, "| %s |", p.title)
		for _, c := range ways {
			fmt.Fprintf(&b, " %d |", c.Generic)
		}
		b.WriteString("\n")
	}
	b.WriteString(`
What is left after -O2 goes through a parameter of the kernel. In one source file nvcc takes such a parameter for an address in
.global, as CUDA demands of the host. PTX does not: a kernel may get any generic address, and ptxlink cannot see which compiler
wrote a module. LDG in place of LD would also be no instruction less.
`)
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
