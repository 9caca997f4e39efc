package abicheck

import (
	"fmt"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// PrivateCopies warns if a module that nvcc compiled without -rdc=true has its own
// variable or function, and another module exports one of that name, because without the option
// nvcc drops the linkage of everything but entries, and makes definitions of `extern __device__`
// declarations. Inline functions and templates, which are .weak elsewhere, may exist twice; names
// that start with two underscores or contain a $ belong to the compiler. It also warns if two such
// modules have a constant without a value: the host must set it, and finds only the constant of the
// first module by name. Variables in .global may be static in both sources, which nvcc's names do
// not show.
func PrivateCopies(t *resolve.Table, log *diag.Log) {
	firsts := map[string]diag.Place{} // constants that the host sets, in earlier modules
	for i, f := range t.Files {
		if !resolve.WholeProgram(f) {
			continue
		}
		var first *diag.Message
		more := 0
		for n, sym := range f.Symbols {
			name := f.Names[n]
			if sym.Def < 0 || sym.Exported() || t.Of(object.ID{File: int32(i), Name: ptx.NameID(n)}) != resolve.None || strings.HasPrefix(name, "__") || strings.Contains(name, "$") {
				continue
			}
			d := &f.Decls[sym.Def]
			at, note, help := exported(t, d, name)
			if at.Source == nil && setByHost(d) {
				if at = firsts[name]; at.Source == nil {
					firsts[name] = f.At(d.NameSpan)
				}
				note, help = "the host finds this one by its name", "if they are meant to be one, define it in one of them, declare it extern in the others, and compile all with -rdc=true"
			}
			if at.Source == nil {
				continue
			}
			if first != nil {
				more++
				continue
			}
			first = log.Warn(diag.RDC, f.At(d.NameSpan), fmt.Sprintf("%s stays in this module, and %s has another of that name", log.Name(name), at.Source.Name)).Of(name).
				Note(at, note).WithHelp(help)
		}
		switch {
		case more == 1:
			first.Note(diag.Place{}, "so does 1 more name of this module")
		case more > 1:
			first.Note(diag.Place{}, fmt.Sprintf("so do %d more names of this module", more))
		}
	}
}

// exported returns where another module exports what d, without linkage, may be a copy of.
func exported(t *resolve.Table, d *ptx.Decl, name string) (at diag.Place, note, help string) {
	s, ok := t.Lookup(name)
	if !ok || !s.Defined() {
		return at, "", ""
	}
	other := t.Files[s.Def.File]
	switch def := other.DeclOf(s.Def.Name); {
	case def == nil || def.Kind != d.Kind:
		return at, "", ""
	case d.Kind == ptx.Variable && (d.Space != def.Space || d.Space != ".global" && d.Space != ".const"):
		return at, "", ""
	case d.Kind != ptx.Variable && other.Symbols[s.Def.Name].Linkage == ptx.Weak:
		return at, "", ""
	default:
		return other.At(def.NameSpan), "other modules use this one", "if they are meant to be one, compile this module with -rdc=true"
	}
}

// setByHost reports whether d is a constant without a value: device code cannot give it one.
func setByHost(d *ptx.Decl) bool {
	return d.Kind == ptx.Variable && d.Space == ".const" && d.Init.Len == 0
}
