//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/oracles"
)

// The sets of make route compare the ways from modules to a cubin: ptxlink, and ptxas -c for each
// module with nvlink, from the start and after a change of one module.

// sharedRoute has a function that all kernels call.
func (s *set) sharedRoute() {
	const call = ".extern .func (.param .b32 r) f(.param .b32 x);\n"
	modules := []string{header + function(".visible ", "f", 0, 800)}
	for i := range 16 {
		modules = append(modules, header+call+kernel(i, 30, "f"))
	}
	s.route(modules)
}

// apartRoute has modules of a kernel that calls functions of its own.
func apartRoute(n int) func(s *set) {
	return func(s *set) {
		var modules []string
		for i := range n {
			text, callees := header, []string{}
			for k := range 3 {
				callees = append(callees, fmt.Sprintf("f%d_%d", i, k))
				text += function("", callees[k], 3*i+k, 250)
			}
			modules = append(modules, text+kernel(i, 200, callees...))
		}
		s.route(modules)
	}
}

func (s *set) route(modules []string) {
	var names []string
	for i, text := range modules {
		names = append(names, s.writeText(fmt.Sprintf("m%d.ptx", i), text))
	}
	s.ways(names)
}

// ways adds the ways from modules to a cubin. The fastest run of each counts.
func (s *set) ways(names []string) {
	s.fastest = true
	// The wrappers in bin are shell scripts, which start a second program.
	tools := filepath.Join(oracles.Dir(), "cuda-12.4", "bin")
	ptxas, nvlink := filepath.Join(tools, "ptxas"), filepath.Join(tools, "nvlink")
	s.add("`ptxas -c` each, 2 at a time, and nvlink", slices.Concat([]string{"sh", "-c",
		`printf '%s\n' "$@" | xargs -P2 -I{} ` + ptxas + " -c -arch=sm_80 {} -o {}.cubin && " + nvlink + ` -arch=sm_80 -o out $(printf '%s.cubin ' "$@")`, "sh"}, names)...)
	// Nothing is removed, so that both ways assemble the same functions.
	link := append([]string{s.bench.binary, "--no-gc-sections", "--ptxas=" + ptxas, "--arch=sm_80", "--ptxas-jobs=2", "-o", "out.cubin"}, names...)
	s.add("ptxlink", link...)
	cached := slices.Concat(link, []string{"--cache-dir=cache"})
	s.bench.measure(s, &command{args: cached})
	for _, changed := range []struct {
		name  string
		index int
	}{{"the first", 0}, {"another", len(names) / 3}} {
		path := s.path(names[changed.index])
		text, err := os.ReadFile(path)
		check(err)
		last := bytes.LastIndex(text, []byte("ret;"))
		s.add("ptxlink, cache, "+changed.name+" module changed", cached...).before = func(round int) error {
			instruction := fmt.Appendf(nil, "bar.warp.sync %d; ", round+1)
			return os.WriteFile(path, slices.Concat(text[:last], instruction, text[last:]), 0o666)
		}
	}
}

const header = ".version 8.0\n.target sm_80\n.address_size 64\n\n"

func function(linkage, name string, seed, size int) string {
	return linkage + ".func (.param .b32 r) " + name + "(.param .b32 x)\n{\n\t.reg .b32 %r<12>;\n\tld.param.u32 %r0, [x];\n" +
		arithmetic(seed, size) + "\tst.param.b32 [r], %r3;\n\tret;\n}\n\n"
}

func kernel(i, size int, callees ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, ".visible .entry k%d(.param .u64 p)\n{\n\t.reg .b32 %%r<12>;\n\t.reg .b64 %%d;\n\tld.param.u64 %%d, [p];\n\tld.global.u32 %%r0, [%%d];\n", i)
	s.WriteString(arithmetic(i, size))
	for _, callee := range callees {
		fmt.Fprintf(&s, "\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %%r2;\n\tcall (b), %s, (a);\n\tld.param.b32 %%r2, [b];\n\t}\n", callee)
	}
	s.WriteString("\tst.global.u32 [%d], %r2;\n\tret;\n}\n")
	return s.String()
}

// arithmetic returns instructions that depend on each other and on %r0.
func arithmetic(seed, size int) string {
	var s strings.Builder
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&s, "\tadd.s32 %%r%d, %%r0, %d;\n", i, 17*i+seed)
	}
	for i := range size - 11 {
		a, b, c := (7*i+seed)%12, (5*i+3*seed+1)%12, (3*i+seed+2)%12
		switch i % 4 {
		case 0:
			fmt.Fprintf(&s, "\tmad.lo.s32 %%r%d, %%r%d, %%r%d, %d;\n", a, b, c, i+seed)
		case 1:
			fmt.Fprintf(&s, "\txor.b32 %%r%d, %%r%d, %%r%d;\n", a, b, c)
		case 2:
			fmt.Fprintf(&s, "\tshl.b32 %%r%d, %%r%d, %d;\n", a, b, 1+(i+seed)%7)
		case 3:
			fmt.Fprintf(&s, "\tsub.s32 %%r%d, %%r%d, %%r%d;\n", a, b, c)
		}
	}
	return s.String()
}
