package resolve

import (
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Pull says why an archive member is linked.
type Pull struct {
	File   *object.File // the member
	Symbol string       // what it was needed for
	By     *object.File // who needed it first; nil for a name of the command line
}

// Live decides which archive members are linked, as mold and lld do: it does not
// matter whether an archive stands before or behind what needs it, only which
// archive stands first.
//
//  1. An input that came out of no archive is live.
//  2. A live input that uses an external name which no live input defines makes
//     a member that defines it live: the first that does so .visible or .weak,
//     else the first that does so .common. A declaration that nothing uses
//     pulls nothing in.
//  3. A live .common definition makes the first member live that defines the
//     name .visible or .weak.
//  4. So do the names in roots (-u). System calls pull nothing in: the driver
//     has them.
//  5. This goes on in rounds, until nothing changes. A round reads the members
//     that the one before found, all at a time.
//
// The result keeps command-line order, which Rank is set to; Pulled marks the
// members. A unit that cannot be read is left out.
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

// selection is the work of one Live.
type selection struct {
	offers  map[string]*object.Unit   // the first lazy unit that defines a name
	more    map[string][]*object.Unit // and the others
	defined map[string]ptx.Linkage    // by live units; a definition takes the place of a .common one
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

// add makes a unit live. What it defines counts at once, so that nothing else is
// read for that.
func (l *selection) add(u *object.Unit) {
	l.live[u] = true
	l.next = append(l.next, u)
	u.Definitions(func(name string, linkage ptx.Linkage) {
		if known, ok := l.defined[name]; !ok || known == ptx.Common {
			l.defined[name] = linkage
		}
	})
}

// needs makes live what a file needs.
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

// need makes the member live that a name asks for. common says that there is a
// .common definition, which only a better one takes the place of.
func (l *selection) need(name string, common bool, by *object.File) {
	first := l.offers[name]
	if first == nil || IsSyscall(name) {
		return
	}
	if linkage, ok := l.defined[name]; ok && !(common && linkage == ptx.Common) {
		return
	}
	var found *object.Unit
	for i := -1; i < len(l.more[name]); i++ {
		u := first
		if i >= 0 {
			u = l.more[name][i]
		}
		linkage := u.Linkage(name)
		if linkage == ptx.Visible || linkage == ptx.Weak {
			found = u
			break
		}
		if linkage == ptx.Common && !common && found == nil {
			found = u
		}
	}
	if found != nil && !l.live[found] {
		l.pulls = append(l.pulls, pull{found, name, by})
		l.add(found)
	}
}
