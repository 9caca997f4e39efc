package link

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"ptxlink/internal/diag"
)

// WriteMap writes the link map as text: the inputs, every symbol of the output with
// its module, the totals, the calls, the reasons why archive members are linked, the
// inlined calls, and the renamed, folded, dropped and removed symbols. The text depends
// only on the inputs and options.
func (r *Result) WriteMap(w io.Writer) error {
	out := bufio.NewWriter(w) // keeps the first error until Flush
	fmt.Fprintf(out, "Output: .version %s, .target %s, .address_size %d\n", r.Version, r.Target, r.AddressSize)
	r.mapInputs(out)
	r.mapSymbols(out)
	r.mapTotals(out)
	r.mapCalls(out)
	r.mapPulls(out)
	r.mapInlined(out)
	r.mapFolded(out)
	r.mapRenamed(out)
	r.mapDropped(out)
	r.mapRemoved(out)
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

func (r *Result) mapInputs(w io.Writer) {
	t := table(w, "Inputs", "bytes\tversion\ttarget\tbits\tproducer\tmodule")
	for _, m := range r.Modules {
		fmt.Fprintf(t, "  %d\t%s\t%s\t%d\t%s\t%s\n", m.Bytes, m.Version, diag.Escape(m.Target), m.AddressSize, dash(m.Producer), diag.Escape(m.Name))
	}
	t.Flush()
}

func (r *Result) mapSymbols(w io.Writer) {
	t := table(w, "Symbols, in the order of the output (bytes of a body are bytes of text)", "kind\tlinkage\tspace\tbytes\talign\tfrom\tname")
	for _, s := range r.Symbols() {
		linkage := s.Linkage
		if linkage == "" {
			linkage = "local"
		}
		align := "-"
		if s.Align > 0 {
			align = fmt.Sprint(s.Align)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Kind, linkage, dash(s.Space), s.Size, align, s.from(), readable(s.Name))
	}
	t.Flush()
}

// mapTotals writes the totals of variables by state space, and of bodies by kind.
// Undefined symbols and aliases have no size.
func (r *Result) mapTotals(w io.Writer) {
	type total struct {
		name  string
		count int
		bytes int64
	}
	var totals []total
	for _, s := range r.Symbols() {
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
		totals[i].bytes += s.Size
	}
	slices.SortFunc(totals, func(a, b total) int { return cmp.Compare(a.name, b.name) })
	t := table(w, "Totals", "what\tcount\tbytes")
	for _, x := range totals {
		fmt.Fprintf(t, "  %s\t%d\t%d\n", x.name, x.count, x.bytes)
	}
	fmt.Fprintf(t, "  output\t\t%d\n", r.Size())
	t.Flush()
}

func (r *Result) mapCalls(w io.Writer) {
	if len(r.Edges()) == 0 {
		return
	}
	t := table(w, "Calls (addresses are uses other than a direct call)", "calls\taddresses\tfrom\tto")
	for _, e := range r.Edges() {
		fmt.Fprintf(t, "  %d\t%d\t%s\t%s\n", e.Calls, e.Addresses, diag.Escape(e.From), readable(e.To))
	}
	t.Flush()
}

func (r *Result) mapPulls(w io.Writer) {
	if len(r.Pulls) == 0 {
		return
	}
	t := table(w, "Members of archives", "needed for\tby\tmember")
	for _, p := range r.Pulls {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", diag.Escape(p.Symbol), diag.Escape(cmp.Or(p.By, "-u")), diag.Escape(p.Member))
	}
	t.Flush()
}

func (r *Result) mapInlined(w io.Writer) {
	if len(r.InlinedCalls) == 0 {
		return
	}
	t := table(w, "Inlining", "from\tcaller\tcallee\twhat")
	for _, c := range r.InlinedCalls {
		what := "inlined"
		if !c.Inlined {
			what = "not inlined: " + diag.Escape(c.Reason)
		}
		fmt.Fprintf(t, "  %s:%d\t%s\t%s\t%s\n", diag.Escape(c.Place.File), c.Place.Line, diag.Escape(c.Caller), diag.Escape(c.Callee), what)
	}
	t.Flush()
}

func (r *Result) mapFolded(w io.Writer) {
	if len(r.Folded) == 0 {
		return
	}
	t := table(w, "Folded, since another function has the same code", "name\tinto")
	for _, f := range r.Folded {
		fmt.Fprintf(t, "  %s\t%s\n", diag.Escape(f.Name), diag.Escape(f.Into))
	}
	t.Flush()
}

func (r *Result) mapRenamed(w io.Writer) {
	var t *tabwriter.Writer
	for _, s := range r.Symbols() {
		if s.Original == "" || s.Original == s.Name {
			continue
		}
		if t == nil {
			t = table(w, "Renamed", "from\twas\tis")
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", s.from(), diag.Escape(s.Original), diag.Escape(s.Name))
	}
	if t != nil {
		t.Flush()
	}
}

func (r *Result) mapDropped(w io.Writer) {
	if len(r.Dropped()) == 0 {
		return
	}
	t := table(w, "Dropped", "from\tkind\tname\twhy")
	for _, s := range r.Dropped() {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", s.from(), s.Kind, readable(cmp.Or(s.Original, s.Name)), dash(diag.Escape(s.Reason)))
	}
	t.Flush()
}

func (r *Result) mapRemoved(w io.Writer) {
	if len(r.Removed()) == 0 {
		return
	}
	t := table(w, "Removed, since nothing in the output refers to it", "kind\tbytes\tfrom\tname")
	for _, s := range r.Removed() {
		fmt.Fprintf(t, "  %s\t%d\t%s\t%s\n", s.Kind, s.Size, s.from(), readable(cmp.Or(s.Original, s.Name)))
	}
	t.Flush()
}

// from returns the place of the definition, as in messages.
func (s Symbol) from() string {
	if s.Module == "" {
		return "(" + cmp.Or(s.Supplier, "undefined") + ")"
	}
	if s.Line() == 0 {
		return diag.Escape(s.Module)
	}
	return fmt.Sprintf("%s:%d", diag.Escape(s.Module), s.Line())
}

// readable returns a name, followed by its demangled form if it is mangled.
func readable(name string) string {
	if plain := diag.Demangle(name); plain != name {
		return diag.Escape(name) + " = " + plain
	}
	return diag.Escape(name)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
