package ptxsim_test

import (
	"context"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
	"ptxlink/link"
)

// formatter calls sprintf as gcc does: the variable arguments are in memory.
const formatter = `.version 6.3
.target sm_60
.address_size 64
.extern .func (.param .u32 %value_out) sprintf (.param .u64 %in_ar0, .param .u64 %in_ar1, .param .u64 %in_ar2);
.const .align 1 .u8 $LC0[34] = {37,100,32,37,115,32,37,103,32,37,120,124,37,56,46,51,102,124,37,45,53,117,124,37,101,124,37,108,108,100,124,37,99,0};
.const .align 1 .u8 $LC1[4] = {97,98,99,0};
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.local .align 8 .b8 args[80];
	.reg .u64 %out, %args, %r<9>;
	.reg .u32 %n, %h;
	.reg .f64 %d<9>;
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [n];
	cvta.local.u64 %args, args;
	st.u32 [%args], %n;
	cvta.const.u64 %r1, $LC1;
	st.u64 [%args+8], %r1;
	cvt.rn.f64.s32 %d1, %n;
	mul.f64 %d2, %d1, 0d3ff8000000000000;
	st.f64 [%args+16], %d2;
	st.u32 [%args+24], %n;
	mul.f64 %d3, %d1, 0d400921f9f01b866e;
	st.f64 [%args+32], %d3;
	mov.u32 %h, 7;
	st.u32 [%args+40], %h;
	mov.f64 %d4, 0d01a56e1fc2f8f359;
	div.rn.f64 %d4, %d4, %d1;
	st.f64 [%args+48], %d4;
	cvt.s64.s32 %r2, %n;
	mul.lo.u64 %r2, %r2, -123456789012345;
	st.u64 [%args+56], %r2;
	mov.u32 %h, 113;
	st.u32 [%args+64], %h;
	cvta.const.u64 %r3, $LC0;
	{
		.param .u32 result;
		.param .u64 a, b, c;
		st.param.u64 [a], %out;
		st.param.u64 [b], %r3;
		st.param.u64 [c], %args;
		call (result), sprintf, (a, b, c);
	}
	ret;
}
`

// TestFormatter runs sprintf of gcc's C library, 16000 lines of PTX.
func TestFormatter(t *testing.T) {
	inputs := []link.Input{{Name: "formatter.ptx", Text: []byte(formatter)}}
	for _, lib := range []string{"libc.a", "libm.a", "libgcc.a"} {
		inputs = append(inputs, link.Input{Path: oracles.RequireFile(t, "gcc-nvptx/"+lib)})
	}
	linked, err := link.Link(context.Background(), link.Options{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	m := machine(t, ptxsim.Options{}, read(t, "linked.ptx", string(linked.PTX)))
	out := m.Alloc("out", make([]byte, 200), 1)
	if err := m.Launch("k", ptxsim.Grid{}, out, int32(42)); err != nil {
		t.Fatal(err)
	}
	got, _, _ := strings.Cut(string(out.Data), "\x00")
	if want := "42 abc 63 2a| 131.947|7    |2.380952e-302|-5185185138518490|q"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
