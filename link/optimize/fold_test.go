package optimize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"ptxlink/internal/diag"
	"ptxlink/link/optimize"
	"ptxlink/object/ptx"
)

const foldTop = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 log[64];\n"

func TestFold(t *testing.T) {
	entry := func(calls ...string) string {
		var b strings.Builder
		b.WriteString(".visible .entry k (.param .u32 seed) {\n.reg .u64 %r<3>;\n")
		for _, f := range calls {
			b.WriteString("call.uni " + f + ", ();\n")
		}
		return b.String() + "ret; }\n"
	}
	store := func(name, local, value string) string {
		return ".func " + name + " () { .reg .u32 " + local + "; mov.u32 " + local + ", " + value + "; st.global.u32 [log], " + local + "; ret; }\n"
	}
	for _, test := range []struct{ name, text, want string }{
		{"names of locals", store("f", "%a", "1") + store("g", "%b", "1") + entry("f", "g"), "g>f"},
		{"another constant", store("f", "%a", "1") + store("g", "%a", "2") + entry("f", "g"), ""},
		{"a fixpoint", store("f", "%a", "1") + store("g", "%b", "1") +
			".func p () { call.uni f, (); ret; }\n.func q () { call.uni g, (); ret; }\n" + entry("p", "q"), "g>f q>p"},
		{"recursion", ".func f (); .func g ();\n.func f () { .reg .pred p; @p bra L; call f, (); L: ret; }\n.func g () { .reg .pred p; @p bra M; call g, (); M: ret; }\n" + entry("f", "g"), "g>f"},
		{"recursion into another", ".func f (); .func g (); .func h ();\n.func f () { .reg .pred p; @p bra L; call g, (); L: ret; }\n.func g () { .reg .pred p; @p bra L; call h, (); L: ret; }\n.func h () { .reg .pred p; @p bra L; call f, (); L: ret; }\n" +
			entry("f", "g"), "g>f h>f"},
		{"order of callees", store("f", "%a", "1") + store("g", "%a", "2") +
			".func p () { call.uni f, (); call.uni g, (); ret; }\n.func q () { call.uni g, (); call.uni f, (); ret; }\n" + entry("p", "q"), ""},
		{"an address", store("f", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("f", "g"), "ret;", "mov.u64 %r1, g; ret;", 1), "f>g"},
		{"two addresses", store("f", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("f", "g"), "ret;", "mov.u64 %r1, g; mov.u64 %r2, f; ret;", 1), ""},
		// g goes to f first, and then f to h.
		{"the last of three must stay", store("f", "%a", "1") + store("g", "%b", "1") + store("h", "%c", "1") + strings.Replace(entry("f", "g", "h"), "ret;", "mov.u64 %r1, h; ret;", 1), "g>h f>h"},
		{"an object of its own", ".func f () { .shared .u32 s; st.shared.u32 [s], 1; ret; }\n.func g () { .shared .u32 s; st.shared.u32 [s], 1; ret; }\n" + entry("f", "g"), ""},
		{"types of parameters", ".func f (.param .b32 a) { ret; }\n.func g (.param .b64 a) { ret; }\n.func h (.param .b32 b) { ret; }\n.visible .entry k () { .param .b32 x; .param .b64 y; st.param.b32 [x], 1; st.param.b64 [y], 1; call f, (x); call g, (y); call h, (x); ret; }\n", "h>f"},
		{"parameters in another order", ".func f (.param .b32 a, .param .b32 b) { .reg .u32 %r; ld.param.u32 %r, [a]; st.global.u32 [log], %r; ret; }\n.func g (.param .b32 b, .param .b32 a) { .reg .u32 %r; ld.param.u32 %r, [a]; st.global.u32 [log], %r; ret; }\n" + entry(), ""},
		{"a range and its numbers", ".func f () { .reg .u32 %a<4>; mov.u32 %a1, %a2; ret; }\n.func g () { .reg .u32 %b<4>; mov.u32 %b1, %b2; ret; }\n.func h () { .reg .u32 %b<4>; mov.u32 %b1, %b3; ret; }\n" + entry("f", "g", "h"), "g>f"},
		{"directives", ".func f () .noreturn { trap; ret; }\n.func g () { trap; ret; }\n" + entry("f", "g"), ""},
		{"a local of that name", store("f", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("g"), "call", ".reg .u32 f; call", 1), ""},
		{"a range with that name", store("f1", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("g"), "call", ".reg .u32 f<3>; call", 1), ""},
		{"lines", ".file 1 \"a.cu\"\n.func f () { .loc 1 1 1\n ret; }\n.func g () { .loc 1 2 1\n ret; }\n" + entry("f", "g"), "g>f"},
		{"labels", ".func f () { A: bra A; B: bra A; }\n.func g () { A: bra A; B: bra B; }\n.func h () { C: bra C; D: bra C; }\n" + entry("f", "g", "h"), "h>f"},
		{"an alias", ".func f () { ret; }\n.func g () { ret; }\n.visible .func a ();\n.alias a, g;\n" + entry("f", "g", "a"), "f>g"},
	} {
		text := foldTop + test.text
		m, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		r, fault := optimize.Optimize(m, optimize.Options{Fold: true})
		if fault != nil {
			t.Errorf("%s: %v", test.name, fault)
			continue
		}
		var got []string
		for _, f := range r.Folded {
			got = append(got, f.Name+">"+f.Into)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: folded %q, want %q", test.name, s, test.want)
		}
		after, err := parse(string(r.Text))
		if err != nil {
			t.Errorf("%s: %v\n%s", test.name, err, r.Text)
			continue
		}
		for _, f := range r.Folded {
			if _, ok := after.Lookup(f.Name); ok {
				t.Errorf("%s: %s is still there:\n%s", test.name, f.Name, r.Text)
			}
		}
		for _, ptxas := range []string{"ptxas", "ptxas-new"} {
			assemble(t, ptxas, string(r.Text))
		}
	}
}

