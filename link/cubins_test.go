package link

import (
	"errors"
	"slices"
	"testing"

	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

func cubin(name, defines, needs string, archived bool) *object.Cubin {
	symbols := []container.CubinSymbol{{Name: defines, Defined: true, Function: true}}
	if needs != "" {
		symbols = append(symbols, container.CubinSymbol{Name: needs, Function: true})
	}
	return &object.Cubin{Cubin: container.Cubin{Name: name}, Symbols: symbols, Archived: archived}
}

// TestOnlyCubins links without modules: a file is linked, a member of an archive if a file or the
// command line needs it.
func TestOnlyCubins(t *testing.T) {
	list := []*object.Cubin{cubin("l.a(unused.o)", "unused", "", true), cubin("l.a(g.o)", "g", "", true), cubin("f.cubin", "f", "g", false)}
	r, err := Link(t.Context(), Options{Cubins: list, Arch: "sm_80"})
	if err != nil || !slices.Equal(r.Cubins, list[1:]) {
		t.Fatalf("%v, %v", r, err)
	}
	if want := []Pull{{Member: "l.a(g.o)", Symbol: "g", By: "f.cubin"}}; !slices.Equal(r.Pulls, want) {
		t.Errorf("pulls %v, want %v", r.Pulls, want)
	}
	r, err = Link(t.Context(), Options{Cubins: list[:2], Undefined: []string{"g"}, Arch: "sm_80"})
	if err != nil || !slices.Equal(r.Cubins, list[1:2]) {
		t.Errorf("%v, %v", r, err)
	}
	_, err = Link(t.Context(), Options{Cubins: list[:2], Arch: "sm_80"})
	if refused := (*Errors)(nil); !errors.As(err, &refused) || refused.Messages[0].ID != diag.NothingLinked {
		t.Errorf("%v", err)
	}
}
