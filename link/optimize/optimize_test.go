package optimize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/link/optimize"
)

const header = `.version 8.0
.target sm_80
.address_size 64
.global .align 16 .b8 log[8192];
.global .align 4 .b32 gv = 70;
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
`

// prologue declares the registers of the functions below. %at is the part of log that
// belongs to the thread, and %t the thread.
const prologue = `
	.reg .pred %p<5>;
	.reg .b16 %h<9>;
	.reg .b32 %r<20>;
	.reg .f32 %f<9>;
	.reg .b64 %d<20>;
	.reg .b32 %t;
	.reg .b64 %at;
	mov.u32 %t, %tid.x;
	mul.wide.u32 %at, %t, 1024;
	mov.u64 %d19, log;
	add.u64 %at, %at, %d19;
`

// kernel returns the entry that tests run. It stores %r1 at the end.
func kernel(body string) string {
	return ".visible .entry k(.param .u32 seed)\n{" + prologue + "\tmov.u32 %r1, 0;\n" + body + "\n\tst.global.u32 [%at], %r1;\n\tret;\n}\n"
}

// function returns a device function.
func function(head, body string) string { return ".func " + head + "\n{" + prologue + body + "\n}\n" }

// call returns the block of a call, as nvcc writes it. The results are r, the arguments
// a, b and so on, and stores and loads are given.
func call(declarations, stores, instruction, loads string) string {
	return "\t{\n\t" + declarations + "\n\t" + stores + "\n\t" + instruction + "\n\t" + loads + "\n\t}\n"
}

// one calls f with %r2 and adds its result to %r1.
func one(guard string) string {
	return call(".param .b32 x; .param .b32 q;", "st.param.b32 [x+0], %r2;", guard+"call.uni (q), f, (x);", "ld.param.b32 %r3, [q+0]; add.u32 %r1, %r1, %r3;")
}

const (
	plain  = "(.param .b32 r) f(.param .b32 a)"
	copies = "its objects stay in .local, and it would remain too or have several copies"
	stack  = "its objects in .local would add to the stack of other calls"
	// indexed keeps an object called depot, of 8 bytes or more, in memory.
	indexed = "mov.u64 %d7, depot; and.b32 %r9, %t, 1; mul.wide.u32 %d8, %r9, 4; add.u64 %d7, %d7, %d8; ld.local.u32 %r9, [%d7];"
	double  = "ld.param.u32 %r1, [a]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret;"
)

type check struct {
	what      string
	options   optimize.Options
	text      string
	calls     int      // CALL instructions that are left, as ptxas counts them
	reasons   []string // of calls that are not inlined
	want      []string // in the output; with ! before it: not in the output
	registers bool     // ptxas keeps all objects in registers
	reject    bool     // ptxas refuses the module as it is
}

