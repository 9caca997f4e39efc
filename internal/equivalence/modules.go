package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"ptxlink/link"
)

// A moduleSet is modules written in PTX, whose declarations of a name differ in what the
// text of a body means by it: the element type and the size of an array, the types of
// parameters. All compute results from what they load through x[n], from constant
// arguments and from addresses.
type moduleSet struct {
	units []unit
	// optional are units that mean the same if they are linked with --dedupe-identical
	// and --defsym defsym_x=x: the function dup is not private, and some arrays have
	// other names.
	optional []unit
	defsym   []link.Definition
}

const (
	alias     = "defsym_"
	duplicate = ".visible .func (.param .b32 r) dup(.param .b32 i)"
	single    = ".func (.param .b32 r) %s(.param .b32 i)"
)

// array is a variable that several modules declare.
type array struct {
	name, space, linkage string // linkage of the owner: "", ".visible", ".weak", ".common"
	size                 int
	owner                int // -1 if no module defines it: dynamic shared memory
}

// shape is a way of declaring an array.
type shape struct {
	word string
	vec  string // ".v2 ", ".v4 " or ""
	dims string // [4]
	open string // dimensions without the first size
}

type moduleGenerator struct {
	*rand.Rand
	b       *strings.Builder
	arrays  []*array
	modules int
	kinds   map[string]bool

	// Of the current module:
	m      int
	shapes map[*array]shape
	names  map[*array]string
	scale  map[*array]int // of an index, as declared so far; 0 before the first declaration
	params []string       // the words of the parameters of lit
	block  string         // the word of the parameter of agg
}

func (g *moduleGenerator) printf(format string, args ...any) { fmt.Fprintf(g.b, format, args...) }
func (g *moduleGenerator) chance(percent int) bool           { return g.IntN(100) < percent }
func (g *moduleGenerator) pick(list ...string) string        { return list[g.IntN(len(list))] }

// generateModules returns the set of a seed. It has some of the kinds of text, so that
// one fault does not hide all others.
func generateModules(seed uint64) moduleSet {
	g := &moduleGenerator{Rand: rand.New(rand.NewPCG(seed, 11)), kinds: map[string]bool{}}
	g.modules = 1 + g.IntN(3) // one: what its parts mean
	for _, kind := range []string{"index", "weak", "literals", "aggregate", "pointers", "registers", "options", "statics"} {
		g.kinds[kind] = g.chance(50)
	}
	for i := range 3 + g.IntN(3) {
		a := &array{name: fmt.Sprintf("x%d", i), space: g.pick(".global", ".global", ".const", ".shared"), linkage: g.pick("", ".visible", ".visible", ".weak", ".common"), size: []int{8, 32, 64, 256}[g.IntN(4)], owner: g.IntN(g.modules)}
		if a.space != ".global" && a.linkage == ".common" {
			a.linkage = ".visible"
		}
		g.arrays = append(g.arrays, a)
	}
	g.arrays = append(g.arrays, &array{name: "dyn", space: ".shared", linkage: ".visible", size: 64, owner: -1})
	var set moduleSet
	for m := range g.modules {
		var b strings.Builder
		g.m, g.b, g.shapes, g.names, g.scale = m, &b, map[*array]shape{}, map[*array]string{}, map[*array]int{}
		g.module()
		name := fmt.Sprintf("m%d.ptx", m)
		set.optional = append(set.optional, unit{name, []byte(b.String())})
		plain := strings.NewReplacer(duplicate, strings.TrimPrefix(duplicate, ".visible "), alias, "").Replace(b.String())
		set.units = append(set.units, unit{name, []byte(plain)})
	}
	for _, a := range g.arrays {
		set.defsym = append(set.defsym, link.Definition{Name: alias + a.name, Value: a.name})
	}
	return set
}

func wordSize(word string) int {
	return map[byte]int{'8': 1, '6': 2, '2': 4, '4': 8}[word[len(word)-1]]
}

