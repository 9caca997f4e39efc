package pack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// SplitOptions holds the options of Split. The zero value makes a member of every
// external definition.
type SplitOptions struct {
	// Roots are the names that become members, with everything they need. They may be module-local,
	// because compilers drop the linkage of internalised functions.
	Roots []string
	// Weak gives every function and variable of a member .weak instead of .visible, so that the
	// results of two links with the same member can be linked again. Every local must then be a
	// separate member. Otherwise the locals of a weak function would stay, unused, when a link
	// drops the function for another one. Aliases and their targets cannot become weak, because
	// ptxas does not accept an alias to a weak function. The results of two links that contain the
	// same alias therefore cannot be linked again: the alias is defined twice.
	Weak bool
	// Jobs is the same as in link.Options.
	Jobs int
}

// Split splits a module into modules with one external definition each, so that a link of an
// archive of them takes only the needed ones. They are in the order of the definitions
// and named after them: "__nv_sinf.ptx".
//
//  1. A module-local definition that one other definition uses goes with it.
//  2. If several definitions use it, it becomes a separate member, so that data is not
//     duplicated. It must then be external. Its name identifies the module: helper becomes
//     helper$m followed by 16 hex digits of the SHA-256 of the text. The name cannot be
//     confused with helper of another module or of the user. Splitting the same
//     module again gives the same names. A root keeps its name.
//  3. If nothing uses it, or no root needs it, it is omitted.
//  4. An alias goes with its target, which stays local if only aliases refer to it.
//  5. The header, module-scope pragmas and .file lines are in every member.
//
// Split refuses a module with DWARF, because DWARF describes a whole module. It also
// refuses unknown statements. Both give *link.Errors.
func Split(ctx context.Context, in link.Input, o SplitOptions) ([]link.Input, error) {
	var log diag.Log
	files, unread, err := object.Load(ctx, object.Named([]link.Input{in}), object.Options{Jobs: o.Jobs}, &log)
	if err != nil {
		return nil, err
	}
	var members []link.Input
	for _, f := range files {
		if log.Errors() == 0 {
			s := splitter{f: f, weak: o.Weak, log: &log}
			members = append(members, s.split(o.Roots)...)
		}
	}
	if log.Errors() > 0 {
		return nil, &link.Errors{Messages: log.Messages, IO: unread}
	}
	return members, nil
}

type splitter struct {
	f    *object.File
	weak bool
	log  *diag.Log

	reached []bool   // per name: a root needs it
	member  []bool   // per name: its definition becomes a member
	root    []bool   // per name: it is a root, so it must be external
	aliased []bool   // per name: an alias of it is reached
	out     []string // per name: its name in members
}

func (s *splitter) split(roots []string) (members []link.Input) {
	f := s.f
	if len(f.Sections) > 0 {
		s.log.Error(diag.Split, f.At(f.Sections[0].Span), "a module with debug sections cannot be split").
			WithHelp("ptxlink -S leaves them out")
	}
	for _, o := range f.Others {
		s.log.Error(diag.Split, f.At(o.Span), "this statement may belong to any member, so the module cannot be split")
	}
	for _, a := range f.Aliases {
		if target := f.Symbols[a.Name].Target; target < 0 || f.Symbols[target].Def < 0 {
			s.log.Error(diag.AliasTarget, f.At(a.TargetSpan), s.log.Name(f.Names[a.Name])+" leads to no function that this module defines").Of(f.Names[a.Name])
		}
	}
	for _, flags := range []*[]bool{&s.reached, &s.member, &s.root, &s.aliased} {
		*flags = make([]bool, len(f.Names))
	}
	s.chooseMembers(s.rootNames(roots))
	if s.log.Errors() > 0 {
		return nil
	}
	s.nameShared()
	for i := range f.Decls {
		name := f.Decls[i].Name
		if f.Symbols[name].Def == int32(i) && s.member[name] {
			members = append(members, link.Input{Name: s.out[name] + ".ptx", Text: s.emit(name)})
		}
	}
	return members
}

