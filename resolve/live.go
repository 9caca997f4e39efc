package resolve

import (
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Pull records why an archive member is linked.
type Pull struct {
	File   *object.File // the member
	Symbol string       // the symbol that it was needed for
	By     *object.File // the first file that needed it; nil for a name from the command line
}

// Live decides which archive members are linked, with the rules of mold and lld: an
// archive may come before or after the inputs that need it; only the order of the
// archives matters.
//
//  1. An input that is not from an archive is live.
//  2. If a live input uses an external name that no live input defines, one member
//     that defines it becomes live: the first with a .visible or .weak definition,
//     else the first with a .common one. Unused declarations pull nothing in.
//  3. A live .common definition pulls in the first member that defines the name
//     .visible or .weak.
//  4. The names in roots (-u) pull in members too. System calls pull nothing in:
//     the driver has them. Nor do the names in defined, which something
//     outside the archives provides.
//  5. These rules are applied in rounds until nothing changes. A round reads, in
//     parallel, the members found by the previous one.
//
// The result is in command-line order, and Live sets Rank to that order and Pulled
// on the members. Units that cannot be read are omitted.
//
// redirect is Options.Redirect.
func Live(units []*object.Unit, roots, defined []string, redirect map[string]string, read func([]*object.Unit) error) (live []*object.File, pulls []Pull, err error) {
	l := newSelection(units)
	l.redirect = redirect
	for _, name := range defined {
		if n := l.find(name, sets.Hash(name)); n >= 0 {
			l.wanted[n].live = ptx.Visible
		}
	}
	for i, u := range units {
		if !u.Lazy {
			l.add(int32(i))
		}
	}
	for _, name := range roots {
		l.need(name, sets.Hash(name), false, nil)
	}
	for len(l.next) > 0 {
		round := l.next
		l.next = nil
		if err := read(round); err != nil {
			return nil, nil, err
		}
		for _, u := range round {
			if u.File != nil {
				l.needs(u.File)
			}
		}
	}
	for i, u := range units {
		if l.live[i] && u.File != nil {
			u.File.Rank, u.File.Input, u.File.Pulled = len(live), u.Input, u.Lazy
			live = append(live, u.File)
		}
	}
	for _, p := range l.pulls {
		if p.unit.File != nil {
			pulls = append(pulls, Pull{p.unit.File, p.symbol, p.by})
		}
	}
	return live, pulls, nil
}

// selection is the state of one call of Live.
type selection struct {
	units []*object.Unit
	live  []bool // by unit
	next  []*object.Unit
	pulls []pull

	redirect map[string]string

	names  sets.Table // of the names that lazy units offer
	wanted []wanted   // by number of the name
}

type wanted struct {
	name   string
	offers []offer
	live   ptx.Linkage // of the live definition, or Local; any other definition replaces a .common one
	asked  bool        // definition and common are set
	// definition is the first unit that defines the name .visible or .weak, common the
	// first that defines it .common; -1 if there is none.
	definition, common int32
}

type offer struct {
	unit    int32
	linkage ptx.Linkage // Local if the unit must be asked
}

type pull struct {
	unit   *object.Unit
	symbol string
	by     *object.File
}

func newSelection(units []*object.Unit) *selection {
	l := &selection{units: units, live: make([]bool, len(units)), next: make([]*object.Unit, 0, len(units))}
	for i, u := range units {
		if !u.Lazy {
			continue
		}
		u.Offers(func(name string, hash uint64, linkage ptx.Linkage) {
			n := l.find(name, hash)
			if n < 0 {
				n = l.names.Add(hash)
				l.wanted = append(l.wanted, wanted{name: name, definition: -1, common: -1})
			}
			l.wanted[n].offers = append(l.wanted[n].offers, offer{int32(i), linkage})
		})
	}
	return l
}

func (l *selection) find(name string, hash uint64) int32 {
	return l.names.Find(hash, func(n int32) bool { return l.wanted[n].name == name })
}

// add makes a unit live. Its definitions count at once, so that no other member is
// read for them.
func (l *selection) add(unit int32) {
	u := l.units[unit]
	l.live[unit] = true
	l.next = append(l.next, u)
	if len(l.wanted) == 0 {
		return // because there is nothing to pull in
	}
	u.Definitions(func(name string, hash uint64, linkage ptx.Linkage) {
		if n := l.find(name, hash); n >= 0 {
			if w := &l.wanted[n]; w.live == ptx.Local || w.live == ptx.Common {
				w.live = linkage
			}
		}
	})
}

func (l *selection) needs(f *object.File) {
	if len(l.wanted) == 0 {
		return
	}
	for n, s := range f.Symbols {
		switch {
		case !s.Exported():
		case !s.Defined() && s.Uses > 0:
			if to, ok := l.redirect[f.Names[n]]; ok {
				l.need(to, sets.Hash(to), false, f)
				continue
			}
			l.need(f.Names[n], f.NameHash(ptx.NameID(n)), false, f)
		case s.Defined() && s.Linkage == ptx.Common:
			l.need(f.Names[n], f.NameHash(ptx.NameID(n)), true, f)
		}
	}
}

// ask finds the units whose definitions count.
func (l *selection) ask(w *wanted) {
	w.asked = true
	for _, o := range w.offers {
		if w.definition >= 0 {
			break
		}
		if o.linkage == ptx.Local {
			o.linkage = l.units[o.unit].Linkage(w.name)
		}
		switch o.linkage {
		case ptx.Visible, ptx.Weak:
			w.definition = o.unit
		case ptx.Common:
			if w.common < 0 {
				w.common = o.unit
			}
		}
	}
}

// need pulls in the member that defines a name. common is set if there is a .common
// definition, which only a stronger one replaces.
func (l *selection) need(name string, hash uint64, common bool, by *object.File) {
	n := l.find(name, hash)
	if n < 0 || IsSyscall(name) {
		return
	}
	w := &l.wanted[n]
	if w.live != ptx.Local && !(common && w.live == ptx.Common) {
		return
	}
	if !w.asked {
		l.ask(w)
	}
	found := w.definition
	if found < 0 && !common {
		found = w.common
	}
	if found >= 0 && !l.live[found] { // a unit must be added only once, so that the rounds end
		l.pulls = append(l.pulls, pull{l.units[found], name, by})
		l.add(found)
	}
}
