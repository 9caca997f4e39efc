package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A local is a name inside a function.
type local struct {
	kind  string // "b32", "b64", "f32", "pred", "b16", "v2", "v4", "label", "param", "proto", or a state space
	count int    // of a register range, -1 for one name
	typ   typ    // of objects
	proto *proto // of .callprototype
	out   bool   // a label after the current code
}

// A function is the state of the generator inside one function body.
type function struct {
	scopes []map[string]*local // register ranges are stored under base + "<"
	body   *[]*node            // statements are added here
	depth  int
	self   *symbol
}

func (g *generator) emit(format string, args ...any) {
	*g.body = append(*g.body, leaf(format, args...))
}

// block runs fill in its own scope.
func (g *generator) block(open string, fill func()) {
	outer := g.body
	n := &node{open: open, close: "}"}
	g.body = &n.kids
	g.scopes = append(g.scopes, map[string]*local{})
	g.depth++
	fill()
	g.depth--
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.body = outer
	*g.body = append(*g.body, n)
}

// digits splits a name before the digits at its end, as ptxas does to find the
// range of a register.
func digits(name string) (base string, number int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	number, err := strconv.Atoi(name[i:])
	return name[:i], number, err == nil && (name[i] != '0' || len(name) == i+1)
}

// lookup returns the meaning of a name here: a local, a module-scope symbol, or
// nothing.
func (g *generator) lookup(name string) (*local, *symbol) {
	base, number, tail := digits(name)
	for _, scope := range slices.Backward(g.scopes) {
		if l := scope[name]; l != nil {
			return l, nil
		}
		if l := scope[base+"<"]; tail && l != nil && number < l.count {
			return l, nil
		}
	}
	return nil, g.known[name]
}

// free reports whether the innermost scope can declare a name.
func (g *generator) free(name string, count int) bool {
	scope := g.scopes[len(g.scopes)-1]
	if count < 0 {
		base, number, tail := digits(name)
		l := scope[base+"<"]
		return scope[name] == nil && !(tail && l != nil && number < l.count)
	}
	if scope[name+"<"] != nil {
		return false
	}
	for i := range count {
		if scope[name+strconv.Itoa(i)] != nil {
			return false
		}
	}
	return true
}

// newName chooses a name for a local, usually one of the pool.
func (g *generator) newName() string {
	if g.in100(85) {
		for range 3 {
			if name := pick(g, g.pool); g.free(name, -1) && !g.crashes(name) {
				return name
			}
		}
	}
	return g.fresh("l")
}

// crashes reports whether ptxas may fail on a local of this name: it confuses it,
// often silently, with the module's declaration of that name before or after the
// function. ptxlink cannot be compared with that.
func (g *generator) crashes(name string) bool { return g.planned[name] }

func (g *generator) declareLocal(name string, l *local) {
	if l.count >= 0 {
		name += "<"
	}
	g.scopes[len(g.scopes)-1][name] = l
}

