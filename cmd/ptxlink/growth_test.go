package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// A growth is a family of inputs of any size n. The work of a link must grow as
// n log n: four times the input takes about four times the statements, not sixteen times.
type growth struct {
	name  string
	n     int
	input func(n int) files
	exit  int    // what ptxlink exits with
	want  string // in what it writes to its standard error, if not empty
	args  []string
}

// files holds input files: name, text, name, text, ... Files that end in .ptx are
// linked and get a header.
type files []string

// repeat writes format once for each number below n.
func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(format, "#-", fmt.Sprint(max(0, i-1))), "#", fmt.Sprint(i)))
	}
	return b.String()
}

// kernel returns an entry that runs code, which may use %r and %rd.
func kernel(code string) string {
	return ".visible .entry k() { .reg .u32 %r; .reg .u64 %rd;\n" + code + "ret; }\n"
}

// loads returns loads of the word variables NAME0, NAME1 and so on.
func loads(n int, name string) string { return repeat(n, "ld.global.u32 %r, ["+name+"];\n") }

var growths = []growth{
	{name: "undefined symbols", n: 6000, exit: exitLink, want: "undefined symbol: s0", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u32 s#;\n") + kernel(loads(n, "s#"))}
	}},
	{name: "undefined symbols and their likes", n: 2000, exit: exitLink, want: "did you mean ", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u32 variable#;\n") + kernel(loads(n, "variable#")),
			"b.ptx", repeat(n, ".visible .global .u32 variabel#;\n")}
	}},
	{name: "undefined symbols in misspelt statements", n: 2000, exit: exitLink, want: "did you mean .visible", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u32 s#;\n") + kernel(loads(n, "s#")), "b.ptx", repeat(n, ".visble .global .u32 s#;\n")}
	}},
	{name: "undefined C++ functions", n: 2000, exit: exitLink, want: "did you mean ", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .func _Z9function#i(.param .b32 a);\n") + kernel(".param .b32 p;\n"+repeat(n, "call _Z9function#i, (p);\n")),
			"b.ptx", repeat(n, ".visible .func _Z9function#f(.param .f32 a) { ret; }\n")}
	}},
	{name: "functions that the compiler left out", n: 1000, exit: exitLink, want: "defined here, but a.ptx does not have it", input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .func _Z9function#i(.param .b32 a);\n") + kernel(".param .b32 p;\n"+repeat(n, "call _Z9function#i, (p);\n")),
			"a.cu", repeat(n, "static __device__ void function#(int a) { }\n")}
	}},
	{name: "uses of one undefined symbol", n: 20000, exit: exitLink, want: "undefined symbol: s", input: func(n int) files {
		return files{"a.ptx", ".extern .global .u32 s;\n" + kernel(loads(n, "s"))}
	}},
	{name: "undefined symbols that are allowed", n: 3000, args: []string{"@args"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u32 s#;\n") + kernel(loads(n, "s#")),
			"args", repeat(n, "--allow-undefined=s#\n")}
	}},
	{name: "names of a version script", n: 6000, args: []string{"--version-script=map"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .global .u32 s#;\n.visible .func f#() { ret; }\n"), "map", "{ global:\n" + repeat(n, "s#;\n") + "local:\n" + repeat(n, "f#;\n") + "*; };\n"}
	}},
	{name: "wrapped, weakened and traced symbols", n: 3000, args: []string{"@args"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u32 s#;\n") + kernel(loads(n, "s#")), "b.ptx", repeat(n, ".visible .global .u32 __wrap_s#;\n"),
			"args", repeat(n, "--wrap=s# --weaken-symbol=__wrap_s# -y s#\n")}
	}},
	{name: "a chain of --defsym", n: 6000, args: []string{"@args"}, input: func(n int) files {
		return files{"a.ptx", ".extern .global .u32 s0;\n.visible .global .u32 end;\n" + kernel(loads(1, "s#")),
			"args", strings.ReplaceAll(repeat(n, "--defsym=s#-=s#\n"), "--defsym=s0=s0\n", "") + "--defsym=s" + fmt.Sprint(n-1) + "=end\n"}
	}},
	{name: "identical functions that use one helper", n: 2000, args: []string{"--dedupe-identical"}, input: func(n int) files {
		text := ".func helper() {\n" + repeat(n, "bar.sync 0;\n") + "ret; }\n" + repeat(n, ".visible .func f#() { call helper; ret; }\n")
		return files{"a.ptx", text, "b.ptx", text}
	}},
	{name: "required symbols", n: 3000, args: []string{"@args"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .global .u32 s#;\n"), "args", repeat(n, "--require-defined=s#\n-u s#\n")}
	}},
	{name: "a long mangled name", n: 50000, exit: exitLink, want: "undefined symbol: ", input: func(n int) files {
		name := "_ZN" + strings.Repeat("1a", n) + "E"
		return files{"a.ptx", ".extern .global .u32 " + name + ";\n" + kernel("ld.global.u32 %r, ["+name+"];\n")}
	}},
	{name: "a mangled name that unfolds", n: 20, exit: exitLink, want: "undefined symbol: ", input: func(n int) files {
		list := "1pIiiE" // pair<int, int>, then a pair of two of these, and so on
		for i := range n {
			of := "S" + strings.ToUpper(strconv.FormatInt(int64(i), 36)) + "_"
			list += "S_I" + of + of + "E"
		}
		return files{"a.ptx", ".extern .func _Z1f" + list + "(.param .b32 a);\n.extern .func _ZN1cI" + list + "EC1Ei();\n" +
			kernel(".param .b32 p;\ncall _Z1f"+list+", (p);\ncall _ZN1cI"+list+"EC1Ei;\n")}
	}},
	{name: "an identifier", n: 500000, exit: exitLink, want: "undefined symbol: ", input: func(n int) files {
		name := strings.Repeat("a", n)
		return files{"a.ptx", ".extern .global .u32 " + name + ";\n" + kernel("ld.global.u32 %r, ["+name+"];\n")}
	}},
	{name: "alias chain", n: 10000, input: func(n int) files {
		return files{"a.ptx", ".visible .func f0() { ret; }\n" + strings.TrimPrefix(repeat(n, ".visible .func f#();\n.alias f#, f#-;\n"), ".visible .func f0();\n.alias f0, f0;\n")}
	}},
	{name: "alias chain, last first", n: 10000, input: func(n int) files {
		var b strings.Builder
		for i := n; i > 0; i-- {
			fmt.Fprintf(&b, ".visible .func f%d();\n.alias f%d, f%d;\n", i, i, i-1)
		}
		return files{"a.ptx", b.String() + ".visible .func f0() { ret; }\n", "b.ptx", repeat(n, ".extern .func f#();\n") + kernel(repeat(n, "call f#;\n"))}
	}},
	{name: "alias cycle", n: 10000, exit: exitLink, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func f#();\n.alias f#, f#-;\n") + fmt.Sprintf(".visible .func f();\n.alias f0, f%d;\n", n-1)}
	}},
	{name: "call objects", n: 10000, input: func(n int) files {
		return files{"a.ptx", ".visible .func g(.param .b32 a) { ret; }\n" + kernel(repeat(n, ".param .b32 p#; st.param.b32 [p#], %r; call g, (p#);\n"))}
	}},
	{name: "register ranges", n: 20000, input: func(n int) files {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ".reg .b32 r%c%dx<3>;\n", 'a'+i%26, i)
		}
		return files{"a.ptx", kernel(b.String())}
	}},
	{name: "register ranges of every function", n: 2000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .global .u32 t#;\n"),
			"b.ptx", repeat(n/4, fmt.Sprintf(".visible .func f#() { .reg .b32 t<%d>; mov.u32 t#, 1; ret; }\n", n+1))}
	}},
	{name: "registers like variables elsewhere", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .global .u32 t#;\n"), "b.ptx", kernel(repeat(n, ".reg .b32 t#; mov.b32 t#, 1;\n"))}
	}},
	{name: "statics of one name", n: 250, input: func(n int) files {
		return filesOf(n, ".global .u32 s; .global .u32 s$#; .visible .entry k#() { .reg .u32 %r; ld.global.u32 %r, [s]; ret; }\n")
	}},
	{name: "statics like ranges", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".global .u32 s#;\n"), "b.ptx", repeat(n, ".global .u32 s#;\n") + kernel(repeat(n, ".reg .b32 s#$<9>;\n"))}
	}},
	{name: "cycles of two initialisers", n: 6000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u64 b#;\n.visible .global .u64 a# = b#;\n"),
			"b.ptx", repeat(n, ".extern .global .u64 a#;\n.visible .global .u64 b# = a#;\n")}
	}},
	{name: "one cycle of initialisers", n: 6000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .global .u64 a#;\n") + repeat(n, ".visible .global .u64 b# = a#;\n"),
			"b.ptx", repeat(n+1, ".extern .global .u64 b#;\n") + strings.Replace(repeat(n, ".visible .global .u64 a# = b#-;\n"), "a0 = b0", fmt.Sprint("a0 = b", n-1), 1)}
	}},
	{name: "cycles within a cycle", n: 5000, input: func(n int) files {
		return files{"a.ptx", fmt.Sprintf(".extern .global .u64 z[%d];\n", n) + repeat(n, ".visible .global .u64 a# = z;\n"),
			"b.ptx", repeat(n, ".extern .global .u64 a#;\n") + fmt.Sprintf(".visible .global .u64 z[%d] = {", n) + strings.TrimSuffix(repeat(n, "a#,"), ",") + "};\n"}
	}},
	{name: "chain of initialisers", n: 10000, input: func(n int) files {
		return files{"a.ptx", repeat(n+1, ".extern .global .u64 b#;\n") + repeat(n, ".visible .global .u64 a# = b#;\n"),
			"b.ptx", repeat(n+1, ".extern .global .u64 a#;\n") + strings.Replace(repeat(n, ".visible .global .u64 b# = a#-;\n"), "b0 = a0", "b0 = 0", 1)}
	}},
	{name: "errors on one line", n: 6000, exit: exitLink, want: "defined twice", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", strings.Repeat(".visible .func f(){ ret; } ", n) + "\n"}
	}},
	{name: "warnings on one line", n: 6000, want: "-Walign", input: func(n int) files {
		return files{"a.ptx", strings.ReplaceAll(repeat(n, ".visible .global .align 4 .b8 v#[16];\n"), "\n", " "),
			"b.ptx", strings.ReplaceAll(repeat(n, ".extern .global .align 16 .b8 v#[16];\n"), "\n", " ") + kernel(loads(n, "v#"))}
	}},
	{name: "lines in a map of one line", n: 6000, args: []string{"-Map=map"}, input: func(n int) files {
		return files{"a.ptx", strings.ReplaceAll(repeat(n, ".visible .global .align 4 .b8 v#[16];\n"), "\n", " ")}
	}},
	{name: "multiple definitions", n: 6000, exit: exitLink, want: "multiple definition", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func f#() { ret; }\n"), "b.ptx", repeat(n, ".visible .func f#() { ret; }\n")}
	}},
	{name: "definitions of one name", n: 250, exit: exitLink, want: "multiple definition", args: []string{"--error-limit=0"}, input: func(n int) files {
		return filesOf(n, ".visible .func f() { ret; }\n")
	}},
	{name: "files without a target", n: 250, exit: exitLink, args: []string{"--error-limit=0"}, input: func(n int) files {
		var list files
		for i := range n {
			list = append(list, fmt.Sprintf("%06d.raw", i), ".version 7.8\n.target debug\n.address_size 64\n")
		}
		return list
	}},
	{name: "weak bodies", n: 5000, args: []string{"--verbose"}, input: func(n int) files {
		text := ".weak .func f#() { .reg .b32 %r; mov.u32 %r, 1; ret; }\n"
		return files{"a.ptx", repeat(n, text), "b.ptx", repeat(n, text)}
	}},
	{name: "weak bodies of one name", n: 250, args: []string{"--verbose"}, input: func(n int) files {
		return filesOf(n, ".weak .func f() { .reg .b32 %r; mov.u32 %r, 1; ret; }\n")
	}},
	{name: "common variables", n: 6000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".common .global .align 4 .b8 v#[4];\n"), "b.ptx", repeat(n, ".common .global .align 8 .b8 v#[16];\n")}
	}},
	{name: "one common variable", n: 500, args: []string{"lib.a"}, input: func(n int) files {
		list := filesOf(n, ".common .global .align 4 .b8 v[4];\n")
		return append(list, "lib.a", archive(n, ".common .global .align 4 .b8 v[8]; .visible .global .b8 u#;\n"))
	}},
	{name: "functions of a member for another GPU", n: 8000, exit: exitLink, want: "is needed here", args: []string{"--arch=sm_75", "lib.a"}, input: func(n int) files {
		body := fatbin(repeat(n, ".visible .func f#() { ret; }\n"))
		return files{"a.ptx", repeat(n, ".extern .func f#();\n") + kernel(repeat(n, "call f#;\n")),
			"lib.a", fmt.Sprintf("!<arch>\n%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", "m.fatbin/", 0, 0, 0, "644", len(body), body)}
	}},
	{name: "indices on shared arrays", n: 16000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".extern .shared .u32 s#[];\n") + kernel(repeat(n, "ld.u32 %r, s#[%r];\n")),
			"b.ptx", repeat(n, ".visible .shared .u32 s#[2];\n")}
	}},
	{name: "archive chain", n: 1000, args: []string{"lib.a", "--print-dependencies"}, input: func(n int) files {
		return files{"a.ptx", fmt.Sprintf(".extern .func f%d();\n", n-1) + kernel(fmt.Sprintf("call f%d;\n", n-1)),
			"lib.a", archive(n, ".extern .func f#-();\n.visible .func f#() { call f#-; ret; }\n")}
	}},
	{name: "archives", n: 150, args: []string{"@args"}, input: func(n int) files {
		list := files{"a.ptx", repeat(n, ".extern .func f#();\n") + kernel(repeat(n, "call f#;\n")), "args", repeat(n, "#.a\n")}
		for i := range n {
			list = append(list, fmt.Sprint(i, ".a"), strings.ReplaceAll(archive(1, ".visible .func f@() { ret; }\n"), "@", fmt.Sprint(i)))
		}
		return list
	}},
	{name: "members of one name in ar", n: 700, args: []string{"ar", "new.a", "lib.a"}, input: func(n int) files {
		return files{"lib.a", archive(n, ".visible .func f#() { ret; }\n")}
	}},
	{name: "members of one name in extract", n: 250, args: []string{"extract", "-o", "out/", "lib.a"}, input: func(n int) files {
		return files{"lib.a", archive(n, ".visible .func f#() { ret; }\n")}
	}},
	{name: "entries", n: 6000, args: []string{"-Map=map"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".entry k#() { ret; }\n"), "b.ptx", repeat(n, ".entry k#() { ret; }\n")}
	}},
	{name: "entries that are called", n: 10000, exit: exitLink, want: "which is an entry", input: func(n int) files {
		return files{"a.ptx", repeat(n, ".entry e#() { ret; }\n") + kernel(repeat(n, "call e#;\n"))}
	}},
	{name: "call prototypes", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func f#(.param .b32 a) { ret; }\n") + ".visible .global .u64 table[] = {" + strings.TrimSuffix(repeat(n, "f#,"), ",") + "};\n" +
			kernel(".param .b64 p;\n"+repeat(n, "p#: .callprototype _ (.param .b64 _);\ncall %rd, (p), p#;\n"))}
	}},
	{name: "call prototypes that are near", n: 2000, want: "matches no function", input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func f#(.param .b32 n, .param .align 4 .b8 a[8]) { ret; }\n") + ".visible .global .u64 table[] = {" + strings.TrimSuffix(repeat(n, "f#,"), ",") + "};\n" +
			kernel(".param .b32 q;\n.param .align 8 .b8 p[8];\n"+repeat(n, "p#: .callprototype _ (.param .b32 _, .param .align 8 .b8 _[8]);\ncall %rd, (q, p), p#;\n"))}
	}},
	{name: "lists of call targets", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func f#() { ret; }\n") + kernel(repeat(n, "t#: .calltargets f#, f#-;\ncall %rd, t#;\n"))}
	}},
	{name: "labels", n: 20000, input: func(n int) files {
		return files{"a.ptx", kernel(repeat(n, "L#: bra L#;\n"))}
	}},
	{name: "nested blocks", n: 20000, input: func(n int) files {
		return files{"a.ptx", kernel(repeat(n, "{ .reg .b32 x#; mov.b32 x#, 1;\n") + strings.Repeat("}", n))}
	}},
	{name: "parentheses", n: 100000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b8 v[" + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "];\n"}
	}},
	{name: "signs", n: 100000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b8 v[" + strings.Repeat("- ", 2*n) + "1];\n"}
	}},
	{name: "constant expression", n: 100000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b8 v[1" + strings.Repeat(" + 1 * 1", n) + "];\n"}
	}},
	{name: "conditions", n: 50000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b8 v[" + strings.Repeat("1 ? 1 : ", n) + "1];\n"}
	}},
	{name: "nested initialiser", n: 50000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b8 v[] = " + strings.Repeat("{", n) + "1" + strings.Repeat("}", n) + ";\n"}
	}},
	{name: "long initialiser", n: 100000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b32 v[] = {" + strings.Repeat("1,", n) + "1};\n"}
	}},
	{name: "declarators", n: 10000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b32 v" + repeat(n, ", v#") + ";\n"}
	}},
	{name: "dimensions", n: 50000, input: func(n int) files {
		return files{"a.ptx", ".visible .global .b32 v" + strings.Repeat("[1]", n) + ";\n"}
	}},
	{name: "forward declarations in a module", n: 10000, input: func(n int) files {
		return files{"a.ptx", strings.Repeat(".visible .func f(.param .b32 a);\n", n) + ".visible .func f(.param .b32 a) { ret; }\n"}
	}},
	{name: "parameters", n: 5000, input: func(n int) files {
		list := strings.TrimSuffix(repeat(n, ".param .b32 a#,"), ",")
		return files{"a.ptx", ".visible .func f(" + list + ") { ret; }\n",
			"b.ptx", ".extern .func f(" + list + ");\n" + kernel(".param .b32 p;\ncall f, ("+strings.TrimSuffix(strings.Repeat("p,", n), ",")+");\n")}
	}},
	{name: "parameters that differ", n: 5000, exit: exitLink, want: "takes a", args: []string{"--error-limit=0"}, input: func(n int) files {
		list := strings.TrimSuffix(repeat(n, ".param .b32 a#,"), ",")
		return files{"a.ptx", ".visible .func f(" + list + ") { ret; }\n", "b.ptx", ".extern .func f(" + strings.ReplaceAll(list, "b32", "b64") + ");\n"}
	}},
	{name: "calls that differ", n: 3000, exit: exitLink, want: "passes a", args: []string{"--error-limit=0"}, input: func(n int) files {
		return files{"a.ptx", ".visible .func f(.param .b32 a) { ret; }\n" + kernel(".param .b64 p;\n"+strings.Repeat("call f, (p);\n", n))}
	}},
	{name: "calls with other alignments", n: 3000, input: func(n int) files {
		return files{"a.ptx", ".visible .func f(.param .align 16 .b8 a[16]) { ret; }\n",
			"b.ptx", ".extern .func f(.param .align 4 .b8 a[16]);\n" + kernel(strings.Repeat("{ .param .align 4 .b8 p[16];\ncall f, (p); }\n", n))}
	}},
	{name: "directives of a function", n: 10000, input: func(n int) files {
		return files{"a.ptx", ".visible .entry k() " + strings.Repeat(".maxntid 1 ", n) + "{ ret; }\n"}
	}},
	{name: "words of .target", n: 10000, input: func(n int) files {
		return files{"a.raw", ".version 7.8\n.target sm_75" + repeat(n, ", word#") + "\n.address_size 64\n"}
	}},
	{name: "pragmas", n: 10000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".pragma \"p#\";\n") + ".visible .entry a() { ret; }\n", "b.ptx", repeat(n, ".pragma \"q#\";\n") + ".visible .entry b() { ret; }\n"}
	}},
	{name: "files and lines", n: 5000, input: func(n int) files {
		text := func(name string) string {
			return repeat(n, ".file # \""+name+"#.cu\"\n") + ".visible .entry " + name + "() {\n" + repeat(n, ".loc # 1 1\n") + "ret; }\n"
		}
		return files{"a.ptx", text("a"), "b.ptx", text("b"), "c.ptx", text("b"[:0] + "c")}
	}},
	{name: "files of one path", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".file # \"a.cu\"\n"), "b.ptx", repeat(n, ".file # \"a.cu\"\n") + kernel(repeat(n, ".loc # 1 1\n"))}
	}},
	{name: "files in functions", n: 1000, input: func(n int) files {
		text := func(name string) string {
			return repeat(n, ".visible .func "+name+"#() {\n.file # \""+name+"#.cu\"\n.loc # 1 1\nret; }\n")
		}
		return files{"a.ptx", text("a"), "b.ptx", text("b")}
	}},
	{name: "inlined lines", n: 5000, input: func(n int) files {
		text := func(name string) string {
			return ".file 1 \"" + name + ".cu\"\n.visible .entry " + name + "() {\n" + repeat(n, ".loc 1 # 1, function_name info_string#, inlined_at 1 1 1\n") + "ret; }\n.section .debug_str {\n" + repeat(n, "info_string#:\n.b8 65\n.b8 0\n") + "}\n"
		}
		return files{"a.ptx", text("a"), "b.ptx", text("b")}
	}},
	{name: "units of DWARF", n: 1500, input: func(n int) files {
		// Each has a table of abbreviations of 8 bytes, and a label.
		return dwarf(repeat(n, ".b8 1, 17, 0, 17, 1, 0, 0, 0\n"), list(n, func(i int) string {
			return fmt.Sprintf(".b32 16\n.b8 2, 0\n.b32 .debug_abbrev+%d\n.b8 8, 1\n.b64 L%d\n", 8*i, i)
		}), repeat(n, "L#:\n"))
	}},
	{name: "units that share abbreviations", n: 2000, input: func(n int) files {
		abbrevs := list(n, func(i int) string {
			return fmt.Sprintf(".b8 %s52, 0, 3, 8, %s11, 0, 0\n", uleb(2+i), uleb(0x2000+i))
		})
		return dwarf(".b8 1, 17, 1, 0, 0\n"+abbrevs+".b8 0\n", list(n, func(i int) string {
			code := uleb(2 + i)
			return fmt.Sprintf(".b32 %d\n.b8 2, 0\n.b32 .debug_abbrev\n.b8 8, 1, %s65, 0, 7, 0\n", 2+4+1+1+strings.Count(code, ",")+4, code)
		}), "")
	}},
	{name: "labels that DWARF names", n: 10000, input: func(n int) files {
		return dwarf(".b8 1, 17, 1, 0, 0, 2, 52, 0, 73, 19, 17, 1, 0, 0, 0\n", labelled(n), repeat(n, "L#:\n"))
	}},
	{name: "functions of labels that DWARF names", n: 2500, input: func(n int) files {
		return dwarf(".b8 1, 17, 1, 0, 0, 2, 52, 0, 73, 19, 17, 1, 0, 0, 0\n", labelled(n), "ret; }\n"+repeat(n, ".func @#() {\nL#: ret; }\n")+".visible .func @() {\n")
	}},
	{name: "sections", n: 5000, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".section .debug_x# {\nL#:\n.b32 L#\n}\n") + kernel("")}
	}},
	{name: "overloads", n: 3000, exit: exitOK, want: "-Wmangled", input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func _Z1fILi#EEvi() { ret; }\n")}
	}},
	{name: "inputs of an earlier link", n: 5000, input: func(n int) files {
		return files{"a.raw", "// Linked by ptxlink\n/* ptxlink-meta: address_size=64" + repeat(n, "\n   xxh64=#") + " */\n.version 7.8\n.target sm_75\n.address_size 64\n"}
	}},
	{name: "comments", n: 100000, input: func(n int) files {
		return files{"a.ptx", strings.Repeat("/**/", n) + strings.Repeat("//\n", n)}
	}},
	{name: "atomics", n: 5000, args: []string{"check", "--atomics", "a.ptx"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .global .u32 v#;\n") + kernel(repeat(n, "atom.global.add.u32 %r, [v#], 1;\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [v#-], %r;\n"))}
	}},
	{name: "nm", n: 6000, args: []string{"nm", "-C", "a.ptx"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func _Z9function#i(.param .b32 a) { ret; } ") + "\n"}
	}},
	{name: "info", n: 6000, args: []string{"info", "--json", "a.ptx"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".visible .func _Z9function#i(.param .b32 a) { ret; } ") + "\n"}
	}},
	{name: "inputs", n: 250, args: []string{"--dependency-file=d", "-Map=map"}, input: func(n int) files {
		return filesOf(n, ".visible .func f#() { ret; }\n")
	}},
	{name: "arguments", n: 5000, args: []string{"@args"}, input: func(n int) files {
		return files{"a.ptx", kernel(""), "args", strings.Repeat("--threads=2 ", n)}
	}},
	{name: "calls of one function, inlined", n: 1500, args: []string{"-O1"}, input: func(n int) files {
		return files{"a.ptx", ".file 1 \"a.cu\"\n" + leaf("f") + kernel(".loc 1 1 1\n"+repeat(n, "{ .param .b32 p, q; st.param.b32 [p], %r; call (q), f, (p); ld.param.b32 %r, [q]; }\n"))}
	}},
	{name: "inlined lines of an inlined function", n: 600, args: []string{"-O1", "--inline=*"}, input: func(n int) files {
		return files{"a.ptx", ".file 1 \"a.cu\"\n.func f() {\n.loc 1 1 1\n" + repeat(n, ".loc 1 # 2, function_name info_string#, inlined_at 1 1 1\nbar.sync 0;\n") + "ret; }\n" + kernel(".loc 1 5 1\ncall f;\n.loc 1 6 1\ncall f;\n") + ".section .debug_str {\n" + repeat(n, "info_string#:\n.b8 65\n.b8 0\n") + "}\n"}
	}},
	{name: "functions that are called once, inlined", n: 1500, args: []string{"-O2"}, input: func(n int) files {
		return files{"a.ptx", ".file 1 \"a.cu\"\n" + repeat(n, leaf("f#")) + kernel(".loc 1 1 1\n"+repeat(n, "{ .param .b32 p, q; st.param.b32 [p], %r; call (q), f#, (p); ld.param.b32 %r, [q]; }\n"))}
	}},
	{name: "a chain of calls, inlined", n: 1000, args: []string{"--inline=*"}, input: func(n int) files { return calls(n) }},
	{name: "a chain of calls, not inlined", n: 2000, args: []string{"-O1", "--no-inline=*"}, input: func(n int) files { return calls(n) }},
	{name: "statics of inlined functions", n: 1500, args: []string{"-O1"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".func f#() { .global .u32 s; st.global.u32 [s], 1; ret; }\n") + kernel(repeat(n, "call f#;\n"))}
	}},
	{name: "functions behind registers", n: 800, args: []string{"-O1"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, leaf("f#")) + repeat(n, ".func g#() { .reg .u64 %rd; .reg .b32 %r; mov.u64 %rd, f#; { .param .b32 p, q; P: .callprototype (.param .b32 _) _ (.param .b32 _); st.param.b32 [p], 1; call (q), %rd, (p), P; } ret; }\n") + kernel(repeat(n, "call g#;\n"))}
	}},
	{name: "calls of any function", n: 700, args: []string{"-O2"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, leaf("f#")) + ".visible .global .u64 table[] = {" + strings.TrimSuffix(repeat(n, "f#,"), ",") + "};\n" +
			repeat(n, ".func g#() { .reg .u64 %rd; .local .b32 x; { .param .b64 p; P: .callprototype (.param .b32 _) _ (.param .b32 _); .param .b32 q, s; ld.global.u64 %rd, [table]; st.local.u32 [x], 1; st.param.b32 [q], 1; call (s), %rd, (q), P; } ret; }\n") + kernel(repeat(n, "call g#;\n"))}
	}},
	{name: "addresses made of each other, last first", n: 1500, args: []string{"-O1"}, input: func(n int) files {
		return files{"a.ptx", leaf("f") + kernel(".reg .u64 %d<"+fmt.Sprint(n+1)+">; .local .b64 x[2];\n.param .b32 p, q; st.param.b32 [p], %r; call (q), f, (p);\nL:\n"+
			strings.ReplaceAll(repeat(n, "add.u64 %d#-, %d#, 8; st.u32 [%d#], 1;\n"), "%d0, %d0", "%d0, %d1")+fmt.Sprintf("mov.u64 %%rd, x; cvta.local.u64 %%d%d, %%rd; bra L;\n", n-1))}
	}},
	{name: "objects of an inlined function", n: 700, args: []string{"-O1"}, input: func(n int) files {
		return files{"a.ptx", ".func f() { .reg .u32 %r; " + repeat(n, ".local .b32 x#; st.local.u32 [x#], %r;\n") + "ret; }\n" + kernel("call f;\n")}
	}},
	{name: "functions that are folded", n: 3000, args: []string{"--icf"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, leaf("f#")) + kernel(repeat(n, "{ .param .b32 p, q; st.param.b32 [p], %r; call (q), f#, (p); ld.param.b32 %r, [q]; }\n"))}
	}},
	{name: "calls of functions of a function that is folded", n: 8000, args: []string{"--icf"}, input: func(n int) files {
		return files{"a.ptx", ".visible .func g() { bar.sync 0; ret; }\n.visible .func f() {\n" + repeat(n, "call g;\n") + "ret; }\n" + kernel("call f;\n")}
	}},
	{name: "a chain of calls, folded", n: 2000, args: []string{"--icf"}, input: func(n int) files { return calls(n) }},
	{name: "two chains of calls, folded", n: 1500, args: []string{"--icf"}, input: func(n int) files {
		return append(calls(n), "b.ptx", strings.NewReplacer("k(", "l(", " f", " g").Replace(calls(n)[1]))
	}},
	{name: "functions that call all of two chains, folded", n: 1000, args: []string{"--icf"}, input: func(n int) files {
		chain := strings.Replace(repeat(n, ".func f#() { call f#-; ret; }\n"), "call f0;", "bar.sync 0;", 1) + ".func f() {\n" + repeat(n, "call f#;\n") + "ret; }\n" + kernel("call f;\n")
		return files{"a.ptx", chain, "b.ptx", strings.NewReplacer("k(", "l(", "sync 0", "sync 1").Replace(chain)}
	}},
	{name: "functions that are dropped, callers first", n: 500, args: []string{"-O1", "--inline=f*"}, input: func(n int) files {
		return files{"a.ptx", repeat(n, ".func f#();\n") + strings.Replace(repeat(n, ".func f#() { call f#-; ret; }\n"), "call f0;", "", 1) + kernel(fmt.Sprintf("call f%d;\n", n-1))}
	}},
}

