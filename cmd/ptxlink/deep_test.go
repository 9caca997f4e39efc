package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeep gives ptxlink inputs that are nested 100,000 times, in each of the ways in
// which a reader might call itself, and a stack of 32 MB. Go ends a program whose stack
// is too large, 1 GB by default, with exit code 2 or SIGABRT and no message of ours.
func TestDeep(t *testing.T) {
	const n = 1 << 17
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	r := strings.Repeat
	body := func(text string) string {
		return head + ".visible .func f() {\n\t.reg .b32 r<9>;\n\t.reg .b64 rd<9>;\n" + text + "\n\tret;\n}\n"
	}
	module := func(text string) string { return head + text + "\n.visible .func g() { ret; }\n" }
	nested := func(depth int) string { // an archive in an archive
		var b bytes.Buffer
		size := make([]int, depth+1)
		text := module("")
		size[0] = len(text)
		for i := 1; i <= depth; i++ {
			size[i] = 68 + size[i-1] + size[i-1]%2
		}
		for i := depth; i > 0; i-- {
			fmt.Fprintf(&b, "!<arch>\n%-16s%-12d%-6d%-6d%-8s%-10d`\n", "a/", 0, 0, 0, "644", size[i-1])
		}
		b.WriteString(text + r("\n", depth))
		return b.String()
	}
	chain := func(n int) string { // functions that call each other
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			fmt.Fprintf(&b, ".func f%d();\n", i)
		}
		for i := range n {
			fmt.Fprintf(&b, ".func f%d() { call f%d; ret; }\n", i, min(i+1, n-1))
		}
		b.WriteString(".visible .entry k() { call f0; ret; }\n")
		return b.String()
	}
	mangled := func(name string) string {
		return head + ".extern .func " + name + " (.param .b64 a);\n.visible .func g() { .param .b64 a; call " + name + ", (a); ret; }\n"
	}
	dies := func() string { // debugging entries, each in the one before
		return module(".section .debug_abbrev {\n.b8 1,17,1,0,0\n.b8 2,57,1,0,0\n.b8 0\n}\n.section .debug_info {\n.b32 " + fmt.Sprint(8+n) + "\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8,1" + r(",2", n) + "\n}")
	}
	for _, test := range []struct{ name, text, args string }{
		{"pointers", mangled("_Z1f" + r("P", 1<<19) + "i"), "-r"},
		{"pointers_const", mangled("_Z1f" + r("PK", n) + "i"), "-r"},
		{"templates", mangled("_Z" + r("1fI", n) + "i" + r("E", n) + "vv"), "-r"},
		{"nested_names", mangled("_ZN" + r("1a", n) + "Ei"), "-r"},
		{"functions", mangled("_Z1f" + r("PF", n) + "v" + r("vE", n)), "-r"},
		{"pair_defined", mangled("_Z1f"+r("P", 1<<19)+"i") + ".visible .func h() { ret; }\n", "-r -Map=map --dot=dot"},
		{"braces", body(r("{", n) + r("}", n)), "-r -O2"},
		{"braces_open", body(r("{", n)), "-r"},
		{"labels_in_braces", body(r("{ L: ", n) + r("}", n)), "-r"},
		{"parentheses", module(".visible .global .u32 x = " + r("(", n) + "1" + r(")", n) + ";"), "-r"},
		{"parentheses_open", module(".visible .global .u32 x = " + r("(", n)), "-r"},
		{"unary", module(".visible .global .u32 x = " + r("-", n) + "1;"), "-r"},
		{"not", module(".visible .global .u32 x = " + r("!~", n) + "1;"), "-r"},
		{"casts", module(".visible .global .u32 x = " + r("(.u64)", n) + "1;"), "-r"},
		{"ternary", module(".visible .global .u32 x = " + r("1 ? ", n) + "1" + r(": 2", n) + ";"), "-r"},
		{"ternary_right", module(".visible .global .u32 x = 1" + r(" ? 1 : 1", n) + ";"), "-r"},
		{"sum", module(".visible .global .u32 x = 1" + r("+1", n) + ";"), "-r"},
		{"lists", module(".visible .global .u32 x[1] = " + r("{", n) + "1" + r("}", n) + ";"), "-r"},
		{"generic", module(".visible .global .u64 x = " + r("generic(", n) + "x" + r(")", n) + ";"), "-r"},
		{"dimensions", module(".visible .global .u32 x" + r("[1]", n) + ";"), "-r"},
		{"operands", body("\tadd.s32 r1, r2, " + r("(", n) + "1" + r(")", n) + ";"), "-r -O2"},
		{"vectors", body("\tmov.b32 r1, " + r("{", n) + "r1" + r("}", n) + ";"), "-r -O2"},
		{"brackets", body("\tld.global.u32 r1, " + r("[", n) + "rd1" + r("]", n) + ";"), "-r -O2"},
		{"call_lists", body("\tcall " + r("(", n) + "r1" + r(")", n) + ", g;"), "-r -O2"},
		{"predicates", body(r("@r1 ", n) + "bra L; L:"), "-r -O2"},
		{"types", body("\tadd" + r(".s32", n) + " r1, r2, r3;"), "-r -O2"},
		{"parameters", module(".visible .func f " + r("(", n) + ".param .b32 a" + r(")", n) + " { ret; }"), "-r"},
		{"pragma", module(".pragma " + r("\"", n) + ";"), "-r"},
		{"section_braces", module(".section .debug_x " + r("{", n) + r("}", n)), "-r"},
		{"section_sums", module(".section .debug_x { .b32 a" + r("+1", n) + " }"), "-r"},
		{"comments", module(r("/*", n)), "-r"},
		{"attributes", module(".attribute(" + r("(", n) + r(")", n) + ") .visible .global .u32 x;"), "-r"},
		{"debug_entries", dies(), "-r"},
		{"alias", module(".visible .func a() { ret; }\n" + r(".alias b, a;\n", n)), "-r"},
		{"chain", chain(20000), ""},
		{"chain_icf", chain(2000), "--icf"},
		{"chain_O", chain(300), "-O2"},
		{"chain_dot", chain(4000), "--dot=dot --why-live f3999 --report=page.html -Map=map.json"},
		{"archives", nested(20000), "--whole-archive"},
		{"script", "{ global: " + r("{ ", n), "SCRIPT"},
		{"script_extern", "{ " + r("extern \"C\" { ", n), "SCRIPT"},
		{"c_pointers", "int " + r("*", n) + "p;", "ABI"},
		{"c_declarators", "int " + r("(", n) + "p" + r(")", n) + ";", "ABI"},
		{"c_arrays", "int p" + r("[1]", n) + ";", "ABI"},
		{"c_sizes", "int p[" + r("(", n) + "1" + r(")", n) + "];", "ABI"},
		{"c_unary", "int p[" + r("-", n) + "1];", "ABI"},
		{"c_ternary", "int p[" + r("1?", n) + "1" + r(":1", n) + "];", "ABI"},
		{"c_records", r("struct {", n) + "int a;" + r("} x;", n), "ABI"},
		{"c_unions", "struct S " + r("{ union ", n) + "{ int a; };" + r("};", n), "ABI"},
		{"c_functions", "int f" + r("(int (*)", n) + "()" + r(")", n) + ";", "ABI"},
		{"c_namespaces", r("namespace a {", n) + r("}", n), "ABI"},
		{"c_namespace", "namespace a" + r("::a", n) + " {}", "ABI"},
		{"c_extern", r("extern \"C\" {", n) + r("}", n), "ABI"},
		{"c_names", "a" + r("::a", n) + " x;", "ABI"},
		{"c_typedefs", "typedef int T0; " + func() string {
			var b strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&b, "typedef T%d *T%d; ", i, i+1)
			}
			return b.String() + "T20000 x;"
		}(), "ABI"},
		{"c_templates", "template <class T> struct A { T x; }; " + r("A<", n) + "int" + r(">", n) + " x;", "ABI"},
		{"c_typeof", "__typeof__(" + r("(", n) + "1" + r(")", n) + ") x;", "ABI"},
		{"c_alignas", "struct S { " + r("alignas(", n) + "1" + r(")", n) + " int a; };", "ABI"},
		{"c_sizeof", "int x[" + r("sizeof(", n) + "int" + r(")", n) + "];", "ABI"},
		{"c_attributes", "int x __attribute__(" + r("(", n) + r(")", n) + ");", "ABI"},
		{"c_bases", "struct A0 { int x; }; " + func() string {
			var b strings.Builder
			for i := range 30000 {
				fmt.Fprintf(&b, "struct A%d : A%d { }; ", i+1, i)
			}
			return b.String() + "A30000 x;"
		}(), "ABI"},
		{"c_members", func() string {
			var b strings.Builder
			b.WriteString("struct A0 { int x; }; ")
			for i := range 30000 {
				fmt.Fprintf(&b, "struct A%d { A%d x; }; ", i+1, i)
			}
			return b.String() + "A30000 x;"
		}(), "ABI"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.ptx"), []byte(test.text), 0o666); err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, "m.ptx"), []byte(module("")), 0o666)
			args := append(strings.Fields(test.args), "a.ptx", "-o", "out.ptx")
			var in []byte
			switch test.args {
			case "ABI":
				args, in = []string{"abi", "-"}, []byte(test.text)
			case "SCRIPT":
				args = []string{"m.ptx", "-r", "--version-script=a.ptx", "-o", "out.ptx"}
			}
			cmd := exec.Command("ptxlink", args...)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
			cmd.Env = append(os.Environ(), "PTXLINK_TEST_STACK=1")
			said, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitLink && code != exitUsage && code != exitIO || bytes.Contains(said, []byte("goroutine")) {
				t.Errorf("exit code %d\n%.300s", code, said)
			}
		})
	}
}