// locals returns the locals of a kind that can be named here, as operands.
func (g *generator) locals(kind string) (list []string) {
	for i, scope := range g.scopes {
		for _, key := range sortedKeys(scope) {
			l := scope[key]
			if l.kind != kind {
				continue
			}
			names := []string{key}
			if base, ok := strings.CutSuffix(key, "<"); ok {
				names = nil
				for range min(3, l.count) {
					names = append(names, base+strconv.Itoa(g.IntN(l.count)))
				}
			}
			for _, name := range names {
				if found, _ := g.lookup(name); found == l && (i > 0 || len(list) < 8) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// reg picks a register of a kind; there is always one.
func (g *generator) reg(kind string) string { return pick(g, g.locals(kind)) }

// regs picks different registers, separated by commas.
func (g *generator) regs(kind string, n int) string {
	list := g.locals(kind)
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b string) int { // those of the pool first
		return strings.Count(b, "%z") - strings.Count(a, "%z")
	})
	if g.in100(70) {
		slices.Reverse(list)
	}
	var out []string
	for _, name := range list {
		if !slices.Contains(out, name) && len(out) < n {
			out = append(out, name)
		}
	}
	for len(out) < n {
		out = append(out, out[0])
	}
	g.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return strings.Join(out, ", ")
}

// value returns a 32-bit source operand.
func (g *generator) value() string {
	if g.in100(25) {
		return pick(g, []string{"-5", "17", "0x1F", "-1", "WARP_SZ", "(3+4)", "010"})
	}
	return g.reg("b32")
}

// address returns a generic or global address in brackets.
func (g *generator) address() string {
	return fmt.Sprintf("[%s%s]", g.reg("b64"), pick(g, []string{"", "", "+4", "+16", " + 32", "+-8", "+0x40"}))
}

func (g *generator) makeFunction(s *symbol) *node {
	text, params := g.headerNames(s)
	f := &node{close: "}"}
	open := g.linkageWord(s) + text
	if s.kind == "entry" {
		open += pick(g, []string{"", "", "", " .maxntid 128, 1, 1", " .reqntid 64", " .minnctapersm 2 .maxntid 256", " .maxnreg 200", " .pragma \"nounroll\";"})
	}
	f.open = open + " {"
	g.function = function{scopes: []map[string]*local{{}, {}}, body: &f.kids, self: s}
	// We treat parameters as a scope around the body, though ptxas has one scope
	// for both: a local may not have the name of a parameter.
	for _, p := range params {
		g.scopes[1][p.name] = &local{kind: "fparam", count: -1, typ: p.typ}
	}
	results := 0
	if s.proto.result != nil {
		results = 1
	}
	g.emit(".reg .b32 %%zr<6>;")
	g.emit(".reg .b64 %%zd<4>;")
	g.emit(".reg .pred %%zp<3>;")
	g.emit(".reg .f32 %%zf<4>;")
	g.emit(".reg .b16 %%zh<4>;")
	for base, l := range map[string]*local{"%zr": {kind: "b32", count: 6}, "%zd": {kind: "b64", count: 4}, "%zp": {kind: "pred", count: 3}, "%zf": {kind: "f32", count: 4}, "%zh": {kind: "b16", count: 4}} {
		g.scopes[0][base+"<"] = l
	}
	for i := range 6 {
		g.emit("mov.u32 %%zr%d, %%clock;", i)
	}
	for i := range 4 {
		g.emit("mov.u64 %%zd%d, %%clock64;", i)
		g.emit("cvt.rn.f32.u32 %%zf%d, %%zr%d;", i, i)
		g.emit("cvt.u16.u32 %%zh%d, %%zr%d;", i, i)
	}
	for i := range 3 {
		g.emit("setp.ne.u32 %%zp%d, %%zr%d, %d;", i, i, 100+i)
	}
	for range 2 + g.IntN(4) {
		g.declareRegisters()
	}
	for range 6 + g.IntN(14) {
		g.statement()
	}
	for _, p := range params[results:] {
		g.readParam(p)
	}
	for range g.IntN(6) {
		g.statement()
	}
	if results == 1 {
		g.writeResult(params[0])
	}
	if s.proto.noreturn {
		g.emit("exit;")
	} else {
		g.emit("ret;")
	}
	return f
}

// readParam loads a parameter of the function and stores it.
func (g *generator) readParam(p param) {
	if l, _ := g.lookup(p.name); l == nil || l.kind != "fparam" {
		return // hidden by another declaration
	}
	offset := ""
	if p.unsized || p.dims != nil {
		if n := p.size() / 4; n > 1 && !p.unsized && g.in100(60) {
			offset = fmt.Sprintf("+%d", 4*g.IntN(n))
		}
		if !p.unsized && p.size()%8 == 0 && p.align >= 8 && g.in100(30) {
			g.emit("ld.param.v2.u32 {%s}, [%s];", g.regs("b32", 2), p.name)
		} else {
			g.emit("ld.param.u32 %s, [%s%s];", g.reg("b32"), p.name, offset)
		}
		return
	}
	switch r, d, f := g.reg("b32"), g.reg("b64"), g.reg("f32"); p.word {
	case ".f32":
		g.emit("ld.param.f32 %s, [%s];", f, p.name)
		g.emit("st.volatile.global.f32 %s, %s;", g.address(), f)
	case ".b32", ".u32", ".s32":
		g.emit("ld.param%s %s, [%s];", p.word, r, p.name)
		g.emit("st.volatile.global.u32 %s, %s;", g.address(), r)
	case ".u8", ".s16":
		g.emit("ld.param%s %s, [%s];", p.word, r, p.name)
	default:
		g.emit("ld.param.b64 %s, [%s];", d, p.name)
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	}
}

func (g *generator) writeResult(p param) {
	if l, _ := g.lookup(p.name); l == nil || l.kind != "fparam" {
		return
	}
	switch {
	case p.dims != nil:
		for i := range p.size() / 4 {
			g.emit("st.param.b32 [%s+%d], %s;", p.name, 4*i, g.reg("b32"))
		}
	case p.word == ".f32":
		g.emit("st.param.f32 [%s], %s;", p.name, g.reg("f32"))
	case p.size() == 4:
		g.emit("st.param%s [%s], %s;", p.word, p.name, g.reg("b32"))
	default:
		g.emit("st.param.b64 [%s], %s;", p.name, g.reg("b64"))
	}
}

var spellings = map[string][]string{
	"b32": {".b32", ".u32", ".s32"}, "b64": {".b64", ".u64", ".s64"}, "f32": {".f32"}, "pred": {".pred"}, "b16": {".b16", ".u16", ".s16"},
}

// declareRegisters declares registers and gives each a value unknown to ptxas.
func (g *generator) declareRegisters() {
	kind := pick(g, []string{"b32", "b32", "b32", "b64", "f32", "pred", "b16"})
	word := pick(g, spellings[kind])
	if g.in100(8) { // a vector
		l := &local{kind: pick(g, []string{"v2", "v4"}), count: -1}
		name := g.newName()
		g.emit(".reg .%s .b32 %s;", l.kind, name)
		g.declareLocal(name, l)
		for i := range int(l.kind[1] - '0') {
			g.emit("mov.u32 %s.%c, %%clock;", name, "xyzw"[i])
		}
		return
	}
	var printed []string
	var names []string
	for range 1 + g.IntN(3) {
		if g.in100(35) {
			base, count := pick(g, g.bases), pick(g, []int{2, 4, 6, 10, 16})
			if !g.free(base, count) || slices.ContainsFunc(sortedKeys(g.planned), func(name string) bool {
				tail, number, ok := digits(name)
				return ok && tail == base && number < count && g.crashes(name)
			}) {
				continue
			}
			printed = append(printed, fmt.Sprintf("%s<%d>", base, count))
			if _, _, digit := digits(base); digit {
				g.declareLocal(base, &local{kind: "nothing that can be named", count: 0})
				continue
			}
			g.declareLocal(base, &local{kind: kind, count: count})
			for _, i := range []int{0, 1, 5, 9, count - 1} {
				if i < count {
					names = append(names, base+strconv.Itoa(i))
				}
			}
			continue
		}
		name := g.newName()
		printed = append(printed, name)
		names = append(names, name)
		g.declareLocal(name, &local{kind: kind, count: -1})
	}
	if printed == nil {
		return
	}
	g.emit(".reg %s %s;", word, strings.Join(printed, ", "))
	for _, name := range names {
		if l, _ := g.lookup(name); l == nil || l.kind != kind {
			continue
		}
		switch kind {
		case "b32":
			g.emit("mov.u32 %s, %%clock;", name)
		case "b64":
			g.emit("mov.u64 %s, %%clock64;", name)
		case "f32":
			g.emit("cvt.rn.f32.u32 %s, %s;", name, g.reg("b32"))
		case "pred":
			g.emit("setp.ne.u32 %s, %s, %d;", name, g.reg("b32"), g.IntN(1000))
		case "b16":
			g.emit("cvt.u16.u32 %s, %s;", name, g.reg("b32"))
		}
	}
}

// guard returns an optional predicate.
func (g *generator) guard() string {
	if g.in100(80) {
		return ""
	}
	return pick(g, []string{"@", "@!", "@ ", "@! "}) + g.reg("pred") + " "
}

// statement adds one statement, or a few related ones.
func (g *generator) statement() {
	type choice struct {
		weight int
		f      func()
	}
	choices := []choice{
		{3, g.arithmetic}, {3, g.vectors}, {2, g.predicates}, {4, g.memory}, {6, g.moduleVariable}, {5, g.call}, {2, g.indirectCall},
		{3, g.branch}, {1, g.table}, {3, g.nested}, {2, g.localObject}, {1, g.texture}, {1, g.barrier}, {1, g.warp}, {1, g.declareRegisters},
		{1, g.systemCall}, {1, g.odd},
	}
	if g.depth > 2 {
		choices = choices[:5]
	}
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := g.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			c.f()
			return
		}
	}
}

