package ptxsim_test

import (
	"fmt"
	"strings"
	"testing"

	"ptxlink/internal/ptxsim"
)

// same repeats a number.
func same(v int32, n int) (list []int32) {
	for range n {
		list = append(list, v)
	}
	return list
}

// TestFeatures checks rarer forms of what TestRun checks.
func TestFeatures(t *testing.T) {
	const variadic = ".func (.param .b32 r) f(.param .b32 n, .param .align 8 .b8 v[]) { .reg .b32 %r<3>; .reg .b64 %d<3>; mov.b64 %d1, v; ld.param.u32 %r1, [v+4]; ld.local.u32 %r2, [%d1+8]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n"
	const call16 = "{ .param .b32 n, a; .param .align 8 .b8 v[16]; st.param.b32 [n], 2; st.param.v2.b32 [v], {1, 2}; st.param.b32 [v+8], 30; call (a), f, (n, v); ld.param.b32 %r1, [a]; }"
	for _, test := range []struct {
		what    string
		threads int
		text    string
		want    []int32
	}{
		// Atomics.
		{"exch", 2, ".global .u32 g = 7;\n" + kernel("add.u32 %r2, %t, 1; atom.global.exch.b32 %r1, [g], %r2;"), []int32{7, 1}},
		{"dec", 4, ".global .u32 g = 1;\n" + kernel("atom.global.dec.u32 %r1, [g], 5;"), []int32{1, 0, 5, 4}},
		{"dec beyond the limit", 1, ".global .u32 g = 9;\n" + kernel("atom.global.dec.u32 %r2, [g], 5; ld.global.u32 %r1, [g];"), []int32{5}},
		{"cas that fails", 1, ".global .u32 g = 9;\n" + kernel("atom.global.cas.b32 %r2, [g], 8, 1; ld.global.u32 %r1, [g];"), []int32{9}},
		{"cas of 16 bits", 1, ".global .u32 g = 0x90008;\n" + kernel("mov.u16 %h1, 8; mov.u16 %h2, 5; atom.global.cas.b16 %h3, [g], %h1, %h2; ld.global.u32 %r1, [g];"), []int32{0x90005}},
		{"min and max of signed and unsigned", 1, ".global .align 16 .u32 g[4] = {-1, -1, -1, -1};\n" + kernel("red.global.min.s32 [g], 5; red.global.min.u32 [g+4], 5; red.global.max.s32 [g+8], 5; red.global.max.u32 [g+12], 5; ld.global.v4.s32 {%r1, %r2, %r3, %r4}, [g];  mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;"), []int32{-1000 + 500 + 50 - 1}},
		{"bits", 1, ".global .u32 g = 12;\n" + kernel("red.global.and.b32 [g], 10; red.global.or.b32 [g], 3; red.global.xor.b32 [g], 1; ld.global.u32 %r1, [g];"), []int32{10}},
		{"add of floats", 1, ".global .f32 g = 1.5;\n" + kernel("red.global.add.f32 [g], 0f3F800000; ld.global.u32 %r1, [g];"), []int32{0x40200000}},
		{"add of subnormal floats", 1, ".global .u32 g = 5;\n.shared .u32 s;\n" + kernel("st.shared.u32 [s], 5; red.global.add.f32 [g], 0f00000001; red.shared.add.f32 [s], 0f00000001; ld.global.u32 %r2, [g]; ld.shared.u32 %r1, [s]; mad.lo.u32 %r1, %r2, 100, %r1;"), []int32{6}},
		{"add of doubles and halves", 1, ".global .f64 g = 1.5;\n.global .u32 h = 0x3c003c00;\n" + kernel("red.global.add.f64 [g], 0d3FF0000000000000; ld.global.u32 %r2, [g+4]; atom.global.add.noftz.f16x2 %r3, [h], %r3; mov.b32 %r4, 0x3c004000; atom.global.add.noftz.f16x2 %r3, [h], %r4; ld.global.u32 %r1, [h]; mov.u32 %r1, %r2;"), []int32{0x40040000}},

		// Warps.
		{"votes", 2, kernel("setp.eq.u32 %p1, %t, 0; vote.sync.all.pred %p2, %p1, 3; vote.sync.any.pred %p3, %p1, 3; vote.sync.uni.pred %p4, %p1, 3; vote.sync.all.pred %p5, !%p4, 3; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 10, 0, %p3; selp.u32 %r3, 100, 0, %p4; selp.u32 %r4, 1000, 0, %p5; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;"), same(1010, 2)},
		{"votes without a mask", 3, kernel("mov.u32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 bra E; setp.eq.u32 %p2, %t, 2; vote.ballot.b32 %r1, %p2; E:"), []int32{0, 4, 4}},
		{"redux", 3, kernel("sub.u32 %r2, %t, 1; redux.sync.add.s32 %r1, %r2, 7; redux.sync.min.s32 %r3, %r2, 7; redux.sync.max.u32 %r4, %r2, 7; add.u32 %r1, %r1, %r3; sub.u32 %r1, %r1, %r4;"), same(0, 3)},
		{"elect", 4, kernel("setp.eq.u32 %p1, %t, 0; mov.u32 %r1, 9; @%p1 bra E; elect.sync %r1|%p2, 14; selp.u32 %r2, 10, 0, %p2; add.u32 %r1, %r1, %r2; E:"), []int32{9, 11, 1, 1}},
		{"bar.warp.sync with an exited lane", 3, kernel("setp.eq.u32 %p1, %t, 1; @%p1 exit; bar.warp.sync 7; mov.u32 %r1, 5;"), []int32{5, 0, 5}},
		{"a lane that exits last", 2, kernel("setp.eq.u32 %p1, %t, 0; @!%p1 bra X; bar.warp.sync 3; mov.u32 %r1, 5; bra E; X: mov.u32 %r2, 0; exit; E:"), []int32{5, 0}},
		{"shfl without a mask", 2, kernel("shfl.bfly.b32 %r1, %t, 1, 0x1f;"), []int32{1, 0}},
		{"masks of lanes", 3, kernel("mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %lanemask_le; mov.u32 %r3, %lanemask_eq; mov.u32 %r4, %lanemask_gt; mov.u32 %r5, %lanemask_ge; not.b32 %r4, %r4; not.b32 %r5, %r5; xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r3; xor.b32 %r4, %r4, %r5; add.u32 %r1, %r1, %r4;"), []int32{1, 2, 4}},
		{"clocks do not stand still", 1, kernel("mov.u64 %d1, %clock64; mov.u64 %d2, %clock64; setp.lt.u64 %p1, %d1, %d2; selp.u32 %r1, 1, 0, %p1;"), []int32{1}},

		// Barriers.
		{"arrive", 64, ".shared .u32 s;\n" + kernel("mov.u32 %r1, 0; setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1, 64; ld.shared.u32 %r1, [s]; bra E; A: st.shared.u32 [s], 7; membar.cta; barrier.arrive 1, 64; E:"), append(same(0, 32), same(7, 0)...)},
		{"fences are nothing", 1, kernel("mov.u32 %r1, 1; fence.acq_rel.gpu; membar.gl; nanosleep.u32 20; fence.proxy.alias;"), []int32{1}},
		{"a barrier between divergent lanes", 2, ".shared .u32 s;\n" + kernel("setp.eq.u32 %p1, %t, 0; @%p1 bra A; barrier.sync 0; ld.shared.u32 %r1, [s]; bra E; A: st.shared.u32 [s], 6; barrier.sync 0; mov.u32 %r1, 2; E:"), []int32{2, 6}},
		{"bar.red.or", 3, kernel("setp.eq.u32 %p1, %t, 1; barrier.cta.red.or.aligned.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;"), same(1, 3)},

		// Calls and parameters.
		{"an unsized parameter", 1, variadic + kernel(call16), []int32{32}},
		{"an unsized parameter through a pointer", 1, variadic + kernel("mov.u64 %d1, f; P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[]);"+strings.Replace(call16, "f, (n, v)", "%d1, (n, v), P", 1)), []int32{32}},
		{"ld.param through a register", 1, ".func (.param .b32 r) f(.param .align 4 .b8 s[8]) { .reg .b64 %d; .reg .b32 %r; mov.b64 %d, s; ld.param.u32 %r, [%d+4]; st.param.b32 [r], %r; ret; }\n" + kernel("{ .param .align 4 .b8 s[8]; .param .b32 a; st.param.b32 [s+4], 3; call (a), f, (s); ld.param.b32 %r1, [a]; }"), []int32{3}},
		{"the address of a parameter of an entry", 1, kernel("mov.b64 %d1, out; ld.param.u64 %d2, [%d1]; cvta.param.u64 %d3, %d1; ld.u64 %d4, [%d3]; sub.u64 %d2, %d2, %d4; cvt.u32.u64 %r1, %d2; isspacep.param %p1, %d3; selp.u32 %r2, 1, 2, %p1; add.u32 %r1, %r1, %r2;"), []int32{1}},
		{"ranges of arguments and of locals", 1, ".func (.param .b32 r) f(.param .b32 a, .param .b32 b) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; mad.lo.u32 %r1, %r1, 10, %r2; st.param.b32 [r], %r1; ret; }\n" + kernel(".local .u32 l<2>; { .param .b32 a<3>; st.param.b32 [a1], 4; st.param.b32 [a2], 5; call (a0), f, (a1, a2); ld.param.b32 %r1, [a0]; } st.local.u32 [l0], %r1; st.local.u32 [l1], 9; ld.local.u32 %r1, [l0];"), []int32{45}},
		{"results that are not taken", 1, ".func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, 1; st.param.b32 [r], %r; ret; }\n" + kernel("{ .param .b32 a; call (a), f, (); } mov.u32 %r1, 3;"), []int32{3}},
		{"a call through .calltargets", 1, ".func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, 9; st.param.b32 [r], %r; ret; }\n" + kernel("mov.u64 %d1, f; { .param .b32 a; P: .calltargets f; call (a), %d1, (), P; ld.param.b32 %r1, [a]; }"), []int32{9}},
		{"malloc of nothing", 1, kernel("{ .param .b64 n, p; mov.u64 %d1, 0; st.param.b64 [n], %d1; call (p), malloc, (n); ld.param.b64 %d2, [p]; } { .param .b64 p; st.param.b64 [p], %d2; call free, (p); } cvt.u32.u64 %r1, %d2;"), []int32{0}},
		{"alloca with an alignment", 1, kernel("alloca.u64 %d1, 16, 32; and.b64 %d2, %d1, 63; cvt.u32.u64 %r1, %d2;"), []int32{32}},
		{"accesses by name without a space", 1, ".global .u32 g;\n" + kernel(".shared .u32 s; .local .u32 l[2]; st.u32 [s], 5; st.u32 [l+4], 6; st.u32 [g], 7; ld.shared.u32 %r1, [s]; ld.local.u32 %r2, [l+4]; ld.u32 %r3, [g]; atom.add.u32 %r4, [s], 1; mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;"), []int32{5675}},
		{"depots of callees are apart", 1, ".func (.param .b32 r) f() { .local .u32 x; .reg .b32 %r; st.local.u32 [x], 5; mov.u32 %r, 1; st.param.b32 [r], %r; ret; }\n" + kernel(".local .u32 y; st.local.u32 [y], 7; { .param .b32 a; call (a), f, (); } ld.local.u32 %r1, [y];"), []int32{7}},

		{"asynchronous copies", 1, ".global .align 16 .b8 g[16] = {1, 2, 3, 4, 5, 6, 7, 8};\n" + kernel(".shared .align 16 .b8 s[16]; mov.u64 %d1, g; mov.u32 %r2, s; cp.async.ca.shared.global.L2::128B [%r2], [%d1], 8; mov.u32 %r3, 1; cp.async.ca.shared.global [%r2+8], [%d1+4], 8, %r3; cp.async.commit_group; cp.async.wait_group 0; setp.eq.u32 %p1, %t, 0; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s]; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;"), []int32{0x04030201 + 5}},

		// Constants.
		{"constant expressions", 1, ".global .align 16 .u32 g[8] = {2*3+1, ~1, 1<<4, 256>>4, (5), -WARP_SZ, 7-2-1, 6|1&3};\n" + kernel("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [g]; ld.global.u32 %r5, [g+16]; ld.global.u32 %r6, [g+20]; ld.global.u32 %r7, [g+24]; mad.lo.s32 %r1, %r1, 100, %r2; add.s32 %r1, %r1, %r3; add.s32 %r1, %r1, %r4; add.s32 %r1, %r1, %r5; add.s32 %r1, %r1, %r6; add.s32 %r1, %r1, %r7;"), []int32{700 - 2 + 16 + 16 + 5 - 32 + 4}},
		{"casts and octal", 1, ".global .u64 g = (.s64)(010);\n" + kernel("ld.global.u32 %r1, [g];"), []int32{8}},
		{"native vectors", 1, ".global .v2 .u32 g[2] = {{1, 2}, {3, 4}};\n" + kernel("ld.global.v2.u32 {%r1, %r2}, [g+8]; mad.lo.u32 %r1, %r1, 10, %r2;"), []int32{34}},
		{"floats and integers as floats", 1, ".global .f32 g[3] = {-1.5, 3, 0d4000000000000000};\n.global .f64 d = 0f40000000;\n" + kernel(".reg .f32 %f<4>; .reg .f64 %e; ld.global.f32 %f1, [g]; ld.global.f32 %f2, [g+4]; ld.global.f32 %f3, [g+8]; ld.global.f64 %e, [d]; fma.rn.f32 %f1, %f1, %f2, %f3; cvt.rn.f32.f64 %f2, %e; mul.f32 %f1, %f1, %f2; cvt.rzi.s32.f32 %r1, %f1;"), []int32{-5}},
		{"float constants of untyped instructions", 1, kernel("mov.b32 %r1, 0f3F800000;"), []int32{0x3f800000}},
		{"bytes of addresses", 1, ".global .u32 x;\n.global .u8 b[8] = {0xff(x), 0xff00(x), 0xff0000(x), 0xff000000(x), 0xff00000000(x), 0xff0000000000(x), 0xff000000000000(x), 0xff00000000000000(x)};\n" + kernel("mov.u64 %d1, x; mov.u32 %r2, 0; mov.u64 %d2, b; mov.u64 %d4, 0; L: ld.global.u8 %d3, [%d2+7]; shl.b64 %d4, %d4, 8; or.b64 %d4, %d4, %d3; sub.u64 %d2, %d2, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8; @%p1 bra L; setp.eq.u64 %p2, %d4, %d1; selp.u32 %r1, 1, 0, %p2;"), []int32{1}},

		// Rarer instructions.
		{"unsigned comparisons by name", 1, kernel("setp.hi.u32 %p1, -1, 1; setp.ls.u32 %p2, -1, 1; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 10, 0, %p2; add.u32 %r1, %r1, %r2;"), []int32{1}},
		{"common variables", 1, ".common .global .u32 c;\n" + kernel("ld.global.u32 %r1, [c];"), []int32{0}},
	} {
		_, got, err := run(t, ptxsim.Options{}, test.threads, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		if fmt.Sprint(got[:len(test.want)]) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", test.what, got[:len(test.want)], test.want)
		}
	}
}

