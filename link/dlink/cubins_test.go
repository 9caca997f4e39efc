package dlink

import (
	"fmt"
	"slices"
	"testing"

	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
)

func cubin(name, defines, needs string, archived bool) *object.Cubin {
	symbols := []container.CubinSymbol{{Name: defines, Defined: true, Function: true}}
	if needs != "" {
		symbols = append(symbols, container.CubinSymbol{Name: needs, Function: true})
	}
	return &object.Cubin{Cubin: container.Cubin{Name: name}, Symbols: symbols, Archived: archived}
}

// TestLinked links a chain of members, the last of which comes first, and no others. Of two
// that define a name it takes the first, and none for a name that the modules define.
func TestLinked(t *testing.T) {
	const n = 5000
	var list []*object.Cubin
	member := func(defines, needs string) {
		list = append(list, cubin(fmt.Sprintf("l.a(%d.cubin)", len(list)), defines, needs, true))
	}
	member("unused", "f0")
	member("own", "unused")
	for i := n - 1; i >= 0; i-- {
		member(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))
	}
	member("f0", "unused")
	member(fmt.Sprintf("f%d", n), "own")
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f0 ();\n.visible .func own () { ret; }\n.visible .entry k () { call f0; ret; }\n"
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: list, CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if list := r.Cubins; len(list) != n+1 || list[0].Name != "l.a(2.cubin)" || list[n].Name != fmt.Sprintf("l.a(%d.cubin)", n+3) {
		t.Errorf("%d members: %s to %s", len(list), list[0].Name, list[len(list)-1].Name)
	}
}

// TestKernels finds words for the kernels to keep: none if all stay.
func TestKernels(t *testing.T) {
	kernel := func(name string) container.CubinSymbol {
		return container.CubinSymbol{Name: name, Defined: true, Function: true, Entry: true}
	}
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry p () { ret; }\n"
	for _, test := range []struct {
		launched []string
		archived bool
		want     string
	}{
		{[]string{"k*", "m*", "own*"}, false, "[]"},
		{[]string{"m*", "own*"}, false, "[m o p]"},
		{[]string{"k*"}, false, "[k p]"},
		{[]string{"own*"}, false, "[ow p]"},
		{[]string{"other*"}, false, "[p]"},
		{[]string{"other*"}, true, "[]"},
	} {
		list := []*object.Cubin{{Cubin: container.Cubin{Name: "a.cubin"}, Symbols: []container.CubinSymbol{kernel("k"), kernel("more")}, Locals: []container.CubinSymbol{kernel("own")}, Archived: test.archived}}
		o := link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: list, CheckOnly: true}
		if test.archived {
			o.Undefined = []string{"k"}
		}
		r, err := link.Link(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		words, fits := Kernels(r, test.launched, r.Cubins)
		if got := fmt.Sprint(words); got != test.want || !fits {
			t.Errorf("%q: %s, not %s", test.launched, got, test.want)
		}
	}
}

// TestKernelsFit tells of words that are too many for nvlink, or for its command line.
func TestKernelsFit(t *testing.T) {
	text := ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry p () { ret; }\n"
	r, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kernels, length int
		words, fits     bool
	}{{100, 4, true, true}, {1000, 4, true, false}, {200, 1000, false, false}} {
		c := &object.Cubin{}
		for i := range test.kernels {
			for _, side := range []string{"k", "u"} { // launched or not, and equal but for the last letter
				name := fmt.Sprintf("_%0*d%s", test.length, i, side)
				c.Symbols = append(c.Symbols, container.CubinSymbol{Name: name, Defined: true, Function: true, Entry: true})
			}
		}
		if words, fits := Kernels(r, []string{"*k"}, []*object.Cubin{c}); (words != nil) != test.words || fits != test.fits {
			t.Errorf("%d kernels: %d words, %v", test.kernels, len(words), fits)
		}
	}
}

// TestNeeds finds the members that a link needs beside its modules and its cubins. One that
// defines what a module defines is not needed, also if the output lacks it so far.
func TestNeeds(t *testing.T) {
	const text = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f();\n.visible .entry k() { call f, (); ret; }\n.visible .func unused() { ret; }\n"
	r, err := link.Link(t.Context(), link.Options{
		Inputs: []link.Input{{Name: "a.ptx", Text: []byte(text)}}, Cubins: []*object.Cubin{cubin("c.cubin", "c", "g", false)}, AllowUndefined: []string{"*"}, Arch: "sm_80",
	})
	if err != nil {
		t.Fatal(err)
	}
	members := []*object.Cubin{
		cubin("l.a(1.o)", "k", "", true), cubin("l.a(2.o)", "unused", "", true), cubin("l.a(3.o)", "f", "unused", true),
		cubin("l.a(4.o)", "g", "h", true), cubin("l.a(5.o)", "c", "", true), cubin("l.a(6.o)", "h", "", true), cubin("l.a(7.o)", "other", "", true),
	}
	if got := needed(r, members, nil); !slices.Equal(got, []int{2, 3, 5}) {
		t.Errorf("needs %v", got)
	}
	if got := needed(r, members, []string{"other"}); !slices.Equal(got, []int{2, 3, 5, 6}) {
		t.Errorf("with a name needs %v", got)
	}
}
