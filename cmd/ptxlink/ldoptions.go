package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/report"
)

// readLinkerOptions reads the options that ld has too.
func (j *linkRequest) readLinkerOptions() error {
	opts, o := j.opts, &j.options
	if script := opts.String("version-script"); script != "" {
		global, local, places, err := readVersionScript(j.read, script)
		if err != nil {
			return err
		}
		o.PatternPlaces = places
		o.Exports, o.Localize = append(o.Exports, global...), append(o.Localize, local...)
	}
	o.Wrap, o.TraceSymbols = opts.StringSlice("wrap"), opts.StringSlice("trace-symbol")
	o.Weaken, o.LocalizeInputs = opts.StringSlice("weaken-symbol"), opts.StringSlice("localize-symbol")
	o.AllowDuplicates, o.DedupeIdentical = opts.Bool("allow-multiple-definition"), opts.Bool("dedupe-identical")
	o.WarnUndefined = j.lastOf("warn-unresolved-symbols", "error-unresolved-symbols")
	how := opts.String("unresolved-symbols")
	ignore := how == "ignore-all" || how == "ignore-in-object-files"
	for _, keyword := range words(opts, "z") {
		switch keyword {
		case "muldefs":
			o.AllowDuplicates = true
		case "undefs":
			ignore = true
		case "defs":
			ignore = false
		}
	}
	if ignore {
		o.AllowUndefined = append(o.AllowUndefined, "*")
	}
	for _, d := range opts.StringSlice("defsym") {
		name, value, ok := strings.Cut(d, "=")
		if !ok || name == "" || value == "" {
			return usageError(fmt.Sprintf("--defsym wants NAME=SYMBOL or NAME=NUMBER, not %q", d), "")
		}
		o.Define = append(o.Define, link.Definition{Name: name, Value: value})
	}
	o.CrossReference = opts.Bool("cref")
	return o.Check()
}

// lastOf reports whether on is given after off, since the last of two opposite options wins.
func (c *command) lastOf(on, off string) (last bool) {
	for _, arg := range c.arguments {
		switch arg {
		case "--" + on:
			last = true
		case "--" + off:
			last = false
		}
	}
	return last
}

// writeMap writes the file of -Map. The table of --cref comes last; if --cref is given alone, only
// the table is written, to standard output.
func (j *linkJob) writeMap(w io.Writer, result *link.Result, facts func() *report.Map) error {
	if filepath.Ext(j.beside["Map"]) == ".json" {
		return facts().WriteJSON(w)
	}
	if !j.onlyCref {
		if err := facts().WriteText(w); err != nil || !j.options.CrossReference {
			return err
		}
		io.WriteString(w, "\n")
	}
	return report.WriteReferences(w, result)
}

// writeTimeTrace writes the passes as events of the trace event format, because chrome://tracing
// and ui.perfetto.dev can show it.
func (j *linkJob) writeTimeTrace(w io.Writer) error {
	type event struct {
		Name  string `json:"name"`
		Phase string `json:"ph"`
		Start int64  `json:"ts"` // microseconds
		Time  int64  `json:"dur"`
		PID   int    `json:"pid"`
		TID   int    `json:"tid"`
	}
	first := slices.MinFunc(j.passes, func(a, b link.Pass) int { return a.Start.Compare(b.Start) }).Start
	events := []event{}
	for _, p := range j.passes {
		events = append(events, event{p.Name, "X", p.Start.Sub(first).Microseconds(), p.Time.Microseconds(), 1, 1})
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"})
}
