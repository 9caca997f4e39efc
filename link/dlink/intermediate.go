package dlink

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
)

// Intermediate is the intermediate code of a link, LTO-IR or LLVM bitcode, which becomes PTX
// in two steps:
//
//  1. Each unit is compiled alone (Apart), because only then the link can check calls and
//     objects between units, name the file in messages, and take only what it needs of archives.
//  2. The units that the link needs are compiled together (Together), as NVIDIA's and LLVM's tools
//     do, so that the compiler can move code across units.
type Intermediate struct {
	Units []container.Unit
	// Unchecked is set if members of archives need only be compiled together, because their
	// compiler has compared the types of functions. Members that cannot be compiled alone are also
	// only compiled together.
	Unchecked bool
	// Quick is set if units compiled alone are only checked.
	Quick bool

	at       []int // the place of each unit among the modules
	archives map[int]bool
	texts    [][]byte // PTX of the units compiled so far
	lazy     []bool   // units that are compiled only if something needs them
	offered  []bool   // units that nothing is known to need yet
	failed   []bool   // units that cannot be compiled alone
}

// add adds the units of a file, and returns the places for their PTX. The first place is at among
// the modules. An archive has one place.
func (c *Intermediate) add(at int, name string, units []container.Unit, archive, whole bool) (places []link.Input) {
	if archive {
		sets.Put(&c.archives, at, true)
		places = []link.Input{{Name: name, WholeArchive: whole}}
	}
	named := map[string]int{}
	for _, u := range units {
		if archive {
			member := path.Base(u.Name[len(name)+1 : len(u.Name)-1])
			if named[member]++; named[member] > 1 { // names from ld -r, or of members, may be equal
				member = fmt.Sprintf("%s#%d", member, named[member])
			}
			u.Name = name + "(" + member + ")"
		} else {
			places = append(places, link.Input{Name: u.Name})
		}
		c.at = append(c.at, at+len(places)-1)
		c.Units = append(c.Units, u)
		// The names in LTO-IR are not known before it is compiled, so it cannot wait until
		// something needs it.
		c.lazy = append(c.lazy, archive && !whole && u.Bitcode != nil)
		c.offered = append(c.offered, c.lazy[len(c.lazy)-1])
		c.failed = append(c.failed, false)
	}
	c.texts = make([][]byte, len(c.Units))
	return places
}

// preferFor sorts the members of an archive: members for the newest GPU whose code runs on gpu come
// first. The order matters because LLVM 19 has one archive with its OpenMP runtime for each GPU, in
// which all members define the same names.
func preferFor(gpu object.GPU, members []container.Unit) {
	slices.SortStableFunc(members, func(a, b container.Unit) int {
		fit := func(u container.Unit) int {
			if t, ok := object.ParseGPU(u.Target); !ok || gpu.Runs(t) {
				return t.Number
			}
			return -1
		}
		return cmp.Compare(fit(b), fit(a))
	})
}

// deferInline moves the units that would be empty when compiled alone, because they have only
// inline functions, to Together. They are libraries, like archives.
func (c *Intermediate) deferInline() {
	for i, u := range c.Units {
		if u.Bitcode != nil && u.Bitcode.OnlyInline() {
			sets.Put(&c.archives, c.at[i], true)
			c.lazy[i], c.offered[i], c.failed[i] = true, true, true
		}
	}
}

// deferred reports whether units remain that only Together can compile.
func (c *Intermediate) deferred() bool { return slices.Contains(c.failed, true) }

// hidden reports whether a unit is taken without being among the modules, because it is only
// compiled together.
func (c *Intermediate) hidden(i int) bool {
	return c.lazy[i] && !c.offered[i] && (c.Unchecked || c.failed[i])
}

// next returns the numbers of the units that must be compiled alone now. Members of archives come
// last, and members is set for them, because members that cannot be compiled are left to Together.
func (c *Intermediate) next() (list []int, members bool) {
	for i := range c.Units {
		if c.offered[i] || c.texts[i] != nil || c.hidden(i) || c.lazy[i] && len(list) > 0 && !members {
			continue
		}
		if !c.lazy[i] && members {
			list, members = nil, false
		}
		list, members = append(list, i), c.lazy[i]
	}
	return list, members
}