func (g *generator) arithmetic() {
	r := g.reg("b32")
	switch g.IntN(9) {
	case 0:
		g.emit("%sadd.u32 %s, %s, %s;", g.guard(), r, g.reg("b32"), g.value())
	case 1:
		g.emit("%smad.lo.s32 %s, %s, %s, %s;", g.guard(), r, g.reg("b32"), g.value(), g.reg("b32"))
	case 2:
		g.emit("xor.b32 %s, %s, %s;", r, g.reg("b32"), g.value())
	case 3:
		g.emit("%sadd.s64 %s, %s, -%d;", g.guard(), g.reg("b64"), g.reg("b64"), g.IntN(50))
	case 4:
		g.emit("fma.rn.f32 %s, %s, %s, 0f3F800000;", g.reg("f32"), g.reg("f32"), g.reg("f32"))
	case 5:
		g.emit("vadd.u32.u32.u32 %s, %s.b%d, %s.h%d;", r, g.reg("b32"), g.IntN(4), g.reg("b32"), g.IntN(2))
	case 6:
		g.emit("mov.u32 %s, %%%s.%c;", r, pick(g, []string{"tid", "ctaid", "ntid"}), "xyz"[g.IntN(3)])
	case 7:
		g.emit("lop3.b32 %s, %s, %s, %s, 0x96;", r, g.reg("b32"), g.reg("b32"), g.reg("b32"))
	case 8:
		g.emit("sub.u32 %s, %s, %s;", r, g.reg("b32"), g.reg("b32"))
	}
	g.emit("st.volatile.global.u32 %s, %s;", g.address(), r)
}

