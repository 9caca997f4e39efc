package optimize

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"ptxlink/object/ptx"
)

// Fold is a function that another one with the same code replaces.
type Fold struct {
	Name string `json:"name"`
	Into string `json:"into"`
}

// fold removes functions whose code another function has, and makes their callers call
// that one. Two functions have the same code if their tokens are the same except for
// the names of locals, and if the functions that they call have the same code, too:
// identical code folding to a fixpoint. Lines do not count.
//
// These stay what they are, and no function takes their place:
//
//   - functions whose address is taken, as two functions have two addresses
//   - functions with static objects, which would become one object
//   - functions that DWARF describes
//   - functions that nvlink may replace. They have the code of no other function, nor
//     has a caller of one that of a caller of another.
func (s *state) fold() {
	s.analyse()
	list := make([]*foldable, len(s.functions))
	s.each(len(list), func(i int) { list[i] = s.skeleton(s.functions[i]) })
	list = slices.DeleteFunc(list, func(f *foldable) bool { return f == nil })
	refine(list)
	var folds []Fold
	into := map[string]string{}
	first := map[int]*foldable{} // by class
	for _, f := range list {
		kept := first[f.class]
		switch {
		case kept == nil:
			first[f.class] = f
		case s.kept(f.function):
			if !s.kept(kept.function) { // this one must stay, the first need not
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
	s.folded = s.nameable(folds, into)
	s.redirect(into)
}

// foldable is a function without what makes it different from all others.
type foldable struct {
	*function
	tokens string
	refs   []string // the functions in it, in order
	class  int      // functions of one class have the same code
}

// skeleton returns the tokens of a function: locals by number, and the functions that it
// calls left to refs. All others count by name, as their address may be compared. It
// returns nil for what is not folded.
func (s *state) skeleton(of *function) *foldable {
	d := of.decl
	if d.Kind != ptx.Func || s.interposable(of) || s.described(of) {
		return nil
	}
	m, c := of.m, of.code()
	f := &foldable{function: of}
	var out []byte
	word := func(text []byte) {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	word(fmt.Append(nil, d.Signature.Results, d.Signature.Params))
	for _, a := range d.Attrs {
		word(m.Src.Bytes(a.Span))
	}
	if slices.ContainsFunc(c.Locals, func(l ptx.LocalDecl) bool { return l.Static() }) {
		return nil
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
				word(c.Text(t)[l.Name.Len:]) // the number in a range
				continue
			}
			if id, ok := ref.Name(); ok && i == target {
				if g := s.byName[m.Names[id]]; g != nil && !s.interposable(g) {
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
			}
		}
	}
	f.tokens = string(out)
	return f
}

// nameable leaves out the folds whose new name some caller cannot use: a local of that
// spelling hides the function, or it is declared behind the caller.
func (s *state) nameable(folds []Fold, into map[string]string) []Fold {
	unusable := map[string]bool{}
	for _, f := range s.functions {
		locals := sync.OnceValue(func() localNames { return namesOf(f.code()) })
		for _, call := range f.calls {
			to := into[f.target(call)]
			if to == "" || unusable[to] {
				continue
			}
			unusable[to] = locals().contain(to) || !s.declares(to, f.place())
		}
	}
	return slices.DeleteFunc(folds, func(f Fold) bool {
		if unusable[f.Into] {
			delete(into, f.Name)
		}
		return unusable[f.Into]
	})
}

// redirect removes the folded functions and renames the calls.
func (s *state) redirect(into map[string]string) {
	s.edit(func(_ int, f *function) (edits []edit) {
		if into[f.name] != "" {
			return nil
		}
		for _, u := range f.uses() {
			span := f.m.UseSpan(u)
			if to := into[f.m.Names[u.Name]]; to != "" && !bytes.Equal(f.src.Bytes(span), []byte(to)) {
				edits = append(edits, edit{span: span, text: to})
			}
		}
		return edits
	})
	for _, f := range s.functions {
		if into[f.name] != "" {
			s.remove(f)
		}
	}
}
