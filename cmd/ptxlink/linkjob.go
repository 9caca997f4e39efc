package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
	"ptxlink/link/report"
)

// linkRequest is what a command line asks of a link. A front makes it: ptxlink, check, deps, or one
// of the linkers that ptxlink replaces. A linkJob runs it, and does not change it.
type linkRequest struct {
	*command
	opts      *cli.Context
	options   link.Options
	assembler ptxas.Build
	output    string            // "-" is standard output
	format    string            // "ptx", "cubin" or "fatbin"
	anySuffix bool              // the output may have any suffix
	checkOnly bool              // ptxlink check and deps
	apart     bool              // ptxlink deps: no unit of intermediate code is compiled with others
	fromRustc bool              // ptxlink llvm-bitcode-linker
	archs     []string          // the GPUs of a fatbin, if there are several
	beside    map[string]string // by option, the files of sideFiles that must be written
	onlyCref  bool              // --cref is given without a map
	usage     bool              // --resource-usage
	compare   bool              // --resource-usage=compare
	// separate separates the inputs of ptxlink nvlink, first with prefer: see dlink.Linker.
	separate func(dlink.Preference) (dlink.Separated, []*link.Message)
	prefer   dlink.Preference
}

// linkJob is the run of a request.
type linkJob struct {
	linkRequest
	now       link.Options   // the options of the link that runs, for one GPU
	build     ptxas.Build    // assembler, with the programs that were found
	fatbinary string         // path of fatbinary
	linked    []link.Options // the options of each target, with its inputs
	passes    []link.Pass
	lowered   bool            // there was LTO-IR
	bitcode   bool            // there was LLVM bitcode
	compiled  sync.Map        // the commands that compile intermediate code, by the name of the module
	saved     []outfile.File  // files of --save-temps that are not written yet
	kept      int             // number of units that were kept
	gpus      []report.GPU    // for the map and the page
	fromPtxas []*link.Message // likewise
}

func (j *linkRequest) job() *linkJob {
	return &linkJob{linkRequest: *j, now: j.options, build: j.assembler}
}

// links returns the run of a subcommand that links.
func links(front func(*linkRequest) error) func(*command, *cli.Context) error {
	return func(c *command, opts *cli.Context) error {
		c.spelling.Mangled = opts.Bool("no-demangle")
		c.report.style.Spelling = c.spelling
		j := &linkRequest{command: c, opts: opts}
		j.options.Spelling, j.assembler.Spelling = c.spelling, c.spelling
		err := front(j)
		if j.assembler.Cache != nil {
			j.assembler.Cache.Close(opts.Context) // its errors were reported before
		}
		return err
	}
}

// sideFiles are the options that name a file beside the output.
var sideFiles = []string{"Map", "dot", "report", "dependency-file", "unused-inputs", "print-dependencies", "time-trace", "reproduce"}

// run is ptxlink without a subcommand. Errors that need no input are reported first. Files must be written last, all or
// none.
func (j *linkRequest) run() error {
	if j.opts.Bool("version") {
		return j.show([]byte(version() + "\n"))
	}
	if j.opts.IsSet("explain") {
		return j.explain(j.opts.String("explain"))
	}
	if err := inOrder(j.readOptions, j.misspelt, j.readInputs, j.checkFiles, j.reproduce); err != nil {
		return err
	}
	return j.job().produce(nil)
}

// produce links and writes all files. more returns files that depend on the link, and runs before
// ptxas; it may be nil.
func (j *linkJob) produce(more func(*linkJob, *link.Result) []outfile.File) error {
	targets, files, err := j.make(more)
	switch {
	case err != nil && j.beside["report"] != "" && !j.opts.Bool("dry-run") && j.opts.Err() == nil:
		return j.writeFailure(targets, err)
	case err != nil || j.opts.Bool("dry-run"):
		return err
	}
	result := ptxas.Portable(targets).Result
	if err := j.writeResult(result, unused(targets), files...); err != nil {
		return err
	}
	if j.opts.Bool("time") || j.opts.String("time") == "-" {
		j.showTimes()
	}
	j.sayWritten(targets)
	return nil
}

// inOrder runs steps up to the first error, and returns it.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// make links, and returns the targets and the files to write. The output must be the last file.
func (j *linkJob) make(more func(*linkJob, *link.Result) []outfile.File) (targets []ptxas.Target, files []outfile.File, err error) {
	if j.cubin() && j.build.Path == "" {
		if err := j.findTools(); err != nil {
			return nil, nil, err
		}
	}
	if targets, err = j.linkAll(); err != nil {
		return nil, nil, err
	}
	result := ptxas.Portable(targets).Result
	if more != nil {
		files = more(j, result)
	}
	output := outfile.File{Path: j.output, From: result}
	if j.cubin() {
		output.From = nil
		if output.Data, err = j.assemble(targets); err != nil {
			return targets, nil, err
		}
	}
	if j.opts.IsSet("emit-parts") {
		output = outfile.File{Path: j.output, Data: result.PTX}
		if files, err = j.cut(result); err != nil {
			return targets, nil, err
		}
	}
	return targets, append(files, output), nil
}