// leaf returns a function that adds 1.
func leaf(name string) string {
	return ".func (.param .b32 r) " + name + "(.param .b32 a) { .reg .b32 %r; .loc 1 2 3\n ld.param.b32 %r, [a]; add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n"
}

// calls returns a kernel and n functions, each of which calls the one before.
func calls(n int) files {
	text := strings.ReplaceAll(leaf("f0"), ".loc 1 2 3\n", "")
	text += strings.TrimPrefix(repeat(n, ".func (.param .b32 r) f#(.param .b32 a) { .reg .b32 %r; .param .b32 p, q; ld.param.b32 %r, [a]; st.param.b32 [p], %r; call (q), f#-, (p); ld.param.b32 %r, [q]; st.param.b32 [r], %r; ret; }\n"),
		".func (.param .b32 r) f0(.param .b32 a) { .reg .b32 %r; .param .b32 p, q; ld.param.b32 %r, [a]; st.param.b32 [p], %r; call (q), f0, (p); ld.param.b32 %r, [q]; st.param.b32 [r], %r; ret; }\n")
	return files{"a.ptx", text + kernel(fmt.Sprintf(".param .b32 p, q; st.param.b32 [p], %%r; call (q), f%d, (p);\n", n-1))}
}

// list joins the results of format for each number below n.
func list(n int, format func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(format(i))
	}
	return b.String()
}

