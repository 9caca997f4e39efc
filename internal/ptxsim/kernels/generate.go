// Package kernels generates programs in C++ that a GPU and a CPU run with the same
// results, to the bit. They validate package ptxsim and the optimiser.
package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program is a generated program: units that are compiled apart, with kernels
// `extern "C" void k0(u8 *out, const u32 *in, S s, int n)`, k1 and so on.
type Program struct {
	Units   []string
	Kernels int
	Threads int      // in a block; there are two blocks
	Globals []string // variables with linkage
}

const (
	blocks = 2   // of every launch
	slab   = 256 // bytes of out per thread
)

// A scalar type of the generated programs.
type scalar struct {
	name  string
	bits  int
	class byte // i, u, f
}

var scalars = []scalar{
	{"i8", 8, 'i'}, {"u8", 8, 'u'}, {"i16", 16, 'i'}, {"u16", 16, 'u'}, {"i32", 32, 'i'}, {"u32", 32, 'u'},
	{"i64", 64, 'i'}, {"u64", 64, 'u'}, {"f32", 32, 'f'}, {"f64", 64, 'f'},
}

var i32Type, u32Type, u8Type = scalars[4], scalars[5], scalars[1]

// variable is a scalar, array or struct that code can name.
type variable struct {
	name   string
	t      scalar
	length int     // of an array; 0 for a scalar
	of     *record // of a struct
	fixed  bool    // cannot be assigned
}

// record is a struct type.
type record struct {
	name   string
	fields []variable
}

// function is a device function.
type function struct {
	name    string
	result  *scalar // nil with record nil: void
	record  *record
	params  []variable
	unit    int
	cost    int
	barrier bool // all threads must call it together
	pointer bool // its address is in the table
}

type generator struct {
	*rand.Rand
	records []*record
	funcs   []*function
	globals []variable
	consts  []variable
	units   []*strings.Builder
	header  strings.Builder

	// The function being written.
	out     *strings.Builder
	vars    []variable
	indent  int
	names   int
	fn      *function
	loops   int // product of the loop counts around
	cost    int
	inLoop  bool
	diverge int // depth of statements that threads may execute apart
}

// Generate returns the program of a seed.
func Generate(seed uint64) Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	n := 1 + g.IntN(3)
	for range n {
		g.units = append(g.units, &strings.Builder{})
	}
	for i := range 2 + g.IntN(3) {
		g.struct_(i)
	}
	g.variables()
	for i := range 7 + g.IntN(8) {
		g.function(i)
	}
	g.table()
	p := Program{Kernels: 2 + g.IntN(3), Threads: []int{32, 64, 96, 33, 48}[g.IntN(5)]}
	for i := range p.Kernels {
		g.kernel(i)
	}
	for i, u := range g.units {
		p.Units = append(p.Units, g.header.String()+fmt.Sprintf("#define UNIT %d\n", i)+u.String())
	}
	for _, v := range g.globals {
		p.Globals = append(p.Globals, v.name)
	}
	return p
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(g.out, format, args...)
	g.out.WriteByte('\n')
}

func (g *generator) fresh() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

func (g *generator) struct_(i int) {
	r := &record{name: fmt.Sprintf("S%d", i)}
	align := ""
	if g.chance(20) {
		align = "alignas(16) "
	}
	fmt.Fprintf(&g.header, "struct %s%s {", align, r.name)
	for k := range 1 + g.IntN(6) {
		f := variable{name: fmt.Sprintf("f%d", k), t: pick(g, scalars)}
		dims := ""
		if g.chance(20) {
			f.length = 2 << g.IntN(3)
			dims = fmt.Sprintf("[%d]", f.length)
		}
		fmt.Fprintf(&g.header, " %s %s%s;", f.t.name, f.name, dims)
		r.fields = append(r.fields, f)
	}
	g.header.WriteString(" };\n")
	g.records = append(g.records, r)
}

