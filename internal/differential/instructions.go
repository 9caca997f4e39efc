package main

import (
	"fmt"
	"maps"
	"strings"
)

func (g *generator) arithmetic() {
	r := g.reg("b32")
	g.emit(g.pick(
		"#guard add.u32 #1, #b32, #value;",
		"#guard mad.lo.s32 #1, #b32, #value, #b32;",
		"xor.b32 #1, #b32, #value;",
		"#guard add.s64 #b64, #b64, -#<50>;",
		"fma.rn.f32 #f32, #f32, #f32, 0f3F800000;",
		"vadd.u32.u32.u32 #1, #b32.b#<4>, #b32.h#<2>;",
		"mov.u32 #1, %#[tid|ctaid|ntid].#[x|y|z];",
		"lop3.b32 #1, #b32, #b32, #b32, 0x96;",
		"sub.u32 #1, #b32, #b32;",
	), r)
	g.store("u32", r)
}

func (g *generator) vectors() {
	texts := []string{
		"#guard mov.b64 {#2b32}, #b64;",
		"mov.b64 #d=b64, {#2b32};\nst.volatile.global.u64 #address, #d;",
		"ld.volatile.global.v2.u32 {#2b32}, #address;",
		"st.volatile.global.v4.b32 #address, {#4b32};",
		"ld.volatile.v4.f32 {#4f32}, #address;",
		"mov.b32 {#2b16}, #b32;\nst.volatile.global.v2.b16 #address, {#2b16};",
		"mov.b64 #d=b64, {#4b16};\nst.volatile.global.u64 #address, #d;",
	}
	for _, vector := range []string{"v2", "v4"} {
		for _, name := range g.locals(vector) {
			texts = append(texts, fmt.Sprintf("st.volatile.global.%[1]s.u32 #address, %[2]s;\nadd.u32 %[2]s.x, %[2]s.y, #value;\n"+
				"#guard ld.volatile.global.%[1]s.u32 %[2]s, #address;\nst.volatile.global.u32 #address, %[2]s.#[x|y|r|g];", vector, name))
		}
	}
	g.emit(g.pick(texts...))
}

func (g *generator) predicates() {
	g.emit(g.pick(
		"setp.lt.u32 #2|pred, #b32, #value;",
		"setp.ge.and.s32 #pred, #b32, #value, #[|!]#pred;",
		"selp.b32 #r=b32, #value, #b32, #pred;\n@!#pred st.volatile.global.u32 #address, #r;",
		"or.pred #pred, #pred, #pred;",
	))
}

func (g *generator) memory() {
	g.emit(g.pick(
		"#guard ld.volatile.global.u32 #b32, #address;",
		"#guard ld.volatile.global.u32 #b32, #address;",
		"#guard st.volatile.global.u32 #address, #value;",
		// Not .add: if all lanes take part, ptxas adds up their values first.
		"#guard atom.global.inc.u32 #b32, #address, #value;",
		"red.global.dec.u32 #address, #b32;",
		"atom.cas.b32 #b32, #address, #b32, #value;",
		"ld.volatile.u64 #b64, #address;",
		"st.volatile.f32 #address, #f32;",
		"ld.global.nc.L1::no_allocate.u32 #b32, #address;",
	))
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
		t.align = max(t.align, t.width())
	}
	kind, word := loadType(t)
	width := t.width()
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
		g.emit(storeAddress, address)
	case 1:
		g.emit("cvta.#1.u64 #d=b64, #2;\nst.volatile.global.u64 #address, #d;", space, address)
	case 2, 3:
		if space != "const" {
			g.emit("#guard st#1.#2#3 #4, #"+kind+";", volatile, space, word, element)
			return
		}
		fallthrough
	case 4, 5:
		r := g.reg(kind)
		g.emit("#guard ld#1.#2#3 #4, #5;", volatile, space, word, r, element)
		if kind != "b64" {
			kind = "b32"
		}
		g.store(kind, r)
	case 6:
		if atomic {
			g.emit("#guard atom.#1.exch.b32 #b32, #2, #value;", space, at)
		} else if space == "global" {
			g.emit("prefetch.global.L2 #1;", at)
		}
	default:
		// Two words that a vector may load?
		if kind == "b32" && t.width() == 4 && space != "const" && space != "local" && t.vec == 0 && t.size() >= 8 && t.align >= 8 {
			g.emit("ld.volatile.#1.v2.u32 {#2b32}, [#2];", space, name)
		} else if atomic {
			g.emit("red.#1.inc.u32 #2, #b32;", space, at)
		} else {
			g.emit(storeAddress, fmt.Sprintf("%s+%d", name, 4*g.IntN(5)))
		}
	}
}

