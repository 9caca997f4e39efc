package optimize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"ptxlink/link/optimize"
	"ptxlink/object/diag"
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
	address := func(name, of string) string {
		return ".func (.param .b64 r) " + name + " () { .reg .u64 %a; mov.u64 %a, " + of + "; st.param.b64 [r], %a; ret; }\n"
	}
	branches := func(name, first, second string) string {
		return ".func " + name + " () { .reg .u32 %r; mov.u32 %r, %tid.x; T: .branchtargets A<2>; brx.idx %r, T; " + first + ": ret; " + second + ": st.global.u32 [log], %r; ret; }\n"
	}
	weak := strings.ReplaceAll(store("v", "%a", "1")+store("w", "%b", "1"), ".func", ".weak .func")
	callers := ".func p () { call.uni v, (); ret; }\n.func q () { call.uni w, (); ret; }\n"
	for i, test := range []struct{ name, text, want string }{
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
		{"two of three must stay", store("f", "%a", "1") + store("g", "%b", "1") + store("h", "%c", "1") + strings.Replace(entry("f", "g", "h"), "ret;", "mov.u64 %r1, g; mov.u64 %r2, h; ret;", 1), "f>g"},
		// g goes to f first, and then f to h.
		{"the last of three must stay", store("f", "%a", "1") + store("g", "%b", "1") + store("h", "%c", "1") + strings.Replace(entry("f", "g", "h"), "ret;", "mov.u64 %r1, h; ret;", 1), "g>h f>h"},
		{"an object of its own", ".func f () { .shared .u32 s; st.shared.u32 [s], 1; ret; }\n.func g () { .shared .u32 s; st.shared.u32 [s], 1; ret; }\n" + entry("f", "g"), ""},
		{"types of parameters", ".func f (.param .b32 a) { ret; }\n.func g (.param .b64 a) { ret; }\n.func h (.param .b32 b) { ret; }\n.visible .entry k () { .param .b32 x; .param .b64 y; st.param.b32 [x], 1; st.param.b64 [y], 1; call f, (x); call g, (y); call h, (x); ret; }\n", "h>f"},
		{"types of results", ".func (.param .b32 a) f () { ret; }\n.func (.param .b64 a) g () { ret; }\n.func (.param .b32 b) h () { ret; }\n.func i (.param .b32 b) { ret; }\n" + entry(), "h>f"},
		{"sizes and alignments", ".func f (.param .align 4 .b8 a[8]) { ret; }\n.func g (.param .align 4 .b8 a[16]) { ret; }\n.func h (.param .align 8 .b8 a[8]) { ret; }\n.func i (.param .align 8 .b8 a[8]) { ret; }\n" + entry(), "i>h"},
		{"arguments of a call", ".func c (.param .b32 a, .param .b32 b) { ret; }\n" +
			".func f (.reg .b32 x, .reg .b32 y) { call c, (x, y); ret; }\n.func g (.reg .b32 x, .reg .b32 y) { call c, (y, x); ret; }\n.func h (.reg .b32 v, .reg .b32 w) { call c, (v, w); ret; }\n" + entry(), "h>f"},
		{"ranges of labels", branches("f", "A1", "A0") + branches("g", "A0", "A1") + branches("h", "A1", "A0") + entry(), "h>f"},
		{"parameters in another order", ".func f (.param .b32 a, .param .b32 b) { .reg .u32 %r; ld.param.u32 %r, [a]; st.global.u32 [log], %r; ret; }\n.func g (.param .b32 b, .param .b32 a) { .reg .u32 %r; ld.param.u32 %r, [a]; st.global.u32 [log], %r; ret; }\n" + entry(), ""},
		{"a range and its numbers", ".func f () { .reg .u32 %a<4>; mov.u32 %a1, %a2; ret; }\n.func g () { .reg .u32 %b<4>; mov.u32 %b1, %b2; ret; }\n.func h () { .reg .u32 %b<4>; mov.u32 %b1, %b3; ret; }\n" + entry("f", "g", "h"), "g>f"},
		{"directives", ".func f () .noreturn { trap; ret; }\n.func g () { trap; ret; }\n" + entry("f", "g"), ""},
		{"a local of that name", store("f", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("g"), "call", ".reg .u32 f; call", 1), ""},
		{"a local of that name, behind another call", store("e", "%a", "2") + store("f", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("e", "g"), "call", ".reg .u32 f; call", 1), ""},
		{"a range with that name", store("f1", "%a", "1") + store("g", "%b", "1") + strings.Replace(entry("g"), "call", ".reg .u32 f<3>; call", 1), ""},
		{"lines", ".file 1 \"a.cu\"\n.func f () { .loc 1 1 1\n ret; }\n.func g () { .loc 1 2 1\n ret; }\n" + entry("f", "g"), "g>f"},
		{"labels", ".func f () { A: bra A; B: bra A; }\n.func g () { A: bra A; B: bra B; }\n.func h () { C: bra C; D: bra C; }\n" + entry("f", "g", "h"), "h>f"},
		{"functions that return two addresses", store("f", "%a", "1") + store("g", "%b", "1") + address("getf", "f") + address("getg", "g") + address("again", "g") + entry("f", "g"), "again>getg"},
		{"functions with lists of targets", store("f", "%a", "1") + store("g", "%b", "1") + ".func p (.param .b64 a) { .reg .u64 %a; ld.param.u64 %a, [a]; T: .calltargets f; call %a, (), T; ret; }\n.func q (.param .b64 a) { .reg .u64 %a; ld.param.u64 %a, [a]; T: .calltargets g; call %a, (), T; ret; }\n" + entry(), ""},
		{"what is declared behind a caller", store("f", "%a", "1") + entry("f") + store("g", "%b", "1") + ".visible .entry k2 () { .reg .u64 %r; mov.u64 %r, g; st.global.u64 [log], %r; ret; }\n", ""},
		{"weak functions of a program", weak + callers + entry("v", "w", "p", "q"), "w>v q>p"},
		{"weak functions of a library", weak + callers + store("f", "%c", "1") + store("g", "%c", "1") + ".visible .func k () { call v; call w; call p; call q; call f; call g; ret; }\n", "g>f"},
		{"names of inlined functions", ".file 1 \"a.cu\"\n.func f () { .loc 1 1 1\n .loc 1 3 1, function_name $L__info_string0, inlined_at 1 1 1\n ret; }\n.func g () { .loc 1 2 1\n ret; }\n" + entry("f", "g") + ".section .debug_str { $L__info_string0:\n.b8 102,0\n}\n", "g>f"},
		{"DWARF", store("f", "%a", "1") + store("g", "%a", "1") + store("h", "%a", "1") + store("i", "%a", "1") + entry("f", "g", "h", "i") + ".section .debug_info { .b64 f\n.b64 h\n}\n", "i>g"},
		{"a label that DWARF names", ".func f () { A: ret; }\n.func g () { A: ret; }\n.func h () { B: ret; }\n.func i () { B: ret; }\n" + entry("f", "g", "h", "i") + ".section .debug_info { .b64 B\n}\n", "g>f"},
		{"an alias", ".func f () { ret; }\n.func g () { ret; }\n.visible .func a ();\n.alias a, g;\n" + entry("f", "g", "a"), "f>g"},
	} {
		text := foldTop + test.text
		m, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		r, fault := optimizeModule(m, optimize.Options{Request: optimize.Request{Fold: true}})
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
		assemble(t, []string{"ptxas", "ptxas-new"}[i%2], string(r.Text))
	}
}

