package optimize

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// prepare makes functions fit to be inlined:
//
//  1. Objects in .shared, .global and .const that a function declares move to module
//     scope, because each copy in a caller would otherwise be an object of its own.
//  2. Locals that hide a name of the module get a new name, because a name in an inlined
//     body could otherwise be mistaken for the local.
func (s *state) prepare() {
	s.edit(func(_ int, f *function) (edits []edit) {
		callee := s.wanted(f)
		if !callee && s.level[f.name] == 0 || s.described(f) {
			return nil
		}
		c := f.code()
		names, removed := map[int32]string{}, map[int32]bool{}
		for i, l := range c.Locals {
			name := f.src.String(l.Name)
			if l.Count >= 0 {
				if l.Kind >= ptx.CodeLabel || !s.hides(name, l.Count) {
					continue
				}
			} else if !s.declares(name, math.MaxInt32) {
				continue
			}
			names[int32(i)] = s.register(f)
			switch {
			case l.Kind >= ptx.CodeLabel:
				names[int32(i)] = s.label(f)
			case l.Count >= 0:
				names[int32(i)] += "_" // because a number follows
			}
			if l.Kind == ptx.Parameter {
				edits = append(edits, edit{span: l.Name, text: names[int32(i)]})
			}
		}
		if callee {
			for _, st := range c.Statements {
				if s.movableStatics(c, st) {
					s.moveStatics(f, st, names, removed)
					edits = append(edits, edit{span: c.Span(st)})
				}
			}
		}
		return append(edits, view{c, names}.rename(removed)...)
	})
	s.prepared = true
	s.reconsider()
	s.each(len(s.functions), func(i int) {
		if f := s.functions[i]; len(f.calls) == 0 {
			s.forget(f)
		}
	})
}

// movable are the state spaces of static objects that can move to module scope.
var movable = []string{".shared", ".global", ".const"}

// movableStatics reports whether a statement declares objects that can move to module scope, before
// the first function. The names that their initial values use must be declared there already.
func (s *state) movableStatics(c *ptx.Code, st ptx.Statement) bool {
	if st.Kind != ptx.Directive || !slices.Contains(movable, c.Opcode(st)) {
		return false
	}
	if slices.ContainsFunc(declared(c, st), func(i int32) bool { return c.Locals[i].Count >= 0 || c.Locals[i].Type.Size() <= 0 }) {
		return false
	}
	for i := st.First; i < st.End; i++ {
		t := c.Tokens[i]
		if t.Kind != ptx.Ident || t.Role() != ptx.Refers {
			continue
		}
		if id, ok := c.Reference(int(i)).Name(); !ok || !s.declares(c.Module.Names[id], 0) {
			return false
		}
	}
	return true
}

// moveStatics turns the objects that a statement declares into variables, and adds their new names.
func (s *state) moveStatics(f *function, st ptx.Statement, names map[int32]string, removed map[int32]bool) {
	c := f.code()
	span := c.Span(st)
	var declarations []edit
	for _, i := range declared(c, st) {
		l := &c.Locals[i]
		names[i], removed[i] = s.static(f.name, f.src.String(l.Name)), true
		s.added[names[i]] = true
		s.moved = append(s.moved, Moved{names[i], f.name, f.src.String(l.Name), l.Type.Space, l.Type.Size(), l.Type.Alignment()})
		declarations = append(declarations, edit{span: l.Name, text: names[i]})
	}
	sortEdits(declarations)
	var w writer
	w.copy(f.text, span, declarations)
	w.own("\n", f.text, span.Off)
	t, m := s.read(&w, 0)
	if m == nil {
		return
	}
	s.variables = append(s.variables, variable{t, m})
	for _, u := range m.Uses {
		s.uses[m.Names[u.Name]]++
	}
}

// static returns a name at module scope for an object of a function: function$object. The name must
// be new in the module, and cannot be a name of a range.
func (s *state) static(function, object string) string {
	if s.spelled == nil {
		s.spelled = map[string]bool{}
		for part := range s.p.Text {
			namesWithDollar(part, s.spelled)
		}
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

// namesWithDollar adds the words of a text that have a $ after their first letter.
func namesWithDollar(text []byte, list map[string]bool) {
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '$')
		if n < 0 {
			return
		}
		from, end := at+n, at+n+1
		for from > 0 && ptx.InName(text[from-1]) {
			from--
		}
		for end < len(text) && ptx.InName(text[end]) {
			end++
		}
		if bytes.IndexByte(text[from+1:end], '$') >= 0 {
			list[string(text[from:end])] = true
		}
		at = end
	}
}