func (s *splitter) rootNames(roots []string) (names []ptx.NameID) {
	f := s.f
	for _, root := range roots {
		name, ok := f.Lookup(root)
		if !ok || !f.Symbols[name].Defined() {
			s.log.Error(diag.Split, f.At(diag.Span{}), "no definition of "+s.log.Name(root)+" to split off").Of(root)
			continue
		}
		names = append(names, name)
	}
	if roots == nil {
		for n, sym := range f.Symbols {
			if sym.Exported() && sym.Defined() {
				names = append(names, ptx.NameID(n))
			}
		}
	}
	return names
}

// target returns the target of an alias, or the name itself.
func (s *splitter) target(name ptx.NameID) ptx.NameID {
	if target := s.f.Symbols[name].Target; target >= 0 {
		return target
	}
	return name
}

// uses returns the names in the definition of a name, each once, in order.
func (s *splitter) uses(name ptx.NameID) (names []ptx.NameID) {
	def := s.f.Symbols[name].Def
	if def < 0 {
		return nil
	}
	seen := map[ptx.NameID]bool{name: true}
	d := &s.f.Decls[def]
	for _, u := range s.f.Uses[d.FirstUse:d.EndUse] {
		if !seen[u.Name] {
			seen[u.Name] = true
			names = append(names, u.Name)
		}
	}
	return names
}

// chooseMembers walks from the roots to everything they need, and chooses the definitions that
// become members.
func (s *splitter) chooseMembers(roots []ptx.NameID) {
	users := make([]int, len(s.f.Names))
	walk := sets.Walk[ptx.NameID]{First: func(name ptx.NameID) bool {
		s.reached[name] = true
		users[name]++
		return users[name] == 1
	}}
	reach := func(name ptx.NameID) {
		s.reached[name] = true // because an alias itself counts too
		walk.Add(s.target(name))
	}
	for _, name := range roots {
		s.root[name] = true
		s.member[s.target(name)] = true
		reach(name)
	}
	walk.Visit(func(name ptx.NameID) {
		for _, used := range s.uses(name) {
			reach(used)
		}
	})
	for n, sym := range s.f.Symbols {
		// An external definition must be a member even if it is not a root.
		if s.reached[n] && sym.Def >= 0 && (users[n] > 1 || s.weak || sym.Exported()) {
			s.member[n] = true
		}
		if s.reached[n] && sym.Alias >= 0 {
			target := s.target(ptx.NameID(n))
			s.member[target], s.aliased[target] = true, true
		}
	}
}

// nameShared names every local that one member defines and another one uses. The linker cannot
// create such names itself, because they have a letter after the dollar sign; see ptx.Suffixed.
func (s *splitter) nameShared() {
	f := s.f
	s.out = slices.Clone(f.Names)
	suffix := fmt.Sprintf("$m%x", sha256.Sum256(f.Src.Text))[:len("$m")+16]
	for n := range f.Symbols {
		if !s.member[n] {
			continue
		}
		inside, mentioned := s.contents(ptx.NameID(n))
		for used := range mentioned {
			if !inside[used] && !s.root[used] && f.Symbols[used].Defined() && !f.Symbols[used].Exported() {
				s.out[used] = f.Names[used] + suffix
			}
		}
	}
}

// contents returns the names that the member of a definition defines, and all names that it
// mentions.
func (s *splitter) contents(name ptx.NameID) (inside, mentioned map[ptx.NameID]bool) {
	f := s.f
	inside, mentioned = map[ptx.NameID]bool{}, map[ptx.NameID]bool{name: true}
	var collect func(name ptx.NameID)
	collect = func(name ptx.NameID) {
		inside[name] = true
		for _, used := range s.uses(name) {
			mentioned[used] = true
			if !s.member[used] && f.Symbols[used].Def >= 0 && !inside[used] {
				collect(used)
			}
		}
	}
	collect(name)
	for i := range f.Aliases {
		if id := f.Aliases[i].Name; s.reached[id] && s.target(id) == name {
			inside[id], mentioned[id] = true, true
		}
	}
	return inside, mentioned
}

