package optimize_test

import (
	"fmt"
	"strings"
)

// registerFunction writes a function whose parameters are registers, which it assigns.
// The first one holds the address of a twin.
func (g *generator) registerFunction(i int) {
	f := signature{name: fmt.Sprintf("f%d", i), reg: true, result: &param{name: "res", word: ".b32"}}
	f.params = append(f.params, param{name: "in0", word: ".b64"})
	var list []string
	for k := range 1 + g.rand.IntN(3) {
		p := param{name: fmt.Sprintf("in%d", k+1), word: g.pick(".b32", ".u32", ".f32", ".b64", ".b16")}
		if g.rare && g.chance(50) {
			p.word = g.pick(".f16", ".f16x2", ".b8")
		}
		f.params = append(f.params, p)
	}
	for _, p := range f.params {
		list = append(list, fmt.Sprintf(".reg %s %s", p.word, p.name))
	}
	g.printf("%s.func (.reg .b32 res) %s(%s)\n{\n", g.pick("", ".visible ", ".weak "), f.name, strings.Join(list, ", "))
	g.static, g.result = "", nil
	g.begin(3 + g.rand.IntN(5))
	for k := range 6 {
		g.printf("\tmov.u32 %%r%d, %d;\n", k+1, int32(g.rand.Uint32()))
	}
	for _, p := range f.params[1:] {
		g.fromRegister(p.word, p.name, "%r7")
		g.printf("\txor.b32 %s, %s, %%r7;\n", g.r(), g.r())
	}
	for range g.rand.IntN(3) { // assigned
		p := f.params[1:][g.rand.IntN(len(f.params)-1)]
		g.toRegister(p.word, p.name, g.pick("", "@%p1 ", "@!%p2 "))
		g.fromRegister(p.word, p.name, "%r7")
		g.printf("\tadd.u32 %s, %s, %%r7;\n", g.r(), g.r())
	}
	if g.chance(60) {
		g.printf("\t%smov.u64 in0, %s;\n", g.pick("", "@%p1 ", "@!%p2 "), g.pick("twin1", "other"))
	}
	n := g.number()
	g.printf("\t{\n\t.param .b32 a, q;\n\tst.param.b32 [a], %s;\nP%d:\t.callprototype (.param .b32 _) _ (.param .b32 _);\n\tcall (q), in0, (a), P%d;\n\tld.param.b32 res, [q];\n\t}\n", g.r(), n, n)
	g.block()
	g.printf("\txor.b32 res, res, %s;\n", g.r())
	if g.chance(30) {
		g.printf("\t@%%p1 ret;\n\tadd.u32 res, res, 1;\n")
	}
	g.store()
	g.printf("\tret;\n}\n")
	g.made = append(g.made, f)
}

// fromRegister moves a register of a type to one of 32 bits.
func (g *generator) fromRegister(word, from, to string) {
	switch word {
	case ".b64":
		g.printf("\tcvt.u32.u64 %s, %s;\n", to, from)
	case ".f16", ".b16":
		g.printf("\tmov.b16 %%h2, %s;\n\tcvt.u32.u16 %s, %%h2;\n", from, to)
	case ".b8":
		g.printf("\tcvt.u32.u8 %s, %s;\n", to, from)
	default:
		g.printf("\tmov.b32 %s, %s;\n", to, from)
	}
}

// toRegister gives a register of a type the value of some other.
func (g *generator) toRegister(word, to, guard string) {
	switch word {
	case ".b64":
		g.printf("\t%scvt.u64.u32 %s, %s;\n", guard, to, g.r())
	case ".f16", ".b16":
		g.printf("\tcvt.u16.u32 %%h1, %s;\n\t%smov.b16 %s, %%h1;\n", g.r(), guard, to)
	case ".b8":
		g.printf("\t%scvt.u8.u32 %s, %s;\n", guard, to, g.r())
	default:
		g.printf("\t%smov.b32 %s, %s;\n", guard, to, g.r())
	}
}

// callRegisters calls a function whose parameters are registers.
func (g *generator) callRegisters(f signature) {
	g.printf("\t{\n\t.reg .b64 %%fp;\n\tmov.u64 %%fp, %s;\n", g.pick("twin1", "other"))
	if g.chance(30) {
		g.printf("\t@%%p2 mov.u64 %%fp, %s;\n", g.pick("twin1", "other"))
	}
	args := []string{"%fp"}
	for k, p := range f.params[1:] {
		name := fmt.Sprintf("%%a%d", k)
		g.printf("\t.reg %s %s;\n", p.word, name)
		g.toRegister(p.word, name, "")
		args = append(args, name)
	}
	g.printf("\tcall (%s), %s, (%s);\n\t}\n", g.r(), f.name, strings.Join(args, ", "))
}
