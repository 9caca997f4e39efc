package advice

import (
	"strings"
	"testing"

	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// TestDuplicates states how to have one of two definitions of s.
func TestDuplicates(t *testing.T) {
	const (
		strong   = ".visible .func s(){ret;}"
		longer   = ".visible .func s(){ret; ret;}"
		variable = ".visible .global .u32 s;"
		nvcc     = "// Cuda compilation tools, release 12.4\n"
		gcc      = "// BEGIN PREAMBLE\n"
		rename   = "rename one of the two"
		private  = rename + ", or drop .visible from one so that it stays in its module"
	)
	for _, test := range []struct {
		rule    string
		modules []string
		help    string
	}{
		{"two strong ones clash", []string{strong, longer}, private},
		{"each but the first has a message", []string{strong, ".weak .func s(){ret;}", longer, longer}, private},
		{"a variable of PTX can be declared", []string{variable, variable + " "}, rename + ", or declare it .extern in one module"},
		{"variables that differ are not identical", []string{variable, ".visible .global .u32 s = 1;"}, rename + ", or declare it .extern in one module"},
		{"variables of two sizes are not one", []string{variable, ".visible .global .u32 s[2];"}, rename},
		{"a kernel is found by its name", []string{".visible .entry s(){ret;}", ".visible .entry s(){ret;}"}, rename},
		{"nothing fits two kinds", []string{strong, variable}, rename},
		{"nothing fits two languages", []string{longer, nvcc + strong}, rename},
		{"nothing fits an unknown language", []string{gcc + longer, gcc + strong}, rename},
		{"a function of C++ can be inline", []string{nvcc + longer, nvcc + strong}, "if a header defines it, declare it inline there; otherwise rename one of the two"},
		{"a variable of C++ can be inline", []string{nvcc + variable, nvcc + variable}, "if a header defines it, declare it inline there (C++17); otherwise declare it extern in one of the two files, or rename it"},
	} {
		var log diag.Log
		Duplicates(resolve.Resolve(opened(t, test.modules...), resolve.Options{}, &log), &log)
		if got := log.Messages[0].Help; !strings.HasPrefix(got, test.help) {
			t.Errorf("%s: %q, want %q", test.rule, got, test.help)
		}
	}
}

// TestOnceInFile states how to have one definition of what a header defines.
func TestOnceInFile(t *testing.T) {
	const nvcc = "// Cuda compilation tools, release 12.4\n"
	for _, test := range []struct{ rule, module, header, want string }{
		{"a source that is linked twice", nvcc + ".visible .func s(){ret;}", "s.cu", "both modules were compiled from s.cu; link one of them"},
		{"a variant of a kernel", ".visible .entry s(){ret;}", "s.py", "both modules were compiled from s.py; give one of the kernels another name in Python, or link one of the modules"},
		{"a function", nvcc + ".visible .func s(){ret;}", "s.h", "declare it inline in s.h"},
		{"a variable", nvcc + ".visible .global .u32 s;", "s.cuh", "declare it inline in s.cuh (C++17), or static if each file is to have its own"},
		{"nvcc ignores inline before a kernel", nvcc + ".visible .entry s(){ret;}", "s.h", "declare it static in s.h, or move it to one source file"},
		{"no header", nvcc + ".visible .func s(){ret;}", "s.slang", ""},
		{"no file", nvcc + ".visible .func s(){ret;}", "token paste", ""},
		{"C has no such inline", "// BEGIN PREAMBLE\n.visible .func s(){ret;}", "s.h", "declare it static in s.h"},
	} {
		f := opened(t, test.module)[0]
		name, _ := f.Lookup("s")
		if got := onceInFile(f, name, test.header); got != test.want {
			t.Errorf("%s: %q, want %q", test.rule, got, test.want)
		}
	}
}