// store stores a register into the output.
func (g *generator) store(kind, register string) {
	g.emit("st.volatile.global.#1 #address, #2;", kind, register)
}

// storeAddress stores the address of a name.
const storeAddress = "mov.u64 #d=b64, #1;\nst.volatile.global.u64 #address, #d;"

// element returns name[n], for n in elements of the declaration here, or in bytes if it
// has no size. name[r+n] becomes other instructions, and is left to make equivalence.
func (g *generator) element(name, space string, t typ) string {
	width := t.width()
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

// call calls a function of a kind that is declared here: "func", or "syscall" of the driver.
func (g *generator) call(kind string) {
	list := g.visible(func(s *symbol) bool { return s.kind == kind })
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
		g.emit("#guard #1;", text)
		if result != "" && !p.reg {
			if p.result.dims != nil {
				g.emit("ld.param.b32 #r=b32, [#1+#2];\nst.volatile.global.u32 #address, #r;", result, p.result.size()-4)
			} else {
				g.loadParam(result, *p.result)
			}
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
		g.emit(".param #1;", t.declare(name))
	} else {
		word := t.word
		if g.in100(40) {
			word = ".b" + word[2:]
		}
		g.emit(".param #1 #2;", word, name)
	}
	g.declareLocal(name, &local{kind: "param", count: -1})
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
			g.emit("st.param.b32 [#1+#2], #b32;", name, 4*n)
		}
	case t.word == ".f32":
		g.emit("st.param.f32 [#1], #f32;", name)
	case t.size() == 4:
		g.emit("st.param#1 [#2+0], #value;", t.word, name)
	default:
		g.emit("st.param.b64 [#1], #b64;", name)
	}
}

