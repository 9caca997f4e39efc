package dlink

import (
	"index/suffixarray"
	"slices"
	"sort"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

func records(list []container.Cubin, archived bool, at int, log *diag.Log) (cubins []*object.Cubin) {
	for _, code := range list {
		c, err := object.NewCubin(code)
		if err != nil {
			log.Error(diag.BadContainer, c.Place(), "its cubin cannot be read: "+err.Error()).WithHelp("compile it again")
		}
		c.Archived, c.At = archived, at
		cubins = append(cubins, c)
	}
	return cubins
}

// untyped reports whether modules or cubins share a function whose types a cubin does not record,
// because it takes the address of the function. PTX of the same code would have the types.
func untyped(r *link.Result) bool {
	users := map[string]int{}
	for _, s := range r.Symbols() {
		users[s.Name]++
	}
	for _, c := range r.Cubins {
		for _, s := range c.Symbols {
			users[s.Name]++
		}
	}
	return slices.ContainsFunc(r.Cubins, func(c *object.Cubin) bool {
		return slices.ContainsFunc(c.Symbols, func(s container.CubinSymbol) bool {
			return s.Function && !s.Entry && s.Prototype == "" && users[s.Name] > 1 && !resolve.IsSyscall(s.Name) && !resolve.OfNvlink(s.Name)
		})
	})
}

// needed returns the indexes of the members of archives that define one of the names, or that are
// needed by the output of r, the cubins that it links, or other such members.
func needed(r *link.Result, members []*object.Cubin, names []string) []int {
	names, defined := slices.Clone(names), map[string]bool{}
	for _, s := range r.Symbols() {
		if defined[s.Name] = s.Linkage != "extern"; !defined[s.Name] {
			names = append(names, s.Name)
		}
	}
	for _, s := range r.Removed() { // because a member may still need it
		defined[s.Name] = defined[s.Name] || s.Linkage != ""
	}
	return resolve.NeededMembers(r.Cubins, members, names, func(name string) bool { return defined[name] })
}

// Kernels returns words for nvlink's option -kernels-used, which keeps the kernels whose names
// contain a word. They match the kernels of the result, and the kernels of the cubins that the host
// launches. It returns nil if nvlink must keep all kernels: because all are launched, or because
// the list is too long for an argument. fits is false if the list is too long, or would take nvlink
// too much time.
func Kernels(r *link.Result, launched []string, cubins []*object.Cubin) (words []string, fits bool) {
	const (
		most  = 100_000   // bytes; Linux allows 128 KiB
		looks = 1_000_000 // nvlink looks for a word in a name this often in about 15 s
	)
	var kept, others []string
	for _, s := range r.Symbols() {
		if s.Kind == "entry" {
			kept = append(kept, s.Name)
		}
	}
	names := sets.NewGlobs(launched)
	for _, c := range cubins {
		for _, s := range slices.Concat(c.Locals, c.Symbols) {
			switch {
			case !s.Entry || !s.Defined:
			case c.Archived || names.Match(s.Name):
				kept = append(kept, s.Name)
			default:
				others = append(others, s.Name)
			}
		}
	}
	if len(others) == 0 {
		return nil, true
	}
	slices.Sort(kept)
	kept = slices.Compact(kept) // because cubins may have the kernels of the modules too
	if words = prefixes(kept, others); len(strings.Join(words, ",")) > most {
		return nil, false
	}
	return words, len(words)*(len(kept)+len(others)) < looks
}

// prefixes returns, for each name, the shortest prefix that no other name contains, without
// duplicates. Few and short words are faster, since nvlink takes 0.1 ms to look for a word in the
// name of a kernel.
func prefixes(names, others []string) (words []string) {
	text := suffixarray.New([]byte(strings.Join(others, ",")))
	for _, name := range names {
		n := sort.Search(len(name), func(n int) bool { return len(text.Lookup([]byte(name[:n+1]), 1)) == 0 })
		words = append(words, name[:min(n+1, len(name))])
	}
	slices.Sort(words)
	return slices.Compact(words)
}