// variables declares the global variables of all units.
func (g *generator) variables() {
	for i := range 3 + g.IntN(3) {
		g.globals = append(g.globals, g.variable("GLOBAL", fmt.Sprintf("g%d", i))) // threads would race
	}
	for i := range 1 + g.IntN(3) {
		g.consts = append(g.consts, g.variable("CONSTANT", fmt.Sprintf("c%d", i)))
	}
	g.header.WriteString("EXTERN GLOBAL u32 sums[16];\nEXTERN GLOBAL u64 wide[8];\n")
	g.units[0].WriteString("GLOBAL u32 sums[16];\nGLOBAL u64 wide[8] = {~0ull, 7, 1};\n")
	for i := range g.units {
		fmt.Fprintf(g.units[i], "static GLOBAL i32 hidden[4] = {%d, -%d, 3};\n", i+1, i+7)
		fmt.Fprintf(g.units[i], "static CONSTANT const char *const words[2] = {\"unit %d\", \"x\"};\n", i)
	}
	g.globals = append(g.globals, variable{name: "sums"}, variable{name: "wide"})
}

// variable declares a variable that all units read, and defines it in one of them.
func (g *generator) variable(space, name string) variable {
	v := variable{name: name, t: pick(g, scalars), length: 1 << g.IntN(4), fixed: true}
	unit := g.IntN(len(g.units))
	fmt.Fprintf(&g.header, "EXTERN %s %s %s[%d];\n", space, v.t.name, v.name, v.length)
	fmt.Fprintf(g.units[unit], "%s %s %s[%d]%s;\n", space, v.t.name, v.name, v.length, g.initial(v))
	return v
}

func (g *generator) initial(v variable) string {
	var list []string
	for range g.IntN(v.length + 1) {
		list = append(list, g.literal(v.t))
	}
	return " = {" + strings.Join(list, ", ") + "}"
}

// literal returns a constant of a type; edge values are frequent.
func (g *generator) literal(t scalar) string {
	if t.class == 'f' {
		list := []string{"0.0", "1.0", "-1.5", "0.1", "3.0", "1e10", "-7.25", "1e-40", "65504.0", "16777217.0"}
		v := pick(g, list)
		if t.bits == 32 {
			return v + "f" // (f32)0.1 would be rounded at run time under -frounding-math
		}
		return v
	}
	v := uint64(0)
	switch g.IntN(4) {
	case 0:
		v = 1<<(t.bits-1) - uint64(g.IntN(3))
	case 1:
		v = g.Uint64() >> g.IntN(64)
	case 2:
		v = -uint64(g.IntN(20))
	default:
		v = uint64(g.IntN(40))
	}
	return fmt.Sprintf("(%s)0x%xull", t.name, v&(1<<(t.bits-1)|(1<<(t.bits-1)-1)))
}

// signature returns the declaration of a function without its end.
func (f *function) signature() string {
	result := "void"
	if f.record != nil {
		result = f.record.name
	} else if f.result != nil {
		result = f.result.name
	}
	var params []string
	for _, p := range f.params {
		switch {
		case p.of != nil:
			params = append(params, p.of.name+" "+p.name)
		case p.length > 0:
			params = append(params, p.t.name+" *"+p.name)
		default:
			params = append(params, p.t.name+" "+p.name)
		}
	}
	return fmt.Sprintf("FUNCTION %s %s(%s)", result, f.name, strings.Join(params, ", "))
}

// function writes one device function. It calls only earlier ones, or itself with a
// smaller depth.
func (g *generator) function(i int) {
	f := &function{name: fmt.Sprintf("fn%d", i), unit: g.IntN(len(g.units)), barrier: g.chance(15)}
	switch g.IntN(5) {
	case 0:
		f.record = pick(g, g.records)
	case 1:
	default:
		t := pick(g, scalars)
		f.result = &t
	}
	f.params = []variable{{name: "out", t: u8Type, fixed: true}, {name: "depth", t: i32Type, fixed: true}}
	f.params[0].length = 256
	for k := range g.IntN(5) {
		p := variable{name: fmt.Sprintf("a%d", k), t: pick(g, scalars)}
		switch g.IntN(6) {
		case 0:
			p.of = pick(g, g.records)
		case 1:
			p.length = 8
		}
		f.params = append(f.params, p)
	}
	f.pointer = !f.barrier && g.chance(25)
	if f.pointer {
		f.record, f.result = nil, &scalars[4]
		f.params = append(f.params[:2:2], variable{name: "a0", t: scalars[0]}, variable{name: "a1", t: scalars[4]})
	}
	recursive := !f.barrier && g.chance(20)
	g.begin(f)
	fmt.Fprintf(&g.header, "%s;\n", f.signature())
	g.line("%s", f.signature())
	g.line("{")
	g.indent++
	if recursive {
		g.line("if (depth <= 0) return%s;", g.returned())
	}
	g.block(3 + g.IntN(6))
	if recursive {
		g.funcs = append(g.funcs, f)
		g.callTo(f, "depth - 1")
		g.funcs = g.funcs[:len(g.funcs)-1]
		g.cost *= 4
	}
	if f.result != nil || f.record != nil {
		g.line("return%s;", g.returned())
	}
	g.indent--
	g.line("}")
	f.cost = g.cost
	g.funcs = append(g.funcs, f)
}

