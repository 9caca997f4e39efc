package ptxsim_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/ptxsim"
	"ptxlink/internal/ptxsim/gpu"
)

// An isaRow is an instruction whose operands are letters of a width (p predicate, h
// 16, r 32, d 64 bits), destinations first, and examples: operands in hexadecimal, an
// arrow, results.
type isaRow struct {
	text     string
	examples []string
}

// isaCase is one example.
type isaCase struct {
	row      string
	text     string // with registers %o0, %i0, ...
	outs     []byte // letters
	ins      []byte
	in, want []uint64
	example  string
}

var letterType = map[byte]string{'p': ".pred", 'h': ".b16", 'r': ".b32", 'd': ".b64"}
var letterBits = map[byte]int{'p': 1, 'h': 16, 'r': 32, 'd': 64}

// cases expands rows. Operands are split at spaces, commas and bars.
func cases(t testing.TB, rows []isaRow) (list []isaCase) {
	t.Helper()
	for _, row := range rows {
		for _, example := range row.examples {
			left, right, ok := strings.Cut(example, "->")
			if !ok {
				t.Fatalf("%s: %q", row.text, example)
			}
			c := isaCase{row: row.text, in: numbers(t, left), want: numbers(t, right), example: example}
			var b strings.Builder
			for _, stmt := range strings.Split(row.text, ";") {
				op, operands, _ := strings.Cut(strings.TrimSpace(stmt), " ")
				b.WriteString(op + " ")
				for i := 0; i < len(operands); i++ {
					ch := operands[i]
					alone := (i == 0 || !isWord(operands[i-1])) && (i+1 == len(operands) || !isWord(operands[i+1]))
					switch {
					case !alone || letterType[ch] == "":
						b.WriteByte(ch)
					case len(c.outs) < len(c.want):
						fmt.Fprintf(&b, "%%o%d", len(c.outs))
						c.outs = append(c.outs, ch)
					default:
						fmt.Fprintf(&b, "%%i%d", len(c.ins))
						c.ins = append(c.ins, ch)
					}
				}
				b.WriteString("; ")
			}
			c.text = b.String()
			if len(c.ins) != len(c.in) || len(c.outs) != len(c.want) {
				t.Fatalf("%s: %q has %d operands and %d results", row.text, example, len(c.in), len(c.want))
			}
			list = append(list, c)
		}
	}
	return list
}

func isWord(ch byte) bool {
	return ch == '%' || ch == '_' || ch == '.' || ch >= '0' && ch <= '9' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
}

