// Package link links PTX modules into one module, as the ptxlink command does.
//
// [Link] takes modules from files, from memory or from a reader, and returns the
// linked text, the fate of each symbol, and warnings. If the modules do not fit
// together, the error is [*Errors], which holds every error with its place in the inputs.
// [Linker] shares libraries between links. Package ptxlink/link/ptxas makes cubins.
package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ptxlink/abicheck"
	"ptxlink/abicheck/atomics"
	"ptxlink/abicheck/dwarftypes"
	"ptxlink/internal/infile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/link/advice"
	"ptxlink/link/program"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Link links the inputs into one module. If they cannot be linked, it returns
// *Errors with every error found, and no Result. Other errors are a cancelled
// context, an empty list of inputs, and an invalid option (Options.Check). Link may be
// called concurrently.
func Link(ctx context.Context, o Options) (*Result, error) {
	var read *infile.Files
	if slices.ContainsFunc(o.Inputs, func(in Input) bool { return in.Path != "" }) {
		ctx, read = infile.Record(ctx)
	}
	var maps *infile.Maps
	if o.MapInputs {
		maps = &infile.Maps{}
	}
	r, err := runPasses(ctx, o, maps)
	if err == nil {
		r.maps, r.read = maps, read
		return r, nil
	}
	if errs := (*Errors)(nil); errors.As(err, &errs) {
		errs.maps = maps
	} else {
		maps.Close()
	}
	return nil, err
}

// runPasses links. Each pass decides one thing for the passes after it, which do not change it. Large inputs are mapped
// if maps is not nil.
func runPasses(ctx context.Context, o Options, maps *infile.Maps) (*Result, error) {
	if len(o.Inputs)+len(o.Cubins) == 0 {
		return nil, errors.New("no inputs")
	}
	err := o.Check()
	if err != nil {
		return nil, err
	}
	var host object.Host
	if o.Host != "" {
		host, _ = object.ParseHost(o.Host)
	}
	log := &diag.Log{Spelling: o.Spelling}
	passes := make([]Pass, 0, 8)
	pass := func(name string, run func()) {
		start := time.Now()
		run()
		passes = append(passes, Pass{Name: name, Time: time.Since(start), Start: start})
	}

	// Load reads the inputs in parallel and parses each once. Members of archives are read in rounds, because the
	// members that are linked decide which others are needed. The names of cubins count as needs and definitions.
	in := inputs{cubins: resolve.NewCubins(o.Cubins)}
	pass("load", func() { err = in.load(ctx, o, maps, log) })
	if err != nil {
		return nil, err
	}

	// Resolve decides which definition each name refers to, and which definitions nothing needs. It may load further
	// members for the cubins that it links. Afterwards no file and no name is added, because the checks must see all.
	var table *resolve.Table
	pass("resolve", func() { table, err = in.resolve(ctx, o, maps, log) })
	if err != nil {
		return nil, err
	}

	// Check compares what modules say of each other's functions and objects, and finds what no output can express. The
	// checks only read, so they run in parallel. All errors in the inputs are reported here, together. Below, only the
	// machine can fail, and -O on more lines than it can number.
	var c checked
	pass("check", func() { c = check(ctx, table, host, o, log) })
	if err := refused(ctx, table, in, log); err != nil {
		return nil, err
	}

	// Debug finds what the names in DWARF mean. ptxas looks them up in the whole output by their spelling, so
	// renaming must know them.
	options := program.Options{Host: c.host, StripDebug: o.StripDebug, KeepLines: o.KeepLines, Jobs: o.Jobs}
	var sections *program.DebugSections
	pass("debug", func() { sections, err = program.NewDebugSections(ctx, table, options, log) })
	if err != nil {
		return nil, err
	}

	// Rename gives every symbol, and every local that DWARF looks up, its name in the output.
	var names *resolve.Names
	pass("rename", func() { names = rename(table, sections, o.Jobs, log) })

	// Merge makes one DWARF of all, which holds these names. A module whose sections cannot be moved loses them, with a
	// warning.
	var debug *program.Debug
	pass("merge", func() { debug, err = sections.Merge(ctx, names, options, log) })
	if err != nil {
		return nil, err
	}

	// Plan decides every byte as spans of the inputs with edits. No text is copied before emit, so that functions can
	// still be replaced.
	var p *program.Program
	pass("plan", func() { p, err = program.New(ctx, table, names, c.header, debug, options) })
	if err != nil {
		return nil, err
	}

	// The result takes the messages, so no pass below may add one.
	r := describe(p, in, o, log)

	// Optimise changes functions of the planned output, where each name has one meaning and every caller is known.
	if !o.CheckOnly && o.Optimize.Enabled() {
		o.Undefined = append(slices.Clip(o.Undefined), in.cubins.Needed()...)
		o.Optimize.Interposable = o.Optimize.Interposable || len(r.Cubins) > 0
		pass("optimise", func() { err = r.optimize(ctx, p, sections, o) })
		if err != nil {
			return nil, err
		}
	}
	// Faults of ptxas depend on the final code. Output of -r is linked again, and is left as it is.
	if !o.CheckOnly && !o.Relocatable {
		p.AvoidFaults()
	}

	for _, name := range o.WhyLive {
		r.Ways = append(r.Ways, describer{p}.ways(name, o))
	}
	// Emit copies the spans. A stream is copied by its reader, without a copy in memory.
	switch {
	case o.CheckOnly:
	case o.Stream:
		r.program, r.files = p, table.Files
	default:
		if err := infile.Room(int64(p.Size())); err != nil && p.Size() >= 16<<20 { // small outputs are not refused
			return nil, err
		}
		pass("emit", func() { r.PTX, r.Lines = p.Text() })
		r.describer() // afterwards it does not need the inputs
	}
	r.Passes = passes
	return r, nil
}

