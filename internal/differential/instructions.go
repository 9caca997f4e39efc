package main

import (
	"fmt"
	"strings"
)

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
	address, element := name, at
	if (len(t.dims) > 0 || t.unsized) && g.in100(40) {
		element = g.element(name, space, t)
		address = element
	}
	volatile := pick(g, []string{"", ".volatile", ".volatile"})
	if space == "const" || space == "local" {
		volatile = ""
	}
	atomic := (space == "global" || space == "shared") && width == 4
	switch g.IntN(8) {
	case 0:
		d := g.reg("b64")
		g.emit("mov.u64 %s, %s;", d, address)
		g.store("u64", d)
	case 1:
		d := g.reg("b64")
		g.emit("cvta.%s.u64 %s, %s;", space, d, address)
		g.store("u64", d)
	case 2, 3:
		if space != "const" {
			g.emit("%sst%s.%s%s %s, %s;", g.guard(), volatile, space, word, element, g.reg(kind))
			return
		}
		fallthrough
	case 4, 5:
		r := g.reg(kind)
		g.emit("%sld%s.%s%s %s, %s;", g.guard(), volatile, space, word, r, element)
		if kind != "b64" {
			kind = "b32"
		}
		g.store(kind, r)
	case 6:
		if atomic {
			g.emit("%satom.%s.exch.b32 %s, %s, %s;", g.guard(), space, g.reg("b32"), at, g.value())
		} else if space == "global" {
			g.emit("prefetch.global.L2 %s;", at)
		}
	default:
		if kind == "b32" && t.holdsPair(space) {
			g.emit("ld.volatile.%s.v2.u32 {%s}, [%s];", space, g.regs("b32", 2), name)
		} else if atomic {
			g.emit("red.%s.inc.u32 %s, %s;", space, at, g.reg("b32"))
		} else {
			d := g.reg("b64")
			g.emit("mov.u64 %s, %s+%d;", d, name, 4*g.IntN(5))
			g.store("u64", d)
		}
	}
}

// holdsPair reports whether a variable begins with two words that a vector may load.
func (t typ) holdsPair(space string) bool {
	return widths[t.word] == 4 && space != "const" && space != "local" && t.vec == 0 && t.size() >= 8 && t.align >= 8
}

// store stores a register into the output.
func (g *generator) store(kind, register string) {
	g.emit("st.volatile.global.%s %s, %s;", kind, g.address(), register)
}

// element returns name[n], for n in elements of the declaration here, or in bytes if it
// has no size. name[r+n] becomes other instructions, and is left to make equivalence.
func (g *generator) element(name, space string, t typ) string {
	width := widths[t.word]
	n := g.IntN(max(t.size()/width, 3))
	if t.unsized {
		n *= width
	}
	switch {
	case space == "global" && g.in100(6):
		return fmt.Sprintf("%s[-%d]", name, width)
	case space == "global" && g.in100(6):
		return name + "[WARP_SZ]"
	}
	return fmt.Sprintf("%s[%d]", name, n)
}

// literal returns a constant argument.
func (g *generator) literal(t typ) string {
	switch t.word {
	case ".f32", ".f64", ".b32", ".b64":
		return pick(g, []string{"2.5", "-1.1", "0f3F8CCCCD", "0d3FF199999999999A", "1e3"})
	}
	return pick(g, []string{"-5", "17", "0x7fffffff"})
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
		args := make([]string, len(p.params))
		for i, t := range p.params {
			if !p.reg && (t.word == ".b8" || t.unsized || !g.in100(25)) { // else in a register
				args[i] = g.paramObject(t.sized(), target, prototype)
			}
		}
		result := ""
		if p.result != nil && !p.reg {
			result = g.paramObject(*p.result, target, prototype)
		}
		if g.in100(15) {
			g.declareRegisters()
		}
		if p.result != nil && p.reg {
			kind, _ := loadType(*p.result)
			result = g.reg(kind)
		}
		for i, t := range p.params {
			if name := args[i]; name == "" {
				args[i] = g.argument(t)
			} else if l, _ := g.lookup(name); l == nil || l.kind != "param" {
				return
			} else {
				g.storeParam(name, t.sized())
			}
		}
		if !g.callable(target, p, prototype) {
			return
		}
		text := pick(g, []string{"call", "call.uni", "call"}) + " "
		if result != "" {
			text += "(" + result + "), "
		}
		text += target
		if len(args) > 0 || prototype != "" {
			text += ", (" + strings.Join(args, ", ") + ")"
		}
		if prototype != "" {
			text += ", " + prototype
		}
		g.emit("%s%s;", g.guard(), text)
		if result != "" && !p.reg {
			g.loadResult(result, *p.result)
		}
	})
}

