package ptxsim_test

import (
	"fmt"
	"strings"
	"testing"

	"ptxlink/internal/ptxsim"
	"ptxlink/object/ptx"
)

// lines of declarations that the programs below start with.
const runHeader = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func missing ();
.extern .shared .align 8 .b8 dynamic[];
`

// run runs entry k of a module with a buffer of 64 words and returns them.
func run(t testing.TB, opt ptxsim.Options, threads int, text string) (*ptxsim.Machine, []int32, error) {
	t.Helper()
	m := machine(t, opt, read(t, "t.ptx", runHeader+text))
	out := m.Alloc("out", make([]byte, 256), 4)
	err := m.Launch("k", ptxsim.Grid{Threads: [3]int{threads}, Shared: 64}, out)
	return m, words(out.Data), err
}

// kernel returns an entry that stores %r1 at out[tid.x], with the body given.
func kernel(body string) string {
	return `.visible .entry k(.param .u64 out)
{
	.reg .pred %p<9>;
	.reg .b16 %h<9>;
	.reg .b32 %r<20>;
	.reg .b64 %d<20>;
	.reg .b64 %out, %at;
	.reg .b32 %t;
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %at, %t, 4;
	add.s64 %at, %at, %out;
` + body + `
	st.global.u32 [%at], %r1;
	ret;
}
`
}

// TestRun checks what small programs leave in out[0], out[1], ...
func TestRun(t *testing.T) {
	for _, test := range []struct {
		what    string
		threads int
		text    string
		want    []int32
	}{
		{"special registers", 2, kernel("mov.u32 %r2, %ntid.x; shl.b32 %r2, %r2, 8; mov.u32 %r3, %laneid; add.u32 %r1, %r2, %r3;"), []int32{512, 513}},
		{"a loop and a predicated branch", 3, kernel("mov.u32 %r1, 0; mov.u32 %r2, 0; L: setp.ge.u32 %p1, %r2, %t; @%p1 bra E; add.u32 %r1, %r1, 10; add.u32 %r2, %r2, 1; bra L; E:"), []int32{0, 10, 20}},
		{"brx.idx with a range of labels", 4, kernel("X: U: .branchtargets M, M; T: .branchtargets L<2>, M, L1; brx.idx %t, T; L0: mov.u32 %r1, 5; bra E; L1: mov.u32 %r1, 6; bra E; M: mov.u32 %r1, 7; E:"), []int32{5, 6, 7, 6}},
		{"sign extension of narrow loads", 1, ".global .align 2 .b8 g[4] = {255, 128, 1, 2};\n" + kernel("ld.global.s8 %r2, [g]; ld.global.u8 %r3, [g+1]; ld.global.s16 %r4, [g]; add.s32 %r1, %r2, %r3; add.s32 %r1, %r1, %r4;"), []int32{-1 + 128 - 32513}},
		{"a store of the low bits", 1, ".global .u32 g = -1;\n" + kernel("mov.u32 %r2, 0x1234; st.global.u8 [g+1], %r2; ld.global.u32 %r1, [g];"), []int32{-0xcb01}},
		{"vectors", 1, ".global .align 16 .u32 g[4] = {1, 2, 3, 4};\n" + kernel("ld.global.v4.u32 {%r2, %r3, _, %r4}, [g]; mad.lo.u32 %r1, %r2, 100, %r4; st.global.v2.u32 [g+8], {%r1, 9}; ld.global.u32 %r1, [g+8];"), []int32{104}},
		{"generic addresses", 2, ".shared .align 4 .b32 s[32];\n" + kernel("mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; mul.wide.u32 %d3, %t, 4; add.u64 %d2, %d2, %d3; st.u32 [%d2], %t; cvta.to.shared.u64 %d4, %d2; ld.shared.u32 %r1, [%d4]; isspacep.shared %p1, %d2; selp.u32 %r2, 100, 0, %p1; isspacep.global %p1, %d2; selp.u32 %r3, 1000, 0, %p1; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;"), []int32{100, 101}},
		{"32-bit addresses of .shared", 1, ".shared .align 4 .b32 s[2];\n" + kernel("mov.u32 %r2, s; mov.u32 %r3, 8; st.shared.u32 [%r2+4], %r3; ld.shared.u32 %r1, [s+4];"), []int32{8}},
		{"initialisers", 1, ".global .u32 x = 7;\n.const .u32 c[2] = {5, 6};\n.func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, 40; st.param.b32 [r], %r; ret; }\n.global .u64 p[4] = {x, generic(c)+4, f, 0xff(x)};\n" +
			kernel("ld.global.u64 %d1, [p]; ld.u32 %r2, [%d1]; ld.global.u64 %d2, [p+8]; ld.u32 %r3, [%d2]; ld.global.u64 %d3, [p+16]; { .param .b32 a; P: .callprototype (.param .b32 _) _ (); call (a), %d3, (), P; ld.param.b32 %r4, [a]; } add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r4;"), []int32{53}},
		{"nested braces and omitted values", 1, ".global .u16 g[2][3] = {{1, 2}, {3, 4, 5}};\n" + kernel("ld.global.u16 %r2, [g+4]; ld.global.u16 %r3, [g+6]; mad.lo.u32 %r1, %r2, 10, %r3;"), []int32{3}},
		{"floats in initialisers", 1, ".global .f32 g[2] = {1.5, 0f40000000};\n" + kernel(".reg .f32 %f<3>; ld.global.f32 %f1, [g]; ld.global.f32 %f2, [g+4]; add.f32 %f1, %f1, %f2; cvt.rmi.s32.f32 %r1, %f1;"), []int32{3}},
		{"static objects of functions", 2, ".func (.param .b32 r) f() { .global .u32 n = 5; .reg .b32 %r; atom.global.add.u32 %r, [n], 1; st.param.b32 [r], %r; ret; }\n" + kernel("{ .param .b32 a; call (a), f, (); ld.param.b32 %r1, [a]; }"), []int32{5, 6}},
		{"recursion and early returns", 6, ".func (.param .b32 r) fact(.param .b32 n) { .reg .b32 %a<4>; .reg .pred %p; ld.param.u32 %a1, [n]; mov.u32 %a2, 1; st.param.b32 [r], %a2; setp.le.u32 %p, %a1, 1; @%p ret; sub.u32 %a3, %a1, 1; { .param .b32 m, q; st.param.b32 [m], %a3; call (q), fact, (m); ld.param.b32 %a2, [q]; } mul.lo.u32 %a2, %a2, %a1; st.param.b32 [r], %a2; ret; }\n" + kernel("{ .param .b32 n, a; st.param.b32 [n], %t; call (a), fact, (n); ld.param.b32 %r1, [a]; }"), []int32{1, 1, 2, 6, 24, 120}},
		{"a function in a register", 2, ".func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, 9; st.param.b32 [r], %r; ret; }\n.func (.param .b32 r) g() { .reg .b32 %r; mov.u32 %r, 8; st.param.b32 [r], %r; ret; }\n" + kernel("mov.u64 %d1, f; setp.eq.u32 %p1, %t, 1; @%p1 mov.u64 %d1, g; { .param .b32 a; P: .callprototype (.param .b32 _) _ (); call (a), %d1, (), P; ld.param.b32 %r1, [a]; }"), []int32{9, 8}},
		{"a predicated call", 2, ".func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, 9; st.param.b32 [r], %r; ret; }\n" + kernel("setp.eq.u32 %p1, %t, 1; mov.u32 %r1, 4; @!%p1 bra N; { .param .b32 a; @%p1 call (a), f, (); ld.param.b32 %r1, [a]; } N:"), []int32{4, 9}},
		{"register parameters", 1, ".func (.reg .u32 r, .reg .u64 s) f(.reg .u32 a, .reg .u64 b) { add.u32 r, a, 1; add.u64 s, b, 2; ret; }\n" + kernel("mov.u64 %d1, 5; call (%r1, %d2), f, (7, %d1); cvt.u32.u64 %r2, %d2; mad.lo.u32 %r1, %r1, 10, %r2;"), []int32{87}},
		{"the address of a parameter", 1, ".func (.param .b32 r) f(.param .align 4 .b8 s[8]) { .reg .b64 %d<3>; .reg .b32 %r; mov.b64 %d1, s; cvta.local.u64 %d2, %d1; ld.u32 %r, [%d2+4]; st.param.b32 [r], %r; ret; }\n" + kernel("{ .param .align 4 .b8 s[8]; .param .b32 a; mov.u32 %r2, 1; mov.u32 %r3, 2; st.param.b32 [s], %r2; st.param.b32 [s+4], %r3; call (a), f, (s); ld.param.b32 %r1, [a]; }"), []int32{2}},
		{".local depots", 2, kernel(".local .align 8 .b8 depot[16]; mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; st.u32 [%d2+4], %t; ld.local.u32 %r1, [depot+4];"), []int32{0, 1}},
		{"dynamic shared memory", 3, kernel("mov.u64 %d1, dynamic; mul.wide.u32 %d2, %t, 4; add.u64 %d1, %d1, %d2; st.shared.u32 [%d1], %t; bar.sync 0; ld.shared.u32 %r1, [dynamic+8];"), []int32{2, 2, 2}},
		{"a barrier with predicates", 3, kernel("setp.ne.u32 %p1, %t, 1; bar.red.popc.u32 %r1, 0, %p1; barrier.red.and.pred %p2, 1, %p1; selp.u32 %r2, 10, 20, %p2; add.u32 %r1, %r1, %r2;"), []int32{22, 22, 22}},
		{"atomics", 4, ".global .u32 g = 3;\n" + kernel("atom.global.inc.u32 %r1, [g], 4;"), []int32{3, 4, 0, 1}},
		{"compare and swap", 2, ".global .u32 g;\n" + kernel("add.u32 %r2, %t, 1; atom.global.cas.b32 %r1, [g], %t, %r2;"), []int32{0, 1}},
		{"shfl", 4, kernel("shfl.sync.down.b32 %r1|%p1, %t, 1, 0x1c03, 15; @!%p1 mov.u32 %r1, 9;"), []int32{1, 2, 3, 9}},
		{"shfl.up in segments", 4, kernel("shfl.sync.up.b32 %r1|%p1, %t, 1, 0x1e00, 15; @!%p1 mov.u32 %r1, 9;"), []int32{9, 0, 9, 2}},
		{"vote and match", 4, kernel("setp.gt.u32 %p1, %t, 1; vote.sync.ballot.b32 %r1, %p1, 15; shr.u32 %r2, %t, 1; match.any.sync.b32 %r3, %r2, 15; mad.lo.u32 %r1, %r1, 100, %r3; match.all.sync.b32 %r4|%p2, %r2, 15; add.u32 %r1, %r1, %r4;"), []int32{1203, 1203, 1212, 1212}},
		{"lanes meet at different places", 2, kernel("setp.eq.u32 %p1, %t, 0; @%p1 bra A; shfl.sync.bfly.b32 %r1, %t, 1, 0x1f, 3; bra E; A: shfl.sync.bfly.b32 %r1, %t, 1, 0x1f, 3; E:"), []int32{1, 0}},
		{"activemask in a branch", 3, kernel("mov.u32 %r1, 0; setp.eq.u32 %p1, %t, 0; @%p1 bra E; activemask.b32 %r1; E:"), []int32{0, 6, 6}},
		{"a spinning lane lets others run", 2, ".global .u32 g;\n" + kernel("setp.eq.u32 %p1, %t, 1; @%p1 bra W; L: ld.volatile.global.u32 %r1, [g]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L; bra E; W: mov.u32 %r1, 7; st.global.u32 [g], %r1; E:"), []int32{7, 7}},
		{"a spinning warp lets others run", 64, ".shared .u32 s;\n" + kernel("setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; setp.ge.u32 %p1, %t, 32; @%p1 bra W; L: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L; bra E; W: mov.u32 %r1, 7; st.shared.u32 [s], %r1; E:"), []int32{7, 7}},
		{"malloc", 1, kernel("{ .param .b64 n, p; mov.u64 %d1, 8; st.param.b64 [n], %d1; call (p), malloc, (n); ld.param.b64 %d2, [p]; mov.u32 %r2, 6; st.u32 [%d2+4], %r2; ld.global.u32 %r1, [%d2+4]; } { .param .b64 p; st.param.b64 [p], %d2; call free, (p); }"), []int32{6}},
		{"alloca", 1, kernel("alloca.u64 %d1, 16; cvta.local.u64 %d2, %d1; mov.u32 %r2, 3; st.u32 [%d2+12], %r2; ld.local.u32 %r1, [%d1+12];"), []int32{3}},
		{"addressed names with offsets", 1, ".global .u32 g[3] = {1, 2, 3};\n" + kernel("mov.u64 %d1, g+4; ld.global.u32 %r1, [%d1+4]; ld.global.u32 %r2, [%d1+-4]; mad.lo.u32 %r1, %r1, 10, %r2;"), []int32{31}},
		{"registers of vectors", 1, ".global .align 8 .u32 g[2] = {4, 5};\n" + kernel(".reg .v2 .u32 v; ld.global.v2.u32 v, [g]; mad.lo.u32 %r1, v.x, 10, v.y;"), []int32{45}},
		{"packed registers of vectors", 1, kernel(".reg .v2 .u32 v, w; mov.v2.u32 v, {4, 5}; mov.v2.u32 w, v; mov.b64 %d1, w; cvt.u32.u64 %r2, %d1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r3, %d1; mov.b64 {%r4, %r5}, w; mov.b64 v, %d1; mad.lo.u32 %r1, %r3, 10, %r2; add.u32 %r1, %r1, v.y;"), []int32{54}},
		{"inner scopes", 1, kernel("mov.u32 %r2, 3; { .reg .b32 %r2; mov.u32 %r2, 4; } mov.u32 %r1, %r2;"), []int32{3}},
		{"an exited thread does not hold up a barrier", 3, kernel("setp.eq.u32 %p1, %t, 0; @%p1 exit; bar.sync 0; mov.u32 %r1, 5;"), []int32{0, 5, 5}},
	} {
		_, got, err := run(t, ptxsim.Options{}, test.threads, test.text)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		for i, want := range test.want {
			if got[i] != want {
				t.Errorf("%s: %v, want %v", test.what, got[:len(test.want)], test.want)
				break
			}
		}
	}
}

// TestFaults checks that each thing that correct programs do not do is an error with
// the function and the line.
func TestFaults(t *testing.T) {
	const f = ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r; ld.param.u32 %r, [a]; st.param.b32 [r], %r; ret; }\n"
	for _, test := range []struct {
		what    string
		threads int
		text    string
		want    string
	}{
		{"behind an object", 1, ".global .u32 g[2];\n" + kernel("mov.u64 %d1, g; ld.global.u32 %r1, [%d1+8];"), "load of 4 bytes at g+8 is outside all objects"},
		{"half behind an object", 1, ".global .align 8 .b8 g[12];\n" + kernel("mov.u64 %d1, g; ld.global.u64 %d2, [%d1+8];"), "outside g, which has 12 bytes"},
		{"behind a named object", 1, ".global .u32 g[2];\n" + kernel("ld.global.u32 %r1, [g+8];"), "[g+8] is outside the object"},
		{"an absolute address", 1, kernel("ld.global.u32 %r1, [16+8];"), ".global 0x18 is outside all objects"},
		{"a null pointer", 1, kernel("mov.u64 %d1, 0; ld.u32 %r1, [%d1];"), "outside all objects"},
		{"misaligned", 1, ".global .align 8 .b8 g[16];\n" + kernel("mov.u64 %d1, g; ld.global.u32 %r1, [%d1+2];"), "misaligned"},
		{"a vector that asks for more than the alignment", 1, ".global .align 4 .b8 g[16];\n" + kernel("ld.global.v2.u32 {%r1, %r2}, [g];"), "misaligned"},
		{"a vector in a depot", 1, kernel(".local .align 4 .b8 depot[32]; ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [depot];"), "misaligned"},
		{"the wrong space", 1, ".shared .u32 s;\n" + kernel("mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; ld.global.u32 %r1, [%d1];"), "load of 4 bytes at .global"},
		{"the wrong space by name", 1, ".shared .u32 s;\n" + kernel("ld.global.u32 %r1, [s];"), "[s] is in .shared"},
		{"a store to .const", 1, ".const .u32 c;\n" + kernel("mov.u64 %d1, c; cvta.const.u64 %d1, %d1; st.u32 [%d1], %t;"), "store to c+0, which is in .const"},
		{"a frame that is gone", 1, ".func (.param .b64 r) g() { .local .u32 x; .reg .b64 %d; mov.u64 %d, x; cvta.local.u64 %d, %d; st.param.b64 [r], %d; ret; }\n" + kernel("{ .param .b64 a; call (a), g, (); ld.param.b64 %d1, [a]; } ld.u32 %r1, [%d1];"), "outside all objects"},
		{"freed memory", 1, kernel("{ .param .b64 n, p; mov.u64 %d1, 8; st.param.b64 [n], %d1; call (p), malloc, (n); ld.param.b64 %d2, [p]; } { .param .b64 p; st.param.b64 [p], %d2; call free, (p); } ld.u32 %r1, [%d2];"), "freed malloc"},
		{"an argument of another size", 1, f + kernel("{ .param .b64 a; .param .b32 b; st.param.b64 [a], %out; call (b), f, (a); }"), "argument 0 of the call of f has 8 bytes, its parameter 4"},
		{"too few arguments", 1, f + kernel("{ .param .b32 b; call (b), f, (); }"), "0 arguments"},
		{"a prototype of another size", 1, f + kernel("{ .param .b64 a; .param .b32 b; mov.u64 %d1, f; P: .callprototype (.param .b32 _) _ (.param .b64 _); call (b), %d1, (a), P; }"), "prototype with other sizes"},
		{"a call of data", 1, ".global .u32 g;\n" + kernel("mov.u64 %d1, g; P: .callprototype _ (); call %d1, (), P;"), "not a function"},
		{"a function that is missing", 1, kernel("call missing, ();"), "call of missing, which is not defined"},
		{"a function that is missing, by its address", 1, ".global .u64 g = missing;\n" + kernel("ld.global.u64 %d1, [g]; P: .callprototype _ (); call %d1, (), P;"), "not a function"},
		{"a mask without the lane", 2, kernel("shfl.sync.idx.b32 %r1, %t, 0, 0x1f, 1;"), "lane 1 is not in the mask"},
		{"a lane that does not exist", 2, kernel("shfl.sync.down.b32 %r1, %t, 1, 0x1f, 0xffffffff;"), "reads lane 2"},
		{"a warp operation that waits for ever", 2, kernel("setp.eq.u32 %p1, %t, 0; @%p1 bra E; bar.warp.sync 3; E: bar.sync 0;"), "deadlock"},
		{"a barrier that waits for ever", 64, kernel("setp.lt.u32 %p1, %t, 32; @%p1 bra E; bar.sync 1, 64; E: bar.sync 0;"), "deadlock: 64 threads wait in k line"},
		{"an aligned barrier apart", 2, kernel("setp.eq.u32 %p1, %t, 0; @%p1 bra A; bar.sync 0; bra E; A: bar.sync 0; E:"), "aligned barrier"},
		{"an endless loop", 1, kernel("L: bra L;"), "too many steps"},
		{"endless recursion", 1, ".func g() { call g, (); ret; }\n" + kernel("call g, ();"), "stack overflow"},
		{"trap", 1, kernel("trap;"), "trap"},
		{"an unknown instruction", 1, kernel("mma.sync.m8n8k4.f16 %r1;"), "instruction mma is not supported"},
		{"an unknown modifier", 1, kernel("add.weird.u32 %r1, %t, 1;"), ".weird is not supported"},
		{"a register of another width", 1, kernel("add.u32 %r1, %d1, 1;"), "register %d1 has 64 bits, not 32"},
		{"an index beyond the targets", 4, kernel("T: .branchtargets A, B; brx.idx %t, T; A: B: mov.u32 %r1, 0;"), "index 2 in a list of 2 targets"},
		{"an atomic in .local", 1, kernel(".local .u32 x; mov.u64 %d1, x; cvta.local.u64 %d1, %d1; atom.add.u32 %r1, [%d1], 1;"), "atomic operation outside"},
	} {
		_, _, err := run(t, ptxsim.Options{Steps: 1e6}, test.threads, test.text)
		if err == nil {
			t.Errorf("%s: no error", test.what)
			continue
		}
		e, ok := err.(*ptxsim.Error)
		if !ok || !strings.Contains(err.Error(), test.want) || e.Line == 0 || e.Function == "" {
			t.Errorf("%s: %v\nwant %s", test.what, err, test.want)
		}
	}
}

// TestUnexecuted checks that what is never executed is not an error.
func TestUnexecuted(t *testing.T) {
	_, got, err := run(t, ptxsim.Options{}, 1, kernel("setp.ne.u32 %p1, %t, 0; @%p1 trap; @%p1 wmma.load %r1; mov.u32 %r1, 1; bra E; ld.global.u32 %r1, [%d1]; E:"))
	if err != nil || got[0] != 1 {
		t.Error(got, err)
	}
}

// TestPattern checks that what is not written holds Options.Fill.
func TestPattern(t *testing.T) {
	_, got, err := run(t, ptxsim.Options{Fill: 0x3c}, 1, ".shared .u32 s;\n.global .u32 g;\n"+kernel(".local .u32 x; ld.local.u32 %r1, [x]; ld.shared.u32 %r2, [s]; ld.global.u32 %r3, [g]; xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r4; add.u32 %r1, %r1, %r3;"))
	if err != nil || got[0] != 0x3c3c3c3c {
		t.Errorf("%x %v", got[0], err)
	}
}

// TestSparse checks memory outside all objects, and misaligned addresses.
func TestSparse(t *testing.T) {
	text := ".global .align 4 .b8 g[6];\n" + kernel("add.u64 %d1, %out, 70000; st.global.u32 [%d1+2], 5; ld.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4000]; add.u32 %r1, %r1, %r2; mov.u64 %d2, 33; st.u8 [%d2], 6; ld.global.u16 %h1, [%d2]; cvt.u32.u16 %r2, %h1; add.u32 %r1, %r1, %r2; mov.u64 %d3, g; st.global.u32 [%d3+5], 7;")
	m, got, err := run(t, ptxsim.Options{Sparse: true}, 1, text)
	if err != nil || got[0] != 5+6<<8 {
		t.Errorf("%d %v", got[0], err)
	}
	if len(m.Stores) != 4 || m.Stores[2].Object[:2] != "0x" || m.Stores[1].String() != "launch 1 thread 0: st 0x0+33 06" {
		t.Errorf("%v", m.Stores)
	}
	if _, _, err := run(t, ptxsim.Options{Sparse: true}, 1, kernel(".shared .u32 s; ld.shared.u32 %r1, [s+4];")); err == nil {
		t.Error("memory outside a .shared object")
	}
}

// TestTrace checks the record of stores, and that it survives other objects.
func TestTrace(t *testing.T) {
	body := kernel("mov.u32 %r1, 5; st.global.v2.u32 [g+8], {%r1, %t}; red.global.add.u32 [g], 2; mov.u64 %d1, g; st.global.u64 [p], %d1;")
	var last string
	for _, more := range []string{"", ".global .u32 other;\n"} {
		m, _, err := run(t, ptxsim.Options{}, 2, more+".global .align 8 .u32 g[4];\n.global .u64 p;\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range m.Stores {
			b.WriteString(s.String() + "\n")
		}
		if last != "" && b.String() != last {
			t.Errorf("the trace depends on another object:\n%s%s", last, b.String())
		}
		last = b.String()
		if want := "launch 1 thread 1: st g+8 0500000001000000\n"; !strings.Contains(last, want) {
			t.Errorf("%s\nwant %s", last, want)
		}
		if want := "launch 1 thread 0: add.u32 g+0 02000000\n"; !strings.Contains(last, want) {
			t.Errorf("%s\nwant %s", last, want)
		}
	}
}

// TestDiffStores checks that only the order within a thread counts.
func TestDiffStores(t *testing.T) {
	store := func(thread int, value byte) ptxsim.Store {
		return ptxsim.Store{Launch: 1, Thread: thread, Op: "st", Object: "g", Value: []byte{value}}
	}
	a, b, c := store(0, 1), store(0, 2), store(1, 3)
	for _, test := range []struct {
		want, got []ptxsim.Store
		diff      string
	}{
		{[]ptxsim.Store{a, b, c}, []ptxsim.Store{c, a, b}, ""},
		{[]ptxsim.Store{a, b, c}, []ptxsim.Store{b, a, c}, b.String() + "\nwant " + a.String()},
		{[]ptxsim.Store{a, b, c}, []ptxsim.Store{a, c}, "no store\nwant " + b.String()},
		{[]ptxsim.Store{a}, []ptxsim.Store{{Launch: 1, Op: "st", Object: "g$1", Value: []byte{1}}}, ""},
		{[]ptxsim.Store{a, c}, []ptxsim.Store{a, b, c}, b.String() + "\nwant no more stores"},
	} {
		if d := ptxsim.DiffStores(test.want, test.got, true); d != test.diff {
			t.Errorf("%q, want %q", d, test.diff)
		}
	}
}

// TestModules checks how several modules are joined, and which faults in them are
// errors.
func TestModules(t *testing.T) {
	const header = ".version 8.0\n.target sm_80\n.address_size 64\n"
	value := func(linkage, v string) string {
		return header + linkage + " .func (.param .b32 r) f() { .reg .b32 %r; mov.u32 %r, " + v + "; st.param.b32 [r], %r; ret; }\n"
	}
	use := runHeader + ".extern .func (.param .b32 r) f();\n" + kernel("{ .param .b32 a; call (a), f, (); ld.param.b32 %r1, [a]; }")
	for _, test := range []struct {
		what  string
		other []string
		want  int32
		err   string
	}{
		{"a definition", []string{value(".visible", "5")}, 5, ""},
		{"strong beats weak", []string{value(".weak", "5"), value(".visible", "6")}, 6, ""},
		{"the first weak one", []string{value(".weak", "5"), value(".weak", "6")}, 5, ""},
		{"a local of another module", []string{value("", "5")}, 0, "not defined"},
		{"two definitions", []string{value(".visible", "5"), value(".visible", "6")}, 0, "f is defined twice"},
		{"a variable", []string{header + ".visible .global .u32 f;\n"}, 0, "both a function and a variable"},
		{"an alias", []string{header + ".func (.param .b32 r) g() { .reg .b32 %r; mov.u32 %r, 7; st.param.b32 [r], %r; ret; }\n.visible .func (.param .b32 r) f();\n.alias f, g;\n"}, 7, ""},
	} {
		modules := []*ptx.Module{read(t, "use.ptx", use)}
		for _, text := range test.other {
			modules = append(modules, read(t, "other.ptx", text))
		}
		m, err := ptxsim.New(ptxsim.Options{}, modules...)
		var out *ptxsim.Object
		if err == nil {
			out = m.Alloc("out", make([]byte, 4), 4)
			err = m.Launch("k", ptxsim.Grid{}, out)
		}
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %s", test.what, err, test.err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.what, err)
		case words(out.Data)[0] != test.want:
			t.Errorf("%s: %v, want %d", test.what, words(out.Data), test.want)
		}
	}
}

// TestLaunches checks that memory lasts from launch to launch, and the shapes of
// grids and arguments.
func TestLaunches(t *testing.T) {
	m := machine(t, ptxsim.Options{}, read(t, "t.ptx", runHeader+`.global .u32 count;