// resolve decides which definition each name refers to, and which cubins of archives are linked. A cubin may need
// modules of archives, and these may need further cubins, so both kinds are read in rounds until no name needs
// another. Until the cubins that no name has needed are dropped, the names that they define may stay undefined. Each
// round repeats the messages of the one before, so only the messages of the last round are kept.
func (in *inputs) resolve(ctx context.Context, o Options, maps *infile.Maps, log *diag.Log) (*resolve.Table, error) {
	defer func() { in.set = nil }() // drop the files that are not linked
	for {
		round := &diag.Log{Spelling: o.Spelling}
		traceSymbols(in.files, in.cubins.Linked(), o.TraceSymbols, round)
		table := resolveNames(in, o, round)
		if round.Errors() > 0 || !in.cubins.Choose(table, slices.Concat(o.Undefined, o.RequireDefined)...) {
			log.Append(round)
			if log.Errors() == 0 && in.empty && in.cubins.Empty() {
				nothingLinked(log)
			}
			return table, nil
		}
		// Members of archives were linked or dropped, so the names must be resolved again.
		if err := in.load(ctx, o, maps, log); err != nil {
			return nil, err
		}
	}
}

// Check returns the *Message that Link would return for an invalid option.
func (o Options) Check() error {
	if o.Host != "" {
		if _, err := object.ParseHost(o.Host); err != nil {
			return err
		}
	}
	_, wrong := program.ParseVersion(o.Version)
	if err := cmp.Or(object.CheckArch(o.Arch, o.Spelling), wrong, o.Optimize.Check()); err != nil {
		return err
	}
	if o.Relocatable && o.Optimize.Enabled() {
		return diag.New(diag.Usage, diag.Place{}, "a module that will be linked again cannot be optimised")
	}
	for _, d := range o.Define {
		if err := d.check(); err != nil {
			return err
		}
	}
	for _, name := range o.Wrap {
		if ptx.IsName(name) && !ptx.IsName("__wrap_"+name) {
			return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q cannot be wrapped, because __wrap_%s is not a name in PTX", name, name)).
				WithHelp(o.Spelling.With("--defsym", "%s lets uses of a name become uses of another one"))
		}
	}
	for _, option := range o.named() {
		for _, pattern := range option.Values {
			if err := sets.CheckGlob(pattern); err != nil && !option.Names {
				place, inFile := option.Places[pattern]
				text := fmt.Sprintf("%q is not a pattern", pattern)
				if !inFile {
					text += " for " + o.Spelling.Option(option.Option)
				}
				m := diag.New(diag.Usage, place, text).WithHelp("* is any name, ? any character, [ab] one of these")
				m.Err = err
				return m
			}
		}
	}
	return nil
}