// sized returns the type of the object that is passed for a parameter of any size.
func (t typ) sized() typ {
	if t.unsized {
		return typ{word: ".b8", align: t.align, dims: []int{8}}
	}
	return t
}

// paramObject declares an object in .param for a call.
func (g *generator) paramObject(t typ, target, prototype string) string {
	name := g.newName()
	// ptxas uses the parameter of the function if it has this name.
	if l := g.scopes[1][name]; name == target || name == prototype || name == g.self.name || l != nil && (l.kind == "fparam" || l.param) {
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

// argument returns a constant or a register for a parameter.
func (g *generator) argument(t typ) string {
	switch {
	case g.in100(30):
		return g.literal(t)
	case t.word == ".f32":
		return g.reg("f32")
	case t.word == ".f64":
		return "0d3FF0000000000000"
	case t.size() == 8:
		return g.reg("b64")
	}
	return g.reg("b32")
}

// storeParam fills an object in .param.
func (g *generator) storeParam(name string, t typ) {
	switch {
	case t.dims != nil:
		for n := range t.size() / 4 {
			g.emit("st.param.b32 [%s+%d], %s;", name, 4*n, g.reg("b32"))
		}
	case t.word == ".f32":
		g.emit("st.param.f32 [%s], %s;", name, g.reg("f32"))
	case t.size() == 4:
		g.emit("st.param.b32 [%s+0], %s;", name, g.value())
	default:
		g.emit("st.param.b64 [%s], %s;", name, g.reg("b64"))
	}
}

// callable reports whether the names of a call mean what they meant before its block: the
// declarations there may hide the function and the prototype.
func (g *generator) callable(target string, p *proto, prototype string) bool {
	l, s := g.lookup(target)
	if prototype == "" {
		return s != nil
	}
	named, _ := g.lookup(prototype)
	return l != nil && l.kind == "b64" && named != nil && named.proto == p
}

// loadResult reads the result of a call and stores some words.
func (g *generator) loadResult(result string, t typ) {
	switch {
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
	list := g.visible(func(s *symbol) bool { return s.kind == "func" && !s.proto.reg })
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
		object := s.name
		if g.options != "" {
			samplers := g.visible(func(s *symbol) bool { return s.kind == "sampler" })
			if len(samplers) == 0 {
				return
			}
			object += ", " + pick(g, samplers).name
		}
		switch g.IntN(3) {
		case 0:
			g.emit("tex.1d.v4.f32.s32 {%s}, [%s, {%s}];", g.regs("f32", 4), object, g.reg("b32"))
		case 1:
			g.emit("%stex.2d.v4.f32.f32 {%s}, [%s, {%s}];", g.guard(), g.regs("f32", 4), object, g.regs("f32", 2))
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
		list := g.visible(func(s *symbol) bool { return s.kind == "func" && !s.proto.reg || s.kind == "entry" })
		if len(list) > 0 {
			d := g.reg("b64")
			g.emit("mov.u64 %s, %s;", d, pick(g, list).name)
			g.emit("st.volatile.global.u64 %s, %s;", g.address(), d)
		}
	case 6:
		g.emit("{ %s: }", g.fresh("E"))
	}
}
