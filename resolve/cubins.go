package resolve

import (
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Cubins holds the machine code of a link, which nvlink links with the output, and the names in it.
// The modules and the cubins need each other's definitions, but only the modules are in the output:
// a symbol of the Table that a cubin defines has no Def, and may stay undefined.
//
// Members of archives are linked only if the output or another linked cubin needs them. Until
// Choose has decided which, the others offer their definitions as weak ones, so that no module of
// an archive is linked in their place.
type Cubins struct {
	list   []*object.Cubin
	linked []bool         // by number in list
	offers map[string]int // the first member that defines a name; nil once all members are chosen
	pulls  []CubinPull

	// The names in the linked cubins, and in members that offer theirs.
	defined map[string]CubinSymbol                // the strong definition, otherwise the first weak one
	names   []string                              // the names in defined, in order
	needed  []string                              // names that cubins need and none defines
	users   map[string]*object.Cubin              // the first cubin that needs the name and cannot do without it
	uses    []CubinSymbol                         // symbols that linked cubins need
	shared  map[string]bool                       // names in Symbols, true if a cubin defines it
	bound   []string                              // names that kernels or data of cubins refer to
	kernels []string                              // without linkage
	locals  map[*object.Cubin]map[string][]string // names that functions without linkage use
	clashes [][2]CubinSymbol                      // strong definitions of one name
}

// CubinSymbol is a symbol of a cubin.
type CubinSymbol struct {
	container.CubinSymbol
	Cubin   *object.Cubin
	offered bool // the cubin is not linked
	pulled  bool // the cubin is a linked member of an archive
}

// CubinPull records why a cubin in an archive is linked.
type CubinPull struct {
	Cubin, Symbol string
	By            string // the module or cubin that needs the symbol; empty for the command line
}

// NewCubins returns the cubins of a link before any member of an archive is linked.
func NewCubins(list []*object.Cubin) *Cubins {
	c := &Cubins{list: list, linked: make([]bool, len(list))}
	for i, cubin := range list {
		if c.linked[i] = !cubin.Archived && !cubin.Offered; c.linked[i] || cubin.Offered {
			continue
		}
		for _, s := range cubin.Symbols {
			if _, known := c.offers[s.Name]; s.Defined && !known {
				sets.Put(&c.offers, s.Name, i)
			}
		}
		if c.offers == nil {
			c.offers = map[string]int{}
		}
	}
	c.read()
	return c
}

func (c *Cubins) read() {
	if len(c.list) == 0 {
		return
	}
	*c = Cubins{list: c.list, linked: c.linked, offers: c.offers, pulls: c.pulls, defined: map[string]CubinSymbol{}, users: map[string]*object.Cubin{}, shared: map[string]bool{}, locals: map[*object.Cubin]map[string][]string{}}
	for i, cubin := range c.list {
		switch {
		case c.linked[i]:
			c.define(cubin)
		case c.offers != nil || cubin.Offered:
			for _, s := range cubin.Symbols {
				if s.Weak = true; s.Defined {
					c.add(CubinSymbol{s, cubin, true, false})
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, cubin := range c.Linked() {
		for _, s := range cubin.Symbols {
			if !s.Defined && !s.Dynamic {
				c.uses = append(c.uses, CubinSymbol{s, cubin, false, cubin.Archived})
			}
			if _, found := c.defined[s.Name]; s.Defined || found || MayStayUndefined(s.Name) || OfNvlink(s.Name) {
				continue
			}
			if sets.Add(&seen, s.Name) {
				c.needed = append(c.needed, s.Name)
			}
			if _, known := c.users[s.Name]; !s.Dynamic && !known {
				c.users[s.Name] = cubin
			}
		}
	}
}

func (c *Cubins) define(cubin *object.Cubin) {
	local := map[string][]string{}
	c.locals[cubin] = local
	for _, s := range cubin.Locals {
		if s.Entry {
			c.kernels = append(c.kernels, s.Name)
		} else {
			local[s.Name] = s.Uses
		}
	}
	for _, s := range cubin.Symbols {
		c.shared[s.Name] = c.shared[s.Name] || s.Defined
		if s.Bound {
			c.bound = append(c.bound, s.Name)
		}
		if s.Defined {
			c.add(CubinSymbol{s, cubin, false, cubin.Archived})
		}
	}
}

func (c *Cubins) add(s CubinSymbol) {
	c.shared[s.Name] = true
	first, known := c.defined[s.Name]
	switch {
	case !known:
		c.names = append(c.names, s.Name)
		c.defined[s.Name] = s
	case first.Weak && !s.Weak:
		c.defined[s.Name] = s
	case !first.Weak && !s.Weak:
		c.clashes = append(c.clashes, [2]CubinSymbol{first, s})
	}
}

// Linked returns the linked cubins in order.
func (c *Cubins) Linked() (list []*object.Cubin) {
	for i, cubin := range c.list {
		if c.linked[i] {
			list = append(list, cubin)
		}
	}
	return list
}

// Empty reports whether no cubin is linked, and none will be after it is compiled.
func (c *Cubins) Empty() bool {
	return !slices.Contains(c.linked, true) && !slices.ContainsFunc(c.list, func(cubin *object.Cubin) bool { return cubin.Offered })
}

// Pulls returns why members of archives are linked.
func (c *Cubins) Pulls() []CubinPull { return c.pulls }

// Needed returns the names that linked cubins need and none defines.
func (c *Cubins) Needed() []string { return c.needed }

// Names returns the names that cubins define, also members of archives that may still be linked.
func (c *Cubins) Names() []string { return c.names }

// Uses returns the symbols that linked cubins need.
func (c *Cubins) Uses() []CubinSymbol { return c.uses }

// Definition returns the definition of a name in a linked cubin.
func (c *Cubins) Definition(name string) (CubinSymbol, bool) {
	s, ok := c.defined[name]
	return s, ok && !s.offered
}

// Knows reports whether a cubin defines or needs a name.
func (c *Cubins) Knows(name string) bool {
	_, ok := c.shared[name]
	return ok
}

// wins reports whether a cubin has a weak definition that wins over one in the file, which is then
// not in the output. It must choose as nvlink does: nvlink takes the first of several weak
// definitions.
func (c *Cubins) wins(name string, f *object.File) bool {
	s, defined := c.defined[name]
	switch {
	case !defined || !s.Weak || s.Common || s.offered || !s.Function && s.Size == 0: // a texture
		return false
	case s.pulled != f.Pulled:
		return f.Pulled
	}
	return s.Cubin.At <= f.Input
}

// OfNvlink reports whether nvlink defines a name: the tables of functions and data that cubins
// share, and the shared memory that it reserves.
func OfNvlink(name string) bool {
	return strings.HasPrefix(name, ".nv.") || strings.HasPrefix(name, "__UFT") || strings.HasPrefix(name, "__UDT")
}

// duplicates reports the names with two strong definitions, since nvlink takes only one.
func (c *Cubins) duplicates(t *Table, log *diag.Log) {
	for _, clash := range c.clashes {
		log.Error(diag.DuplicateSymbol, clash[1].Cubin.Place(), "multiple definition of "+log.Name(clash[1].Name)).Of(clash[1].Name).
			Note(clash[0].Cubin.Place(), "first defined here").WithHelp("rename one of the two")
	}
	for _, name := range c.names {
		s, found := t.Lookup(name)
		if in := c.defined[name]; found && s.Defined() && t.Strong(s.Def) && !in.Weak {
			log.Error(diag.DuplicateSymbol, t.place(s.Def), "multiple definition of "+log.Name(name)).Of(name).
				Note(in.Cubin.Place(), "also defined here").WithHelp("rename one of the two")
		}
	}
}

// live returns the names that nvlink keeps, or PTX declares. Others need not be defined, because
// nvlink removes functions that nothing calls, and does not report names that only these need.
func (c *Cubins) live(t *Table) map[string]bool {
	type function struct {
		name  string
		cubin *object.Cubin // of a function without linkage, or nil
	}
	live, seen := map[string]bool{}, map[function]bool{}
	walk := sets.Walk[function]{First: func(f function) bool { return sets.Add(&seen, f) }}
	for _, name := range c.bound {
		walk.Add(function{name, nil})
	}
	for _, name := range c.names {
		if _, found := t.Lookup(name); found {
			walk.Add(function{name, nil})
		}
	}
	walk.Visit(func(f function) {
		s := c.defined[f.name]
		uses, in := s.Uses, s.Cubin
		if f.cubin != nil {
			uses, in = c.locals[f.cubin][f.name], f.cubin
		} else {
			live[f.name] = true
		}
		for _, name := range uses {
			if _, local := c.locals[in][name]; local {
				walk.Add(function{name, in})
			} else {
				walk.Add(function{name, nil})
			}
		}
	})
	return live
}

// undefined reports names that the cubins need and nothing defines.
func (c *Cubins) undefined(t *Table, allowed sets.Globs, log *diag.Log) (missing []Missing) {
	if len(c.needed) == 0 {
		return nil
	}
	kinds := map[string]ptx.DeclKind{}
	for _, use := range c.uses {
		kinds[use.Name] = object.Kind(use.CubinSymbol)
	}
	live := c.live(t)
	for _, name := range c.needed {
		user, used := c.users[name]
		if s, found := t.Lookup(name); !used || !live[name] || found && s.Defined() || allowed.Match(name) {
			continue
		}
		m := log.Error(diag.UndefinedSymbol, user.Place(), "undefined symbol: "+log.Name(name)+", used in this machine code").Of(name)
		missing = append(missing, Missing{Message: m, Name: name, Kind: kinds[name], Machine: true})
	}
	return missing
}

// need is a name, and the module or cubin that needs it, if known.
type need struct{ name, by string }

func named(names []string) (list []need) {
	for _, name := range names {
		list = append(list, need{name: name})
	}
	return list
}

// Choose links the members of archives that the output, the linked cubins or the given names need.
// It reports whether it linked any, because the modules may then need more. If it links none, it
// drops the other members, and reports whether there were any.
func (c *Cubins) Choose(t *Table, names ...string) (again bool) {
	if c.offers == nil {
		return false
	}
	needed := named(names)
	t.Missing(func(name string, by *object.File) { needed = append(needed, need{name, by.Name}) })
	again = c.supply(needed, func(name string) bool {
		s, found := t.Lookup(name)
		return found && s.Defined()
	})
	if !again {
		again, c.offers = slices.Contains(c.linked, false), nil
	}
	if again {
		c.read()
	}
	return again
}

// supply links the members that define a needed name, including the needs of the linked cubins. If
// several define a name, it links the first.
func (c *Cubins) supply(needed []need, inModules func(name string) bool) (pulled bool) {
	defined := map[string]bool{} // names that linked cubins define
	note := func(cubin *object.Cubin) {
		for _, s := range cubin.Symbols {
			if s.Defined {
				defined[s.Name] = true
			} else {
				needed = append(needed, need{s.Name, cubin.Name})
			}
		}
	}
	for _, cubin := range c.Linked() {
		note(cubin)
	}
	for len(needed) > 0 {
		next := needed[0]
		needed = needed[1:]
		if i, offered := c.offers[next.name]; offered && !defined[next.name] && !inModules(next.name) {
			c.linked[i], pulled = true, true
			c.pulls = append(c.pulls, CubinPull{c.list[i].Name, next.name, next.by})
			note(c.list[i])
		}
	}
	return pulled
}

// NeededMembers returns the indexes of the members of archives that define one of the names, or that
// the linked cubins or other such members need for a name that no module defines.
func NeededMembers(linked, members []*object.Cubin, names []string, inModules func(name string) bool) (list []int) {
	c := NewCubins(slices.Concat(linked, members))
	for i := range linked {
		c.linked[i] = true
	}
	c.supply(named(names), inModules)
	for i := range members {
		if c.linked[len(linked)+i] {
			list = append(list, i)
		}
	}
	return list
}
