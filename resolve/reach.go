package resolve

import (
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Roots are what Collect keeps, with all that they refer to.
type Roots struct {
	// Entries lists patterns (path.Match) of the entries that are kept; empty: all.
	Entries []string
	// Exports lists patterns, and Names names, of definitions that are kept.
	Exports, Names []string
	// Variables keeps the variables that the host can look up: those in .global and
	// .const.
	Variables bool
	// Ways records what WhyLive returns.
	Ways bool
}

type reach struct {
	marks   [][]mark                // by file and name
	removed []object.ID             // definitions, in the order of the files
	why     map[object.ID]object.ID // the definition that first led to another

	// Of the roots:
	exports            sets.Globs
	variables, library bool
}

// mark is what Collect knows of a name in a file.
type mark struct {
	live bool // the file has the definition, and it is in the output
	used bool // something in the output uses the name
}

// Collect removes the definitions that no root refers to, directly or through others: by
// the bodies of functions, initial values, aliases and statements that the linker does not
// know. Functions that the host finds by name, as it does entries, are roots. A link
// without a kept entry is a library: all external functions and variables in .shared that
// are not hidden are then roots, too. Debug sections keep nothing.
//
// Without Collect, everything is in the output.
func (t *Table) Collect(r Roots) {
	c := collector{t: t, roots: r, entries: sets.NewGlobs(r.Entries)}
	c.exports, c.variables = sets.NewGlobs(r.Exports), r.Variables
	for _, name := range slices.Concat(r.Names, t.Cubins.needed) {
		c.exports.AddName(name)
	}
	if r.Ways {
		c.why = map[object.ID]object.ID{}
	}
	names := 0
	for _, f := range t.Files {
		names += len(f.Names)
	}
	c.marks = make([][]mark, len(t.Files))
	all := make([]mark, names)
	for i, f := range t.Files {
		c.marks[i], all = all[:len(f.Names)], all[len(f.Names):]
	}
	c.walk.First = func(id object.ID) bool {
		m := &c.marks[id.File][id.Name]
		first := !m.live
		m.live = true
		return first
	}
	c.mark()
	for i, f := range t.Files {
		for n := range f.Symbols {
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if f.Symbols[n].Defined() && !c.marks[i][n].live && t.Chosen(id) {
				c.removed = append(c.removed, id)
			}
		}
	}
	t.reach = &c.reach
}

// Removed returns the definitions that Collect removed, in the order of the files.
func (t *Table) Removed() []object.ID {
	if t.reach == nil {
		return nil
	}
	return t.reach.removed
}

func (t *Table) removed(id object.ID) bool {
	return t.reach != nil && !t.reach.marks[id.File][id.Name].live
}

// Needed reports whether the output uses a symbol that nothing defines.
func (t *Table) Needed(s *Symbol) bool {
	return t.reach == nil || slices.ContainsFunc(s.Mentions, t.used)
}

// Missing calls f with the names that the output uses and may leave undefined, and the first
// module that uses each.
func (t *Table) Missing(f func(name string, by *object.File)) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Open || !t.Needed(s) {
			continue
		}
		by := t.Files[s.Mentions[0].File]
		for _, id := range s.Mentions {
			if t.used(id) && t.Files[id.File].Symbols[id.Name].Uses > 0 {
				by = t.Files[id.File]
				break
			}
		}
		f(s.Name, by)
	}
}

func (t *Table) used(id object.ID) bool {
	return t.reach == nil || t.reach.marks[id.File][id.Name].used
}

// Contributing returns the files except archive members that have nothing in the output, because
// only definitions that Collect removed needed them.
func (t *Table) Contributing() []*object.File {
	idle := func(f *object.File) bool {
		return f.Pulled && len(f.Others) == 0 && !slices.ContainsFunc(t.reach.marks[f.Rank], func(m mark) bool { return m.live })
	}
	if t.reach == nil || !slices.ContainsFunc(t.Files, idle) {
		return t.Files
	}
	if list := slices.DeleteFunc(slices.Clone(t.Files), idle); len(list) > 0 {
		return list
	}
	return t.Files
}

func (t *Table) hidden(id object.ID) bool {
	s := t.Of(id)
	return s != None && t.Symbols[s].Hidden
}

// Kept reports whether the definition that a name refers to is in the output, or may be
// in another module: Collect did not remove it.
func (t *Table) Kept(id object.ID) bool {
	id, ok := t.Definer(id)
	return !ok || !t.Files[id.File].Symbols[id.Name].Defined() || !t.removed(id)
}

