package optimize

import (
	"bytes"
	"encoding/binary"
	"slices"

	"ptxlink/object/ptx"
)

// Fold is a function that another one with the same code replaces.
type Fold struct{ Name, Into string }

// fold removes functions whose code another function has, and makes their callers call
// that one. Two functions have the same code if their tokens are the same except for
// the names of locals, and if the functions that they call have the same code, too:
// identical code folding to a fixpoint. Lines do not count.
//
// These stay what they are, and no function takes their place:
//
//   - functions whose address is taken, as two functions have two addresses
//   - functions with objects in .shared, .global or .const of their own, which would
//     become one object
//   - functions that DWARF describes
//   - functions that nvlink may replace. They have the code of no other function, nor
//     has a caller of one that of a caller of another.
func (s *state) fold() ([]Fold, error) {
	m := s.m
	s.analyse()
	d := s.decls()
	var list []*foldable
	for i := range m.Decls {
		if f := s.skeleton(&m.Decls[i], d.bodies); f != nil {
			list = append(list, f)
		}
	}
	refine(list)
	var folds []Fold
	into := map[string]string{}
	first := map[int]*foldable{} // by class
	for _, f := range list {
		kept := first[f.class]
		switch {
		case kept == nil:
			first[f.class] = f
		case !s.replaceable(f):
			if s.replaceable(kept) && into[kept.name] == "" { // this one must stay, the first need not
				first[f.class] = f
				folds = append(folds, Fold{kept.name, f.name})
				into[kept.name] = f.name
			}
		default:
			folds = append(folds, Fold{f.name, kept.name})
			into[f.name] = kept.name
		}
	}
	for name, to := range into { // what was first may have been replaced later
		if last := into[to]; last != "" {
			into[name] = last
		}
	}
	for i := range folds {
		folds[i].Into = into[folds[i].Name]
	}
	folds, into = s.nameable(d, folds, into)
	return folds, s.rewrite(s.foldEdits(into))
}

// replaceable reports whether a function may be missing in the output.
func (s *state) replaceable(f *foldable) bool {
	return !s.taken[f.name] && !matches(s.Keep, f.name) && !(s.Interposable && f.decl.Linkage != ptx.Local)
}

// foldable is a function without what makes it different from all others.
type foldable struct {
	name  string
	decl  *ptx.Decl
	text  string   // its tokens
	refs  []string // the functions in it, in order
	class int      // functions of one class have the same code
}

// skeleton returns the tokens of a function: locals by number, and the functions that it
// calls left to refs. All others count by name, as their address may be compared. It
// returns nil for what is not folded.
func (s *state) skeleton(d *ptx.Decl, bodies map[string]*ptx.Decl) *foldable {
	if d.Kind != ptx.Func || !d.HasBody || s.interposable(d) || s.described(d) {
		return nil
	}
	m, c := s.m, s.code(d)
	f := &foldable{name: m.Names[d.Name], decl: d}
	var out []byte
	word := func(text []byte) {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	for _, p := range d.Signature.Results {
		word([]byte(p.Space + p.Word))
		out = binary.AppendVarint(binary.AppendVarint(append(out, p.Vector, flag(p.Array), flag(p.Unsized)), p.Align), p.Count)
	}
	word([]byte("->"))
	for _, p := range d.Signature.Params {
		word([]byte(p.Space + p.Word))
		out = binary.AppendVarint(binary.AppendVarint(append(out, p.Vector, flag(p.Array), flag(p.Unsized)), p.Align), p.Count)
	}
	for _, a := range d.Attrs {
		word(m.Src.Bytes(a.Span))
	}
	for _, l := range c.Locals {
		switch l.Type.Space {
		case "", ".reg", ".param", ".local":
		default:
			return nil
		}
	}
	for _, st := range c.Statements {
		if st.Kind == ptx.Directive {
			switch c.Opcode(st) {
			case ".loc", ".file":
				continue
			}
		}
		target, _ := callTarget(c, st)
		for i := st.First; i < st.End; i++ {
			t := c.Tokens[i]
			ref := c.Reference(int(i))
			if local, ok := ref.Local(); ok {
				l := &c.Locals[local]
				out = binary.AppendUvarint(append(out, 'L'), uint64(local))
				word(c.Text(t)[min(int(l.Name.Len), int(t.End-t.Off)):]) // the number in a range
				continue
			}
			if id, ok := ref.Name(); ok && i == target {
				if g := bodies[m.Names[id]]; g != nil && !s.interposable(g) {
					out = append(out, 'F')
					f.refs = append(f.refs, m.Names[id])
					continue
				}
			}
			out = append(out, 'T', byte(t.Kind))
			word(c.Text(t))
		}
	}
	for _, list := range c.TargetRanges {
		for _, target := range list.Targets {
			if local, ok := target.Local(); ok {
				out = binary.AppendUvarint(append(out, 'L'), uint64(local))
			} else if id, ok := target.Name(); ok {
				word([]byte(m.Names[id]))
			}
		}
	}
	f.text = string(out)
	return f
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// nameable leaves out the folds whose new name some caller cannot use: a local of that
// spelling hides the function, or it is declared behind the caller.
func (s *state) nameable(d *decls, folds []Fold, into map[string]string) ([]Fold, map[string]string) {
	unusable := map[string]bool{}
	caller, locals := int32(-1), localNames{}
	for _, call := range s.m.Calls {
		if call.Use < 0 {
			continue
		}
		to := into[s.m.Names[s.m.Uses[call.Use].Name]]
		if to == "" || unusable[to] {
			continue
		}
		if call.In != caller {
			caller, locals = call.In, namesOf(s.code(&s.m.Decls[call.In]))
		}
		id, _ := s.m.Lookup(to)
		unusable[to] = locals.contain(to) || d.first[id] > s.m.Decls[caller].Body.Off
	}
	folds = slices.DeleteFunc(folds, func(f Fold) bool {
		if unusable[f.Into] {
			delete(into, f.Name)
		}
		return unusable[f.Into]
	})
	return folds, into
}

// foldEdits removes the declarations of the folded functions and renames the calls.
func (s *state) foldEdits(into map[string]string) (edits []edit) {
	m := s.m
	var spans []ptx.Span
	for i := range m.Decls {
		if d := &m.Decls[i]; into[m.Names[d.Name]] != "" {
			edits = append(edits, edit{span: d.Span})
			spans = append(spans, d.Span)
		}
	}
	gone := func(off int32) bool {
		i, _ := slices.BinarySearchFunc(spans, off, func(s ptx.Span, off int32) int { return int(s.End()) - int(off) - 1 })
		return i < len(spans) && spans[i].Off <= off
	}
	for _, u := range m.Uses {
		to := into[m.Names[u.Name]]
		if span := m.UseSpan(u); to != "" && !gone(u.Off) && !bytes.Equal(m.Src.Bytes(span), []byte(to)) {
			edits = append(edits, edit{span: span, text: to})
		}
	}
	sortEdits(edits)
	return edits
}
