package link

import (
	"context"
	"strings"
	"testing"
)

const moduleHead = ".version 7.0\n.target sm_80\n.address_size 64\n"

// TestWeakenOneLink checks that Weaken changes the modules of one link only, although
// links of a Linker share their records.
func TestWeakenOneLink(t *testing.T) {
	library := Input{Name: "lib.ptx", Text: []byte(moduleHead + ".visible .global .u32 v = 1;\n")}
	l, err := NewLinker(context.Background(), "", library)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Inputs: []Input{{Name: "main.ptx", Text: []byte(moduleHead + ".visible .global .u32 v = 2;\n")}}}
	weak := o
	weak.Weaken = []string{"v"}
	if r, err := l.Link(context.Background(), weak); err != nil || !strings.Contains(string(r.PTX), ".weak .global .u32 v = 2;") {
		t.Errorf("weakened: %v", err)
	}
	if _, err := l.Link(context.Background(), o); err == nil {
		t.Error("the definitions are weak in the next link, too")
	}
}

// TestDefineValues checks what a number of Options.Define becomes.
func TestDefineValues(t *testing.T) {
	for _, test := range []struct{ word, number, want string }{
		{".u8", "255", "255"},
		{".u8", "256", ""},
		{".u8", "-1", "255"},
		{".u32", "-2147483648", "2147483648"},
		{".u32", "-2147483649", ""},
		{".u64", "-1", "18446744073709551615"},
		{".s8", "-128", "-128"},
		{".s8", "128", ""},
		{".b8", "255", "255"},
		{".b8", "-1", "-1"},
		{".u64", "0xffffffffffffffff", "18446744073709551615"},
		{".b32", "1.5", ""},
		{".f32", "1.5", "0f3FC00000"},
		{".f32", "1e60", ""},
		{".f64", "-0", "0d8000000000000000"},
		{".f16", "1", ""},
	} {
		if got, ok := initialValue(test.word, test.number); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s of %s is %q, %v", test.number, test.word, got, ok)
		}
	}
}
