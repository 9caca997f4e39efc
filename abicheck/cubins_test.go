package abicheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// TestPrototypes assembles modules of every producer, and compares what ptxas says of each
// function with its declaration: nothing may differ.
func TestPrototypes(t *testing.T) {
	files, err := filepath.Glob("../testdata/ptx/*/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		functions += comparePrototypes(t, file, data)
	}
	types := "//\n.version 8.3\n.target sm_90\n.address_size 64\n"
	for i, list := range []string{"", ".param .b128 a", ".reg .f16 a", ".param .b8 a[0]", ".param .f16 a[2], .param .f32 b[3], .param .f64 c[4], .param .u16 d[5], .param .s32 e[6], .param .u64 f[7]",
		".param .u32 a, .param .s64 b, .param .f32 c, .param .f64 d, .param .align 16 .b8 e[48]", ".reg .b32 a, .reg .u64 b, .reg .f64 c"} {
		types += ".visible .func f" + string(rune('0'+i)) + " (" + list + ") { ret; }\n"
		if !strings.Contains(list, ".reg") {
			types += ".visible .entry k" + string(rune('0'+i)) + " (" + list + ") { ret; }\n"
		}
	}
	if functions += comparePrototypes(t, "types.ptx", []byte(types)); functions < 100 {
		t.Errorf("%d functions were compared", functions)
	}
}

// comparePrototypes compares those of a module and returns their number.
func comparePrototypes(t *testing.T, name string, text []byte) (functions int) {
	m, perr := ptx.Parse(&diag.Source{Name: name, Text: text})
	if perr != nil {
		return 0
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.ptx"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(oracles.Require(t, "ptxas"), "-c", "-arch=sm_90", "in.ptx", "-o", "out.cubin")
	if command.Dir = dir; command.Run() != nil { // of sm_90a, or broken on purpose
		return 0
	}
	cubin, err := os.ReadFile(filepath.Join(dir, "out.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := container.Cubin{Data: cubin}.AllSymbols()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, s := range symbols {
		id, found := m.Lookup(s.Name)
		if s.Local || s.Prototype == "" && s.Params == nil || !found {
			continue
		}
		functions++
		var log diag.Log
		for i := range m.Decls {
			if d := &m.Decls[i]; d.Name == id {
				functionDiffers(resolve.CubinSymbol{CubinSymbol: s, Cubin: &object.Cubin{}}, d, diag.Place{}, &log)
				kernelDiffers(resolve.CubinSymbol{CubinSymbol: s, Cubin: &object.Cubin{}}, d, diag.Place{}, &log)
			}
		}
		for _, message := range log.Messages {
			t.Errorf("%s: %s: %s: %s", name, s.Name, s.Prototype, message.Text)
		}
		if _, ok := object.ParsePrototype(s.Prototype); !ok && !s.Entry {
			t.Errorf("%s: %s: %s cannot be read", name, s.Name, s.Prototype)
		}
	}
	return functions
}

// TestPrototypeText reads what ptxas 13.5 says of system calls, which keep more registers.
func TestPrototypeText(t *testing.T) {
	for prototype, want := range map[string]string{
		"#ilb16": "(.b32) (.b64, .b8[16])",
		"#v":     "()",
		"#ill|12p4r20sRx000000000000000000000000000000000000000000000000000000000000fff9": "(.b32) (.b64, .b64)",
		"#?": "#?",
	} {
		if got := object.PrototypeText(prototype); got != want {
			t.Errorf("%s: %q, want %q", prototype, got, want)
		}
	}
}
