package optimize_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generate returns a random module with an entry k, whose results depend on all that
// its functions do: they store to the object log, which has 256 words for each of 8
// threads. A function calls only those before it.
func generate(seed uint64) string {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 1))}
	g.printf(".version 7.8\n.target sm_80\n.address_size 64\n.global .align 8 .b8 log[8192];\n")
	g.printf(".global .align 4 .b32 shade0 = 77;\n.global .align 4 .b32 shade1 = 78;\n.const .align 4 .b32 fixed[4] = {3, -5, 1000, 70000};\n")
	g.printf(".const .align 8 .b8 bytes[16] = {1, 20, 3, 40, 5, 60, 7, 80, 9, 100, 11, 120, 13, 140, 15, 160};\n.global .b32 thing0 = 9;\n.global .b32 thing1 = 9;\n.const .align 8 .b16 shorts[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};\n")
	g.printf(".shared .align 8 .b8 pad[64];\n%s%s", touches, twins)
	g.rare = g.chance(30)
	n := 2 + g.rand.IntN(5)
	for i := range n {
		switch {
		case g.chance(20):
			g.registerFunction(i)
		default:
			g.function(i)
		}
	}
	g.entry()
	return g.out.String()
}

type generator struct {
	rand *rand.Rand
	out  strings.Builder
	rare bool // types and literals that few compilers write
	made []signature
	next int // number of labels and objects so far
	// The function being written:
	depot  int64  // bytes; 0 if there is none
	static string // a static object with a word for each thread, or ""
	depth  int
	left   int // statements that may still be written
	result *param
}

type signature struct {
	name   string
	result *param
	params []param
	small  bool
	reg    bool // results and parameters are registers
}

// param is a parameter: a scalar, or an array of bytes.
type param struct {
	name  string
	size  int64 // of an array, else 0
	align int64
	word  string // of a scalar
	read  []string
}

func (p param) declare(name string) string {
	if p.size > 0 {
		return fmt.Sprintf(".param .align %d .b8 %s[%d]", p.align, name, p.size)
	}
	return fmt.Sprintf(".param %s %s", p.word, name)
}

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }
func (g *generator) chance(percent int) bool           { return g.rand.IntN(100) < percent }
func (g *generator) pick(list ...string) string        { return list[g.rand.IntN(len(list))] }
func (g *generator) number() int                       { g.next++; return g.next }
func (g *generator) r() string                         { return fmt.Sprintf("%%r%d", 1+g.rand.IntN(6)) }

func (g *generator) param(name string) param {
	switch g.rand.IntN(6) {
	case 0:
		return param{name: name, word: g.pick(".b64", ".u64", ".s64")}
	case 1:
		return param{name: name, size: int64(4 * (1 + g.rand.IntN(6))), align: 4}
	case 2:
		return param{name: name, size: int64(8 * (1 + g.rand.IntN(3))), align: 8}
	}
	return param{name: name, word: g.pick(".b32", ".u32", ".s32", ".f32")}
}

// hide declares a register with the name of something else, and uses it.
func (g *generator) hide() {
	name := g.pick("seed", "in3", "p0", "p1", "q", "a", "at", "by", "f9", "twin1", "touch")
	g.printf("\t{\n")
	if g.chance(50) {
		g.printf("\t.reg .pred %s;\n\tsetp.eq.u32 %s, %%thr, %d;\n\t@%s add.u32 %%r1, %%r1, 3;\n", name, name, g.rand.IntN(4), name)
		if g.chance(50) {
			g.give()
			g.printf("\t@%s ret;\n", name)
		}
	} else {
		g.printf("\t.reg .b32 %s;\n\tadd.u32 %s, %s, 9;\n\txor.b32 %s, %s, %s;\n", name, name, g.r(), g.r(), g.r(), name)
	}
	g.printf("\t}\n")
}

// The registers of every function. %r1 to %r6 hold values.
const registers = `	.reg .b16 %h<4>;
	.reg .b32 %r<16>;
	.reg .f32 %f<4>;
	.reg .b64 %d<16>;
	.reg .pred %p<6>;
	.reg .b32 %thr;
	.reg .b64 %log;
	mov.u32 %thr, %tid.x;
	mul.wide.u32 %d15, %thr, 1024;
	mov.u64 %log, log;
	add.u64 %log, %log, %d15;
`

