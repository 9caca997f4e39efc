package container

import (
	"bytes"
	"debug/elf"
	"testing"

	"ptxlink/internal/oracles"
)

// TestLocalise checks that only the symbols that are named change, that the first
// global symbol is found, and that a damaged table is left alone.
func TestLocalise(t *testing.T) {
	ptx := []byte(".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 a = 1;\n.visible .global .u32 b = 2;\n.visible .entry k() { ret; }\n")
	cubin := oracles.Assemble(t, "ptxas", "sm_80", ptx)
	before := oracles.Symbols(t, cubin)
	Localise(cubin, []string{"b", "none"})
	after := oracles.Symbols(t, cubin)
	if err := CheckCubin(cubin); err != nil || len(before) != len(after) {
		t.Fatal(err, len(after))
	}
	for i, s := range after {
		want := before[i]
		if s.Name == "b" {
			want.Info = elf.ST_INFO(elf.STB_LOCAL, elf.ST_TYPE(want.Info))
		}
		if s != want {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	Localise(cubin, []string{"a", "k"})
	symbols, table := oracles.Symbols(t, cubin), oracles.OpenCubin(t, cubin).SectionByType(elf.SHT_SYMTAB)
	locals := 1 // the null symbol
	for ; locals <= len(symbols) && elf.ST_BIND(symbols[locals-1].Info) == elf.STB_LOCAL; locals++ {
	}
	if int(table.Info) != locals {
		t.Errorf("sh_info is %d; there are %d local symbols before the first global one", table.Info, locals)
	}
	for at := range oracles.LeastCubin {
		damaged := bytes.Clone(oracles.LeastCubin)
		damaged[at] ^= 0xff
		Localise(damaged, []string{"a"}) // does not panic
	}
}
