package ptxsim_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestISAPtxas compares the examples of TestISA with what ptxas computes when it folds
// constants. Examples that it leaves to the machine are skipped.
func TestISAPtxas(t *testing.T) {
	ptxas, nvdisasm := oracles.Require(t, "ptxas"), oracles.Require(t, "nvdisasm")
	list := cases(t, allISARows())
	var text strings.Builder
	text.WriteString(isaHeader)
	for i, c := range list {
		text.WriteString(c.entry(fmt.Sprintf("e%d", i), true))
	}
	dir := t.TempDir()
	source, cubin := filepath.Join(dir, "isa.ptx"), filepath.Join(dir, "isa.cubin")
	if err := os.WriteFile(source, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(ptxas, "-arch=sm_80", source, "-o", cubin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sass, err := exec.Command(nvdisasm, "-c", cubin).Output()
	if err != nil {
		t.Fatal(err)
	}
	folded := 0
	for _, section := range strings.Split(string(sass), "\n.text.e")[1:] {
		number, body, _ := strings.Cut(section, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		stored, ok := foldedStores(body)
		if !ok {
			continue
		}
		folded++
		c := list[n]
		for k, want := range c.want {
			bits := letterBits[c.outs[k]]
			want &= 1<<(bits-1)<<1 - 1
			got, ok := stored[8*k]
			if bits == 64 {
				if high, two := stored[8*k+4]; two {
					got = got&math.MaxUint32 | high<<32
				}
			} else {
				got &= 1<<(max(16, bits)-1)<<1 - 1
			}
			// ptxas subtracts by adding the negated operand, and -0x80000000 overflows. The
			// ISA saturates the difference.
			if c.row == "sub.sat.s32 r, r, r" && c.in[1] == 0x80000000 {
				continue
			}
			if !ok || got != want {
				t.Errorf("%s: %s: ptxas stores %x", c.row, c.example, got)
			}
		}
	}
	t.Logf("ptxas folds %d of %d examples", folded, len(list))
	if folded < len(list)/2 {
		t.Errorf("ptxas folds %d of %d examples only", folded, len(list))
	}
}

var (
	sassLine  = regexp.MustCompile(`/\*[0-9a-f]{4}\*/\s+(.*?)\s*;`)
	sassMove  = regexp.MustCompile(`^(?:MOV|IMAD\.MOV\.U32|IMAD\.MOV) (R\d+), (?:RZ, RZ, )?(-?0x[0-9a-f]+|RZ|R\d+|c\[0x0\]\[0x[0-9a-f]+\])$`)
	sassHalf  = regexp.MustCompile(`^HFMA2\.MMA (R\d+), -RZ, RZ, (\S+), (\S+)$`)
	sassZero  = regexp.MustCompile(`^CS2R (R\d+), SRZ$`)
	sassStore = regexp.MustCompile(`^STG\.E(\.64|\.U16)? \[R\d+\.64(?:\+0x([0-9a-f]+))?\], (R\d+|RZ)$`)
)

// foldedStores returns what an entry stores, by offset. ok is false if it computes
// anything.
func foldedStores(body string) (stored map[int]uint64, ok bool) {
	regs := map[string]uint64{"RZ": 0}
	stored = map[int]uint64{}
	for _, m := range sassLine.FindAllStringSubmatch(body, -1) {
		line := m[1]
		switch {
		case strings.HasPrefix(line, "ULDC"), line == "NOP":
		case line == "EXIT":
			return stored, true
		default:
			if m := sassMove.FindStringSubmatch(line); m != nil {
				if v, known := regs[m[2]]; known {
					regs[m[1]] = v
				} else if v, err := strconv.ParseInt(m[2], 0, 64); err == nil {
					regs[m[1]] = uint64(uint32(v))
				} else if m[2][0] == 'R' {
					return nil, false
				}
			} else if m := sassHalf.FindStringSubmatch(line); m != nil {
				high, err1 := strconv.ParseFloat(m[2], 64)
				low, err2 := strconv.ParseFloat(m[3], 64)
				if err1 != nil || err2 != nil {
					return nil, false
				}
				regs[m[1]] = half(high)<<16 | half(low)
			} else if m := sassZero.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1][1:])
				regs[m[1]], regs[fmt.Sprintf("R%d", n+1)] = 0, 0
			} else if m := sassStore.FindStringSubmatch(line); m != nil {
				off, _ := strconv.ParseInt("0"+m[2], 16, 64)
				v, known := regs[m[3]]
				if !known {
					return nil, false
				}
				if m[1] == ".64" && m[3] != "RZ" {
					n, _ := strconv.Atoi(m[3][1:])
					v |= regs[fmt.Sprintf("R%d", n+1)] << 32
				}
				stored[int(off)] = v
			} else {
				return nil, false
			}
		}
	}
	return nil, false
}

// half returns the encoding of a half, which is exact.
func half(x float64) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	switch {
	case math.IsInf(x, 0):
		return sign | 0x7c00
	case x != x:
		return sign | 0x7fff
	case x < 0x1p-14:
		return sign | uint64(x*0x1p24)
	}
	f, e := math.Frexp(x)
	return sign | uint64(e+14)<<10 + uint64(f*2048) - 1024
}
