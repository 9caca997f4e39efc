package link

import (
	"errors"
	"slices"
	"testing"

	"ptxlink/object/container"
	"ptxlink/object/diag"
)

func cubin(name, defines, needs string, archived bool) Cubin {
	symbols := []container.CubinSymbol{{Name: defines, Defined: true, Function: true}}
	if needs != "" {
		symbols = append(symbols, container.CubinSymbol{Name: needs, Function: true})
	}
	return Cubin{Name: name, Symbols: symbols, Archived: archived}
}

// TestOnlyCubins links without modules: a file is linked, a member of an archive if a file or the
// command line needs it.
func TestOnlyCubins(t *testing.T) {
	list := []Cubin{cubin("l.a(unused.o)", "unused", "", true), cubin("l.a(g.o)", "g", "", true), cubin("f.cubin", "f", "g", false)}
	r, err := Link(t.Context(), Options{Cubins: list, Arch: "sm_80"})
	if err != nil || !slices.Equal(r.Cubins, []int{1, 2}) {
		t.Fatalf("%v, %v", r, err)
	}
	if want := []Pull{{Member: "l.a(g.o)", Symbol: "g", By: "f.cubin"}}; !slices.Equal(r.Pulls, want) {
		t.Errorf("pulls %v, want %v", r.Pulls, want)
	}
	r, err = Link(t.Context(), Options{Cubins: list[:2], Undefined: []string{"g"}, Arch: "sm_80"})
	if err != nil || !slices.Equal(r.Cubins, []int{1}) {
		t.Errorf("%v, %v", r, err)
	}
	_, err = Link(t.Context(), Options{Cubins: list[:2], Arch: "sm_80"})
	if refused := (*Errors)(nil); !errors.As(err, &refused) || refused.Messages[0].ID != diag.NothingLinked {
		t.Errorf("%v", err)
	}
}

// TestNeeds finds the members that a link needs beside its modules and its cubins. One that
// defines what a module defines is not needed, also if the output lacks it so far.
func TestNeeds(t *testing.T) {
	const text = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f();\n.visible .entry k() { call f, (); ret; }\n.visible .func unused() { ret; }\n"
	r, err := Link(t.Context(), Options{
		Inputs: []Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: []Cubin{cubin("c.cubin", "c", "g", false)}, AllowUndefined: []string{"*"}, Arch: "sm_80",
	})
	if err != nil {
		t.Fatal(err)
	}
	members := []Cubin{
		cubin("l.a(1.o)", "k", "", true), cubin("l.a(2.o)", "unused", "", true), cubin("l.a(3.o)", "f", "unused", true),
		cubin("l.a(4.o)", "g", "h", true), cubin("l.a(5.o)", "c", "", true), cubin("l.a(6.o)", "h", "", true), cubin("l.a(7.o)", "other", "", true),
	}
	if got := r.Needs(members); !slices.Equal(got, []int{2, 3, 5}) {
		t.Errorf("needs %v", got)
	}
	if got := r.Needs(members, "other"); !slices.Equal(got, []int{2, 3, 5, 6}) {
		t.Errorf("with a name needs %v", got)
	}
}
