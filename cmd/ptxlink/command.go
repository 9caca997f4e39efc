package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/typo"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/ptxas"
	"ptxlink/link/report"
	"ptxlink/object"
)

// command is one run of ptxlink.
type command struct {
	inputs         []input // in command-line order
	operation      string  // of ar
	spelling       diag.Spelling
	stdin          io.Reader
	stdout, stderr io.Writer
	report         reporter
	read           *infile.Files // all that were read

	format      string            // "ptx", "cubin" or "fatbin"
	cubin       bool              // not PTX
	archs       []string          // the GPUs of a fatbin, if there are several
	output      string            // "-" is standard output
	unnamed     bool              // without -o
	anySuffix   bool              // of the output
	beside      map[string]string // the files of sideFiles that are written, by option
	partFiles   string            // --emit-parts
	gpus        []link.GPU        // for the map and the page
	fromPtxas   []*link.Message   // for the page
	linked      *link.Result
	written     bool // all files are, or could not be
	assembler   ptxas.Build
	linkOptions link.Options
	paths       []string // of the inputs that are files
	scripts     []string // --version-script
	passes      []link.Pass
	printPulls  bool
	fatbinary   string // its path
	usage       bool   // --resource-usage
	compare     bool   // --resource-usage=compare
	saveTemps   bool
	checkOnly   bool // ptxlink check
	dryRun      bool
	// printRemoved is --print-gc-sections.
	printRemoved bool

	arguments []string // the options from reorder
	cref      bool
	onlyCref  bool // without the map
	trace     bool // -t

	optimize      link.Optimize
	printInlining bool
	printFolded   bool
}

// sideFiles are the options that name a file beside the output.
var sideFiles = []string{"Map", "dot", "report", "dependency-file", "unused-inputs", "print-dependencies", "time-trace", "reproduce"}

// run runs a link. Errors that need no input are reported first; files are written
// last, all or none.
func (c *command) run(opts *cli.Context) error {
	if opts.Bool("version") {
		return c.show([]byte(version() + "\n"))
	}
	if opts.IsSet("explain") {
		return c.explain(opts.String("explain"))
	}
	if err := c.readOptions(opts); err != nil {
		return err
	}
	if err := c.misspelt(); err != nil {
		return err
	}
	if err := c.findInputs(opts.StringSlice("L")); err != nil {
		return err
	}
	switch {
	case c.cref && c.beside["Map"] == "":
		c.beside["Map"], c.onlyCref = "-", true
	case c.cref && filepath.Ext(c.beside["Map"]) == ".json":
		return &usageError{text: "--cref does not go with a map in JSON", help: "the map has the module of each symbol and all calls"}
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	if err := c.reproduce(opts); err != nil {
		return err
	}
	err := c.linkAndWrite(opts)
	if err != nil && c.beside["report"] != "" && !c.dryRun && !c.written && opts.Context.Err() == nil {
		return c.writeFailure(err)
	}
	return err
}

// linkAndWrite links and writes all files.
func (c *command) linkAndWrite(opts *cli.Context) error {
	if c.cubin {
		if err := c.findTools(opts); err != nil {
			return err
		}
	}
	targets, err := c.linkAll(opts.Context)
	if err != nil {
		return err
	}
	result := ptxas.Portable(targets).Result
	c.linked = result
	output := outfile.File{Path: c.output, From: result}
	if c.cubin {
		cubin, err := c.assemble(opts.Context, targets)
		if err != nil || c.dryRun {
			return err
		}
		output = outfile.File{Path: c.output, Data: cubin}
	}
	var parts []outfile.File
	if c.partFiles != "" {
		output = outfile.File{Path: c.output, Data: result.PTX}
		if parts, err = c.cut(result); err != nil {
			return err
		}
	}
	if c.dryRun {
		return nil
	}
	c.written = true
	if err := c.writeResult(result, unused(targets), append(parts, output)...); err != nil {
		return err
	}
	if opts.Bool("time") {
		c.showTimes()
	}
	if opts.Bool("stats") {
		c.showStats(result)
	}
	return nil
}

// writeFailure writes the page of a link that failed: the messages and, if ptxas refused
// its output, what was linked. It reports the error first.
func (c *command) writeFailure(err error) error {
	failed := &exitError{code: c.finish(err)}
	page := report.Report{Title: filepath.Base(c.output), Map: link.NewMap(), Failed: true}
	if c.linked != nil {
		page.Map = c.linked.Map()
	}
	page.Map.Messages = link.MapMessages(c.report.shown)
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return err
	}
	if err := c.write(c.paths, c.toFile(c.beside["report"], b.Bytes())); err != nil {
		c.finish(err)
	}
	return failed
}

