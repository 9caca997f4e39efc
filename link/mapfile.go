package link

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"ptxlink/link/diag"
)

// WriteMap writes the Map as text.
func (r *Result) WriteMap(w io.Writer) error { return r.Map().WriteText(w) }

// WriteText writes the map as text: the inputs, every symbol of the output with its
// module, the totals, the machine code, the calls, the reasons why archive members are
// linked, the inlined calls, and the renamed, folded, dropped and removed symbols. The
// text depends only on the inputs and options.
func (m *Map) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w) // keeps the first error until Flush
	fmt.Fprintf(out, "Output: .version %s, .target %s, .address_size %d\n", m.Output.Version, m.Output.Target, m.Output.AddressSize)
	m.writeInputs(out)
	m.writeSymbols(out)
	m.writeCubins(out)
	m.writeTotals(out)
	m.writeMachineCode(out)
	m.writeCalls(out)
	m.writePulls(out)
	m.writeInlined(out)
	m.writeFolded(out)
	m.writeRenamed(out)
	m.writeDropped(out)
	m.writeRemoved(out)
	return out.Flush()
}

// table starts a section with aligned columns. The last cell of a row is not padded,
// so it may have any length.
func table(w io.Writer, title, heads string) *tabwriter.Writer {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  "+heads)
	return t
}

func (m *Map) writeInputs(w io.Writer) {
	t := table(w, "Inputs", "bytes\tversion\ttarget\tbits\tproducer\tmodule")
	for _, in := range m.Inputs {
		bits := fmt.Sprint(in.AddressSize)
		if in.CompiledTo != "" {
			bits = "-"
		}
		fmt.Fprintf(t, "  %d\t%s\t%s\t%s\t%s\t%s\n", in.Bytes, cmp.Or(in.Version, in.Form), diag.Escape(in.Target), bits, cmp.Or(in.Producer, "-"), diag.Escape(in.Name))
	}
	t.Flush()
}

func (m *Map) writeSymbols(w io.Writer) {
	t := table(w, "Symbols, the largest first (bytes of a body are bytes of text)", "kind\tlinkage\tspace\tbytes\talign\tfrom\tname")
	bySize := slices.Clone(m.Symbols)
	slices.SortStableFunc(bySize, func(a, b MapSymbol) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, s := range bySize {
		align := "-"
		if s.Align > 0 {
			align = fmt.Sprint(s.Align)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Kind, s.Linkage, cmp.Or(s.Space, "-"), s.Bytes, align, s.from(), readable(s.Name, m.spelling))
	}
	t.Flush()
}

func (m *Map) writeCubins(w io.Writer) {
	if len(m.Cubins) == 0 {
		return
	}
	t := table(w, "Machine code of the inputs, which nvlink links", "kind\tlinkage\tbytes\tregisters\tfrom\tname")
	for _, c := range m.Cubins {
		for _, s := range c.Symbols {
			registers := "-"
			if s.Registers > 0 {
				registers = fmt.Sprint(s.Registers)
			}
			fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%s\t%s\n", s.Kind, s.Linkage, s.Bytes, registers, diag.Escape(c.Name), readable(s.Name, m.spelling))
		}
	}
	t.Flush()
}

// writeTotals writes the totals of variables by state space, and of bodies by kind.
// Undefined symbols and aliases have no size.
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
	t := table(w, "Totals", "what\tcount\tbytes")
	for _, x := range totals {
		fmt.Fprintf(t, "  %s\t%d\t%d\n", x.name, x.count, x.bytes)
	}
	fmt.Fprintf(t, "  output\t\t%d\n", m.Output.Bytes)
	t.Flush()
}

func (m *Map) writeMachineCode(w io.Writer) {
	for _, g := range m.GPUs {
		t := table(w, "Machine code for "+diag.Escape(g.Arch)+" (bytes)", UsageHeads+"\tkind\tname")
		for _, u := range g.Usages {
			kind := "func"
			if u.Kernel {
				kind = "entry"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\n", strings.Join(u.Columns(), "\t"), kind, readable(u.Name, m.spelling))
		}
		t.Flush()
	}
}

func (m *Map) writeCalls(w io.Writer) {
	if len(m.Calls) == 0 {
		return
	}
	t := table(w, "Calls (addresses are uses other than a direct call)", "calls\taddresses\tfrom\tto")
	for _, e := range m.Calls {
		fmt.Fprintf(t, "  %d\t%d\t%s\t%s\n", e.Calls, e.Addresses, readable(e.From, m.spelling), readable(e.To, m.spelling))
	}
	t.Flush()
}

func (m *Map) writePulls(w io.Writer) {
	if len(m.Pulled) == 0 {
		return
	}
	t := table(w, "Members of archives", "needed for\tby\tmember")
	for _, p := range m.Pulled {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", readable(p.Symbol, m.spelling), diag.Escape(cmp.Or(p.By, "-u")), diag.Escape(p.Member))
	}
	t.Flush()
}

func (m *Map) writeInlined(w io.Writer) {
	if len(m.Inlined) == 0 {
		return
	}
	t := table(w, "Inlining", "from\tcaller\tcallee\twhat")
	for _, c := range m.Inlined {
		what := "inlined"
		if !c.Inlined {
			what = "not inlined: " + diag.Escape(c.Reason)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", c.from(), readable(c.Caller, m.spelling), readable(c.Callee, m.spelling), what)
	}
	t.Flush()
}

func (m *Map) writeFolded(w io.Writer) {
	if len(m.Folded) == 0 {
		return
	}
	t := table(w, "Folded, since another function has the same code", "name\tinto")
	for _, f := range m.Folded {
		fmt.Fprintf(t, "  %s\t%s\n", readable(f.Name, m.spelling), readable(f.Into, m.spelling))
	}
	t.Flush()
}

func (m *Map) writeRenamed(w io.Writer) {
	var t *tabwriter.Writer
	for _, s := range m.Symbols {
		if s.Original == "" || s.Original == s.Name {
			continue
		}
		if t == nil {
			t = table(w, "Renamed", "from\twas\tis")
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", s.from(), readable(s.Original, m.spelling), diag.Escape(s.Name))
	}
	if t != nil {
		t.Flush()
	}
}

func (m *Map) writeDropped(w io.Writer) {
	if len(m.Dropped) == 0 {
		return
	}
	t := table(w, "Dropped", "from\tkind\tname\twhy")
	for _, s := range m.Dropped {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", s.from(), s.Kind, readable(cmp.Or(s.Original, s.Name), m.spelling), cmp.Or(diag.Escape(s.Reason), "-"))
	}
	t.Flush()
}

func (m *Map) writeRemoved(w io.Writer) {
	if len(m.Removed) == 0 {
		return
	}
	t := table(w, "Removed, since nothing in the output refers to it", "kind\tbytes\tfrom\tname")
	for _, s := range m.Removed {
		fmt.Fprintf(t, "  %s\t%d\t%s\t%s\n", s.Kind, s.Bytes, s.from(), readable(cmp.Or(s.Original, s.Name), m.spelling))
	}
	t.Flush()
}

// from returns the place of the definition, as in messages: that in the source comes
// first.
func (s MapSymbol) from() string {
	if s.Module == "" {
		return "(" + cmp.Or(s.Supplier, "undefined") + ")"
	}
	if s.Unit != "" && s.Source == "" { // the lines are those of no file
		return diag.Escape(s.Unit)
	}
	return from(s.Source, s.SourceLine, s.Module, s.Line)
}

func (c MapInlined) from() string { return from(c.Source, c.SourceLine, c.File, c.Line) }

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
