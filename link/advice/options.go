package advice

import (
	"fmt"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// maxMeant limits the names that one message suggests.
const maxMeant = 3

// meant returns which names of the scope may have been meant: those that a C++ or Rust
// compiler made of the value, one in an archive member that is not linked, or the most
// similar one. It says where a kernel was named for a function, or the reverse.
func (h *hints) meant(value string, scope resolve.Scope) string {
	if h.searches++; h.searches > maxSearches || len(value) >= 200 {
		return ""
	}
	h.gather()
	var mangled []string
	similar, other, limit := "", "", diag.TypoLimit(value)
	seen, asked := map[string]bool{}, sets.NewGlobs([]string{value})
	for _, f := range h.files {
		for n, name := range f.Names {
			if scope == resolve.External && name == value && f.Symbols[n].Defined() {
				return "it has no linkage in " + f.Name + ", so no other module uses it"
			}
			switch {
			case scope == resolve.Entries && resolve.Functions.Has(f, ptx.NameID(n)) && asked.Match(name):
				other = h.Log.Name(name) + " is a function, not a kernel" + h.Log.With("--export", "; %s keeps functions")
			case scope == resolve.Functions && resolve.Entries.Has(f, ptx.NameID(n)) && asked.Match(name):
				other = h.Log.Name(name) + " is a kernel, which no function calls"
			}
			if seen[name] || !scope.Has(f, ptx.NameID(n)) {
				continue
			}
			seen[name] = true
			if name == value {
				return f.Name + " defines it, but is not linked" + h.Log.With("-u "+name, "; %s links it")
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
				if d := diag.Distance(spelling, value, limit); d <= limit && !sets.IsPattern(value) {
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
	if plain := h.Log.Unmangled(similar); plain != "" {
		similar += ", which is " + plain
	}
	return "did you mean " + similar + "?"
}
