package abicheck

import (
	"testing"

	"ptxlink/link/diag"
	"ptxlink/object/ptx"
)

// param parses one parameter of a function.
func param(t *testing.T, text string) ptx.Type {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: []byte(".version 7.8 .target sm_75 .address_size 64 .extern .func f(" + text + ");")})
	if err != nil {
		t.Fatal(err)
	}
	return m.Decls[0].Signature.Params[0]
}

func TestDifference(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{".param .b32 x", ".param .u32 y", ""},
		{".param .b32 x", ".param .f32 y", ""},
		{".param .u32 x", ".param .s32 y", ""},
		{".param .u32 x", ".param .f32 y", "type"},
		{".param .u64 x", ".param .f64 y", "type"},
		{".param .b32 x", ".param .b64 y", "size"},
		{".param .u64 x", ".param .align 8 .b64 y", ""},
		{".param .b32 x", ".param .align 8 .b32 y", "alignment"},
		{".param .b32 x", ".param .b8 y[4]", "shape"},
		{".param .align 4 .b8 x[8]", ".param .align 4 .b32 y[2]", ""},
		{".param .align 4 .b8 x[8]", ".param .align 8 .b8 y[8]", "alignment"},
		{".param .align 4 .b8 x[8]", ".param .align 4 .b8 y[12]", "size"},
		{".param .align 4 .b8 x[8]", ".param .align 4 .b8 y[]", "shape"},
		{".param .align 8 .b8 x[]", ".param .align 8 .b8 y[]", ""},
		{".param .b32 x", ".reg .b32 y", "state space"},
		{".param .v2 .f32 x", ".param .f64 y", "shape"},
		{".param .b16 x", ".param .f16 y", ""},
		{".param .future7 x", ".param .future7 y", ""},
		{".param .future7 x", ".param .future8 y", "type"},
	} {
		x, y := param(t, test.a), param(t, test.b)
		if got := Difference(x, y); got != test.want {
			t.Errorf("%s / %s: %q, want %q", test.a, test.b, got, test.want)
		}
		if got := Difference(y, x); got != test.want {
			t.Errorf("not symmetric: %s / %s: %q", test.b, test.a, got)
		}
	}
}
