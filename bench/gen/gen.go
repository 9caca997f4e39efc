// Package gen writes PTX programs for benchmarks. They resemble what nvcc writes for
// C++: mangled names, prototypes of functions of other modules and calls of them,
// weak functions that several modules define, and local names that collide.
package gen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
)

// Program describes a program. Equal values give equal bytes.
type Program struct {
	Modules   int
	Functions int  // functions that a module defines for others
	Externs   int  // calls of functions of other modules, per module
	Size      int  // bytes of a module; 0 gives functions as small as they get
	Chain     int  // if not 0: module i calls module i+1 only, up to the next multiple of Chain
	Markers   bool // write the comments of gcc, which nvptx-none-ld needs
}

// Write writes one module. It holds no more than a buffer in memory, because the
// peak memory of a process that bench starts includes the peak of bench.
func (p Program) Write(out io.Writer, module int) error {
	w := &writer{Program: p, out: bufio.NewWriter(out), module: module}
	w.header()
	calls := w.chooseCalls()
	w.print("\n")
	for i := range helpers {
		w.prototype("", helper(i))
	}
	w.print(".visible .global .align 4 .u32 _ZN4core8unit%04d5countE;\n", module)
	w.print(".global .align 4 .u32 _ZL5table[4] = {1, 2, 3, %d};\n", module)
	w.print(".global .align 1 .b8 $str[8] = {37, 100, 10, 0, 0, 0, 0, %d};\n\n", module%256)
	for i := range helpers {
		w.function("", helper(i), w.size, nil)
		w.function(".weak ", weak(i), w.size, nil)
	}
	start := w.size
	for fn := range p.Functions {
		end := start + (p.Size-start)*(fn+1)/p.Functions
		w.function(".visible ", w.defined(module, fn), end, calls[fn])
	}
	if p.Chain == 0 {
		w.entry(fmt.Sprintf("_ZN4core6kernelILi%dEEEvPf", module), w.defined(module, 0))
	}
	return w.out.Flush()
}

// Kernel writes a module whose entry calls the first module of every stride modules.
func (p Program) Kernel(out io.Writer, stride int) error {
	w := &writer{Program: p, out: bufio.NewWriter(out)}
	w.header()
	var callees []function
	for i := 0; i < p.Modules; i += stride {
		callees = append(callees, w.defined(i, 0))
		w.prototype(".extern ", w.defined(i, 0))
	}
	w.entry("_Z6kernelPf", callees...)
	return w.out.Flush()
}

// writer writes a module. A failed write is reported by Flush.
type writer struct {
	Program
	out    *bufio.Writer
	module int
	size   int
	seq    int // calls so far
}

func (w *writer) print(format string, args ...any) {
	n, _ := fmt.Fprintf(w.out, format, args...)
	w.size += n
}

func (w *writer) header() {
	w.print("// BEGIN PREAMBLE\n.version 7.8\n.target sm_80\n.address_size 64\n// END PREAMBLE\n\n")
}

// function is a name and the parameters that its mangling promises.
type function struct {
	name     string
	params   []*kind
	returned *kind // nil for void
	function int   // index in its module
}

// kind is a kind of parameter and of result. The texts contain the name of its object.
type kind struct {
	object string // its declaration without the state space
	load   string // as the last parameter, to %r1
	store  string // from %rd1 and %r1
	result string // of a call, to %r1
}

var (
	b32  = &kind{".b32 %s", "\tld.param.u32 \t%%r1, [%s];\n", "\tst.param.b32 \t[%s+0], %%r1;\n", "\tld.param.b32 \t%%r1, [%s+0];\n"}
	b64  = &kind{".b64 %s", "", "\tst.param.b64 \t[%s+0], %%rd1;\n", ""}
	pair = &kind{".align 8 .b8 %s[16]", "\tld.param.u32 \t%%r1, [%s+8];\n",
		"\tst.param.b64 \t[%[1]s+0], %%rd1;\n\tst.param.b32 \t[%[1]s+8], %%r1;\n", "\tld.param.b32 \t%%r1, [%s+8];\n"}
)

// helpers is the number of local and of weak functions of a module. They have the
// same names in all modules.
const helpers = 4

func helper(i int) function {
	return function{fmt.Sprintf("_ZL7smooth%dPfi", i), []*kind{b64, b32}, b32, i}
}

func weak(i int) function {
	return function{fmt.Sprintf("_ZN4core5clampIfLi%dEEET_PS1_i", i), []*kind{b64, b32}, b32, i}
}

// defined returns a function that a module defines for others.
func (w *writer) defined(module, fn int) function {
	if w.Size == 0 {
		name := fmt.Sprintf("m%df%d", module, fn)
		return function{fmt.Sprintf("_Z%d%sPf", len(name), name), []*kind{b64}, nil, fn}
	}
	f := function{params: []*kind{b64, b32}, returned: b32, function: fn}
	mangled := "Pfi"
	switch (module + fn) % 4 {
	case 1:
		f.params, f.returned, mangled = []*kind{b64, b64, b32}, nil, "PfPKfi"
	case 2:
		f.params, f.returned, mangled = []*kind{b64, pair}, pair, "PfNS_4PairE"
	}
	f.name = fmt.Sprintf("_ZN4core8unit%04d8step%04dE%s", module, fn, mangled)
	return f
}

