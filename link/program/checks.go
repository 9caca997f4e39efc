package program

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ptxlink/abicheck"
	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// The checks in this file find what no output can express. Package link runs them with the checks of abicheck, before
// anything of the output is decided, so that all errors of a link come together; New reports nothing.

func variables(t *resolve.Table, wanted func(*ptx.Decl) bool) (list []resolve.DeclID) {
	for i, f := range t.Files {
		for d := range f.Decls {
			if decl := &f.Decls[d]; decl.Kind == ptx.Variable && wanted(decl) && f.Symbols[decl.Name].Decl == int32(d) && t.Live(object.ID{File: int32(i), Name: decl.Name}) {
				list = append(list, resolve.DeclID{File: int32(i), Decl: int32(d)})
			}
		}
	}
	return list
}

// Initialisers reports cycles of initialisers that have no external variable. A module cannot express them, because
// ptxas has no forward declaration of module-local variables.
func Initialisers(t *resolve.Table, log *diag.Log) {
	list := variables(t, func(d *ptx.Decl) bool { return d.FirstUse < d.EndUse })
	if len(list) == 0 {
		return
	}
	for _, n := range newInitialisers(t, list).stuck() {
		f := t.Files[list[n].File]
		log.Error(diag.InitialiserCycle, f.At(f.Decls[list[n].Decl].NameSpan), "initialisers of module-local variables refer to each other in a cycle")
	}
}

// constantBank is the size of the constant bank in bytes. All .const variables must fit, because
// ptxas counts them all, referenced or not.
const constantBank = 65536

// Constants reports constants that exceed the constant bank, with their names, because the
// error of ptxas has no names. It must count padding as ptxas lays out the bank, by descending
// alignment (testdata/script/const_padding.txtar). The order of variables with equal alignment does
// not matter.
func Constants(t *resolve.Table, log *diag.Log) {
	type constant struct {
		resolve.DeclID
		*ptx.Decl
		align int64
	}
	var constants []constant
	for _, v := range variables(t, func(d *ptx.Decl) bool { return d.Space == ".const" && d.Size() > 0 }) {
		d := &t.Files[v.File].Decls[v.Decl]
		align := d.Alignment()
		if s := t.Of(t.Declared(v)); s != resolve.None {
			raised, _ := abicheck.Alignment(t, &t.Symbols[s])
			align = max(align, raised)
		}
		constants = append(constants, constant{v, d, align})
	}
	slices.SortStableFunc(constants, func(a, b constant) int { return cmp.Compare(b.align, a.align) })
	total := int64(0)
	for _, c := range constants {
		total = (total+c.align-1)&^(c.align-1) + c.Size()
	}
	if total <= constantBank {
		return
	}
	slices.SortStableFunc(constants, func(a, b constant) int { return cmp.Compare(b.Size(), a.Size()) })
	name := func(c constant) string { return log.Demangle(t.Files[c.File].Names[c.Name]) }
	describe := func(c constant) (diag.Place, string) {
		return t.Files[c.File].At(c.NameSpan), fmt.Sprintf("%s takes %d bytes", name(c), c.Size())
	}
	place, text := describe(constants[0])
	m := log.Error(diag.ConstantOverflow, place, fmt.Sprintf("constant memory overflows: %d bytes in %d variables, %d at most; %s", total, len(constants), constantBank, text))
	for _, c := range constants[1:min(3, len(constants))] {
		m.Note(describe(c))
	}
	// A C++ header gives a copy of its variables to each module that includes it.
	copies, largest := 0, constants[0]
	rest := func(c constant) string {
		return string(t.Files[c.File].Src.Text[c.NameSpan.End():c.Decl.Span.End()])
	}
	for _, c := range constants {
		if name(c) == name(largest) && rest(c) == rest(largest) && linkage(t, t.Declared(c.DeclID)) == ptx.Local && t.Files[c.File].Language() == object.CXX {
			copies++
		}
	}
	if copies <= 1 {
		m.WithHelp("move the largest to .global memory")
		return
	}
	how := "declare it inline (C++17) instead of static in the header that defines it"
	if resolve.WholeProgram(t.Files[largest.File]) { // nvcc accepts no inline variables
		how = "compile them with -rdc=true, and declare it inline (C++17) in the header that defines it"
	}
	m.WithHelp(fmt.Sprintf("the largest is copied into %d modules; %s, so that they share one", copies, how))
}

// Pragmas warns about functions that lose a pragma of their module (placePragmas).
func Pragmas(t *resolve.Table, log *diag.Log) {
	if !slices.ContainsFunc(t.Files, func(f *object.File) bool { return len(f.Pragmas) > 0 }) {
		return
	}
	_, pushed := placePragmas(t)
	for i, f := range t.Files {
		loses := slices.IndexFunc(f.Decls, func(d ptx.Decl) bool { return d.Kind == ptx.Func && d.HasBody })
		if len(pushed[i]) > 0 && loses >= 0 {
			log.Warn(diag.Pragma, f.At(f.Pragmas[0].Span), "this pragma is kept for the entries of the module but not for its functions, because it would affect the other inputs").
				Note(f.At(f.Decls[loses].NameSpan), "this function, for example, loses it")
		}
	}
}

// LineFiles reports two files with one index. It warns about file names that ptxas refuses, and about lines whose file
// the module does not declare, if their body is in the output.
func LineFiles(t *resolve.Table, log *diag.Log) {
	for i, f := range t.Files {
		var first map[int64]diag.Span
		for _, file := range f.Files {
			if !usable(file) {
				continue
			}
			span, twice := first[file.Index]
			switch {
			case !twice:
				sets.Put(&first, file.Index, file.Span)
				if strings.ContainsFunc(file.Path, func(r rune) bool { return r > unicode.MaxASCII }) {
					log.Warn(diag.FileName, f.At(file.Span), "ptxas 12.4 crashes on a file name that is not ASCII, and ptxas 13 refuses it").
						WithHelp("compile the source under another name")
				}
			case f.Src.String(span) != f.Src.String(file.Span):
				log.Error(diag.FileIndex, f.At(file.Span), fmt.Sprintf("file index %d is used twice", file.Index)).
					Note(f.At(span), "first given here")
			}
		}
		if at, ok := lineWithoutFile(t, int32(i), first); ok {
			log.Warn(diag.Loc, f.At(at), "no .file "+f.Src.String(at)+" in this module; its .loc lines are dropped")
		}
	}
}

// lineWithoutFile returns the place of the first index of a file, in a body of the output, that is not in files.
func lineWithoutFile(t *resolve.Table, file int32, files map[int64]diag.Span) (at diag.Span, ok bool) {
	f := t.Files[file]
	if len(f.Locs) == 0 {
		return at, false
	}
	unknown := func(loc ptx.Loc) bool { _, ok := files[loc.File]; return !ok }
	if !slices.ContainsFunc(f.Locs, unknown) {
		return at, false
	}
	for d := range f.Decls {
		if !f.Decls[d].HasBody || !t.LiveDecl(resolve.DeclID{File: file, Decl: int32(d)}) {
			continue
		}
		first, end := f.LocsIn(f.Decls[d].Body)
		if n := slices.IndexFunc(f.Locs[first:end], unknown); n >= 0 {
			return f.Locs[first+n].FileSpan, true
		}
	}
	return at, false
}
