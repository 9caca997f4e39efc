package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// command is one run of ptxlink: the state that every subcommand needs.
type command struct {
	name           string   // name of the subcommand; "" for linking
	inputs         []input  // in command-line order
	typed          []string // all arguments after the subcommand
	expanded       []string // typed, after arguments in files are inserted
	arguments      []string // the options from reorder
	environment    bool     // PTXLINK_FLAGS has some of the options
	letters        string   // letters of ar, before the archive
	spelling       diag.Spelling
	stdin          io.Reader
	stdout, stderr io.Writer
	report         reporter
	read           *infile.Files // records all files that were read
	response       []string      // the response files
	paths          []string      // paths of the inputs that are files; no output may replace one
	unnamed        bool          // a link without -o
	memory         *memory       // memory of a request to ptxlink serve
}

func (c *command) readMessageOptions(opts *cli.Context) error {
	if c.report.text() || opts.IsSet("error-limit") { // because other programs need all errors
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

// tell writes messages. If there are errors among them, it returns the exit code as an error.
func (c *command) tell(messages []*link.Message, code int) error {
	if c.report.write(messages) > 0 {
		return &exitError{code: code}
	}
	return nil
}

// warnUnused warns about an option that has no effect because another one is missing. It returns an
// error if the warning counts as one.
func (c *command) warnUnused(name, without string) error {
	var log diag.Log
	log.Warn(diag.UnusedOption, diag.Place{}, spell(name)+" has no effect without "+without)
	return c.tell(log.Messages, exitUsage)
}

// warnIgnored warns about options that have no meaning here. Only -Wignored shows the warnings.
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
	return c.tell(log.Messages, exitLink)
}

// findInputs turns the arguments into inputs of a link, which may be read again. The position of -L
// must not matter, since it does not matter in GNU ld.
func (c *command) findInputs(dirs []string) (inputs []link.Input, err error) {
	log := diag.Log{Spelling: c.spelling}
	stdin := false
	for _, dir := range dirs {
		if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			log.Warn(diag.UnusedOption, diag.Place{}, "there is no directory "+dir+", which -L names").WithHelp(similarDirectory(dir))
		}
	}
	for _, in := range c.inputs {
		name := in.name
		if in.before {
			log.Warn(diag.UnusedOption, diag.Place{}, "--whole-archive has no effect after the last input").
				WithHelp("write it before the archives all of whose members are linked")
		}
		if file, ok := c.memory.input(in); ok {
			inputs = append(inputs, file)
			continue
		}
		if in.library {
			path, ok := object.FindLibrary(in.name, dirs, &log)
			if !ok {
				continue
			}
			name = path
		}
		if name == "-" {
			if stdin {
				return nil, usageError("standard input is named twice", "")
			}
			stdin = true
			if f, ok := c.stdin.(*os.File); ok {
				if info, err := f.Stat(); err == nil {
					c.read.Add("<stdin>", info)
				}
			}
			inputs = append(inputs, link.Input{Name: "<stdin>", Reader: c.stdin})
			continue
		}
		inputs = append(inputs, link.Input{Path: name, WholeArchive: in.whole})
		c.paths = append(c.paths, name)
	}
	return inputs, c.tell(log.Messages, exitLink)
}

// checkFile returns an error if an output file is also an input, or cannot be written.
func (c *command) checkFile(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if o := c.memory.output(path); o != nil {
		o.named = true
		return nil
	}
	return outfile.Check(path, c.paths, c.read)
}

// refused writes the messages of a *link.Errors and returns its exit code. It returns
// other errors unchanged.
func (c *command) refused(err error) error {
	refused, ok := errors.AsType[*link.Errors](err)
	if !ok {
		return err
	}
	if err := c.read.Changed(); err != nil { // then it may have been read half written
		return err
	}
	for _, m := range refused.Messages {
		if m.Help == "" && errors.Is(m, fs.ErrNotExist) && m.Place.Source != nil {
			m.WithHelp(c.missingFile(m.Place.File()))
		}
		if m.Help == "" && m.Err != nil {
			m.WithHelp(c.insteadOfDirectory(m.Place.File()))
		}
	}
	c.report.write(refused.Messages)
	code := map[bool]int{false: exitLink, true: exitIO}[refused.IO]
	return &refusedError{&exitError{code: code}, refused.Messages}
}

// refusedError is the exit code for messages that were written.
type refusedError struct {
	*exitError
	messages []*link.Message
}

func (e *refusedError) Unwrap() error { return e.exitError }

// missingFile returns the help for an input that does not exist: a similar name in its directory,
// or the same name with a suffix, or that it is the name of an output or stands in the place of a
// subcommand; otherwise "".
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
	if near := diag.Nearest(names, name); near != "" {
		return "did you mean " + dir + near + "?"
	}
	switch {
	case c.unnamed && (suffix == ".cubin" || suffix == ".fatbin"):
		return c.spelling.With("-o "+path, "%s names the output")
	case c.name != "" || path != c.inputs[0].name || strings.ContainsAny(path, "./"):
		return ""
	case path == "link":
		return "there is no subcommand link: ptxlink FILE... links"
	}
	return "there is no subcommand " + path + " either; ptxlink --help lists them"
}

// similarDirectory returns the help for a directory that does not exist: a directory with a similar
// name in the same place; otherwise "".
func similarDirectory(path string) string {
	parent, name := filepath.Split(filepath.Clean(path))
	var names []string
	entries, _ := os.ReadDir(filepath.Clean(parent))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if near := diag.Nearest(names, name); near != "" {
		return "did you mean " + parent + near + "?"
	}
	return ""
}

// linkable are the suffixes of files that a link can read. They are only for suggestions, because
// the content of a file decides.
var linkable = []string{".ptx", ".a", ".o", ".obj", ".lib", ".fatbin", ".gz", ".zst", ".lz4", ".so", ".dll", ".exe", ""}

// insteadOfDirectory returns how to link the files in a directory. It returns "" if the directory
// has neither libraries nor PTX, and for other files.
func (c *command) insteadOfDirectory(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() { // a pipe would block
		return ""
	}
	ptx, library := "", ""
	entries, _ := os.ReadDir(path)
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
