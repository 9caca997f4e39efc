package ptxas

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// leastCubin is the header of a cubin, followed by a table of two sections and the
// eight bytes of the second one.
var leastCubin = func() []byte {
	b := make([]byte, 64+2*64+8)
	copy(b, "\x7fELF\x02\x01\x01\x33\x07")
	put := func(at int, size int, value uint64) {
		var eight [8]byte
		binary.LittleEndian.PutUint64(eight[:], value)
		copy(b[at:at+size], eight[:])
	}
	put(0x10, 2, 2)
	put(0x12, 2, 190)
	put(0x28, 8, 64) // where the table is
	put(0x3a, 2, 64)
	put(0x3c, 2, 2)
	put(128+0x04, 4, 1) // PROGBITS
	put(128+0x18, 8, 192)
	put(128+0x20, 8, 8)
	return b
}()

// octal returns data as an argument of printf.
func octal(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

func TestCheckCubin(t *testing.T) {
	if err := checkCubin(leastCubin); err != nil {
		t.Error(err)
	}
	for cut := range len(leastCubin) {
		if checkCubin(leastCubin[:cut]) == nil {
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
		{0x3c, 9, "it is cut short: section 2 of 9"},
		{0x2f, 0xff, "it is cut short: section 0 of 2"},
		{128 + 0x18, 200, "it is cut short: section 1 of 2"},
		{128 + 0x27, 0xff, "it is cut short: section 1 of 2"},
		{0x38, 1, "it is cut short: segment 0 of 1"},
	} {
		data := append([]byte(nil), leastCubin...)
		data[test.at] = test.value
		if test.at == 0x38 {
			data[0x26] = 1 // the table of segments lies behind the end
		}
		if err := checkCubin(data); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("byte %#x: %v, want %q", test.at, err, test.want)
		}
	}
}

// TestCheckRealCubins checks that the cubins of ptxas are accepted, complete and
// relocatable, and that truncated ones are not.
func TestCheckRealCubins(t *testing.T) {
	ptx := []byte(".version 7.0\n.target sm_80\n.address_size 64\n.global .u32 g[4];\n.visible .func f() { ret; }\n.visible .entry k() { .shared .u32 s; call f; ret; }\n")
	for _, tool := range oracles.EveryPtxas() {
		path := oracles.Require(t, tool)
		for _, compile := range []bool{false, true} {
			for _, debug := range []bool{false, true} {
				arch := "sm_80"
				cubin, messages, err := Assemble(t.Context(), Options{Path: path, Arch: arch, Compile: compile, Debug: debug}, ptx, origin)
				if err != nil {
					t.Errorf("%s: %v %v", tool, err, messages)
					continue
				}
				for cut := len(cubin) - 1; cut >= 0; cut -= 1 + len(cubin)/50 {
					if checkCubin(cubin[:cut]) == nil {
						t.Errorf("%s: the first %d of %d bytes are taken", tool, cut, len(cubin))
					}
				}
			}
		}
	}
}