// writeFailure writes the page of a link that failed: the messages and, if ptxas refused its
// output, the linked module. It reports the error first.
func (j *linkJob) writeFailure(targets []ptxas.Target, err error) error {
	failed := &exitError{code: j.finish(err)}
	page := report.Report{Title: filepath.Base(j.output), Map: report.NewMap(), Failed: true}
	if targets != nil {
		page.Map = report.MapOf(ptxas.Portable(targets).Result)
	}
	page.Map.Messages = report.MapMessages(j.report.shown, j.spelling)
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return err
	}
	if err := j.writeFirst(j.paths, j.toFile(j.beside["report"], b.Bytes())); err != nil {
		j.finish(err)
	}
	return failed
}

// readOptions reads the options, and makes the checks that package flag cannot make.
func (j *linkRequest) readOptions() error {
	if err := j.readMessageOptions(j.opts); err != nil {
		return err
	}
	return inOrder(j.readLink, j.readLinkerOptions, j.readOutput, j.readArchs, j.readFiles, j.readAssembler)
}

func (j *linkRequest) readLink() error {
	opts := j.opts
	optimize, err := j.readOptimize()
	if err != nil {
		return err
	}
	if optimize.Enabled() && j.memory == nil {
		runtime.AddCleanup(new([64]byte), collectAt, 50) // after the first collection, collect more often: most of what the optimiser allocates is soon garbage
	}
	if len(j.inputs) == 0 {
		return usageError("no input files", "ptxlink --help shows the usage")
	}

	j.options = link.Options{
		Spelling:       j.spelling,
		Jobs:           int(opts.Int64("threads")),
		Relocatable:    opts.Bool("relocatable"),
		AllowUndefined: opts.StringSlice("allow-undefined"),
		Host:           opts.String("host"),
		Version:        opts.String("ptx-version"),
		MaxInputSize:   opts.Int64("max-input-size"),
		Undefined:      opts.StringSlice("undefined"),
		RequireDefined: opts.StringSlice("require-defined"),
		Verbose:        opts.Bool("verbose"),

		AllowHostMismatch: opts.Bool("allow-host-mismatch"),
		Entries:           opts.StringSlice("entry"),
		Kernels:           opts.StringSlice("kernels-used"),
		Exports:           opts.StringSlice("export"),
		Localize:          opts.StringSlice("localize"),
		CollectVariables:  opts.Bool("gc-variables"),
		WhyLive:           opts.StringSlice("why-live"),
		StripDebug:        opts.Bool("strip-debug"),
		KeepLines:         opts.Bool("keep-line-info"),

		// Everything must stay, because other cubins may call every function of a relocatable one.
		KeepUnused: opts.Bool("no-gc-sections") || opts.Bool("compile-only") && !opts.Bool("gc-sections"),

		Optimize: optimize,

		MapInputs: j.memory == nil, // because a server would keep them mapped
		CheckOnly: j.checkOnly && !opts.Bool("assemble"),
	}
	return nil
}

func (j *linkRequest) readFiles() error {
	opts := j.opts
	if j.cubin() && !opts.Bool("compile-only") { // because it cannot have undefined symbols
		j.options.Spelling = j.spelling.Without("--allow-undefined")
	}
	j.options.Assembled = j.cubin()
	j.options.Stream = !j.cubin() && !opts.IsSet("emit-parts") && j.memory == nil // ptxas needs the module in memory
	j.beside = map[string]string{}
	for _, option := range sideFiles {
		j.beside[option] = opts.String(option)
	}
	if opts.Bool("print-map") && j.beside["Map"] == "" {
		j.beside["Map"] = "-"
	}
	if opts.Bool("MD") && j.beside["dependency-file"] == "" && j.output != "-" {
		j.beside["dependency-file"] = j.output + ".d"
	}
	j.report.keep = j.report.keep || j.beside["report"] != ""
	if opts.Bool("no-threads") {
		j.options.Jobs = 1
	}
	return j.warnIgnored(opts)
}

