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
		for _, c := range contents("a.cubin", data, Options{MaxSize: 1 << 20}) {
			list, err := Cubin{Data: c}.Symbols()
			for _, s := range list {
				if err != nil || s.Name == "" {
					t.Errorf("%+v, %v", s, err)
				}
			}
		}
	})
}

// contents returns the machine code in a file that can be read.
func contents(name string, data []byte, o Options) (list [][]byte) {
	objects, _ := Objects(name, data, o)
	for _, object := range objects {
		for _, c := range object.Codes {
			if data, err := c.Bytes(); err == nil && c.Form == MachineCode {
				list = append(list, data)
			}
		}
	}
	return list
}
