package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ptxlink/object/ptx"
)

// A local is a name inside a function.
type local struct {
	kind  string // "b32", "b64", "f32", "pred", "b16", "v2", "v4", "label", "param", "proto", or a state space
	count int    // of a register range, -1 for one name
	proto *proto // of .callprototype
	param bool   // of the function, in a register
}

// A function is the state of the generator inside one function body.
type function struct {
	scopes []map[string]*local // register ranges are stored under base + "<"
	body   *[]*node            // statements are added here
	depth  int
	self   *symbol
}

// emit adds statements, one for each line of the text. In the text these words stand for:
//
//	#1         an argument
//	#b32       a register of a kind
//	#d=b32     a register that later is #d
//	#4b32      different registers, separated by commas; #2|pred by a bar
//	#value, #guard  what the functions of these names return
//	#address   a generic or global address in brackets
//	#<9>       a number below 9
//	#[x|y]     x or y
//
// What is random is chosen from left to right.
func (g *generator) emit(text string, args ...any) {
	chosen := map[string]string{}
	expand := func(word string) string {
		word = word[1:]
		name, kind, named := strings.Cut(word, "=")
		switch {
		case word == "guard ":
			return g.guard()
		case word == "value":
			return g.value()
		case word == "address":
			return fmt.Sprintf("[%s%s]", g.reg("b64"), g.pick("", "", "+4", "+16", " + 32", "+-8", "+0x40"))
		case word[0] == '<':
			n, _ := strconv.Atoi(word[1 : len(word)-1])
			return strconv.Itoa(g.IntN(n))
		case word[0] == '[':
			return g.pick(strings.Split(word[1:len(word)-1], "|")...)
		case len(word) == 1 && word[0] <= '9':
			return fmt.Sprint(args[word[0]-'1'])
		case word[0] <= '9' && word[1] == '|':
			return strings.ReplaceAll(g.regs(word[2:], int(word[0]-'0')), ", ", "|")
		case word[0] <= '9':
			return g.regs(word[1:], int(word[0]-'0'))
		case named:
			chosen[name] = g.reg(kind)
			return chosen[name]
		case chosen[word] != "":
			return chosen[word]
		}
		return g.reg(word)
	}
	for line := range strings.SplitSeq(text, "\n") {
		*g.body = append(*g.body, &node{open: placeholder.ReplaceAllStringFunc(line, expand)})
	}
}

var placeholder = regexp.MustCompile(`#(guard |<\d+>|\[[^]]*\]|\d?\|?[a-z]+(32|64|16)?(=[a-z]+\d*)?|\d)`)

// pick chooses one of some texts.
func (g *generator) pick(list ...string) string { return pick(g, list) }

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

// in returns what a scope declares under a name, also in a range of registers, or nil.
func in(scope map[string]*local, name string) *local {
	if l := scope[name]; l != nil {
		return l
	}
	base, number, ok := ptx.SplitNumber(name)
	if l := scope[base+"<"]; ok && l != nil && int(number) < l.count {
		return l
	}
	return nil
}

// lookup returns the meaning of a name here: a local, a module-scope symbol, or
// nothing.
func (g *generator) lookup(name string) (*local, *symbol) {
	for _, scope := range slices.Backward(g.scopes) {
		if l := in(scope, name); l != nil {
			return l, nil
		}
	}
	return nil, g.known[name]
}

// unused reports whether nothing that is declared here has a name.
func (g *generator) unused(name string) bool {
	l, s := g.lookup(name)
	return l == nil && s == nil && name != g.self.name
}

