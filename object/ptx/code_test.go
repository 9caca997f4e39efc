package ptx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// codeLaws checks the properties of the code of every declaration:
//
//  1. The statements hold every token of the text, in order, and nothing else.
//  2. A name refers to a module-scope declaration exactly where Module.Uses has it.
//  3. UndeclaredRegisters has the names in instructions, initial values and lists of targets that refer to nothing.
//  4. PlainPlaces finds the same places for a local, or gives up.
func codeLaws(t *testing.T, m *Module, d *Decl) {
	t.Helper()
	c := m.Code(d)
	if c == nil {
		if d.HasBody || d.Kind == Variable && d.Init.Len > 0 {
			t.Fatalf("%s has no code", m.Names[d.Name])
		}
		return
	}
	span := d.Body
	if d.Kind == Variable {
		span = d.Init
	}
	lex := NewLexer(m.Src.Text[:span.End()], span.Off)
	for i, got := range c.Tokens {
		got.setRole(Refers)
		if want := lex.Next(); got != want {
			t.Fatalf("token %d of %s is %+v, want %+v", i, m.Names[d.Name], got, want)
		}
	}
	if rest := lex.Next(); rest.Kind != EOF {
		t.Fatalf("the code of %s ends before %q", m.Names[d.Name], m.Src.String(rest.Span()))
	}
	at := int32(0)
	for _, st := range c.Statements {
		if st.First != at || st.End <= st.First || st.Op < st.First || st.Op >= st.End || st.Operands < st.Op || st.Operands > st.End {
			t.Fatalf("statement %+v behind token %d", st, at)
		}
		at = st.End
		for _, o := range c.Operands(st) {
			if o.First < st.Operands || o.End > st.End {
				t.Fatalf("operand %+v outside statement %+v", o, st)
			}
		}
	}
	if int(at) != len(c.Tokens) {
		t.Fatalf("statements end at token %d of %d", at, len(c.Tokens))
	}

	var found []string
	note := func(off int32, r Reference) {
		if id, ok := r.Name(); ok {
			found = append(found, fmt.Sprintf("%d %s", off, m.Names[id]))
		}
	}
	lists := c.TargetRanges
	for i, tok := range c.Tokens {
		note(tok.Off, c.Reference(i))
		for len(lists) > 0 && lists[0].Span.Off == tok.Off {
			for _, r := range lists[0].Targets {
				note(tok.Off, r)
			}
			lists = lists[1:]
		}
		if i, ok := c.Reference(i).Local(); ok && int(i) >= len(c.Locals) {
			t.Fatalf("local %d of %d", i, len(c.Locals))
		}
	}
	var used []string
	for _, u := range m.Uses[d.FirstUse:d.EndUse] {
		used = append(used, fmt.Sprintf("%d %s", u.Off, m.Names[u.Name]))
	}
	if d := cmp.Diff(used, found); d != "" {
		t.Fatalf("uses by the walk (-) and by the reader (+):\n%s", d)
	}
	var undeclared []Span
	read := []string{".reg", ".local", ".shared", ".param", ".global", ".const", ".tex", ".sreg", ".branchtargets", ".calltargets"}
	for _, st := range c.Statements {
		unread := st.Kind == Directive && d.HasBody && !slices.Contains(read, c.Opcode(st))
		for i := st.First; i < st.End && !unread; i++ {
			name := string(c.Text(c.Tokens[i]))
			if c.Tokens[i].Kind == Ident && c.Tokens[i].Role() == Refers && c.Reference(int(i)) == NoReference && !predefined([]byte(name)) {
				undeclared = append(undeclared, c.Tokens[i].Span())
			}
		}
	}
	for _, list := range c.TargetRanges {
		for _, r := range list.Targets {
			if r == NoReference {
				undeclared = append(undeclared, list.Base)
			}
		}
	}
	slices.SortFunc(undeclared, func(a, b Span) int { return int(a.Off - b.Off) })
	var noted []Span
	for _, u := range m.UndeclaredRegisters() {
		if u.Off >= span.Off && u.Off < span.End() {
			noted = append(noted, u.Span)
		}
	}
	if d := cmp.Diff(undeclared, noted); d != "" {
		t.Fatalf("undeclared names by the reader (-) and by the walk (+):\n%s", d)
	}
	if d.HasBody {
		plainPlaces(t, m, d, c)
	}
}

// plainPlaces compares PlainPlaces with the code of a function and returns for how many
// names it gives up.
func plainPlaces(t *testing.T, m *Module, d *Decl, c *Code) (given int) {
	seen := map[string]bool{}
	for k, l := range c.Locals {
		name := m.Src.String(l.Name)
		if l.Kind == Register || l.Count >= 0 || name[0] == '%' || seen[name] {
			continue
		}
		seen[name] = true
		places, ok := new(PlaceSearch).PlainPlaces(m, d, []Span{l.Name})
		if !ok {
			given++
			continue
		}
		var want []NamePlace
		for i, tok := range c.Tokens {
			if local, ok := c.Reference(i).Local(); ok && int(local) == k {
				want = append(want, NamePlace{Span: tok.Span()})
			}
		}
		if d := cmp.Diff(want, places); d != "" {
			t.Fatalf("places of %s by the reader (-) and by the search (+):\n%s", name, d)
		}
	}
	return given
}