func (g *generator) vectors() {
	switch g.IntN(8) {
	case 0:
		g.emit("%smov.b64 {%s}, %s;", g.guard(), g.regs("b32", 2), g.reg("b64"))
	case 1:
		d := g.reg("b64")
		g.emit("mov.b64 %s, {%s};", d, g.regs("b32", 2))
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	case 2:
		g.emit("ld.volatile.global.v2.u32 {%s}, %s;", g.regs("b32", 2), g.address())
	case 3:
		g.emit("st.volatile.global.v4.b32 %s, {%s};", g.address(), g.regs("b32", 4))
	case 4:
		g.emit("ld.volatile.v4.f32 {%s}, %s;", g.regs("f32", 4), g.address())
	case 5:
		g.emit("mov.b32 {%s}, %s;", g.regs("b16", 2), g.reg("b32"))
		g.emit("st.volatile.global.v2.b16 %s, {%s};", g.address(), g.regs("b16", 2))
	case 6:
		for _, kind := range []string{"v2", "v4"} {
			if list := g.locals(kind); len(list) > 0 {
				v := pick(g, list)
				g.emit("st.volatile.global.%s.u32 %s, %s;", kind, g.address(), v)
				g.emit("add.u32 %s.x, %s.y, %s;", v, v, g.value())
				g.emit("%sld.volatile.global.%s.u32 %s, %s;", g.guard(), kind, v, g.address())
				g.emit("st.volatile.global.u32 %s, %s.%c;", g.address(), v, "xyrg"[g.IntN(4)])
				return
			}
		}
	case 7:
		d := g.reg("b64")
		g.emit("mov.b64 %s, {%s};", d, g.regs("b16", 4))
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	}
}

func (g *generator) predicates() {
	switch g.IntN(4) {
	case 0:
		p := strings.SplitN(g.regs("pred", 2), ", ", 2)
		g.emit("setp.lt.u32 %s|%s, %s, %s;", p[0], p[1], g.reg("b32"), g.value())
	case 1:
		g.emit("setp.ge.and.s32 %s, %s, %s, %s%s;", g.reg("pred"), g.reg("b32"), g.value(), pick(g, []string{"", "!"}), g.reg("pred"))
	case 2:
		r := g.reg("b32")
		g.emit("selp.b32 %s, %s, %s, %s;", r, g.value(), g.reg("b32"), g.reg("pred"))
		g.emit("@!%s st.volatile.global.u32 %s, %s;", g.reg("pred"), g.address(), r)
	case 3:
		g.emit("or.pred %s, %s, %s;", g.reg("pred"), g.reg("pred"), g.reg("pred"))
	}
}