// TestFoldRandom doubles functions of random modules, spreads the calls over both
// copies, and checks that folding finds the copies and changes nothing else.
func TestFoldRandom(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 20
	}
	if os.Getenv("PTXLINK_MODULES") != "" {
		fmt.Sscan(os.Getenv("PTXLINK_MODULES"), &n)
	}
	folded := 0
	for seed := range n {
		text := withCopies(t, generate(seed+5000), rand.New(rand.NewPCG(seed, 9)))
		for _, o := range []optimize.Options{{Fold: true}, {Fold: true, Level: 1}, {Fold: true, Level: 2}} {
			r, err := same(text, o, 1, -7)
			if err != nil {
				t.Fatalf("module %d, level %d: %v\n%s", seed, o.Level, err, text)
			}
			folded += len(r.Folded)
		}
	}
	if folded < int(n) {
		t.Errorf("%d functions folded in %d modules", folded, n)
	}
}

// withCopies adds a copy of each function that has no object of its own in .shared or
// .global, and lets some calls lead to it.
func withCopies(t *testing.T, text string, r *rand.Rand) string {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: []byte(text)})
	if err != nil {
		t.Fatal(err.Text)
	}
	copied := map[ptx.NameID]bool{}
	for i := range m.Decls {
		if d := &m.Decls[i]; d.Kind == ptx.Func && d.HasBody && d.Linkage != ptx.Weak {
			copied[d.Name] = true
		}
	}
	called := map[int32]bool{}
	for _, c := range m.Calls {
		called[c.Use] = true
	}
	body := func(d *ptx.Decl, own string) string {
		var edits []ptx.Edit
		for u := d.FirstUse; u < d.EndUse; u++ {
			if use := m.Uses[u]; copied[use.Name] && called[u] && r.IntN(2) == 0 {
				edits = append(edits, ptx.Edit{Span: m.UseSpan(use), Text: m.Names[use.Name] + "_copy"})
			}
		}
		if own != "" {
			edits = append(edits, ptx.Edit{Span: d.NameSpan, Text: own})
		}
		ptx.SortEdits(edits)
		return string(ptx.Apply(nil, m.Src.Text, d.Span, edits))
	}
	var protos, bodies strings.Builder
	start := int32(-1)
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.HasBody {
			continue
		}
		if start < 0 {
			start = d.Span.Off
		}
		if copied[d.Name] {
			own := m.Names[d.Name] + "_copy"
			fmt.Fprintf(&protos, "%s;\n%s;\n", m.Prototype(d, nil), m.Prototype(d, []ptx.Edit{{Span: d.NameSpan, Text: own}}))
			bodies.WriteString(strings.TrimPrefix(body(d, own), ".visible ") + "\n")
		}
		bodies.WriteString(body(d, "") + "\n")
	}
	return text[:start] + protos.String() + bodies.String()
}