// free reports whether the innermost scope can declare a name.
func (g *generator) free(name string, count int) bool {
	scope := g.scopes[len(g.scopes)-1]
	if count < 0 {
		return in(scope, name) == nil
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
		g.scopes[1][p.name] = &local{kind: "fparam", count: -1}
		if s.proto.reg {
			kind, _ := loadType(p.typ)
			g.scopes[1][p.name] = &local{kind: kind, count: -1, param: true}
		}
	}
	g.emit(".reg .b32 %zr<6>;\n.reg .b64 %zd<4>;\n.reg .pred %zp<3>;\n.reg .f32 %zf<4>;\n.reg .b16 %zh<4>;")
	for base, l := range map[string]*local{"%zr": {kind: "b32", count: 6}, "%zd": {kind: "b64", count: 4}, "%zp": {kind: "pred", count: 3}, "%zf": {kind: "f32", count: 4}, "%zh": {kind: "b16", count: 4}} {
		g.scopes[0][base+"<"] = l
	}
	for i := range 6 {
		g.emit("mov.u32 %zr#1, %clock;", i)
	}
	for i := range 4 {
		g.emit("mov.u64 %zd#1, %clock64;\ncvt.rn.f32.u32 %zf#1, %zr#1;\ncvt.u16.u32 %zh#1, %zr#1;", i)
	}
	for i := range 3 {
		g.emit("setp.ne.u32 %zp#1, %zr#1, #2;", i, 100+i)
	}
	if s.name == g.private+"k" {
		g.kernelStart()
	}
	for range 2 + g.IntN(4) {
		g.declareRegisters()
	}
	for range 6 + g.IntN(14) {
		g.statement()
	}
	inputs := params
	if s.proto.result != nil {
		inputs = params[1:]
	}
	for _, p := range inputs {
		g.readParam(p)
	}
	for range g.IntN(6) {
		g.statement()
	}
	if s.proto.result != nil {
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
			g.emit("ld.param.v2.u32 {#2b32}, [#1];", p.name)
		} else {
			where := fmt.Sprintf("[%s%s]", p.name, offset)
			if g.in100(25) { // bytes
				where = fmt.Sprintf("%s[%s]", p.name, cmp.Or(strings.TrimPrefix(offset, "+"), "0"))
			}
			g.emit("ld.param.u32 #b32, #1;", where)
		}
		return
	}
	g.loadParam(p.name, p.typ)
}

// kernelStart declares the label that DWARF names, and uses the flawed symbol.
func (g *generator) kernelStart() {
	if g.labels = g.newName(); !g.unused(g.labels) {
		g.labels = g.fresh("L")
	}
	g.declareLocal(g.labels, &local{kind: "label", count: -1})
	g.emit("#1:", g.labels)
	s := g.known[flawed]
	if s == nil {
		return
	}
	if s.kind == "func" {
		g.callWith(flawed, s.proto, "")
		return
	}
	g.emit("mov.u64 %zd1, #1;\nst.volatile.global.u64 [%zd0], %zd1;", flawed)
}

func (g *generator) writeResult(p param) {
	l, _ := g.lookup(p.name)
	if l != nil && l.param {
		g.emit("mov.#1 #2, #"+l.kind+";", l.kind, p.name)
	} else if l != nil && l.kind == "fparam" {
		g.storeParam(p.name, p.typ)
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
		g.emit(".reg .#1 .b32 #2;", l.kind, name)
		g.declareLocal(name, l)
		for i := range int(l.kind[1] - '0') {
			g.emit("mov.u32 #1.#2, %clock;", name, "xyzw"[i:i+1])
		}
		return
	}
	var printed []string
	var names []string
	for range 1 + g.IntN(3) {
		if g.in100(35) {
			base, count := pick(g, g.bases), pick(g, []int{2, 4, 6, 10, 16})
			if !g.free(base, count) || slices.ContainsFunc(sortedKeys(g.planned), func(name string) bool {
				tail, number, ok := ptx.SplitNumber(name)
				return ok && tail == base && int(number) < count && g.crashes(name)
			}) {
				continue
			}
			printed = append(printed, fmt.Sprintf("%s<%d>", base, count))
			if _, _, digit := ptx.SplitNumber(base); digit {
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
	g.emit(".reg #1 #2;", word, strings.Join(printed, ", "))
	for _, name := range names {
		if l, _ := g.lookup(name); l != nil && l.kind == kind {
			g.emit(unknown[kind], name)
		}
	}
}

// unknown are instructions that give a register of a kind a value unknown to ptxas.
var unknown = map[string]string{
	"b32": "mov.u32 #1, %clock;", "b64": "mov.u64 #1, %clock64;", "b16": "cvt.u16.u32 #1, #b32;",
	"f32": "cvt.rn.f32.u32 #1, #b32;", "pred": "setp.ne.u32 #1, #b32, #<1000>;",
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
		{3, g.arithmetic}, {3, g.vectors}, {2, g.predicates}, {4, g.memory}, {6, g.moduleVariable}, {5, func() { g.call("func") }}, {2, g.indirectCall},
		{3, g.branch}, {1, g.table}, {3, g.nested}, {2, g.localObject}, {1, g.texture}, {1, g.barrier}, {1, g.warp}, {1, g.declareRegisters},
		{1, func() { g.call("syscall") }}, {1, g.odd},
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
