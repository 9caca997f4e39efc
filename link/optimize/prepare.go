package optimize

import (
	"bytes"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// prepare makes functions fit to be inlined:
//
//  1. Objects in .shared, .global and .const that a function declares move to module
//     scope: a copy in each caller would be an object of its own.
//  2. Locals that hide a name of the module get a new name, so that no name of an
//     inlined body is taken for one of them.
func (s *state) prepare() error {
	m := s.m
	d := s.decls()
	place := int32(-1) // of moved objects: before the first body
	for i := range m.Decls {
		if m.Decls[i].HasBody {
			place = m.Decls[i].Span.Off
			break
		}
	}
	var edits []edit
	for i := range m.Decls {
		decl := &m.Decls[i]
		name := m.Names[decl.Name]
		callee := decl.HasBody && decl.Kind == ptx.Func && s.sites[name] > 0 && s.unwanted(name, decl) == ""
		if !callee && (!decl.HasBody || s.level[name] == 0) || s.described(decl) {
			continue
		}
		c := s.code(decl)
		names, removed := map[int32]string{}, map[int32]bool{}
		for i := range c.Locals {
			l := &c.Locals[i]
			_, hides := m.Lookup(m.Src.String(l.Name))
			if l.Count >= 0 {
				hides = l.Kind < ptx.CodeLabel && s.hides(m.Src.String(l.Name), l.Count)
			}
			if !hides {
				continue
			}
			names[int32(i)] = s.register()
			switch {
			case l.Kind >= ptx.CodeLabel:
				names[int32(i)] = s.label()
			case l.Count >= 0:
				names[int32(i)] += "_" // a number follows
			}
			if l.Kind == ptx.Parameter {
				edits = append(edits, edit{span: l.Name, text: names[int32(i)]})
			}
		}
		if callee {
			for _, st := range c.Statements {
				if s.movableStatics(d, c, st, place) {
					edits = append(edits, s.moveStatics(c, st, name, place, names, removed)...)
				}
			}
		}
		edits = append(edits, view{c, names}.rename(removed)...)
	}
	sortEdits(edits)
	s.prepared = true
	s.reasons = map[ptx.NameID]string{}
	return s.rewrite(edits)
}

// movableStatics reports whether a statement declares objects that can move to a place
// at module scope: what their initial values use is declared before it.
func (s *state) movableStatics(d *decls, c *ptx.Code, st ptx.Statement, place int32) bool {
	if st.Kind != ptx.Directive || !slices.Contains([]string{".shared", ".global", ".const"}, c.Opcode(st)) {
		return false
	}
	for _, i := range declared(c, st) {
		if c.Locals[i].Count >= 0 || c.Locals[i].Type.Size() <= 0 {
			return false
		}
	}
	for i := st.First; i < st.End; i++ {
		t := c.Tokens[i]
		if t.Kind != ptx.Ident || t.Role() != ptx.Refers {
			continue
		}
		if id, ok := c.Reference(int(i)).Name(); !ok || d.first[id] >= place {
			return false
		}
	}
	return true
}

// moveStatics returns the edits that move a declaration, and adds its new names.
func (s *state) moveStatics(c *ptx.Code, st ptx.Statement, function string, place int32, names map[int32]string, removed map[int32]bool) []edit {
	span := c.Span(st)
	var declarations []edit
	for _, i := range declared(c, st) {
		l := &c.Locals[i]
		names[i], removed[i] = s.static(function, s.m.Src.String(l.Name)), true
		s.moved = append(s.moved, Moved{names[i], function, s.m.Src.String(l.Name), l.Type.Space, l.Type.Size(), l.Type.Alignment()})
		declarations = append(declarations, edit{span: l.Name, text: names[i]})
	}
	sortEdits(declarations)
	return []edit{
		{span: ptx.Span{Off: place}, write: func(w *writer) {
			w.copy(span, declarations)
			w.own("\n", span.Off)
		}},
		{span: span},
	}
}

// static returns a name at module scope for an object of a function: function$object. No
// name in the module is called so, nor is it one of a range.
func (s *state) static(function, object string) string {
	if s.spelled == nil {
		s.spelled = namesWithDollar(s.m.Src.Text)
	}
	name := function + "$" + strings.TrimLeft(object, "%")
	for {
		base, _, ranged := ptx.SplitNumber(name)
		if !s.spelled[name] && !(ranged && s.spelled[base]) {
			break
		}
		name += "$"
	}
	s.spelled[name] = true
	return name
}

// namesWithDollar returns the words of a text that have a $ behind their first letter.
func namesWithDollar(text []byte) map[string]bool {
	list := map[string]bool{}
	part := func(c byte) bool {
		return c == '$' || c == '_' || c == '%' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '$')
		if n < 0 {
			return list
		}
		from, end := at+n, at+n+1
		for from > 0 && part(text[from-1]) {
			from--
		}
		for end < len(text) && part(text[end]) {
			end++
		}
		if bytes.IndexByte(text[from+1:end], '$') >= 0 {
			list[string(text[from:end])] = true
		}
		at = end
	}
}
