package optimize

import "ptxlink/object/ptx"

// drop removes the functions that nothing refers to any more because their calls are
// inlined.
func (s *state) drop() (dropped []string, err error) {
	m := s.m
	uses := make([]int, len(m.Names)) // of each name, outside its own declaration
	count := func(d *ptx.Decl, n int) {
		for _, u := range m.Uses[d.FirstUse:d.EndUse] {
			if u.Name != d.Name {
				uses[u.Name] += n
			}
		}
	}
	for i := range m.Decls {
		count(&m.Decls[i], 1)
	}
	for _, a := range m.Aliases {
		uses[a.Name]++
		uses[a.Target]++
	}
	for _, o := range m.Others {
		for _, u := range m.Uses[o.FirstUse:o.EndUse] {
			uses[u.Name]++
		}
	}
	for i, name := range m.Names {
		if m.SectionName([]byte(name)) >= 0 {
			uses[i]++
		}
	}
	gone := map[ptx.NameID]bool{}
	unused := func(d *ptx.Decl) bool {
		name := m.Names[d.Name]
		return d.Kind == ptx.Func && d.HasBody && s.inlined[name] && !gone[d.Name] && uses[d.Name] == 0 &&
			!(s.Interposable && d.Linkage != ptx.Local) && !matches(s.Keep, name)
	}
	bodies := map[ptx.NameID]*ptx.Decl{}
	var waiting []*ptx.Decl
	for i := range m.Decls {
		if d := &m.Decls[i]; d.HasBody {
			bodies[d.Name] = d
			waiting = append(waiting, d)
		}
	}
	for len(waiting) > 0 {
		d := waiting[0]
		waiting = waiting[1:]
		if !unused(d) {
			continue
		}
		gone[d.Name] = true
		dropped = append(dropped, m.Names[d.Name])
		count(d, -1)
		for _, u := range m.Uses[d.FirstUse:d.EndUse] {
			if g := bodies[u.Name]; g != nil && unused(g) {
				waiting = append(waiting, g)
			}
		}
	}
	var edits []edit
	for i := range m.Decls {
		if d := &m.Decls[i]; gone[d.Name] {
			edits = append(edits, edit{span: d.Span})
		}
	}
	return dropped, s.rewrite(edits)
}
