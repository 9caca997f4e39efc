package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"ptxlink/bench/machine"
)

func (b *bench) page(results []*result) string {
	var t strings.Builder
	fmt.Fprintf(&t, `# Real programs

`+"`make real`"+` wrote this page with CUDA %s. The programs are those of other projects; you fetch the sources yourself (bench/real/programs.go). Each is
linked to a cubin from the host objects of `+"`nvcc -rdc=true -lineinfo`"+`, in several ways. `+"`auto`"+` links the cubins of the objects where functions stay separate or kernels call none;
the ways above it, and `+"`-O1`, `-O2` and `--icf`"+`, assemble the PTX.

CPU is the processor time of ptxlink, ptxas and nvlink together; in the first row, of `+"`ptxas -c`"+` for each module and nvlink. Registers and stack (bytes) are sums over
the kernels. Contents compares the kernels, the variables with their bytes, and the variables without linkage with those of nvlink: +1 is one that only ptxlink's output has.

| program | GPU | units | modules | PTX | kernels | variables | locals |
|---|---|---|---|---|---|---|---|
`, b.release)
	for _, r := range results {
		fmt.Fprintf(&t, "| %s | sm_%s | %d | %d | %.1f MB | %d | %d | %d |\n", r.name, r.gpu(), r.units, r.modules, float64(r.ptx)/1e6, len(r.reference.Entries), len(r.reference.Objects), len(r.reference.Locals))
	}
	for _, r := range results {
		fmt.Fprintf(&t, `
## %s
| way | CPU | registers | stack | machine code | instructions / CALL / LDL+STL / generic | contents |
|---|---|---|---|---|---|---|
`, r.name)
		for _, w := range r.ways {
			fmt.Fprintf(&t, "| %s | %s |\n", w.name, w.cells(b))
		}
		if r.why != "" {
			fmt.Fprintf(&t, "\n%s\n", r.why)
		}
		if r.messages != "" {
			fmt.Fprintf(&t, "\n%d lines of messages.\n", strings.Count(r.messages, "\n"))
			log.Printf("%s: messages:\n%s", r.name, r.messages)
		}
	}
	return t.String()
}

func (w way) cells(b *bench) string {
	if errors.Is(w.err, context.DeadlineExceeded) {
		return fmt.Sprintf("over %.0f s | | | | |", b.limit.Seconds())
	}
	if w.err != nil {
		log.Printf("%s: %v", w.name, w.err)
		return "fails | | | | |"
	}
	contents := w.other
	if contents == "" {
		contents = "equal"
	}
	registers, stack := sums(w.code)
	cpu := ""
	if w.cpu > 0 {
		cpu = fmt.Sprintf("%.2f s", w.cpu.Seconds())
	}
	return fmt.Sprintf("%s | %d | %s | %d KB | %d / %d / %d / %d | %s", cpu, registers, stack, (w.text+512)/1024,
		w.code.Instructions, w.code.Calls, w.code.Local, w.code.Generic, contents)
}

// sums adds up what the kernels need.
func sums(c machine.Code) (registers int, stack string) {
	bytes, unknown := 0, 0
	for _, k := range c.Kernels {
		registers += k.Registers
		if bytes += k.Stack; k.Stack < 0 {
			bytes, unknown = bytes+1, unknown+1
		}
	}
	stack = fmt.Sprint(bytes)
	if unknown > 0 {
		stack += fmt.Sprintf(" and %d unknown", unknown)
	}
	return registers, stack
}
