// Command ptxlink links PTX modules into one PTX module, or through ptxas into
// one cubin.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

// Exit codes must not change, because scripts rely on them.
const (
	exitOK        = 0
	exitLink      = 1  // the inputs cannot be linked, or a program such as ptxas refuses the result
	exitUsage     = 2  // the command line is invalid
	exitIO        = 3  // a file cannot be read or written, or a program cannot be run or fails
	exitBug       = 70 // EX_SOFTWARE of sysexits.h
	exitInterrupt = 130
)

func main() {
	// Fatal errors of the Go runtime, such as a failed allocation, must raise SIGABRT, because
	// their default exit code 2 would mean a usage error.
	debug.SetTraceback("crash")
	collectAt(2000) // because most of what a link allocates lives to its end
	failWrites()
	if err := enoughFiles(); err != nil {
		fmt.Fprintf(os.Stderr, "ptxlink: error: cannot open any file: %v\n", err)
		os.Exit(exitIO)
	}
	os.Exit(untilSignal(os.Stderr, func(ctx context.Context) int {
		return run(ctx, calledAs(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr)
	}))
}

// collectAt sets by how many percent the heap may grow between two collections, unless the user has
// set it.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// run is main without the process, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	return (&command{stdin: stdin, stdout: stdout, stderr: stderr}).run(ctx, args)
}

// run runs the command that args name, and returns its exit code.
func (c *command) run(ctx context.Context, args []string) (code int) {
	return c.guard(ctx, func(ctx context.Context) error { return c.start(ctx, args) })
}

func (c *command) start(ctx context.Context, args []string) error {
	sub, args := findSubcommand(args)
	return cmp.Or(sub.start(ctx, c, args), c.memory.unnamed())
}

// guard does some work, and returns the exit code. It reports an error, and also a panic, which is
// a bug.
func (c *command) guard(ctx context.Context, work func(context.Context) error) (code int) {
	ctx, c.read = infile.Record(infile.Apart(ctx))
	defer c.report.close()
	defer func() {
		if what := recover(); what != nil {
			if err := cmp.Or(infile.Fault(what), c.read.Changed()); err != nil {
				code = c.finish(err)
				return
			}
			c.report.bug(what, debug.Stack())
			code = exitBug
		}
	}()
	debug.SetPanicOnFault(true)
	c.report.w, c.report.hint, c.report.keep = c.stderr, isTerminal(c.stderr), c.memory != nil
	c.report.style.Color = useColor("auto", c.stderr)
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // because the signal is the cause of any error after it
	}
	return c.finish(err)
}

func (s subcommand) start(ctx context.Context, c *command, args []string) error {
	t := s.table()
	c.name, c.typed = s.Name, args
	c.spelling, c.report.style.Spelling = t.Spelling, t.Spelling
	if words, ok := asked(args); ok {
		c.arguments = []string{completionFlag}
		s.BashComplete = func(opts *cli.Context) { io.WriteString(opts.App.Writer, s.complete(t, words)) }
	} else if err := s.prepare(c, t, args); err != nil {
		return s.own(c, err)
	}
	var text bytes.Buffer // text of --help
	err := s.app(c, t, &text).RunContext(ctx, append(strings.Fields("ptxlink "+s.Name), c.arguments...))
	if err == nil {
		err = c.show(text.Bytes())
	}
	return s.own(c, err)
}

// prepare is the pre-pass: it turns the arguments into inputs and into options that the library can
// parse.
func (s subcommand) prepare(c *command, t table, args []string) error {
	if s.first != nil {
		args = s.first(args)
	}
	args, err := expand(c.read, args)
	c.expanded = args
	var more []string
	if (s.Name == "" || slices.Contains(replaced, s.Name)) && c.memory == nil && err == nil {
		more, err = flagsOfEnvironment(c.read)
	}
	if c.report.style.Format = cmp.Or(findFormat(args), findFormat(more)); c.report.style.Format != "" {
		c.report.style.Version = strings.TrimPrefix(version(), "ptxlink ")
	}
	if err != nil {
		return err
	}
	c.response = c.read.Names()
	if s.letters {
		args = splitLetters(t, args)
	}
	if s.before != nil {
		args = s.before(c, t, args)
	}
	if c.arguments, c.inputs, err = reorder(t, args); err != nil || len(more) == 0 {
		return err
	}
	c.environment = true
	first, inputs, err := reorder(t, more)
	for _, in := range inputs {
		if !in.library && err == nil {
			err = usageError(flagsVariable+" names the file "+in.name+", but it holds options only", "name the file on the command line")
		}
	}
	c.arguments, c.inputs = append(first, c.arguments...), append(c.inputs, inputs...)
	return err
}

// flagsVariable names the variable with options for every link. Options on the command line must
// come after them, so that they win.
const flagsVariable = "PTXLINK_FLAGS"

// flagsOfEnvironment returns the words of flagsVariable, which have the syntax of a response file.
func flagsOfEnvironment(read *infile.Files) ([]string, error) {
	words, err := splitArguments(os.Getenv(flagsVariable), runtime.GOOS)
	if err != nil {
		return nil, usageError(fmt.Sprintf("%s: %v", flagsVariable, err), "")
	}
	return expand(read, words)
}

// finish writes err, unless it was reported already, and returns its exit code.
func (c *command) finish(err error) int {
	code := exitIO
	var status *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		if code, err = status.code, status.err; err == nil {
			return code
		}
	case errors.Is(err, diag.Usage):
		code = exitUsage
	case errors.Is(err, context.Canceled):
		c.interrupted()
		return exitInterrupt
	}
	c.report.fail(err, code)
	return code
}

// interrupted reports that a signal ended the program.
func (c *command) interrupted() {
	const text = "interrupted; nothing was written"
	if c.report.text() {
		fmt.Fprintln(c.stderr, "ptxlink: "+text) // since it is not an error of the inputs
	} else {
		c.report.write([]*diag.Message{diag.New(diag.Interrupted, diag.Place{}, text)})
	}
}

// exitError is an exit code; err is nil if the reason was reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
