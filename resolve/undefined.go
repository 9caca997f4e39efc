package resolve

import (
	"fmt"

	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Members are the archive members that are not linked.
type Members interface {
	// Outlines returns those that were not needed, to suggest what was meant.
	Outlines() []*object.File
	// Unusable returns an error about a member that defines a name but cannot be linked,
	// or nil. It is the same error for each name of one member.
	Unusable(name string) *diag.Message
}

// Undefined reports the undefined symbols that may not stay so, each with the modules
// that use it. Uses in what Collect removed do not count. With Options.WarnUndefined the
// symbols stay open, with a warning.
func (t *Table) Undefined(members Members, log *diag.Log) {
	var uses map[SymbolID][]usePlace // filled on first use, since most links have no undefined symbols
	h := &hints{t: t, members: members, log: log}
	unusable := map[*diag.Message]bool{}
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Defined() || s.Open && !t.options.Relocatable || !t.Needed(s) {
			continue
		}
		if uses == nil {
			uses = t.undefinedUses()
		}
		if list := uses[SymbolID(i)]; len(list) > 0 {
			m := members.Unusable(s.Name)
			switch {
			case m == nil && !s.Open:
				t.reportUndefined(s, list, h, log)
			case m != nil && !unusable[m]:
				unusable[m] = true
				log.Messages = append(log.Messages, m.Note(list[0].file.At(list[0].span), "its symbol "+log.Name(s.Name)+" is needed here"))
			}
		}
		s.Open = s.Open || t.options.WarnUndefined
	}
	h.several()
	if !t.options.Assembled {
		t.noteLeft(func(s SymbolID) []usePlace {
			if uses == nil {
				uses = t.undefinedUses()
			}
			return uses[s]
		}, log)
	}
	t.undeclared(h, log)
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
}

const maxUses = 2

// reportUndefined reports one undefined symbol with the places that use it. There is at
// least one: an unused declaration is not an error, since compilers write declarations that nothing
// uses.
func (t *Table) reportUndefined(s *Symbol, uses []usePlace, h *hints, log *diag.Log) {
	first := uses[0]
	m := log.Error(diag.UndefinedSymbol, first.file.At(first.span), "undefined symbol: "+log.Name(s.Name)+inside(", used in ", first, log)).Of(s.Name)
	if t.options.WarnUndefined {
		m.Kind = diag.Warning
	}
	if word := first.file.Src.String(first.span); t.options.Redirect[word] == s.Name {
		m.Note(diag.Place{}, fmt.Sprintf("%s stands for %s here, because of %s or %s", log.Name(word), log.Name(s.Name), log.Option("--wrap"), log.Option("--defsym")))
	}
	noteUses(uses[1:], m, log)
	h.suggest(s, t.decl(s.Mentions[0]).Kind, m)
}

func noteUses(uses []usePlace, m *diag.Message, log *diag.Log) {
	for i, u := range uses {
		if i == maxUses-1 {
			m.Note(diag.Place{}, andMore(uses[i:], log))
			break
		}
		m.Note(u.file.At(u.span), "also used here"+inside(", in ", u, log))
	}
}

// Suggest returns a function that adds suggestions to a message about an undefined name that only cubins need.
func (t *Table) Suggest(members Members, log *diag.Log) func(name string, kind ptx.DeclKind, m *diag.Message) {
	h := &hints{t: t, members: members, log: log}
	return func(name string, kind ptx.DeclKind, m *diag.Message) { h.suggest(&Symbol{Name: name}, kind, m) }
}

// andMore counts uses that are not shown, and the functions and modules that they are
// in.
func andMore(uses []usePlace, log *diag.Log) string {
	if len(uses) == 1 {
		return "and 1 more use" + inside(", in ", uses[0], log)
	}
	modules := map[*object.File]bool{}
	for _, u := range uses {
		modules[u.file] = true
	}
	text := fmt.Sprintf("and %d more uses", len(uses))
	if len(modules) > 1 {
		text += fmt.Sprintf(" in %d modules", len(modules))
	}
	return text
}

// inside names the function or variable around a use, after lead.
func inside(lead string, u usePlace, log *diag.Log) string {
	if u.in == nil {
		return ""
	}
	if u.in.Kind == ptx.Variable {
		lead += "the initialiser of "
	}
	return lead + log.Demangle(u.file.Names[u.in.Name])
}

type usePlace struct {
	file *object.File
	span diag.Span
	in   *ptx.Decl // the function or variable around the use, nil if there is none
}

func (t *Table) undefinedUses() map[SymbolID][]usePlace {
	lists := map[SymbolID][]usePlace{}
	for i, f := range t.Files {
		add := func(uses []ptx.Use, in *ptx.Decl) {
			for _, use := range uses {
				id := t.of[i][use.Name]
				if id != None && !t.Symbols[id].Defined() {
					lists[id] = append(lists[id], usePlace{f, f.UseSpan(use), in})
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
				lists[id] = append(lists[id], usePlace{f, a.TargetSpan, nil})
			}
		}
	}
	return lists
}