// TestPlainPlaces checks which uses of a local are found without reading the code.
func TestPlainPlaces(t *testing.T) {
	const depot = "\n.local .b8 x[4];\n"
	for _, test := range []struct {
		body  string
		plain bool
	}{
		{"x: ret;", true},
		{"{ x: ret; } // y\n", true},
		{depot + ".reg .b32 %r<3>;\n// use\n\n\tmov.u32 %r1, x;\n.loc 1 2 3 // a.cu\n@!%p ld.u32 %r2, [x+4], x;", true},
		{depot + "add.u32 %r1, %xx, $x, x1;", true},
		{"bra x; x:", false},                                               // ahead
		{"x: { bra x; } ", false},                                          // on one line
		{"{\n" + depot + "}\nmov.u32 %r1, x;", false},                      // behind its block
		{depot + "{\n.reg .b32 x;\nmov.u32 %r1, x;\n}", false},             // hidden
		{depot + "{\nx:\nbra x;\n}", false},                                // hidden
		{"\nx:\n{\n.reg .b32 y;\n.reg .b32 x;\nmov.u32 %r1, x;\n}", false}, // hidden
		{depot + ".reg .b32 y,\nx ;", false},                               // declared again
		{depot + "ret;\nx %r1, x;", false},                                 // an opcode
		{depot + "ret;\n@%p x %r1;", false},                                // an opcode
		{depot + "ret;\n@ %p x %r1;", false},                               // an opcode
		{depot + "ret; // to\nx %r1;", false},                              // an opcode
		{depot + "// \r mov.u32 %r1,\nmov.u32 x, x;", false},               // operands
		{depot + ".pragma \"a, x\";", false},                               // a string
		{depot + "/* ;\nmov.u32 a, x; */", false},                          // a comment
		{depot + "// mov.u32 a, x;\n", false},                              // a comment
		{depot + "P: .callprototype _ (.param .b32 x);", false},            // a name without meaning
		{depot + ".loc 1 2 3, function_name\nx, inlined_at 1 2 3\nret;", false},
		{depot + ".loc 1 2 3\n, function_name x, inlined_at 1 2 3\nret;", false},
		{depot + "T: .branchtargets\nx, x;", false},
	} {
		m := parse(t, ".func f(){"+test.body+" }")
		d := &m.Decls[0]
		if given := plainPlaces(t, m, d, m.Code(d)); given == 0 != test.plain {
			t.Errorf("%q: gave up on %d names", test.body, given)
		}
	}
}

// describe returns the meaning of each name in a body: a local with the number of
// its declaration, or a module-scope name.
func describe(m *Module, d *Decl) string {
	c := m.Code(d)
	var words []string
	for i, tok := range c.Tokens {
		if tok.Kind != Ident {
			continue
		}
		word := string(c.Text(tok))
		switch local, ok := c.Reference(i).Local(); {
		case tok.Role() == Declares:
			word += fmt.Sprintf(":%d", local)
		case ok:
			word += fmt.Sprintf("=%d", local)
		case c.Reference(i) != NoReference:
			word += "=module"
		case tok.Role() == Opcode:
			continue
		}
		words = append(words, word)
	}
	for _, list := range c.TargetRanges {
		for _, r := range list.Targets {
			local, _ := r.Local()
			words = append(words, fmt.Sprintf("%s<=%d", m.Src.String(list.Base), local))
		}
	}
	return strings.Join(words, " ")
}

