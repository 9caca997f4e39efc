package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ptxlink/object/ptx"
)

// A symbol is a module-scope name and its meaning.
type symbol struct {
	name    string
	kind    string // "var", "tex", "sampler", "surf", "func", "entry"
	space   string // of variables
	typ     typ
	proto   *proto
	linkage string   // "", "visible", "weak", "common"
	owners  []int    // modules that define it
	strong  bool     // the first owner has it .visible, the others .weak
	count   int      // of a range name<count>, else 0
	also    []string // of a variable: others in the same statement
	points  *symbol  // of a variable: another whose address it holds
	varied  bool     // each module declares it with other types of the same size
	wrong   *symbol  // what module wrongIn declares instead
	wrongIn int
}

// names returns the names that the symbol declares.
func (s *symbol) names() (list []string) {
	for i := range s.count {
		list = append(list, s.name+strconv.Itoa(i))
	}
	if s.count == 0 {
		list = append(list, s.name)
	}
	return list
}

// A typ is the type of a variable or parameter.
type typ struct {
	word    string // ".u32"
	vec     int    // 2 or 4, else 0
	dims    []int
	align   int  // 0 if not written
	unsized bool // name[]
}

// width returns the bytes of an element, or of a lane of a vector.
func (t typ) width() int { return int(ptx.TypeSize(t.word)) }

func (t typ) size() int {
	n := t.width() * max(t.vec, 1)
	for _, d := range t.dims {
		n *= d
	}
	return n
}

func (t typ) prefix() string {
	s := ""
	if t.align > 0 {
		s = fmt.Sprintf(".align %d ", t.align)
	}
	if t.vec > 0 {
		s += fmt.Sprintf(".v%d ", t.vec)
	}
	return s + t.word
}

func (t typ) suffix() string {
	s := ""
	if t.unsized {
		s = "[]"
	}
	for _, d := range t.dims {
		s += fmt.Sprintf("[%d]", d)
	}
	return s
}

// declare prints the type around a name.
func (t typ) declare(name string) string { return t.prefix() + " " + name + t.suffix() }

// A proto is the prototype of a function.
type proto struct {
	result   *typ
	params   []typ
	noreturn bool
	reg      bool // parameters and result are registers
}

// A generator generates one set.
type generator struct {
	*rand.Rand
	pool    []string
	bases   []string // of register ranges
	shared  []*symbol
	modules int
	version string
	arch    string
	options string // of .target
	debug   bool   // some modules have DWARF

	// Of the current module:
	module  int
	private string             // prefix of names that occur nowhere else
	count   int                // of private names
	known   map[string]*symbol // declared so far
	planned map[string]bool    // every module-scope name it will have
	files   int                // of .file
	labels  string             // a label of the kernel

	function
}

var (
	bases   = []string{"x", "t", "r", "y", "foo", "lo", "w", "_"}
	opcodes = []string{"mov", "add", "ret", "bra", "ld", "st", "call", "setp", "cvta", "bar", "tex", "atom", "selp", "exit", "sub", "mad"}
	words   = []string{"generic", "u32", "b32", "global", "shared", "param", "reg", "func", "entry", "texref", "x", "y", "z", "w", "lo", "hi", "a0", "b0", "nearest", "tid", "uni", "version"}
	labels  = []string{"L", "L1", "$L1", "BB0_1", "proto", "$1", "retval0", "param0", "p", "q"}
)

// systemCalls are some of the functions that the driver provides.
var systemCalls = []*symbol{
	{name: "vprintf", kind: "syscall", proto: &proto{result: &typ{word: ".b32"}, params: []typ{{word: ".b64"}, {word: ".b64"}}}},
	{name: "malloc", kind: "syscall", proto: &proto{result: &typ{word: ".b64"}, params: []typ{{word: ".b64"}}}},
	{name: "free", kind: "syscall", proto: &proto{params: []typ{{word: ".b64"}}}},
}