// edits returns the edits that rename a definition, and the names it uses, to their
// names in members, in order.
func (s *splitter) edits(d *ptx.Decl) (edits []ptx.Edit) {
	f := s.f
	if s.out[d.Name] != f.Src.String(d.NameSpan) { // also b1, which b<3> declares
		edits = append(edits, ptx.Edit{Span: d.NameSpan, Text: s.out[d.Name]})
	}
	for _, u := range f.Uses[d.FirstUse:d.EndUse] {
		if s.out[u.Name] != f.Names[u.Name] {
			edits = append(edits, ptx.Edit{Span: f.UseSpan(u), Text: s.out[u.Name]})
		}
	}
	edits = f.OffsetEdits(edits, d)
	ptx.SortEdits(edits)
	return edits
}

func (s *splitter) emit(name ptx.NameID) []byte {
	f := s.f
	inside, mentioned := s.contents(name)
	end := max(f.VersionSpan.End(), f.TargetSpan.End(), f.AddressSpan.End())
	var out ptx.Pieces
	if f.VersionSpan.Off == 0 { // since fatbinary 12.4 blanks the first line
		out.Own("//\n")
	}
	out.Copy(f.Src, diag.Span{Len: end})
	out.Own("\n")
	for _, file := range f.Files {
		if file.In < 0 {
			out.Copy(f.Src, file.Span)
		}
	}
	for _, pragma := range f.Pragmas {
		out.Own(".pragma " + pragma.Text + ";\n")
	}
	for n := range f.Symbols {
		if id := ptx.NameID(n); mentioned[id] {
			out.Own(s.declare(id, inside[id]))
		}
	}
	for n, sym := range f.Symbols {
		if id := ptx.NameID(n); inside[id] && sym.Alias >= 0 {
			out.Own(fmt.Sprintf(".alias %s, %s;\n", s.out[id], s.out[name]))
		}
	}
	for _, variables := range []bool{true, false} { // variables must come before bodies
		for i := range f.Decls {
			d := &f.Decls[i]
			if (d.Kind == ptx.Variable) != variables || !inside[d.Name] || f.Symbols[d.Name].Def != int32(i) {
				continue
			}
			piece := ptx.Piece{Src: f.Src, Text: s.linkage(d.Name), Edits: s.edits(d), Before: true, After: true}
			if variables {
				piece.Text += f.Src.String(d.Prefix) + " "
				piece.Span = d.Declared
				piece.Edits = append(piece.Edits, ptx.Edit{Span: diag.Span{Off: d.Declared.End()}, Text: ";"})
			} else {
				piece.Span = diag.Span{Off: d.Header.Off, Len: d.Body.End() - d.Header.Off}
			}
			out.Add(piece)
		}
	}
	text, _ := out.Text()
	return text
}

// declare returns the forward declaration of a definition, or "" if it needs none, because it is an
// entry, or a variable that nothing uses before its definition.
func (s *splitter) declare(name ptx.NameID, inside bool) string {
	f := s.f
	sym := f.Symbols[name]
	linkage := ".extern "
	if inside {
		linkage = s.linkage(name)
	}
	d := f.DeclOf(name)
	if d == nil { // an alias that was never declared
		d = f.DeclOf(s.target(name))
	}
	switch {
	case d == nil || inside && d.Kind == ptx.Entry:
		return ""
	case inside && d.Kind == ptx.Variable:
		if linkage == "" || !slices.ContainsFunc(f.Decls[:sym.Def], func(early ptx.Decl) bool { return early.Name == name }) {
			return ""
		}
		linkage = ".extern "
	}
	return linkage + f.Declaration(d, s.out[name]) + ";\n"
}

// linkage returns the linkage of a definition in its member, followed by a space.
func (s *splitter) linkage(name ptx.NameID) string {
	sym := s.f.Symbols[name]
	linkage := sym.Linkage
	if linkage == ptx.Local && (s.root[name] || s.out[name] != s.f.Names[name]) {
		linkage = ptx.Visible
	}
	strong := sym.Alias >= 0 || s.aliased[name] // since ptxas accepts no alias to a weak function
	if d := s.f.DeclOf(name); s.weak && !strong && linkage == ptx.Visible && d != nil && d.Kind != ptx.Entry {
		linkage = ptx.Weak
	}
	return linkage.Word()
}
