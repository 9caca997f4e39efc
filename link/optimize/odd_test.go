package optimize_test

import (
	"os"
	"strings"
	"testing"

	"ptxlink/link/optimize"
)

// odd are shapes that no compiler writes.
var odd = []struct{ what, text string }{
	{"a result in a register that a guarded call leaves", function("(.reg .b32 r) f(.reg .b32 a)", "add.u32 r, a, 9; ret;") + kernel("setp.lt.u32 %p1, %t, 2; mov.u32 %r1, 5; @%p1 call (%r1), f, (%t);")},
	{"an argument register that is the result", function("(.reg .b32 r) f(.reg .b32 r2, .reg .b32 b)", "mov.u32 r, 1; add.u32 r, r, r2; sub.u32 r2, r2, b; add.u32 r, r, r2; ret;") + kernel("mov.u32 %r1, %t; call (%r1), f, (%r1, %r1); call (%r1), f, (%r1, 3);")},
	{"two results, swapped", function("(.reg .b32 r, .reg .b32 s) f(.reg .b32 a, .reg .b32 b)", "mov.b32 r, b; mov.b32 s, a; ret;") + kernel("mov.u32 %r1, %t; mov.u32 %r2, 77; call (%r1, %r2), f, (%r1, %r2); st.global.u32 [%at+8], %r2;")},
	{"a parameter in a register that is assigned in a loop", function("(.reg .b32 r) f(.reg .b32 n)", "mov.u32 r, 0; L: add.u32 r, r, n; sub.u32 n, n, 1; setp.gt.s32 %p1, n, 0; @%p1 bra L; ret;") + kernel("mov.u32 %r2, %t; call (%r1), f, (%r2); add.u32 %r1, %r1, %r2;")},
	{"a register parameter of an outer call in a nested one", function("(.reg .b32 r) g(.reg .b32 a)", "mul.lo.u32 r, a, 3; mov.u32 a, 0; ret;") + function("(.reg .b32 r) f(.reg .b32 a)", "call (r), g, (a); add.u32 r, r, a; ret;") + kernel("call (%r1), f, (%t);")},
	{"a predicate tuple", function("(.reg .b32 r) f(.reg .b32 a)", "setp.lt.and.u32 %p1|%p2, a, 2, %p3; selp.u32 r, 4, 5, %p1; @%p2 add.u32 r, r, 100; ret;") + kernel("setp.ge.u32 %p3, %t, 1; call (%r1), f, (%t);")},
	{"labels of one name in nested blocks", function("(.reg .b32 r) f(.reg .b32 a)", "mov.u32 r, 0; { setp.eq.u32 %p1, a, 1; @%p1 bra L; add.u32 r, r, 1; L: { @%p1 bra L; add.u32 r, r, 2; L: add.u32 r, r, 4; } } setp.eq.u32 %p1, a, 2; @%p1 bra L; add.u32 r, r, 8; L: ret;") + kernel("call (%r1), f, (%t);")},
	{"a label called like the callee", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+"bra g; g: add.u32 %r1, %r1, 1;")},
	{"a block of the callee that hides its parameter", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; { .reg .b32 a; mov.u32 a, 7; add.u32 %r1, %r1, a; } ld.param.u32 %r2, [a]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{"a register with the name of an argument of the caller", function("(.param .b32 r) f(.param .b32 a)", ".reg .b32 x, q; ld.param.u32 x, [a]; add.u32 q, x, x; st.param.b32 [r], q; ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{"a callee called like one of its registers", function("(.param .b32 r) f(.param .b32 a)", ".reg .b32 f; ld.param.u32 f, [a]; add.u32 f, f, 5; st.param.b32 [r], f; ret;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{"a caller with a register called like another function", function("(.param .b32 r) f(.param .b32 a)", double) + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r2, [a]; mov.u32 %r1, 0;"+one("")+"st.param.b32 [r], %r1; ret;") + kernel(".reg .b32 f; mov.u32 f, 3; mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"add.u32 %r1, %r1, f;")},
	{"a result that is read in part", function("(.param .b64 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; add.u32 %r1, %r1, 1; st.param.b32 [r+4], %r1; ret;") + kernel("mov.u32 %r2, %t;"+call(".param .b32 x; .param .b64 q;", "st.param.b32 [x], %r2;", "call (q), f, (x);", "ld.param.u16 %h1, [q+4]; cvt.u32.u16 %r1, %h1; ld.param.s8 %r2, [q]; add.u32 %r1, %r1, %r2;"))},
	{"stores of a result under two predicates", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; setp.lt.u32 %p1, %r1, 2; @%p1 st.param.b32 [r], 5; @!%p1 st.param.b32 [r], -1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{"a store of a result behind the last label", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; bra M; L: st.param.b32 [r], %r1; ret; M: add.u32 %r1, %r1, 1; bra L;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{"a body that begins with its own block", function("f(.param .b32 a)", "") + function("(.param .b32 r) g(.param .b32 a)", "{ { ld.param.u32 %r1, [a]; } { .reg .b32 %r<2>; mov.u32 %r1, 4; } add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; } ret;") + kernel("mov.u32 %r2, %t;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"{ .param .b32 a; st.param.b32 [a], 1; call f, (a); }")},
	{"an argument in a block around the call", function("(.param .b32 r) f(.param .b32 a)", double) + kernel("{ .param .b32 x, q; { st.param.b32 [x], %t; } { { call (q), f, (x); } ld.param.b32 %r1, [q]; } }")},
	{"a call in a loop with its objects outside", function("(.param .b32 r) f(.param .b32 a)", double) + kernel(".param .b32 x, q; mov.u32 %r2, 0; L: st.param.b32 [x], %r2; call (q), f, (x); ld.param.b32 %r3, [q]; add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra L;")},
	{"an object in .local that keeps its value in a loop", function("(.param .b32 r) f(.param .b32 a)", ".local .b32 c[2]; ld.param.u32 %r1, [a]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; L: st.local.u32 [c], %r1; ld.local.u32 %r3, [c]; add.u32 %r2, %r2, %r3; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra L; st.param.b32 [r], %r2; ret;") + kernel("mov.u32 %r2, 3; mov.u32 %r5, 0; M:"+one("")+"add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2; @%p2 bra M;")},
	{"statics of two functions with one name", function("(.param .b32 r) f(.param .b32 a)", ".global .b32 n = 3; ld.param.u32 %r1, [a]; ld.global.u32 %r2, [n]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) g(.param .b32 a)", ".global .b32 n = 4; ld.param.u32 %r1, [a]; ld.global.u32 %r2, [n]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", g,"))},
	{"a variable called like a static object behind its function", ".global .b32 f$n = 100;\n" + function("(.param .b32 r) f(.param .b32 a)", ".global .b32 n = 3; ld.param.u32 %r1, [a]; ld.global.u32 %r2, [n]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+"ld.global.u32 %r2, [f$n]; add.u32 %r1, %r1, %r2;")},
	{"a register range called like a static object", function("(.param .b32 r) f(.param .b32 a)", ".global .b32 n2 = 3; ld.param.u32 %r1, [a]; ld.global.u32 %r2, [n2]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret;") + kernel(".reg .b32 f$n<4>; mov.u32 f$n2, 40; mov.u32 %r2, %t;"+one("")+"add.u32 %r1, %r1, f$n2;")},
	{"a static array in a nested block", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; { .global .align 4 .b32 n[2] = {3, 4}; ld.global.u32 %r2, [n+4]; } { .const .b32 n = 50; ld.const.u32 %r3, [n]; } add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{"a function that is called directly and through a register", targets + kernel(".reg .b64 %fp; mov.u64 %fp, g; mov.u32 %r2, %t;"+indirect+strings.ReplaceAll(one(""), ", f,", ", g,")+"mov.u64 %d2, g; setp.eq.u64 %p1, %fp, %d2; @%p1 add.u32 %r1, %r1, 7;")},
	{"a pointer chosen by selp", targets + kernel(even+".reg .b64 %fp; mov.u64 %d1, g; mov.u64 %d2, h; selp.b64 %fp, %d1, %d2, %p1; mov.u32 %r2, %t;"+indirect)},
	{"a pointer from a result", targets + function("(.param .b64 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; setp.eq.u32 %p1, %r1, 1; mov.u64 %d1, g; @%p1 mov.u64 %d1, h; st.param.b64 [r], %d1; ret;") + kernel(".reg .b64 %fp; "+call(".param .b32 x; .param .b64 q;", "st.param.b32 [x], %t;", "call (q), f, (x);", "ld.param.b64 %fp, [q];")+"mov.u32 %r2, %t;"+indirect)},
	{"a pointer that a callee returns unchanged", targets + function("(.reg .b64 r) f(.reg .b64 a)", "mov.b64 r, a; ret;") + kernel(".reg .b64 %fp; mov.u64 %d1, g; call (%fp), f, (%d1); mov.u32 %r2, %t;"+indirect)},
	{"a pointer that the callee may change", targets + function("(.reg .b64 r) f(.reg .b64 a, .reg .b32 n)", "mov.b64 r, a; setp.eq.u32 %p1, n, 2; @!%p1 ret; mov.u64 r, h; ret;") + kernel(".reg .b64 %fp; mov.u64 %d1, g; call (%fp), f, (%d1, %t); mov.u32 %r2, %t;"+indirect)},
	{"a pointer whose high half is set", targets + kernel(".reg .b64 %fp; mov.u64 %fp, g;"+even+"mov.b64 {%r8, %r9}, %fp; @%p1 mov.b64 %fp, {%r8, %r9}; mov.u32 %r2, %t;"+indirect)},
	{"a brx table around calls", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; T: .branchtargets A, B, C; and.b32 %r2, %r1, 3; min.u32 %r2, %r2, 2; st.param.b32 [r], 1; brx.idx %r2, T; A: st.param.b32 [r], 10; ret; B: bra C; C: st.param.b32 [r], 30; ret;") + kernel("T: .branchtargets X, Y; and.b32 %r4, %t, 1; mov.u32 %r2, %t; brx.idx %r4, T; X:"+one("")+"bra Z; Y: mov.u32 %r2, 7;"+one("")+one("")+"Z: add.u32 %r1, %r1, 1;")},
	{"early exits of two nested callees", function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], 1; setp.eq.u32 %p1, %r1, 1; @%p1 ret; st.param.b32 [r], 2; @!%p1 bra L; trap; L: ret;") + function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r2, [a]; st.param.b32 [r], 9; setp.eq.u32 %p1, %r2, 3; @%p1 ret; mov.u32 %r1, 0;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{"a thread that exits in a callee", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; setp.eq.u32 %p1, %r1, 1; st.global.u32 [%at+8], 3; @%p1 exit; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
	{"a body without a return that ends in a branch", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; bra N; M: st.param.b32 [r], %r1; ret; N: add.u32 %r1, %r1, 3; bra.uni M;") + kernel("mov.u32 %r2, %t;"+one(""))},
	{"a body that is only a block", function("(.param .b32 r) f(.param .b32 a)", "{ ld.param.u32 %r1, [a]; st.param.b32 [r], %r1; ret; }") + kernel("mov.u32 %r2, %t;"+one("")+"add.u32 %r1, %r1, 1;")},
	{"aggregates that pass through", function("(.param .align 16 .b8 r[16]) g(.param .align 16 .b8 a[16])", "ld.param.v2.u64 {%d1, %d2}, [a]; st.param.b64 [r+8], %d1; st.param.b64 [r], %d2; ret;") + function("(.param .align 16 .b8 r[16]) f(.param .align 16 .b8 a[16])", "ld.param.u64 %d3, [a]; ld.param.u64 %d4, [a+8]; { .param .align 16 .b8 x[16], y[16]; st.param.b64 [x], %d3; st.param.b64 [x+8], %d4; call (y), g, (x); ld.param.u32 %r1, [y+4]; ld.param.b64 %d5, [y]; ld.param.b64 %d6, [y+8]; } st.param.b64 [r], %d5; st.param.b64 [r+8], %d6; st.global.u32 [%at+8], %r1; ret;") + kernel("{ .param .align 16 .b8 x[16], y[16]; st.param.v4.b32 [x], {%t, 2, 3, 4}; call (y), f, (x); ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [y]; } add.u32 %r1, %r1, %r3; st.global.v2.u32 [%at+16], {%r2, %r4};")},
	{"arguments stored out of order and twice", function("(.param .b32 r) f(.param .b32 a, .param .b64 b)", "ld.param.u32 %r1, [a]; ld.param.u64 %d1, [b]; cvt.u32.u64 %r2, %d1; sub.u32 %r1, %r1, %r2; st.param.b32 [r], 0; st.param.b32 [r], %r1; ret;") + kernel("{ .param .b32 q; .param .b64 y; .param .b32 x; st.param.b64 [y], 9; st.param.b32 [x], 1; st.param.b64 [y], 5; st.param.b32 [x], %t; call (q), f, (x, y); ld.param.b32 %r1, [q]; ld.param.b32 %r2, [q]; add.u32 %r1, %r1, %r2; }")},
	{"an argument that the callee never reads", function("(.param .b32 r) f(.param .b32 a, .param .align 4 .b8 b[40])", "st.param.b32 [r], 6; ret;") + kernel("{ .param .b32 q, x; .param .align 4 .b8 y[40]; st.param.b32 [x], 1; st.param.b32 [y+36], %t; call (q), f, (x, y); ld.param.b32 %r1, [q]; }")},
	{"a result that nothing reads and a call for its effect", function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r1, [a]; atom.global.add.u32 %r2, [%at+8], %r1; st.param.b32 [r], %r2; ret;") + kernel("{ .param .b32 q, x; st.param.b32 [x], 4; call (q), f, (x); st.param.b32 [x], 5; } { .param .b32 q, x; st.param.b32 [x], 5; call (q), f, (x); }")},
	{"folded functions with swapped statics of the module", ".global .b32 u = 1, v = 2;\n" + function("(.param .b32 r) f(.param .b32 a)", "ld.global.u32 %r1, [u]; st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) g(.param .b32 a)", "ld.global.u32 %r1, [v]; st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one("")+strings.ReplaceAll(one(""), ", f,", ", g,"))},
	{"folded functions with lists of other functions", targets + function("(.param .b32 r) f(.param .b32 a)", "ld.param.u32 %r2, [a]; .reg .b64 %fp; mov.u64 %fp, g; mov.u32 %r1, 0;"+indirect+"st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) e(.param .b32 a)", "ld.param.u32 %r2, [a]; .reg .b64 %fp; mov.u64 %fp, h; mov.u32 %r1, 0;"+indirect+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, %t;"+one("")+strings.ReplaceAll(one(""), ", f,", ", e,"))},
	{"folded functions whose pointers are compared", strings.ReplaceAll(targets, "200", "100") + kernel(".reg .b64 %fp; mov.u64 %fp, g; mov.u64 %d1, h; setp.eq.u64 %p1, %fp, %d1; @%p1 add.u32 %r1, %r1, 1000; mov.u32 %r2, %t;"+indirect+strings.ReplaceAll(one(""), ", f,", ", h,"))},
	{"folded functions of which one is called through a register", strings.ReplaceAll(targets, "200", "100") + kernel(".reg .b64 %fp; mov.u64 %fp, g; @%p1 mov.u64 %fp, 0; mov.u32 %r2, %t; @!%p1 bra L; bra E; L:"+indirect+strings.ReplaceAll(one(""), ", f,", ", h,")+"E:")},
	{"recursion between two functions with the same code", ".func (.param .b32 r) g(.param .b32 a);\n" + function(plain, "ld.param.u32 %r2, [a]; mov.u32 %r1, 1; setp.eq.u32 %p1, %r2, 0; st.param.b32 [r], 1; @%p1 ret; sub.u32 %r2, %r2, 1;"+strings.ReplaceAll(one(""), ", f,", ", g,")+"st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) g(.param .b32 a)", "ld.param.u32 %r2, [a]; mov.u32 %r1, 1; setp.eq.u32 %p1, %r2, 0; st.param.b32 [r], 1; @%p1 ret; sub.u32 %r2, %r2, 1;"+one("")+"st.param.b32 [r], %r1; ret;") + kernel("mov.u32 %r2, 5;"+one(""))},
	{"vectors of registers", function("(.param .align 8 .b8 r[8]) f(.param .align 8 .b8 a[8])", ".reg .v2 .b32 v; ld.param.v2.b32 v, [a]; add.u32 %r1, v.x, v.y; mov.v2.b32 v, {%r1, %t}; st.param.v2.b32 [r], v; ret;") + kernel("{ .param .align 8 .b8 x[8], y[8]; st.param.v2.b32 [x], {%t, 4}; call (y), f, (x); ld.param.v2.b32 {%r1, %r2}, [y]; } add.u32 %r1, %r1, %r2;")},
	{"a callee with the words of the optimiser", function("(.param .b32 r) f(.param .b32 a)", ".reg .b32 %inl_1, inl1_2; ld.param.u32 %inl_1, [a]; mov.u32 inl1_2, 3; add.u32 %inl_1, %inl_1, inl1_2; st.param.b32 [r], %inl_1; ret;") + kernel(".reg .b32 %inl_2; mov.u32 %inl_2, 6; mov.u32 %r2, %t;"+one("")+"add.u32 %r1, %r1, %inl_2;")},
	{"constants with every spelling", function("(.param .b32 r) f(.param .b32 a, .param .b64 b)", "ld.param.u32 %r1, [a]; ld.param.u64 %d1, [b]; cvt.u32.u64 %r2, %d1; xor.b32 %r1, %r1, %r2; st.param.b32 [r], 017; st.param.b32 [r], %r1; ret;") + kernel("{ .param .b32 q, x; .param .b64 y; st.param.b32 [x], 0b101; st.param.b64 [y], 0xFFFFFFFFFFFFFFFF; call (q), f, (x, y); ld.param.b32 %r1, [q]; } { .param .b32 q, x; .param .b64 y; st.param.b32 [x], 4294967295; st.param.b64 [y], 9U; call (q), f, (x, y); ld.param.b32 %r2, [q]; } add.u32 %r1, %r1, %r2;")},
	{"accesses of .local through a pointer of a callee's callee", function("(.param .b32 r) g(.param .b64 p)", "ld.param.u64 %d1, [p]; ld.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.u32 [%d1], %r1; st.param.b32 [r], %r1; ret;") + function("(.param .b32 r) f(.param .b32 a)", ".local .align 8 .b8 x[8]; ld.param.u32 %r1, [a]; st.local.u32 [x], %r1; mov.u64 %d1, x; cvta.local.u64 %d2, %d1; { .param .b64 p; .param .b32 q; st.param.b64 [p], %d2; call (q), g, (p); ld.param.b32 %r2, [q]; } ld.local.u32 %r3, [x]; add.u32 %r3, %r3, %r2; st.param.b32 [r], %r3; ret;") + kernel("mov.u32 %r2, %t;"+one("")+one(""))},
}

// TestOdd compares what modules of odd shapes do, and asks ptxas about one output of each;
// in a long run (PTXLINK_MODULES) about all.
func TestOdd(t *testing.T) {
	options := append([]optimize.Options{{Request: optimize.Request{Fold: true}}, {Request: optimize.Request{Level: 2, Fold: true}}, {Request: optimize.Request{Inline: []string{"*"}, Fold: true, Interposable: true}}}, levels...)
	for i, o := range odd {
		t.Run(o.what, func(t *testing.T) {
			t.Parallel()
			made := map[string]bool{}
			for n, option := range options {
				r, err := same(header+o.text, option, 3)
				if err != nil {
					if r != nil {
						t.Logf("%s", r.Text)
					}
					t.Fatalf("%+v: %v", option, err)
				}
				text := string(r.Text)
				switch {
				case made[text]:
				case os.Getenv("PTXLINK_MODULES") != "":
					assemble(t, "ptxas", text)
					assemble(t, "ptxas-new", text)
				case !testing.Short() && n == 2:
					assemble(t, []string{"ptxas", "ptxas-new"}[i%2], text)
				}
				made[text] = true
			}
		})
	}
}
