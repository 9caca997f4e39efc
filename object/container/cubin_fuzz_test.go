package container

import (
	"testing"

	"ptxlink/internal/oracles"
)

// FuzzCubin reads the symbols of damaged cubins.
func FuzzCubin(f *testing.F) {
	f.Add(oracles.LeastCubin)
	if _, ok := oracles.Find("ptxas"); ok {
		f.Add(oracles.Assemble(f, "ptxas", "sm_80", []byte(".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f();\n.visible .global .u32 a = 1;\n.visible .entry k() { call f; ret; }\n"), "-c"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cubins, err := Cubins("a.cubin", data, Options{MaxSize: 1 << 20})
		if err != nil {
			return
		}
		for _, c := range cubins {
			list, err := c.Symbols()
			for _, s := range list {
				if err != nil || s.Name == "" {
					t.Errorf("%+v, %v", s, err)
				}
			}
		}
	})
}