// TestFoldAlone checks that folding alone changes nothing else.
func TestFoldAlone(t *testing.T) {
	text := header + function(plain, ".global .b32 count; ld.param.u32 %r1, [a]; st.global.u32 [count], %r1; st.param.b32 [r], %r1; ret;") +
		kernel("mov.u32 %r2, %t; .reg .b64 %fp; mov.u64 %fp, f;"+indirect+one(""))
	m, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, fault := optimizeModule(m, optimize.Options{Request: optimize.Request{Fold: true}})
	if fault != nil {
		t.Fatal(fault)
	}
	if string(r.Text) != text || len(r.Calls) > 0 || len(r.Moved) > 0 {
		t.Errorf("%d calls, %d objects moved\n%s", len(r.Calls), len(r.Moved), r.Text)
	}
}

// TestFoldClasses folds random call graphs, and compares with classes that are divided
// until no function is in a class with one that differs.
func TestFoldClasses(t *testing.T) {
	const n = 24
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		var body [n]string
		var calls [n][]int
		var class [n]int
		var text strings.Builder
		text.WriteString(foldTop)
		for i := range n {
			fmt.Fprintf(&text, ".func f%d ();\n", i)
			for range r.IntN(3) {
				calls[i] = append(calls[i], r.IntN(n))
			}
			body[i] = fmt.Sprint(r.IntN(2), len(calls[i]))
		}
		for i := range n {
			fmt.Fprintf(&text, ".func f%d () { bar.sync %c;", i, body[i][0])
			for _, c := range calls[i] {
				fmt.Fprintf(&text, " call f%d;", c)
			}
			text.WriteString(" ret; }\n")
		}
		text.WriteString(".visible .entry k () { call f0; ret; }\n")
		classes := 1
		for {
			known := map[string]int{}
			var next [n]int
			for i := range n {
				key := body[i]
				for _, c := range calls[i] {
					key += fmt.Sprint(" ", class[c])
				}
				if _, ok := known[key]; !ok {
					known[key] = len(known)
				}
				next[i] = known[key]
			}
			class = next
			if len(known) == classes {
				break
			}
			classes = len(known)
		}
		m, err := parse(text.String())
		if err != nil {
			t.Fatal(err)
		}
		res, fault := optimizeModule(m, optimize.Options{Request: optimize.Request{Fold: true}})
		if fault != nil {
			t.Fatal(fault)
		}
		if len(res.Folded) != n-classes {
			t.Fatalf("module %d: %d folded, want %d\n%s", seed, len(res.Folded), n-classes, text.String())
		}
		for _, f := range res.Folded {
			var a, b int
			fmt.Sscanf(f.Name+" "+f.Into, "f%d f%d", &a, &b)
			if class[a] != class[b] {
				t.Fatalf("module %d: %s into %s\n%s", seed, f.Name, f.Into, text.String())
			}
		}
	}
}