// readMessageOptions reads the options for the display of messages.
func (c *command) readMessageOptions(opts *cli.Context) error {
	if c.report.text() || opts.IsSet("error-limit") { // other programs get all errors
		c.report.style.ErrorLimit = int(opts.Int64("error-limit"))
	}
	c.report.warnings = warningOptions{quiet: opts.Bool("w"), fatal: opts.Bool("fatal-warnings")}
	for _, w := range opts.StringSlice("W") {
		if err := c.report.warnings.read(w); err != nil {
			return err
		}
	}
	return nil
}

// readOptions reads the options and makes the checks that package flag cannot.
func (c *command) readOptions(opts *cli.Context) error {
	if err := c.readMessageOptions(opts); err != nil {
		return err
	}
	if err := c.readOptimize(opts); err != nil {
		return err
	}
	if len(c.inputs) == 0 {
		return &usageError{text: "no input files", help: "ptxlink --help shows the usage"}
	}

	c.linkOptions = link.Options{
		Spelling:       c.spelling,
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
		Exports:           opts.StringSlice("export"),
		Localize:          opts.StringSlice("localize"),
		CollectVariables:  opts.Bool("gc-variables"),
		WhyLive:           opts.StringSlice("why-live"),
		StripDebug:        opts.Bool("strip-debug"),
		KeepLines:         opts.Bool("keep-line-info"),

		Optimize: c.optimize,

		MapInputs: true,
		CheckOnly: c.checkOnly && !opts.Bool("assemble"),
	}
	if script := opts.String("version-script"); script != "" {
		global, local, places, err := readVersionScript(c.read, script)
		if err != nil {
			return err
		}
		c.linkOptions.PatternPlaces = places
		c.linkOptions.Exports = append(c.linkOptions.Exports, global...)
		c.linkOptions.Localize = append(c.linkOptions.Localize, local...)
		c.scripts = append(c.scripts, script)
	}
	// Other cubins may call every function of a relocatable one.
	if err := c.readLinkerOptions(opts); err != nil {
		return err
	}
	if err := c.linkOptions.Check(); err != nil {
		return &exitError{exitUsage, err}
	}
	c.linkOptions.KeepUnused = opts.Bool("no-gc-sections") || opts.Bool("compile-only") && !opts.Bool("gc-sections")
	c.printPulls = opts.IsSet("print-dependencies")
	c.printRemoved = opts.Bool("print-gc-sections")
	if err := c.readOutput(opts); err != nil {
		return err
	}
	if err := c.readArchs(opts.StringSlice("arch")); err != nil {
		return err
	}
	c.partFiles = opts.String("emit-parts")
	c.linkOptions.Stream = !c.cubin && c.partFiles == "" // ptxas needs the module in memory
	c.beside = map[string]string{}
	for _, option := range sideFiles {
		c.beside[option] = opts.String(option)
	}
	if opts.Bool("print-map") && c.beside["Map"] == "" {
		c.beside["Map"] = "-"
	}
	if opts.Bool("MD") && c.beside["dependency-file"] == "" && c.output != "-" {
		c.beside["dependency-file"] = c.output + ".d"
	}
	c.report.keep = c.beside["report"] != ""
	if opts.Bool("no-threads") {
		c.linkOptions.Jobs = 1
	}
	if err := c.warnIgnored(opts); err != nil {
		return err
	}
	return c.readAssembler(opts)
}

// warnUnused warns about an option that was given without another one. It returns an error
// if the warning counts as one.
func (c *command) warnUnused(name, without string) error {
	var log diag.Log
	log.Warn(diag.UnusedOption, diag.Place{}, spell(name)+" has no effect without "+without)
	if c.report.log(&log) > 0 {
		return &exitError{code: exitUsage}
	}
	return nil
}

// warnIgnored warns about options that have no meaning here. It is shown with -Wignored.
func (c *command) warnIgnored(opts *cli.Context) error {
	var log diag.Log
	for _, f := range opts.Command.Flags {
		if o := describeFlag(f); o.category == ignoredCategory {
			_, why, _ := strings.Cut(o.Text, "ignored: ")
			log.Warn(diag.Ignored, diag.Place{}, o.Spellings[len(o.Spellings)-1]+" is ignored: "+why)
		}
	}
	for _, word := range words(opts, "z") {
		if word != "defs" && word != "undefs" && word != "muldefs" {
			log.Warn(diag.Ignored, diag.Place{}, "-z "+diag.Escape(word)+" is ignored: it is for ELF")
		}
	}
	if c.report.log(&log) > 0 {
		return &exitError{code: exitLink}
	}
	return nil
}

