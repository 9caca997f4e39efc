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
// the other function instead. Two functions have the same code if their tokens are the same
// except for the names of locals, and if the functions that they call have the same code, too:
// identical code folding to a fixpoint. Lines do not count.
//
// Some functions cannot be folded, nor can others be folded into them:
//
//   - functions whose address is taken, because two functions must have two addresses
//   - functions with static objects, because the objects would become one object
//   - functions that DWARF describes
//   - functions that nvlink may replace. Their code never counts as the same as other code,
//     so callers of two such functions do not have the same code either.
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
			if !s.kept(kept.function) { // because f must stay, and kept need not
				first[f.class] = f
				folds = append(folds, Fold{kept.name, f.name})
				into[kept.name] = f.name
			}
		default:
			folds = append(folds, Fold{f.name, kept.name})
			into[f.name] = kept.name
		}
	}
	for name, to := range into { // the target may have been replaced later itself
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

// foldable is a function reduced to the parts that must be equal in functions that are folded.
type foldable struct {
	*function
	tokens string
	refs   []string // the functions in it, in order
	class  int      // functions with the same code have the same class
}

// skeleton returns the tokens of a function. Locals are written by number, and called functions are
// left to refs. All other functions must count by name, because their addresses may be compared. It
// returns nil for functions that cannot be folded.
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

// nameable drops the folds whose new name some caller cannot use, because a local with the same
// name hides the function, or because the function is declared after the caller.
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
