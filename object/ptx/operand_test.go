package ptx

import (
	"fmt"
	"testing"

	"ptxlink/object/diag"
)

// TestAddressParts checks which addresses have a constant offset from a name.
func TestAddressParts(t *testing.T) {
	for address, want := range map[string]string{
		"[a]": "a 0", "[a+4]": "a 4", "[a + 0x10]": "a 16", "[a+-8]": "a -8", "[a-8]": "a -8", "[%r1+4]": "%r1 4",
		"[16]": "no", "[a+4+4]": "no", "[a+%r1]": "no", "[a--4]": "no", "[a+]": "no", "[a,4]": "no", "[a 4]": "no", "a": "no", "{a}": "no", "[]": "no",
	} {
		m, err := Parse(&diag.Source{Text: []byte(".version 8.0\n.target sm_80\n.func f(.param .b32 a) { .reg .b32 %r<3>; op.b32 " + address + "; }")})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		c := m.Code(&m.Decls[0])
		got := "no"
		if base, offset, ok := c.AddressParts(c.Operands(c.Statements[2])[0]); ok {
			got = fmt.Sprintf("%s %d", c.Text(c.Tokens[base]), offset)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// TestRegisters checks which register a name refers to.
func TestRegisters(t *testing.T) {
	m, err := Parse(&diag.Source{Text: []byte(".version 8.0\n.target sm_80\n.func f(.param .b32 a) { .reg .b32 %r<3>, x; { .reg .b32 x, %r<2>; op.b32 %r02, %r1, x, a, %tid; } op.b32 x, %r1; }")})
	if err != nil {
		t.Fatal(err)
	}
	c := m.Code(&m.Decls[0])
	got := ""
	for _, st := range c.Statements {
		if st.Kind != Instruction {
			continue
		}
		for _, o := range c.Operands(st) {
			if r, ok := c.Register(o.First); ok {
				got += fmt.Sprintf("%d.%d ", r.Local, r.Number)
			} else {
				got += "no "
			}
		}
	}
	if want := "1.2 4.1 3.0 no no 2.0 1.1 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCallForms checks which calls are recorded, with how many results and arguments.
func TestCallForms(t *testing.T) {
	for operands, want := range map[string]string{
		"f": "0 0", "f, (n)": "0 1", "(n), f, (n, 1)": "1 2", "(n), f": "1 0", "f, L": "0 0", "f, (n), L": "0 1", "f, (,n,)": "0 1",
		"f, (n, n, (, n, n)": "no", "f, [n]": "no", "f, 1": "no", "() (n), f": "no", "[n], (n)": "no", "": "no",
	} {
		m, err := Parse(&diag.Source{Text: []byte(".version 8.0\n.target sm_80\n.func f() { .reg .b32 n; call " + operands + "; }")})
		if err != nil {
			t.Errorf("%s: %v", operands, err)
			continue
		}
		got := "no"
		for _, c := range m.Calls {
			got = fmt.Sprint(len(c.Signature.Results), len(c.Signature.Params))
		}
		if got != want {
			t.Errorf("call %s: got %s, want %s", operands, got, want)
		}
	}
}
