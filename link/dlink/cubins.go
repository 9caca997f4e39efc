package dlink

import (
	"index/suffixarray"
	"slices"
	"sort"
	"strings"

	"ptxlink/internal/globs"
	"ptxlink/link"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Cubins holds the machine code that nvlink links with the PTX, and members of archives, which
// nvlink links only if something needs them.
type Cubins struct {
	List    []container.Cubin
	Symbols []link.Cubin // of List, for link.Options.Cubins
}

// add adds cubins that come after the first at inputs, or reports why they cannot be read.
func (c *Cubins) add(list []container.Cubin, archived bool, at int, log *diag.Log) {
	for _, cubin := range list {
		cubin.Data = container.MendClang(cubin.Data)
		var locals []container.CubinSymbol
		symbols, err := cubin.AllSymbols()
		symbols = slices.DeleteFunc(symbols, func(s container.CubinSymbol) bool {
			if s.Local && s.Function {
				locals = append(locals, s)
			}
			return s.Local
		})
		if err != nil {
			log.Error(diag.BadContainer, diag.InFile(cubin.Name, 0, 0), "its cubin cannot be read: "+err.Error()).WithHelp("compile it again")
		}
		c.List, c.Symbols = append(c.List, cubin), append(c.Symbols, link.Cubin{Name: cubin.Name, Symbols: symbols, Locals: locals, Archived: archived, Code: cubin.Data, At: at})
	}
}

// Linked returns the cubins of List that a link has taken. link.Options.Cubins must have started
// with Symbols; others may follow.
func (c *Cubins) Linked(r *link.Result) []container.Cubin { return taken(c.List, r) }

// Taken returns the symbols of the cubins that Linked returns.
func (c *Cubins) Taken(r *link.Result) []link.Cubin { return taken(c.Symbols, r) }

func taken[C any](list []C, r *link.Result) (chosen []C) {
	if r == nil {
		return nil
	}
	for _, i := range r.Cubins {
		if i < len(list) {
			chosen = append(chosen, list[i])
		}
	}
	return chosen
}

// Kernels returns words for nvlink's option -kernels-used, which keeps the kernels whose names
// contain a word. They match the kernels of the result, and the kernels of the cubins that the host
// launches. It returns nil if nvlink must keep all kernels: because all are launched, or because
// the list is too long for an argument. fits is false if the list is too long, or would take nvlink
// too much time.
func Kernels(r *link.Result, launched []string, cubins []link.Cubin) (words []string, fits bool) {
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
	names := globs.New(launched)
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

// from reports whether a link takes any cubin of an archive.
func (c *Cubins) from(archive string, r *link.Result) bool {
	return slices.ContainsFunc(c.Linked(r), func(cubin container.Cubin) bool { return strings.HasPrefix(cubin.Name, archive+"(") })
}
