package resolve

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Scope is the set of names that the values of an option are compared with.
type Scope uint8

const (
	Symbols     Scope = iota // names that a module defines, or that it uses from others
	External                 // symbols that are not private to a module
	Definitions              // private ones too
	Exported                 // definitions that other modules can use
	Functions                // defined ones that are not entries
	Entries                  // defined ones
)

func (s Scope) String() string {
	return [...]string{"symbol", "symbol", "definition", "external definition", "function", "entry"}[s]
}

// Has reports whether a name of a file is in the set.
func (s Scope) Has(f *object.File, name ptx.NameID) bool {
	sym := &f.Symbols[name]
	d := f.DeclOf(name)
	switch s {
	case Symbols:
		return sym.Exported() || sym.Defined()
	case External:
		return sym.Exported()
	case Exported:
		return sym.Exported() && sym.Defined()
	case Functions:
		return sym.Defined() && (d == nil || d.Kind == ptx.Func) // d is nil for some aliases
	case Entries:
		return d != nil && d.Kind == ptx.Entry && d.HasBody
	}
	return sym.Defined()
}

// Named is an option that names symbols.
type Named struct {
	Option string   // "--export"
	Values []string // names, or patterns (package globs)
	Scope  Scope
	// Names is set if no value is a pattern.
	Names bool
	// Required makes it an error if a value matches nothing.
	Required bool
	// Permits is set if a pattern only allows what may happen, so that it is not a mistake if one
	// matches nothing.
	Permits bool
	// Places are where values are written, if not on the command line.
	Places map[string]diag.Place
}

// Unmatched reports values of options that match nothing in the link. "*" may match nothing, and so may a value
// that a command sets for an option that it does not offer.
func (t *Table) Unmatched(options []Named, log *diag.Log) (missing []Missing) {
	for _, o := range options {
		for _, value := range o.unmatched(t, log) {
			place, inFile := o.Places[value]
			shown := value
			if o.Names || !sets.IsPattern(value) { // because a pattern of mangled names has no name in the source
				shown = log.Name(value)
			}
			text := fmt.Sprintf("no %s matches %s", o.Scope, shown)
			var m *diag.Message
			switch {
			case o.Required:
				m = log.Error(diag.UndefinedSymbol, diag.Place{}, text+", which "+log.Option(o.Option)+" requires")
			case inFile:
				m = log.Warn(diag.Unmatched, place, text)
			default:
				m = log.Warn(diag.Unmatched, diag.Place{}, text+", which "+log.Option(o.Option)+" names")
			}
			missing = append(missing, Missing{Message: m.Of(value), Name: value, Option: &o})
		}
	}
	return missing
}

// unmatched returns the values that no name of the files, or definition of a cubin, matches.
func (o Named) unmatched(t *Table, log *diag.Log) (list []string) {
	var left sets.Globs
	var asked []string
	for _, value := range o.Values {
		if !o.Names && (value == "*" || o.Permits && sets.IsPattern(value)) || !o.Required && !log.Takes(o.Option) {
			continue
		}
		original := o.original(value)
		switch {
		case left.Has(original):
			continue
		case o.Names:
			left.AddName(original)
		default:
			left.Add(original)
		}
		asked = append(asked, value)
	}
	for name, defined := range t.Cubins.shared {
		shown := o.Scope == Symbols || o.Scope == Definitions && o.Names && defined // by an option that changes nothing
		if shown || defined && (o.Scope == Exported || o.Scope == Entries) {
			left.Drop(name)
		}
	}
	if o.Scope == Entries {
		for _, name := range t.Cubins.kernels {
			left.Drop(name)
		}
	}
	for _, f := range t.Files {
		for n, name := range f.Names {
			if left.Empty() {
				return nil
			}
			if !o.Scope.Has(f, ptx.NameID(n)) {
				continue
			}
			left.Drop(name)
			if o.Scope == Functions {
				left.Drop(name + "$1")
			}
		}
	}
	for _, value := range asked {
		if left.Has(o.original(value)) && !o.inFunction(value, t) {
			list = append(list, value)
		}
	}
	return list
}

// inFunction reports whether a name may be one that -O gives an object of a function: f$object.
func (o Named) inFunction(value string, t *Table) bool {
	function, _, cut := strings.Cut(value, "$")
	return cut && o.Scope == Definitions && o.Names && slices.ContainsFunc(t.Files, func(f *object.File) bool {
		n, ok := f.Lookup(function)
		return ok && Functions.Has(f, n)
	})
}

// original is Unnumbered for options that name functions, definitions or symbols of the output.
func (o Named) original(value string) string {
	if o.Scope == Functions || o.Names && (o.Scope == Definitions || o.Scope == Symbols) {
		return Unnumbered(value)
	}
	return value
}

// Unnumbered returns a name without the number that a link adds to the second of two private names.
func Unnumbered(name string) string {
	if at := strings.LastIndexByte(name, '$'); at > 0 && strings.Trim(name[at+1:], "0123456789") == "" {
		return name[:at]
	}
	return name
}