func (g *generator) function(i int) {
	f := signature{name: fmt.Sprintf("f%d", i), small: g.chance(50)}
	if g.chance(75) {
		p := g.param("res")
		f.result = &p
	}
	for k := range g.rand.IntN(4) {
		f.params = append(f.params, g.param(fmt.Sprintf("in%d", k)))
	}
	g.printf("%s.func ", g.pick("", ".visible ", ".weak "))
	if f.result != nil {
		g.printf("(%s) ", f.result.declare("res"))
	}
	g.printf("%s(", f.name)
	for k, p := range f.params {
		if k > 0 {
			g.printf(", ")
		}
		g.printf("%s", p.declare(p.name))
	}
	g.printf(")\n{\n")
	shadow := g.chance(15)
	if shadow { // a name that hides one of the module
		g.printf("\t.reg .b32 shade%d;\n\tmov.u32 shade%d, %d;\n", i%2, i%2, g.rand.IntN(100))
	}
	g.static = ""
	if g.chance(20) {
		space := g.pick(".shared", ".global")
		g.static = fmt.Sprintf("own%d", i%2)
		g.printf("\t%s .align 4 .b32 %s[8];\n", space, g.static)
		g.static = space + " " + g.static
	}
	g.begin(8 + g.rand.IntN(10)*boolean(!f.small))
	g.result = f.result
	for k := range 6 {
		g.printf("\tmov.u32 %%r%d, %d;\n", k+1, int32(g.rand.Uint32()))
	}
	for _, p := range f.params {
		g.load(p)
	}
	g.give()
	g.static0()
	g.block()
	if shadow {
		g.printf("\tadd.u32 %%r1, %%r1, shade%d;\n", i%2)
	} else if g.chance(40) {
		g.printf("\tld.global.u32 %%r7, [shade%d];\n\txor.b32 %%r2, %%r2, %%r7;\n", g.rand.IntN(2))
	}
	g.store()
	g.give()
	if g.chance(80) {
		g.printf("\t%s;\n", g.pick("ret", "ret", "ret.uni", "@%p1 ret"))
	}
	g.printf("}\n")
	g.made = append(g.made, f)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (g *generator) begin(statements int) {
	g.out.WriteString(registers)
	g.printf("\tsetp.eq.u32 %%p1, %%thr, %d;\n\tsetp.lt.u32 %%p2, %%thr, %d;\n\tsetp.ne.u32 %%p3, %%thr, 9;\n", g.rand.IntN(4), g.rand.IntN(5))
	g.depot, g.left, g.depth = 0, statements, 0
	if g.chance(40) {
		g.depot = int64(8 << g.rand.IntN(4))
		g.printf("\t.local .align %s .b8 depot[%d];\n\tmov.u64 %%d1, depot;\n", g.pick("8", "16"), g.depot)
		for at := int64(0); at < g.depot; at += 4 {
			g.printf("\tst.local.u32 [depot+%d], %d;\n", at, g.rand.IntN(1000))
		}
	}
}

// load reads a parameter into registers, in one of the ways that compilers do.
func (g *generator) load(p param) {
	into := func() { g.printf("\txor.b32 %s, %s, %%r7;\n", g.r(), g.r()) }
	guard := g.pick("", "", "", "@%p3 ")
	switch {
	case p.size > 0 && g.chance(15): // through its address
		g.printf("\tmov.b64 %%d2, %s;\n\tand.b32 %%r8, %s, %d;\n\tcvt.u64.u32 %%d3, %%r8;\n\tadd.u64 %%d3, %%d2, %%d3;\n\tld.local.u32 %%r7, [%%d3];\n", p.name, g.r(), (p.size/4-1)&^(p.size/4)&1*4)
		into()
		if g.chance(50) {
			g.printf("\tst.local.u32 [%%d2], %s;\n\tld.local.u32 %%r7, [%%d2];\n", g.r())
			into()
		}
	case p.size > 0:
		for at := int64(0); at < p.size; at += 4 {
			switch {
			case p.align == 8 && at%8 == 0 && g.chance(30):
				g.printf("\tld.param.v2.u32 {%%r7, %s}, [%s+%d];\n", g.pick("%r8", "_"), p.name, at)
			case p.align == 8 && at%8 == 0 && g.chance(30):
				g.printf("\tld.param.u64 %%d2, [%s+%d];\n\tcvt.u32.u64 %%r7, %%d2;\n", p.name, at)
			case g.chance(20):
				g.printf("\tld.param.%s %%h1, [%s+%d];\n\tcvt.s32.s16 %%r7, %%h1;\n", g.pick("s8", "u8", "s16", "u16"), p.name, at)
			case g.chance(20):
				g.printf("\tmov.u32 %%r7, 5;\n\t%sld.param.%s %%r7, [%s+%d];\n", guard, g.pick("s8", "u8", "b8"), p.name, at+int64(g.rand.IntN(4)))
			default:
				g.printf("\tmov.u32 %%r7, 5;\n\t%sld.param.%s %%r7, [%s+%d];\n", guard, g.pick("u32", "b32"), p.name, at)
			}
			into()
		}
	case strings.HasSuffix(p.word, "64"):
		switch g.rand.IntN(4) {
		case 0:
			g.printf("\tld.param.%s %%r7, [%s+%s];\n", g.pick("u32", "b32", "s8"), p.name, g.pick("0", "4"))
		case 1:
			g.printf("\tld.param.%s %%d2, [%s];\n\tshr.u64 %%d2, %%d2, 20;\n\tcvt.u32.u64 %%r7, %%d2;\n", g.pick("s32", "u32", "s16", "s8", "u8"), p.name)
		default:
			g.printf("\tld.param.%s %%d2, [%s];\n\tshr.u64 %%d2, %%d2, 16;\n\tcvt.u32.u64 %%r7, %%d2;\n", g.pick("b64", "u64", "s64"), p.name)
		}
		into()
	default:
		switch g.rand.IntN(6) {
		case 0:
			g.printf("\tld.param.%s %%r7, [%s+%d];\n", g.pick("s8", "u8"), p.name, g.rand.IntN(4))
		case 1:
			g.printf("\tld.param.%s %%r7, [%s+%s];\n", g.pick("s16", "u16", "b16"), p.name, g.pick("0", "2"))
		case 2:
			g.printf("\tld.param.%s %%h1, [%s];\n\tcvt.s32.s16 %%r7, %%h1;\n", g.pick("s8", "u8", "s16", "u16", "b8"), p.name)
		case 3:
			g.printf("\tld.param.%s %%d2, [%s];\n\tshr.s64 %%d2, %%d2, 8;\n\tcvt.u32.u64 %%r7, %%d2;\n", g.pick("s32", "u32", "s8"), p.name)
		case 4:
			g.printf("\tld.param.f32 %%f1, [%s];\n\tmov.b32 %%r7, %%f1;\n", p.name)
		default:
			g.printf("\tmov.u32 %%r7, 5;\n\t%sld.param.%s %%r7, [%s];\n", guard, g.pick("u32", "b32", "s32"), p.name)
		}
		into()
	}
}

// give writes the result of the function.
func (g *generator) give() {
	if g.result != nil {
		g.fill(*g.result, "res", "")
	}
}

// fill stores values into an object in .param.
func (g *generator) fill(p param, name, guard string) {
	switch {
	case p.size > 0:
		for at := int64(0); at < p.size; at += 4 {
			switch {
			case p.align == 8 && at%8 == 0 && g.chance(30):
				g.printf("\tcvt.u64.u32 %%d4, %s;\n\tmul.lo.u64 %%d4, %%d4, 0x123456789;\n\tst.param.b64 [%s+%d], %%d4;\n", g.r(), name, at)
				at += 4
			case p.align == 8 && at%8 == 0 && g.chance(30):
				g.printf("\tst.param.v2.b32 [%s+%d], {%s, %s};\n", name, at, g.r(), g.pick(g.r(), "-7"))
				at += 4
			default:
				g.printf("\tst.param.b32 [%s+%d], %s;\n", name, at, g.r())
			}
		}
	case strings.HasSuffix(p.word, "64"):
		g.printf("\tcvt.u64.u32 %%d4, %s;\n\tmul.lo.u64 %%d4, %%d4, 0x987654321;\n\tst.param.b64 [%s], %%d4;\n", g.r(), name)
	case g.chance(20):
		g.printf("\tst.param%s;\n", fmt.Sprintf(g.pick(".b32 [%s], 200", ".u32 [%s+0], -3", ".b32 [%s], 0x8000ff80", ".f32 [%s], 0f3F8CCCCD"), name))
	default:
		g.printf("\t%sst.param.b32 [%s+0], %s;\n", guard, name, g.r())
	}
}

// store writes a register where the test sees it.
func (g *generator) store() {
	g.printf("\t%sst.global.u32 [%%log+%d], %s;\n", g.pick("", "", "@%p1 ", "@!%p2 "), 4*g.rand.IntN(256), g.r())
}

func (g *generator) block() {
	for g.left > 0 {
		g.left--
		g.statement()
		if g.depth > 0 && g.chance(30) {
			return
		}
	}
}

func (g *generator) statement() {
	n := g.number()
	switch g.rand.IntN(22) {
	case 18:
		g.same()
	case 19, 20:
		g.element()
	case 21:
		g.hide()
	case 0, 1, 2:
		g.printf("\t%s %s, %s, %s;\n", g.pick("add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.s32", "max.u32"), g.r(), g.r(), g.pick(g.r(), "13", "-2"))
	case 3:
		g.printf("\tsetp.%s.s32 %%p%d, %s, %s;\n", g.pick("lt", "ge", "ne"), 1+g.rand.IntN(2), g.r(), g.r())
	case 4:
		g.printf("\tand.b32 %%r7, %s, 3;\n\tmul.wide.u32 %%d5, %%r7, 4;\n\tmov.u64 %%d6, fixed;\n\tadd.u64 %%d6, %%d6, %%d5;\n\tld.const.u32 %%r7, [%%d6];\n\tadd.u32 %s, %s, %%r7;\n", g.r(), g.r(), g.r())
	case 5, 6:
		g.store()
	case 7: // a forward branch
		g.depth++
		g.printf("\t@%s%%p%d bra%s L%d;\n", g.pick("", "!"), 1+g.rand.IntN(2), g.pick("", "", ".uni"), n)
		if strings.HasSuffix(g.out.String(), fmt.Sprintf("bra.uni L%d;\n", n)) { // only if all threads agree
			text := g.out.String()
			g.out.Reset()
			at := strings.LastIndex(text, "\t@")
			g.out.WriteString(text[:at])
			g.printf("\tbra.uni L%d;\n", n)
		}
		g.block()
		g.printf("L%d:\n", n)
		g.depth--
	case 8: // a loop
		if g.depth > 1 {
			return
		}
		g.depth += 2
		g.printf("\t{\n\t.reg .b32 %%count;\n\t.reg .pred %%again;\n\tmov.u32 %%count, 0;\nL%d:\n", n)
		if g.chance(20) {
			g.printf("\t.pragma \"nounroll\";\n")
		}
		g.block()
		g.printf("\tadd.u32 %%count, %%count, 1;\n\tsetp.lt.u32 %%again, %%count, %d;\n\t@%%again bra L%d;\n\t}\n", 2+g.rand.IntN(2), n)
		g.depth -= 2
	case 9: // an early return
		if g.result != nil || g.chance(50) {
			g.give()
			g.printf("\t@%s%%p%d ret;\n", g.pick("", "!"), 1+g.rand.IntN(2))
		}
	case 10: // a table of branches
		targets := fmt.Sprintf("T%dx0, T%dx1, T%dx2", n, n, n)
		if g.chance(50) {
			targets = fmt.Sprintf("T%dx<3>", n)
		}
		g.printf("\t{\nB%d: .branchtargets %s;\n\tand.b32 %%r7, %s, 1;\n\tadd.u32 %%r7, %%r7, %d;\n\tbrx.idx %%r7, B%d;\nT%dx0:\n\tadd.u32 %%r1, %%r1, 5;\n", n, targets, g.r(), g.rand.IntN(2), n, n)
		g.store()
		g.printf("T%dx1:\n\txor.b32 %%r2, %%r2, %%r1;\n\tbra E%d;\nT%dx2:\n\tadd.u32 %%r3, %%r3, 9;\nE%d:\n\t}\n", n, n, n, n)
	case 11:
		if g.depot > 0 {
			mask := g.depot/4 - 1
			g.printf("\tand.b32 %%r7, %s, %d;\n\tmul.wide.u32 %%d5, %%r7, 4;\n\tadd.u64 %%d5, %%d1, %%d5;\n", g.r(), mask)
			g.printf("\tld.local.u32 %%r7, [%%d5];\n\tadd.u32 %s, %%r7, %s;\n\tst.local.u32 [%%d5], %s;\n", g.r(), g.r(), g.r())
		}
	case 12, 13:
		g.touch()
	default:
		g.call()
	}
}

func (g *generator) call() {
	if len(g.made) == 0 {
		return
	}
	f := g.made[g.rand.IntN(len(g.made))]
	if f.reg {
		g.callRegisters(f)
		return
	}
	n := g.number()
	guard := g.pick("", "", "", "@%p1 ", "@!%p2 ")
	g.printf("\t{\n")
	if g.chance(10) {
		g.printf("\t.reg .b32 shade%d;\n\tmov.u32 shade%d, 1;\n", n%2, n%2)
	}
	var names []string
	for k, p := range f.params {
		name := fmt.Sprintf("p%d", k)
		if p.size == 0 && g.chance(15) {
			switch word := p.word; {
			case !g.rare && (strings.HasSuffix(word, "64") || word == ".f32"):
				names = append(names, name)
				g.printf("\t%s;\n", p.declare(name))
			case !g.rare:
				names = append(names, g.pick(g.r(), "-100"))
			case word == ".b64":
				names = append(names, g.pick("-100", "2.5", "0f3F8CCCCD", "0d3FF199999999999A"))
			case word == ".u64", word == ".s64":
				names = append(names, "-100")
			case word == ".f32":
				names = append(names, g.pick("2.5", "0f3F8CCCCD", "0d3FF199999999999A", "1e3"))
			case word == ".b32":
				names = append(names, g.pick(g.r(), "-100", "2.5", "0f3F8CCCCD", "1e3"))
			default:
				names = append(names, g.pick(g.r(), "-100"))
			}
			continue
		}
		names = append(names, name)
		g.printf("\t%s;\n", p.declare(name))
	}
	together := f.result != nil && g.chance(20)
	if f.result != nil {
		if together {
			g.printf("\t%s, extra%d;\n", f.result.declare("q"), n)
		} else {
			g.printf("\t%s;\n", f.result.declare("q"))
		}
	}
	for k, p := range f.params {
		if names[k] == fmt.Sprintf("p%d", k) {
			g.fill(p, names[k], "")
		}
	}
	result := ""
	if f.result != nil {
		result = "(q), "
	}
	target, prototype, end := f.name, "", ""
	if g.chance(15) && guard == "" && !strings.Contains(strings.Join(names, ""), "%") && !strings.Contains(strings.Join(names, ""), "-") { // through a register
		g.printf("\t.reg .b64 %%fp<3>;\n\tmov.u64 %%fp0, %s;\n\tmov.b64 %%fp1, %%fp0;\n", f.name)
		if g.chance(20) { // a local of its name
			g.printf("\t{\n\t.reg .b32 %s;\n\tmov.b32 %s, 1;\n", f.name, f.name)
			end = "\t}\n"
		}
		g.printf("P%d: .callprototype ", n)
		if f.result != nil {
			g.printf("(%s) ", f.result.declare("_"))
		}
		var list []string
		for _, p := range f.params {
			list = append(list, p.declare("_"))
		}
		g.printf("_ (%s);\n", strings.Join(list, ", "))
		target, prototype = "%fp1", fmt.Sprintf(", P%d", n)
	}
	if guard != "" && f.result != nil { // the result counts only if the call was made
		g.printf("\t%sbra S%d;\n", opposite(guard), n)
	}
	g.printf("\t%scall%s %s%s, (%s)%s;\n", guard, g.pick("", ".uni"), result, target, strings.Join(names, ", "), prototype)
	if f.result != nil {
		p := *f.result
		p.name = "q"
		p.read = nil
		g.loadResult(p)
	}
	if guard != "" && f.result != nil {
		g.printf("S%d:\n", n)
	}
	g.printf("%s\t}\n", end)
	if g.chance(40) {
		g.store()
	}
}

func opposite(guard string) string {
	if strings.HasPrefix(guard, "@!") {
		return "@" + guard[2:]
	}
	return "@!" + guard[1:]
}

// loadResult reads a result in the ways that ptxas accepts.
func (g *generator) loadResult(p param) {
	switch {
	case p.size > 0:
		for at := int64(0); at < p.size; at += 4 {
			g.printf("\tld.param.b32 %%r7, [q+%d];\n\tadd.u32 %s, %s, %%r7;\n", at, g.r(), g.r())
		}
	case strings.HasSuffix(p.word, "64"):
		g.printf("\tld.param.b64 %%d7, [q];\n\tshr.u64 %%d7, %%d7, 12;\n\tcvt.u32.u64 %%r7, %%d7;\n\tadd.u32 %s, %s, %%r7;\n", g.r(), g.r())
	case g.chance(30):
		g.printf("\tld.param.%s %%r7, [q];\n\tadd.u32 %s, %s, %%r7;\n", g.pick("s8", "u8", "s16"), g.r(), g.r())
	default:
		g.printf("\tld.param.b32 %s, [q+0];\n", g.r())
	}
}

func (g *generator) entry() {
	g.printf(".visible .entry k(.param .u32 seed)\n{\n")
	g.static, g.result = "", nil
	g.begin(14 + g.rand.IntN(14))
	for k := range 6 {
		g.printf("\tld.param.u32 %%r%d, [seed];\n\tmul.lo.u32 %%r%d, %%r%d, %d;\n\tadd.u32 %%r%d, %%r%d, %%thr;\n", k+1, k+1, k+1, int32(g.rand.Uint32())|1, k+1, k+1)
	}
	g.block()
	g.call()
	for k := range 6 {
		g.printf("\tst.global.u32 [%%log+%d], %%r%d;\n", 4*k, k+1)
	}
	g.printf("\tret;\n}\n")
}
