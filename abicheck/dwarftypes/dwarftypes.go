// Package dwarftypes, of use to this module only, compares the types that the DWARF of
// several modules describes.
package dwarftypes

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

// Check compares the structures, classes and unions that the DWARF of several
// modules describes under one name, and warns if their layouts differ: one module
// would misread data that the other writes (PTX Interoperability 1.3 and 5). It
// does not compare what compilers describe differently for the same type:
//
//  1. names of member types, qualifiers, the order of members
//  2. tables of virtual functions, virtual and empty bases, static members
//  3. names of members at the same place, and union members that only one module
//     has
//  4. types without a name, or local to a function or unnamed namespace, and
//     templates of such types
//  5. alignment, unless the compiler records it
//
// In C, structures of one name may be different types. If one of the modules is C,
// the type is compared only if it is part of the declaration of a function or
// variable that both share. Types of other languages are not compared.
func Check(t *resolve.Table, log *diag.Log) {
	var described []*object.File
	for _, f := range t.Files {
		if f.Debug {
			described = append(described, f)
		}
	}
	if len(described) < 2 {
		return
	}
	c := typeChecker{log: log, known: map[string][]*typeVariant{}}
	for _, f := range described {
		if d := readDebug(f, false); d != nil {
			c.add(d)
		}
	}
	c.finish()
}

type typeChecker struct {
	log    *diag.Log
	known  map[string][]*typeVariant
	warned []warnedType
}

// typeVariant is one layout of a name. Its first type represents the others.
type typeVariant struct{ types []*debugType }

type warnedType struct {
	message     *diag.Message
	here, there *typeVariant
	same        bool // one declaration, two layouts
}

func (c *typeChecker) add(d *debugInfo) {
	done := map[string]bool{}
	for _, t := range d.types {
		if !done[t.name] {
			done[t.name] = true
			c.compare(t)
		}
	}
}

// compare adds a type to its layout, or warns about the first layout that it
// differs from.
func (c *typeChecker) compare(t *debugType) {
	variants := c.known[t.name]
	differences := make([]*typeDifference, len(variants))
	for i, v := range variants {
		if differences[i] = differenceOf(t, v.types[0]); differences[i] == nil {
			v.types = append(v.types, t)
			return
		}
	}
	own := &typeVariant{[]*debugType{t}}
	c.known[t.name] = append(variants, own)
	for i, v := range variants {
		for _, other := range v.types {
			if related(t, other) {
				if other != v.types[0] { // related only to this one
					differences[i] = differenceOf(t, other)
				}
				if differences[i] != nil {
					c.warn(t, other, differences[i], own, v)
				}
				return
			}
		}
	}
}

// related reports whether the two must be one type.
func related(a, b *debugType) bool {
	return a.language() == langCxx && b.language() == langCxx ||
		a.in.shares(a.name, b.in.file) || b.in.shares(b.name, a.in.file)
}

func (t *debugType) language() language { return t.in.dies[t.die].unit.language }

func (t *debugType) kind() string { return kinds[t.in.dies[t.die].tag] }

var kinds = map[dwarf.Tag]string{dwarf.TagUnionType: "union", dwarf.TagClassType: "class", dwarf.TagStructType: "struct"}

// place returns the module and a note with a line in its source, or the place of the DIE in the PTX if
// the line is unknown.
func (t *debugType) place(line sourceLine) (at diag.Place, source []diag.Remark) {
	if path := t.in.path(line); path != "" {
		return t.in.file.At(diag.Span{}), []diag.Remark{{Place: diag.InFile(path, int(line.line), 0), Text: "source line of " + t.kind() + " " + t.name}}
	}
	return t.in.file.At(t.in.file.SectionSpan(".debug_info", t.in.dies[t.die].off)), nil
}

func (c *typeChecker) warn(t, other *debugType, d *typeDifference, here, there *typeVariant) {
	lineA, lineB := d.lineA, d.lineB
	if lineA.file == 0 {
		lineA = t.line
	}
	if lineB.file == 0 {
		lineB = other.line
	}
	text := fmt.Sprintf("%s %s in %s but %s in %s", d.what, d.here, t.in.file.Name, d.there, other.in.file.Name)
	if d.more != "" {
		text += "; " + d.more
	}
	at, source := t.place(lineA)
	m := c.log.Warn(diag.ODR, at, text)
	m.Notes = source
	a, b := t.in.path(lineA), other.in.path(lineB)
	same := a != "" && a == b && lineA.line == lineB.line
	if !same {
		at, source = other.place(lineB)
		m.Note(at, fmt.Sprintf("%s %s as %s has it", other.kind(), other.name, other.in.file.Name))
		m.Notes = append(m.Notes, source...)
	}
	c.warned = append(c.warned, warnedType{m, here, there, same})
}

// finish adds notes on the other modules that have each layout.
func (c *typeChecker) finish() {
	for _, w := range c.warned {
		help := "compile both modules with one declaration"
		if w.same {
			help = "both come from one declaration; compile both modules with the same macros and options"
		}
		if others := namesOf(w.here.types[1:]); others != "" {
			help += "; as here: " + others
		}
		if others := namesOf(w.there.types[1:]); others != "" {
			help += "; as in " + w.there.types[0].in.file.Name + ": " + others
		}
		w.message.WithHelp(help)
	}
}