// WhyLive returns the way from a root to a definition: the root first, each the user
// of the next. It returns nil if the definition was removed, and needs Roots.Ways. Without Collect, it returns the
// definition.
func (t *Table) WhyLive(id object.ID) (way []object.ID) {
	if t.reach == nil {
		return []object.ID{id}
	}
	if !t.reach.marks[id.File][id.Name].live {
		return nil
	}
	for {
		way = append(way, id)
		by, ok := t.reach.why[id]
		if !ok {
			slices.Reverse(way)
			return way
		}
		id = by
	}
}

// LookedUp is what RootReason returns for variables that Roots.Variables keeps.
const LookedUp = "the host can look it up by its name"

// RootReason returns why a definition is a root. It is the first of a way of WhyLive.
func (t *Table) RootReason(id object.ID) string {
	if t.reach == nil {
		return "everything is kept"
	}
	f, name := t.Files[id.File], id.Name
	switch d := f.DeclOf(name); {
	case t.reach.exports.Match(f.Names[name]):
		return "an option keeps it"
	case d == nil:
	case d.Kind == ptx.Entry:
		return "kernels are kept"
	case d.Kind == ptx.Variable && (d.Space == ".global" || d.Space == ".const") && t.reach.variables:
		return LookedUp
	case FoundByName(f.Names[name], d):
		return "the host finds functions with such a name or attribute"
	}
	if t.reach.library && f.Symbols[name].Exported() {
		return "there is no kernel, so that this is a library"
	}
	return "a statement that ptxlink does not know uses it"
}

type collector struct {
	t       *Table
	roots   Roots
	entries sets.Globs
	walk    sets.Walk[object.ID]
	reach
}

// mark marks what the roots lead to.
func (c *collector) mark() {
	t := c.t
	entries := 0
	var external []object.ID
	for i, f := range t.Files {
		for n := range f.Symbols {
			sym := &f.Symbols[n]
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if !sym.Defined() || !t.Chosen(id) {
				continue
			}
			switch d := f.DeclOf(id.Name); {
			case c.exports.Match(f.Names[n]):
				if d != nil && d.Kind == ptx.Entry {
					entries++
				}
				c.walk.Add(id)
			case d == nil: // an alias without a declaration
			case d.Kind == ptx.Entry:
				if len(c.roots.Entries) == 0 || c.entries.Match(f.Names[n]) {
					entries++
					c.walk.Add(id)
				}
			case d.Kind == ptx.Variable && (d.Space == ".global" || d.Space == ".const"):
				if c.roots.Variables {
					c.walk.Add(id)
				}
			case FoundByName(f.Names[n], d):
				c.walk.Add(id)
			case sym.Exported() && !t.hidden(id):
				external = append(external, id)
			}
		}
		for _, o := range f.Others {
			c.uses(int32(i), f.Uses[o.FirstUse:o.EndUse], nil)
		}
	}
	if c.library = entries == 0; c.library {
		for _, id := range external {
			c.walk.Add(id)
		}
	}
	c.walk.Visit(func(id object.ID) {
		f := t.Files[id.File]
		sym := &f.Symbols[id.Name]
		if sym.Def >= 0 {
			d := &f.Decls[sym.Def]
			c.uses(id.File, f.Uses[d.FirstUse:d.EndUse], &id)
		} else {
			target := f.Aliases[sym.Alias].Target
			if sym.Target >= 0 { // because the output leaves out the aliases between
				target = sym.Target
			}
			c.use(object.ID{File: id.File, Name: target}, &id)
		}
	})
}

// FoundByName reports whether the host can find a function that is not an entry, so that
// it stays as it is: OptiX looks for its callables by the start of their name, and
// cuLibraryGetUnifiedFunction for functions with .attribute(.unified).
func FoundByName(name string, d *ptx.Decl) bool {
	return strings.HasPrefix(name, "__direct_callable__") || strings.HasPrefix(name, "__continuation_callable__") || d.Has(".attribute")
}

func (c *collector) uses(file int32, uses []ptx.Use, by *object.ID) {
	for _, u := range uses {
		c.use(object.ID{File: file, Name: u.Name}, by)
	}
}

// use marks what a name refers to.
func (c *collector) use(id object.ID, by *object.ID) {
	m := &c.marks[id.File][id.Name]
	if m.used {
		return
	}
	m.used = true
	id, ok := c.t.Definer(id)
	if !ok || c.marks[id.File][id.Name].live || !c.t.Files[id.File].Symbols[id.Name].Defined() {
		return
	}
	if by != nil && c.why != nil {
		c.why[id] = *by
	}
	c.walk.Add(id)
}
