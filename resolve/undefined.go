package resolve

import (
	"fmt"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// maxUses limits the uses listed in one message.
const maxUses = 2

// reportUndefined reports one undefined symbol with the places that use it. An
// unused declaration is not an error: compilers leave such declarations behind.
func (t *Table) reportUndefined(s *Symbol, uses []usePlace, h *hints, warn bool, log *diag.Log) {
	if len(uses) == 0 {
		return
	}
	first := uses[0]
	m := log.Error(diag.UndefinedSymbol, first.file.At(first.span), "undefined symbol: "+diag.Name(s.Name)+inside(first)).Of(s.Name)
	if warn {
		m.Kind = diag.Warning
	}
	if word := first.file.Src.String(first.span); t.options.Redirect[word] == s.Name {
		m.Note(diag.Place{}, fmt.Sprintf("%s stands for %s here, because of %s or %s", diag.Name(word), diag.Name(s.Name), diag.Option("--wrap"), diag.Option("--defsym")))
	}
	for i, u := range uses[1:] {
		if i == maxUses-1 {
			m.Note(diag.Place{}, andMore(uses[maxUses:]))
			break
		}
		m.Note(u.file.At(u.span), "also used here"+inside(u))
	}
	h.suggest(s, m)
}

// andMore counts uses that are not shown, and the functions and modules that they are
// in.
func andMore(uses []usePlace) string {
	if len(uses) == 1 {
		return "and 1 more use" + inside(uses[0])
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

func inside(u usePlace) string {
	if u.in == nil {
		return ""
	}
	verb := "used in "
	if u.in.Kind == ptx.Variable {
		verb = "used in the initialiser of "
	}
	return ", " + verb + diag.Demangle(u.file.Names[u.in.Name])
}