func (j *linkRequest) readOptimize() (o link.Optimize, err error) {
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
	if (inlines || o.Fold) && (opts.Bool("relocatable") || opts.Bool("relocatable-link")) {
		return o, usageError("-r excludes -O, --inline and --icf", "optimise when everything is linked")
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

func (j *linkRequest) readInputs() (err error) {
	j.options.Inputs, err = j.findInputs(j.opts.StringSlice("L"))
	if script := j.opts.String("version-script"); script != "" {
		j.paths = append(j.paths, script)
	}
	return err
}

// checkFiles returns an error if an output is also an input, or two outputs are the
// same file.
func (j *linkRequest) checkFiles() error {
	switch {
	case j.options.CrossReference && j.beside["Map"] == "":
		j.beside["Map"], j.onlyCref = "-", true
	case j.options.CrossReference && filepath.Ext(j.beside["Map"]) == ".json":
		return usageError("--cref does not go with a map in JSON", "the map has the module of each symbol and all calls")
	}
	if j.beside["dependency-file"] != "" && j.output == "-" {
		return usageError("--dependency-file needs an output with a name", "name one with -o")
	}
	for _, option := range []string{"dependency-file", "unused-inputs", "reproduce"} {
		if j.beside[option] == "-" {
			return usageError(spell(option)+" cannot be standard output", "")
		}
	}
	if j.cubin() && j.output == "-" && isTerminal(j.stdout) {
		return usageError("a cubin is not written to a terminal", "name a file with -o")
	}
	type file struct{ option, path string }
	named := []file{{"-o", j.output}}
	for _, option := range sideFiles {
		named = append(named, file{spell(option), j.beside[option]})
	}
	for i := range j.assembler.Parts {
		if pattern := j.opts.String("emit-parts"); pattern != "" {
			named = append(named, file{"--emit-parts", partFile(pattern, i)})
		}
	}
	for i, a := range named {
		if a.path == "" {
			continue
		}
		for _, b := range named[:i] {
			if j.sameOutput(a.path, b.path) {
				return usageError(fmt.Sprintf("%s and %s would both write %s", b.option, a.option, a.path), "")
			}
		}
		if err := j.checkFile(a.path); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) sameOutput(a, b string) bool {
	if a == "-" || b == "-" || b == "" || c.memory.output(a) != nil || c.memory.output(b) != nil {
		return filepath.ToSlash(a) == filepath.ToSlash(b)
	}
	return !strings.EqualFold(a, os.DevNull) && outfile.Same(a, b)
}

// writeResult writes the files. The output must be the last, so that the others exist once it does.
func (j *linkJob) writeResult(result *link.Result, unused []string, output ...outfile.File) error {
	defer j.timed("write", time.Now())
	facts := sync.OnceValue(func() *report.Map {
		m := report.MapOf(result)
		m.GPUs = append(m.GPUs, j.gpus...)
		m.Messages = append(m.Messages, report.MapMessages(j.fromPtxas, j.spelling)...)
		return m
	})
	write := map[string]func(io.Writer) error{ // --reproduce is written before the link
		"Map":    func(w io.Writer) error { return j.writeMap(w, result, facts) },
		"dot":    func(w io.Writer) error { return report.WriteDot(w, result) },
		"report": func(w io.Writer) error { return report.Report{Title: filepath.Base(j.output), Map: facts()}.Write(w) },
		// Only regular files are listed, because pipes such as /dev/fd/63 are gone when Make looks
		// for them. Members of thin archives are files.
		"dependency-file": func(w io.Writer) error {
			return outfile.Dependencies(w, j.output, append(j.read.Regular(j.paths), without(j.read.Names(), j.response, j.paths)...))
		},
		"unused-inputs":      func(w io.Writer) error { return outfile.UnusedInputs(w, j.read.Regular(unused)) },
		"print-dependencies": func(w io.Writer) error { writePulls(w, result); return nil },
		"time-trace":         j.writeTimeTrace,
	}
	var files []outfile.File
	for _, option := range sideFiles {
		if j.beside[option] == "" || write[option] == nil {
			continue
		}
		var b bytes.Buffer
		if err := write[option](&b); err != nil {
			return err
		}
		files = append(files, j.toFile(j.beside[option], b.Bytes()))
	}
	if last := len(output) - 1; j.output == "-" {
		output[last] = j.toStdout(output[last])
	}
	return j.write(j.paths, append(files, output...)...)
}

// without returns the names that none of the lists has.
func without(names []string, lists ...[]string) []string {
	skip := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			skip[name] = true
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return skip[name] })
}

// timed adds a pass that runs outside the linker.
func (j *linkJob) timed(name string, start time.Time) {
	j.passes = append(j.passes, link.Pass{Name: name, Time: time.Since(start), Start: start})
}

func (j *linkJob) showTimes() {
	total := link.Pass{Name: "total"}
	for _, p := range j.passes {
		total.Time += p.Time
	}
	for _, p := range append(j.passes, total) {
		fmt.Fprintf(j.stderr, "%10.3f ms  %s\n", p.Time.Seconds()*1000, p.Name)
	}
}