func (g *generator) memory() {
	switch g.IntN(9) {
	case 0, 1:
		g.emit("%sld.volatile.global.u32 %s, %s;", g.guard(), g.reg("b32"), g.address())
	case 2:
		g.emit("%sst.volatile.global.u32 %s, %s;", g.guard(), g.address(), g.value())
	case 3:
		// Not .add: if all lanes take part, ptxas adds up their values first.
		g.emit("%satom.global.inc.u32 %s, %s, %s;", g.guard(), g.reg("b32"), g.address(), g.value())
	case 4:
		g.emit("red.global.dec.u32 %s, %s;", g.address(), g.reg("b32"))
	case 5:
		g.emit("atom.cas.b32 %s, %s, %s, %s;", g.reg("b32"), g.address(), g.reg("b32"), g.value())
	case 6:
		g.emit("ld.volatile.u64 %s, %s;", g.reg("b64"), g.address())
	case 7:
		g.emit("st.volatile.f32 %s, %s;", g.address(), g.reg("f32"))
	case 8:
		g.emit("ld.global.nc.L1::no_allocate.u32 %s, %s;", g.reg("b32"), g.address())
	}
}

// visible returns the module-scope symbols that no local hides.
func (g *generator) visible(keep func(*symbol) bool) (list []*symbol) {
	for _, s := range g.symbols() {
		if _, found := g.lookup(s.name); found == s && keep(s) {
			list = append(list, s)
		}
	}
	return list
}

// loadType returns the register kind and the load type for a 32- or 64-bit
// register.
func loadType(t typ) (kind, word string) {
	switch t.word {
	case ".f32":
		return "f32", ".f32"
	case ".u64", ".b64", ".s64", ".f64":
		return "b64", ".b64"
	case ".b8":
		return "b32", ".u8"
	case ".b16":
		return "b32", ".u16"
	}
	return "b32", t.word
}

func (g *generator) moduleVariable() {
	list := g.visible(func(s *symbol) bool { return s.kind == "var" })
	if len(list) == 0 {
		return
	}
	s := pick(g, list)
	g.useObject(s.name, s.space, s.typ)
}

// useObject reads, writes or takes the address of a variable.
func (g *generator) useObject(name, space string, t typ) {
	if space == "local" {
		t.align = max(t.align, widths[t.word])
	}
	kind, word := loadType(t)
	width := widths[t.word]
	at := name
	if n := t.size() / width; g.in100(60) {
		i := width * g.IntN(max(n, 3))
		at = fmt.Sprintf("%s%s%d", name, pick(g, []string{"+", "+", " + "}), i)
		if g.in100(10) {
			at = fmt.Sprintf("%s+-%d", name, width)
		}
	}
	at = pick(g, []string{"[" + at + "]", "[ " + at + " ]", "[" + at + "]"})
	volatile := pick(g, []string{"", ".volatile", ".volatile"})
	if space == "const" || space == "local" {
		volatile = ""
	}
	switch g.IntN(8) {
	case 0:
		d := g.reg("b64")
		g.emit("mov.u64 %s, %s;", d, name)
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	case 1:
		d := g.reg("b64")
		g.emit("cvta.%s.u64 %s, %s;", space, d, name)
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	case 2, 3:
		if space != "const" {
			g.emit("%sst%s.%s%s %s, %s;", g.guard(), volatile, space, word, at, g.reg(kind))
			return
		}
		fallthrough
	case 4, 5:
		r := g.reg(kind)
		g.emit("%sld%s.%s%s %s, %s;", g.guard(), volatile, space, word, r, at)
		if kind == "b64" {
			g.emit("st.volatile.global.b64 %s, %s;", g.address(), r)
		} else {
			g.emit("st.volatile.global.b32 %s, %s;", g.address(), r)
		}
	case 6:
		if (space == "global" || space == "shared") && width == 4 {
			g.emit("%satom.%s.exch.b32 %s, %s, %s;", g.guard(), space, g.reg("b32"), at, g.value())
		} else if space == "global" {
			g.emit("prefetch.global.L2 %s;", at)
		}
	case 7:
		if space != "const" && space != "local" && t.vec == 0 && t.size() >= 2*width && width < 8 && t.align >= 2*width && kind == "b32" && width == 4 {
			g.emit("ld.volatile.%s.v2.u32 {%s}, [%s];", space, g.regs("b32", 2), name)
		} else if (space == "global" || space == "shared") && width == 4 {
			g.emit("red.%s.inc.u32 %s, %s;", space, at, g.reg("b32"))
		} else {
			d := g.reg("b64")
			g.emit("mov.u64 %s, %s+%d;", d, name, 4*g.IntN(5))
			g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
		}
	}
}

