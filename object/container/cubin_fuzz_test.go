package container

import (
	"testing"

	"ptxlink/internal/oracles"
)

// FuzzCubin reads the symbols of damaged cubins. Parameters take no more memory than the file.
func FuzzCubin(f *testing.F) {
	f.Add(oracles.LeastCubin)
	if _, ok := oracles.Find("ptxas"); ok {
		f.Add(oracles.Assemble(f, "ptxas", "sm_80", []byte(".version 7.8\n.target sm_80\n.address_size 64\n.extern .func f();\n.visible .global .u32 a = 1;\n.visible .entry k(.param .u64 p, .param .align 8 .b8 q[24]) { call f; ret; }\n"), "-c"))
		f.Add(oracles.Assemble(f, "ptxas", "sm_80", []byte(".version 7.8\n.target sm_80\n.address_size 64\n.extern .global .u32 _Z1x;\n.visible .global .u32 _Z1x__static__1;\n.extern .func g();\n.global .u64 __clang_gpu_used_external[1] = {g};\n.visible .entry k() { .reg .u64 r; mov.u64 r, _Z1x; st.global.u64 [r], r; ret; }\n"), "-c"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range contents("a.cubin", data, Options{MaxSize: 1 << 20}) {
			if n := len(MendClang(c)); n != len(c) {
				t.Errorf("%d bytes, mended %d", len(c), n)
			}
			if CheckCubin(c) == nil {
				if err := CheckCubin(AddNote(c, "made")); err != nil {
					t.Errorf("with a note: %v", err)
				}
			}
			list, err := Cubin{Data: c}.AllSymbols()
			params := 0
			for _, s := range list {
				if err != nil || s.Name == "" || s.Local && !s.Defined {
					t.Errorf("%+v, %v", s, err)
				}
				params += len(s.Params)
			}
			if 16*params > len(c) { // that many attributes
				t.Errorf("%d parameters in %d bytes", params, len(c))
			}
			if n := (Cubin{Data: c}).Virtual(); n < 0 {
				t.Errorf("PTX for %d", n)
			}
			for space, size := range (Cubin{Data: c}).Memory() {
				if size < 0 {
					t.Errorf("%d bytes of %s", size, space)
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