// uleb returns a number in LEB128, each byte followed by a comma.
func uleb(n int) (s string) {
	for ; n >= 0x80; n >>= 7 {
		s += fmt.Sprint(n&0x7f|0x80, ", ")
	}
	return s + fmt.Sprint(n, ", ")
}

// labelled returns a unit of n entries, each with a label and a reference to the
// entry in the middle.
func labelled(n int) string {
	const size = 1 + 4 + 8
	return fmt.Sprintf(".b32 %d\n.b8 2, 0\n.b32 .debug_abbrev\n.b8 8, 1\n", 2+4+1+1+size*n+1) + list(n, func(i int) string {
		return fmt.Sprintf(".b8 2\n.b32 %d\n.b64 L%d\n", 12+size*(n/2), i)
	}) + ".b8 0\n"
}

// dwarf returns two modules with the same DWARF and the same code, in which @ is
// the name of the module.
func dwarf(abbrev, info, code string) files {
	text := ".version 7.8\n.target sm_75, debug\n.address_size 64\n.visible .entry k@() {\n" + code + "ret; }\n" +
		".section .debug_abbrev {\n" + abbrev + "}\n.section .debug_info {\n" + info + "}\n"
	return files{"a.raw", strings.ReplaceAll(text, "@", "a"), "b.raw", strings.ReplaceAll(text, "@", "b")}
}