// call calls a function that is declared here.
func (g *generator) call() {
	list := g.visible(func(s *symbol) bool { return s.kind == "func" })
	if len(list) == 0 {
		return
	}
	s := pick(g, list)
	g.callWith(s.name, s.proto, "")
}

// callWith passes arguments in .param objects of a block, or as registers.
// An indirect call names its prototype.
func (g *generator) callWith(target string, p *proto, prototype string) {
	g.block("{", func() {
		object := func(t typ) string {
			name := g.newName()
			// ptxas uses the parameter of the function if it has this name.
			if l := g.scopes[1][name]; name == target || name == prototype || name == g.self.name || l != nil && l.kind == "fparam" {
				name = g.fresh("o")
			}
			if t.word == ".b8" {
				g.emit(".param %s;", t.declare(name))
			} else {
				word := t.word
				if g.in100(40) {
					word = ".b" + word[2:]
				}
				g.emit(".param %s %s;", word, name)
			}
			g.declareLocal(name, &local{kind: "param", count: -1, typ: t})
			return name
		}
		var args []string
		for _, t := range p.params {
			if t.unsized {
				t = typ{word: ".b8", align: t.align, dims: []int{8}}
			}
			if t.word != ".b8" && g.in100(25) { // in a register
				args = append(args, "")
				continue
			}
			args = append(args, object(t))
		}
		result := ""
		if p.result != nil {
			result = object(*p.result)
		}
		if g.in100(15) {
			g.declareRegisters()
		}
		for i, t := range p.params {
			if t.unsized {
				t.dims = []int{8}
			}
			name := args[i]
			if name != "" {
				if l, _ := g.lookup(name); l == nil || l.kind != "param" {
					return
				}
			}
			switch {
			case t.dims != nil:
				for n := range t.size() / 4 {
					g.emit("st.param.b32 [%s+%d], %s;", name, 4*n, g.reg("b32"))
				}
			case name == "":
				switch {
				case t.word == ".f32":
					args[i] = g.reg("f32")
				case t.word == ".f64":
					args[i] = "0d3FF0000000000000"
				case t.size() == 8:
					args[i] = g.reg("b64")
				default:
					args[i] = g.reg("b32")
				}
			case t.word == ".f32":
				g.emit("st.param.f32 [%s], %s;", name, g.reg("f32"))
			case t.size() == 4:
				g.emit("st.param.b32 [%s+0], %s;", name, g.value())
			default:
				g.emit("st.param.b64 [%s], %s;", name, g.reg("b64"))
			}
		}
		// The declarations above may hide the function.
		if l, s := g.lookup(target); prototype == "" && s == nil || prototype != "" && (l == nil || l.kind != "b64") {
			return
		}
		suffix := ""
		if prototype != "" {
			if l, _ := g.lookup(prototype); l == nil || l.proto != p {
				return
			}
			suffix = ", " + prototype
		}
		text := pick(g, []string{"call", "call.uni", "call"}) + " "
		if result != "" {
			text += "(" + result + "), "
		}
		text += target
		if len(args) > 0 || suffix != "" {
			text += ", (" + strings.Join(args, ", ") + ")"
		}
		g.emit("%s%s%s;", g.guard(), text, suffix)
		if result != "" {
			switch t := *p.result; {
			case t.dims != nil:
				g.emit("ld.param.b32 %s, [%s+%d];", g.reg("b32"), result, t.size()-4)
			case t.word == ".f32":
				g.emit("ld.param.f32 %s, [%s];", g.reg("f32"), result)
			case t.size() == 4:
				g.emit("ld.param.b32 %s, [%s];", g.reg("b32"), result)
			default:
				g.emit("ld.param.b64 %s, [%s];", g.reg("b64"), result)
			}
			g.emit("st.volatile.global.v2.u32 %s, {%s};", g.address(), g.regs("b32", 2))
		}
	})
}

func (p *proto) print(name func() string) string {
	text := ".callprototype "
	if p.result != nil {
		text += "(.param " + p.result.declare(name()) + ") "
	}
	text += "_ ("
	for i, t := range p.params {
		if i > 0 {
			text += ", "
		}
		text += ".param " + t.declare(name())
	}
	text += ")"
	if p.noreturn {
		text += " .noreturn"
	}
	return text
}

