package dlink

import (
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object/container"
)

// Cubins is the machine code that nvlink links with the PTX.
type Cubins struct {
	List    []container.Cubin // for ptxas.Options.Cubins
	Symbols []link.Cubin      // for link.Options.Cubins
	Pulls   []link.Pull       // why members of archives are linked

	archived *Cubins // members of archives
}

// add adds cubins, or reports why they cannot be read.
func (c *Cubins) add(list []container.Cubin, log *diag.Log) {
	for _, cubin := range list {
		symbols, err := cubin.Symbols()
		if err != nil {
			log.Error(diag.BadContainer, diag.InFile(cubin.Name, 0, 0), "its cubin cannot be read: "+err.Error()).WithHelp("compile it again")
		}
		c.List, c.Symbols = append(c.List, cubin), append(c.Symbols, link.Cubin{Name: cubin.Name, Symbols: symbols})
	}
}

// from reports whether one of the cubins is that of a member of an archive.
func (c *Cubins) from(archive string) bool {
	return slices.ContainsFunc(c.List, func(cubin container.Cubin) bool { return strings.HasPrefix(cubin.Name, archive+"(") })
}

// Offered returns the cubins, and the definitions in members of archives that are not linked
// yet, for the link whose result Pull takes. In that link names of those members may stay
// undefined, and no PTX of an archive is linked for them.
func (c *Cubins) Offered() []link.Cubin {
	return append(slices.Clone(c.Symbols), offered(c.archived.Symbols)...)
}

// offered returns the definitions of members of archives.
func offered(members []link.Cubin) (list []link.Cubin) {
	for _, member := range members {
		offer := link.Cubin{Name: member.Name, Archived: true}
		for _, s := range member.Symbols {
			if s.Weak = true; s.Defined {
				offer.Symbols = append(offer.Symbols, s)
			}
		}
		list = append(list, offer)
	}
	return list
}

// Pull links the members of archives that the modules of a link or the cubins need, or that
// define names of options, of several that define a name the first. It reports whether there are any: then the modules
// may need more. Pulls names the modules that need them if the link has Options.CrossReference.
func (c *Cubins) Pull(r *link.Result, names []string) (pulled bool) {
	pulls := needed(r, names, c.Symbols, c.archived.Symbols)
	taken := map[int]bool{}
	for _, p := range pulls {
		taken[p.member] = true
		c.Pulls = append(c.Pulls, link.Pull{Member: c.archived.List[p.member].Name, Symbol: p.symbol, By: p.by})
		c.List, c.Symbols = append(c.List, c.archived.List[p.member]), append(c.Symbols, c.archived.Symbols[p.member])
	}
	left := &Cubins{}
	for i := range c.archived.List {
		if !taken[i] {
			left.List, left.Symbols = append(left.List, c.archived.List[i]), append(left.Symbols, c.archived.Symbols[i])
		}
	}
	c.archived = left
	return len(pulls) > 0
}

// pull is a member of an archive that something needs, by its place.
type pull struct {
	member     int
	symbol, by string
}

// needed returns the members of archives that define names, or what the modules of a link, the
// cubins or other such members need, in the order of need.
func needed(r *link.Result, names []string, cubins, members []link.Cubin) (taken []pull) {
	offers := map[string]int{} // the first member that defines a name
	for i, member := range members {
		for _, s := range member.Symbols {
			if _, known := offers[s.Name]; s.Defined && !known {
				offers[s.Name] = i
			}
		}
	}
	users := map[string]string{}
	for _, ref := range r.References {
		users[ref.Name] = ref.Modules[0]
	}
	defined := map[string]bool{}
	type need struct{ name, by string }
	var needs []need
	for _, name := range names {
		needs = append(needs, need{name, ""})
	}
	for _, s := range r.Symbols() {
		if s.Linkage == "extern" {
			needs = append(needs, need{s.Name, users[s.Name]})
		} else {
			defined[s.Name] = true
		}
	}
	for _, s := range r.Removed() { // a member may need it yet
		defined[s.Name] = defined[s.Name] || s.Linkage != ""
	}
	note := func(cubin link.Cubin) {
		for _, s := range cubin.Symbols {
			if s.Defined {
				defined[s.Name] = true
			} else {
				needs = append(needs, need{s.Name, cubin.Name})
			}
		}
	}
	for _, cubin := range cubins {
		note(cubin)
	}
	for len(needs) > 0 {
		next := needs[0]
		needs = needs[1:]
		if i, found := offers[next.name]; found && !defined[next.name] {
			taken = append(taken, pull{i, next.name, next.by})
			note(members[i])
		}
	}
	return taken
}