// TestMoreFaults checks faults of rarer forms.
func TestMoreFaults(t *testing.T) {
	for _, test := range []struct {
		threads    int
		text, want string
	}{
		{1, kernel("bar.sync 16;"), "no barrier 16"},
		{32, kernel("bar.sync 0, 5;"), "barrier 0 for 5 threads"},
		{64, kernel("setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 0, 32; A: bar.arrive 0, 32; bar.arrive 0, 64;"), "which others reached"},
		{1, kernel("{ .param .b64 p; st.param.b64 [p], %out; call free, (p); }"), "not from malloc"},
		{1, ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n.global .b8 msg[3] = {104, 105, 0};\n" +
			kernel("{ .param .b64 a, b, d, e; .param .b32 c; mov.u64 %d1, msg; st.param.b64 [a], %d1; call __assertfail, (a, b, c, d, e); }"), "assertion failed: hi"},
		{1, kernel("alloca.u64 %d1, 600000;"), "stack overflow by alloca"},
		{1, kernel(".local .b8 big[600000];"), "k: stack overflow: "},
		{1, kernel("{ .param .b32 a; mov.u64 %d1, a; }"), "cannot be taken"},
		{1, kernel("mov.b64 {%r1, %r2, %r3}, %d1;"), "mov.b64 of 3 elements"},
		{1, kernel("ld.global.v2.u32 {%r1, %r2, %r3}, [%out];"), "3 values for 2 elements"},
		{1, kernel("ld.global.u64 %r1, [%out];"), "register %r1 has 32 bits"},
		{1, ".visible .entry k(.param .u64 out) { .reg .b32 %r; ld.param.u64 %r, [out]; }", "register %r has 32 bits"},
		{1, kernel("cvt.s32.f32 %r1, %r2;"), "without a rounding mode"},
		{1, kernel("mov.u32 %r1, nothing;"), "nothing is not a constant"},
		{1, ".func (.param .b64 r) f() { ret; }\n" + kernel("{ .param .b32 a; call (a), f, (); }"), "result 0 of f has 8 bytes, 4 expected"},
		{1, kernel("ld.param.u32 %r1, [out+6];"), "outside the object"},
		{1, kernel("ld.param.u32 %r1, [out+2];"), "misaligned"},
		{1, kernel("{ .param .b64 n, p; mov.u64 %d1, 8; st.param.b64 [n], %d1; call (p), malloc, (n); ld.param.b64 %d2, [p]; } ld.u32 %r1, [%d2+8];"), "outside all objects"},
	} {
		_, _, err := run(t, ptxsim.Options{}, test.threads, test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v\nwant %s", err, test.want)
		}
	}
}