func (o Options) named() []resolve.Named {
	var defined []string
	values := make(map[string]bool, len(o.Define))
	for _, d := range o.Define {
		values[d.Value] = true
	}
	for _, name := range o.Wrap {
		values["__wrap_"+name] = true
	}
	for _, d := range o.Define {
		if !values[d.Name] { // otherwise another option may use it
			defined = append(defined, d.Name)
		}
	}
	options := [...]resolve.Named{
		{Option: "--require-defined", Values: o.RequireDefined, Names: true, Scope: resolve.Exported, Required: true},
		{Option: "--entry", Values: o.Entries, Scope: resolve.Entries, Required: true},
		{Option: "--kernels-used", Values: o.kernels(), Scope: resolve.Entries},
		{Option: "-u", Values: o.Undefined, Names: true, Scope: resolve.Exported},
		{Option: "--export", Values: o.Exports, Scope: resolve.Definitions, Places: o.PatternPlaces},
		{Option: "--localize", Values: o.Localize, Scope: resolve.Definitions, Places: o.PatternPlaces},
		{Option: "--localize-symbol", Values: o.LocalizeInputs, Scope: resolve.Definitions},
		{Option: "--weaken-symbol", Values: o.Weaken, Scope: resolve.Definitions},
		{Option: "--allow-undefined", Values: o.AllowUndefined, Scope: resolve.External, Permits: true},
		{Option: "--defsym", Values: defined, Names: true, Scope: resolve.External},
		{Option: "--wrap", Values: o.Wrap, Names: true, Scope: resolve.External},
		{Option: "--trace-symbol", Values: o.TraceSymbols, Names: true},
		{Option: "--why-live", Values: o.WhyLive, Names: true, Scope: resolve.Definitions},
		{Option: "--inline", Values: o.Optimize.Inline, Scope: resolve.Functions},
		{Option: "--no-inline", Values: o.Optimize.NoInline, Scope: resolve.Functions},
	}
	var list []resolve.Named
	for _, named := range options {
		if len(named.Values) > 0 {
			list = append(list, named)
		}
	}
	return list
}

// resolveNames decides which definition each name refers to, and which definitions are in the
// output.
func resolveNames(in *inputs, o Options, log *diag.Log) *resolve.Table {
	options := resolve.Options{
		Relocatable: o.Relocatable, AllowUndefined: o.AllowUndefined, WarnUndefined: o.WarnUndefined,
		Redirect: in.redirect, Multiple: o.AllowDuplicates, Compared: o.DedupeIdentical,
		Cubins: in.cubins, NvlinkReports: len(o.Kernels)+len(o.Launched) > 0, Assembled: o.Assembled,
	}
	t := resolve.Resolve(in.files, options, log)
	missing := t.Unmatched(o.named(), log)
	t.Hide(o.Localize, o.Exports)
	collect(t, o)
	missing = append(missing, t.Undefined(in.set.Unusable, log)...)
	if len(missing) > 0 {
		advice.Names(advice.Link{Table: t, Log: log, Members: in.set.Outlines, Cubins: o.Cubins, WholeProgram: o.WholeProgram, NotLinked: o.NotLinked, HostObject: o.HostObject}, missing)
	}
	return t
}

// kernels returns patterns of the entries that Kernels keeps, since resolve takes only patterns.
func (o Options) kernels() (patterns []string) {
	for _, name := range o.Kernels {
		patterns = append(patterns, "*"+sets.EscapeGlob(name)+"*")
	}
	return patterns
}

func collect(t *resolve.Table, o Options) {
	if o.KeepUnused || o.Relocatable {
		return
	}
	t.Collect(resolve.Roots{
		Entries: slices.Concat(o.Entries, o.kernels(), o.Launched), Exports: o.Exports, Names: slices.Concat(o.Undefined, o.RequireDefined),
		Variables: !o.CollectVariables, Ways: len(o.WhyLive) > 0,
	})
}

