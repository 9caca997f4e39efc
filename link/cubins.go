package link

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/globs"
	"ptxlink/internal/graph"
	"ptxlink/internal/lazy"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Cubin is machine code that nvlink will link with the output.
type Cubin struct {
	Name    string // its name in messages
	Symbols []container.CubinSymbol
	Locals  []container.CubinSymbol // kernels and functions without linkage; not in Symbols
	// Archived is set for a member of an archive. It is linked only if something needs it;
	// otherwise it is not compared with anything.
	Archived bool
	// Offered is set for code that has not been compiled yet. Its names may stay undefined, and it
	// cannot be linked or compared.
	Offered bool
	// Code is the file that the symbols were read from. It is needed to recognise copies, and may
	// be nil.
	Code []byte
	// At is the number of Options.Inputs before it, because the first of several weak definitions
	// is linked. Weak definitions in members of archives come last.
	At int

	pulled bool // Archived, and linked
}

// Untyped reports whether modules or cubins share a function whose types a cubin does not record,
// because it takes the address of the function. PTX of the same code would have the types.
func (r *Result) Untyped() bool {
	users := map[string]int{}
	for _, s := range r.Symbols() {
		users[s.Name]++
	}
	for _, c := range r.cubins {
		for _, s := range c.Symbols {
			users[s.Name]++
		}
	}
	untyped := func(s container.CubinSymbol) bool {
		return s.Function && !s.Entry && s.Prototype == "" && users[s.Name] > 1 && !resolve.IsSyscall(s.Name) && !ofNvlink(s.Name)
	}
	return slices.ContainsFunc(r.cubins, func(c Cubin) bool { return slices.ContainsFunc(c.Symbols, untyped) })
}

// cubins holds the names of Options.Cubins.
type cubins struct {
	defined map[string]cubinSymbol // the strong definition, otherwise the first weak one
	names   []string               // the names in defined, in order
	needed  []string               // names that cubins need and none defines
	users   map[string]diag.Place  // the first cubin that needs the name and cannot do without it
	uses    []cubinSymbol          // symbols that cubins need
	all     map[string]bool        // resolve.Options.Others
	bound   []string               // names that kernels or data of cubins refer to
	kernels []string               // without linkage
	locals  []map[string][]string  // by cubin: names that its functions without linkage use
	list    []Cubin
}

type cubinSymbol struct {
	container.CubinSymbol
	in       diag.Place
	cubin    int // its number
	archived bool
	pulled   bool
	at       int
}

// readCubins returns the names of the cubins, and reports names that two cubins define.
func readCubins(list []Cubin, log *diag.Log) cubins {
	if len(list) == 0 {
		return cubins{}
	}
	o := cubins{defined: map[string]cubinSymbol{}, users: map[string]diag.Place{}, all: map[string]bool{}, list: list}
	for i, object := range list {
		in := diag.InFile(object.Name, 0, 0)
		o.locals = append(o.locals, map[string][]string{})
		for _, s := range object.Locals {
			if s.Entry {
				o.kernels = append(o.kernels, s.Name)
			} else {
				o.locals[i][s.Name] = s.Uses
			}
		}
		for _, s := range object.Symbols {
			o.all[s.Name] = o.all[s.Name] || s.Defined
			if s.Bound {
				o.bound = append(o.bound, s.Name)
			}
			first, known := o.defined[s.Name]
			switch {
			case !s.Defined:
			case !known || first.Weak && !s.Weak:
				if !known {
					o.names = append(o.names, s.Name)
				}
				o.defined[s.Name] = cubinSymbol{s, in, i, object.Archived, object.pulled, object.At}
			case !first.Weak && !s.Weak:
				log.Error(diag.DuplicateSymbol, in, "multiple definition of "+log.Name(s.Name)).Of(s.Name).
					Note(first.in, "first defined here").WithHelp("rename one of the two")
			}
		}
	}
	seen := map[string]bool{}
	for _, object := range list {
		for _, s := range object.Symbols {
			if !s.Defined && !s.Dynamic {
				o.uses = append(o.uses, cubinSymbol{CubinSymbol: s, in: diag.InFile(object.Name, 0, 0), archived: object.Archived})
			}
			if _, found := o.defined[s.Name]; s.Defined || found || resolve.MayStayUndefined(s.Name) || ofNvlink(s.Name) {
				continue
			}
			if lazy.Add(&seen, s.Name) {
				o.needed = append(o.needed, s.Name)
			}
			if _, known := o.users[s.Name]; !s.Dynamic && !known {
				o.users[s.Name] = diag.InFile(object.Name, 0, 0)
			}
		}
	}
	return o
}

