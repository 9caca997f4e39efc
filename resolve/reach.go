package resolve

import (
	"slices"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Roots are what a program is entered by: what Collect keeps with all that it refers
// to.
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

// reach is the result of Collect. All lists are by file and name.
type reach struct {
	removed [][]bool    // definitions
	unused  [][]bool    // names that nothing in the output uses
	list    []object.ID // the removed definitions, in the order of the files
	why     map[object.ID]object.ID
}

// Collect removes the definitions that no root leads to: uses in the bodies of
// functions, in initial values, by aliases and by statements that the linker does not
// know are followed. A link without a kept entry is a library of functions: all
// external ones are then roots, too. Debug sections keep nothing.
//
// Without Collect, everything is in the output.
func (t *Table) Collect(r Roots) {
	c := collector{t: t, roots: r, exports: newPatterns(slices.Concat(r.Exports, r.Names)), entries: newPatterns(r.Entries)}
	c.live, c.used = make([][]bool, len(t.Files)), make([][]bool, len(t.Files))
	for i, f := range t.Files {
		c.live[i], c.used[i] = make([]bool, len(f.Names)), make([]bool, len(f.Names))
	}
	if r.Ways {
		c.why = map[object.ID]object.ID{}
	}
	c.mark()
	t.reach = &reach{removed: c.live, unused: c.used, why: c.why}
	for i, f := range t.Files {
		for n := range f.Symbols {
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			kept := c.live[i][n]
			c.live[i][n] = f.Symbols[n].Defined() && !kept
			c.used[i][n] = !c.used[i][n]
			if c.live[i][n] && t.Chosen(id) {
				t.reach.list = append(t.reach.list, id)
			}
		}
	}
}

// HasEntry reports whether some file has an entry that matches a pattern (path.Match).
func (t *Table) HasEntry(glob string) bool {
	p := newPatterns([]string{glob})
	for _, f := range t.Files {
		for i := range f.Decls {
			if d := &f.Decls[i]; d.Kind == ptx.Entry && d.HasBody && p.match(f.Names[d.Name]) {
				return true
			}
		}
	}
	return false
}

// Removed returns the definitions that Collect removed, in the order of the files.
func (t *Table) Removed() []object.ID {
	if t.reach == nil {
		return nil
	}
	return t.reach.list
}

// removed reports whether Collect removed a definition.
func (t *Table) removed(id object.ID) bool {
	return t.reach != nil && t.reach.removed[id.File][id.Name]
}

// Needed reports whether the output uses a symbol that nothing defines.
func (t *Table) Needed(s *Symbol) bool {
	return t.reach == nil || slices.ContainsFunc(s.Mentions, func(id object.ID) bool { return !t.reach.unused[id.File][id.Name] })
}

// WhyLive returns the way from a root to a definition: the root first, each the user
// of the next. It returns nil if the definition was removed, and needs Roots.Ways.
func (t *Table) WhyLive(id object.ID) (way []object.ID) {
	if t.reach == nil || t.reach.removed[id.File][id.Name] {
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

type collector struct {
	t                *Table
	roots            Roots
	exports, entries patterns
	live, used       [][]bool
	why              map[object.ID]object.ID // the definition that first led to another
	queue            []object.ID
}

// mark marks what the roots lead to.
func (c *collector) mark() {
	t := c.t
	entries := 0
	var functions []object.ID // external
	for i, f := range t.Files {
		for n := range f.Symbols {
			sym := &f.Symbols[n]
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if !sym.Defined() || !t.Chosen(id) {
				continue
			}
			switch d := f.DeclOf(id.Name); {
			case c.exports.match(f.Names[n]):
				c.add(id)
			case d == nil: // an alias without a declaration
			case d.Kind == ptx.Entry:
				if len(c.roots.Entries) == 0 || c.entries.match(f.Names[n]) {
					entries++
					c.add(id)
				}
			case d.Kind == ptx.Variable:
				if c.roots.Variables && (d.Space == ".global" || d.Space == ".const") {
					c.add(id)
				}
			case sym.Exported():
				functions = append(functions, id)
			}
		}
		for _, o := range f.Others {
			c.uses(int32(i), f.Uses[o.FirstUse:o.EndUse], nil)
		}
	}
	if entries == 0 {
		for _, id := range functions {
			c.add(id)
		}
	}
	for len(c.queue) > 0 {
		id := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		f := t.Files[id.File]
		sym := &f.Symbols[id.Name]
		if sym.Def >= 0 {
			d := &f.Decls[sym.Def]
			c.uses(id.File, f.Uses[d.FirstUse:d.EndUse], &id)
		} else {
			target := f.Aliases[sym.Alias].Target
			if sym.Target >= 0 { // the output leaves out aliases between
				target = sym.Target
			}
			c.use(object.ID{File: id.File, Name: target}, &id)
		}
	}
}

func (c *collector) add(id object.ID) {
	c.live[id.File][id.Name] = true
	c.queue = append(c.queue, id)
}

func (c *collector) uses(file int32, uses []ptx.Use, by *object.ID) {
	for _, u := range uses {
		c.use(object.ID{File: file, Name: u.Name}, by)
	}
}

// use marks what a name refers to.
func (c *collector) use(id object.ID, by *object.ID) {
	if c.used[id.File][id.Name] {
		return
	}
	c.used[id.File][id.Name] = true
	if s := c.t.Of(id); s != None {
		if id = c.t.Symbols[s].Def; id.File < 0 {
			return
		}
	}
	if c.live[id.File][id.Name] || !c.t.Files[id.File].Symbols[id.Name].Defined() {
		return
	}
	if by != nil && c.why != nil {
		c.why[id] = *by
	}
	c.add(id)
}
