package resolve

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/globs"
	"ptxlink/internal/typo"
	"ptxlink/link/diag"
	"ptxlink/object"
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

func (s Scope) has(f *object.File, name ptx.NameID) bool {
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

// Unmatched reports values of options that match nothing in the link, each with the
// names that may have been meant. "*" may match nothing, and so may a value
// that a command sets for an option that it does not offer.
func (t *Table) Unmatched(options []Named, members Members, log *diag.Log) {
	var h *hints
	for _, o := range options {
		for _, value := range o.unmatched(t, log) {
			if h == nil {
				h = &hints{t: t, members: members, log: log}
			}
			place, inFile := o.Places[value]
			shown := value
			if o.Names || !globs.IsPattern(value) { // because a pattern of mangled names has no name in the source
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
			m.Of(value).WithHelp(h.meant(value, o.Scope))
		}
	}
}

// unmatched returns the values that no name of the files, or definition of a cubin, matches.
func (o Named) unmatched(t *Table, log *diag.Log) (list []string) {
	var left globs.List
	var asked []string
	for _, value := range o.Values {
		if !o.Names && (value == "*" || o.Permits && globs.IsPattern(value)) || !o.Required && !log.Takes(o.Option) {
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
	for name, defined := range t.options.Others {
		shown := o.Scope == Symbols || o.Scope == Definitions && o.Names && defined // by an option that changes nothing
		if shown || defined && (o.Scope == Exported || o.Scope == Entries) {
			left.Drop(name)
		}
	}
	if o.Scope == Entries {
		for _, name := range t.options.OtherKernels {
			left.Drop(name)
		}
	}
	for _, f := range t.Files {
		for n, name := range f.Names {
			if left.Empty() {
				return nil
			}
			if !o.Scope.has(f, ptx.NameID(n)) {
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
		return ok && Functions.has(f, n)
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

// maxMeant limits the names that one message suggests.
const maxMeant = 3

// meant returns which names of the scope may have been meant: those that a C++ or Rust
// compiler made of the value, one in an archive member that is not linked, or the most
// similar one. It says where a kernel was named for a function, or the reverse.
func (h *hints) meant(value string, scope Scope) string {
	if h.searches++; h.searches > maxSearches || len(value) >= 200 {
		return ""
	}
	h.gather()
	var mangled []string
	similar, other, limit := "", "", typo.Limit(value)
	seen, asked := map[string]bool{}, globs.New([]string{value})
	for _, f := range h.files {
		for n, name := range f.Names {
			if scope == External && name == value && f.Symbols[n].Defined() {
				return "it has no linkage in " + f.Name + ", so no other module uses it"
			}
			switch {
			case scope == Entries && Functions.has(f, ptx.NameID(n)) && asked.Match(name):
				other = h.log.Name(name) + " is a function, not a kernel" + h.log.With("--export", "; %s keeps functions")
			case scope == Functions && Entries.has(f, ptx.NameID(n)) && asked.Match(name):
				other = h.log.Name(name) + " is a kernel, which no function calls"
			}
			if seen[name] || !scope.has(f, ptx.NameID(n)) {
				continue
			}
			seen[name] = true
			if name == value {
				return f.Name + " defines it, but is not linked" + h.log.With("-u "+name, "; %s links it")
			}
			spelt := spell(name)
			last := spelt.base[strings.LastIndexByte(spelt.base, ':')+1:]
			for _, spelling := range []string{spelt.plain, spelt.base, last} {
				if spelt.plain != name && asked.Match(spelling) {
					mangled = append(mangled, name+", which is "+diag.Escape(spelt.plain))
					break
				}
			}
			for _, spelling := range []string{name, last} {
				if d := typo.Distance(spelling, value, limit); d <= limit && !globs.IsPattern(value) {
					limit, similar = d-1, name
				}
			}
		}
	}
	switch {
	case len(mangled) > maxMeant:
		return fmt.Sprintf("did you mean %s (and %d more)?", strings.Join(mangled[:maxMeant], ", or "), len(mangled)-maxMeant)
	case mangled != nil:
		return "did you mean " + strings.Join(mangled, ", or ") + "?"
	case similar == "" || other != "":
		return other
	}
	if plain := h.log.Unmangled(similar); plain != "" {
		similar += ", which is " + plain
	}
	return "did you mean " + similar + "?"
}