// filesOf returns n inputs, in which # is the number of the input.
func filesOf(n int, format string) (list files) {
	for i := range n {
		list = append(list, fmt.Sprintf("%06d.ptx", i), strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return list
}

// archive returns an ar archive of n members, all called m.ptx.
func archive(n int, format string) string {
	var b strings.Builder
	b.WriteString("!<arch>\n")
	for i := range n {
		text := growthHeader + strings.ReplaceAll(strings.ReplaceAll(format, "#-", fmt.Sprint(max(0, i-1))), "#", fmt.Sprint(i))
		text += strings.Repeat("\n", len(text)%2)
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", "m.ptx/", 0, 0, 0, "644", len(text), text)
	}
	return b.String()
}

// fatbin returns a fatbin with a module for sm_80.
func fatbin(text string) string {
	text = strings.ReplaceAll(growthHeader, "sm_75", "sm_80") + text
	text += strings.Repeat("\n", -len(text)&7)
	const entry = 0x40
	return uints(0xba55ed50, 16<<16|1, uint32(entry+len(text)), 0, // the header, and the size of what follows
		0x101<<16|1, entry, uint32(len(text)), 0, 0, 0, 8<<16, 80, 0, 0, 0x11, 0, 0, 0, 0, 0) + text
}

func uints(list ...uint32) string {
	data, _ := binary.Append(nil, binary.LittleEndian, list)
	return string(data)
}

const growthHeader = ".version 7.8\n.target sm_75\n.address_size 64\n"

// write writes the files to a directory and returns those to be linked.
func (list files) write(t *testing.T, dir string) (linked []string) {
	t.Helper()
	for i := 0; i < len(list); i += 2 {
		name, text := list[i], list[i+1]
		switch filepath.Ext(name) {
		case ".ptx":
			text = growthHeader + text
			fallthrough
		case ".raw":
			linked = append(linked, name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return linked
}

// statements returns how many statements one run on an input of size n executes. counted is ptxlink, built to
// count them.
func (g *growth) statements(t *testing.T, counted string, n int) (executed int) {
	t.Helper()
	dir, counters := t.TempDir(), t.TempDir()
	linked := g.input(n).write(t, dir)
	args := g.args
	if len(args) == 0 || !isSubcommand(args[0]) {
		args = append([]string{"-o", "linked"}, args...)
		args = append(args, linked...)
	}
	cmd := exec.Command(counted, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+counters, "GOMAXPROCS=1") // threads would lose counts
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	said := stderr.String()
	if code := cmd.ProcessState.ExitCode(); code != g.exit || !strings.Contains(said, g.want) {
		t.Fatalf("n = %d: exit code %d, want %d with %q: %.1000s", n, code, g.exit, g.want, said)
	}
	covdata := exec.Command("go", "tool", "covdata", "textfmt", "-i=.", "-o=text")
	covdata.Dir = counters // whose name may have a comma
	if out, err := covdata.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	profile, err := os.ReadFile(filepath.Join(counters, "text"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(profile)) { // mode: count, then FILE:FROM,TO STATEMENTS RUNS
		if fields := strings.Fields(line); len(fields) == 3 {
			block, err := strconv.Atoi(fields[1])
			runs, err2 := strconv.Atoi(fields[2])
			if err != nil || err2 != nil {
				t.Fatalf("covdata prints %q", line)
			}
			executed += block * runs
		}
	}
	return executed
}

func isSubcommand(name string) bool {
	sub, _ := findSubcommand([]string{name})
	return sub.Name != ""
}

// TestGrowth counts the statements that each family executes at n and at 4n: those of ptxlink and of the packages that
// sort, search and copy for it. Quadratic growth gives a ratio of 16, n log n one below 5.
func TestGrowth(t *testing.T) {
	oracles.Long(t) // links many large inputs
	const most = 6
	counted := filepath.Join(t.TempDir(), "ptxlink")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=ptxlink/...,bufio,bytes,maps,regexp,regexp/syntax,slices,sort,strconv,strings,unicode/utf8", "-o", counted, "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range growths {
		g := &growths[i]
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			small, large := g.statements(t, counted, g.n), g.statements(t, counted, 4*g.n)
			ratio := float64(large) / float64(small)
			t.Logf("%d statements for %d, %d for %d: %.1f times", small, g.n, large, 4*g.n, ratio)
			if ratio > most {
				t.Errorf("four times the input takes %.1f times the statements", ratio)
			}
		})
	}
}