// TestFoldRandom doubles functions of random modules, spreads the calls over both
// copies, and checks that folding finds the copies and changes nothing else.
func TestFoldRandom(t *testing.T) {
	n := uint64(80)
	if testing.Short() {
		n = 20
	}
	if os.Getenv("PTXLINK_MODULES") != "" {
		fmt.Sscan(os.Getenv("PTXLINK_MODULES"), &n)
	}
	folded, differ := 0, 0
	fault := func(seed uint64, o optimize.Options, err error, text string) {
		if differ++; differ > 1 {
			text = "" // the first one is enough to read
		}
		t.Errorf("module %d, %+v: %v\n%s", seed, o, err, text)
	}
	for seed := range n {
		text := withCopies(t, generate(seed+5000), rand.New(rand.NewPCG(seed, 9)))
		for _, o := range []optimize.Options{{Request: optimize.Request{Fold: true}}, {Request: optimize.Request{Fold: true, Level: 1}}, {Request: optimize.Request{Fold: true, Level: 2}}} {
			r, err := same(text, o, 1, -7)
			if err != nil {
				fault(seed, o, err, text)
				continue
			}
			folded += len(r.Folded)
		}
		// Another module replaces the weak functions later.
		strong := replacements(t, text)
		for _, o := range []optimize.Options{{Request: optimize.Request{Fold: true, Interposable: true}}, {Request: optimize.Request{Fold: true, Level: 2, Interposable: true}}} {
			if _, err := sameWith(text, strong, o, 1); err != nil {
				fault(seed, o, err, text+strong)
			}
		}
	}
	t.Logf("%d modules, %d functions folded, %d differences", n, folded, differ)
	if folded < int(n) {
		t.Errorf("%d functions folded in %d modules", folded, n)
	}
}

// private removes the linkage of a function.
var private = strings.NewReplacer(".visible .func", ".func", ".weak .func", ".func")

// replacements returns a module with strong definitions of the weak functions of another,
// which do something else.
func replacements(t *testing.T, text string) string {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: []byte(text)})
	if err != nil {
		t.Fatal(err.Text)
	}
	out := ".version 7.8\n.target sm_80\n.address_size 64\n"
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.HasBody || d.Linkage != ptx.Weak {
			continue
		}
		out += fmt.Sprintf(".visible %s\n{\n", m.Prototype(d, nil))
		for _, p := range m.Params(d)[:len(d.Signature.Results)] {
			name := m.Src.String(p.NameSpan)
			if p.Space == ".reg" {
				out += fmt.Sprintf("\tmov.b32 %s, 4711;\n", name)
			}
			for at := int64(0); p.Space == ".param" && at < p.Size(); at += 4 {
				out += fmt.Sprintf("\tst.param.b32 [%s+%d], %d;\n", name, at, 4711+at)
			}
		}
		out += "\tret;\n}\n"
	}
	return out
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
		if d := &m.Decls[i]; d.Kind == ptx.Func && d.HasBody {
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
			fmt.Fprintf(&protos, "%s%s;\n%s;\n", m.Src.Text[d.Span.Off:d.Header.Off], m.Prototype(d, nil), private.Replace(string(m.Prototype(d, []ptx.Edit{{Span: d.NameSpan, Text: own}}))))
			bodies.WriteString(private.Replace(body(d, own)) + "\n")
		}
		bodies.WriteString(body(d, "") + "\n")
	}
	return text[:start] + protos.String() + bodies.String()
}
