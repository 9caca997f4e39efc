package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"ptxlink/link"
	"ptxlink/object/diag"
)

// WriteDot writes the call graph of a link in the language of Graphviz. Entries are bold boxes, functions
// that the output only declares dashed boxes, and variables ovals. An edge has the number of calls;
// it is dashed if an address is taken.
func WriteDot(w io.Writer, r *link.Result) error {
	out := bufio.NewWriter(w) // it keeps the first error until Flush
	fmt.Fprint(out, "digraph ptxlink {\n\trankdir=LR;\n\tnode [shape=box];\n")
	points := map[string]bool{} // variables with an edge
	for _, e := range r.Edges() {
		points[e.From] = true
	}
	for _, s := range r.Symbols() {
		style := ""
		switch {
		case s.Kind == "entry":
			style = ", style=bold"
		case s.Kind == "object" && !points[s.Name]:
			continue
		case s.Kind == "object":
			style = ", shape=ellipse"
		case s.Module == "":
			style = ", style=dashed"
		}
		fmt.Fprintf(out, "\t%s [label=%s%s];\n", strconv.Quote(diag.Escape(s.Name)), strconv.Quote(diag.Escape(r.Spelling.Demangle(s.Name))), style)
	}
	for _, e := range r.Edges() {
		from, to := strconv.Quote(diag.Escape(e.From)), strconv.Quote(diag.Escape(e.To))
		if e.Calls > 0 {
			fmt.Fprintf(out, "\t%s -> %s [label=%d];\n", from, to, e.Calls)
		}
		if e.Addresses > 0 {
			fmt.Fprintf(out, "\t%s -> %s [style=dashed];\n", from, to)
		}
	}
	fmt.Fprint(out, "}\n")
	return out.Flush()
}

// WriteReferences writes link.Result.References in the form of --cref of GNU ld.
func WriteReferences(w io.Writer, r *link.Result) error {
	out := bufio.NewWriter(w) // it keeps the first error until Flush
	fmt.Fprintf(out, "Cross Reference Table\n\n%-50s%s\n", "Symbol", "File")
	for _, ref := range r.References {
		column := 0
		if name := readable(ref.Name, r.Spelling); len(name) < 50 {
			fmt.Fprintf(out, "%-50s", name)
			column = 50
		} else {
			fmt.Fprintln(out, name)
		}
		for _, module := range ref.Modules {
			fmt.Fprintf(out, "%*s%s\n", 50-column, "", diag.Escape(module))
			column = 0
		}
	}
	return out.Flush()
}

// Origins returns where all lines of PTX come from, for programs that cannot call LineMap.Origin: names of
// modules, and for each line two numbers. The first is the index of its module in the names, or -1
// if the linker wrote it; the second is the line there, from 1.
func Origins(r *link.Result) (modules []string, lines []int) {
	index := map[string]int{}
	for line := range bytes.Count(r.PTX, []byte("\n")) {
		place, ok := r.Lines.Origin(line + 1)
		if !ok {
			lines = append(lines, -1, 0)
			continue
		}
		name, at, _ := place.Position()
		i, known := index[name]
		if !known {
			i = len(modules)
			index[name], modules = i, append(modules, name)
		}
		lines = append(lines, i, at)
	}
	return modules, lines
}