// findInputs turns the arguments into inputs of the link. As in GNU ld, the position of
// -L does not matter.
func (c *command) findInputs(dirs []string) error {
	log := diag.Log{Spelling: c.spelling}
	stdin := false
	for _, dir := range dirs {
		if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			log.Warn(diag.UnusedOption, diag.Place{}, "there is no directory "+dir+", which -L names").WithHelp(similarDirectory(dir))
		}
	}
	for _, in := range c.inputs {
		name := in.name
		if in.library {
			path, ok := object.FindLibrary(in.name, dirs, &log)
			if !ok {
				continue
			}
			name = path
		}
		if name == "-" {
			if stdin {
				return &usageError{text: "standard input is named twice"}
			}
			stdin = true
			if f, ok := c.stdin.(*os.File); ok {
				if info, err := f.Stat(); err == nil {
					c.read.Add("<stdin>", info)
				}
			}
			c.linkOptions.Inputs = append(c.linkOptions.Inputs, link.Input{Name: "<stdin>", Reader: c.again(c.stdin)})
			continue
		}
		c.linkOptions.Inputs = append(c.linkOptions.Inputs, link.Input{Path: name, Reader: c.againIfPipe(name), WholeArchive: in.whole})
		c.paths = append(c.paths, name)
	}
	c.paths = append(c.paths, c.scripts...) // no output may take their place
	if c.report.log(&log) > 0 {
		return &exitError{code: exitLink}
	}
	return nil
}

// checkFiles returns an error if an output is also an input, or two outputs are the
// same file.
func (c *command) checkFiles() error {
	if c.beside["dependency-file"] != "" && c.output == "-" {
		return &usageError{text: "--dependency-file needs an output with a name", help: "name one with -o"}
	}
	for _, option := range []string{"dependency-file", "unused-inputs", "reproduce"} {
		if c.beside[option] == "-" {
			return &usageError{text: spell(option) + " cannot be standard output"}
		}
	}
	if c.cubin && c.output == "-" && isTerminal(c.stdout) {
		return &usageError{text: "a cubin is not written to a terminal", help: "name a file with -o"}
	}
	type file struct{ option, path string }
	named := []file{{"-o", c.output}}
	for _, option := range sideFiles {
		named = append(named, file{spell(option), c.beside[option]})
	}
	for i := range c.assembler.Parts {
		if c.partFiles != "" {
			named = append(named, file{"--emit-parts", partFile(c.partFiles, i)})
		}
	}
	for i, a := range named {
		if a.path == "" {
			continue
		}
		for _, b := range named[:i] {
			if sameOutput(a.path, b.path) {
				return &usageError{text: fmt.Sprintf("%s and %s would both write %s", b.option, a.option, a.path)}
			}
		}
		if err := c.checkFile(a.path); err != nil {
			return err
		}
	}
	return nil
}

// checkFile returns an error if a file that is to be written is an input, or cannot be
// written.
func (c *command) checkFile(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if err := outfile.Check(path, c.paths, c.read); err != nil {
		return &exitError{exitIO, err}
	}
	return nil
}

func sameOutput(a, b string) bool {
	if a == "-" || b == "-" || b == "" {
		return a == b
	}
	return a != "/dev/null" && outfile.Same(a, b)
}

// refused writes the messages of a *link.Errors and returns its exit code. It returns
// other errors unchanged.
func (c *command) refused(err error) error {
	var refused *link.Errors
	if !errors.As(err, &refused) {
		return err
	}
	if err := c.read.Changed(); err != nil { // which is why, if it was read half written
		return err
	}
	c.traceModules(refused.Modules)
	for _, m := range refused.Messages {
		if m.Help == "" && errors.Is(m, fs.ErrNotExist) && m.Place.Source != nil {
			m.WithHelp(c.missingFile(m.Place.File()))
		}
		if m.Help == "" && m.Err != nil {
			m.WithHelp(c.insteadOfDirectory(m.Place.File()))
		}
	}
	c.report.write(refused.Messages)
	exit := &exitError{code: exitLink}
	if refused.IO {
		exit.code = exitIO
	}
	return &refusedError{exit, refused.Messages}
}

// refusedError is the exit code for messages that were written.
type refusedError struct {
	*exitError
	messages []*link.Message
}

func (e *refusedError) Unwrap() error { return e.exitError }

