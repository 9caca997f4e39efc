package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"ptxlink/link"
	"ptxlink/object/diag"
)

// WriteText writes the map as text: the inputs, every symbol of the output with its module, the
// totals, the machine code, the calls, the reasons why archive members are linked, the inlined
// calls, and the renamed, folded, dropped and removed symbols. The text depends only on the inputs
// and options.
func (m *Map) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w) // it keeps the first error until Flush
	name := func(name string) string { return readable(name, m.spelling) }
	fmt.Fprintf(out, "Output: .version %s, .target %s, .address_size %d\n", m.Output.Version, m.Output.Target, m.Output.AddressSize)
	writeTable(out, "Inputs", "bytes\tversion\ttarget\tbits\tproducer\tmodule", m.Inputs, func(in MapInput) []any {
		bits := fmt.Sprint(in.AddressSize)
		if in.CompiledTo != "" {
			bits = "-"
		}
		return []any{in.Bytes, cmp.Or(in.Version, in.Form), cmp.Or(diag.Escape(in.Target), "-"), bits, cmp.Or(in.Producer, "-"), diag.Escape(in.Name)}
	})
	bySize := slices.Clone(m.Symbols)
	slices.SortStableFunc(bySize, func(a, b MapSymbol) int { return cmp.Compare(b.Bytes, a.Bytes) })
	writeTable(out, "Symbols, the largest first (bytes of a body are bytes of text)", "kind\tlinkage\tspace\tbytes\talign\tfrom\tname", bySize, func(s MapSymbol) []any {
		return []any{s.Kind, s.Linkage, cmp.Or(s.Space, "-"), s.Bytes, orDash(s.Align), s.from(), name(s.Name)}
	})
	m.writeCubins(out)
	m.writeTotals(out)
	for _, g := range m.GPUs {
		writeTable(out, "Machine code for "+diag.Escape(g.Arch)+" (bytes)", UsageHeads+"\tkind\tname", g.Usages, func(u Usage) []any {
			return []any{strings.Join(u.Columns(), "\t"), map[bool]string{true: "entry", false: "func"}[u.Kernel], name(u.Name)}
		})
	}
	writeRows(out, "Calls (addresses are uses other than a direct call)", "calls\taddresses\tfrom\tto", m.Calls, func(e MapCall) []any {
		return []any{e.Calls, e.Addresses, name(e.From), name(e.To)}
	})
	writeRows(out, "Members of archives", "needed for\tby\tmember", m.Pulled, func(p MapPull) []any {
		return []any{name(p.Symbol), diag.Escape(cmp.Or(p.By, "-u")), diag.Escape(p.Member)}
	})
	writeRows(out, "Inlining", "from\tcaller\tcallee\twhat", m.Inlined, func(c MapInlined) []any {
		what := "inlined"
		if !c.Inlined {
			what = "not inlined: " + diag.Escape(c.Reason)
		}
		return []any{from(c.Source, c.SourceLine, c.File, c.Line), name(c.Caller), name(c.Callee), what}
	})
	writeRows(out, "Folded, since another function has the same code", "name\tinto", m.Folded, func(f link.FoldedFunction) []any {
		return []any{name(f.Name), name(f.Into)}
	})
	renamed := slices.DeleteFunc(slices.Clone(m.Symbols), func(s MapSymbol) bool { return s.Original == "" || s.Original == s.Name })
	writeRows(out, "Renamed", "from\twas\tis", renamed, func(s MapSymbol) []any {
		return []any{s.from(), name(s.Original), diag.Escape(s.Name)}
	})
	writeRows(out, "Dropped", "from\tkind\tname\twhy", m.Dropped, func(s MapSymbol) []any {
		return []any{s.from(), s.Kind, name(cmp.Or(s.Original, s.Name)), cmp.Or(diag.Escape(s.Reason), "-")}
	})
	writeRows(out, "Removed, since nothing in the output refers to it", "kind\tbytes\tfrom\tname", m.Removed, func(s MapSymbol) []any {
		return []any{s.Kind, s.Bytes, s.from(), name(cmp.Or(s.Original, s.Name))}
	})
	return out.Flush()
}

// writeTable writes a section with a row for each element of a list, in aligned columns. The last
// cell of a row is not padded, so it may have any length.
func writeTable[T any](w io.Writer, title, heads string, list []T, row func(T) []any) {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  "+heads)
	for _, x := range list {
		cells := row(x)
		fmt.Fprintf(t, "  %v"+strings.Repeat("\t%v", len(cells)-1)+"\n", cells...)
	}
	t.Flush()
}

// writeRows is writeTable for a section that must be missing if its list is empty.
func writeRows[T any](w io.Writer, title, heads string, list []T, row func(T) []any) {
	if len(list) > 0 {
		writeTable(w, title, heads, list, row)
	}
}

// orDash returns a number, or a dash for 0.
func orDash[N int | int64](n N) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (m *Map) writeCubins(w io.Writer) {
	var rows [][]any
	for _, c := range m.Cubins {
		for _, s := range c.Symbols {
			rows = append(rows, []any{s.Kind, s.Linkage, s.Bytes, orDash(s.Registers), diag.Escape(c.Name), readable(s.Name, m.spelling)})
		}
	}
	if len(m.Cubins) > 0 {
		writeTable(w, "Machine code of the inputs, which nvlink links", "kind\tlinkage\tbytes\tregisters\tfrom\tname", rows, asRow)
	}
}

// asRow is the row function for a list that consists of rows.
func asRow(cells []any) []any { return cells }

// writeTotals writes the totals of variables by state space, and of bodies by kind. Undefined
// symbols and aliases cannot be counted, because they have no size.
func (m *Map) writeTotals(w io.Writer) {
	type total struct {
		name  string
		count int
		bytes int64
	}
	var totals []total
	for _, s := range m.Symbols {
		name := s.Kind
		if s.Kind == "object" {
			name = "." + s.Space
		}
		if s.Module == "" || s.Kind == "alias" {
			continue
		}
		i := slices.IndexFunc(totals, func(t total) bool { return t.name == name })
		if i < 0 {
			i = len(totals)
			totals = append(totals, total{name: name})
		}
		totals[i].count++
		totals[i].bytes += s.Bytes
	}
	slices.SortFunc(totals, func(a, b total) int { return cmp.Compare(a.name, b.name) })
	var rows [][]any
	for _, t := range totals {
		rows = append(rows, []any{t.name, t.count, t.bytes})
	}
	writeTable(w, "Totals", "what\tcount\tbytes", append(rows, []any{"output", "", m.Output.Bytes}), asRow)
}

// from returns the place of the definition, as in messages: the place in the source comes first.
func (s MapSymbol) from() string {
	if s.Module == "" {
		return "(" + cmp.Or(s.Supplier, "undefined") + ")"
	}
	if s.Unit != "" && s.Source == "" { // the lines are not lines of a file
		return diag.Escape(s.Unit)
	}
	return from(s.Source, s.SourceLine, s.Module, s.Line)
}

func from(source string, sourceLine int, module string, line int) string {
	place := diag.Escape(module)
	if line > 0 {
		place = fmt.Sprintf("%s:%d", place, line)
	}
	if source == "" {
		return place
	}
	return fmt.Sprintf("%s:%d (%s)", diag.Escape(source), sourceLine, place)
}

// readable returns a name, followed by its demangled form if it is mangled.
func readable(name string, s diag.Spelling) string {
	if plain := s.Unmangled(name); plain != "" {
		return diag.Escape(name) + " = " + plain
	}
	return diag.Escape(name)
}
