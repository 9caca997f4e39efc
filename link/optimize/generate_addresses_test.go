package optimize_test

import (
	"fmt"
	"strings"
)

// twins are functions that do the same, and functions that return the addresses of
// twins and of variables.
var twins = func() string {
	var b strings.Builder
	b.WriteString(".func (.param .b32 res) other(.param .b32 in0)\n{\n\t.reg .b32 %t;\n\tld.param.b32 %t, [in0];\n\tmul.lo.u32 %t, %t, 5;\n\tst.param.b32 [res], %t;\n\tret;\n}\n")
	for i := range 2 {
		fmt.Fprintf(&b, ".func (.param .b32 res) twin%d(.param .b32 in0)\n{\n\t.reg .b32 %%t;\n\tld.param.b32 %%t, [in0];\n\tadd.u32 %%t, %%t, 3;\n\tst.param.b32 [res], %%t;\n\tret;\n}\n", i)
		for _, name := range []string{"twin", "thing"} {
			fmt.Fprintf(&b, ".func (.param .b64 res) at_%s%d()\n{\n\t.reg .b64 %%t;\n\tmov.u64 %%t, %s%d;\n\tst.param.b64 [res], %%t;\n\tret;\n}\n", name, i, name, i)
		}
	}
	return b.String()
}()

// same compares addresses of twins or variables.
func (g *generator) same() {
	name := g.pick("twin", "thing")
	g.printf("\t{\n\t.reg .b64 %%g<4>;\n\t.reg .pred %%same;\n")
	for i := range 2 {
		g.printf("\t{\n\t.param .b64 at;\n\tcall (at), at_%s%d, ();\n\tld.param.b64 %%g%d, [at];\n\t}\n", name, i, i)
	}
	if g.chance(50) {
		g.printf("\tmov.u64 %%g%d, %s%d;\n", g.rand.IntN(2), name, g.rand.IntN(2))
	}
	g.printf("\tsetp.eq.u64 %%same, %%g0, %%g1;\n\tselp.u32 %%r7, 17, 0, %%same;\n\txor.b32 %s, %s, %%r7;\n\t}\n", g.r(), g.r())
}

// element loads through an index.
func (g *generator) element() {
	switch g.rand.IntN(5) {
	case 0:
		g.printf("\tld.const.u32 %%r7, fixed[%d];\n", g.rand.IntN(4))
	case 1:
		g.printf("\tld.const.u8 %%r7, bytes[%d];\n", g.rand.IntN(16))
	case 2:
		g.printf("\tmov.u64 %%d8, shorts[%d];\n\tld.const.u16 %%r7, [%%d8];\n", g.rand.IntN(8))
	case 3:
		g.printf("\tand.b32 %%r8, %s, 3;\n\tld.const.u16 %%r7, shorts[%%r8+%d];\n", g.r(), g.rand.IntN(5))
	default:
		if g.depot > 0 {
			g.printf("\tld.local.u32 %%r7, depot[%d];\n", 4*g.rand.IntN(int(g.depot/4)))
		} else {
			g.printf("\tld.const.u32 %%r7, bytes[WARP_SZ-28];\n")
		}
	}
	g.printf("\tadd.u32 %s, %s, %%r7;\n", g.r(), g.r())
}

