package optimize

import (
	"slices"

	"ptxlink/object/ptx"
)

func (s *state) tally(f *function, n int) {
	for _, u := range f.uses() {
		if name := f.m.Names[u.Name]; name != f.name {
			s.uses[name] += n
		}
	}
}

// drop removes functions of the list to which nothing refers any more because their calls are
// inlined, and then the functions that only these referred to.
func (s *state) drop(functions []*function) {
	unused := func(f *function) bool {
		return f.decl.Kind == ptx.Func && s.inlined[f.name] && !f.gone && s.uses[f.name] == 0 &&
			!(s.Interposable && f.linkage != ptx.Local) && !s.keep.Match(f.name)
	}
	waiting := slices.Clone(functions)
	for len(waiting) > 0 {
		f := waiting[0]
		waiting = waiting[1:]
		if !unused(f) {
			continue
		}
		s.dropped = append(s.dropped, f.name)
		for _, u := range f.uses() {
			if g := s.byName[f.m.Names[u.Name]]; g != nil {
				waiting = append(waiting, g)
			}
		}
		s.remove(f)
	}
	s.functions = slices.DeleteFunc(s.functions, func(f *function) bool { return f.gone })
}

func (s *state) remove(f *function) {
	s.tally(f, -1)
	delete(s.byName, f.name)
	*f = function{name: f.name, decl: f.decl, gone: true}
}

// otherUses calls f for each name that is used outside the code of functions: in variables,
// aliases, unknown statements, sections.
func (s *state) otherUses(f func(name string)) {
	for _, name := range s.p.Uses {
		f(name)
	}
	for _, v := range s.variables {
		for _, u := range v.m.Uses {
			f(v.m.Names[u.Name])
		}
	}
	for _, a := range s.p.Aliases {
		f(a.Target)
	}
	for name := range s.p.Described {
		f(name)
	}
}