// missingFile returns the help for an input that does not exist: one in its directory has
// nearly its name, or has it with a suffix, or it is the name of an output; else "".
func (c *command) missingFile(path string) string {
	dir, name := filepath.Split(path)
	suffix := filepath.Ext(name)
	names := []string{}
	if entries, err := os.ReadDir(filepath.Clean(dir)); err == nil && len(entries) <= 10000 {
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); !e.IsDir() && slices.Contains(linkable, ext) {
				names = append(names, e.Name())
			}
		}
	}
	for _, ext := range linkable {
		if slices.Contains(names, name+ext) && ext != "" {
			return "did you mean " + dir + name + ext + "?"
		}
	}
	if suffix == ".cubin" {
		names = nil
	}
	if near := typo.Nearest(names, name); near != "" {
		return "did you mean " + dir + near + "?"
	}
	if c.unnamed && (suffix == ".cubin" || suffix == ".fatbin") {
		return c.spelling.With("-o "+path, "%s names the output")
	}
	return ""
}

// similarDirectory returns the help for a directory that does not exist: another in the
// same place has nearly its name; else "".
func similarDirectory(path string) string {
	parent, name := filepath.Split(filepath.Clean(path))
	var names []string
	entries, _ := os.ReadDir(filepath.Clean(parent))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if near := typo.Nearest(names, name); near != "" {
		return "did you mean " + parent + near + "?"
	}
	return ""
}

// linkable are the suffixes of files that a link reads, for suggestions: the content of
// a file decides.
var linkable = []string{".ptx", ".a", ".o", ".obj", ".lib", ".fatbin", ".gz", ".zst", ".lz4", ".so", ".dll", ".exe", ""}

// insteadOfDirectory returns how to link what is in a directory; "" if it has neither
// libraries nor PTX, and for other files.
func (c *command) insteadOfDirectory(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() { // a pipe would block
		return ""
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return ""
	}
	ptx, library := "", ""
	for _, e := range entries {
		name := e.Name()
		switch {
		case filepath.Ext(name) == ".ptx":
			ptx = filepath.Join(path, "*.ptx") + " names the modules in it"
		case filepath.Ext(name) == ".a" && strings.HasPrefix(name, "lib") && library == "":
			library = c.spelling.With("-L "+path, "%s searches it for libraries") + c.spelling.With("-l "+name[3:len(name)-2], "; %s links "+name)
		}
	}
	return diag.Join(ptx, library)
}

// writeResult writes the files, the output last, so that the others exist once it
// does.
func (c *command) writeResult(result *link.Result, unused []string, output ...outfile.File) error {
	defer c.timed("write", time.Now())
	facts := sync.OnceValue(func() *link.Map {
		m := result.Map()
		m.GPUs = append(m.GPUs, c.gpus...)
		m.Messages = append(m.Messages, link.MapMessages(c.fromPtxas)...)
		return m
	})
	write := map[string]func(io.Writer) error{ // --reproduce is written before the link
		"Map":                func(w io.Writer) error { return c.writeMap(w, result, facts) },
		"dot":                result.WriteDot,
		"report":             func(w io.Writer) error { return report.Report{Title: filepath.Base(c.output), Map: facts()}.Write(w) },
		"dependency-file":    func(w io.Writer) error { return outfile.Dependencies(w, c.output, regularFiles(c.paths)) },
		"unused-inputs":      func(w io.Writer) error { return outfile.UnusedInputs(w, regularFiles(unused)) },
		"print-dependencies": func(w io.Writer) error { return writePulls(w, result) },
		"time-trace":         c.writeTimeTrace,
	}
	var files []outfile.File
	for _, option := range sideFiles {
		if c.beside[option] == "" || write[option] == nil {
			continue
		}
		var b bytes.Buffer
		if err := write[option](&b); err != nil {
			return err
		}
		files = append(files, c.toFile(c.beside[option], b.Bytes()))
	}
	if last := len(output) - 1; c.output == "-" {
		output[last] = c.toStdout(output[last])
	}
	files = append(files, output...)
	return c.write(c.paths, files...)
}

// regularFiles leaves out pipes such as /dev/fd/63, which are gone when Make
// looks for them.
func regularFiles(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular()
	})
}

// timed adds a pass outside the linker.
func (c *command) timed(name string, start time.Time) {
	c.passes = append(c.passes, link.Pass{Name: name, Time: time.Since(start), Start: start})
}

func (c *command) showTimes() {
	var total time.Duration
	for _, p := range append(c.passes, link.Pass{Name: "total"}) {
		if p.Name == "total" {
			p.Time = total
		}
		total += p.Time
		fmt.Fprintf(c.stderr, "%10.3f ms  %s\n", p.Time.Seconds()*1000, p.Name)
	}
}