func numbers(t testing.TB, s string) (list []uint64) {
	for _, w := range strings.Fields(s) {
		minus := strings.HasPrefix(w, "-")
		v, err := strconv.ParseUint(strings.TrimPrefix(w, "-"), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if minus {
			v = -v
		}
		list = append(list, v)
	}
	return list
}

// isaBytes are the bytes of the operands, and of the results, of a thread.
const isaBytes = 64

const isaHeader = ".version 7.8\n.target sm_80\n.address_size 64\n"

// entry returns a kernel of the case. Its operands are loaded from memory, or, for
// ptxas to fold, constants.
func (c isaCase) entry(name string, constants bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n\t.reg .b64 %%in, %%out;\n\t.reg .b32 %%t;\n\t.reg .pred %%nan;\n", name)
	b.WriteString("\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tcvta.to.global.u64 %in, %in;\n\tcvta.to.global.u64 %out, %out;\n")
	if !constants {
		fmt.Fprintf(&b, "\tmov.u32 %%t, %%tid.x;\n\tmad.wide.u32 %%in, %%t, %d, %%in;\n\tmad.wide.u32 %%out, %%t, %d, %%out;\n", isaBytes, isaBytes)
	}
	for i, l := range c.outs {
		fmt.Fprintf(&b, "\t.reg %s %%o%d;\n", letterType[l], i)
	}
	for i, l := range c.ins {
		fmt.Fprintf(&b, "\t.reg %s %%i%d;\n", letterType[l], i)
		v := c.in[i] & (1<<(letterBits[l]-1)<<1 - 1)
		switch {
		case l == 'p' && constants:
			fmt.Fprintf(&b, "\tsetp.ne.u32 %%i%d, %d, 0;\n", i, v)
		case l == 'p':
			fmt.Fprintf(&b, "\tld.global.u32 %%t, [%%in+%d];\n\tsetp.ne.u32 %%i%d, %%t, 0;\n", 8*i, i)
		case constants:
			fmt.Fprintf(&b, "\tmov%s %%i%d, 0x%x;\n", letterType[l], i, v)
		default:
			fmt.Fprintf(&b, "\tld.global%s %%i%d, [%%in+%d];\n", letterType[l], i, 8*i)
		}
	}
	b.WriteString("\t" + c.text + "\n")
	for i, l := range c.outs {
		reg := fmt.Sprintf("%%o%d", i)
		if l == 'p' {
			fmt.Fprintf(&b, "\tselp.u32 %%t, 1, 0, %s;\n", reg)
			l, reg = 'r', "%t"
		}
		fmt.Fprintf(&b, "\tst.global%s [%%out+%d], %s;\n", letterType[l], 8*i, reg)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// TestISA checks instructions against the words of the PTX ISA, at the edges of
// their operands.
func TestISA(t *testing.T) {
	list := cases(t, allISARows())
	var text strings.Builder
	text.WriteString(isaHeader)
	for i, c := range list {
		text.WriteString(c.entry(fmt.Sprintf("e%d", i), false))
	}
	m := machine(t, ptxsim.Options{}, read(t, "isa.ptx", text.String()))
	in, out := m.Alloc("in", make([]byte, 64), 8), m.Alloc("out", make([]byte, 64), 8)
	for i, c := range list {
		for k, v := range c.in {
			binary.LittleEndian.PutUint64(in.Data[8*k:], v)
		}
		clear(out.Data)
		if err := m.Launch(fmt.Sprintf("e%d", i), ptxsim.Grid{}, in, out); err != nil {
			t.Errorf("%s: %s: %v", c.row, c.example, err)
			continue
		}
		for k, want := range c.want {
			got := binary.LittleEndian.Uint64(out.Data[8*k:])
			if want &= 1<<(letterBits[c.outs[k]]-1)<<1 - 1; got != want {
				t.Errorf("%s: %s: result %d is %x", c.row, c.example, k, got)
			}
		}
	}
	t.Logf("%d examples", len(list))
}

func allISARows() (rows []isaRow) {
	for _, list := range [][]isaRow{isaIntegers, isaBits, isaFloats, isaConversions, isaCarry} {
		rows = append(rows, list...)
	}
	return rows
}

// TestISAOperands runs each row with random operands, others in each thread. make gpu compares the results with
// those of a GPU: PTXLINK_GPU names the file for package gpu.
func TestISAOperands(t *testing.T) {
	const threads = 256
	file, err := os.Create(cmp.Or(os.Getenv("PTXLINK_GPU"), filepath.Join(t.TempDir(), "isa")))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	done := map[string]bool{}
	for _, c := range cases(t, allISARows()) {
		if done[c.row] || isaApproximate.MatchString(c.row) {
			continue
		}
		done[c.row] = true
		if strings.Contains(c.row, "f32") || strings.Contains(c.row, "f64") {
			for i, l := range c.outs { // which NaN is left open
				if bits := letterBits[l]; bits >= 32 {
					c.text += fmt.Sprintf("testp.notanumber.f%d %%nan, %%o%d; @%%nan mov.b%[1]d %%o%[2]d, -1; ", bits, i)
				}
			}
		}
		text := isaHeader + c.entry("e", false)
		m := machine(t, ptxsim.Options{}, read(t, "isa.ptx", text))
		var in []byte
		for range threads {
			operands := make([]byte, isaBytes)
			for k, l := range c.ins {
				v := isaOperand(random, letterBits[l])
				if l == 'p' {
					v &= 1
				}
				binary.LittleEndian.PutUint64(operands[8*k:], v)
			}
			in = append(in, operands...)
		}
		if err := m.Launch("e", ptxsim.Grid{Threads: [3]int{threads}}, m.Alloc("in", in, 8), m.Alloc("out", make([]byte, threads*isaBytes), 8)); err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		if err := gpu.Write(file, c.row, m, func(*ptxsim.Object) bool { return false }, []gpu.Variant{{Name: "random operands", Modules: [][]byte{[]byte(text)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows", len(done))
}

// isaApproximate matches operations whose results the ISA does not state: of 64 bits, GPUs do not limit
// the place and the length of a field to 8 bits, as they do of 32, and releases of ptxas saturate shifts by
// more than 31 differently.
var isaApproximate = regexp.MustCompile(`\.approx|bf16x2|tf32|^(bfe|bfi)\.[bsu]64|^vshl.*sat`)

// isaOperand returns a number of a width, often one that is an edge for integers or floating-point numbers.
func isaOperand(random *rand.Rand, bits int) uint64 {
	v := random.Uint64()
	switch random.IntN(4) {
	case 0: // a small number
		v = uint64(int64(v<<32) >> (32 + random.IntN(31)))
	case 1: // an edge of integers
		v = 1<<random.IntN(64) + uint64(random.IntN(3)) - 1
	case 2: // floating-point numbers near 1, 0 and the largest
		switch bits {
		case 16:
			v = []uint64{0x3c00, 0, 0x7bff, 0x7c00, 0x7e00}[random.IntN(5)]
		case 32:
			v = []uint64{0x3f800000, 0, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x00800000, 0x4f000000}[random.IntN(7)]
		case 64:
			v = []uint64{0x3ff << 52, 0, 0x7fef<<48 | 1<<48 - 1, 0x7ff << 52, 0x7ff8 << 48, 1 << 52, 0x43e << 52}[random.IntN(7)]
		}
		v += uint64(random.IntN(5)) - 2
		v ^= uint64(random.IntN(2)) << (bits - 1)
	}
	return v
}
