package kernels

import (
	"fmt"
	"strings"
)

// maxCost limits the statements that one call of a function executes.
const maxCost = 1500

// block writes some statements. Variables that they declare end with it.
func (g *generator) block(n int) {
	scope := len(g.vars)
	for range n {
		g.cost += g.loops
		g.statement()
	}
	if g.indent > 1 {
		g.vars = g.vars[:scope]
	}
}

func (g *generator) statement() {
	top := g.diverge == 0 && g.fn.barrier
	switch n := g.IntN(100); {
	case n < 22:
		t := pick(g, scalars)
		g.declare(variable{t: t}, g.expr(t, 3))
	case n < 27:
		r := pick(g, g.records)
		g.declare(variable{of: r}, g.structValue(r))
	case n < 32:
		g.array()
	case n < 45:
		if v, t := g.lvalue(); v != "" {
			g.line("%s = %s;", v, g.expr(t, 3))
		}
	case n < 55:
		t := pick(g, scalars)
		g.line("put(out, %d, %s);", g.offset(t), g.expr(t, 3))
	case n < 63 && g.indent < 5:
		g.line("if (%s) {", g.condition())
		g.nested(1 + g.IntN(3))
		if g.chance(50) {
			g.line("} else {")
			g.nested(1 + g.IntN(3))
		}
		g.line("}")
	case n < 69 && g.indent < 4 && g.loops < 30:
		g.loop()
	case n < 73 && g.indent < 4:
		g.switch_()
	case n < 76:
		if g.diverge > 0 && g.indent > 2 && (g.inLoop || !g.fn.barrier) {
			if g.inLoop {
				g.line("if (%s) %s;", g.condition(), pick(g, []string{"break", "continue"}))
			} else {
				g.line("if (%s) return%s;", g.condition(), g.returned())
			}
		}
	case n < 90:
		g.call()
	case n < 94:
		g.atomic()
	case top:
		g.together()
	}
}

// nested writes a block that threads may execute apart.
func (g *generator) nested(n int) {
	g.indent++
	g.diverge++
	g.block(n)
	g.diverge--
	g.indent--
}

func (g *generator) array() {
	v := variable{t: pick(g, scalars), length: 8}
	var list []string
	for range g.IntN(v.length + 1) {
		list = append(list, g.expr(v.t, 1))
	}
	g.declare(v, "{"+strings.Join(list, ", ")+"}")
}

// declare declares a variable under a new name, which it returns.
func (g *generator) declare(v variable, value string) string {
	v.name = g.fresh()
	switch {
	case v.of != nil:
		g.line("%s %s = %s;", v.of.name, v.name, value)
	case v.length > 0:
		g.line("%s %s[%d] = %s;", v.t.name, v.name, v.length, value)
	default:
		g.line("%s %s = %s;", v.t.name, v.name, value)
	}
	g.vars = append(g.vars, v)
	return v.name
}

func (g *generator) loop() {
	name := g.fresh()
	count := 1 + g.IntN(6)
	was, inLoop, scope := g.loops, g.inLoop, len(g.vars)
	g.loops *= count
	g.inLoop = true
	g.vars = append(g.vars, variable{name: name, t: i32Type, fixed: true})
	limit := fmt.Sprint(count)
	if g.chance(50) {
		limit = fmt.Sprintf("(i32)((u32)%s %% %du)", g.expr(u32Type, 1), count+1)
	}
	g.line("for (i32 %s = 0; %s < %s; %s++) {", name, name, limit, name)
	g.nested(1 + g.IntN(4))
	g.line("}")
	g.loops, g.inLoop, g.vars = was, inLoop, g.vars[:scope]
}

func (g *generator) switch_() {
	inLoop := g.inLoop
	g.inLoop = false // break would leave the switch
	n := 2 + g.IntN(6)
	g.line("switch (%s %% %du) {", g.expr(u32Type, 2), n)
	for i := range n {
		if g.chance(15) {
			continue
		}
		if i == n-1 && g.chance(50) {
			g.line("default: {")
		} else {
			g.line("case %d: {", i)
		}
		g.nested(1 + g.IntN(2))
		if g.chance(75) {
			g.line("} break;")
		} else {
			g.line("}")
		}
	}
	g.line("}")
	g.inLoop = inLoop
}

// lvalue returns something that can be assigned, or "" if it finds none.
func (g *generator) lvalue() (text string, t scalar) {
	for range 5 {
		if len(g.vars) == 0 {
			break
		}
		if v := pick(g, g.vars); !v.fixed {
			return g.element(v)
		}
	}
	return "", t
}

