package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/object/diag"
)

// describe returns the text that options ask to print about a link.
func (j *linkJob) describe(result *link.Result) string {
	var w strings.Builder
	if j.opts.IsSet("print-dependencies") && j.beside["print-dependencies"] == "" {
		writePulls(&w, result)
	}
	if j.opts.Bool("print-gc-sections") {
		for _, s := range result.Removed() {
			fmt.Fprintf(&w, "removed\t%s\t%s:%d\t%s\n", s.Kind, diag.Escape(s.Module), s.Line(), diag.Escape(s.Name))
		}
	}
	for i, name := range j.options.WhyLive {
		j.printWays(&w, name, result.Ways[i], result)
	}
	if j.opts.Bool("print-icf-sections") {
		for _, f := range result.Folded {
			fmt.Fprintf(&w, "folded\t%s\tinto\t%s\n", diag.Escape(f.Name), diag.Escape(f.Into))
		}
	}
	if j.opts.Bool("print-inlining") {
		showInlining(&w, result)
	}
	return w.String()
}

// printWays prints why the definitions with a name are in the output, or why they are not.
func (j *linkJob) printWays(w io.Writer, name string, ways []link.Why, result *link.Result) {
	if len(ways) == 0 {
		fmt.Fprintf(w, "%s is not in the output\n", diag.Escape(name))
	}
	type definition struct { // an object of a function has its place
		name string
		at   link.Place
	}
	gone := map[definition]string{} // by the optimiser
	for _, s := range result.Dropped() {
		gone[definition{s.Name, s.Place()}] = s.Reason
	}
	for _, why := range ways {
		switch {
		case why.Way == nil:
			fmt.Fprintf(w, "%s %s (%s:%d) is not in the output: %s\n", why.Kind, diag.Escape(why.Original), diag.Escape(why.Module), why.Line(), diag.Escape(why.Reason))
		case why.Place().Source == nil:
			j.printCubin(w, why.Way[0], result.Pulls)
		default:
			for i, s := range why.Way {
				what := "is used by the line above"
				if i == 0 {
					what = "is a root: " + why.Root
				}
				if reason := gone[definition{s.Name, s.Place()}]; reason != "" {
					what += ", and no longer in the output: " + diag.Escape(reason)
				}
				fmt.Fprintf(w, "%*s%s %s (%s:%d) %s\n", 2*i, "", s.Kind, diag.Escape(s.Name), diag.Escape(s.Module), s.Line(), what)
			}
		}
	}
}

// printCubin prints why a symbol of a cubin is linked: the chain of archive members that need the
// cubin, and the parts that nvlink keeps.
func (j *linkJob) printCubin(w io.Writer, s link.Symbol, pulls []link.Pull) {
	why := map[string]link.Pull{}
	for _, p := range pulls {
		why[p.Member] = p
	}
	var chain []link.Pull
	for p, pulled := why[s.Module]; pulled && len(chain) < len(pulls); p, pulled = why[p.By] {
		chain = append(chain, p)
	}
	slices.Reverse(chain)
	for i, p := range chain {
		who := "an option names"
		if p.By != "" {
			who = diag.Escape(p.By) + " needs"
		}
		fmt.Fprintf(w, "%*s%s is linked because %s %s\n", 2*min(i, maxIndent), "", diag.Escape(p.Member), who, diag.Escape(p.Symbol))
	}
	what := "is a root"
	switch {
	case j.assembler.Compile:
		what = "is machine code, all of which is linked"
	case s.Kind == "func":
		what = "is machine code, of which nvlink keeps the functions that kernels use"
	}
	fmt.Fprintf(w, "%*s%s %s (%s) %s\n", 2*min(len(chain), maxIndent), "", s.Kind, diag.Escape(s.Name), diag.Escape(s.Module), what)
}

// showInlining writes a line for each call that could be inlined, with the reason if it is not.
func showInlining(w io.Writer, result *link.Result) {
	for _, call := range result.InlinedCalls {
		what := "inlined"
		if !call.Inlined {
			what = "not inlined: " + call.Reason
		}
		file, line, _ := call.Place.Position()
		fmt.Fprintf(w, "%s:%d\t%s\t%s\t%s\n", diag.Escape(file), line, diag.Escape(call.Caller), diag.Escape(call.Callee), diag.Escape(what))
	}
}

func writePulls(w io.Writer, result *link.Result) {
	for _, p := range result.Pulls {
		fmt.Fprintf(w, "%s\t%s\t%s\n", diag.Escape(cmp.Or(p.By, "-u")), diag.Escape(p.Member), diag.Escape(p.Symbol))
	}
}
