package container

import (
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

func TestCheckCubin(t *testing.T) {
	if err := CheckCubin(oracles.LeastCubin); err != nil {
		t.Error(err)
	}
	for cut := range len(oracles.LeastCubin) {
		if CheckCubin(oracles.LeastCubin[:cut]) == nil {
			t.Errorf("cut after %d bytes it is taken", cut)
		}
	}
	for _, test := range []struct {
		at    int
		value byte
		want  string
	}{
		{1, 'e', "it is not an ELF file"},
		{0x12, 62, "it is an ELF file for EM_X86_64, not for CUDA"},
		{0x3c, 0, "it has no sections"},
		{0x3c, 9, "ELF file is cut short: its section headers, 9 of 64 bytes"},
		{0x2f, 0xff, "ELF file is cut short: its section headers"},
		{128 + 0x18, 200, "it is cut short: section 1 of 2"},
		{128 + 0x27, 0xff, "it is cut short: section 1 of 2"},
		{0x38, 1, "it is cut short: segment 0 of 1"},
	} {
		data := append([]byte(nil), oracles.LeastCubin...)
		data[test.at] = test.value
		if test.at == 0x38 {
			data[0x26] = 1 // the table of segments lies behind the end
		}
		if err := CheckCubin(data); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("byte %#x: %v, want %q", test.at, err, test.want)
		}
	}
	// Memory of a kind that a later release adds.
	data := append([]byte(nil), oracles.LeastCubin...)
	binary.LittleEndian.PutUint32(data[128+4:], uint32(elf.SHT_LOPROC)+0x17)
	data[128+0x20] = 200 // its size
	if err := CheckCubin(data); err != nil {
		t.Errorf("a section of an unknown type: %v", err)
	}
}

// TestCheckRealCubins checks that the cubins of ptxas are accepted, complete and
// relocatable, and that truncated ones are not.
func TestCheckRealCubins(t *testing.T) {
	ptx := []byte(".version 7.0\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.visible .func f() { ret; }\n.visible .entry k() { .shared .u32 s; call f; ret; }\n")
	for _, tool := range oracles.EveryPtxas() {
		for _, compile := range []bool{false, true} {
			for _, debug := range []bool{false, true} {
				var flags []string
				if compile {
					flags = append(flags, "-c")
				}
				if debug {
					flags = append(flags, "-g")
				}
				cubin := oracles.Assemble(t, tool, "sm_80", ptx, flags...)
				if err := CheckCubin(cubin); err != nil {
					t.Errorf("%s %q: %v", tool, flags, err)
				}
				for cut := len(cubin) - 1; cut >= 0; cut -= 1 + len(cubin)/50 {
					if CheckCubin(cubin[:cut]) == nil {
						t.Errorf("%s: the first %d of %d bytes are taken", tool, cut, len(cubin))
					}
				}
			}
		}
	}
}

// TestVirtual reads which PTX each ptxas made a cubin of.
func TestVirtual(t *testing.T) {
	for _, tool := range oracles.EveryPtxas() {
		for target, number := range map[string]int{"sm_75": 75, "sm_80": 80} {
			ptx := []byte(".version 7.0\n.target " + target + "\n.address_size 64\n.visible .entry k() { ret; }\n")
			for _, flags := range [][]string{{"-c"}, {"-c", "-g"}} {
				if got := (Cubin{Data: oracles.Assemble(t, tool, "sm_80", ptx, flags...)}).Virtual(); got != number {
					t.Errorf("%s %q of PTX for %s: %d", tool, flags, target, got)
				}
			}
		}
	}
	if got := (Cubin{Data: oracles.LeastCubin}).Virtual(); got != 0 {
		t.Errorf("the least cubin: %d", got)
	}
}
