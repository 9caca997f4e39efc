package main

import (
	"fmt"
	"io"

	"ptxlink/link"
	"ptxlink/link/diag"
)

// readOptimize reads the options for the second stage of a link.
func (j *linkJob) readOptimize() (o link.Optimize, err error) {
	opts := j.opts
	o = link.Optimize{
		Level:        int(opts.Int64("O")),
		Inline:       opts.StringSlice("inline"),
		NoInline:     opts.StringSlice("no-inline"),
		InlineLimit:  int(opts.Int64("inline-limit")),
		Fold:         opts.Bool("icf"),
		Interposable: opts.Bool("compile-only"),
	}
	inlines := o.Level > 0 || len(o.Inline) > 0
	if inlines {
		collectAt(400) // each round of inlining leaves a module behind
	}
	if (inlines || o.Fold) && opts.Bool("relocatable") {
		return o, &usageError{text: "-r excludes -O, --inline and --icf", help: "optimise when everything is linked"}
	}
	if !inlines {
		for _, name := range []string{"no-inline", "inline-limit", "print-inlining"} {
			if opts.IsSet(name) {
				if err := j.warnUnused(name, "-O or --inline"); err != nil {
					return o, err
				}
			}
		}
	}
	return o, nil
}

// showFolded writes a line for each function that another one replaces.
func showFolded(w io.Writer, result *link.Result) {
	for _, f := range result.Folded {
		fmt.Fprintf(w, "folded\t%s\tinto\t%s\n", diag.Escape(f.Name), diag.Escape(f.Into))
	}
}

// showInlining writes a line for each call that could be inlined.
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