// shape chooses how the current module declares an array.
func (g *moduleGenerator) shape(a *array) shape {
	s := shape{word: g.pick(".b8", ".u8", ".u16", ".b16", ".u32", ".b32", ".s32", ".u64", ".b64")}
	size := wordSize(s.word)
	if g.chance(15) && size == 4 {
		s.vec, size = ".v2 ", 8
	}
	if a.size == 8 && g.chance(40) { // no array
		return shape{word: g.pick(".u64", ".b64")}
	}
	n := a.size / size
	s.dims, s.open = fmt.Sprintf("[%d]", n), "[]"
	if g.chance(20) && n > 1 {
		s.dims, s.open = fmt.Sprintf("[%d][2]", n/2), "[][2]"
	}
	return s
}

func (g *moduleGenerator) module() {
	g.printf(".version 8.0\n.target sm_80\n.address_size 64\n")
	g.prototypes()
	var items []func()
	for _, a := range g.arrays {
		items = append(items, g.array(a)...)
	}
	if g.kinds["options"] && g.arrays[0].size > 8 && g.arrays[0].linkage != "" && g.shapes[g.arrays[0]].dims != "" && g.scale[g.arrays[0]] > 0 && g.chance(60) {
		g.function(duplicate, func() { g.load(g.arrays[0].space, ".u8", g.names[g.arrays[0]]+"[1]") })
	}
	for k := range 2 {
		items = append(items, func() { g.function(fmt.Sprintf(".visible "+single, fmt.Sprintf("m%d_f%d", g.m, k)), g.uses(4)) })
	}
	items = append(items, g.weak, g.literals, g.aggregate, g.pointers, g.entry)
	if g.kinds["statics"] {
		items = append(items, g.statics, func() { g.user("put", 0) }, func() { g.user("see", 1) })
	}
	g.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	for _, item := range items {
		item()
	}
}

// array declares or defines an array. What may come later is in items.
func (g *moduleGenerator) array(a *array) (items []func()) {
	own := a.owner == g.m || a.linkage == "" ||
		a.owner >= 0 && a.space != ".shared" && (a.linkage == ".weak" || a.linkage == ".common" || a.linkage == ".visible") && g.chance(25)
	if !own && g.chance(20) {
		return nil
	}
	g.shapes[a] = g.shape(a)
	if a.linkage != "" && (!own || g.chance(50)) {
		g.extern(a, own)
		if g.chance(30) {
			items = append(items, func() { g.extern(a, own) })
		}
	}
	if !own {
		return items
	}
	linkage := a.linkage
	if a.owner != g.m && linkage == ".visible" {
		linkage = ".weak" // this one loses
	}
	if define := func() { g.define(a, linkage) }; g.scale[a] == 0 || g.chance(30) {
		define()
	} else {
		items = append(items, define)
	}
	return items
}

// extern declares an array that another module, or this one further down, defines.
func (g *moduleGenerator) extern(a *array, own bool) {
	s := g.shapes[a]
	open := (g.chance(40) || a.owner < 0) && s.dims != ""
	dims := s.dims
	if open {
		dims = s.open
	}
	if g.names[a] == "" {
		g.names[a] = a.name
		if a.owner >= 0 && a.owner != g.m && !own && g.kinds["options"] && g.chance(30) {
			g.names[a] = alias + a.name
		}
	}
	g.printf(".extern %s .align 16 %s%s %s%s;\n", a.space, s.vec, s.word, g.names[a], dims)
	if !open {
		g.scale[a] = wordSize(s.word)
	} else if g.scale[a] == 0 {
		g.scale[a] = 1
	}
}

