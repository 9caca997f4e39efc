package abicheck

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

var placesCount = flag.Int("places", 4, "signatures that TestPlaces asks each ptxas about; above the default it asks for every architecture")

// TestPlaces compares places with ptxas, word by word: for each word of random
// signatures it compiles one function that reads or writes nothing else, and one
// caller.
func TestPlaces(t *testing.T) {
	type target struct {
		ptxas, disassembler, arch, version string
		always                             bool
	}
	seed := int64(1)
	for _, x := range []target{
		{"ptxas-old", "cuobjdump", "sm_50", "7.0", true},
		{"ptxas-old", "cuobjdump", "sm_75", "7.0", false},
		{"ptxas-old", "cuobjdump", "sm_90", "7.8", false},
		{"ptxas", "cuobjdump", "sm_50", "7.0", false},
		{"ptxas", "cuobjdump", "sm_60", "7.0", false},
		{"ptxas", "cuobjdump", "sm_70", "7.0", false},
		{"ptxas", "cuobjdump", "sm_80", "7.0", true},
		{"ptxas", "cuobjdump", "sm_90", "7.8", false},
		{"ptxas-new", "cuobjdump-new", "sm_75", "7.8", false},
		{"ptxas-new", "cuobjdump-new", "sm_90", "7.8", false},
		{"ptxas-new", "cuobjdump-new", "sm_100", "8.7", true},
		{"ptxas-new", "cuobjdump-new", "sm_120", "8.7", false},
	} {
		if !x.always && *placesCount <= 4 {
			continue
		}
		seed++
		t.Run(x.ptxas+"/"+x.arch, func(t *testing.T) {
			ptxas, disassembler := oracles.Require(t, x.ptxas), oracles.Require(t, x.disassembler)
			if oracles.GPU(x.arch) != x.arch {
				oracles.RequireRelease(t, x.disassembler) // the newest knows no older GPU
			}
			r := rand.New(rand.NewSource(seed))
			var signatures []string
			for range *placesCount {
				signatures = append(signatures, randomSignature(r))
			}
			words := 0
			modes := [][]string{nil, {"-O0"}}
			if *placesCount <= 4 {
				modes = modes[:1]
			}
			for _, options := range modes {
				words += askPlaces(t, []string{ptxas, "-c", "-arch=" + x.arch}, options, disassembler, ".version "+x.version+"\n.target "+x.arch+"\n.address_size 64\n", signatures)
			}
			t.Logf("%d signatures, %d words, each as caller and as callee", len(signatures), words)
		})
	}
}

// randomSignature returns `(result) f (parameters)`; the result may be missing.
func randomSignature(r *rand.Rand) string {
	param := func(name string, i int, sizes []int) string {
		if r.Intn(3) == 0 {
			return fmt.Sprintf(".param .b%d %s%d", 32<<r.Intn(2), name, i)
		}
		return fmt.Sprintf(".param .align %d .b8 %s%d[%d]", 1<<r.Intn(8), name, i, sizes[r.Intn(len(sizes))])
	}
	var b strings.Builder
	if r.Intn(2) == 0 {
		fmt.Fprintf(&b, "(%s) ", param("r", 0, []int{1, 3, 16, 48, 52, 64, 80}))
	}
	b.WriteString("f (")
	for i := range 1 + r.Intn(6) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(param("p", i, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 64}))
	}
	return b.String() + ")"
}

const probe = 77 // 0x4d, 4.58955764770507...e-06 as two halves