// TestScopes checks the meaning of names. TestScopesPtxas compares it with ptxas.
func TestScopes(t *testing.T) {
	const module = ".global .u32 g, t15, x2; .func h();\n"
	for _, test := range []struct{ what, body, want string }{
		{"vector operands", ".reg .b32 lo, hi; mov.b64 {lo, hi}, g;", "lo:0 hi:1 lo=0 hi=1 g=module"},
		{"behind the statement", ".local .u64 g = g; mov.u64 a, g;", "g:0 g=module a g=0"},
		{"before the declaration", "mov.u32 a, g; .reg .b32 g; mov.u32 a, g;", "a g=module g:0 a g=0"},
		{"inner block", "{ .reg .b32 g; mov.u32 a, g; } mov.u32 a, g;", "g:0 a g=0 a g=module"},
		{"range", ".reg .b32 x<3>; mov.u32 x2, x3; mov.u32 x, x02;", "x:0 x2=0 x3 x x02=0"},
		{"a base that ends in a digit", ".reg .b32 t1<10>; mov.u32 t15, t1;", "t1:0 t15=module t1"},
		{"range and single name", ".reg .b32 x; .reg .b32 x<3>; mov.u32 x, x1;", "x:0 x:1 x=0 x1=1"},
		{"range inside a range", ".reg .b32 x<9>; { .reg .b32 x<3>; mov.u32 x2, x5; }", "x:0 x:1 x2=1 x5=0"},
		{"single name inside a range", ".reg .b32 x<9>; { .reg .b32 x2; mov.u32 x2, x3; } mov.u32 x2, 1;", "x:0 x2:1 x2=1 x3=0 x2=0"},
		{"range around a single name", ".reg .b32 x2; { .reg .b32 x<9>; mov.u32 x2, 1; } mov.u32 x2, 1;", "x2:0 x:1 x2=1 x2=0"},
		{"labels ahead", "bra L; { bra L; L: bra L; } L: ret;", "L=1 L=0 L:0 L=0 L:1"},
		{"an inner label ahead and an outer one behind", "L: { bra L; L: ret; } bra L;", "L:0 L=1 L:1 L=0"},
		{"a register behind and a label ahead", ".reg .b32 y; { mov.u32 a, y; y: ret; }", "y:0 a y=0 y:1"},
		{"a label no block around it has", "{ L: ret; } bra L;", "L:0 L"},
		{"an opcode for a label", "mov: mov.u32 mov, 1; bra mov;", "mov:0 mov=0 mov=0"},
		{"guards", ".reg .pred g; @g bra L; @!g ret; L:", "g:0 g=0 L=1 g=0 L:1"},
		{"behind .loc", ".loc 1 2 3\n mov.u32 g, 1;", "g=module"},
		{"prototypes", "g: .callprototype (.param .b32 h) _ (.param .b32 g); call (h), h, (g), g;", "g:0 h g h=module h=module g=0 g=0"},
		{"target ranges", "T: .branchtargets L<2>, M; L0: L1: M: brx.idx a, T;", "T:0 L M=3 L0:1 L1:2 M:3 a T=0 L<=1 L<=2"},
		{"the word generic", ".reg .b32 generic; .global .u64 p[2] = {generic (g), 0xff(g)}; mov.u32 generic, 1;", "generic:0 p:1 generic g=module g=module generic=0"},
		{"white space and comments", ".reg .b32 g ; mov .u32 /**/ g , [ g /* g */ + 4 ] ; { // g\n }", "g:0 g=0 g=0"},
	} {
		m := parse(t, module+".func f(){ "+test.body+" }")
		d := &m.Decls[len(m.Decls)-1]
		codeLaws(t, m, d)
		if got := describe(m, d); got != test.want {
			t.Errorf("%s: %s\n got %s\nwant %s", test.what, test.body, got, test.want)
		}
	}
}

func TestOperands(t *testing.T) {
	m := parse(t, `.func f(){ @!%p ld.global.v4.f32 {%f1, _, x, -1}, [%rd1+4]; tex.2d.v4.f32.f32 {a,b,c,d}, [t, {%f1, %f2}]; setp.eq.u32 p|q, -5, v.x; call (r), g, (a, 0f3F800000); nop; }`)
	c := m.Code(&m.Decls[0])
	var got []string
	for _, st := range c.Statements {
		if st.Kind != Instruction {
			continue
		}
		text := c.Opcode(st) + strings.Join(c.Modifiers(st), "")
		for _, o := range c.Operands(st) {
			text += fmt.Sprintf(" %d:%d", o.Shape, o.End-o.First)
			if o.Shape == Vector || o.Shape == List || o.Shape == Address {
				text += fmt.Sprintf("(%d)", len(c.Elements(o)))
			}
		}
		got = append(got, text)
	}
	want := []string{
		"ld.global.v4.f32 3:10(4) 2:5(1)",
		"tex.2d.v4.f32.f32 3:9(4) 2:9(2)",
		"setp.eq.u32 5:3 1:2 5:2",
		"call 4:3(1) 0:1 4:5(2)",
		"nop",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if st := c.Statements[1]; !st.Guarded() || m.Src.String(c.OpSpan(st)) != "ld.global.v4.f32" {
		t.Errorf("%q", m.Src.String(c.Span(st)))
	}
}

// TestLocIntermediate reads a line of Tile IR, which no semicolon ends: ptxas 13.5 takes the label for one.
func TestLocIntermediate(t *testing.T) {
	m := parse(t, ".func f () {.loc_intermediate 1 2 3\nL: .loc_intermediate 1 3 1\nbra L; ret;}\n")
	var kinds []StatementKind
	for _, st := range m.Code(&m.Decls[0]).Statements {
		kinds = append(kinds, st.Kind)
	}
	if diff := cmp.Diff([]StatementKind{Open, Directive, LabelStatement, Directive, Instruction, Instruction, Close}, kinds); diff != "" {
		t.Error(diff)
	}
}
