package resolve

import (
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
//     the driver has them.
//  5. These rules are applied in rounds until nothing changes. A round reads, in
//     parallel, the members found by the previous one.
//
// The result is in command-line order, and Live sets Rank to that order and Pulled
// on the members. Units that cannot be read are omitted.
func Live(units []*object.Unit, roots []string, read func([]*object.Unit) error) (live []*object.File, pulls []Pull, err error) {
	l := newSelection(units)
	for _, u := range units {
		if !u.Lazy {
			l.add(u)
		}
	}
	for _, name := range roots {
		l.need(name, false, nil)
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
	for _, u := range units {
		if l.live[u] && u.File != nil {
			u.File.Rank, u.File.Pulled = len(live), u.Lazy
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
	offers  map[string]*object.Unit   // the first lazy unit that defines a name
	more    map[string][]*object.Unit // the other lazy units that define it
	asked   map[string]offer          // what offer has found
	defined map[string]ptx.Linkage    // by live units; other definitions replace a .common one
	live    map[*object.Unit]bool
	next    []*object.Unit
	pulls   []pull
}

type pull struct {
	unit   *object.Unit
	symbol string
	by     *object.File
}

func newSelection(units []*object.Unit) *selection {
	l := &selection{
		offers:  map[string]*object.Unit{},
		more:    map[string][]*object.Unit{},
		defined: map[string]ptx.Linkage{},
		live:    map[*object.Unit]bool{},
		asked:   map[string]offer{},
	}
	for _, u := range units {
		if !u.Lazy {
			continue
		}
		u.Offers(func(name string) {
			if l.offers[name] == nil {
				l.offers[name] = u
			} else {
				l.more[name] = append(l.more[name], u)
			}
		})
	}
	return l
}

// add makes a unit live. Its definitions count at once, so that no other member is
// read for them.
func (l *selection) add(u *object.Unit) {
	l.live[u] = true
	l.next = append(l.next, u)
	if len(l.offers) == 0 {
		return // there is nothing to pull in
	}
	u.Definitions(func(name string, linkage ptx.Linkage) {
		if known, ok := l.defined[name]; !ok || known == ptx.Common {
			l.defined[name] = linkage
		}
	})
}

// needs pulls in what a file needs.
func (l *selection) needs(f *object.File) {
	for n, s := range f.Symbols {
		switch {
		case !s.Exported():
		case !s.Defined() && s.Uses > 0:
			l.need(f.Names[n], false, f)
		case s.Defined() && s.Linkage == ptx.Common:
			l.need(f.Names[n], true, f)
		}
	}
}

// offer is what the lazy units have of one name: the first that defines it .visible
// or .weak, and the first that defines it .common.
type offer struct{ definition, common *object.Unit }

// offer asks the units for a name once.
func (l *selection) offer(name string) offer {
	o, known := l.asked[name]
	if known {
		return o
	}
	for i := -1; i < len(l.more[name]) && o.definition == nil; i++ {
		u := l.offers[name]
		if i >= 0 {
			u = l.more[name][i]
		}
		switch u.Linkage(name) {
		case ptx.Visible, ptx.Weak:
			o.definition = u
		case ptx.Common:
			if o.common == nil {
				o.common = u
			}
		}
	}
	l.asked[name] = o
	return o
}

// need pulls in the member that defines a name. common is set if there is a .common
// definition, which only a stronger one replaces.
func (l *selection) need(name string, common bool, by *object.File) {
	if l.offers[name] == nil || IsSyscall(name) {
		return
	}
	if linkage, ok := l.defined[name]; ok && !(common && linkage == ptx.Common) {
		return
	}
	o := l.offer(name)
	found := o.definition
	if found == nil && !common {
		found = o.common
	}
	if found != nil && !l.live[found] {
		l.pulls = append(l.pulls, pull{found, name, by})
		l.add(found)
	}
}