// cubinFiles returns the definitions of cubins as files, with the places of the cubins.
func cubinFiles(list []Cubin) (files []*object.File) {
	for _, c := range list {
		f := &object.File{}
		f.Module, f.Name = &ptx.Module{Src: diag.InFile(c.Name, 0, 0).Source}, c.Name
		for _, s := range slices.Concat(c.Symbols, c.Locals) {
			if !s.Defined {
				continue
			}
			linkage := ptx.Visible
			if s.Local {
				linkage = ptx.Local
			}
			n := int32(len(f.Names))
			f.Names = append(f.Names, s.Name)
			f.Decls = append(f.Decls, ptx.Decl{Kind: cubinSymbol{CubinSymbol: s}.declKind(), Name: ptx.NameID(n), Linkage: linkage})
			f.Symbols = append(f.Symbols, object.Symbol{Def: n, Decl: n, Alias: -1, Target: -1, Linkage: linkage})
		}
		files = append(files, f)
	}
	return files
}

// earlier is resolve.Options.Earlier. It must choose as nvlink does: nvlink takes the first of
// several weak definitions.
func (o cubins) earlier(name string, f *object.File) bool {
	s, defined := o.defined[name]
	switch {
	case !defined || !s.Weak || s.Common || s.archived || !s.Function && s.Size == 0: // a texture
		return false
	case s.pulled != f.Pulled:
		return f.Pulled
	}
	return s.at <= f.Input
}

// ofNvlink reports whether nvlink defines a name: the tables of functions and data that
// cubins share, and the shared memory that it reserves.
func ofNvlink(name string) bool {
	return strings.HasPrefix(name, ".nv.") || strings.HasPrefix(name, "__UFT") || strings.HasPrefix(name, "__UDT")
}

// check compares declarations of modules with declarations of cubins, and cubins with each other:
// the kind of a symbol, the size of a variable, the types of a function. It returns the names that nothing defines.
func (o cubins) check(t *resolve.Table, options Options, log *diag.Log) []resolve.Missing {
	for _, name := range o.names {
		s, found := t.Lookup(name)
		if !found || o.defined[name].archived {
			continue
		}
		if in := o.defined[name]; s.Defined() && t.Strong(s.Def) && !in.Weak { // nvlink takes only one
			log.Error(diag.DuplicateSymbol, t.Files[s.Def.File].NamePlace(s.Def.Name), "multiple definition of "+log.Name(name)).Of(name).
				Note(in.in, "also defined here").WithHelp("rename one of the two")
			continue
		}
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			if in := o.defined[name]; !(in.Entry && resolve.ListsKernel(f, id.Name)) && differs(in, f, id.Name, log) {
				break
			}
		}
	}
	for _, use := range o.uses {
		in, defined := o.defined[use.Name]
		s, found := t.Lookup(use.Name)
		switch {
		case defined && !in.archived && in.declKind() != use.declKind():
			otherKind(use.declKind(), in, use.in, log)
		case defined && !in.archived && in.Prototype != "" && use.Prototype != "" && in.Prototype != use.Prototype:
			here, there := CubinTypes(use.Prototype), CubinTypes(in.Prototype)
			rule, text := diag.ParamType, fmt.Sprintf("%s is called here as %s but is %s in %s", log.Name(use.Name), here, there, in.in.File())
			if here == there {
				rule, text = diag.ABIPreserve, fmt.Sprintf("%s preserves other registers here than in %s", log.Name(use.Name), in.in.File())
			}
			log.Error(rule, use.in, text).Of(use.Name).
				WithHelp("compile the two again, with one declaration")
		case defined && !in.archived && variablesDiffer(in, use.Space, use.Size, use.in, log):
		case found && s.Defined():
			differs(use, t.Files[s.Def.File], s.Def.Name, log)
		}
	}
	if options.Relocatable || len(options.Kernels)+len(options.Launched) > 0 { // nvlink reports them
		return nil
	}
	return o.checkNeeded(t, globs.New(options.AllowUndefined), log)
}

