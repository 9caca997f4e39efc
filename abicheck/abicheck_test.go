package abicheck

import (
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// signature parses the results, name and parameters of a function.
func signature(t *testing.T, text string) *ptx.Signature {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: []byte(".version 99.0 .target sm_75 .address_size 64 .extern .func " + text + ";")})
	if err != nil {
		t.Fatal(err)
	}
	return m.Decls[0].Signature
}

// param parses one parameter of a function.
func param(t *testing.T, text string) ptx.Type {
	t.Helper()
	return signature(t, "f("+text+")").Params[0]
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

func TestCallDifference(t *testing.T) {
	literal := ptx.Type{}
	if got := callDifference(literal, param(t, ".param .f32 x")); got != "" {
		t.Errorf("a literal: %q", got)
	}
	for _, test := range []struct{ passed, taken, want string }{
		{".param .b32 x", ".reg .b64 y", ""},
		{".param .b32 x", ".param .b64 y", "size"},
		{".reg .b32 x", ".param .b32 y", ""},
		{".param .align 4 .b8 x[8]", ".param .align 4 .b8 y[]", ""},
		{".param .b32 x", ".param .align 4 .b8 y[]", "shape"},
		{".param .align 4 .b8 x[]", ".param .align 4 .b8 y[8]", "shape"},
	} {
		if got := callDifference(param(t, test.passed), param(t, test.taken)); got != test.want {
			t.Errorf("%s for %s: %q, want %q", test.passed, test.taken, got, test.want)
		}
	}
}

// TestDiffers checks what an indirect call may reach.
func TestDiffers(t *testing.T) {
	for _, test := range []struct{ passed, taken, want string }{
		{"f (.param .b32 x)", "f (.param .u32 y)", ""},
		{"f (.param .b32 x)", "f (.param .b32 x, .param .b32 y)", "count"},
		{"f (.param .b32 x)", "(.param .b32 r) f (.param .b32 x)", "count"},
		{"(.param .b32 r) f ()", "f (.param .b32 r)", "count"},
		{"(.param .b32 r) f (.param .b32 x)", "(.param .b64 r) f (.param .b32 x)", "size"},
		{"f (.param .b32 x, .param .u32 y)", "f (.param .b32 x, .param .f32 y)", "type"},
		{"f (.param .align 4 .b8 x[16])", "f (.param .align 8 .b8 x[16])", ""}, // in registers
		{"f (.param .b32 x)", "f (.param .align 8 .b32 x)", "alignment"},       // not an aggregate
		{"f (.param .b32 x, .param .align 4 .b8 y[16])", "f (.param .b32 x, .param .align 8 .b8 y[16])", "alignment"},
		{"f (.param .align 4 .b8 x[64])", "f (.param .align 8 .b8 x[64])", "alignment"}, // on the stack
		{"f (.param .align 8 .b8 x[64])", "f (.param .align 4 .b8 x[64])", ""},
	} {
		if got := differs(signature(t, test.passed), signature(t, test.taken)); got != test.want {
			t.Errorf("%s reaches %s: %q, want %q", test.passed, test.taken, got, test.want)
		}
	}
}

func TestOtherNumbers(t *testing.T) {
	variable := func(text string) content {
		module := ".version 7.8\n.target sm_75\n.address_size 64\n.weak .global " + text + ";"
		files, _, err := object.Load(t.Context(), []object.Input{{Name: "v.ptx", Text: []byte(module)}}, object.Options{}, &diag.Log{})
		if err != nil || len(files) != 1 {
			t.Fatal(text, err)
		}
		d := &files[0].Decls[0]
		return content{f: files[0], decl: d, span: d.Init}
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{".u32 v = 1", ".u32 v = 2", true},
		{".u32 v = 1", ".u64 v = 2", false},
		{".u32 v = 0", ".u32 v", false},
		{".u32 v = 1", ".u32 v", true},
		{".u32 v[4] = {1, 2}", ".u32 v[4] = {1,2,0,0}", false},
		{".u32 v[4] = {0, 2}", ".u32 v[4] = {2}", true},
		{".s32 v = 1", ".s32 v = -1", false},           // not compared
		{".f32 v = 0f3F800000", ".f32 v = 1.0", false}, // nor these
		{".u32 v[2][2] = {{1, 2}, {3, 4}}", ".u32 v[2][2] = {{1, 2}, {3, 5}}", false},
	} {
		if got := otherNumbers(variable(test.a), variable(test.b)); got != test.want {
			t.Errorf("%s / %s: %v", test.a, test.b, got)
		}
		if got := otherNumbers(variable(test.b), variable(test.a)); got != test.want {
			t.Errorf("%s / %s: %v", test.b, test.a, got)
		}
	}
}