// touches are functions that access the two words at a generic address. touch works for
// all spaces, count not for .local, and walk changes its pointer.
const touches = `.func (.param .b32 res) touch(.param .b64 at, .param .b32 by)
{
	.reg .b64 %a<6>;
	.reg .b32 %v<6>;
	ld.param.u64 %a0, [at];
	ld.param.u32 %v0, [by];
	ld.u32 %v1, [%a0];
	st.u32 [%a0+4], %v0;
	and.b32 %v2, %v0, 1;
	mul.wide.u32 %a1, %v2, 4;
	add.s64 %a2, %a1, %a0;
	ld.s16 %v3, [%a2+2];
	st.u32 [%a2+0], %v1;
	add.u32 %v1, %v1, %v3;
	st.param.b32 [res], %v1;
	ret;
}
.func (.param .b32 res) count(.param .b64 at, .param .b32 by)
{
	.reg .b64 %a<6>;
	.reg .b32 %v<6>;
	ld.param.u64 %a0, [at];
	ld.param.u32 %v0, [by];
	atom.relaxed.gpu.add.u32 %v1, [%a0+4], %v0;
	red.xor.b32 [%a0], %v1;
	ld.volatile.u32 %v2, [%a0];
	st.param.b32 [res], %v2;
	ret;
}
.func (.param .b32 res) walk(.param .b64 at, .param .b32 by)
{
	.reg .b64 %a<6>;
	.reg .b32 %v<6>;
	.reg .pred %again, %odd;
	ld.param.u64 %a0, [at];
	ld.param.u32 %v0, [by];
	mov.u32 %v1, 0;
	and.b32 %v2, %v0, 1;
	setp.ne.u32 %odd, %v2, 0;
L:
	ld.u32 %v3, [%a0];
	add.u32 %v0, %v0, %v3;
	@%odd st.u32 [%a0], %v0;
	@%odd sub.s64 %a0, %a0, -4;
	@!%odd add.u64 %a0, %a0, 4;
	add.u32 %v1, %v1, 1;
	setp.lt.u32 %again, %v1, 2;
	@%again bra L;
	st.param.b32 [res], %v0;
	ret;
}
`

// touch passes a generic address, or one of two, to a function.
func (g *generator) touch() {
	place := func(r string) (local bool) {
		kind := g.rand.IntN(3)
		if kind == 2 && g.depot == 0 {
			kind = 0
		}
		switch kind {
		case 0:
			g.printf("\tadd.u64 %%g1, %%log, %d;\n\tcvta.global.u64 %s, %%g1;\n", 8*g.rand.IntN(100), r)
		case 1:
			g.printf("\tmul.wide.u32 %%g1, %%thr, 8;\n\tmov.u64 %%g2, pad;\n\tcvta.shared.u64 %%g2, %%g2;\n\tadd.s64 %s, %%g2, %%g1;\n", r)
			if g.chance(50) {
				g.printf("\tmov.u64 %%g3, pad;\n\tadd.u64 %%g3, %%g3, %%g1;\n\tcvta.shared.u64 %s, %%g3;\n", r)
			}
			g.printf("\tst.v2.u32 [%s], {%s, 5};\n", r, g.r())
		default:
			g.printf("\tcvta.local.u64 %%g1, %%d1;\n\tadd.u64 %s, %%g1, %d;\n", r, 8*g.rand.IntN(int(g.depot/8)))
			return true
		}
		return false
	}
	g.printf("\t{\n\t.reg .b64 %%g<6>;\n\t.param .b64 to;\n\t.param .b32 by, from;\n")
	local := place("%g4")
	if g.chance(30) {
		other := place("%g5")
		local = local || other
		g.printf("%s", g.pick("\tselp.b64 %g4, %g4, %g5, %p1;\n", "\t@%p2 mov.b64 %g4, %g5;\n", "\t@!%p1 add.u64 %g4, %g5, 0;\n"))
	}
	callee := g.pick("touch", "walk", "count")
	if callee == "count" && local {
		callee = "touch"
	}
	g.printf("\tst.param.b64 [to], %%g4;\n\tst.param.b32 [by], %s;\n\tcall (from), %s, (to, by);\n\tld.param.b32 %s, [from];\n\t}\n", g.r(), callee, g.r())
}

// static0 counts in the static object of the function.
func (g *generator) static0() {
	if g.static == "" {
		return
	}
	space, name, _ := strings.Cut(g.static, " ")
	g.printf("\tmul.wide.u32 %%d10, %%thr, 4;\n\tmov.u64 %%d11, %s;\n\tadd.u64 %%d11, %%d11, %%d10;\n", name)
	g.printf("\tld%s.u32 %%r7, [%%d11];\n\tadd.u32 %%r7, %%r7, %%r1;\n\tst%s.u32 [%%d11], %%r7;\n\txor.b32 %%r3, %%r3, %%r7;\n", space, space)
}