.visible .entry k(.param .u64 out, .param .align 4 .b8 s[8], .param .f32 f)
{
	.reg .b32 %r<9>;
	.reg .f32 %f;
	.reg .b64 %d;
	ld.param.u64 %d, [out];
	ld.param.u32 %r1, [s+4];
	ld.param.f32 %f, [f];
	cvt.rzi.u32.f32 %r2, %f;
	mov.u32 %r3, %ctaid.y;
	mad.lo.u32 %r2, %r3, 100, %r2;
	mov.u32 %r4, %tid.z;
	mad.lo.u32 %r2, %r4, 10, %r2;
	add.u32 %r2, %r2, %r1;
	red.global.max.u32 [%d], %r2;
	red.global.add.u32 [count], 1;
	ret;
}
`))
	out := m.Alloc("out", make([]byte, 4), 4)
	grid := ptxsim.Grid{Blocks: [3]int{1, 3}, Threads: [3]int{2, 1, 5}}
	for range 2 {
		if err := m.Launch("k", grid, out, []byte{9, 9, 9, 9, 7, 0, 0, 0}, float32(2.5)); err != nil {
			t.Fatal(err)
		}
	}
	if got := words(out.Data)[0]; got != 200+40+2+7 {
		t.Error(got)
	}
	if got := words(m.Global("count").Data)[0]; got != 60 {
		t.Error(got)
	}
	if o := m.ObjectAt(m.Global("count").Address() + 2); o == nil || o.Name != "count" {
		t.Error(o)
	}
	for what, err := range map[string]error{
		"1 arguments for 3 parameters": m.Launch("k", grid, out),
		"has 4 bytes":                  m.Launch("k", grid, out, int32(1), float32(1)),
		"no entry x":                   m.Launch("x", grid),
		"shared memory":                m.Launch("k", ptxsim.Grid{Shared: 32 << 20}, out, int64(1), float32(1)),
		"of 1025 threads":              m.Launch("k", ptxsim.Grid{Threads: [3]int{1025}}, out, int64(1), float32(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestBlocksTakeTurns checks that a block that waits for a later one does not hold
// it up.
func TestBlocksTakeTurns(t *testing.T) {
	m := machine(t, ptxsim.Options{}, read(t, "t.ptx", runHeader+".global .u32 flag;\n"+kernel("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 9; @%p1 bra W; L: ld.volatile.global.u32 %r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L; bra E; W: mov.u32 %r1, 7; st.global.u32 [flag], %r1; E:")))
	out := m.Alloc("out", make([]byte, 4), 4)
	if err := m.Launch("k", ptxsim.Grid{Blocks: [3]int{10}}, out); err != nil || words(out.Data)[0] != 7 {
		t.Error(words(out.Data), err)
	}
}

// TestNumberedAddresses checks that the address of a name does not depend on a numbered
// one in front of it.
func TestNumberedAddresses(t *testing.T) {
	const one, two = ".global .u32 x;\n.func f () { ret; }\n", ".global .u32 x$1;\n.func f$1 () { ret; }\n"
	address := func(text string) (data, code string) {
		m := machine(t, ptxsim.Options{}, read(t, "t.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n"+text+".global .u64 p[2] = {x, f};\n"))
		return fmt.Sprintf("%x", m.Global("p").Data), fmt.Sprintf("%x", m.Global("x").Address())
	}
	for _, text := range []string{one + two, two + one} {
		p, x := address(text)
		if wantP, wantX := address(one); p != wantP || x != wantX {
			t.Errorf("%s: %s %s, want %s %s", text, p, x, wantP, wantX)
		}
	}
}
