package link

import (
	"fmt"
	"strings"

	"ptxlink/internal/globs"
	"ptxlink/link/diag"
	"ptxlink/object/container"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Cubin is machine code that nvlink will link with the output.
type Cubin struct {
	Name    string // as messages call it
	Symbols []container.CubinSymbol
}

// cubins are the names of Options.Cubins.
type cubins struct {
	defined map[string]cubinSymbol // the strong definition, else the first weak one
	names   []string               // those in defined, in order
	needed  []string               // by cubins, and defined by none
	all     map[string]bool        // resolve.Options.Others
}

type cubinSymbol struct {
	container.CubinSymbol
	in diag.Place
}

// readCubins returns the names of the cubins, and reports those that two define.
func readCubins(list []Cubin, log *diag.Log) cubins {
	o := cubins{defined: map[string]cubinSymbol{}, all: map[string]bool{}}
	for _, object := range list {
		in := cubinPlace(object)
		for _, s := range object.Symbols {
			o.all[s.Name] = o.all[s.Name] || s.Defined
			first, known := o.defined[s.Name]
			switch {
			case !s.Defined:
			case !known:
				o.names = append(o.names, s.Name)
				o.defined[s.Name] = cubinSymbol{s, in}
			case first.Weak && !s.Weak:
				o.defined[s.Name] = cubinSymbol{s, in}
			case !first.Weak && !s.Weak:
				log.Error(diag.DuplicateSymbol, in, "multiple definition of "+log.Name(s.Name)).Of(s.Name).
					Note(first.in, "first defined here").WithHelp("rename one of the two")
			}
		}
	}
	seen := map[string]bool{}
	for _, object := range list {
		for _, s := range object.Symbols {
			if _, found := o.defined[s.Name]; !s.Defined && !found && !seen[s.Name] && !resolve.IsSyscall(s.Name) && !ofNvlink(s.Name) {
				seen[s.Name] = true
				o.needed = append(o.needed, s.Name)
			}
		}
	}
	return o
}

// ofNvlink reports whether nvlink defines a name: the tables of functions and data that
// cubins share, and the shared memory that it reserves.
func ofNvlink(name string) bool {
	return strings.HasPrefix(name, ".nv.") || strings.HasPrefix(name, "__UFT") || strings.HasPrefix(name, "__UDT")
}

func cubinPlace(o Cubin) diag.Place {
	return diag.At(&diag.Source{Name: o.Name}, diag.Span{})
}

// check compares the modules with the cubins: what a cubin says of a name is what it is,
// and the size of a variable. Of a function it does not say what it takes.
func (o cubins) check(t *resolve.Table, options Options, log *diag.Log) {
	for _, name := range o.names {
		s, found := t.Lookup(name)
		if !found {
			continue
		}
		object := o.defined[name]
		if s.Defined() && t.Strong(s.Def) && !object.Weak { // nvlink takes no second one
			log.Error(diag.DuplicateSymbol, t.Files[s.Def.File].NamePlace(s.Def.Name), "multiple definition of "+log.Name(name)).Of(name).
				Note(object.in, "also defined here").WithHelp("rename one of the two")
			continue
		}
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			d := f.DeclOf(id.Name)
			if d == nil {
				continue
			}
			kind := ptx.Variable
			if object.Function {
				kind = ptx.Func
			}
			switch {
			case (d.Kind == ptx.Variable) == object.Function:
				log.Error(diag.SymbolKind, f.NamePlace(id.Name), fmt.Sprintf("%s is %s here but %s in %s", log.Name(name), d.Kind.A(), kind.A(), object.in.File())).Of(name).
					WithHelp("declare it as it is defined, or rename one of the two")
			case d.Kind == ptx.Variable && d.Size() > 0 && object.Size > 0 && d.Size() != object.Size && !(object.Common && d.Linkage == ptx.Common):
				log.Error(diag.VarSize, f.At(d.Declared), fmt.Sprintf("%s has %d bytes here but %d in %s", log.Name(name), d.Size(), object.Size, object.in.File())).Of(name).
					WithHelp("declare it with one type in all modules, such as in a header")
			default:
				continue
			}
			break
		}
	}
	if options.Relocatable {
		return
	}
	allowed := globs.New(options.AllowUndefined)
	used := map[string]diag.Place{}
	for _, object := range options.Cubins {
		for _, s := range object.Symbols {
			if _, known := used[s.Name]; !s.Defined && !s.Dynamic && !known {
				used[s.Name] = cubinPlace(object)
			}
		}
	}
	for _, name := range o.needed {
		at, must := used[name]
		if s, found := t.Lookup(name); !must || found && s.Defined() || allowed.Match(name) {
			continue
		}
		log.Error(diag.UndefinedSymbol, at, "undefined symbol: "+log.Name(name)+", used in this machine code").Of(name).
			WithHelp("link what defines it")
	}
}