// chooseCalls declares functions of other modules and returns, by function of this
// module, those that it calls. Functions call functions of a higher index only, so
// there is no recursion and nvlink can tell the size of the stack.
func (w *writer) chooseCalls() [][]function {
	calls := make([][]function, w.Functions)
	if w.Chain > 0 {
		if next := w.module + 1; next < w.Modules && next%w.Chain != 0 {
			calls[0] = []function{w.defined(next, 0)}
			w.prototype(".extern ", calls[0][0])
		}
		return calls
	}
	random := rand.New(rand.NewPCG(10, uint64(w.module)))
	declared := map[string]bool{}
	for i := range w.Externs {
		caller := i * w.Functions / w.Externs
		if caller == w.Functions-1 || w.Modules == 1 {
			break
		}
		module := (w.module + 1 + random.IntN(w.Modules-1)) % w.Modules
		f := w.defined(module, caller+1+random.IntN(w.Functions-1-caller))
		calls[caller] = append(calls[caller], f)
		if !declared[f.name] {
			declared[f.name] = true
			w.prototype(".extern ", f)
		}
	}
	return calls
}

// prototype declares f, which a function of this or of another module defines.
func (w *writer) prototype(linkage string, f function) {
	if w.Markers && linkage == ".extern " {
		w.print("// BEGIN GLOBAL FUNCTION DECL: %s\n", f.name)
	}
	w.heading(linkage, f)
	w.print("\n;\n")
}

func (w *writer) heading(linkage string, f function) {
	w.print("%s.func  ", linkage)
	if f.returned != nil {
		w.print("(.param "+f.returned.object+") ", "func_retval0")
	}
	w.print("%s\n(", f.name)
	for i, p := range f.params {
		if i > 0 {
			w.print(",")
		}
		w.print("\n\t.param "+p.object, fmt.Sprintf("%s_param_%d", f.name, i))
	}
	w.print("\n)")
}

// function writes a definition that calls the given functions and is filled up with
// arithmetic until the module has end bytes.
func (w *writer) function(linkage string, f function, end int, calls []function) {
	if linkage == ".visible " {
		w.print("\t// .globl\t%s\n", f.name)
		if w.Markers {
			w.print("// BEGIN GLOBAL FUNCTION DEF: %s\n", f.name)
		}
	}
	w.heading(linkage, f)
	w.print("\n{\n")
	large := end-w.size > 1000
	if large {
		w.print("\t.reg .pred \t%%p<2>;\n\t.reg .f32 \t%%f<4>;\n")
	}
	w.print("\t.reg .b64 \t%%rd<4>;\n\tld.param.u64 \t%%rd1, [%s_param_0];\n", f.name)
	if last := len(f.params) - 1; f.params[last].load != "" {
		w.print("\t.reg .b32 \t%%r<4>;\n"+f.params[last].load, fmt.Sprintf("%s_param_%d", f.name, last))
	}
	for _, callee := range calls {
		w.call(callee)
	}
	if large {
		i := f.function % helpers
		w.call([]function{helper(i), weak(i)}[f.function/helpers%2])
		w.loop(f.function, end-40)
	}
	if f.returned != nil {
		w.print(f.returned.store, "func_retval0")
	}
	w.print("\tret;\n\n}\n")
}

func (w *writer) loop(fn, end int) {
	w.print("\tmov.f32 \t%%f1, 0f3F800000;\n\tsetp.lt.s32 \t%%p1, %%r1, 1;\n\t@%%p1 bra \t$L__BB%d_2;\n\n$L__BB%d_1:\n", fn, fn)
	w.print("\tld.global.u32 \t%%r2, [_ZL5table+%d];\n\tsub.s32 \t%%r1, %%r1, %%r2;\n", 4*(fn%4))
	for i := 0; w.size < end-160; i++ {
		w.print("\tmul.wide.s32 \t%%rd2, %%r1, %d;\n\tadd.s64 \t%%rd3, %%rd1, %%rd2;\n\tld.global.f32 \t%%f2, [%%rd3+%d];\n\tfma.rn.f32 \t%%f1, %%f1, %%f2, 0f3F%06X;\n",
			4+4*i, 4*i, (0x100000+(fn*64+i)*4097)&0xffffff)
	}
	w.print("\tst.global.f32 \t[%%rd1], %%f1;\n\tsetp.gt.s32 \t%%p1, %%r1, 0;\n\t@%%p1 bra \t$L__BB%d_1;\n\n$L__BB%d_2:\n", fn, fn)
}

// call passes %rd1 and %r1, and receives %r1 or nothing.
func (w *writer) call(f function) {
	w.print("\t{ // callseq %d, 0\n\t.reg .b32 temp_param_reg;\n", w.seq)
	for i, p := range f.params {
		name := fmt.Sprintf("param%d", i)
		w.print("\t.param "+p.object+";\n", name)
		w.print(p.store, name)
	}
	if f.returned == nil {
		w.print("\tcall.uni \n\t%s, \n\t(\n", f.name)
	} else {
		w.print("\t.param "+f.returned.object+";\n\tcall.uni (retval0), \n\t%s, \n\t(\n", "retval0", f.name)
	}
	for i := range f.params {
		if i > 0 {
			w.print(", \n")
		}
		w.print("\tparam%d", i)
	}
	w.print("\n\t);\n")
	if f.returned != nil {
		w.print(f.returned.result, "retval0")
	}
	w.print("\t} // callseq %d\n", w.seq)
	w.seq++
}

func (w *writer) entry(name string, callees ...function) {
	if w.Markers {
		w.print("// BEGIN GLOBAL FUNCTION DEF: %s\n", name)
	}
	w.print("\t// .globl\t%s\n.visible .entry %s(\n\t.param .u64 %s_param_0\n)\n{\n", name, name, name)
	w.print("\t.reg .b32 \t%%r<2>;\n\t.reg .b64 \t%%rd<2>;\n\n\tld.param.u64 \t%%rd1, [%s_param_0];\n\tmov.u32 \t%%r1, %%tid.x;\n", name)
	for _, f := range callees {
		w.call(f)
	}
	w.print("\tst.global.u32 \t[%%rd1], %%r1;\n\tret;\n\n}\n")
}