// TestBadModules checks the errors of New.
func TestBadModules(t *testing.T) {
	for text, want := range map[string]string{
		".global .u32 g[1] = {1, 2};":            "more values than elements",
		".global .u32 g[2] = {1 2};":             "',' expected",
		".global .u32 g = 1.5;":                  "integer expected",
		".global .u32 g = 1 > 2;":                "comparisons",
		".tex .u64 g;":                           "not supported",
		".func f() { .global .u32 g = {1, 2}; }": "t.ptx:4: initial value",
	} {
		_, err := ptxsim.New(ptxsim.Options{}, read(t, "t.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPrint checks the arguments that vprintf records.
func TestPrint(t *testing.T) {
	text := ".global .b8 fmt[30] = {37, 100, 32, 37, 108, 108, 100, 32, 37, 115, 32, 37, 42, 100, 37, 37, 32, 37, 102, 0};\n.global .b8 str[3] = {97, 98, 0};\n" + kernel(`
	.local .align 8 .b8 args[48];
	mov.u64 %d1, args;
	st.local.u32 [args], -1;
	st.local.u64 [args+8], 5;
	mov.u64 %d2, str;
	st.local.u64 [args+16], %d2;
	st.local.u32 [args+24], 3;
	st.local.u32 [args+28], 4;
	st.local.f64 [args+32], 0d3FF0000000000000;
	cvta.local.u64 %d1, %d1;
	mov.u64 %d3, fmt;
	{ .param .b64 f, a; .param .b32 r; st.param.b64 [f], %d3; st.param.b64 [a], %d1; call (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }`)
	m, got, err := run(t, ptxsim.Options{}, 1, text)
	if err != nil {
		t.Fatal(err)
	}
	want := "%d %lld %s %*d%% %fffffffff000000000500000000000000000000000000000003000000" + "04000000000000000000f03f [\"ab\"]\n"
	if p := printed(m); p != want || got[0] != 6 {
		t.Errorf("%q, %d conversions\nwant %q", p, got[0], want)
	}
}

// TestAddresses checks that addresses in memory stay when other objects go and when
// the linker has renamed one.
func TestAddresses(t *testing.T) {
	const tables = ".global .u64 p[3] = {g, generic(%s), f};\n"
	const f = ".func f() { ret; }\n"
	var want string
	for _, text := range []string{
		".const .align 4 .u32 other[5];\n.global .u32 more;\n.global .u32 g;\n.const .u32 c;\n.func h() { ret; }\n" + f + fmt.Sprintf(tables, "c"),
		".global .u32 g;\n.const .u32 c$1;\n" + f + fmt.Sprintf(tables, "c$1"),
	} {
		m := machine(t, ptxsim.Options{}, read(t, "t.ptx", runHeader+text))
		got := fmt.Sprintf("%x", m.Global("p").Data)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// Large .const objects do not overlap.
	m := machine(t, ptxsim.Options{}, read(t, "t.ptx", runHeader+".const .b8 a[65536];\n.const .b8 b[65536];\n.const .b8 c[65536];\n"))
	for _, name := range []string{"a", "b", "c"} {
		from := m.Const(name).Address()
		for _, other := range []string{"a", "b", "c"} {
			if to := m.Const(other).Address(); other != name && to >= from && to < from+65536 {
				t.Errorf("%s at %x overlaps %s at %x", name, from, other, to)
			}
		}
	}
}