// Offered returns the members of archives that are not compiled yet, for link.Options.Cubins.
func (c *Intermediate) Offered() []*object.Cubin { return offered(c.members()) }

func offered(members []*object.Cubin) []*object.Cubin {
	for _, member := range members {
		member.Offered = true
	}
	return members
}

// Hidden returns the members of archives that are taken without being among the modules.
func (c *Intermediate) Hidden() []*object.Cubin {
	var list []*object.Cubin
	for i, u := range c.Units {
		if c.hidden(i) {
			list = append(list, symbols(u, nil))
		}
	}
	return offered(list)
}

// symbols returns the names of a unit, without its definitions of the names in defined.
func symbols(u container.Unit, defined map[string]bool) *object.Cubin {
	member := &object.Cubin{Cubin: container.Cubin{Name: u.Name}, Archived: true}
	for _, s := range u.Bitcode.Symbols {
		if !s.Defined || !defined[s.Name] {
			member.Symbols = append(member.Symbols, container.CubinSymbol{Name: s.PTXName(), Defined: s.Defined, Weak: true})
		}
	}
	return member
}

// members returns the members of archives that are not compiled yet. A definition is omitted if a
// compiled unit defines the name too, because that unit is linked instead.
func (c *Intermediate) members() (list []*object.Cubin) {
	defined := map[string]bool{}
	for i, u := range c.Units {
		if c.offered[i] || u.Bitcode == nil {
			continue
		}
		for _, s := range u.Bitcode.Symbols {
			defined[s.Name] = defined[s.Name] || s.Defined
		}
	}
	for i, u := range c.Units {
		if c.offered[i] {
			list = append(list, symbols(u, defined))
		}
	}
	return list
}

// Pull takes the members of Offered that the result of a link needs, or that define one of the
// names, which options ask for. It takes all members if there is no result. It reports whether it
// took any.
func (c *Intermediate) Pull(r *link.Result, names []string) (pulled bool) {
	var members []int // the units of c.members
	for i := range c.Units {
		if c.offered[i] {
			members = append(members, i)
		}
	}
	if r == nil {
		clear(c.offered)
		return len(members) > 0
	}
	list := needed(r, c.members(), names)
	for _, k := range list {
		c.offered[members[k]] = false
	}
	return len(list) > 0
}

// Arch returns the GPU to compile for: link, the GPU of the link, otherwise the highest GPU of the
// units, or "". Members of archives count only if all units are members.
func (c *Intermediate) Arch(link string) string {
	var best object.GPU
	members := !slices.Contains(c.lazy, false)
	for i, u := range c.Units {
		if t, ok := object.ParseGPU(u.Target); ok && t.Number > best.Number && link == "" && (members || !c.lazy[i]) {
			best = t
		}
	}
	if best.Number > 0 {
		link = best.String()
	}
	return object.RealArch(link)
}

