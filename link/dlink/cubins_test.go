package dlink

import (
	"fmt"
	"testing"

	"ptxlink/link"
	"ptxlink/object/container"
)

// TestLinked links a chain of members, the last of which comes first, and no others. Of two
// that define a name it takes the first, and none for a name that the modules define.
func TestLinked(t *testing.T) {
	const n = 5000
	var c Cubins
	member := func(defines, needs string) {
		name := fmt.Sprintf("l.a(%d.cubin)", len(c.List))
		symbols := []container.CubinSymbol{{Name: defines, Defined: true, Function: true}, {Name: needs, Function: true}}
		c.List = append(c.List, container.Cubin{Name: name})
		c.Symbols = append(c.Symbols, link.Cubin{Name: name, Symbols: symbols, Archived: true})
	}
	member("unused", "f0")
	member("own", "unused")
	for i := n - 1; i >= 0; i-- {
		member(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))
	}
	member("f0", "unused")
	member(fmt.Sprintf("f%d", n), "own")
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f0 ();\n.visible .func own () { ret; }\n.visible .entry k () { call f0; ret; }\n"
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: c.Symbols, CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if list := c.Linked(r); len(list) != n+1 || list[0].Name != "l.a(2.cubin)" || list[n].Name != fmt.Sprintf("l.a(%d.cubin)", n+3) {
		t.Errorf("%d members: %s to %s", len(list), list[0].Name, list[len(list)-1].Name)
	}
}