// begin starts writing a function.
func (g *generator) begin(f *function) {
	g.out, g.fn, g.indent, g.names, g.cost, g.loops, g.inLoop, g.diverge = g.units[f.unit], f, 0, 0, 1, 1, false, 0
	g.vars = append([]variable{}, f.params[2:]...)
	for i := range g.vars {
		g.vars[i].fixed = false
	}
}

// returned is the operand of a return statement.
func (g *generator) returned() string {
	switch {
	case g.fn.record != nil:
		return " " + g.structValue(g.fn.record)
	case g.fn.result != nil:
		return " " + g.expr(*g.fn.result, 2)
	}
	return ""
}

// structValue is an expression for a struct.
func (g *generator) structValue(r *record) string {
	for _, v := range g.vars {
		if v.of == r && g.chance(60) {
			return v.name
		}
	}
	var fields []string
	for _, f := range r.fields {
		if f.length == 0 {
			fields = append(fields, g.expr(f.t, 1))
			continue
		}
		var list []string
		for range f.length {
			list = append(list, g.expr(f.t, 0))
		}
		fields = append(fields, "{"+strings.Join(list, ", ")+"}")
	}
	return r.name + "{" + strings.Join(fields, ", ") + "}"
}

// table declares the table of functions, which holds their addresses.
func (g *generator) table() {
	var names []string
	for _, f := range g.funcs {
		if f.pointer {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		names = []string{"0"}
	}
	g.header.WriteString("typedef i32 (*Fn)(u8 *, i32, i8, i32);\n")
	fmt.Fprintf(&g.header, "#define TABLE %d\nEXTERN GLOBAL Fn table[%d];\n", len(names), len(names))
	u := g.units[len(g.units)-1]
	fmt.Fprintf(u, "GLOBAL Fn table[%d] = {%s};\n", len(names), strings.Join(names, ", "))
	if names[0] == "0" {
		g.header.WriteString("#define NO_TABLE\n")
	}
}

// kernel writes a kernel.
func (g *generator) kernel(i int) {
	r := g.records[0]
	f := &function{name: fmt.Sprintf("k%d", i), unit: 0, barrier: true, params: []variable{
		{}, {}, {name: "s", of: r}, {name: "n", t: i32Type}}}
	g.begin(f)
	g.line("extern \"C\" KERNEL void %s(u8 *out, const u32 *in, %s s, i32 n)", f.name, r.name)
	g.line("{")
	g.indent++
	g.line("const i32 t = threadIdx.x, depth = 3;")
	g.line("out += (blockIdx.x * blockDim.x + t) * 256;")
	g.line("u32 x = in[t %% 16];")
	g.vars = append(g.vars, variable{name: "t", t: i32Type, fixed: true}, variable{name: "x", t: u32Type})
	g.block(6 + g.IntN(8))
	// Everything that is left is visible.
	for _, v := range g.vars {
		if v.of == nil && v.length == 0 && g.chance(70) {
			g.line("put(out, %d, %s);", g.offset(v.t), v.name)
		}
	}
	g.indent--
	g.line("}")
}

// offset returns an offset in the slab of a thread for a value.
func (g *generator) offset(t scalar) int { return g.IntN(256*8/t.bits) * t.bits / 8 }
