package resolve

import (
	"fmt"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Missing is a name that a message calls undefined, undeclared or unmatched, for advice on what was meant.
type Missing struct {
	Message *diag.Message
	Name    string
	// Kind and Mentions describe an undefined symbol. Machine is set if only cubins use it.
	Kind     ptx.DeclKind
	Mentions []object.ID
	Machine  bool
	// Undeclared is the first use of a name that its module does not declare, or nil.
	Undeclared *UsePlace
	// Option names what an option may name, or is nil.
	Option *Named
}

// UsePlace is a use of a name.
type UsePlace struct {
	File *object.File
	Span diag.Span
	In   *ptx.Decl // the function or variable around the use, nil if there is none
}

// Undefined reports the undefined symbols that may not stay so, each with the modules
// that use it, and the names that modules do not declare. Uses in what Collect removed do not count.
// With Options.WarnUndefined the symbols stay open, with a warning. unusable returns an error about an
// archive member that defines a name but cannot be linked, or nil: the same error for each name of one member.
func (t *Table) Undefined(unusable func(name string) *diag.Message, log *diag.Log) (missing []Missing) {
	var uses map[SymbolID][]UsePlace // filled on first use, since most links have no undefined symbols
	reported := map[*diag.Message]bool{}
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Defined() || s.Open && !t.options.Relocatable || !t.Needed(s) {
			continue
		}
		if uses == nil {
			uses = t.undefinedUses()
		}
		if list := uses[SymbolID(i)]; len(list) > 0 {
			m := unusable(s.Name)
			switch {
			case m == nil && !s.Open:
				missing = append(missing, Missing{Message: t.reportUndefined(s, list, log), Name: s.Name, Kind: t.decl(s.Mentions[0]).Kind, Mentions: s.Mentions})
			case m != nil && !reported[m]:
				reported[m] = true
				log.Messages = append(log.Messages, m.Note(list[0].File.At(list[0].Span), "its symbol "+log.Name(s.Name)+" is needed here"))
			}
		}
		s.Open = s.Open || t.options.WarnUndefined
	}
	if !t.options.Assembled {
		t.noteLeft(func(s SymbolID) []UsePlace {
			if uses == nil {
				uses = t.undefinedUses()
			}
			return uses[s]
		}, log)
	}
	missing = append(missing, t.undeclared(log)...)
	for i, f := range t.Files {
		for n, s := range f.Symbols {
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if !s.Exported() && !s.Defined() && s.Uses > 0 && s.Decl >= 0 {
				// ptxas -c refuses such a module too.
				log.Error(diag.UndefinedLocal, f.NamePlace(id.Name), fmt.Sprintf("%s is declared without linkage and has no definition in this module", log.Name(f.Names[n]))).Of(f.Names[n]).
					WithHelp("declare it .extern if another module defines it")
			}
		}
	}
	if t.options.Relocatable || t.options.NvlinkReports {
		return missing
	}
	return append(missing, t.Cubins.undefined(t, sets.NewGlobs(t.options.AllowUndefined), log)...)
}

const maxUses = 2

// reportUndefined reports one undefined symbol with the places that use it. There is at
// least one: an unused declaration is not an error, since compilers write declarations that nothing
// uses.
func (t *Table) reportUndefined(s *Symbol, uses []UsePlace, log *diag.Log) *diag.Message {
	first := uses[0]
	m := log.Error(diag.UndefinedSymbol, first.File.At(first.Span), "undefined symbol: "+log.Name(s.Name)+inside(", used in ", first, log)).Of(s.Name)
	if t.options.WarnUndefined {
		m.Kind = diag.Warning
	}
	if word := first.File.Src.String(first.Span); t.options.Redirect[word] == s.Name {
		m.Note(diag.Place{}, fmt.Sprintf("%s stands for %s here, because of %s or %s", log.Name(word), log.Name(s.Name), log.Option("--wrap"), log.Option("--defsym")))
	}
	noteUses(uses[1:], m, log)
	return m
}

func noteUses(uses []UsePlace, m *diag.Message, log *diag.Log) {
	for i, u := range uses {
		if i == maxUses-1 {
			m.Note(diag.Place{}, andMore(uses[i:], log))
			break
		}
		m.Note(u.File.At(u.Span), "also used here"+inside(", in ", u, log))
	}
}

// andMore counts uses that are not shown, and the functions and modules that they are
// in.
func andMore(uses []UsePlace, log *diag.Log) string {
	if len(uses) == 1 {
		return "and 1 more use" + inside(", in ", uses[0], log)
	}
	modules := map[*object.File]bool{}
	for _, u := range uses {
		modules[u.File] = true
	}
	text := fmt.Sprintf("and %d more uses", len(uses))
	if len(modules) > 1 {
		text += fmt.Sprintf(" in %d modules", len(modules))
	}
	return text
}

// inside names the function or variable around a use, after lead.
func inside(lead string, u UsePlace, log *diag.Log) string {
	if u.In == nil {
		return ""
	}
	if u.In.Kind == ptx.Variable {
		lead += "the initialiser of "
	}
	return lead + log.Demangle(u.File.Names[u.In.Name])
}

func (t *Table) undefinedUses() map[SymbolID][]UsePlace {
	lists := map[SymbolID][]UsePlace{}
	for i, f := range t.Files {
		add := func(uses []ptx.Use, in *ptx.Decl) {
			for _, use := range uses {
				id := t.of[i][use.Name]
				if id != None && !t.Symbols[id].Defined() {
					lists[id] = append(lists[id], UsePlace{f, f.UseSpan(use), in})
				}
			}
		}
		for d := range f.Decls {
			decl := &f.Decls[d]
			if t.Live(object.ID{File: int32(i), Name: decl.Name}) {
				add(f.Uses[decl.FirstUse:decl.EndUse], decl)
			}
		}
		for _, o := range f.Others {
			add(f.Uses[o.FirstUse:o.EndUse], nil)
		}
		for _, a := range f.Aliases {
			if id := t.of[i][a.Target]; id != None && t.Live(object.ID{File: int32(i), Name: a.Name}) {
				lists[id] = append(lists[id], UsePlace{f, a.TargetSpan, nil})
			}
		}
	}
	return lists
}