// differs reports a declaration whose kind, size or types differ from the cubin's definition, or a
// definition that differs from the cubin's use.
func differs(in cubinSymbol, f *object.File, id ptx.NameID, log *diag.Log) bool {
	d := f.DeclOf(id)
	if d == nil {
		return false
	}
	switch {
	case d.Kind != in.declKind():
		otherKind(d.Kind, in, f.NamePlace(id), log)
	case d.Kind == ptx.Variable && !(in.Common && d.Linkage == ptx.Common):
		return variablesDiffer(in, strings.TrimPrefix(d.Space, "."), d.Size(), f.At(d.Declared), log)
	default:
		return d.Kind == ptx.Func && differsFrom(in, d, f.NamePlace(id), log) || d.Kind == ptx.Entry && kernelDiffers(in, d, f.NamePlace(id), log)
	}
	return true
}

// variablesDiffer reports a variable whose size or state space differs from the one in a cubin.
func variablesDiffer(in cubinSymbol, space string, size int64, at diag.Place, log *diag.Log) bool {
	name, help := log.Name(in.Name), "declare it in one way in all modules, such as in a header"
	switch {
	case in.Function:
		return false
	case in.Space != "" && space != "" && in.Space != space:
		log.Error(diag.VarSpace, at, fmt.Sprintf("%s is in .%s here but in .%s in %s", name, space, in.Space, in.in.File())).Of(in.Name).
			WithHelp(help)
	case in.Size > 0 && size > 0 && in.Size != size:
		log.Error(diag.VarSize, at, fmt.Sprintf("%s has %d bytes here but %d in %s", name, size, in.Size, in.in.File())).Of(in.Name).
			WithHelp(help)
	default:
		return false
	}
	return true
}

func (s cubinSymbol) declKind() ptx.DeclKind {
	switch {
	case s.Entry:
		return ptx.Entry
	case s.Function:
		return ptx.Func
	}
	return ptx.Variable
}

// otherKind reports that a symbol is declared with another kind, such as a variable instead of a
// function.
func otherKind(here ptx.DeclKind, in cubinSymbol, at diag.Place, log *diag.Log) {
	log.Error(diag.SymbolKind, at, fmt.Sprintf("%s is %s here but %s in %s", log.Name(in.Name), here.A(), in.declKind().A(), in.in.File())).Of(in.Name).
		WithHelp("declare it as it is defined, or rename one of the two")
}

// live returns the names that nvlink keeps, or PTX declares. Others need not be defined, because
// nvlink removes functions that nothing calls, and does not report names that only these need.
func (o cubins) live(t *resolve.Table) map[string]bool {
	type function struct {
		name  string
		cubin int // of a function without linkage, or -1
	}
	live, seen := map[string]bool{}, map[function]bool{}
	walk := graph.Walk[function]{First: func(f function) bool { return lazy.Add(&seen, f) }}
	for _, name := range o.bound {
		walk.Add(function{name, -1})
	}
	for _, name := range o.names {
		if _, found := t.Lookup(name); found {
			walk.Add(function{name, -1})
		}
	}
	walk.Visit(func(f function) {
		s := o.defined[f.name]
		uses, cubin := s.Uses, s.cubin
		if f.cubin >= 0 {
			uses, cubin = o.locals[f.cubin][f.name], f.cubin
		} else {
			live[f.name] = true
		}
		for _, name := range uses {
			if _, local := o.locals[cubin][name]; local {
				walk.Add(function{name, cubin})
			} else {
				walk.Add(function{name, -1})
			}
		}
	})
	return live
}

// checkNeeded reports names that the cubins need and nothing defines.
func (o cubins) checkNeeded(t *resolve.Table, allowed globs.List, log *diag.Log) (missing []resolve.Missing) {
	if len(o.needed) == 0 {
		return nil
	}
	kinds := map[string]ptx.DeclKind{}
	for _, use := range o.uses {
		kinds[use.Name] = use.declKind()
	}
	live := o.live(t)
	for _, name := range o.needed {
		at, used := o.users[name]
		if s, found := t.Lookup(name); !used || !live[name] || found && s.Defined() || allowed.Match(name) {
			continue
		}
		m := log.Error(diag.UndefinedSymbol, at, "undefined symbol: "+log.Name(name)+", used in this machine code").Of(name)
		missing = append(missing, resolve.Missing{Message: m, Name: name, Kind: kinds[name]})
	}
	return missing
}