// element returns a scalar in a variable.
func (g *generator) element(v variable) (string, scalar) {
	switch {
	case v.of != nil:
		f := pick(g, v.of.fields)
		f.name = v.name + "." + f.name
		return g.element(f)
	case v.length > 0:
		return fmt.Sprintf("%s[%s]", v.name, g.index(v.length)), v.t
	}
	return v.name, v.t
}

// index returns an index into an array, whose length is a power of two.
func (g *generator) index(length int) string {
	if g.chance(40) {
		return fmt.Sprint(g.IntN(length))
	}
	return fmt.Sprintf("%s & %d", g.expr(u32Type, 1), length-1)
}

// call writes a call of an earlier function, direct or through the table.
func (g *generator) call() {
	if len(g.funcs) == 0 {
		return
	}
	if g.chance(20) && strings.HasPrefix(g.fn.name, "k") {
		g.line("#ifndef NO_TABLE")
		name := g.fresh()
		g.line("i32 %s = table[%s %% TABLE](out, 2, %s, %s);", name, g.expr(u32Type, 1), g.expr(scalars[0], 1), g.expr(i32Type, 1))
		g.line("put(out, %d, %s);", g.offset(i32Type), name)
		g.line("#endif")
		return
	}
	g.callTo(pick(g, g.funcs), pick(g, []string{"depth - 1", "2", "1"}))
}

// callTo writes a call of a function.
func (g *generator) callTo(f *function, depth string) {
	if f.barrier && (g.diverge > 0 || !g.fn.barrier) || f.cost*g.loops > maxCost || f == g.fn && g.diverge > 0 {
		return
	}
	args := []string{"out", depth}
	for _, p := range f.params[2:] {
		switch {
		case p.of != nil:
			args = append(args, g.structValue(p.of))
		case p.length > 0:
			name := ""
			for _, v := range g.vars {
				if v.length == 8 && v.t == p.t && v.of == nil && !v.fixed {
					name = v.name
				}
			}
			if name == "" {
				name = g.declare(variable{t: p.t, length: 8}, "{"+g.expr(p.t, 1)+"}")
			}
			args = append(args, name)
		default:
			args = append(args, g.expr(p.t, 2))
		}
	}
	text := fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))
	g.cost += f.cost * g.loops
	switch {
	case f.record != nil:
		g.declare(variable{of: f.record}, text)
	case f.result != nil:
		g.declare(variable{t: *f.result}, text)
	default:
		g.line("%s;", text)
	}
}

// atomic writes an operation whose effect does not depend on the order of threads.
func (g *generator) atomic() {
	// Each element has one operation, as others would not commute.
	ops := []string{"atomicAdd", "atomicMax", "atomicMin", "atomicXor", "atomicOr", "atomicAnd"}
	i := g.IntN(16)
	if g.chance(25) {
		g.line("atomicAdd(&wide[%d], (unsigned long long)%s);", 1+g.IntN(7), g.expr(scalars[7], 1))
		return
	}
	g.line("%s(&sums[%d], %s);", ops[i%len(ops)], i, g.expr(u32Type, 2))
}

// together writes an exchange between the threads of a block or a warp.
func (g *generator) together() {
	t := pick(g, scalars)
	name := g.fresh()
	switch g.IntN(5) {
	case 0, 1:
		g.line("SHARED(%s, s%s, 128);", t.name, name)
		g.line("s%s[threadIdx.x] = %s;", name, g.expr(t, 2))
		g.line("__syncthreads();")
		g.line("%s %s = s%s[(threadIdx.x * %du + %d) %% blockDim.x];", t.name, name, name, 1+g.IntN(7), g.IntN(50))
		g.line("__syncthreads();")
	case 2:
		t = u32Type
		g.line("u32 %s = ballot(%s);", name, g.condition())
	case 3:
		t = u32Type
		g.line("u32 %s = exchange(%s, %d);", name, g.expr(t, 2), 1+g.IntN(15))
	case 4:
		t = u32Type
		g.line("dynamic[threadIdx.x] = %s;", g.expr(t, 2))
		g.line("u32 %s = __syncthreads_or(%s) + dynamic[blockDim.x - 1 - threadIdx.x];", name, g.condition())
		g.line("__syncthreads();")
	}
	g.vars = append(g.vars, variable{name: name, t: t})
}