// checked holds the results of the checks.
type checked struct {
	header program.Header
	host   object.Host // of all inputs, as far as it is known
}

// check runs the checks in parallel, which is safe because they only read the table. Their messages
// come in the order of the list.
func check(ctx context.Context, t *resolve.Table, host object.Host, o Options, log *diag.Log) (c checked) {
	var addressSize int
	addressSize, c.host = abicheck.Hosts(t.Files, abicheck.HostOptions{Host: host, AllowMismatch: o.AllowHostMismatch}, log)
	files := t.Contributing()
	c.header = program.MergeHeaders(files, addressSize, o.Version, log)
	c.header.CheckArch(files, o.Arch, log)
	checks := append(make([]func(*resolve.Table, *diag.Log), 0, 20),
		abicheck.Cubins,
		abicheck.Conventions,
		abicheck.Symbols,
		func(t *resolve.Table, log *diag.Log) { abicheck.SystemCalls(t, c.header.AddressSize, log) },
		abicheck.WeakBodies,
		dwarftypes.Check,
		abicheck.CxxNames,
		abicheck.PrivateCopies,
		abicheck.Alignments,
		abicheck.Calls,
		abicheck.Values,
		abicheck.SharedObjects,
		program.Initialisers,
		program.Constants,
		program.Pragmas,
	)
	if !o.StripDebug {
		checks = append(checks, program.SectionEnds)
	}
	if !o.StripDebug || o.KeepLines {
		checks = append(checks, program.LineFiles)
	}
	if !o.Relocatable {
		checks = append(checks, abicheck.IndirectCalls)
	}
	if dedupe := o.DedupeIdentical && !o.AllowDuplicates; dedupe || t.Duplicates != nil {
		checks = append(checks, func(t *resolve.Table, log *diag.Log) { abicheck.Duplicates(t, dedupe, log) })
	}
	if o.Atomics {
		checks = append(checks, atomics.Check)
	}
	logs := log.Split(len(checks))
	jobs := parallel.Jobs(o.Jobs, len(t.Symbols) < 500 && !slices.ContainsFunc(t.Files, func(f *object.File) bool { return f.Debug }))
	parallel.Each(ctx, len(checks), jobs, func(int) string { return "checking" }, func(i int) { checks[i](t, &logs[i]) })
	for i := range logs {
		log.Append(&logs[i])
	}
	return c
}

func rename(t *resolve.Table, debug *program.DebugSections, jobs int, log *diag.Log) *resolve.Names {
	names := resolve.Rename(t, debug.LookedUp, jobs)
	for _, id := range names.Renamed {
		f := t.Files[id.File]
		if d := f.DeclOf(id.Name); d != nil && d.Kind == ptx.Entry {
			log.Warn(diag.EntryRenamed, f.At(d.NameSpan), fmt.Sprintf("entry %s is called %s in the output: it has no linkage, and another input has the name too", log.Name(f.Names[id.Name]), names.Of(id))).Of(f.Names[id.Name]).
				WithHelp("make it .visible under a name of its own, so that the host can find it")
		}
	}
	return names
}

// refused returns the error of a link that reported errors or was cancelled. Its messages must be
// in command-line order, whichever pass reported them.
func refused(ctx context.Context, t *resolve.Table, in inputs, log *diag.Log) error {
	if log.Errors() > 0 {
		sortMessages(in.files, log)
		advice.Duplicates(t, log)
		advice.Copies(in.duplicated(), log)
		advice.Sources(in.files, log)
		e := &Errors{Messages: log.Messages}
		for _, f := range in.files {
			e.Modules = append(e.Modules, f.Name)
		}
		return e
	}
	return ctx.Err()
}

// sortMessages puts messages in the order of the inputs and their lines.
func sortMessages(files []*object.File, log *diag.Log) {
	rank := map[*diag.Source]int{nil: -1}
	for i, f := range files {
		rank[f.Src] = i
	}
	slices.SortStableFunc(log.Messages, func(a, b *Message) int {
		return cmp.Or(cmp.Compare(rank[a.Place.Source], rank[b.Place.Source]), cmp.Compare(a.Place.Span.Off, b.Place.Span.Off))
	})
}
