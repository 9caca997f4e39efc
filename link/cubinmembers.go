package link

import (
	"slices"

	"ptxlink/object"
	"ptxlink/resolve"
)

// cubinMembers chooses cubins that are members of archives: only members that the modules or other
// cubins need are linked.
type cubinMembers struct {
	list   []Cubin
	linked []bool         // whether each member of list is linked
	offers map[string]int // first member that defines a name; nil without members
	pulls  []Pull
}

func newCubinMembers(list []Cubin) cubinMembers {
	m := cubinMembers{list: list, linked: make([]bool, len(list))}
	for i, c := range list {
		if m.linked[i] = !c.Archived && !c.Offered; m.linked[i] || c.Offered {
			continue
		}
		if m.offers == nil {
			m.offers = map[string]int{}
		}
		for _, s := range c.Symbols {
			if _, known := m.offers[s.Name]; s.Defined && !known {
				m.offers[s.Name] = i
			}
		}
	}
	return m
}

// cubins returns the linked cubins. Until settle is called it also returns stubs that define the
// other members' symbols weakly, so that these may stay undefined and no archive PTX is linked for
// them.
func (m *cubinMembers) cubins() (list []Cubin) {
	for i, c := range m.list {
		switch {
		case m.linked[i]:
			c.Archived, c.pulled = false, c.Archived
			list = append(list, c)
		case m.offers != nil || c.Offered:
			offered := Cubin{Name: c.Name, Archived: true}
			for _, s := range c.Symbols {
				if s.Weak = true; s.Defined {
					offered.Symbols = append(offered.Symbols, s)
				}
			}
			list = append(list, offered)
		}
	}
	return list
}

// need is a name, and the module or cubin that needs it, if known.
type need struct{ name, by string }

// named returns the names in options as needs.
func named(names ...[]string) (list []need) {
	for _, name := range slices.Concat(names...) {
		list = append(list, need{name: name})
	}
	return list
}

// pull links the members that the output, the linked cubins or the names on the command line need.
// It reports whether it linked any, because the modules may then need more.
func (m *cubinMembers) pull(t *resolve.Table, o Options) (pulled bool) {
	if m.offers == nil {
		return false
	}
	needed := named(o.Undefined, o.RequireDefined)
	t.Missing(func(name string, by *object.File) { needed = append(needed, need{name, by.Name}) })
	return m.supply(needed, func(name string) bool {
		s, found := t.Lookup(name)
		return found && s.Defined()
	})
}

// supply links the members that define a needed name, including the needs of the linked cubins. If
// several define a name, it links the first.
func (m *cubinMembers) supply(needed []need, inModules func(name string) bool) (pulled bool) {
	defined := map[string]bool{} // names that linked cubins define
	note := func(c Cubin) {
		for _, s := range c.Symbols {
			if s.Defined {
				defined[s.Name] = true
			} else {
				needed = append(needed, need{s.Name, c.Name})
			}
		}
	}
	for i, c := range m.list {
		if m.linked[i] {
			note(c)
		}
	}
	for len(needed) > 0 {
		next := needed[0]
		needed = needed[1:]
		if i, offered := m.offers[next.name]; offered && !defined[next.name] && !inModules(next.name) {
			m.linked[i], pulled = true, true
			m.pulls = append(m.pulls, Pull{m.list[i].Name, next.name, next.by})
			note(m.list[i])
		}
	}
	return pulled
}

// Needs returns the indexes of the members of archives that define one of the names, or that are
// needed by the output of r, the cubins that it links, or other such members.
func (r *Result) Needs(members []Cubin, names ...string) (list []int) {
	linked := slices.DeleteFunc(slices.Clone(r.cubins), func(c Cubin) bool { return c.Archived })
	m := newCubinMembers(append(linked, members...))
	needed, defined := named(names), map[string]bool{}
	for _, s := range r.Symbols() {
		if defined[s.Name] = s.Linkage != "extern"; !defined[s.Name] {
			needed = append(needed, need{name: s.Name})
		}
	}
	for _, s := range r.Removed() { // because a member may still need it
		defined[s.Name] = defined[s.Name] || s.Linkage != ""
	}
	m.supply(needed, func(name string) bool { return defined[name] })
	for _, i := range m.chosen()[len(linked):] {
		list = append(list, i-len(linked))
	}
	return list
}

// settle drops the members that are not linked, and reports whether it dropped any.
func (m *cubinMembers) settle() bool {
	left := m.offers != nil && slices.ContainsFunc(m.list, func(c Cubin) bool { return c.Archived }) && slices.Contains(m.linked, false)
	m.offers = nil
	return left
}

// link reports whether any cubin is linked, or will be compiled.
func (m *cubinMembers) link() bool {
	return slices.Contains(m.linked, true) || slices.ContainsFunc(m.list, func(c Cubin) bool { return c.Offered })
}

// chosen returns the indexes of the linked members.
func (m *cubinMembers) chosen() (list []int) {
	for i, linked := range m.linked {
		if linked {
			list = append(list, i)
		}
	}
	return list
}
