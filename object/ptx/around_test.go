package ptx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// sameReread checks that a function means the same if it is read again as a text of its
// own.
func sameReread(t *testing.T, m *Module, d *Decl) {
	if !d.HasBody {
		return
	}
	src := &diag.Source{Text: m.Src.Bytes(d.Span)}
	n, err := scopeOf(m, d, "").Read(src)
	if err != nil || len(n.Decls) != 1 {
		t.Fatalf("%s\nread again: %d declarations, %v", src.Text, len(n.Decls), err)
	}
	if was, is := meaning(m, d), meaning(n, &n.Decls[0]); was != is {
		t.Fatalf("%s\nmeans\n%s\nand, read again,\n%s", src.Text, was, is)
	}
}

// scopeOf returns what a function of a module stands in, with one more name.
func scopeOf(m *Module, d *Decl, added string) Scope {
	return Scope{Version: m.Version, AddressSize: m.AddressSize, Percent: m.percent, Declared: func(spelling []byte) (string, bool) {
		if id, ok := m.moduleName(sets.HashBytes(spelling), spelling); ok && id < d.known {
			return m.Names[id], true
		}
		return added, string(spelling) == added
	}}
}

// meaning describes a function, with places that count from its start.
func meaning(m *Module, d *Decl) string {
	var b strings.Builder
	span := func(s diag.Span) diag.Span { return diag.Span{Off: s.Off - d.Span.Off, Len: s.Len} }
	name := func(r Reference) any {
		if id, ok := r.Name(); ok {
			return m.Names[id]
		}
		return r
	}
	fmt.Fprintln(&b, d.Kind, d.Linkage, m.Names[d.Name], d.Signature.hash, span(d.Header), span(d.Body))
	for _, u := range m.Uses[d.FirstUse:d.EndUse] {
		fmt.Fprintln(&b, "use", u.Off-d.Span.Off, m.Names[u.Name])
	}
	inside := func(s diag.Span) bool { return s.Off >= d.Span.Off && s.End() <= d.Span.End() }
	for _, c := range m.Calls {
		if inside(c.Span) {
			use := c.Use
			if use >= 0 {
				use -= d.FirstUse
			}
			fmt.Fprintln(&b, "call", span(c.Span), span(c.Target), use, c.Signature.hash)
		}
	}
	for _, l := range m.Locs {
		if inside(l.Span) {
			fmt.Fprintln(&b, "loc", span(l.Span), l.LocPlace)
		}
	}
	c := m.Code(d)
	for i, token := range c.Tokens {
		fmt.Fprintln(&b, token.Off-d.Span.Off, token.End-d.Span.Off, token.Kind, token.Role(), name(c.Reference(i)))
	}
	for _, l := range c.Locals {
		fmt.Fprintln(&b, l.Kind, span(l.Name), l.Count, l.Type.Type)
	}
	for _, list := range c.TargetRanges {
		for _, target := range list.Targets {
			fmt.Fprintln(&b, name(target))
		}
	}
	return b.String()
}

// TestScope reads a changed function, which uses a name that was added, and names that
// are declared before and behind it.
func TestScope(t *testing.T) {
	m, err := Parse(&diag.Source{Text: []byte(top + ".global .u32 before, a<3>;\n.func f() { ret; }\n.global .u32 behind;")})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Decls, func(d Decl) bool { return d.HasBody })
	text := ".func f() { .reg .u32 %r; ld.u32 %r, [before]; ld.u32 %r, [a02]; ld.u32 %r, [a2]; ld.u32 %r, [behind]; ld.u32 %r, [f$x]; call f; ret; }"
	n, err := scopeOf(m, &m.Decls[i], "f$x").Read(&diag.Source{Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	var uses []string
	for _, u := range n.Uses {
		uses = append(uses, n.Names[u.Name])
	}
	if got, want := strings.Join(uses, " "), "before a2 a2 f$x f"; got != want {
		t.Errorf("the function uses %s, want %s", got, want)
	}
	two := strings.Replace(text, "f()", "g()", 1) + " .func h() { call g; call f$x; ret; }"
	if n, err = scopeOf(m, &m.Decls[i], "").Read(&diag.Source{Text: []byte(two)}); err != nil || len(n.Decls) != 2 || n.Names[n.Uses[len(n.Uses)-1].Name] != "g" {
		t.Errorf("two functions: %v, %d declarations, names %q", err, len(n.Decls), n.Names)
	}
}