// askPlaces compares the places of signatures with those of ptxas and returns the
// number of words compared.
func askPlaces(t *testing.T, ptxas, options []string, disassembler, header string, signatures []string) int {
	t.Helper()
	type question struct {
		text  string
		sig   *ptx.Signature
		i     int   // which result or parameter
		off   int64 // in it
		place place
	}
	var asked []question
	var b strings.Builder
	b.WriteString(header + ".visible .global .align 16 .b8 out[16];\n")
	for _, text := range signatures {
		m, err := ptx.Parse(&diag.Source{Text: []byte(".version 7.0 .target sm_75 .address_size 64 .extern .func " + text + ";")})
		if err != nil {
			t.Fatal(err)
		}
		sig, params := m.Decls[0].Signature, m.Params(&m.Decls[0])
		for i, p := range places(sig) {
			x := params[i]
			for off := int64(0); off < x.Size(); off += registerSize {
				if off > 0 && !x.Array {
					break
				}
				n := len(asked)
				asked = append(asked, question{text, sig, i, off, place{p.in, p.off + off}})
				word := x.Word
				reg := map[string]string{".b8": ".b16", ".b32": ".b32", ".b64": ".b64"}[word]
				name := m.Src.String(x.NameSpan)
				declared := strings.Replace(text, "f (", "%s%d (", 1)
				var objects, fill, args string
				result := ""
				for k := range params {
					y := params[k]
					objects += m.Src.String(y.Span) + "; "
					object := m.Src.String(y.NameSpan)
					if k < len(sig.Results) {
						result = "(" + object + "), "
						continue
					}
					fill += fmt.Sprintf("st.param%s [%s], 0; ", y.Word, object)
					args += ", " + object
				}
				args = strings.TrimPrefix(args, ", ")
				fmt.Fprintf(&b, ".extern .func "+declared+";\n", "g", n)
				if i < len(sig.Results) {
					fmt.Fprintf(&b, ".visible .func "+declared+" { st.param%s [%s+%d], %d; ret; }\n", "callee", n, word, name, off, probe)
					fmt.Fprintf(&b, ".visible .func caller%d () { .reg %s %%x; %s%scall %sg%d, (%s); ld.param%s %%x, [%s+%d]; st.global%s [out], %%x; ret; }\n", n, reg, objects, fill, result, n, args, word, name, off, word)
				} else {
					fmt.Fprintf(&b, ".visible .func "+declared+" { .reg %s %%x; ld.param%s %%x, [%s+%d]; st.global%s [out], %%x; ret; }\n", "callee", n, reg, word, name, off, word)
					fmt.Fprintf(&b, ".visible .func caller%d () { %sst.param%s [%s+%d], %d; call %sg%d, (%s); ret; }\n", n, objects, word, name, off, probe, result, n, args)
				}
			}
		}
	}
	dir := t.TempDir()
	source, cubin := filepath.Join(dir, "a.ptx"), filepath.Join(dir, "a.cubin")
	if err := os.WriteFile(source, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append(append([]string{}, ptxas[1:]...), options...)
	if out, err := exec.Command(ptxas[0], append(args, source, "-o", cubin)...).CombinedOutput(); err != nil {
		t.Fatalf("ptxas: %v\n%.2000s", err, out)
	}
	sass, err := exec.Command(disassembler, "-sass", cubin).Output()
	if err != nil {
		t.Fatal(err)
	}
	functions := disassembled(string(sass))
	failed := 0
	for n, q := range asked {
		callee, caller := functions["callee"+strconv.Itoa(n)], functions["caller"+strconv.Itoa(n)]
		if callee == nil || caller == nil {
			t.Fatalf("no code for probe %d", n)
		}
		var got [2]string
		if q.i < len(q.sig.Results) {
			got = [2]string{written(callee), read(caller)}
		} else {
			got = [2]string{read(callee), written(caller)}
		}
		want := [2]string{q.place.String(), q.place.String()}
		if q.place.in == 'm' { // the caller chooses the memory, the callee has its address in R4
			want[0] = fmt.Sprintf("[R4+%d]", q.place.off)
			if strings.HasPrefix(got[1], "[R") {
				want[1] = got[1]
			}
		}
		if got != want {
			t.Errorf("%s %v: byte %d of number %d: callee %s, caller %s; places says %s\n%s\n%s", q.text, options, q.off, q.i, got[0], got[1], q.place, strings.Join(callee, "\n"), strings.Join(caller, "\n"))
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
	return len(asked)
}

func (p place) String() string {
	if p.in == 'r' {
		return fmt.Sprintf("R%d", 4+p.off/registerSize)
	}
	return fmt.Sprintf("[R1+%d]", p.off)
}

var (
	sassFunction    = regexp.MustCompile(`(?s)Function : (\S+)\n(.*?)\n\s*\.\.\.\.`)
	sassInstruction = regexp.MustCompile(`/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\w+\s+)?(.*?)\s*;`)
	sassMove        = regexp.MustCompile(`^(\S+) (?:U?P[0-9T], )*(R\d+)(?:\.\S+)?, (.*)$`)
	sassStack       = regexp.MustCompile(`^\[R(\d+)(?:\+(0x[0-9a-f]+))?\]$`)
	sassLocalStore  = regexp.MustCompile(`^STL\S* (\[.*?\]), (R\d+)`)
	sassRegister    = regexp.MustCompile(`\bR\d+\b`)
	sassProbe       = regexp.MustCompile(`0x4d\b|4\.58955764770507`)
)

func disassembled(sass string) map[string][]string {
	functions := map[string][]string{}
	for _, f := range sassFunction.FindAllStringSubmatch(sass, -1) {
		list := []string{}
		for _, i := range sassInstruction.FindAllStringSubmatch(f[2], -1) {
			list = append(list, strings.Join(strings.Fields(i[1]), " "))
		}
		functions[f[1]] = list
	}
	return functions
}

// read returns the source of the value of the only store to global memory: a
// register that nothing in the function sets, or local memory.
func read(code []string) string {
	at := -1
	for i, x := range code {
		if strings.HasPrefix(x, "STG") {
			at = i
		}
	}
	if at < 0 {
		return "nowhere"
	}
	reg := sassRegister.FindString(code[at][strings.LastIndexByte(code[at], ',')+1:])
	for i := at - 1; i >= 0 && !strings.Contains(code[i], "CAL"); i-- {
		m := sassMove.FindStringSubmatch(code[i])
		if m == nil || m[2] != reg || strings.HasPrefix(m[1], "ST") {
			continue
		}
		if strings.HasPrefix(m[1], "LDL") {
			return address(m[3])
		}
		if reg = sassRegister.FindString(m[3]); reg == "" {
			return "nowhere"
		}
	}
	return reg
}

// written returns the place where the probe's constant ends up.
func written(code []string) string {
	reg, to := "", "nowhere"
	for _, x := range code {
		m := sassMove.FindStringSubmatch(x)
		switch s := sassLocalStore.FindStringSubmatch(x); {
		case m != nil && sassProbe.MatchString(x):
			reg, to = m[2], m[2]
		case reg != "" && s != nil && s[2] == reg:
			to = address(s[1])
		case reg != "" && m != nil && !strings.HasPrefix(m[1], "ST") && sassRegister.FindString(m[3]) == reg:
			reg, to = m[2], m[2]
		}
	}
	return to
}

// address rewrites [R1+0x10] as [R1+16].
func address(s string) string {
	m := sassStack.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return s
	}
	off, _ := strconv.ParseInt(strings.TrimPrefix(m[2], "0x"), 16, 64)
	return fmt.Sprintf("[R%s+%d]", m[1], off)
}

// TestMoved checks mixes of compilers, and the smallest differences that move a
// parameter.
func TestMoved(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want string // indexes of the moved parameters
	}{
		{"(.param .align 4 .b8 r[16]) f ()", "(.param .align 16 .b8 r[16]) f ()", ""}, // float4 of clang and nvcc
		{"(.param .align 4 .b8 r[96]) f ()", "(.param .align 16 .b8 r[96]) f ()", ""}, // in memory
		{"f (.param .align 1 .b8 p[1])", "f (.param .align 4 .b8 p[1])", ""},          // a tag
		{"f (.param .align 4 .b8 p[16])", "f (.param .align 16 .b8 p[16])", ""},       // R4 is aligned to 16
		{"f (.param .b32 a, .param .align 4 .b8 p[16])", "f (.param .b32 a, .param .align 16 .b8 p[16])", "1"},
		{"f (.param .b32 a, .param .align 4 .b8 p[8], .param .b32 c)", "f (.param .b32 a, .param .align 8 .b8 p[8], .param .b32 c)", "1"},
		{"f (.param .b64 a, .param .align 4 .b8 p[8])", "f (.param .b64 a, .param .align 8 .b8 p[8])", ""},
		{"f (.param .align 16 .b8 p[32], .param .align 16 .b8 q[16])", "f (.param .align 16 .b8 p[32], .param .align 128 .b8 q[16])", ""},
		{"f (.param .align 4 .b8 p[52], .param .align 4 .b8 q[52])", "f (.param .align 4 .b8 p[52], .param .align 8 .b8 q[52])", "1"},
		{"f (.param .align 4 .b8 p[64], .param .align 4 .b8 q[52])", "f (.param .align 4 .b8 p[64], .param .align 16 .b8 q[52])", ""},
		{"f (.param .b32 a)", "f (.param .align 8 .b32 a)", "0"},
		{"f (.param .align 4 .b8 p[])", "f (.param .align 8 .b8 p[])", "0"},
	} {
		parse := func(text string) *ptx.Signature {
			m, err := ptx.Parse(&diag.Source{Text: []byte(".version 7.0 .target sm_75 .address_size 64 .extern .func " + text + ";")})
			if err != nil {
				t.Fatal(err)
			}
			return m.Decls[0].Signature
		}
		for _, x := range [][2]*ptx.Signature{{parse(test.a), parse(test.b)}, {parse(test.b), parse(test.a)}} {
			got := ""
			for i, m := range moved(x[0], x[1]) {
				if m {
					got += strconv.Itoa(i)
				}
			}
			if got != test.want {
				t.Errorf("%s / %s: moved %q, want %q", test.a, test.b, got, test.want)
			}
		}
	}
}
