package ptx

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ptxlink/object/diag"
)

const top = ".version 7.8\n.target sm_70\n.address_size 64\n"

func parse(t *testing.T, text string) *Module {
	t.Helper()
	m, err := Parse(&diag.Source{Name: "t.ptx", Text: []byte(top + text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// uses returns the uses of a module, each as "name@the text after it".
func uses(m *Module) []string {
	var list []string
	for _, u := range m.Uses {
		rest, _, _ := strings.Cut(string(m.Src.Text[u.Off:]), ";")
		list = append(list, rest)
	}
	return list
}

func TestUsesHonourScopes(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"operand", `.global .u32 x; .func f(){ mov.u64 %rd1, x+4; }`, []string{"x+4"}},
		{"opcode is no name", `.global .u32 add; .func f(){ add.u32 %r1, %r1, add; }`, []string{"add"}},
		{"shadow from its declaration on", `.global .u32 x; .func f(){ mov.u64 %rd1, x; .reg .u32 x; mov.u32 x, 1; }`, []string{"x"}},
		{"shadow ends with its block", `.global .u32 x; .func f(){ { .reg .u32 x; mov.u32 x, 1; } ld.u32 %r1, [x]; }`, []string{"x]"}},
		{"register range", `.global .u32 x2; .global .u32 x3; .func f(){ .reg .u32 x<3>; add.u32 x2, x3, 1; }`, []string{"x3, 1"}},
		{"parameter", `.global .u32 x; .func f(.param .u32 x){ ld.param.u32 %r1, [x]; }`, nil},
		{"result", `.global .u32 x; .func (.param .u32 x) f(){ st.param.u32 [x], 1; }`, nil},
		{"label", `.global .u32 x; .func f(){ x: bra x; }`, nil},
		{"forward label of a later symbol", `.func f(){ bra x; x: ret; } .global .u32 x;`, nil},
		{"initialiser of its own name", `.global .u64 p; .func f(){ .global .u64 p = p; mov.u64 %rd1, p; }`, []string{"p"}},
		{"initialiser of a sibling", `.global .u64 g; .func f(){ .global .u64 g = 0, x = g; }`, []string{"g"}},
		{"digits of a range", `.global .u32 r010; .global .u32 r1U; .global .u32 r08; .func f(){ .reg .u32 r<9>; add.u32 r1, r010, r1U; mov.u32 r08, 1; }`, []string{"r010, r1U", "r1U"}},
		{"percent names", `.global .u32 %g; .func f(){ .reg .u32 %r<2>; ld.u32 %r1, [%g]; }`, []string{"%g]"}},
		{"call", `.extern .func g(.param .b32 a); .func f(){ .param .b32 a; call.uni g, (a); }`, []string{"g, (a)"}},
		{"own name", `.func f(){ call f; }`, []string{"f"}},
		{"predicated", `.extern .func g(); .func f(){ @!%p call g; }`, []string{"g"}},
		{"prototype words", `.global .u32 x; .func f(){ P: .callprototype (.param .b32 x) _ (.param .b32 x); call (%r1), %rd1, (%r2), P; }`, nil},
		{"call targets", `.func g(){ret;} .func f(){ T: .calltargets g; }`, []string{"g"}},
		{"local initialiser", `.func g(){ret;} .func f(){ .global .u64 t[1] = {g}; }`, []string{"g}"}},
		{"initialiser", `.func g(){ret;} .global .u64 t[2] = {g, generic(t)+8};`, []string{"g, generic(t)+8}", "t)+8}"}},
		{"sampler words", `.global .u32 nearest; .global .samplerref s = { filter_mode = nearest };`, nil},
		{"sink", `.global .u32 x; .func f(){ mov.b64 {_, %r1}, %rd1; }`, nil},
		{"unknown instruction", `.global .u32 x; .func f(){ tomorrow.v9::fancy.b7 {%r1, %r2}, [x, {1, 2}], 0x1p; }`, []string{"x, {1, 2}], 0x1p"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if d := cmp.Diff(test.want, uses(parse(t, test.text))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	for _, test := range []struct {
		text        string
		size, align int64
	}{
		{".global .u32 x;", 4, 4},
		{".global .align 16 .b8 x[20];", 20, 16},
		{".visible .global .v4 .f32 x;", 16, 16},
		{".global .u64 x[2][3];", 48, 8},
		{".global .b32 x[2*4+1];", 36, 4},
		{".global .b32 x[(1<<4)-WARP_SZ/4];", 32, 4},
		{".extern .shared .align 8 .b8 x[];", 0, 8},
		{".global .b32 x[] = {1, 2, 3};", 12, 4},
		{".global .texref x;", 8, 8},
		{".visible .global .attribute(.managed) .align 4 .u32 x;", 4, 4},
	} {
		m := parse(t, test.text)
		d := m.Decls[0]
		if d.Size() != test.size || d.Alignment() != test.align {
			t.Errorf("%s: size %d align %d, want %d and %d", test.text, d.Size(), d.Alignment(), test.size, test.align)
		}
	}
	m := parse(t, ".visible .global .u32 a, b[2], c = 3;")
	if len(m.Decls) != 3 || m.Decls[1].Size() != 8 || m.Decls[2].Init.Len != 1 || m.Decls[0].Span != m.Decls[2].Span {
		t.Errorf("three declarators: %+v", m.Decls)
	}
}

// TestCountInit checks the sizes that ptxas gives to arrays sized by their initial
// value: only the commas between the elements count.
func TestCountInit(t *testing.T) {
	for _, test := range []struct {
		text string
		size int64
	}{
		{`.global .u32 x[] = {1, 2, 3};`, 12},
		{`.global .u32 x[] = {7};`, 4},
		{`.global .u32 x[][2] = {{1, 2}, {3, 4}};`, 16},
		{`.global .u16 x[][2][3] = {{{1, 2, 3}, {4, 5}}, {{6}}, {{7, 8}}};`, 36},
		{`.global .u8 y; .global .u64 x[] = {generic(y), (1 < 2) ? 3 : 4};`, 16},
		{`.global .u8 y; .global .u8 x[] = {0xFF(y), 0xFF00(generic(y)), 0xFF(y)};`, 3},
		{`.global .u32 x[4] = {1, 2};`, 16},
	} {
		m := parse(t, test.text)
		if d := &m.Decls[len(m.Decls)-1]; d.Size() != test.size {
			t.Errorf("%s: %d bytes, want %d", test.text, d.Size(), test.size)
		}
	}
}

func TestFunctions(t *testing.T) {
	m := parse(t, `.visible .func (.param .align 8 .b8 r[16]) f (.param .b64 a, .reg .u32 b, .param .align 4 .b8 v[]) .noreturn ;
.visible .entry k(.param .u64 .ptr .global .align 16 p) .maxntid 256, 1, 1 .pragma "nounroll"; { ret; }
.func .attribute(.unified(19, 95)) (.param .b32 r) g (.param .b32 a) { ret; }`)
	f, k, g := m.Decls[0], m.Decls[1], m.Decls[2]
	if s := f.Signature; !f.Has(".noreturn") || len(s.Params) != 3 || s.Results[0].Size() != 16 || s.Params[1].Space != ".reg" || !s.Params[2].Unsized || f.HasBody {
		t.Errorf("f: %+v", f)
	}
	if k.Kind != Entry || k.Signature.Params[0].Align != 0 || k.Signature.Params[0].Word != ".u64" || !k.Has(".pragma") || !k.HasBody {
		t.Errorf("k: %+v", k)
	}
	if len(g.Signature.Results) != 1 || !g.Has(".attribute") {
		t.Errorf("g: %+v", g)
	}
}

func TestLines(t *testing.T) {
	m := parse(t, ".file 1 \"a.cu\", 1700000000, 12\n.func f(){\n.file 2 \"b.h\"\n.loc 1 5 3\nret;\n.loc 2 7 1, function_name $L__info_string0+4, inlined_at 1 5 3\nL: ret; }\n.section .debug_str {\n$L__info_string0:\n.b8 0\n}")
	if len(m.Files) != 2 || m.Files[0].Time != 1700000000 || m.Files[1].In != 0 || m.Files[0].In != -1 {
		t.Errorf("files: %+v", m.Files)
	}
	if len(m.Locs) != 2 || m.Locs[1].InlinedAt.File != 1 || m.Src.String(m.Locs[1].Inlined) != "1" || !strings.HasPrefix(m.Src.String(m.Locs[1].Tail), ", function_name") {
		t.Errorf("locs: %+v", m.Locs)
	}
	if len(m.Sections) != 1 || len(m.Sections[0].Labels) != 1 {
		t.Errorf("sections: %+v", m.Sections)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ text, want, at string }{
		{top + ".global .u32 \u00e9;", "character \"é\" outside a comment; PTX names are ASCII", "é"},
		{"\ufeff" + top, "file starts with a byte order mark, which ptxas does not read", "\ufeff"},
		{top + "\x00.global", "NUL byte; ptxas would silently ignore everything after it", "\x00"},
		{top + "\v", "vertical tab, which ptxas does not read as white space", "\v"},
		{top + "/* open", "comment is not closed", "/*"},
		{top + ".file 1 \"open", "string is not closed", "\"open"},
		{top + ".version 7.8", "second .version in one module", ".version"},
		{top + "#define X 1\n", "preprocessor directive #define in PTX", "#define"},
		{top + ".func f(){ ret;", "file ends where '}' of f is expected", ";"},
		{top + ".func f(){ ret; .func g(){ ret; }", ".func inside a function body", ".func"},
		{top + ".visible .weak .func f();", ".weak after .visible; a declaration has one linkage", ".weak"},
		{top + ".func f(){ .loc 1 2 3, function_name L+}, inlined_at 1 2 3 }", "expected a number, found }", "}"},
		{top + ".func f(){ T: .branchtargets L<x>; }", "expected the number of names, found x", "x"},
		{top + ".func f(){ T: .branchtargets L<1>, L<9223372036854775807>; }", "the lists of this module stand for more than 1048576 targets", "9223372036854775807"},
		{top + ".func f(){ T: .branchtargets L, }; }", "expected ';', found }", "}"},
		{top + ".global .align 3 .u32 x;", "expected an alignment (a power of two; keep a space between it and the next dot), found 3", "3"},
		{top + ".extern .func f(){ret;}", "f is .extern and has a body", "f"},
		{"hello", "no .version directive at the start; this is not a PTX module", "hello"},
	} {
		_, err := Parse(&diag.Source{Text: []byte(test.text)})
		if err == nil {
			t.Errorf("%q: no error", test.text)
			continue
		}
		got := test.text[err.Span.Off:err.Span.End()]
		if err.Text != test.want || got != test.at {
			t.Errorf("%q: %q at %q, want %q at %q", test.text, err.Text, got, test.want, test.at)
		}
	}
	if _, err := Parse(&diag.Source{Text: []byte(top + "\x00\n\x00")}); err != nil {
		t.Errorf("NULs at the end: %v", err)
	}
}

func TestReserved(t *testing.T) {
	m := parse(t, `.func f(.param .b32 p$3){ .reg .u32 a$1, b, $L2, c$<4>; x$7: ret; }`)
	if d := cmp.Diff([]string{"p$3", "a$1", "x$7"}, m.Reserved); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Range{{"c$", 4}}, m.ReservedRanges); d != "" {
		t.Error(d)
	}
}

func TestFindInstruction(t *testing.T) {
	m := parse(t, ".func f(){ // shfl.idx\n L: @!%p shfl.idx.b32 %r1, %r2, 0, 31; mov.u32 shfl, 1; }")
	span, ok := m.FindInstruction(func(op string) bool { return strings.HasPrefix(op, "shfl.") })
	if !ok || m.Src.String(span) != "shfl.idx.b32" {
		t.Errorf("found %q", m.Src.String(span))
	}
}

func TestCompact(t *testing.T) {
	got := string(Compact([]byte(".func (.param .b32 r) // the result\n  f(\n\t.param .b32 a, // one\n\t.param .align 4 .b8 b[12]\n)")))
	if want := ".func (.param .b32 r) f (.param .b32 a, .param .align 4 .b8 b[12])"; got != want {
		t.Errorf("%s", got)
	}
}

// FuzzParse checks that parsing never panics, and that every span is within the
// text.
func FuzzParse(f *testing.F) {
	f.Add(".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; L: @%p bra L; }")
	f.Add(".global .align 4 .u32 x[2][3] = {{1, f}, {generic(x)+4}}; .alias a, b; .pragma \"p\";")
	f.Add(".global .u32 a<3>; .func f(){ a2: a02: bra a02; ld.u32 r, [a01]; { .param .b32 %p; call f, (%p); } T: .calltargets f1<2>; }")
	f.Add(".weak .global .u32 x = (1 + 2), y[2] = {(3), generic(x)}; .func f(){ .global .u32 z = (4); }")
	f.Add(".section .debug_info { a: .b32 1, b+4 } .file 1 \"x\" \n .loc 1 2 3")
	f.Add(".global .u32 a<3>; .func f(){ .reg .b32 x<5>, a1; mov.b64 {x2, a02}, a2; { L: x4: bra L; } bra L0; T: .branchtargets L<2>; L0: L1: ret; }")
	f.Add(".global .u32 g; .func f(.param .b32 g){ P: .callprototype _ (.param .b32 g); call (g), g, (g), P; { .param .u32 g; .local .u64 h = g; @!g ld.u32 g, [g+4]; } }")
	f.Add(".func f(){ L: .loc 1 2 3 // a.cu\n .reg .b32 %r<9>; @!%p1 bra L; { ld.global.v2.u32 {%r1, _}, [g+4]; } mov.f32 x, 0f3F800000; mov.u32 %r1, %tid.x; $L_1: ret; }")
	f.Add(".visible .func (.param .align 8 .b8 r[8]) f (.param .b64 .ptr .global .align 4 p, .param .b32 n) { .param .b64 a; .reg .b32 t; .param .align 8 .b8 b [ 8 ] ; call (a), f, (p, 4, b), P; call f; call.uni (), %r1, (%p, a) ; }")
	f.Add(".extern .func f ( ) ; .weak .entry k (.param .u64 p) .maxntid 1 { P: .callprototype _ (.param .b32 _); call %rd1, (x), P; }")
	f.Add(".func f(){ .reg .b32 %r<9>; .loc 2 7 3, function_name $L__info_string0, inlined_at 1 4 62\nadd.s32 %r1, %r2, %r3;\n.loc 2 7, function_name L , inlined_at 1\n.loc 2 7 3 ,function_name L, inlined_at 1 2 3 4\n ret; }")
	f.Add(".func f(){ .loc 2 7 3, function_name .debug_str+4, inlined_at 1 4 /**/ 62\nret;\n.loc 2 7 3, function_name L, inlined_at 1 4, 5\nret; }")
	f.Add(".global .u32 g; .func f(){ .loc 1 2\n.loc 1 2 3, function_name L+4, inlined_at 1 2 3\n add.f32 1.5, g, 4.u32; // g\n g: mov.shared::cta.b32 g, g ; }")
	f.Add(".visible .func (.param .u32 %value_out) f (.param .u64 %in_ar0) { .param .u32 %a; .reg .u32 %b; .reg .pred %p; @ %p call f, (%a); @ !%p call f, (%b); .local .align 16 .b8 %frame_ar[16]; }")
	f.Add(".func f(.param .b32 %r2) { .param .b32 %r1; { .reg .b32 %r<3>; call f, (%r1); } .reg .b32 %r1; .reg .v2 .b32 %r3; call f, (%r2); }")
	f.Add(".func f(.param .b32 %a) { .param .u32 %b; { .reg .u32 %a; .local .u32 %b; call f, (%a); call f, (%b); } call f, (%a); call f, (%b); }")
	f.Add(".global .u32 g; .func f(){ mov.u32 x, . g; mov.b32 {_, x}, 4.g; ld.shared::g.v2.b32 {x, _g}, [g+4]; @!%p ld.v2.f32 %x, [$g]; add.u32 x, %1.g, .g; call: calls.g g; }")
	f.Add(".global .u32 g[2]; .func f(.param .b32 i[2]){ .reg .u32 r; ld.global.u32 r, g[1]; @p mov.u64 e, g [r + WARP_SZ]; ld.param.b32 r, i[1]; st.u32 g[(1+2)*2], r; mov.u64 e, g/**/[-1]; }")
	f.Add(".func f(){ mov.u32 %r1, %rd.; }")
	f.Add(".visible .func f (.param .u32 a)\n.file 1 \"x\"\n.func g () .noreturn .extern .func h\n.entry k ()")
	f.Add(".func f(.param .b32 a[(]) {} .func g(.param .b32 b[)]) {}")
	f.Add(".func f(){ mov.u32 %r1, %r2; $: bra $; }")
	f.Fuzz(func(t *testing.T, text string) {
		src := &diag.Source{Text: []byte(top + text)}
		m, err := Parse(src)
		check := func(s diag.Span) {
			if s.Off < 0 || s.Len < 0 || int(s.End()) > len(src.Text) {
				t.Fatalf("span %v outside %d bytes", s, len(src.Text))
			}
		}
		if err != nil {
			check(err.Span)
		}
		sameOutline(t, src, m, err)
		sameDefinitions(t, src, m, err)
		sameWithTokens(t, src, m, err)
		// The last bytes of a module have no masks.
		padded := &diag.Source{Text: []byte(top + text + strings.Repeat(" ", 64))}
		m2, err2 := Parse(padded)
		sameWithTokens(t, padded, m2, err2)
		last := int32(-1)
		for _, u := range m.Uses {
			if u.Off < last || u.Off == last && len(m.TargetRanges) == 0 {
				t.Fatalf("uses are not in order")
			}
			last = u.Off
			span := m.UseSpan(u)
			check(span)
			if name := m.Names[u.Name]; src.String(span) != name && !m.Padded && len(m.TargetRanges) == 0 {
				t.Fatalf("use of %s stands at %q", name, src.Text[u.Off:])
			}
		}
		for i := range m.Decls {
			d := &m.Decls[i]
			if err == nil {
				codeLaws(t, m, d)
				sameReread(t, m, d)
				noIndices(t, m, d)
			}
			spans := []diag.Span{d.Span, d.NameSpan, d.Header, d.Body}
			if d.Kind == Variable {
				spans = append(spans, d.Prefix, d.Declared, d.Init)
			} else if err == nil {
				sameSignatures(t, m, int32(i))
			}
			for _, s := range spans {
				check(s)
			}
		}
		for _, l := range m.Locs {
			check(l.Span)
			if l.Inlining != nil {
				check(l.Tail)
			}
		}
		for _, s := range m.Locals {
			check(m.LocalSpan(s))
		}
	})
}

// noIndices checks that a body whose indices are replaced has none, and only then differs.
func noIndices(t *testing.T, m *Module, d *Decl) {
	t.Helper()
	edits := m.OffsetEdits(nil, d)
	if len(m.IndicesIn(d)) == 0 {
		if len(edits) > 0 {
			t.Fatalf("edits without an index: %v", edits)
		}
		return
	}
	SortEdits(edits)
	text := Apply(nil, m.Src.Text, diag.Span{Len: int32(len(m.Src.Text))}, edits)
	again, err := Parse(&diag.Source{Text: text})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if left := len(m.Indices) - len(again.Indices); left < len(edits)/3 {
		t.Fatalf("%d indices replaced by %d edits in %s", left, len(edits), text)
	}
}

// sameSignatures checks that the parameters of a function and the operands of its
// calls, read again, have the types of their signatures.
func sameSignatures(t *testing.T, m *Module, decl int32) {
	t.Helper()
	d := &m.Decls[decl]
	var types []Type
	for _, p := range m.Params(d) {
		types = append(types, p.Type)
	}
	if want := slices.Concat(d.Signature.Results, d.Signature.Params); !slices.Equal(types, want) {
		t.Fatalf("%s has the types %v, and again %v", m.Names[d.Name], want, types)
	}
	code := m.Code(d)
	for _, call := range m.Calls {
		if call.In != decl {
			continue
		}
		at := slices.IndexFunc(code.Statements, func(st Statement) bool { return code.Tokens[st.Op].Off == call.Span.Off })
		if at < 0 {
			t.Fatalf("no call at %d", call.Span.Off)
		}
		types = types[:0]
		for _, o := range code.CallOperands(code.Statements[at]) {
			types = append(types, o.Type)
		}
		if want := slices.Concat(call.Signature.Results, call.Signature.Params); !slices.Equal(types, want) {
			t.Fatalf("call at %d has the types %v, and again %v", call.Span.Off, want, types)
		}
	}
}

// tokenByToken is Parse without the short cut for plain instructions, as in a module where a
// module-scope name starts with %.
func tokenByToken(src *diag.Source) (*Module, *Error) {
	return read(&Module{Src: src}, &parser{pct: true})
}

// sameWithTokens checks that a module, or the error in it, is the same if every instruction is read
// token by token and every section is read again.
func sameWithTokens(t *testing.T, src *diag.Source, m *Module, err *Error) {
	t.Helper()
	general, fault := tokenByToken(src)
	if diff := cmp.Diff(fault, err); diff != "" {
		t.Fatalf("error token by token (-) and otherwise (+):\n%s", diff)
	}
	if err != nil {
		return // statements before it may differ
	}
	for i := range m.Decls {
		d := &m.Decls[i]
		if d.HasBody != (m.Code(d) != nil) && d.Kind != Variable {
			t.Fatalf("%s has a body: %v, and code: %v", m.Names[d.Name], d.HasBody, !d.HasBody)
		}
		takesAddresses(t, m, d, m.Code(d))
	}
	again := *general
	again.Sections = slices.Clone(general.Sections)
	for i := range again.Sections {
		again.Sections[i].complete = false
	}
	one, faultOne := again.AllSections()
	two, faultTwo := m.AllSections()
	if diff := cmp.Diff(faultOne, faultTwo); diff != "" {
		t.Fatalf("error in sections that are read again (-) and with the module (+):\n%s", diff)
	}
	if diff := cmp.Diff(one, two, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("sections that are read again (-) and with the module (+):\n%s", diff)
	}
	general.Undeclared = slices.DeleteFunc(general.Undeclared, func(u Undeclared) bool { return !m.percent && src.Text[u.Off] == '%' })
	general.percent, general.sectionNames.table = m.percent, m.sectionNames.table // which may have room for more names
	exported := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(general, m, exported, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(strings.Builder{})); diff != "" {
		t.Fatalf("token by token (-) and otherwise (+):\n%s", diff)
	}
}

// takesAddresses checks that each instruction that is said to move the address of a parameter of a function
// does so.
func takesAddresses(t *testing.T, m *Module, d *Decl, code *Code) {
	t.Helper()
	ends := map[int32]ParamAddress{}
	for _, a := range m.ParamAddresses {
		if d.Body.Off <= a.Guard.Off && a.End <= d.Body.End() {
			ends[a.End] = a
		}
	}
	for _, st := range allStatements(code) {
		a, said := ends[code.Span(st).End()]
		if !said {
			continue
		}
		delete(ends, a.End)
		list := code.Operands(st)
		moves := d.Kind == Func && code.Opcode(st) == "mov" && len(list) > 1
		if moves {
			i, ok := code.Reference(int(list[1].First)).Local()
			moves = ok && code.Locals[i].Kind == Parameter && code.Locals[i].Type.Space == ".param" && code.Tokens[list[0].First].Span() == a.Register
		}
		if !moves {
			t.Fatalf("%q does not move the address of a parameter", m.Src.String(code.Span(st)))
		}
	}
	if len(ends) > 0 {
		t.Fatalf("no statements end at %v", ends)
	}
}

func allStatements(c *Code) []Statement {
	if c == nil {
		return nil
	}
	return c.Statements
}

// sameOutline checks that an outline has the declarations of the whole module.
func sameOutline(t *testing.T, src *diag.Source, m *Module, err *Error) {
	t.Helper()
	outline, fault := Outline(src)
	if err != nil {
		return // it may be in text that the outline skips
	}
	if fault != nil {
		t.Fatalf("outline: %v", fault)
	}
	if len(m.Decls) != len(outline.Decls) || len(m.Aliases) != len(outline.Aliases) {
		t.Fatalf("%d declarations and %d aliases, %d and %d in the outline", len(m.Decls), len(m.Aliases), len(outline.Decls), len(outline.Aliases))
	}
	for i := range m.Decls {
		a, b := &m.Decls[i], &outline.Decls[i]
		if m.Names[a.Name] != outline.Names[b.Name] || a.Span != b.Span || a.Body != b.Body || a.Kind == Variable && a.Init != b.Init ||
			a.Kind != b.Kind || a.Linkage != b.Linkage || a.Defines() != b.Defines() {
			t.Fatalf("%s: %+v\nin the outline: %+v", m.Names[a.Name], a, b)
		}
	}
	for i := range m.Aliases {
		a, b := m.Aliases[i], outline.Aliases[i]
		if m.Names[a.Name] != outline.Names[b.Name] || m.Names[a.Target] != outline.Names[b.Target] || a.Span != b.Span {
			t.Fatalf("alias %d: %+v, in the outline %+v", i, a, b)
		}
	}
}

// sameDefinitions checks that Definitions returns what a module defines.
func sameDefinitions(t *testing.T, src *diag.Source, m *Module, err *Error) {
	t.Helper()
	got, ok := Definitions(src)
	if err != nil {
		return // it may be in text that Definitions skips
	}
	d := new(definer)
	for i := range m.Decls {
		decl := &m.Decls[i]
		d.note([]byte(m.Names[decl.Name]), decl.Kind, decl.Binding(), decl.Defines())
	}
	d.aliases(m)
	if diff := cmp.Diff(d.list(), got); diff != "" || !ok {
		t.Fatalf("definitions of the module (-) and by Definitions (+), which returns %v:\n%s", ok, diff)
	}
}

func TestOutline(t *testing.T) {
	for _, text := range []string{
		".visible .func f(){ { // }\n /* } */ } ret; } .weak .global .b8 x[] = {1, 2}, y = 3;",
		".func f(){\n# 1 \"a}.cu\"\n.file 1 \"}\"\n ret; }\n.visible .func g; .alias g, f;",
		".section .debug_info { a: .b8 1\n .b32 f } .common .global .b32 c;",
		".global .u64 p = f + 1; .global .u64 q[2] = {(1 ? 2 : 3), {}}; .func f();",
		".visible .func f(.param .b32 a); .func f(.param .b32 a){ ret; } .func g(); .weak .func g() { ret; } .func h(){ ret; } .visible .func h();",
		".extern .global .align 4 .b8 x[4]; .visible .global .align 4 .b8 x[4] = {1, 2, 3, 4}; .weak .const .u32 c = 1; .visible .shared .b8 s[2][3];",
		".visible .global .u32 a<3>; .weak .global .b8 a1[2] = {1, 2}, b[2] = {3}; .common .global .b32 d; .visible .func (.param .b32 r) e(.param .b32 p /* ) */);",
	} {
		src := &diag.Source{Text: []byte(top + text)}
		m, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		sameOutline(t, src, m, err)
		sameDefinitions(t, src, m, err)
	}
	for _, text := range []string{".func f(){ {} ", ".func f(){ \"} }", ".func f(){ /* } ", ".section .debug_info { ", ".global .b8 x[] = { 1", ".func f(){ #x } }"} {
		if _, err := Outline(&diag.Source{Text: []byte(top + text)}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestCalls(t *testing.T) {
	m := parse(t, `.extern .func (.param .b32 r) g(.param .b32 a, .param .align 8 .b8 b[16]);
.func f(.param .u64 q) {
	P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;
	{ .param .u32 a; .param .align 8 .b8 b[16]; .param .b32 r; call.uni (r), g, (a, b); }
	call (%r1), %rd1, (%rd2, q, -5), P;
	call g;
	@%p call (), g, ();
}`)
	if len(m.Calls) != 4 || len(m.Prototypes) != 1 {
		t.Fatalf("%d calls, %d prototypes", len(m.Calls), len(m.Prototypes))
	}
	direct, indirect := m.Calls[0], m.Calls[1]
	if direct.Use < 0 || len(direct.Signature.Params) != 2 || direct.Signature.Params[0].Word != ".u32" || direct.Signature.Params[1].Size() != 16 || direct.Signature.Results[0].Word != ".b32" || direct.Proto != -1 {
		t.Errorf("direct call: %+v", direct)
	}
	if indirect.Use >= 0 || indirect.Proto != 0 || len(indirect.Signature.Params) != 3 || indirect.Signature.Params[0].Word != "" || indirect.Signature.Params[1].Word != ".u64" || indirect.Signature.Params[2].Word != "" {
		t.Errorf("indirect call: %+v", indirect)
	}
	if p := m.Prototypes[0]; len(p.Signature.Results) != 1 || len(p.Signature.Params) != 2 || p.Signature.Params[1].Size() != 12 || m.Src.String(p.Label) != "P" {
		t.Errorf("prototype: %+v", p)
	}
	for _, c := range m.Calls[2:] {
		if c.Use < 0 || c.Signature.Len() != 0 {
			t.Errorf("call without operands: %+v", c)
		}
	}
}
