package dlink

import (
	"fmt"
	"testing"

	"ptxlink/link"
	"ptxlink/object/container"
)

// TestPull links a chain of members, the last of which comes first, and no others. Of two
// that define a name it takes the first, and none for a name that the modules define.
func TestPull(t *testing.T) {
	const n = 5000
	c := Cubins{archived: &Cubins{}}
	member := func(defines, needs string) {
		name := fmt.Sprintf("l.a(%d.cubin)", len(c.archived.List))
		symbols := []container.CubinSymbol{{Name: defines, Defined: true, Function: true}, {Name: needs, Function: true}}
		c.archived.List = append(c.archived.List, container.Cubin{Name: name})
		c.archived.Symbols = append(c.archived.Symbols, link.Cubin{Name: name, Symbols: symbols})
	}
	member("unused", "f0")
	member("own", "unused")
	for i := n - 1; i >= 0; i-- {
		member(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))
	}
	member("f0", "unused")
	member(fmt.Sprintf("f%d", n), "own")
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f0 ();\n.visible .func own () { ret; }\n.visible .entry k () { call f0; ret; }\n"
	for round := range 2 {
		r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: c.Offered(), CheckOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if pulled := c.Pull(r, nil); pulled != (round == 0) {
			t.Errorf("round %d: pulled %v", round, pulled)
		}
	}
	if len(c.List) != n+1 || len(c.Symbols) != n+1 || c.List[0].Name != fmt.Sprintf("l.a(%d.cubin)", n+1) || c.List[n].Name != fmt.Sprintf("l.a(%d.cubin)", n+3) {
		t.Errorf("%d members: %s to %s", len(c.List), c.List[0].Name, c.List[len(c.List)-1].Name)
	}
	if left := c.archived.List; len(left) != 3 || left[0].Name != "l.a(0.cubin)" || left[1].Name != "l.a(1.cubin)" || left[2].Name != fmt.Sprintf("l.a(%d.cubin)", n+2) {
		t.Errorf("%v are left", left)
	}
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: c.Offered(), CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Pull(r, []string{"own", "nothing", "unused"}) || c.List[len(c.List)-1].Name != "l.a(0.cubin)" || len(c.archived.List) != 2 {
		t.Errorf("-u takes %s", c.List[len(c.List)-1].Name)
	}
}
