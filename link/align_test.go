package link_test

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
)

// aggregate is a parameter or result of n bytes that two modules align
// differently; a scalar has n 0.
type aggregate struct{ n, caller, callee int }

func (a aggregate) declare(name string, callee bool) string {
	align := a.caller
	if callee {
		align = a.callee
	}
	if a.n == 0 {
		return ".param .b32 " + name
	}
	return fmt.Sprintf(".param .align %d .b8 %s[%d]", align, name, a.n)
}

// header returns a prototype.
func header(number int, result *aggregate, params []aggregate, callee bool) string {
	s := ".func "
	if result != nil {
		s += "(" + result.declare("r", callee) + ") "
	}
	s += fmt.Sprintf("f%d (", number)
	for i, p := range params {
		if i > 0 {
			s += ", "
		}
		s += p.declare(fmt.Sprintf("p%d", i), callee)
	}
	return s + ")"
}

// TestMixedAlignments links callers and callees whose alignments of parameters
// differ, as those of clang and nvcc do. Functions that the link refuses pass
// parameters in different places (TestPlaces). The others assemble to the same code
// as the separate modules, with every ptxas, and vector accesses keep the alignment
// that they require.
func TestMixedAlignments(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	const top = ".version 7.0\n.target sm_75\n.address_size 64\n.global .align 16 .b8 out%s[64];\n"
	var caller, callee []string
	for number := range 60 {
		any := func() aggregate {
			if r.Intn(3) == 0 {
				return aggregate{}
			}
			n := []int{1, 3, 4, 8, 8, 16, 16, 32, 48, 64, 80}[r.Intn(11)]
			low := 0
			for n&(1<<low) == 0 && low < 4 {
				low++
			}
			a := aggregate{n, 1 << r.Intn(low+1), 1 << r.Intn(low+1)}
			if r.Intn(4) == 0 {
				a.caller = a.callee
			}
			return a
		}
		var params []aggregate
		for range 1 + r.Intn(5) {
			params = append(params, any())
		}
		var result *aggregate
		if r.Intn(2) == 0 {
			a := any()
			result = &a
		}
		// Each side uses words or vectors, as its alignment allows.
		move := func(b *strings.Builder, op, name string, n, align int) {
			unit, word := 1, ".b8"
			switch {
			case n == 0 || align >= 16 && n%16 != 0 || align == 4 || align == 8:
				unit, word = 4, ".b32"
			case align >= 16:
				unit, word = 16, ".v4.b32"
			}
			reg := map[int]string{1: "h", 4: "x", 16: "{x, y, z, w}"}[unit]
			for off := 0; off < max(n, 4) && (n == 0 || off+unit <= n); off += unit {
				if op == "ld" {
					fmt.Fprintf(b, "\tld.param%s %s, [%s+%d];\n\tst.volatile.global%s [out+%d], %s;\n", word, reg, name, off, word, off%64, reg)
				} else {
					fmt.Fprintf(b, "\tld.volatile.global%s %s, [out+%d];\n\tst.param%s [%s+%d], %s;\n", word, reg, off%64, word, name, off, reg)
				}
			}
		}
		registers := "\t.reg .b16 h;\n\t.reg .b32 x, y, z, w;\n"
		var b strings.Builder
		fmt.Fprintf(&b, ".visible %s {\n%s", header(number, result, params, true), registers)
		for i, p := range params {
			move(&b, "ld", fmt.Sprintf("p%d", i), p.n, p.callee)
		}
		if result != nil {
			move(&b, "st", "r", result.n, result.callee)
		}
		callee = append(callee, strings.ReplaceAll(b.String(), "[out", "[out2")+"\tret;\n}\n")
		b.Reset()
		fmt.Fprintf(&b, ".extern %s;\n.visible .func use%d {\n%s", header(number, result, params, false), number, registers)
		var names []string
		for i, p := range params {
			names = append(names, fmt.Sprintf("p%d", i))
			b.WriteString("\t" + p.declare(names[i], false) + ";\n")
			move(&b, "st", names[i], p.n, p.caller)
		}
		to := ""
		if result != nil {
			to = "(r), "
			b.WriteString("\t" + result.declare("r", false) + ";\n")
		}
		fmt.Fprintf(&b, "\tcall %sf%d, (%s);\n", to, number, strings.Join(names, ", "))
		if result != nil {
			move(&b, "ld", "r", result.n, result.caller)
		}
		caller = append(caller, strings.ReplaceAll(b.String(), "[out", "[out1")+"\tret;\n}\n")
	}
	text := func(module string, list []string, keep func(int) bool) string {
		s := fmt.Sprintf(top, module)
		for i, f := range list {
			if keep(i) {
				s += f
			}
		}
		return s
	}
	all := func(int) bool { return true }
	_, err := link.Link(t.Context(), link.Options{Inputs: texts(text("1", caller, all), text("2", callee, all))})
	refused := map[string]bool{}
	var faults *link.Errors
	if errors.As(err, &faults) {
		for _, m := range faults.Messages {
			refused[regexp.MustCompile(`^f\d+`).FindString(m.Text)] = true
			if !strings.Contains(m.Text, "aligned to") {
				t.Errorf("another message: %s", m.Text)
			}
		}
	}
	if len(refused) < 5 || len(refused) > 50 {
		t.Fatalf("%d of 60 refused: the test shows nothing", len(refused))
	}
	kept := func(i int) bool { return !refused[fmt.Sprintf("f%d", i)] }
	one, two := text("1", caller, kept), text("2", callee, kept)
	out := mustLink(t, link.Options{Inputs: texts(one, two)}).PTX
	for _, tool := range oracles.EveryPtxas() {
		assembleWith(t, tool, arch, out, "-c")
		assembleWith(t, tool, arch, out)
	}
	merged := sass(t, out)
	for name, code := range sass(t, []byte(two)) {
		if merged[name] != code {
			t.Errorf("%s is assembled differently:\n%s\nbut alone:\n%s", name, merged[name], code)
		}
	}
	t.Logf("%d of %d refused", len(refused), len(caller))
}

var sassLine = regexp.MustCompile(`/\*[0-9a-f]{4}\*/\s+(.*?)\s*;`)

// sass disassembles each function of a module assembled by ptxas -c.
func sass(t *testing.T, text []byte) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.cubin")
	if err := os.WriteFile(path, assemble(t, arch, text, "-c"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(oracles.Require(t, "cuobjdump"), "-sass", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]string{}
	for _, f := range strings.Split(string(out), "Function : ")[1:] {
		name, body, _ := strings.Cut(f, "\n")
		code := ""
		for _, line := range sassLine.FindAllStringSubmatch(body, -1) {
			code += line[1] + "\n"
		}
		functions[name] = code
	}
	return functions
}