// indirectCall calls through a register: a function whose address is taken here, or
// whatever the register holds.
func (g *generator) indirectCall() {
	p := g.makeProto()
	list := g.visible(func(s *symbol) bool { return s.kind == "func" })
	d := g.reg("b64")
	if len(list) > 0 && g.in100(70) {
		s := pick(g, list)
		p = s.proto
		g.emit("mov.u64 %s, %s;", d, s.name)
	}
	label := g.newName()
	if label == d || !g.free(label, -1) || g.known[label] != nil { // ptxas would find the symbol, and may crash
		label = g.fresh("p")
	}
	named := func() string {
		if g.in100(50) {
			return "_"
		}
		return pick(g, g.pool)
	}
	seen := map[string]bool{}
	g.declareLocal(label, &local{kind: "proto", count: -1, proto: p})
	g.emit("%s: %s;", label, p.print(func() string {
		name := named()
		for name != "_" && seen[name] {
			name = named()
		}
		seen[name] = true
		return name
	}))
	g.callWith(d, p, label)
}

// branch adds a forward branch or a loop.
func (g *generator) branch() {
	label := g.newName()
	if g.in100(50) { // forward
		// ptxas finds visible names before it finds the label.
		if l, s := g.lookup(label); l != nil || s != nil || label == g.self.name {
			label = g.fresh("L")
		}
		g.scopes[len(g.scopes)-1][label] = &local{kind: "label", count: -1, out: true}
		g.emit("@%s%s %s %s;", pick(g, []string{"", "!"}), g.reg("pred"), pick(g, []string{"bra", "bra.uni"}), label)
		if g.in100(30) {
			g.nestedFill(label)
		} else {
			g.arithmetic()
		}
		if g.in100(30) && g.depth < 3 {
			g.block(label+": {", func() { g.memory() })
		} else {
			g.emit("%s:", label)
		}
		return
	}
	g.declareLocal(label, &local{kind: "label", count: -1})
	g.emit("%s%s:", label, pick(g, []string{"", "", " "}))
	g.memory()
	p := g.reg("pred")
	g.emit("setp.ne.u32 %s, %s, %s;", p, g.reg("b32"), g.value())
	g.emit("@%s bra %s;", p, label)
}

// nestedFill adds a block with a jump to a label after it.
func (g *generator) nestedFill(label string) {
	g.block("{", func() {
		g.arithmetic()
		g.emit("@%s bra %s;", g.reg("pred"), label)
	})
}

// table adds a brx.idx over labels.
func (g *generator) table() {
	targets, a, b := g.fresh("ts"), g.fresh("L"), g.fresh("L")
	for _, name := range []*string{&targets, &a, &b} {
		try := g.newName()
		if l, s := g.lookup(try); l == nil && s == nil && try != g.self.name && g.free(try, -1) {
			*name = try
		}
		g.declareLocal(*name, &local{kind: "label", count: -1})
	}
	r := g.reg("b32")
	g.emit("and.b32 %s, %s, 1;", r, r)
	g.emit("%s: .branchtargets %s, %s;", targets, a, b)
	g.emit("@%s brx.idx %s, %s;", g.reg("pred"), r, targets)
	g.emit("%s:", a)
	g.memory()
	g.emit("%s:", b)
	g.arithmetic()
}

func (g *generator) nested() {
	g.block("{", func() {
		for range 1 + g.IntN(2) {
			g.declareRegisters()
		}
		for range 1 + g.IntN(4) {
			g.statement()
		}
	})
}

// localObject declares an object of the function and uses it.
func (g *generator) localObject() {
	space := pick(g, []string{"shared", "global", "const", "local", "local"})
	t := g.varType()
	t.vec = 0
	name := g.newName()
	text := fmt.Sprintf(".%s %s", space, t.declare(name))
	if (space == "global" || space == "const") && g.in100(70) {
		text += " = " + g.localInitialiser(t)
	}
	g.declareLocal(name, &local{kind: space, count: -1, typ: t})
	g.emit("%s;", text)
	for range 1 + g.IntN(3) {
		if t.size() > 0 {
			g.useObject(name, space, t)
		}
	}
}