func namesOf(types []*debugType) string {
	var names []string
	for i, t := range types {
		if i == 3 && len(types) > 4 {
			return strings.Join(names, ", ") + " and " + strconv.Itoa(len(types)-3) + " more"
		}
		names = append(names, t.in.file.Name)
	}
	return strings.Join(names, ", ")
}

// typeDifference describes how a type differs: what here ... but there ...
type typeDifference struct {
	what, here, there string
	more              string // the member that causes the difference in size
	lineA, lineB      sourceLine
}

// differenceOf returns the most useful difference between two types, or nil if
// there is none.
func differenceOf(a, b *debugType) *typeDifference {
	what := a.kind() + " " + a.name
	if (a.kind() == "union") != (b.kind() == "union") {
		return &typeDifference{what: what, here: "is a " + a.kind(), there: "a " + b.kind()}
	}
	m := memberDifference(a, b)
	if a.size != b.size {
		d := &typeDifference{what: what, here: "has " + abicheck.Plural(int(a.size), "byte"), there: itoa(b.size)}
		if m != nil {
			if m.ofType {
				m.what = "it"
			}
			d.more = m.what + " " + m.here + " in the first but " + m.there + " in the second"
		}
		return d
	}
	if m != nil {
		if !m.ofType {
			m.what += " of " + what
		}
		return &m.typeDifference
	}
	if x, y := a.alignment(), b.alignment(); x != y && x != 0 && y != 0 {
		return &typeDifference{what: what, here: "is aligned to " + itoa(x), there: "to " + itoa(y)}
	}
	return nil
}

type differentMember struct {
	typeDifference
	bit    int64
	ofType bool // of the type itself: a member is missing
}

// memberDifference returns the first member, by position, that differs.
func memberDifference(a, b *debugType) *differentMember {
	var list []*differentMember
	for i := range a.members {
		x := &a.members[i]
		if y := b.member(x); y == nil {
			if b.lacks(x) {
				list = append(list, &differentMember{typeDifference{what: a.kind() + " " + a.name, here: "has a member " + x.name + " " + x.at(), there: "none", lineA: x.line}, x.bit, true})
			}
		} else if d := x.differs(y); d != nil {
			d.what, d.lineA, d.lineB = x.what(), x.line, y.line
			list = append(list, &differentMember{*d, x.bit, false})
		}
	}
	for i := range b.members {
		y := &b.members[i]
		if a.member(y) == nil && a.lacks(y) {
			list = append(list, &differentMember{typeDifference{what: a.kind() + " " + a.name, here: "has no member " + y.name, there: "one " + y.at(), lineB: y.line}, y.bit, true})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return slices.MinFunc(list, func(x, y *differentMember) int { return cmp.Compare(x.bit, y.bit) })
}

func (t *debugType) member(x *debugMember) *debugMember {
	for i := range t.members {
		if y := &t.members[i]; y.name == x.name && y.base == x.base {
			return y
		}
	}
	return nil
}

// lacks reports whether t has nothing at the place of a member of the other type. A
// different name at the same place does not count, because it does not affect a program.
func (t *debugType) lacks(x *debugMember) bool {
	if x.loose || len(t.members) == 0 {
		return false
	}
	return !slices.ContainsFunc(t.members, func(y debugMember) bool {
		return y.bit == x.bit && (y.bits() == x.bits() || y.bits() < 0)
	})
}

// bits returns the width of the member; negative if unknown.
func (x *debugMember) bits() int64 {
	if x.width > 0 {
		return x.width
	}
	return 8 * x.size
}

func (x *debugMember) what() string {
	switch {
	case x.base:
		return "base " + x.name
	case x.width > 0:
		return "bit field " + x.name
	}
	return "member " + x.name
}

// at returns the position, in words.
func (x *debugMember) at() string {
	if x.width > 0 {
		return fmt.Sprintf("at bit %d of byte %d", x.bit%8, x.bit/8)
	}
	return "at byte " + itoa(x.bit/8)
}

func (x *debugMember) differs(y *debugMember) *typeDifference {
	field := x.width > 0 || y.width > 0
	switch {
	case x.bit >= 0 && y.bit >= 0 && x.bit != y.bit:
		return &typeDifference{here: "is " + x.at(), there: y.at()}
	case field && (x.bits() == y.bits() || x.bits() < 0 || y.bits() < 0):
		// This is not a difference, because the declared type of a bit field does not determine its
		// place, and nvcc turns one that fills a number into a plain member: short s : 16.
		return nil
	case x.width > 0 && y.width > 0:
		return &typeDifference{here: "has " + abicheck.Plural(int(x.width), "bit"), there: itoa(y.width)}
	case x.width > 0:
		return &typeDifference{here: "is a bit field", there: "not"}
	case y.width > 0:
		return &typeDifference{here: "is not a bit field", there: "one"}
	case x.size >= 0 && y.size >= 0 && x.size != y.size:
		return &typeDifference{here: "has " + abicheck.Plural(int(x.size), "byte"), there: itoa(y.size)}
	case x.class != y.class && x.class != 0 && y.class != 0:
		return &typeDifference{here: "is " + className(x.class), there: className(y.class)}
	}
	return nil
}

func className(class byte) string {
	if class == 'f' {
		return "a floating-point number"
	}
	return "an integer"
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