// generate returns the set of a seed.
func generate(seed uint64) *set {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	s := &set{seed: seed, noise: g.IntN(3) == 0}
	g.arch, g.version = pick(g, []string{"sm_75", "sm_80", "sm_80", "sm_86", "sm_90"}), pick(g, []string{"7.8", "8.0", "8.4"})
	s.arch = g.arch
	if g.IntN(2) == 0 {
		s.suffix = "-new"
	}
	g.names()
	if g.in100(15) {
		g.options = ", texmode_independent"
	}
	g.debug = g.in100(8)
	g.modules = 2 + min(g.IntN(4), g.IntN(4))
	g.plan()
	for i := range g.modules {
		s.modules = append(s.modules, g.makeModule(i))
	}
	return s
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// in reports true n times of 100.
func (g *generator) in100(n int) bool { return g.IntN(100) < n }

// names chooses the few names that the set uses for everything.
func (g *generator) names() {
	for range 1 + g.IntN(2) {
		base := pick(g, bases)
		if base == "_" { // _0 is not a name
			base = "_x"
		}
		g.bases = append(g.bases, base)
		if g.in100(40) {
			g.bases = append(g.bases, base+"$1_")
		}
		if g.in100(40) {
			g.bases = append(g.bases, base+"1")
		}
		if g.in100(30) {
			g.bases = append(g.bases, "%"+base)
			g.pool = append(g.pool, "%"+base+"3")
		}
		for _, tail := range []string{"", "0", "1", "3", "5", "9", "12", "15", "$1", "$2", "$1_2"} {
			if g.in100(60) {
				g.pool = append(g.pool, base+tail)
			}
		}
	}
	for _, list := range [][]string{opcodes, words, labels} {
		for range 2 + g.IntN(3) {
			g.pool = append(g.pool, pick(g, list))
		}
	}
	slices.Sort(g.pool)
	g.pool = slices.Compact(g.pool)
	g.Shuffle(len(g.pool), func(i, j int) { g.pool[i], g.pool[j] = g.pool[j], g.pool[i] })
}

// plan chooses the external symbols of the set and their owners.
func (g *generator) plan() {
	n := min(3+g.IntN(5), len(g.pool)/2)
	for i := range n {
		s := &symbol{name: g.pool[i], linkage: "visible", owners: []int{g.IntN(g.modules)}}
		switch g.IntN(10) {
		case 0, 1, 2, 3:
			s.kind, s.space, s.typ = "var", pick(g, []string{"global", "global", "global", "const", "shared"}), g.varType()
			switch g.IntN(8) {
			case 0, 1:
				s.linkage = "weak"
			case 2:
				if s.space == "global" {
					s.linkage = "common"
				}
			}
			if s.linkage == "visible" && s.space != "shared" && g.in100(15) {
				g.makeRange(s, func(name string) bool { return slices.Contains(g.pool[:n], name) })
			}
			if s.space == "shared" && g.in100(50) { // dynamic: no module defines it
				s.typ, s.linkage, s.owners = typ{word: ".b8", align: 16, unsized: true}, "visible", nil
			}
		case 4:
			s.kind, s.space, s.linkage = g.opaque(), "global", pick(g, []string{"visible", "visible", "weak"})
		case 5:
			s.kind, s.proto = "entry", &proto{params: g.entryParams()}
			s.linkage = pick(g, []string{"visible", "weak"})
		default:
			s.kind, s.proto = "func", g.functionProto()
			s.linkage = pick(g, []string{"visible", "visible", "weak"})
		}
		if s.linkage == "weak" || s.linkage == "common" {
			s.strong = s.kind != "entry" && s.linkage == "weak" && g.in100(25)
			for m := range g.modules {
				if m != s.owners[0] && g.in100(40) {
					s.owners = append(s.owners, m)
				}
			}
		}
		g.mayVary(s)
		g.shared = append(g.shared, s)
	}
	if g.in100(10) {
		g.cycle()
	}
	if g.in100(8) {
		g.flaw()
	}
}

// mayVary chooses whether the types of a symbol depend on the module. The alignment of
// an array is then written.
func (g *generator) mayVary(s *symbol) {
	switch array := len(s.typ.dims) > 0 || s.typ.unsized; {
	case s.kind == "var" && array && s.count == 0 && g.in100(40):
		s.varied, s.typ.align = true, 16
	case s.kind == "func" && !s.proto.reg && g.in100(40):
		s.varied = true
	}
}

// vary returns the symbol as the current module declares it: arrays with other elements,
// parameters of the other sign.
func (g *generator) vary(s *symbol, own bool) *symbol {
	v := *s
	if s.kind == "var" {
		v.typ.word = pick(g, []string{".b8", ".u16", ".b32", ".u32", ".s64", ".b64"})
		if s.typ.unsized {
			return &v
		}
		n, rest := s.typ.size()/v.typ.width(), s.typ.size()%v.typ.width()
		if rest != 0 {
			return s
		}
		v.typ.vec, v.typ.dims = 0, []int{n}
		if n%2 == 0 && g.in100(25) {
			v.typ.dims = []int{n / 2, 2}
		}
		return &v
	}
	if own {
		return s
	}
	p := *s.proto
	p.params = slices.Clone(p.params)
	for i, t := range p.params {
		if other := map[string]string{".u32": ".s32", ".s32": ".u32", ".u64": ".s64", ".s64": ".u64"}[t.word]; other != "" && g.in100(50) {
			p.params[i].word = other
		}
	}
	v.proto = &p
	return &v
}

func (g *generator) opaque() string {
	if g.options != "" {
		return pick(g, []string{"tex", "sampler", "surf"})
	}
	return pick(g, []string{"tex", "surf"})
}

// makeRange turns a variable into a range, unless a name of it is taken. ptxas
// strips all digits from a name to find its range, so the base has none at its end.
func (g *generator) makeRange(s *symbol, taken func(string) bool) {
	if _, _, digit := ptx.SplitNumber(s.name); digit {
		return
	}
	r := *s
	r.typ.dims, r.count = nil, 2+g.IntN(2)
	if !slices.ContainsFunc(r.names(), taken) {
		*s = r
	}
}

const flawed = "flaw"

// flaw adds a symbol for which both ways must refuse the set.
func (g *generator) flaw() {
	two := g.Perm(g.modules)[:2]
	u32, u64, result := typ{word: ".u32"}, typ{word: ".u64"}, &typ{word: ".b32"}
	s := &symbol{name: flawed, kind: "var", space: "global", typ: u32, linkage: "visible", owners: two[:1]}
	if g.in100(60) {
		s.kind, s.proto = "func", &proto{result: result, params: []typ{u64, u32}}
	}
	g.shared = append(g.shared, s)
	wrong := *s
	switch g.IntN(4) {
	case 0: // nothing defines it
		s.owners = nil
		return
	case 1: // two modules define it
		s.owners = two
		return
	}
	s.wrong, s.wrongIn = &wrong, two[1]
	if s.kind == "var" {
		switch g.IntN(3) {
		case 0:
			wrong.typ.dims = []int{2}
		case 1:
			wrong.space = "const"
		case 2:
			wrong.kind, wrong.proto = "func", &proto{}
		}
		return
	}
	wrong.proto = pick(g, []*proto{
		{result: result, params: []typ{u64}},
		{result: result, params: []typ{u64, u32, {word: ".b32"}}},
		{params: []typ{u64, u32}},
		{result: result, params: []typ{u32, u32}},
		{result: result, params: []typ{u64, {word: ".f32"}}},
		{result: result, params: []typ{u64, {word: ".b8", align: 4, dims: []int{4}}}},
	})
}

// cycle adds two variables of two modules that hold the address of each other.
func (g *generator) cycle() {
	var pair []*symbol
	for i, m := range g.Perm(g.modules)[:2] {
		s := &symbol{name: fmt.Sprintf("cycle%d", i), kind: "var", space: "global", linkage: "visible", owners: []int{m}, typ: typ{word: ".u64"}}
		for range g.IntN(4) {
			s.typ.dims = append(s.typ.dims, 1+g.IntN(3))
		}
		pair = append(pair, s)
	}
	pair[0].points, pair[1].points = pair[1], pair[0]
	g.shared = append(g.shared, pair...)
}

func (g *generator) varType() typ {
	t := typ{word: pick(g, []string{".u32", ".b32", ".s32", ".f32", ".u64", ".b64", ".f64", ".u8", ".b8", ".s8", ".u16", ".s16", ".b16"})}
	for range []int{0, 0, 1, 1, 2, 3}[g.IntN(6)] {
		t.dims = append(t.dims, 1+g.IntN(4))
	}
	if g.in100(12) && t.width() >= 4 {
		t.vec = 2
		if t.width() == 4 && g.in100(50) {
			t.vec = 4
		}
	}
	if g.in100(40) {
		t.align = t.width() * max(t.vec, 1) << g.IntN(3)
	}
	return t
}

// paramType returns a type that may be passed to a function.
func (g *generator) paramType() typ {
	if g.in100(25) {
		align := pick(g, []int{4, 8, 16})
		return typ{word: ".b8", dims: []int{align * (1 + g.IntN(4))}, align: align}
	}
	return typ{word: pick(g, []string{".b32", ".u32", ".s32", ".f32", ".b64", ".u64", ".f64", ".b32", ".b64"})}
}

func (g *generator) makeProto() *proto {
	p := &proto{}
	if g.in100(60) {
		t := g.paramType()
		p.result = &t
	}
	for range g.IntN(4) {
		p.params = append(p.params, g.paramType())
	}
	if p.result == nil && g.in100(15) {
		p.noreturn = true
	}
	if g.in100(6) {
		p.params = append(p.params, typ{word: ".b8", align: 8, unsized: true})
	}
	return p
}

func (g *generator) entryParams() []typ {
	list := []typ{{word: ".u64"}}
	for range g.IntN(3) {
		if g.IntN(4) == 0 {
			list = append(list, typ{word: ".b8", align: 8, dims: []int{8 * (1 + g.IntN(3))}})
		} else {
			list = append(list, typ{word: pick(g, []string{".u32", ".f32", ".u64", ".u8", ".s16"})})
		}
	}
	return list
}

// An item is a declaration that the module will have.
type item struct {
	sym    *symbol
	extern bool // or a forward declaration
}

// functionProto returns the prototype of a function, also with registers.
func (g *generator) functionProto() *proto {
	p := g.makeProto()
	words := []string{".b32", ".u32", ".s32", ".f32", ".b64", ".u64"}
	if !g.in100(10) {
		return p
	}
	r := &proto{reg: true, noreturn: p.noreturn}
	if p.result != nil {
		r.result = &typ{word: pick(g, words)}
	}
	for range p.params {
		r.params = append(r.params, typ{word: pick(g, words)})
	}
	return r
}

// makeModule prints module i.
func (g *generator) makeModule(i int) *node {
	g.module, g.private, g.count, g.files = i, fmt.Sprintf("m%d_", i), 0, 0
	g.known, g.planned = map[string]*symbol{}, map[string]bool{}
	version := g.version
	if g.in100(15) {
		version = "7.8"
	}
	arch := g.arch
	if g.in100(15) {
		arch = "sm_75"
	}
	m := &node{open: fmt.Sprintf(".version %s\n.target %s%s\n.address_size 64", version, arch, g.options)}
	if g.in100(20) {
		g.files = 1 + g.IntN(2)
		for f := range g.files {
			m.kids = append(m.kids, leaf(`.file %d "%s%d.c"`, f+1, pick(g, []string{"a", g.private}), f))
		}
	}
	if g.in100(4) {
		m.kids = append(m.kids, leaf(`.pragma "nounroll";`))
	}
	for _, s := range systemCalls {
		if g.in100(10) {
			g.planned[s.name], g.known[s.name] = true, s
			m.kids = append(m.kids, leaf(".extern %s;", strings.Replace(g.header(s), ".syscall", ".func", 1)))
		}
	}
	var front, rest []item
	for _, s := range g.shared {
		front, rest = g.addShared(front, rest, s, i)
	}
	for range 2 + g.IntN(4) {
		if s := g.ownSymbol(i); s != nil {
			if s.kind == "func" && g.in100(20) {
				front = append(front, item{sym: s, extern: true})
			}
			rest = append(rest, item{sym: s})
		}
	}
	// Each module has a kernel, so that ptxas keeps some code.
	k := &symbol{name: g.private + "k", kind: "entry", linkage: "visible", proto: &proto{params: g.entryParams()}, owners: []int{i}}
	g.planned[k.name] = true
	g.Shuffle(len(front), func(i, j int) { front[i], front[j] = front[j], front[i] })
	g.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	rest = append(rest, item{sym: k})
	if g.in100(25) && len(rest) > 1 { // and hidden from the declarations after it
		at := g.IntN(len(rest))
		rest[at], rest[len(rest)-1] = rest[len(rest)-1], rest[at]
	}
	for _, it := range append(front, rest...) {
		m.kids = append(m.kids, g.declaration(it)...)
	}
	// Without debug in .target ptxas drops the sections; it crashes on many with it.
	if g.debug && g.in100(60) {
		m.kids = append(m.kids, leaf(".section .debug_abbrev {\n.b8 1, 17, 0, 17, 1, 18, 1, 0, 0, 0\n}"),
			leaf(".section .debug_info {\n.b32 24\n.b8 2, 0\n.b32 .debug_abbrev\n.b8 8, 1\n.b64 %s\n.b64 %s\n}", k.name, g.labels))
	}
	return m
}

// addShared adds what module i has of a symbol that several modules may have: to front
// what may come first.
func (g *generator) addShared(front, rest []item, s *symbol, i int) (f, r []item) {
	own := slices.Contains(s.owners, i)
	needed := s.points != nil && slices.Contains(s.points.owners, i) || s.name == flawed
	if !own && !needed && g.in100(45) {
		return front, rest
	}
	if s.wrong != nil && s.wrongIn == i {
		s = s.wrong
	} else if s.varied {
		s = g.vary(s, own)
	}
	for _, name := range s.names() {
		g.planned[name] = true
	}
	if s.typ.unsized || !own {
		if it := (item{sym: s, extern: true}); needed || g.in100(70) {
			front = append(front, it)
		} else {
			rest = append(rest, it)
		}
		return front, rest
	}
	if g.in100(20) && (s.kind == "func" || s.kind == "entry" || s.kind == "var" && s.linkage != "" && s.count == 0) {
		front = append(front, item{sym: s, extern: true})
	}
	return front, append(rest, item{sym: s})
}

// ownSymbol returns a symbol that only module i has; nil if its name is taken.
func (g *generator) ownSymbol(i int) *symbol {
	name := pick(g, g.pool)
	if g.planned[name] {
		return nil
	}
	g.planned[name] = true
	s := &symbol{name: name, owners: []int{i}}
	switch g.IntN(9) {
	case 0, 1, 2, 3:
		s.kind, s.space, s.typ = "var", pick(g, []string{"global", "global", "global", "const", "shared"}), g.varType()
		if s.space != "shared" && g.in100(15) {
			g.makeRange(s, func(name string) bool { return g.planned[name] })
			for _, name := range s.names() {
				g.planned[name] = true
			}
		}
		for range g.IntN(2) * g.IntN(3) {
			if s.count > 0 {
				break
			}
			if name := pick(g, g.pool); !g.planned[name] {
				g.planned[name] = true
				s.also = append(s.also, name)
			}
		}
	case 4:
		s.kind, s.space = g.opaque(), "global"
		s.name = g.fresh("t") // nvlink does not support local ones
		g.planned[s.name] = true
	default:
		s.kind, s.proto = "func", g.functionProto()
	}
	return s
}

// addressable picks a known symbol whose address an initialiser may hold.
func (g *generator) addressable() *symbol {
	list := slices.DeleteFunc(g.symbols(), func(s *symbol) bool {
		return !(s.kind == "func" && !s.proto.noreturn && !s.proto.reg || s.kind == "entry" || s.kind == "var" && (s.space == "global" || s.space == "const"))
	})
	if len(list) == 0 {
		return nil
	}
	return pick(g, list)
}

// symbols returns what the module has declared so far, in a fixed order.
func (g *generator) symbols() []*symbol {
	return slices.SortedFunc(maps.Values(g.known), func(a, b *symbol) int { return strings.Compare(a.name, b.name) })
}