// Apart returns the modules with the PTX of each unit at its place.
func (c *Intermediate) Apart(modules []link.Input) ([]link.Input, error) {
	modules = append([]link.Input(nil), modules...)
	members := map[int][]container.ArchiveMember{}
	for i, at := range c.at {
		if !c.archives[at] {
			modules[at].Text = c.texts[i]
			continue
		}
		list, unit := members[at], c.Units[i].Name
		if c.texts[i] != nil {
			list = append(list, container.ArchiveMember{Name: unit[len(modules[at].Name)+1 : len(unit)-1], Data: c.texts[i]})
		}
		members[at] = list // also if the list is empty
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

// Outside describes the uses of names of intermediate code outside the modules of a link.
type Outside struct {
	All       bool     // anything may be used
	Names     []string // names that must be kept
	Variables bool     // the host looks up variables, so all must be kept
	Cubins    []*object.Cubin
}

// Linked returns the units that a link of the modules of Apart, with Options.CrossReference, has
// taken. Archive is set for members of archives that only other units use, because the compiler
// need keep only the parts of them that these units use.
func (c *Intermediate) Linked(r *link.Result, o Outside) (units []container.Unit) {
	ours, linked := map[string]bool{}, map[string]bool{}
	for _, u := range c.Units {
		ours[u.Name] = true
	}
	for _, m := range r.Modules {
		linked[m.Name] = true
	}
	seen, names := map[string]bool{}, map[string]bool{} // units and names that are used outside
	for _, s := range r.Symbols() {
		if s.Kind == "entry" || o.Variables && s.Kind == "object" && s.Linkage != "" && (s.Space == "global" || s.Space == "const") {
			seen[s.Module] = true
		}
	}
	for _, name := range o.Names {
		names[name] = true
	}
	for _, cubin := range o.Cubins {
		for _, s := range cubin.Symbols {
			names[s.Name] = true
		}
	}
	for _, ref := range r.References {
		if slices.ContainsFunc(ref.Modules, func(module string) bool { return !ours[module] }) {
			names[ref.Name] = true
		}
	}
	hidden := c.deferred() || c.Unchecked
	from := map[string]int{} // the place of the archive that a member is taken from
	for i, u := range c.Units {
		if !linked[u.Name] && !(hidden && c.lazy[i] && !c.offered[i]) { // a hidden unit may need it
			continue
		}
		if at := c.at[i]; c.archives[at] { // because an archive may be given twice: -la -lb -la
			if c.offered[i] {
				continue
			}
			if other, taken := from[u.Name]; taken && other != at {
				continue
			}
			from[u.Name] = at
		}
		u.Archive = c.lazy[i] && !o.All && !seen[u.Name]
		if u.Bitcode != nil {
			for _, s := range u.Bitcode.Symbols {
				if s.Defined && names[s.PTXName()] {
					u.Archive = false
					if s.Inline {
						u.Kept = append(u.Kept, s.Name)
					}
				}
			}
		}
		units = append(units, u)
	}
	return units
}

// Described returns the units that are compiled together, for the map; r is the link of their separate modules.
func (c *Intermediate) Described(r *link.Result, units []container.Unit) (list []link.Unit) {
	defines := map[string][]string{}
	for _, s := range slices.Concat(r.Symbols(), r.Dropped(), r.Removed()) {
		defines[s.Module] = append(defines[s.Module], s.Name)
	}
	for _, u := range units {
		list = append(list, link.Unit{Name: u.Name, Form: u.Form(), Target: u.Target, Bytes: len(u.Data), Module: ModuleOf(units), Defines: defines[u.Name]})
	}
	return list
}

// ModuleOf returns the name of the module that units are compiled to.
func ModuleOf(units []container.Unit) string {
	if len(units) == 1 {
		return units[0].Name
	}
	return fmt.Sprintf("<%s of %s and %d more>", units[0].Form(), units[0].Name, len(units)-1)
}

// Together returns the modules with the text of the linked units in the place of the first unit,
// and empty places for the others. Filled must drop the empty places when all code is compiled.
// Archives stay if no member of them is linked.
func (c *Intermediate) Together(modules []link.Input, linked []container.Unit, text []byte) []link.Input {
	modules = append([]link.Input(nil), modules...)
	taken := map[string]bool{}
	for _, u := range linked {
		taken[u.Name] = true
	}
	first := -1
	for i, at := range c.at {
		if taken[c.Units[i].Name] && first < 0 {
			first = at
		}
		if taken[c.Units[i].Name] || !c.archives[at] {
			modules[at] = link.Input{}
		}
	}
	modules[first] = link.Input{Name: ModuleOf(linked), Text: text}
	return modules
}

// Filled returns the modules without empty places.
func Filled(modules []link.Input) []link.Input {
	return slices.DeleteFunc(modules, func(in link.Input) bool { return in.Name == "" && in.Path == "" })
}