// localInitialiser returns a value that names only symbols that no local hides.
func (g *generator) localInitialiser(t typ) string {
	known := g.known
	g.known = map[string]*symbol{}
	for name, s := range known {
		if _, found := g.lookup(name); found == nil && !g.hidden(name) {
			g.known[name] = s
		}
	}
	text := g.initialiser(t, t.dims)
	g.known = known
	return text
}

func (g *generator) hidden(name string) bool {
	known := g.known
	g.known = nil
	l, _ := g.lookup(name)
	g.known = known
	return l != nil
}

func (g *generator) texture() {
	list := g.visible(func(s *symbol) bool { return s.kind == "tex" || s.kind == "surf" })
	if len(list) == 0 {
		return
	}
	s := pick(g, list)
	if s.kind == "tex" {
		switch g.IntN(3) {
		case 0:
			g.emit("tex.1d.v4.f32.s32 {%s}, [%s, {%s}];", g.regs("f32", 4), s.name, g.reg("b32"))
		case 1:
			g.emit("%stex.2d.v4.f32.f32 {%s}, [%s, {%s}];", g.guard(), g.regs("f32", 4), s.name, g.regs("f32", 2))
		case 2:
			g.emit("txq.width.b32 %s, [%s];", g.reg("b32"), s.name)
		}
		g.emit("st.volatile.global.v4.f32 %s, {%s};", g.address(), g.regs("f32", 4))
		return
	}
	switch g.IntN(3) {
	case 0:
		g.emit("suld.b.1d.v2.b32.trap {%s}, [%s, {%s}];", g.regs("b32", 2), s.name, g.reg("b32"))
	case 1:
		g.emit("%ssust.b.2d.b32.trap [%s, {%s}], %s;", g.guard(), s.name, g.regs("b32", 2), g.reg("b32"))
	case 2:
		d := g.reg("b64")
		g.emit("mov.u64 %s, %s;", d, s.name)
		g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
	}
}

func (g *generator) barrier() {
	switch g.IntN(5) {
	case 0:
		g.emit("bar.sync %d;", g.IntN(3))
	case 1:
		g.emit("bar.red.popc.u32 %s, 0, %s%s;", g.reg("b32"), pick(g, []string{"", "!"}), g.reg("pred"))
	case 2:
		g.emit("barrier.sync %s, 64;", g.reg("b32"))
	case 3:
		g.emit("membar.gl;")
	case 4:
		g.emit("%sbar.arrive 1, 64;", g.guard())
	}
}

func (g *generator) warp() {
	r := g.reg("b32")
	switch g.IntN(4) {
	case 0:
		g.emit("vote.sync.ballot.b32 %s, %s, 0xffffffff;", r, g.reg("pred"))
	case 1:
		g.emit("shfl.sync.idx.b32 %s|%s, %s, %s, 31, -1;", r, g.reg("pred"), g.reg("b32"), g.value())
	case 2:
		g.emit("match.any.sync.b32 %s, %s, 0xffffffff;", r, g.reg("b32"))
	case 3:
		g.emit("activemask.b32 %s;", r)
	}
	g.emit("st.volatile.global.u32 %s, %s;", g.address(), r)
}

// systemCall calls a function of the driver.
func (g *generator) systemCall() {
	list := g.visible(func(s *symbol) bool { return s.kind == "syscall" })
	if len(list) == 0 {
		return
	}
	s := pick(g, list)
	g.callWith(s.name, s.proto, "")
}

// odd adds statements that are rare in real code.
func (g *generator) odd() {
	switch g.IntN(7) {
	case 0:
		g.emit(`.pragma "nounroll";`)
	case 1:
		if g.files > 0 {
			g.emit(".loc %d %d %d", 1+g.IntN(g.files), 1+g.IntN(99), g.IntN(9))
		}
	case 2:
		g.emit("@%s ret;", g.reg("pred"))
	case 3:
		g.emit("@%s trap;", g.reg("pred"))
	case 4:
		g.emit("isspacep.global %s, %s;", g.reg("pred"), g.reg("b64"))
	case 5:
		list := g.visible(func(s *symbol) bool { return s.kind == "func" || s.kind == "entry" })
		if len(list) > 0 {
			d := g.reg("b64")
			g.emit("mov.u64 %s, %s;", d, pick(g, list).name)
			g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
		}
	case 6:
		g.emit("{ %s: }", g.fresh("E"))
	}
}
