package optimize_test

import (
	"strings"
	"testing"

	"ptxlink/link/optimize"
)

// targets are two functions and what calls one of them through %fp, with %r2.
var (
	targets  = function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 100; st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) h(.param .b32 a)", "ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 200; st.param.b32 [r], %r1; ret;")
	indirect = "P: .callprototype (.param .b32 _) _ (.param .b32 _);" + strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %fp,"), "(x);", "(x), P;")
)

const even = "and.b32 %r7, %t, 1; setp.ne.u32 %p1, %r7, 0;"

// definitionChecks are calls through registers that get their value in several ways. Only
// one definition in the function itself says which function is called.
var definitionChecks = []check{
	{what: "a parameter that the body assigns", text: targets + function("(.reg .b32 res) f(.reg .b64 %fp, .reg .b32 c)", "mov.u32 %r2, c; mov.u32 %r1, 0; setp.ne.u32 %p1, c, 0; @%p1 bra L; mov.u64 %fp, g; L:"+indirect+"mov.b32 res, %r1; ret;") +
		kernel(even+"mov.u64 %d1, h; call (%r1), f, (%d1, %r7);"), options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, calls: 2, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"(q), %fp,"}},
	{what: "a result that the caller uses", text: targets + function("(.reg .b64 %fp) f(.reg .b32 c)", "mov.u64 %fp, g; mov.u32 %r1, 0; mov.u32 %r2, c;"+indirect+"st.global.u32 [%at+8], %r1; ret;") +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; call (%fp), f, (%t);"+indirect), options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, calls: 3, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"2*(q), %fp,"}},
	{what: "the result of a call", text: targets + function("(.reg .b64 to) f(.reg .b32 c)", "setp.ne.u32 %p1, c, 0; mov.u64 to, h; @%p1 mov.u64 to, g; ret;") +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g;"+even+"@%p1 call (%fp), f, (%r2);"+indirect), options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, calls: 2, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"(q), %fp,"}},
	{what: "a vector of two loads", text: targets + ".global .align 16 .u64 table[2] = {h, h};\n" +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g;"+even+"@%p1 ld.global.v2.u64 {%d1, %fp}, [table];"+indirect), calls: 1, want: []string{"(q), %fp,"}},
	{what: "a register of the block around", text: targets +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g;"+even+"{ .reg .b64 %d1; mov.u64 %d1, h; @%p1 mov.b64 %fp, %d1; }"+indirect), calls: 1, want: []string{"(q), %fp,"}},
	{what: "a register of an inner block", text: targets +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g;"+even+"{ .reg .b64 %fp; mov.u64 %fp, h; st.global.u64 [%at+8], 5; }"+indirect), want: []string{"!(q), %fp,"}},
	{what: "a definition behind the call, in a loop", text: targets +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g; mov.u32 %r8, 0; L:"+indirect+"mov.u64 %fp, h; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 3; @%p2 bra L;"), calls: 1, want: []string{"(q), %fp,"}},
	{what: "a copy of a register with two definitions", text: targets +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %d1, g;"+even+"@%p1 mov.u64 %d1, h; mov.b64 %fp, %d1;"+indirect), calls: 1, want: []string{"(q), %fp,"}},
	{what: "halves", text: targets +
		kernel("mov.u32 %r2, 0; .reg .b64 %fp; mov.u64 %fp, g; mov.u64 %d1, h; mov.b64 {%r8, %r9}, %d1;"+even+"@%p1 mov.b64 %fp, {%r8, %r9};"+indirect), calls: 1, want: []string{"(q), %fp,"}},
	{what: "a local with the name of the function", text: targets +
		kernel("mov.u32 %r2, %t; .reg .b64 %fp; mov.u64 %fp, g; { .reg .b32 g; mov.u32 g, %t;"+indirect+"add.u32 %r1, %r1, g; }"), calls: 1, want: []string{"(q), %fp,"}},
	{what: "a range with the name of the function", text: strings.ReplaceAll(targets, " g(", " g2(") +
		kernel("mov.u32 %r2, %t; .reg .b64 %fp; mov.u64 %fp, g2; { .reg .b32 g<4>; mov.u32 g2, %t;"+indirect+"add.u32 %r1, %r1, g2; }"), calls: 1, want: []string{"(q), %fp,"}},
	{what: "an object with the name of the function", text: targets +
		kernel("mov.u32 %r2, %t; .reg .b64 %fp; mov.u64 %fp, g; { .local .b32 g; st.local.u32 [g], %t;"+indirect+"ld.local.u32 %r9, [g]; add.u32 %r1, %r1, %r9; }"), calls: 1, want: []string{"(q), %fp,"}},
}

// TestDefinitions checks which calls through a register become direct calls.
func TestDefinitions(t *testing.T) { runChecks(t, definitionChecks) }
