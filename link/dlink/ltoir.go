package dlink

import (
	"fmt"
	"path"
	"slices"

	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
)

// LTOIR is the LTO-IR of a link, which becomes PTX in two steps:
//
//  1. Each unit is compiled alone (Apart), so that the link checks every call and object
//     between them and names the file, and takes only what it needs of archives.
//  2. What the link needs is compiled together (Together), as NVIDIA's tools do, which moves
//     code across the units.
type LTOIR struct {
	Units []container.LTOIR

	at       []int // the place of each unit among the modules
	archives map[int]bool
}

// add adds the units of a file, and returns the places for their PTX, the first of which is
// at among the modules. An archive has one place.
func (l *LTOIR) add(at int, name string, units []container.LTOIR, archive, whole bool) (places []link.Input) {
	if archive {
		if l.archives == nil {
			l.archives = map[int]bool{}
		}
		l.archives[at] = true
		places = []link.Input{{Name: name, WholeArchive: whole}}
	}
	named := map[string]int{}
	for _, u := range units {
		if archive {
			member := path.Base(u.Name[len(name)+1 : len(u.Name)-1])
			if named[member]++; named[member] > 1 { // of ld -r, or members of one name
				member = fmt.Sprintf("%s#%d", member, named[member])
			}
			u.Name = name + "(" + member + ")"
		} else {
			places = append(places, link.Input{Name: u.Name})
		}
		l.at = append(l.at, at+len(places)-1)
		l.Units = append(l.Units, u)
	}
	return places
}

// Arch returns the highest GPU of the units: what to compile for if the link names none.
func (l *LTOIR) Arch() string {
	var best object.GPU
	for _, u := range l.Units {
		if t, ok := object.ParseGPU(u.Target); ok && t.Number > best.Number {
			best = t
		}
	}
	return best.String()
}

// Apart returns the modules with the PTX of each unit at its place.
func (l *LTOIR) Apart(modules []link.Input, texts [][]byte) ([]link.Input, error) {
	modules = append([]link.Input(nil), modules...)
	members := map[int][]container.ArchiveMember{}
	for i, at := range l.at {
		if !l.archives[at] {
			modules[at].Text = texts[i]
			continue
		}
		unit := l.Units[i].Name
		members[at] = append(members[at], container.ArchiveMember{Name: unit[len(modules[at].Name)+1 : len(unit)-1], Data: texts[i]})
	}
	for at, list := range members {
		data, err := container.WriteArchive(list, false)
		if err != nil {
			return nil, err
		}
		modules[at].Text = data
	}
	return modules, nil
}

// Linked returns the units that a link of the modules of Apart has taken.
func (l *LTOIR) Linked(r *link.Result) (units []container.LTOIR) {
	linked := map[string]bool{}
	for _, m := range r.Modules {
		linked[m.Name] = true
	}
	for _, u := range l.Units {
		if linked[u.Name] {
			units = append(units, u)
		}
	}
	return units
}

// Described returns what the map says of units that are compiled together, of which r is the link of
// each alone.
func (l *LTOIR) Described(r *link.Result, units []container.LTOIR) (list []link.Unit) {
	defines := map[string][]string{}
	for _, s := range slices.Concat(r.Symbols(), r.Dropped(), r.Removed()) {
		defines[s.Module] = append(defines[s.Module], s.Name)
	}
	for _, u := range units {
		list = append(list, link.Unit{Name: u.Name, Target: u.Target, Bytes: len(u.Data), Module: together(units), Defines: defines[u.Name]})
	}
	return list
}

// together returns the name of the module of several units.
func together(units []container.LTOIR) string {
	return fmt.Sprintf("<LTO-IR of %s and %d more>", units[0].Name, len(units)-1)
}

// Together returns the modules with the text of the linked units in place of all.
func (l *LTOIR) Together(modules []link.Input, linked []container.LTOIR, text []byte) (list []link.Input) {
	first, places := l.at[0], map[int]bool{}
	for _, at := range l.at {
		places[at] = true
	}
	for at, in := range modules {
		if at == first {
			list = append(list, link.Input{Name: together(linked), Text: text})
		}
		if !places[at] {
			list = append(list, in)
		}
	}
	return list
}