// define defines an array with other contents in each module.
func (g *moduleGenerator) define(a *array, linkage string) {
	s := g.shapes[a]
	g.names[a], g.scale[a] = a.name, wordSize(s.word)
	dims, init := s.dims, ""
	if a.space != ".shared" && linkage != ".common" && s.vec == "" && dims != "" {
		var list []string
		for range a.size / wordSize(s.word) {
			list = append(list, g.pick("WARP_SZ", fmt.Sprint(1+g.IntN(100)), fmt.Sprint(1+g.IntN(100)), fmt.Sprint(1+g.IntN(100))))
		}
		init = " = {" + strings.Join(list, ", ") + "}"
		if strings.HasSuffix(dims, "][2]") {
			for n := range len(list) / 2 {
				list[n] = "{" + list[2*n] + ", " + list[2*n+1] + "}"
			}
			init = " = {" + strings.Join(list[:len(list)/2], ", ") + "}"
		}
		if g.chance(30) {
			dims = s.open // the initialiser has the size
		}
	}
	g.printf("%s %s .align 16 %s%s %s%s%s;\n", linkage, a.space, s.vec, s.word, a.name, dims, init)
}

// function writes a function whose result depends on all that its body loads.
func (g *moduleGenerator) function(head string, body func()) {
	g.printf("%s\n{\n\t.reg .b32 %%acc;\n\tld.param.b32 %%acc, [i];\n", head)
	g.registers()
	body()
	g.printf("\tst.param.b32 [r], %%acc;\n\tret;\n}\n")
}

func (g *moduleGenerator) registers() {
	g.printf("\t.reg .b32 %%v<9>;\n\t.reg .b64 %%d<9>;\n\t.reg .pred %%p<3>;\n")
}

// mix lets the accumulator depend on a 32-bit register.
func (g *moduleGenerator) mix(reg string) { g.printf("\tmad.lo.u32 %%acc, %%acc, 31, %s;\n", reg) }

func (g *moduleGenerator) load(space, word, at string) {
	g.printf("\tld%s%s %%v1, %s;\n", space, word, at)
	g.mix("%v1")
}

func (g *moduleGenerator) uses(n int) func() {
	return func() {
		for range n {
			g.use()
		}
	}
}