var checks = []check{
	{what: "a scalar becomes a register", text: function(plain, double) + kernel("mov.u32 %r2, 21;"+one("")), want: []string{"!call", "!.func", "!.param .b32", "!ld.param.u32 %r1"}},
	{what: "a call that is the first use of a name", text: ".func f() { bar.sync 0; ret; }\n.visible .entry k(.param .u32 seed) { call f; ret; }\n", want: []string{"!call"}},
	{what: "a return in the middle", text: function(plain, "ld.param.u32 %r1, [a]; setp.gt.u32 %p1, %r1, 1; st.param.b32 [r], %r1; @%p1 ret; st.global.u32 [%at+8], %r1; @!%p1 bra L; ret; L: st.param.b32 [r], 99; ret;") + kernel("mov.u32 %r2, %t;"+one("")+"st.global.u32 [%at+4], %r1;"), want: []string{"!bra.uni"}},
	{what: "a return for all threads stays one", text: function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; bra L; M: st.global.u32 [%at+8], %r1; ret.uni; L: setp.eq.u32 %p1, %r1, 3; @%p1 bra M; ret.uni;") + kernel("mov.u32 %r2, %t;"+one("")), want: []string{"bra.uni $inl_"}},
	{what: "a body that ends without a return", text: function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1;") + kernel("mov.u32 %r2, %t;"+one("")), want: []string{"!bra"}},
	{what: "a predicate before the last return", text: function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; setp.eq.u32 %p1, %r1, 3; @%p1 ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{what: "a label at the end of a body", text: function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; setp.eq.u32 %p1, %r1, 3; @%p1 bra E; st.global.u32 [%at+8], %r1; E: ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{what: "a guarded call", text: function(plain, "ld.param.u32 %r1, [a]; st.global.u32 [%at+8], %r1; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.lt.u32 %p1, %t, 2; mov.u32 %r3, 5;\n{ .param .b32 a, q; st.param.b32 [a], %r2; @%p1 call (q), f, (a); @!%p1 bra N; ld.param.b32 %r3, [q]; N: } add.u32 %r1, %r1, %r3;")},
	{what: "a call guarded by the opposite", text: function("f(.param .b32 a)", "ld.param.u32 %r1, [a]; st.global.u32 [%at+8], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.lt.u32 %p1, %t, 2;\n{ .param .b32 a; st.param.b32 [a], %r2; @!%p1 call f, (a); }")},
	{what: "a guarded call whose body returns early", text: function("f(.param .b32 a)", "ld.param.u32 %r1, [a]; setp.eq.u32 %p1, %r1, 1; @%p1 ret; st.global.u32 [%at+8], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.lt.u32 %p1, %t, 2;\n{ .param .b32 a; st.param.b32 [a], %r2; @%p1 call f, (a); } @%p1 st.global.u32 [%at+12], %r2;")},
	{what: "a guarded argument", text: function(plain, double) + kernel("mov.u32 %r2, %t; setp.lt.u32 %p1, %t, 2;"+call(".param .b32 a; .param .b32 q;", "st.param.b32 [a], 5; @%p1 st.param.b32 [a], %r2; @!%p1 st.param.b32 [a], 9;", "call (q), f, (a);", "ld.param.b32 %r1, [q];"))},
	{what: "a guarded load of a parameter", text: function(plain, "mov.u32 %r1, 7; setp.lt.u32 %p1, %t, 2; @%p1 ld.param.u32 %r1, [a]; mov.u32 %r2, 7; @!%p1 ld.param.s8 %r2, [a+1]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, 0x8180;"+one(""))},

	{what: "narrow loads of a negative argument", text: function(plain, "ld.param.s8 %r1, [a]; ld.param.u8 %r2, [a]; mad.lo.u32 %r1, %r1, 3, %r2; ld.param.s16 %r2, [a]; mad.lo.u32 %r1, %r1, 3, %r2; ld.param.u16 %r2, [a]; mad.lo.u32 %r1, %r1, 3, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, -2;"+one("")), want: []string{"!.local", "cvt.s32.s8", "cvt.u32.u8", "cvt.s32.s16", "cvt.u32.u16"}},
	{what: "narrow loads into 16 bits", text: function(plain, "ld.param.s8 %h1, [a]; cvt.s32.s16 %r1, %h1; ld.param.u8 %h2, [a]; cvt.u32.u16 %r2, %h2; mad.lo.u32 %r1, %r1, 3, %r2; ld.param.u16 %h3, [a]; cvt.s32.s16 %r2, %h3; mad.lo.u32 %r1, %r1, 3, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, 0x18284;"+one("")), want: []string{"!.local", "cvt.s16.s8", "cvt.u16.u8"}},
	{what: "loads into wider registers", text: function(plain, "ld.param.s32 %d1, [a]; shr.s64 %d1, %d1, 4; cvt.u32.u64 %r1, %d1; ld.param.u32 %d2, [a]; shr.s64 %d2, %d2, 4; cvt.u32.u64 %r2, %d2; ld.param.b32 %d3, [a]; shr.u64 %d3, %d3, 31; cvt.u32.u64 %r3, %d3; mad.lo.u32 %r1, %r1, 3, %r2; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, -77;"+one("")), want: []string{"!.local", "cvt.s64.s32", "cvt.u64.u32"}},
	{what: "loads of the bytes behind the first", text: function(plain, "ld.param.s8 %r1, [a+3]; ld.param.u8 %r2, [a+1]; mad.lo.u32 %r1, %r1, 3, %r2; ld.param.s16 %r2, [a+2]; mad.lo.u32 %r1, %r1, 3, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, 0x81f28384;"+one("")), want: []string{"!.local", "shr.u32"}},
	{what: "the halves of 64 bits", text: function("(.param .b64 r) f(.param .b64 a)", "ld.param.u32 %r1, [a]; ld.param.s32 %r2, [a+4]; ld.param.f32 %f1, [a+4]; mov.b32 %r3, %f1; add.u32 %r2, %r2, %r3; mov.b64 %d1, {%r1, %r2}; st.param.b64 [r], %d1; ret;") + kernel("mov.u64 %d2, 0xfedcba9876543210;"+call(".param .b64 a; .param .b64 q;", "st.param.b64 [a], %d2;", "call (q), f, (a);", "ld.param.b64 %d3, [q]; st.global.u64 [%at+8], %d3;")), want: []string{"!.local"}},
	{what: "floats as bits", text: function("(.param .f32 r) f(.param .f32 a)", "ld.param.f32 %f1, [a]; add.f32 %f1, %f1, %f1; st.param.f32 [r], %f1; ret;") + kernel(call(".param .b32 a; .param .b32 q;", "st.param.f32 [a], 0f3F800000;", "call (q), f, (a);", "ld.param.b32 %r1, [q];"))},
	{what: "a result that no path writes", text: function("(.param .b32 r) f()", "st.global.u32 [%at+8], %t; ret;") + kernel(call(".param .b32 q;", "", "call (q), f, ();", "")), want: []string{"!.param .b32"}},
	{what: "an argument that nothing writes", text: function(plain, "st.param.b32 [r], 5; ret;") + kernel(call(".param .b32 a, q;", "", "call (q), f, (a);", "ld.param.b32 %r1, [q];"))},

	{what: "an aggregate becomes registers", text: function("(.param .align 8 .b8 r[16]) f(.param .align 8 .b8 a[16])", "ld.param.u64 %d1, [a]; ld.param.v2.u32 {%r1, %r2}, [a+8]; ld.param.s8 %r3, [a+5]; add.u32 %r1, %r1, %r3; st.param.v2.b32 [r], {%r2, %r1}; st.param.b64 [r+8], %d1; ret;") +
		kernel("mov.u64 %d2, 0x8182838485868788; mov.u32 %r4, 9;"+call(".param .align 8 .b8 a[16]; .param .align 8 .b8 q[16];", "st.param.b64 [a], %d2; st.param.v2.b32 [a+8], {%r4, -3};", "call (q), f, (a);", "ld.param.v2.b32 {_, %r5}, [q]; ld.param.b32 %r6, [q+0]; ld.param.b64 %d3, [q+8]; st.global.v2.u32 [%at+8], {%r5, %r6}; st.global.u64 [%at+16], %d3;")), want: []string{"!.local", "!.param .align"}},
	{what: "a load of two stored parts", text: function("(.param .align 8 .b8 r[8]) f(.param .align 8 .b8 a[8])", "ld.param.u64 %d1, [a]; st.param.b64 [r], %d1; ret;") +
		kernel("mov.u32 %r4, 9;"+call(".param .align 8 .b8 a[8]; .param .align 8 .b8 q[8];", "st.param.b32 [a], %r4; st.param.b32 [a+4], -3;", "call (q), f, (a);", "ld.param.b64 %d3, [q]; st.global.u64 [%at+16], %d3;")), want: []string{"!.local", "!.param .align"}},
	{what: "a load of more than is stored", text: function("(.param .b32 r) f(.param .align 8 .b8 a[8])", "ld.param.u64 %d1, [a]; cvt.u32.u64 %r1, %d1; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r4, 9;"+call(".param .align 8 .b8 x[8]; .param .b32 q;", "st.param.b32 [x], %r4;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), want: []string{"!.local"}},
	{what: "a store over another", text: function("(.param .b32 r) f(.param .align 8 .b8 a[8])", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r4, 9; mov.u64 %d4, 77;"+call(".param .align 8 .b8 x[8]; .param .b32 q;", "st.param.b64 [x], %d4; st.param.b32 [x], %r4;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), want: []string{"!.local"}},
	{what: "loads and stores of halves and quarters", text: function("(.param .align 16 .b8 r[16]) f(.param .align 8 .b8 a[24])", "setp.eq.u32 %p1, %t, 1; ld.param.u64 %d1, [a]; ld.param.f64 %d2, [a+8]; ld.param.s16 %h1, [a+18]; ld.param.v2.u32 {%r1, %r2}, [a+16]; ld.param.u8 %r3, [a+12]; cvt.u32.u16 %r4, %h1; add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, %r4; st.param.b64 [r], %d1; st.param.b64 [r+8], -2; st.param.v2.b32 [r+8], {%r1, %r2}; @%p1 st.param.b64 [r+8], 7; @!%p1 st.param.b64 [r+8], %d2; ret;") +
		kernel("mov.u32 %r4, 9; mov.u64 %d4, 0x8182838485868788; mov.u16 %h1, 0x8182; mov.u16 %h2, 3; setp.eq.u32 %p1, %t, 1; "+call(".param .align 8 .b8 x[24]; .param .align 16 .b8 q[16];", "st.param.b16 [x+4], %h1; st.param.b16 [x+6], %h2; st.param.b32 [x], %r4; st.param.b64 [x+8], 0x4142434445464748; @%p1 st.param.b32 [x+8], %t; st.param.b64 [x+16], %d4; st.param.b16 [x+22], 5;", "call (q), f, (x);", "ld.param.b32 %r1, [q]; ld.param.v2.b64 {%d5, %d6}, [q]; ld.param.v2.b64 {_, %d7}, [q]; st.global.v2.u64 [%at+16], {%d5, %d6}; st.global.u64 [%at+32], %d7;")), want: []string{"!.local", "!.param .align", "mov.b64 {"}},
	{what: "a load of bytes that are stored one by one", text: function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u16 %h1, 5;"+call(".param .b32 x; .param .b32 q;", "st.param.b8 [x], %h1; st.param.b8 [x+1], %h1; st.param.b16 [x+2], %h1;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), calls: 1, reasons: []string{stack}},
	{what: "a call beside one whose objects would add to the stack", text: function(plain, double) + function("(.param .b32 r) g(.param .b32 a)", double) +
		kernel("mov.u32 %r2, %t; mov.u16 %h1, 5;"+call(".param .b32 x; .param .b32 q;", "st.param.b8 [x], %h1; st.param.b8 [x+1], %h1; st.param.b16 [x+2], %h1;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")+strings.ReplaceAll(one(""), ", f,", ", g,")), calls: 1, reasons: []string{stack}},
	{what: "the address of an argument", text: function("(.param .b32 r) f(.param .align 16 .b8 a[32])", "mov.b64 %d1, a; cvta.local.u64 %d3, %d1; and.b32 %r1, %t, 7; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; ld.local.u32 %r1, [%d2]; st.u32 [%d3], 5; ld.local.v4.u32 {%r2, %r3, %r4, %r5}, [%d1+16]; add.u32 %r1, %r1, %r5; st.param.b32 [r], %r1; ret;") +
		kernel(call(".param .align 16 .b8 a[32]; .param .b32 q;", "st.param.v4.b32 [a], {1, 2, 3, 4}; st.param.v4.b32 [a+16], {5, 6, 7, 8};", "call (q), f, (a);", "ld.param.b32 %r1, [q];")), want: []string{".local .align 16 .b8"}},
	{what: "a parameter through a register", text: function("(.param .b32 r) f(.param .align 4 .b8 a[8])", "mov.b64 %d1, a; ld.param.u32 %r1, [%d1+4]; st.param.b32 [r], %r1; ret;") + kernel(call(".param .align 4 .b8 x[8]; .param .b32 q;", "st.param.b32 [x+4], 7;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reasons: []string{"an access of parameters through a register"}, reject: true},
	{what: "a generic address of a parameter", text: function("(.param .b32 r) f(.param .align 4 .b8 a[8])", "mov.b64 %d1, a; cvta.param.u64 %d1, %d1; ld.u32 %r1, [%d1+4]; st.param.b32 [r], %r1; ret;") + kernel(call(".param .align 4 .b8 x[8]; .param .b32 q;", "st.param.b32 [x+4], 7;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reasons: []string{"an access of parameters through a register"}, reject: true},
	{what: "a call in a loop behind its argument", text: function("(.param .b32 r) f(.param .align 4 .b8 a[8])", "mov.b64 %d1, a; ld.local.u32 %r1, [%d1]; add.u32 %r2, %r1, 1; st.local.u32 [%d1], %r2; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r5, 0;"+call(".param .align 4 .b8 a[8]; .param .b32 q;", "st.param.b32 [a], 7; L:", "call (q), f, (a);", "ld.param.b32 %r2, [q]; add.u32 %r1, %r1, %r2; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;")), calls: 1, reasons: []string{"argument a is not stored right before the call"}, reject: true},
	{what: "a large argument in memory", text: function("(.param .b32 r) f(.param .align 4 .b8 a[600])", "mov.b64 %d1, a; ld.local.u32 %r1, [%d1+596]; st.param.b32 [r], %r1; ret;") +
		kernel(call(".param .align 4 .b8 a[600]; .param .b32 q;", "st.param.b32 [a+596], 7;", "call (q), f, (a);", "ld.param.b32 %r1, [q];")), calls: 1, reasons: []string{"argument a has 600 bytes"}},
	{what: "an argument of two calls", text: function(plain, double) + kernel("{ .param .b32 a, q, s; st.param.b32 [a], %t; call (q), f, (a); call (s), f, (a); ld.param.b32 %r1, [q]; }"), reasons: []string{"argument a is used by other statements"}, calls: 2},
	{what: "an access behind an argument", text: function(plain, "ld.param.u32 %r1, [a+2]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), reasons: []string{"argument x is accessed outside its bytes"}, reject: true},
	{what: "an access before a result", text: function("(.param .align 8 .b8 r[8]) f()", "st.param.b32 [r-4], 1; ret;") + kernel(call(".param .align 8 .b8 q[8];", "", "call (q), f, ();", "ld.param.b32 %r1, [q];")), reasons: []string{"argument q is accessed outside its bytes"}, reject: true},
	{what: "a vector that ends behind an argument", text: function("(.param .b32 r) f(.param .align 8 .b8 a[8])", "ld.param.v2.u32 {%r1, %r2}, [a+4]; st.param.b32 [r], %r2; ret;") + kernel(call(".param .align 8 .b8 x[8]; .param .b32 q;", "st.param.b64 [x], 5;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reasons: []string{"argument x is accessed outside its bytes"}, reject: true},
	{what: "an argument whose address is taken", text: function(plain, double) + kernel(call(".param .b32 x; .param .b32 q;", "mov.u64 %d1, x; st.param.b32 [x], %t;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reasons: []string{"argument x is used by other statements"}, reject: true},
	{what: "an argument of a range of objects", text: function(plain, double) + kernel(call(".param .b32 x<2>; .param .b32 q;", "st.param.b32 [x1], %t;", "call (q), f, (x1);", "ld.param.b32 %r1, [q];")), reasons: []string{"argument x1 is not an object of the caller"}, reject: true},
	{what: "an argument of another size", text: function("f(.param .b32 a)", "ret;") + kernel("{ .param .b64 a; st.param.b64 [a], 1; call f, (a); }"), reasons: []string{"argument a has another size than the parameter"}, reject: true},
	{what: "registers and constants as arguments", text: function("(.param .b32 r, .param .b64 s) f(.param .b32 a, .param .b32 b, .param .f32 c)", "ld.param.s8 %r1, [a]; ld.param.u32 %r2, [b]; add.u32 %r1, %r1, %r2; ld.param.f32 %f1, [c]; mov.b32 %r3, %f1; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; st.param.b64 [s], 12; ret;") + kernel("mov.u32 %r2, 0x81; mov.f32 %f3, 0f40000000; setp.lt.u32 %p1, %t, 2; mov.u64 %d1, 3; @%p1 call (%r1, %d1), f, (%r2, -7, %f3); st.global.u64 [%at+8], %d1;")},
	{what: "a return guarded by a register with the name of a parameter", text: function("f()", ".reg .pred seed; setp.eq.u32 seed, %t, 1; @seed ret; st.global.u32 [%at+8], %t; ret;") + kernel("call f;")},
	{what: "a return guarded by a parameter", text: function("f(.reg .pred q, .param .b32 a)", "@!q ret; ld.param.u32 %r1, [a]; st.global.u32 [%at+8], %r1; @q ret; ret;") + kernel("setp.lt.u32 %p2, %t, 2; { .param .b32 a; st.param.b32 [a], 7; call f, (%p2, a); }"), want: []string{"!call"}},
	{what: "accesses of objects with parameters in registers", text: function("(.reg .b32 res, .param .b32 r) f(.param .b32 a, .reg .b32 b, .reg .pred q)", "@q ld.param.u32 res, [a]; @!q mov.u32 res, 3; st.param.b32 [r], b; @q st.param.b32 [r], res; ret;") + kernel("setp.lt.u32 %p2, %t, 2; { .param .b32 a, q; st.param.b32 [a], 7; call (%r2, q), f, (a, %t, %p2); ld.param.b32 %r1, [q]; add.u32 %r1, %r1, %r2; }"), want: []string{"!call"}},
	{what: "an object with the name of a parameter, in a callee", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"g"}}}, text: function("g(.param .b32 z)", "ld.param.u32 %r1, [z]; st.global.u32 [%at+8], %r1; ret;") + function("f(.param .b32 a)", "ld.param.u32 %r1, [a]; { .param .b32 seed; st.param.b32 [seed], %r1; call g, (seed); } ret;") + kernel("{ .param .b32 a; st.param.b32 [a], %t; call f, (a); }"), calls: 1, reasons: []string{"Options.Optimize.NoInline"}},
	{what: "parameters in registers of 8 and 16 bits and pairs", text: function("(.reg .f16 r, .reg .b8 s) f(.reg .f16 a, .reg .f16x2 b, .reg .b8 c, .param .b8 d)", ".reg .b8 x, y; ld.param.b8 %h1, [d]; mov.b16 %h2, a; mov.b32 {%h3, %h4}, b; add.u16 %h1, %h1, %h2; add.u16 %h1, %h1, %h4; cvt.u16.u8 %h5, c; ld.param.b8 x, [d]; cvt.u16.u8 %h6, x; add.u16 %h1, %h1, %h6; add.u16 %h1, %h1, %h5; mov.b16 r, %h1; cvt.u8.u16 s, %h5; ret;") +
		kernel(".reg .f16 x, y; .reg .f16x2 z; .reg .b8 b, c; mov.b32 z, 0x12345678; cvt.u8.u32 b, %t; mov.u16 %h1, 300; mov.b16 x, %h1; call (y, c), f, (x, z, b, b); mov.b16 %h2, y; cvt.u32.u16 %r1, %h2; cvt.u32.u8 %r2, c; st.global.u32 [%at+8], %r2; call (y, c), f, (x, z, 255, 0x1ff); mov.b16 %h2, y; cvt.u32.u16 %r2, %h2; add.u32 %r1, %r1, %r2;"), want: []string{"!call"}},
	{what: "results in parts", text: function("(.param .b64 r, .param .b32 s) f(.param .b64 a)", "ld.param.u32 %r1, [a+4]; ld.param.u32 %r2, [a]; st.param.b32 [r], %r1; st.param.b32 [r+4], %r2; mov.u16 %h1, 0x1234; st.param.b16 [s], %h1; st.param.b16 [s+2], %h1; ret;") +
		kernel("mov.u64 %d1, 0x123456789a; call (%d2, %r1), f, (%d1); st.global.u64 [%at+8], %d2; call (%d2, %r2), f, (0x500000006); st.global.u64 [%at+16], %d2;"), want: []string{"!call"}},
	{what: "literals as arguments", text: function("(.param .b32 r) f(.param .b32 a, .param .b64 b, .param .f32 c, .param .f64 d, .reg .b32 e, .reg .f32 g)", "ld.param.b32 %r1, [a]; st.global.u32 [%at+8], %r1; ld.param.b64 %d1, [b]; st.global.u64 [%at+16], %d1; ld.param.b32 %r1, [c]; st.global.u32 [%at+24], %r1; ld.param.b64 %d1, [d]; st.global.u64 [%at+32], %d1; st.global.u32 [%at+40], e; st.global.f32 [%at+44], g; st.param.b32 [r], 0f3FC00000; ret;") +
		kernel("call (%r1), f, (1e3, 0f40490FDB, 2.0, -2.5, 0d400921FB54442D18, 1.5);"), want: []string{"!call", ", 0x0;", "0x40490fdb", "0x40000000", "0xc004000000000000", "0x54442d18", "0x3fc00000"}, reject: true},
	{what: "literals of another type", text: function("f(.param .f32 a)", "ret;") + function("g(.reg .u32 a)", "ret;") + kernel("call f, (1); call g, (1.0);"), reject: true, reasons: []string{"argument 1 has another type than the parameter", "argument 1.0 has another type than the parameter"}},
	{what: "registers of another width", text: function("f(.reg .b32 a)", "st.global.u32 [%at+8], a; ret;") + function("g(.param .b64 a)", "ld.param.b64 %d1, [a]; ret;") + kernel("call f, (%d19);\n call f, (%h1); call g, (%r1);"), reject: true, reasons: []string{"argument %d19 has another type than the parameter", "argument %h1 has another type than the parameter", "argument %r1 is not understood"}},
	{what: "stores of wider and narrower registers than two parts", text: function("(.param .b64 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; st.param.b32 [r+4], 7; setp.eq.u32 %p1, %r1, 1; @%p1 st.param.b64 [r], 0x900000008; ret;") +
		kernel("mov.u32 %r2, %t;"+call(".param .b32 x; .param .b64 q;", "st.param.b32 [x], %r2;", "call (q), f, (x);", "ld.param.b64 %d1, [q]; st.global.u64 [%at+8], %d1; ld.param.v2.u32 {%r4, %r5}, [q]; add.u32 %r1, %r4, %r5;")), want: []string{"!call", "@%p1 mov.b32"}},
	{what: "parameters in registers", text: function("(.reg .u32 r) f(.reg .u32 a, .reg .pred %p1)", "add.u32 r, a, 1; @%p1 add.u32 r, r, 10; @%p1 ret; st.global.u32 [%at+8], a;") + kernel("setp.lt.u32 %p2, %t, 2; { .reg .u32 a; mov.u32 a, %t; call (%r1), f, (a, %p2); }"), reject: true},

	{what: "several copies of an indexed object", text: function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), calls: 2, reasons: []string{copies, copies}},
	{what: "an indexed object of a function that stays", options: optimize.Options{Request: optimize.Request{Level: 1}, Keep: []string{"f"}}, text: function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), calls: 1, reasons: []string{copies}},
	{what: "several copies of an object at constant offsets", text: function(plain, ".local .align 8 .b8 depot[64]; mov.b64 %d1, depot; cvta.local.u64 %d2, %d1; add.u64 %d3, %d2, 8; ld.param.u32 %r1, [a]; st.u32 [%d3+4], %r1; ld.local.u32 %r2, [depot+12]; st.param.b32 [r], %r2; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), want: []string{"1*.local ."}, registers: true},
	{what: "several copies of an object whose address is an argument", text: function("(.param .b32 r) g(.param .b64 p, .param .b32 b)", "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [b]; ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; st.u32 [%d1+4], %r1; st.param.b32 [r], %r2; ret;") +
		function(plain, ".local .align 8 .b8 depot[8]; mov.b64 %d1, depot; cvta.local.u64 %d2, %d1; ld.param.u32 %r2, [a]; st.local.u32 [%d1], %r2;"+call(".param .b64 x; .param .b32 y; .param .b32 q;", "st.param.b64 [x], %d2; st.param.b32 [y], %r2;", "call (q), g, (x, y);", "ld.param.b32 %r1, [q];")+"ld.local.u32 %r2, [%d1+4]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), registers: true},
	{what: "an indexed object beside a call that stays", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"g"}}}, text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[32];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), calls: 2, reasons: []string{stack, "Options.Optimize.NoInline"}},
	{what: "an indexed object beside a call through a register", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"g"}}}, text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[32];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + ".const .u64 to = g;\n" + kernel("ld.const.u64 %d4, [to]; P: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d4,"), "(x);", "(x), P;")), calls: 2, reasons: []string{stack}},
	{what: "an indexed object beside a call of a function without", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"g"}}}, text: function("(.param .b32 r) g(.param .b32 a)", double) + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), calls: 1, reasons: []string{"Options.Optimize.NoInline"}},
	{what: "an indexed object above a call that stays", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"g"}}}, text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[32];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r2, [a]; mov.u32 %r1, 1;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), calls: 1, reasons: []string{"Options.Optimize.NoInline"}},
	{what: "indexed objects of two calls", text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[32];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), want: []string{"1*.local ."}},
	{what: "more objects than registers", text: function(plain, ".local .align 8 .b8 depot[700]; ld.param.u32 %r1, [a]; st.local.u32 [depot+696], %r1; ld.local.u32 %r2, [depot+696]; st.param.b32 [r], %r2; ret;") + function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[700]; ld.param.u32 %r1, [a]; st.local.u32 [depot+696], %r1; ld.local.u32 %r2, [depot+696]; st.param.b32 [r], %r2; ret;") + function("(.param .b32 r) h(.param .b32 a)", ".local .align 8 .b8 depot[700]; ld.param.u32 %r1, [a]; st.local.u32 [depot+696], %r1; ld.local.u32 %r2, [depot+696]; st.param.b32 [r], %r2; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")+strings.ReplaceAll(one(""), ", f,", ", h,")), want: []string{"2*.local ."}},
	{what: "an indexed object and one at constant offsets", text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 8 .b8 depot[32]; ld.param.u32 %r1, [a]; st.local.u32 [depot+4], %r1; ld.local.u32 %r2, [depot+4]; st.param.b32 [r], %r2; ret;") + function(plain, ".local .align 8 .b8 depot[64];"+indexed+"ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), want: []string{"2*.local ."}},
	{what: "a depot of each of two calls is one object", options: optimize.Options{Request: optimize.Request{Inline: []string{"f"}}}, text: function(plain, ".local .align 8 .b8 depot[64]; ld.param.u32 %r1, [a]; and.b32 %r2, %r1, 15; mul.wide.u32 %d1, %r2, 4; mov.u64 %d2, depot; add.u64 %d1, %d1, %d2; st.local.u32 [%d1], %r1; ld.local.u32 %r3, [%d1]; st.param.b32 [r], %r3; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), want: []string{"1*.local .", ".local .align 8 .b8 %inl_"}},
	{what: "the caller's depot is another", text: function(plain, ".local .align 8 .b8 depot[16]; ld.param.u32 %r1, [a]; st.local.u32 [depot+4], %r1; ld.local.u32 %r3, [depot+4]; st.param.b32 [r], %r3; ret;") + kernel(".local .align 8 .b8 depot[16]; mov.u32 %r2, %t; st.local.u32 [depot+4], 77;"+one("")+"ld.local.u32 %r4, [depot+4]; add.u32 %r1, %r1, %r4;"), want: []string{"2*.local ."}},
	{what: "the depot of a function between", options: optimize.Options{Request: optimize.Request{Inline: []string{"*"}}}, text: function("(.param .b32 r) g(.param .b32 a)", ".local .align 4 .b8 depot[8];"+indexed+"ld.param.u32 %r1, [a]; st.local.u32 [depot], %r1; ld.local.u32 %r3, [depot]; st.param.b32 [r], %r3; ret;") +
		function(plain, ".local .align 4 .b8 depot[8];"+indexed+"st.local.u32 [depot], 5; ld.param.u32 %r2, [a]; mov.u32 %r1, 0;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"ld.local.u32 %r3, [depot]; mad.lo.u32 %r1, %r1, 100, %r3; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), want: []string{"2*.local ."}},
	{what: "the largest size and alignment", text: function(plain, ".local .align 4 .b8 depot[64]; ld.param.u32 %r1, [a];"+indexed+"st.local.u32 [depot+60], %r1; ld.local.u32 %r3, [depot+60]; st.param.b32 [r], %r3; ret;") +
		function("(.param .b32 r) g(.param .b32 a)", ".local .align 16 .b8 depot[16];"+indexed+"ld.param.u32 %r1, [a]; st.local.v4.u32 [depot], {%r1, %r1, %r1, %r1}; mov.u64 %d1, depot; ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [%d1]; st.param.b32 [r], %r4; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), want: []string{"1*.local .", ".local .align 16", "[64]"}},
	{what: "an indexed depot stays", text: function(plain, ".local .b32 depot[4]; ld.param.u32 %r1, [a]; st.local.u32 [depot+8], %r1; mov.u64 %d1, depot[2]; ld.local.u32 %r3, [%d1]; st.param.b32 [r], %r3; ret;") + kernel("mov.u32 %r2, %t;"+one("")), want: []string{".local .b32 depot[4]"}},

	{what: "a register of the caller hides a global", text: function(plain, "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [gv]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel(".reg .b64 gv; mov.u64 gv, 0; mov.u32 %r2, %t;"+one("")+"cvt.u32.u64 %r2, gv; add.u32 %r1, %r1, %r2;")},
	{what: "a depot of the caller hides a global", text: function(plain, "ld.param.u32 %r1, [a]; mov.u64 %d1, gv; ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel(".local .align 4 .b32 gv; st.local.u32 [gv], 5; mov.u32 %r2, %t;"+one("")), reject: true},
	{what: "an object of the caller hides a global", text: function(plain, "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [gv]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t; { .param .b32 gv, q; st.param.b32 [gv], %r2; call (q), f, (gv); ld.param.b32 %r1, [q]; }")},
	{what: "a parameter of the caller hides a global", text: function(plain, "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [gv]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + strings.Replace(kernel("ld.param.u32 %r2, [gv];"+one("")), "seed", "gv", 1)},
	{what: "a range of the caller hides a global", text: ".global .b32 v2 = 9;\n" + function(plain, "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [v2]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel(".reg .b64 v<3>; mov.u64 v2, 3; mov.u32 %r2, %t;"+one("")), want: []string{"!call", "mov.u64 %inl_", "[v2]"}},
	{what: "a range of the callee hides a global", text: ".global .b32 v2 = 9;\n" + function(plain, ".reg .b32 v<3>; ld.param.u32 v2, [a]; st.param.b32 [r], v2; ret;") + kernel("mov.u32 %r2, %t;"+one("")), want: []string{"!call"}},
	{what: "ranges of caller and callee hide globals", text: ".global .b32 v2 = 9, w11 = 12;\n" + function(plain, ".reg .b32 v<3>; .local .b32 w<12>; ld.param.u32 v2, [a]; st.local.u32 [w11], v2; ld.local.u32 v1, [w11]; st.param.b32 [r], v1; ret;") + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [v2]; ld.global.u32 %r3, [w11]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; ret;") + kernel(".reg .b32 v<12>, w<12>; mov.u32 v2, 4; mov.u32 w11, 5; mov.u32 v10, 6; mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")+"add.u32 %r1, %r1, v2; add.u32 %r1, %r1, w11; add.u32 %r1, %r1, v10;"), want: []string{"!call"}},
	{what: "an object of the callee is called as a parameter of the caller", options: optimize.Options{Request: optimize.Request{Inline: []string{"f", "g"}}}, text: function("(.param .b32 r) h(.param .b32 z)", strings.ReplaceAll(double, "[a]", "[z]")) + function("(.param .b32 r) g(.param .b32 z)", "ld.param.u32 %r2, [z]; mov.u32 %r1, 3;"+strings.ReplaceAll(one(""), ", f,", ", h,")+"st.param.b32 [r], %r1; ret;") +
		function("(.param .b32 q) w(.param .b32 x)", "ld.param.u32 %r2, [x]; mov.u32 %r1, 4; { .param .b32 y, p; st.param.b32 [y], %r2; call (p), g, (y); ld.param.b32 %r3, [p]; } add.u32 %r1, %r1, %r3; st.param.b32 [q], %r1; ret;") + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", ", w,")), calls: 2, reasons: []string{"no Options.Optimize.Inline pattern matches", "no Options.Optimize.Inline pattern matches"}},
	{what: "a register of the caller is called as a label", text: function(plain, "ld.param.u32 %r1, [a]; setp.gt.u32 %p1, %r1, 1; @%p1 bra X; st.global.u32 [%at+8], %r1; X: st.param.b32 [r], %r1; ret;") + kernel(".reg .b32 X; mov.u32 X, 4; mov.u32 %r2, %t;"+one("")+"add.u32 %r1, %r1, X;")},
	{what: "labels of one name in the caller and two calls", text: function(plain, "ld.param.u32 %r1, [a]; setp.gt.u32 %p1, %r1, 1; @%p1 bra L; st.global.u32 [%at+8], %r1; L: st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.eq.u32 %p1, %t, 0; @%p1 bra L;"+one("")+one("")+"L: st.global.u32 [%at+12], %t;")},
	{what: "a table of branches", text: function(plain, "ld.param.u32 %r1, [a]; B: .branchtargets L<3>, M; brx.idx %r1, B; L0: st.param.b32 [r], 10; ret; L1: st.param.b32 [r], 11; ret; L2: st.global.u32 [%at+8], %r1; M: st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{what: "a table with one label that hides a global", text: ".global .b32 W1 = 5;\n" + function(plain, "ld.param.u32 %r1, [a]; st.param.b32 [r], 9; setp.gt.u32 %p1, %r1, 2; @%p1 ret; bra S; W0: st.param.b32 [r], 10; ret; W1: st.param.b32 [r], 11; ret; W2: st.global.u32 [%at+8], %r1; ret; S: B: .branchtargets W<3>; brx.idx %r1, B;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{what: "a parameter without alignment", text: function("(.param .b32 r) f(.param .b8 a[16])", "mov.b64 %d1, a; ld.local.u64 %d2, [%d1+8]; cvt.u32.u64 %r1, %d2; st.param.b32 [r], %r1; ret;") + kernel(call(".param .b8 x[16]; .param .b32 q;", "st.param.v4.b32 [x], {1, 2, 3, 4};", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reject: true, want: []string{".local .align 16 .b8"}},
	{what: "a pragma for the function", text: function(plain, "\t.pragma \"unknown\";\n"+double) + kernel("mov.u32 %r2, %t;"+one("")), calls: 1, reasons: []string{"it has a .pragma for the function"}},
	{what: "a loop with a pragma", text: function(plain, "ld.param.u32 %r1, [a]; mov.u32 %r2, 0; L: .pragma \"nounroll\"; add.u32 %r2, %r2, 1; st.global.u32 [%at+8], %r2; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L; st.param.b32 [r], %r2; ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{what: "a name declared behind the caller", text: ".func " + plain + ";\n" + kernel("mov.u32 %r2, %t;"+one("")) + ".global .b32 late = 3;\n" + function(plain, "ld.param.u32 %r1, [a]; ld.global.u32 %r2, [late]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;"), calls: 1, reasons: []string{"late is declared after the caller"}},
	{what: "a callee behind the caller", text: ".func " + plain + ";\n" + kernel("mov.u32 %r2, %t;"+one("")) + function(plain, double), want: []string{"!.func " + plain}},

	{what: "static objects are one object", text: function(plain, ".global .align 4 .b32 count = 5; .shared .align 4 .b32 s[4]; .const .align 4 .b32 c[2] = {7, 8}; .const .align 8 .u64 p = generic(gv); ld.param.u32 %r1, [a]; atom.global.add.u32 %r2, [count], 1; ld.const.u32 %r3, [c+4]; st.shared.u32 [s+4], %r3; ld.shared.u32 %r3, [s+4]; ld.const.u64 %d1, [p]; ld.u32 %r4, [%d1]; add.u32 %r3, %r3, %r4; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), want: []string{"1*.global .align 4 .b32 f$count = 5;", "1*.shared .", "1*f$c["}},
	{what: "a static object whose value is declared late", text: ".func " + plain + ";\n" + kernel("mov.u32 %r2, %t;"+one("")) + ".global .b32 late = 3;\n" + function(plain, ".global .u64 count = late; ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;"), calls: 1, reasons: []string{"its static object count cannot be moved"}},

	{what: "a range of static objects", text: function(plain, ".shared .b32 s<2>; ld.param.u32 %r1, [a]; st.shared.u32 [s1], %r1; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), calls: 1, reasons: []string{"its static object s cannot be moved"}},
	{what: "a static object whose initial value gives its size", text: function(plain, ".global .b32 s[] = {5, 6}; ld.param.u32 %r1, [a]; st.global.u32 [s], %r1; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), reject: true, reasons: []string{"its static object s cannot be moved"}},
	{what: "a pointer to a parameter that is stored in words", text: function("(.param .b32 r) f(.param .b8 a[16])", "mov.b64 %d1, a; ld.local.u64 %d2, [%d1+8]; cvt.u32.u64 %r1, %d2; st.param.b32 [r], %r1; ret;") + kernel(call(".param .b8 x[16]; .param .b32 q;", "st.param.b32 [x], 1; st.param.b32 [x+4], 2; st.param.b32 [x+8], %t; st.param.b32 [x+12], 4;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reject: true, want: []string{".local .align 8 .b8"}},
	{what: "recursion", options: optimize.Options{Request: optimize.Request{Inline: []string{"*"}}}, text: ".func (.param .b32 r) g(.param .b32 a);\n" + function(plain, "ld.param.u32 %r2, [a]; mov.u32 %r1, 1; setp.eq.u32 %p1, %r2, 0; st.param.b32 [r], 1; @%p1 ret; sub.u32 %r2, %r2, 1;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r2, [a]; mov.u32 %r1, 1; setp.eq.u32 %p1, %r2, 0; st.param.b32 [r], 1; @%p1 ret; sub.u32 %r2, %r2, 1;"+one("")+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, 5;"+one("")), calls: 3, reasons: []string{"it is recursive", "it is recursive", "it is recursive"}},
	{what: "alloca", text: function(plain, "ld.param.u32 %r1, [a]; alloca.u64 %d1, 16; st.local.u32 [%d1], %r1; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), reasons: []string{"it uses alloca"}, calls: 1},
	{what: "a function that does not return", text: ".func f(.param .b32 a) .noreturn\n{ trap; }\n" + kernel("setp.eq.u32 %p1, %t, 99; { .param .b32 a; st.param.b32 [a], 1; @%p1 call f, (a); }"), reasons: []string{"it has .noreturn"}, calls: 1},
	{what: "a variable number of arguments", text: function("f(.param .align 4 .b8 a[])", "ret;") + kernel("{ .param .align 4 .b8 a[4]; st.param.b32 [a], 1; call f, (a); }"), reasons: []string{"it has a variable number of arguments"}, calls: 1, reject: true},
	{what: "a vector parameter", text: function("f(.reg .v2 .b32 a)", "st.global.v2.b32 [%at+8], a; ret;") + kernel(".reg .v2 .b32 v; mov.v2.b32 v, {%t, 3}; setp.eq.u32 %p1, %t, 99; @%p1 call f, (v);"), reasons: []string{"parameter types that are not understood"}, calls: 1},
	{what: "a branch to a label that is not there", text: function(plain, "T: .branchtargets L<2>; ld.param.u32 %r1, [a]; brx.idx %r1, T; L0: ret;") + kernel("mov.u32 %r2, %t;"+one("")), reasons: []string{"a branch target that is not defined"}, reject: true},
	{what: "a range of objects", text: function(plain, double) + function("g(.param .b32 a)", ".param .b32 p<2>, o<2>; ld.param.u32 %r2, [a]; st.param.b32 [p1], %r2; call (o1), f, (p1); ld.param.b32 %r3, [o1]; st.global.u32 [%at+8], %r3; ret;") + kernel("{ .param .b32 x; st.param.b32 [x], %t; call g, (x); }"), reasons: []string{"a range of objects", "argument o1 is not an object of the caller"}, calls: 2},
	{what: "an argument that is loaded before the call, at which ptxas crashes", text: function(plain, double) + kernel(call(".param .b32 x; .param .b32 q;", "st.param.b32 [x], %t; ld.param.b32 %r2, [x];", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), reasons: []string{"argument x is loaded before or stored after the call"}, reject: true},
	{what: "a result that is stored after the call", text: function(plain, double) + kernel(call(".param .b32 x; .param .b32 q;", "st.param.b32 [x], %t;", "call (q), f, (x);", "ld.param.b32 %r1, [q]; st.param.b32 [q], 1;")), reasons: []string{"argument q is loaded before or stored after the call"}, calls: 1},
	{what: "an argument that is stored behind the call too", text: function("(.param .b32 r) f(.param .align 8 .b8 a[16])", "mov.b64 %d1, a; and.b32 %r1, %t, 1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.local.u32 %r1, [%d1]; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r5, 0; { .param .align 8 .b8 a[16]; .param .b32 q; L: st.param.b64 [a], 7; call (q), f, (a); st.param.b64 [a], 9; ld.param.b32 %r2, [q]; add.u32 %r1, %r1, %r2; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L; }"), calls: 1, reasons: []string{"argument a is not stored right before the call"}},
	{what: "a parameter that is passed on", text: function(plain, double) + function("(.param .b32 r) g(.param .b32 a)", ".param .b32 q; call (q), f, (a); ld.param.b32 %r1, [q]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", ", g,")), reasons: []string{"argument a is not an object of the caller", "its code uses a parameter in a way that is not understood"}, reject: true},
	{what: "a parameter in another statement", text: function(plain, "cvt.u64.u64 %d1, a; st.param.b32 [r], 1; ret;") + kernel("mov.u32 %r2, %t;"+one("")), reasons: []string{"its code uses a parameter in a way that is not understood"}, reject: true},
	{what: "an argument that is an expression", options: optimize.Options{Request: optimize.Request{Inline: []string{"*"}}}, text: function(plain, double) + kernel(call(".param .b32 x; .param .b32 q;", "st.param.b32 [x], 3+4;", "call (q), f, (x);", "ld.param.b32 %r1, [q];")), want: []string{"!call"}},
	{what: "a result that is an expression", options: optimize.Options{Request: optimize.Request{Inline: []string{"*"}}}, text: function(plain, "st.param.b32 [r], 3+4; ret;") + kernel("mov.u32 %r2, %t;"+one("")), want: []string{"!call"}},
	{what: "a call of the driver", text: kernel("{ .param .b64 x, y; .param .b32 q; st.param.b64 [x], 0; st.param.b64 [y], 0; setp.eq.u32 %p1, %t, 99; @%p1 call (q), vprintf, (x, y); }"), calls: 1},
	{what: "a thread that ends", text: function(plain, "ld.param.u32 %r1, [a]; st.global.u32 [%at+8], %r1; st.param.b32 [r], %r1; setp.eq.u32 %p1, %r1, 2; @%p1 exit; ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{what: "a barrier", text: function(plain, ".shared .align 4 .b32 s[32]; mul.wide.u32 %d1, %t, 4; mov.u64 %d2, s; add.u64 %d2, %d2, %d1; ld.param.u32 %r1, [a]; st.shared.u32 [%d2], %r1; bar.sync 0; ld.shared.u32 %r2, [s+8]; st.param.b32 [r], %r2; ret;") + kernel("add.u32 %r2, %t, 5;"+one(""))},
	{what: "a function whose address is taken stays", text: function(plain, double) + ".global .u64 table = f;\n" + kernel("mov.u32 %r2, %t;"+one("")), want: []string{".func " + plain, "!call"}},
	{what: "an alias", text: ".visible .func (.param .b32 r) h(.param .b32 a);\n" + strings.Replace(function(plain, double), ".func", ".visible .func", 1) + ".alias h, f;\n" + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", ", h,")), want: []string{".alias h, f", "!call", ".visible .func (.param .b32 r) f"}},
	{what: "weak functions for nvlink", options: optimize.Options{Request: optimize.Request{Level: 2, Interposable: true}}, text: ".weak " + function(plain, double) + ".visible " + function("(.param .b32 r) g(.param .b32 a)", double) + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,")), calls: 1, reasons: []string{"nvlink may choose another definition"}, want: []string{".visible .func (.param .b32 r) g"}},
	{what: "weak functions in a whole program", text: ".weak " + function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")), want: []string{"!.func (.param .b32 r) f"}},
	{what: "functions that are kept", options: optimize.Options{Request: optimize.Request{Level: 1}, Keep: []string{"x", "f"}}, text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")), want: []string{".func " + plain}},
	{what: "--no-inline", options: optimize.Options{Request: optimize.Request{Level: 2, NoInline: []string{"[f]"}}}, text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")), calls: 1, reasons: []string{"Options.Optimize.NoInline"}},
	{what: "the limit", options: optimize.Options{Request: optimize.Request{Level: 1, InlineLimit: 4}}, text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")+one("")), calls: 2, reasons: []string{"5 instructions and 2 calls", "5 instructions and 2 calls"}},
	{what: "a branch that is always taken does not count", options: optimize.Options{Request: optimize.Request{Level: 1, InlineLimit: 8}}, text: function(plain, "ld.param.u32 %r1, [a]; setp.gt.u32 %p1, %r1, 1; @%p1 bra L; mov.u32 %r1, 9; bra.uni M; L: bra N; N: mov.u32 %r1, 8; M: st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{what: "a branch that may be taken counts", options: optimize.Options{Request: optimize.Request{Level: 1, InlineLimit: 7}}, text: function(plain, "ld.param.u32 %r1, [a]; setp.gt.u32 %p1, %r1, 1; @%p1 bra L; mov.u32 %r1, 9; bra.uni M; L: bra N; N: mov.u32 %r1, 8; M: st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")), calls: 2, reasons: []string{"8 instructions and 2 calls", "8 instructions and 2 calls"}},
	{what: "growth at level 2", options: optimize.Options{Request: optimize.Request{Level: 2, InlineLimit: 4}}, text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")+one(""))},

	{what: "too much growth at level 2", options: optimize.Options{Request: optimize.Request{Level: 2, InlineLimit: 7}}, text: function(plain, strings.Repeat("add.u32 %t, %t, 1; ", 395)+double) + kernel("mov.u32 %r2, %t;"+one("")+one("")+one("")), calls: 3, reasons: []string{"400 instructions and 3 calls", "400 instructions and 3 calls", "400 instructions and 3 calls"}},
	{what: "a caller with DWARF", text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")) + ".section .debug_info { .b64 k }\n", calls: 1, reasons: []string{"the caller has debug information"}},
	{what: "a callee with DWARF", text: function(plain, double) + kernel("mov.u32 %r2, %t;"+one("")) + ".section .debug_info { .b64 f }\n", calls: 1, reasons: []string{"it has debug information"}},
	{what: "a function behind a register", text: function(plain, double) + kernel("mov.u32 %r2, %t; mov.u64 %d1, f; mov.b64 %d2, %d1;"+"P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d2,"), "(x);", "(x), P;")), want: []string{"!.func", "!%d1,", "!%d2,"}},
	{what: "a function that is an argument", text: function(plain, double) + function("(.param .b32 r) g(.param .b64 fn, .param .b32 b)", "mov.u32 %r1, 0; ld.param.u64 %d1, [fn]; ld.param.u32 %r2, [b]; P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d1,"), "(x);", "(x), P;")+"st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r2, %t; mov.u64 %d1, f;"+call(".param .b64 x; .param .b32 y; .param .b32 q;", "st.param.b64 [x], %d1; st.param.b32 [y], %r2;", "call (q), g, (x, y);", "ld.param.b32 %r1, [q];")), want: []string{"!.func (.param .b32 r)"}},
	{what: "a register with two definitions", text: function(plain, double) + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.eq.u32 %p1, %t, 1; mov.u64 %d1, f; @%p1 mov.u64 %d1, g;"+"P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d1,"), "(x);", "(x), P;")), calls: 1, want: []string{".func (.param .b32 r) g", ".func " + plain}},
	{what: "a register with definitions on two ways", text: function(plain, double) + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t; setp.eq.u32 %p1, %t, 1; mov.u64 %d1, f; @%p1 bra S; mov.u64 %d1, g; S:"+"P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d1,"), "(x);", "(x), P;")), calls: 1},
	{what: "an indirect call in a callee", text: function(plain, double) + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) w(.param .b32 c)", "mov.u32 %r1, 0; ld.param.u32 %r2, [c]; setp.eq.u32 %p1, %t, 1; mov.u64 %d1, f; @%p1 mov.u64 %d1, g;"+"P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d1,"), "(x);", "(x), P;")+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one("")+one(""), ", f,", ", w,")), calls: 2},
	{what: "a pointer with another prototype", text: function(plain, double) + kernel("mov.u32 %r2, %t; mov.u64 %d1, f; P: .callprototype (.param .b64 _) _ (.param .b32 _); setp.eq.u32 %p1, %t, 99;"+call(".param .b32 x; .param .b64 q;", "st.param.b32 [x], %r2;", "@%p1 call (q), %d1, (x), P;", "")), calls: 1, want: []string{"%d1, (x), P;"}},
	{what: "a pointer that is also stored", text: function(plain, double) + kernel("mov.u32 %r2, %t; mov.u64 %d1, f;"+"P: .callprototype (.param .b32 _) _ (.param .b32 _);"+strings.ReplaceAll(strings.ReplaceAll(one(""), ", f,", ", %d1,"), "(x);", "(x), P;")+"setp.eq.u64 %p1, %d1, 0; @%p1 mov.u32 %r1, 4;"), want: []string{"mov.u64 %d1, f;", "!call.uni"}},
}

// pointed calls f with an address in %d3 and %t, and f accesses what it points to.
func pointed(setup, body string) string {
	return ".const .align 4 .b32 c[2] = {7, 8};\n" + function("(.param .b32 r) f(.param .b64 a, .param .b32 b)", "ld.param.u64 %d1, [a]; ld.param.u32 %r1, [b];"+body+"st.param.b32 [r], %r1; ret;") +
		kernel(".local .align 16 .b8 x[16]; .shared .align 8 .b8 y[64]; st.local.v4.u32 [x], {1, 2, 3, 4}; mul.wide.u32 %d4, %t, 8; mov.u64 %d5, y; add.u64 %d6, %d5, %d4; st.shared.v2.u32 [%d6], {%t, 9}; setp.lt.u32 %p1, %t, 2;"+setup+
			call(".param .b64 z; .param .b32 w; .param .b32 q;", "st.param.b64 [z], %d3; st.param.b32 [w], %t;", "call.uni (q), f, (z, w);", "ld.param.b32 %r1, [q];")+"ld.local.u32 %r5, [x]; ld.local.u32 %r6, [x+4]; st.global.v2.u32 [%at+8], {%r5, %r6}; ld.shared.u32 %r5, [%d6]; ld.shared.u32 %r6, [%d6+4]; st.global.v2.u32 [%at+16], {%r5, %r6};")
}

const local, shared, change = "cvta.local.u64 %d7, %d2;", "cvta.shared.u64 %d8, %d6;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; st.u32 [%d1+4], %r1;"

// spaceChecks are accesses through generic addresses, and the forms that are left of them.
var spaceChecks = []check{
	{what: "of .local", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", change), want: []string{"ld.local.u32 %r2", "!ld.u32", "!st.u32"}},
	{what: "of .shared", text: pointed(shared+"mov.b64 %d3, %d8;", change), want: []string{"ld.shared.u32 %r2", "!ld.u32", "!st.u32"}},
	{what: "of .global", text: pointed("add.u64 %d2, %at, 64; cvta.global.u64 %d3, %d2;", change), want: []string{"ld.global.u32 %r2", "!ld.u32", "!st.u32"}},
	{what: "of .const", text: pointed("cvta.const.u64 %d3, c;", "ld.u32 %r2, [%d1+4]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.const.u32 %r2", "!ld.u32"}},
	{what: "of a variable", text: pointed("cvta.global.u64 %d3, gv;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.global.u32 %r2", "!ld.u32"}},
	{what: "with an index", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "and.b32 %r2, %r1, 1; mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d2, %d1; ld.u8 %r2, [%d3+4]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u8", "!ld.u8"}},
	{what: "with an index of a table", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "ld.u32 %d2, [%d1]; shl.b64 %d2, %d2, 2; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u8", "!ld.u8"}},
	{what: "with a masked index", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "ld.u64 %d4, [%d1]; and.b64 %d2, %d4, 4; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u8", "!ld.u8"}},
	{what: "with an index of 64 bits", text: pointed("mov.u64 %d2, x; mov.u64 %d10, 4; st.local.u64 [x+8], %d10;"+local+"add.u64 %d3, %d7, 0;", "ld.u64 %d2, [%d1+8]; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u64", "ld.u8"}},
	{what: "with a mask that keeps the high half of an index", text: pointed("mov.u64 %d2, x; mov.u64 %d10, 4; st.local.u64 [x+8], %d10;"+local+"add.u64 %d3, %d7, 0;", "ld.u64 %d4, [%d1+8]; and.b64 %d2, %d4, -4; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u64", "ld.u8"}},
	{what: "with an index that cvt does not shorten", text: pointed("mov.u64 %d2, x; mov.u64 %d10, 4; st.local.u64 [x+8], %d10;"+local+"add.u64 %d3, %d7, 0;", "ld.u64 %d4, [%d1+8]; cvt.s64.s64 %d2, %d4; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u64", "ld.u8"}},
	{what: "with an index by other instructions", text: pointed("mov.u64 %d2, x; mov.u64 %d10, 4; st.local.u64 [x+8], %d10;"+local+"add.u64 %d3, %d7, 0;", "ld.u64 %d4, [%d1+8]; brev.b64 %d5, %d4; brev.b64 %d2, %d5; add.s64 %d3, %d1, %d2; ld.u8 %r2, [%d3]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u64", "ld.u8"}},
	{what: "with a sum of indices in a loop", text: pointed(shared+"mov.b64 %d3, %d8;", "mov.u64 %d2, 0; mov.u64 %d4, 0; L: add.u64 %d3, %d1, %d2; ld.u32 %r2, [%d3]; add.u32 %r1, %r1, %r2; add.u64 %d2, %d2, %d4; add.u64 %d4, %d4, 4; setp.lt.u64 %p1, %d4, 12; @%p1 bra L;"), want: []string{"ld.shared.u32 %r2", "!ld.u32"}},
	{what: "with an index of 64 bits in a loop", text: pointed(shared+"mov.b64 %d3, %d8; st.global.u64 [%at+40], 4;", "ld.global.u64 %d5, [%at+40]; mov.u64 %d2, 0; mov.u64 %d4, 0; L: add.u64 %d3, %d1, %d2; ld.u32 %r2, [%d3]; add.u32 %r1, %r1, %r2; add.u64 %d2, %d2, %d4; mov.b64 %d4, %d5; setp.lt.u64 %p1, %d2, 8; add.u32 %r3, %r1, 0; @%p1 setp.lt.u32 %p1, %r1, 60; @%p1 bra L;"), want: []string{"!ld.shared.u32 %r2", "ld.u32"}},
	{what: "through the distance of two addresses", text: pointed("mov.u64 %d2, x;"+local+shared+"sub.u64 %d9, %d8, %d7; add.u64 %d3, %d7, %d9;", change), want: []string{"ld.u32 %r2", "st.u32"}},
	{what: "through the distance of two addresses in 32 bits", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d10, %d7, 4; sub.u64 %d9, %d10, %d7; cvt.u32.u64 %r7, %d9; cvt.s64.s32 %d11, %r7; add.u64 %d3, %d11, %d7;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.u32 %r2"}},
	{what: "through the distance of two addresses, a turn of a loop later", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d3, %d7;", "mov.u32 %r7, 0; mov.u32 %r3, 0; L: mov.b32 %r8, %r7; cvt.s64.s32 %d2, %r8; add.s64 %d3, %d1, %d2; ld.u32 %r2, [%d3]; add.u32 %r1, %r1, %r2; sub.u64 %d9, %d1, %d1; cvt.u32.u64 %r7, %d9; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 2; @%p1 bra L;"), want: []string{"ld.u32 %r2"}},
	{what: "in a loop", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "mov.u32 %r3, 0; L: ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; add.s64 %d1, %d1, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra L;"), want: []string{"ld.local.u32 %r2", "!ld.u32"}},
	{what: "backwards", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 12;", "mov.u32 %r3, 0; L: ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2; sub.s64 %d1, %d1, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra L;"), want: []string{"ld.local.u32 %r2", "!ld.u32"}},
	{what: "with two definitions in one space", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0; @%p1 add.u64 %d3, %d7, 8;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u32 %r2", "!ld.u32"}},
	{what: "with a choice in one space", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d10, %d7, 8; selp.b64 %d3, %d7, %d10, %p1;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.local.u32 %r2", "!ld.u32"}},
	{what: "with two definitions in two spaces", text: pointed("mov.u64 %d2, x;"+local+shared+"add.u64 %d3, %d7, 0; @%p1 mov.b64 %d3, %d8;", change), want: []string{"ld.u32 %r2", "st.u32"}},
	{what: "with an address of each of two spaces", text: pointed("mov.u64 %d2, x; cvta.local.u64 %d3, %d2; @%p1 cvta.shared.u64 %d3, %d6;", change), want: []string{"ld.u32 %r2", "st.u32"}},
	{what: "with a choice of two spaces", text: pointed("mov.u64 %d2, x;"+local+shared+"selp.b64 %d3, %d7, %d8, %p1;", change), want: []string{"ld.u32 %r2", "st.u32"}},
	{what: "with a definition that is not understood", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d3, %d7; @%p1 xor.b64 %d3, %d7, 8;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, 1;"), want: []string{"ld.u32 %r2"}},
	{what: "with a later definition that is not understood", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d10, %d7; mov.b64 %d3, %d10; xor.b64 %d10, %d7, 8;", change), want: []string{"ld.u32 %r2"}},
	{what: "with a definition from memory", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d3, %d7; cvta.global.u64 %d8, %at; st.global.u64 [%at+40], %d8; @%p1 ld.global.u64 %d3, [%at+40];", change), want: []string{"ld.u32 %r2"}},
	{what: "with a definition in a vector", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d3, %d7; cvta.global.u64 %d8, %at; st.global.u64 [%at+40], %d8; @%p1 ld.global.v2.u32 {%r3, %r4}, [%at+40]; @%p1 mov.b64 %d3, {%r3, %r4};", change), want: []string{"ld.u32 %r2"}},
	{what: "with a definition behind another in a vector", text: pointed("mov.u64 %d2, x;"+local+"mov.b64 %d3, %d7; cvta.global.u64 %d8, %at; st.global.v2.u64 [%at+32], {%d8, %d8}; @%p1 ld.global.v2.u64 {%d9, %d3}, [%at+32];", change), want: []string{"ld.u32 %r2"}},
	{what: "through the halves of a distance", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d10, %d7, 4; sub.u64 %d9, %d10, %d7; mov.b64 {%r7, %r8}, %d9; cvt.s64.s32 %d11, %r7; add.u64 %d3, %d11, %d7;", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.u32 %r2"}},
	{what: "with a register that also holds another address", text: pointed("mov.u64 %d3, x; cvta.local.u64 %d3, %d3;", change), want: []string{"ld.u32 %r2"}},
	{what: "made of a register that changes", text: pointed("mov.u64 %d2, x; cvta.local.u64 %d3, %d2; mov.u64 %d2, 0;", change), want: []string{"ld.local.u32 %r2"}},
	{what: "with vectors and narrow types", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "ld.v2.u32 {%r2, %r3}, [%d1+8]; st.v2.u32 [%d1], {%r3, %r2}; ld.s8 %h1, [%d1+1]; st.u16 [%d1+6], %h1; @%p1 ld.f32 %f1, [%d1]; @!%p1 st.b8 [%d1], %h1;"), want: []string{"ld.local.v2.u32", "st.local.v2.u32", "ld.local.s8", "st.local.u16", "ld.local.f32", "@!%p1 st.local.b8"}},
	{what: "volatile", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0;", "ld.volatile.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.volatile.u32"}},
	{what: "volatile in .shared", text: pointed(shared+"mov.b64 %d3, %d8;", "ld.volatile.u32 %r2, [%d1]; st.relaxed.cta.u32 [%d1+4], %r2; add.u32 %r1, %r1, %r2;"), want: []string{"ld.volatile.shared.u32", "st.relaxed.cta.shared.u32"}},
	{what: "by atomic operations", text: pointed(shared+"mov.b64 %d3, %d8;", "atom.add.u32 %r2, [%d1], 5; red.relaxed.gpu.or.b32 [%d1+4], 64; atom.acq_rel.cta.cas.b32 %r3, [%d1], 5, %r1; add.u32 %r1, %r3, %r2;"), want: []string{"atom.shared.add.u32", "red.relaxed.gpu.shared.or.b32", "atom.acq_rel.cta.shared.cas.b32"}},
	{what: "back to the space", text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 4;", "cvta.to.local.u64 %d2, %d1; ld.local.u32 %r2, [%d2]; add.u32 %r1, %r1, %r2;"), want: []string{"!cvta.to"}},
	{what: "back to the space of an address from memory", text: pointed("cvta.global.u64 %d8, %at; st.global.u64 [%at+40], %d8; ld.global.u64 %d3, [%at+40];", "cvta.to.global.u64 %d2, %d1; ld.global.u32 %r2, [%d2+40]; add.u32 %r1, %r1, 3;"), want: []string{"cvta.to.global"}},
	{what: "of a parameter of the kernel", text: pointed("mov.u64 %d2, gv; cvta.global.u64 %d3, %d2; setp.gt.u32 %p2, %t, 99; @%p2 ld.param.u32 %d3, [seed];", "ld.u32 %r2, [%d1]; add.u32 %r1, %r1, %r2;"), want: []string{"ld.u32 %r2"}},
	{what: "in a parameter that the body assigns", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, text: function("g()", "st.global.u32 [%at+8], 3; ret;") +
		function("f(.reg .b64 a)", ".local .align 8 .b8 x[16]; mov.u64 %d2, x; st.local.u32 [x], 7;"+even+"@%p1 cvta.local.u64 a, %d2; ld.u32 %r1, [a]; st.global.u32 [%at+12], %r1; call g; ret;") +
		kernel("cvta.global.u64 %d1, %at; st.global.u32 [%at], 5; call f, (%d1);"), calls: 1, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"ld.u32 %r1"}},
	{what: "with an index in a parameter that the body assigns", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, text: function("g()", "st.global.u32 [%at+8], 3; ret;") +
		function("f(.reg .b64 i)", ".local .align 8 .b8 x[16]; mov.u64 %d2, x; st.local.v2.u32 [x], {7, 8};"+even+"cvta.local.u64 %d3, %d2; @%p1 mov.u64 i, 4; add.u64 %d3, %d3, i; ld.u32 %r1, [%d3]; st.global.u32 [%at+12], %r1; call g; ret;") +
		kernel("mov.u64 %d1, 0; call f, (%d1);"), calls: 1, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"ld.u32 %r1"}},
	{what: "in a function that did not grow", options: optimize.Options{Request: optimize.Request{Level: 1, NoInline: []string{"f"}}}, text: pointed("mov.u64 %d2, x;"+local+"add.u64 %d3, %d7, 0; ld.u32 %r4, [%d3];", "ld.u32 %r2, [%d1];"), calls: 1, reasons: []string{"Options.Optimize.NoInline"}, want: []string{"ld.u32 %r4"}},
}

// TestInline checks what becomes of calls of each form: the interpreter sees no
// difference, ptxas accepts the module, and the code has as many calls as it should.
func TestInline(t *testing.T) { runChecks(t, checks) }

// TestSpaces does the same for accesses through generic addresses.
func TestSpaces(t *testing.T) { runChecks(t, spaceChecks) }

func runChecks(t *testing.T, checks []check) {
	for _, c := range checks {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			o := c.options
			if !o.Enabled() {
				o.Level = 1
			}
			text := header + c.text
			r, err := same(text, o, 3)
			if err != nil && !(strings.HasPrefix(err.Error(), "before: ") && (c.reject || strings.Contains(err.Error(), "not supported"))) {
				if r != nil {
					t.Logf("%s", r.Text)
				}
				t.Fatal(err)
			}
			var reasons []string
			for _, call := range r.Calls {
				if !call.Inlined {
					reasons = append(reasons, call.Reason)
				}
			}
			if !slices.Equal(reasons, c.reasons) {
				t.Errorf("reasons %q, want %q", reasons, c.reasons)
			}
			out := string(r.Text)
			_, body, _ := strings.Cut(out, "vprintf (")
			for _, want := range c.want {
				n := -1
				if count, rest, ok := strings.Cut(want, "*"); ok && len(count) == 1 {
					n, want = int(count[0]-'0'), rest
				}
				if absent, ok := strings.CutPrefix(want, "!"); ok {
					n, want = 0, absent
				}
				if got := strings.Count(body, want); n >= 0 && got != n || got == 0 && n < 0 {
					t.Errorf("%q is in the output %d times", want, got)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
			if c.reject {
				return
			}
			sass := assemble(t, "ptxas", out)
			if got := strings.Count(sass, "CALL."); got != c.calls && sass != "" {
				t.Errorf("%d calls in the code, want %d\n%s", got, c.calls, out)
			}
			if c.registers && (strings.Contains(sass, "LDL") || strings.Contains(sass, "STL")) {
				t.Errorf("the code accesses local memory\n%s", out)
			}
			if !testing.Short() {
				assemble(t, "ptxas-new", out)
			}
		})
	}
}

// TestNesting inlines a chain of functions: no scope is nested deeper than ptxas can
// read, and no round is needed for each function.
func TestNesting(t *testing.T) {
	var b strings.Builder
	const n = 130
	for i := range n {
		inner := "ld.param.u32 %r2, [a]; mov.u32 %r1, 1;"
		if i > 0 {
			inner += strings.ReplaceAll(one(""), ", f,", fmt.Sprintf(", f%d,", i-1))
		}
		b.WriteString(function(fmt.Sprintf("(.param .b32 r) f%d(.param .b32 a)", i), inner+"add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;"))
	}
	text := header + b.String() + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", fmt.Sprintf(", f%d,", n-1)))
	r, err := same(text, optimize.Options{Request: optimize.Request{Level: 1}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range r.Calls {
		if !c.Inlined {
			refused++
			if c.Reason != "it is nested too deep" {
				t.Error(c)
			}
		}
	}
	if refused != 2 {
		t.Errorf("%d calls are left, want 2", refused)
	}
	assemble(t, "ptxas", string(r.Text))
}

// TestEditChangesOneFunction adds a call to one function. The others stay as they are, so
// that a cache of their machine code still holds.
func TestEditChangesOneFunction(t *testing.T) {
	f := function(plain, "ld.param.u32 %r2, [a]; add.u32 %r1, %r2, 3; st.param.b32 [r], %r1; ret;")
	last := func(calls int) string {
		k := strings.Replace(kernel("mov.u32 %r2, %t;"+one("")), "entry k", "entry last", 1)
		r, err := same(header+f+kernel("mov.u32 %r2, %t;"+strings.Repeat(one(""), calls))+k, optimize.Options{Request: optimize.Request{Level: 1}}, 3)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(r.Text), "entry last")
		return text
	}
	if a, b := last(1), last(2); a != b {
		t.Errorf("%s\nbecomes\n%s", a, b)
	}
}