// loadParam reads a scalar object in .param, and stores it.
func (g *generator) loadParam(name string, t typ) {
	switch {
	case t.word == ".f32":
		g.emit("ld.param.f32 #f=f32, [#1];\nst.volatile.global.f32 #address, #f;", name)
	case t.size() < 8:
		g.emit("ld.param#1 #r=b32, [#2];\nst.volatile.global.u32 #address, #r;", t.word, name)
	default:
		g.emit("ld.param.b64 #d=b64, [#1];\nst.volatile.global.u64 #address, #d;", name)
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
		g.emit("mov.u64 #1, #2;", d, s.name)
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
	g.emit("#1: #2;", label, p.print(func() string {
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
		if !g.unused(label) {
			label = g.fresh("L")
		}
		g.scopes[len(g.scopes)-1][label] = &local{kind: "label", count: -1}
		g.emit("@#[|!]#pred #[bra|bra.uni] #1;", label)
		if g.in100(30) {
			g.block("{", func() {
				g.arithmetic()
				g.emit("@#pred bra #1;", label)
			})
		} else {
			g.arithmetic()
		}
		if g.in100(30) && g.depth < 3 {
			g.block(label+": {", g.memory)
		} else {
			g.emit("#1:", label)
		}
		return
	}
	g.declareLocal(label, &local{kind: "label", count: -1})
	g.emit("#1#[|| ]:", label)
	g.memory()
	g.emit("setp.ne.u32 #p=pred, #b32, #value;\n@#p bra #1;", label)
}

// table adds a brx.idx over labels.
func (g *generator) table() {
	targets, a, b := g.fresh("ts"), g.fresh("L"), g.fresh("L")
	for _, name := range []*string{&targets, &a, &b} {
		try := g.newName()
		if g.unused(try) && g.free(try, -1) {
			*name = try
		}
		g.declareLocal(*name, &local{kind: "label", count: -1})
	}
	g.emit("and.b32 #r=b32, #r, 1;\n#1: .branchtargets #2, #3;\n@#pred brx.idx #r, #1;\n#2:", targets, a, b)
	g.memory()
	g.emit("#1:", b)
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
	g.declareLocal(name, &local{kind: space, count: -1})
	g.emit("#1;", text)
	for range 1 + g.IntN(3) {
		if t.size() > 0 {
			g.useObject(name, space, t)
		}
	}
}

// localInitialiser returns a value that names only symbols that no local hides.
func (g *generator) localInitialiser(t typ) string {
	known := g.known
	g.known = maps.Clone(known)
	maps.DeleteFunc(g.known, func(name string, _ *symbol) bool { l, _ := g.lookup(name); return l != nil })
	text := g.initialiser(t, t.dims)
	g.known = known
	return text
}

func (g *generator) texture() {
	list := g.visible(func(s *symbol) bool { return s.kind == "tex" || s.kind == "surf" })
	if len(list) == 0 {
		return
	}
	s := pick(g, list)
	if s.kind != "tex" {
		g.emit(g.pick("suld.b.1d.v2.b32.trap {#2b32}, [#1, {#b32}];", "#guard sust.b.2d.b32.trap [#1, {#2b32}], #b32;", storeAddress), s.name)
		return
	}
	object := s.name
	if g.options != "" {
		samplers := g.visible(func(s *symbol) bool { return s.kind == "sampler" })
		if len(samplers) == 0 {
			return
		}
		object += ", " + pick(g, samplers).name
	}
	g.emit(g.pick(
		"tex.1d.v4.f32.s32 {#4f32}, [#1, {#b32}];",
		"#guard tex.2d.v4.f32.f32 {#4f32}, [#1, {#2f32}];",
		"txq.width.b32 #b32, [#2];",
	)+"\nst.volatile.global.v4.f32 #address, {#4f32};", object, s.name)
}

func (g *generator) barrier() {
	g.emit(g.pick(
		"bar.sync #<3>;",
		"bar.red.popc.u32 #b32, 0, #[|!]#pred;",
		"barrier.sync #b32, 64;",
		"membar.gl;",
		"#guard bar.arrive 1, 64;",
	))
}

func (g *generator) warp() {
	r := g.reg("b32")
	g.emit(g.pick(
		"vote.sync.ballot.b32 #1, #pred, 0xffffffff;",
		"shfl.sync.idx.b32 #1|#pred, #b32, #value, 31, -1;",
		"match.any.sync.b32 #1, #b32, 0xffffffff;",
		"activemask.b32 #1;",
	), r)
	g.store("u32", r)
}

// odd adds statements that are rare in real code.
func (g *generator) odd() {
	texts := []string{`.pragma "nounroll";`, "@#pred ret;", "@#pred trap;", "isspacep.global #pred, #b64;", "{ #2: }"}
	if g.files > 0 {
		texts = append(texts, fmt.Sprintf(".loc %d %d #<9>", 1+g.IntN(g.files), 1+g.IntN(99)))
	}
	name := ""
	if list := g.visible(func(s *symbol) bool { return s.kind == "func" && !s.proto.reg || s.kind == "entry" }); len(list) > 0 {
		name = pick(g, list).name
		texts = append(texts, storeAddress)
	}
	g.emit(g.pick(texts...), name, g.fresh("E"))
}