// use accesses an array that is declared here.
func (g *moduleGenerator) use() {
	var list []*array
	for _, a := range g.arrays {
		if g.scale[a] > 0 {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return
	}
	a := list[g.IntN(len(list))]
	name, scale := g.names[a], g.scale[a]
	// An element whose four bytes are aligned and inside the array.
	step := max(1, 4/scale)
	n := step * g.IntN((a.size-4)/(step*scale)+1)
	word := ".u32"
	if g.chance(30) {
		n, word = g.IntN(a.size/scale), g.pick(".u8", ".s8")
	}
	if a.space == ".shared" { // its contents are not known otherwise
		g.printf("\tadd.u32 %%v2, %%acc, %d;\n\tst.shared%s [%s+%d], %%v2;\n", g.IntN(100), strings.Replace(word, "s", "u", 1), name, n*scale)
		if g.chance(50) {
			g.printf("\tmov.u64 %%d1, %s;\n", name)
			g.load(a.space, word, fmt.Sprintf("[%%d1+%d]", n*scale))
			return
		}
		if g.chance(30) { // ptxas takes the space of the name
			g.load("", word, fmt.Sprintf("[%s+%d]", name, n*scale))
			return
		}
	}
	kind := g.IntN(8)
	if !g.kinds["index"] || g.shapes[a].dims == "" {
		kind = -1
	}
	switch kind {
	case -1:
		g.load(a.space, word, fmt.Sprintf("[%s+%d]", name, n*scale))
	case 0:
		g.printf("\tmov.u64 %%d1, %s[%d];\n", name, n)
		g.load(a.space, word, "[%d1]")
	case 1:
		g.printf("\tcvta%s.u64 %%d1, %s[%d];\n", a.space, name, n)
		g.load("", word, "[%d1]")
	case 2:
		g.printf("\tmov.u32 %%v3, %d;\n", n)
		g.load(a.space, word, name+"[%v3]")
	case 3:
		back := g.IntN(9)
		g.printf("\tmov.u32 %%v3, %d;\n", n-back)
		g.load(a.space, word, fmt.Sprintf("%s[%%v3+%d]", name, back))
	case 4:
		if a.space != ".shared" {
			g.printf("\tmov.u64 %%d1, %s[-%d];\n\tmov.u64 %%d2, %s;\n\tsub.s64 %%d1, %%d1, %%d2;\n\tshr.u64 %%d2, %%d1, 8;\n\txor.b64 %%d1, %%d1, %%d2;\n\tcvt.u32.u64 %%v1, %%d1;\n", name, 1+g.IntN(5), name)
			g.mix("%v1")
		}
	case 5:
		if 36*scale <= a.size && a.space != ".shared" {
			g.load(a.space, ".u32", name+"[WARP_SZ]")
		}
	default:
		g.load(a.space, word, fmt.Sprintf("%s[%d]", name, n))
	}
}

// weak writes a weak function with a private copy, and in one module a strong one that
// takes the place of the weak ones.
func (g *moduleGenerator) weak() {
	body := func() {
		g.printf("\txor.b32 %%acc, %%acc, 77;\n")
	}
	if g.m == g.modules-1 && g.kinds["weak"] {
		g.function(".visible "+fmt.Sprintf(single, "w"), g.uses(2))
	} else {
		g.function(".weak "+fmt.Sprintf(single, "w"), body)
	}
	g.function(fmt.Sprintf(single, "mine"), body)
	g.function(".weak "+fmt.Sprintf(single, "inline_"), g.uses(2))
}

// literals defines a function that is called with constants.
func (g *moduleGenerator) literals() {
	if g.m > 0 {
		return
	}
	g.printf(".visible .func (.param .b32 r) lit(.param %s a, .param %s b, .param %s c, .param %s d)\n{\n\t.reg .b32 %%acc;\n", g.params[0], g.params[1], g.params[2], g.params[3])
	g.registers()
	g.printf("\tld.param.b32 %%acc, [a];\n\tld.param.b32 %%v1, [b];\n")
	g.mix("%v1")
	for _, p := range []string{"c", "d"} {
		g.printf("\tld.param.b64 %%d1, [%s];\n\tshr.u64 %%d2, %%d1, 29;\n\txor.b64 %%d1, %%d1, %%d2;\n\tcvt.u32.u64 %%v1, %%d1;\n", p)
		g.mix("%v1")
	}
	g.printf("\tst.param.b32 [r], %%acc;\n\tret;\n}\n")
}

// literal returns a constant argument for a parameter.
func (g *moduleGenerator) literal(word string) string {
	switch word[1] {
	case 'f':
		return g.pick("2.5", "-1.1", "0f3F8CCCCD", "0d3FF199999999999A", "1e3")
	case 'b':
		return g.pick("2.5", "0f3F8CCCCD", "0d3FF199999999999A", "7", "-3")
	}
	return g.pick("7", "-3", "0x7fffffff")
}

// aggregate defines a function with an array as parameter.
func (g *moduleGenerator) aggregate() {
	if g.m > 0 {
		return
	}
	g.printf(".visible .func (.param .b32 r) agg(%s)\n{\n\t.reg .b32 %%acc;\n\tld.param.b32 %%acc, a[0];\n", g.parameter("a"))
	g.registers()
	for n := range 4 {
		g.load(".param", ".u8", fmt.Sprintf("a[%d]", n))
	}
	g.printf("\tst.param.b32 [r], %%acc;\n\tret;\n}\n")
}

func (g *moduleGenerator) parameter(name string) string {
	return fmt.Sprintf(".param .align 8 %s %s[%d]", g.block, name, 32/wordSize(g.block))
}

// pointers defines functions that return addresses, and one that calls through a
// register parameter.
func (g *moduleGenerator) pointers() {
	for i := range 2 {
		g.function(fmt.Sprintf(single, fmt.Sprintf("twin%d", i)), func() { g.printf("\tadd.u32 %%acc, %%acc, 5;\n") })
		for _, name := range []string{"twin", "thing"} {
			g.printf(".func (.param .b64 r) at_%s%d()\n{\n\t.reg .b64 %%d1;\n\tmov.u64 %%d1, %s%d;\n\tst.param.b64 [r], %%d1;\n\tret;\n}\n", name, i, name, i)
		}
	}
	g.printf(".func (.reg .b32 r) through(.reg .b64 f, .reg .b32 i)\n{\n\t.reg .pred %%p;\n\tsetp.lt.u32 %%p, i, %d;\n\t@%%p mov.u64 f, mine;\n", g.IntN(9))
	g.printf("\t{\n\t.param .b32 a, q;\n\tst.param.b32 [a], i;\nP:\t.callprototype (.param .b32 _) _ (.param .b32 _);\n\tcall (q), f, (a), P;\n\tld.param.b32 r, [q];\n\t}\n\tret;\n}\n")
}

// statics defines a function with objects of its own, and another one that calls it. With i = 0, count
// changes the objects; with 1, it returns what they hold.
func (g *moduleGenerator) statics() {
	g.printf(single+"\n{\n\t.global .align 4 .u32 total = %d;\n\t.const .align 4 .u32 step[2] = {3, %d};\n\t.shared .align 4 .u32 last[3];\n\t.local .align 4 .u32 mine;\n\t.reg .b32 %%acc;\n", "count", g.IntN(9), g.IntN(9))
	g.registers()
	g.printf("\tld.param.b32 %%v1, [i];\n\tmov.u32 %%v2, %%tid.x;\n\tmov.u32 %%v3, last;\n\tmad.lo.u32 %%v3, %%v2, 4, %%v3;\n\tsetp.ne.u32 %%p1, %%v1, 0;\n\t@%%p1 bra LOOK;\n")
	g.printf("\tld.const.u32 %%v4, [step+%d];\n\tatom.global.add.u32 %%v5, [total], %%v4;\n\tst.shared.u32 [%%v3], %%v4;\n\tst.param.b32 [r], 1;\n\tret;\n", 4*g.IntN(2))
	g.printf("LOOK:\n\tst.local.u32 [mine], %%v2;\n\tld.global.u32 %%acc, [total];\n\tld.local.u32 %%v1, [mine];\n")
	g.mix("%v1")
	g.printf("\tld.shared.u32 %%v1, [%%v3];\n")
	g.mix("%v1")
	g.printf("\tst.param.b32 [r], %%acc;\n\tret;\n}\n")
	g.function(fmt.Sprintf(single, "through_count"), func() {
		g.printf("\t{\n\t.param .b32 a, q;\n\tst.param.b32 [a], %%acc;\n\tcall (q), count, (a);\n\tld.param.b32 %%acc, [q];\n\t}\n")
	})
}

// user writes a kernel that changes the objects of count and then, directly or through another function,
// stores what they hold. At the first launch that is what the kernel has put there.
func (g *moduleGenerator) user(name string, i int) {
	g.printf(".visible .entry m%d_%s(.param .u64 out)\n{\n\t.reg .b32 %%acc;\n\t.reg .b64 %%out;\n", g.m, name)
	g.registers()
	g.printf("\tld.param.u64 %%out, [out];\n")
	for n, f := range []string{g.pick("count", "through_count"), g.pick("count", "through_count")} {
		g.printf("\t{\n\t.param .b32 a, q;\n\tst.param.b32 [a], %d;\n\tcall (q), %s, (a);\n\tld.param.b32 %%acc, [q];\n\t}\n\tbar.sync 0;\n", n, f)
	}
	for n := range 40 { // so that the kernels are in parts of their own
		g.printf("\tst.global.u32 [%%out+%d], %%acc;\n", 4*n)
		g.mix(fmt.Sprint(n + i))
	}
	g.printf("\tret;\n}\n")
}

// prototypes declares the functions of all modules.
func (g *moduleGenerator) prototypes() {
	linkage := func(own bool) string {
		if own {
			return ".visible "
		}
		return ".extern "
	}
	last := g.m == g.modules-1 && g.kinds["weak"]
	for m := range g.modules {
		for k := range 2 {
			g.printf("%s"+single+";\n", linkage(m == g.m), fmt.Sprintf("m%d_f%d", m, k))
		}
	}
	g.printf("%s"+single+";\n", map[bool]string{true: ".visible ", false: ".weak "}[last], "w")
	g.printf(".weak "+single+";\n", "inline_")
	names := []string{"mine", "twin0", "twin1"}
	if g.kinds["statics"] {
		names = append(names, "count", "through_count")
	}
	for _, name := range names {
		g.printf(single+";\n", name)
	}
	for _, name := range []string{"twin0", "twin1", "thing0", "thing1"} {
		g.printf(".func (.param .b64 r) at_%s();\n", name)
	}
	g.printf(".func (.reg .b32 r) through(.reg .b64 f, .reg .b32 i);\n.global .b32 thing0 = 9;\n.global .b32 thing1 = 9;\n")
	g.params = []string{g.pick(".f32", ".b32"), g.pick(".u32", ".s32"), g.pick(".u64", ".s64"), g.pick(".f64", ".b64")}
	g.block = g.pick(".b8", ".b16", ".b32", ".b64")
	g.printf("%s.func (.param .b32 r) lit(.param %s a, .param %s b, .param %s c, .param %s d);\n", linkage(g.m == 0), g.params[0], g.params[1], g.params[2], g.params[3])
	g.printf("%s.func (.param .b32 r) agg(%s);\n", linkage(g.m == 0), g.parameter("a"))
}

// entry writes the kernel of the module, which stores a result of each kind.
func (g *moduleGenerator) entry() {
	g.printf(".visible .entry m%d_k(.param .u64 out)%s\n{\n\t.reg .b32 %%acc;\n\t.reg .b64 %%out;\n", g.m, []string{"", " .maxntid 64, 1, 1", " .reqntid WARP_SZ"}[g.IntN(34)/16])
	g.registers()
	g.printf("\tld.param.u64 %%out, [out];\n\tmov.u32 %%acc, %d;\n", g.IntN(1000))
	at := 0
	store := func() {
		g.printf("\tst.global.u32 [%%out+%d], %%acc;\n", at)
		at += 4
	}
	call := func(name string) {
		g.printf("\t{\n\t.param .b32 a, q;\n\tst.param.b32 [a], %%acc;\n\tcall (q), %s, (a);\n\tld.param.b32 %%v1, [q];\n\t}\n", name)
		g.mix("%v1")
		store()
	}
	for range 6 {
		g.use()
		store()
	}
	names := []string{"w", "mine", "inline_", "twin0", "twin1"}
	for m := range g.modules {
		names = append(names, fmt.Sprintf("m%d_f%d", m, g.IntN(2)))
	}
	if strings.Contains(g.b.String(), duplicate) {
		names = append(names, "dup")
	}
	for _, name := range names {
		call(name)
	}
	for n := 0; n < 2 && g.kinds["literals"]; n++ {
		var args []string
		for _, word := range g.params {
			args = append(args, g.literal(word))
		}
		g.printf("\tcall (%%v1), lit, (%s);\n", strings.Join(args, ", "))
		g.mix("%v1")
		store()
	}
	if g.kinds["aggregate"] {
		g.printf("\t{\n\t%s;\n\t.param .b32 q;\n", g.parameter("a"))
		for n := range 8 { // through an index where the words can be named
			if size := wordSize(g.block); 4%size == 0 {
				g.printf("\tst.param.b32 a[%d], %d;\n", 4*n/size, g.IntN(1<<30))
			} else {
				g.printf("\tst.param.b32 [a+%d], %d;\n", 4*n, g.IntN(1<<30))
			}
		}
		g.printf("\tcall (q), agg, (a);\n\tld.param.b32 %%v1, [q];\n\t}\n")
		g.mix("%v1")
		store()
	}
	if g.kinds["pointers"] {
		for _, name := range []string{"twin", "thing"} {
			for i := range 2 {
				g.printf("\t{\n\t.param .b64 q;\n\tcall (q), at_%s%d;\n\tld.param.b64 %%d%d, [q];\n\t}\n", name, i, i+1)
			}
			g.printf("\tsetp.eq.u64 %%p1, %%d1, %%d2;\n\tselp.u32 %%v1, 1, 0, %%p1;\n\tmov.u64 %%d3, %s%d;\n\tsetp.eq.u64 %%p1, %%d1, %%d3;\n\tselp.u32 %%v2, 2, 0, %%p1;\n\tadd.u32 %%v1, %%v1, %%v2;\n", name, g.IntN(2))
			g.mix("%v1")
			store()
		}
	}
	if g.kinds["registers"] {
		for _, name := range []string{"twin1", "w"} {
			g.printf("\tmov.u64 %%d1, %s;\n\tand.b32 %%v2, %%acc, 15;\n\tcall (%%v1), through, (%%d1, %%v2);\n", name)
			g.mix("%v1")
			store()
		}
	}
	g.printf("\tret;\n}\n")
}

// variants returns all ways of linking the modules: those of programs, and some that
// only the options of the set, or the weak functions, make different.
func (s moduleSet) variants() []variant {
	last := len(s.units) - 1
	if last == 0 {
		return variants
	}
	return slices.Concat(variants, []variant{
		{"--defsym --dedupe-identical", func([]unit) ([]unit, []*link.Message, error) {
			o := link.Options{DedupeIdentical: true}
			for _, d := range s.defsym {
				if slices.ContainsFunc(s.optional, func(u unit) bool { return bytes.Contains(u.text, []byte(" "+d.Name)) }) {
					o.Define = append(o.Define, d)
				}
			}
			outputs, _, err := with(o)(s.optional)
			if err != nil && strings.Contains(err.Error(), "multiple definition of dup") {
				return nil, nil, nil // two functions that are not identical
			}
			return outputs, nil, err
		}},
		// nvlink joins the output with the last module, which replaces a weak function.
		{"-c --icf, and another module", func(units []unit) ([]unit, []*link.Message, error) {
			o := link.Options{AllowUndefined: []string{"*"}, Exports: []string{"m?_*", "x*", "lit", "agg"}, Optimize: link.Optimize{Fold: true, Interposable: true}}
			outputs, _, err := with(o)(units[:last])
			return append(outputs, units[last]), nil, err
		}},
		{"--icf of a library, linked again", func(units []unit) ([]unit, []*link.Message, error) {
			library, driver := s.library()
			outputs, _, err := with(link.Options{AllowUndefined: []string{"*"}, Exports: []string{"x*"}, Optimize: link.Optimize{Fold: true}})(library)
			if err != nil {
				return nil, nil, err
			}
			outputs, _, err = with(link.Options{})([]unit{outputs[0], driver, units[last]})
			return outputs, nil, err
		}},
	})
}

// kernel matches the head of an entry, with its name and with what only entries can have.
var kernel = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\((.*)\).*$`)

// library returns all modules but the last without entries, and a module with the
// entries, which call what they were.
func (s moduleSet) library() (modules []unit, driver unit) {
	text := ".version 8.0\n.target sm_80\n.address_size 64\n"
	for _, u := range s.units[:len(s.units)-1] {
		modules = append(modules, unit{u.name, kernel.ReplaceAll(u.text, []byte(".visible .func ${1}_body($2)"))})
		for _, k := range kernel.FindAllSubmatch(u.text, -1) {
			text += fmt.Sprintf(".extern .func %s_body(.param .u64 out);\n.visible .entry %s(.param .u64 out)\n{\n\t.reg .b64 %%d;\n\tld.param.u64 %%d, [out];\n", k[1], k[1])
			text += fmt.Sprintf("\t{\n\t.param .b64 a;\n\tst.param.b64 [a], %%d;\n\tcall %s_body, (a);\n\t}\n\tret;\n}\n", k[1])
		}
	}
	return modules, unit{"driver.ptx", []byte(text)}
}
