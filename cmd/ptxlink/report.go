package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
	"ptxlink/link"
	"ptxlink/object/diag"
)

type reporter struct {
	w        io.Writer
	style    diag.Style
	warnings warningOptions
	held     []*link.Message // for SARIF, because its document is written at the end
	keep     bool            // keep messages in shown, since the page of a failed link needs them
	shown    []*link.Message
	hint     bool     // mention --explain at the end, because w is a terminal
	ids      []string // IDs of the errors
	// told are the messages written so far, by kind, text and place, if each must be written only
	// once, because several links of the same inputs have most messages in common.
	told map[string]bool
}

// write filters and writes messages, and returns the number of errors among them.
func (r *reporter) write(messages []*link.Message) (errors int) {
	var shown []*link.Message
	for _, m := range messages {
		if m = r.warnings.apply(m); m == nil {
			continue
		}
		if m.Kind == diag.Error {
			errors++
			if id := string(m.ID); id != "" && !slices.Contains(r.ids, id) {
				r.ids = append(r.ids, id)
			}
		}
		if r.told != nil {
			key := fmt.Sprintf("%d %q %q", m.Kind, m.Text, m.Place)
			if r.told[key] {
				continue
			}
			r.told[key] = true
		}
		shown = append(shown, m)
	}
	if r.keep {
		r.shown = append(r.shown, shown...)
	}
	if r.style.Format == "sarif" {
		r.held = append(r.held, shown...)
	} else {
		diag.Write(r.w, shown, r.style)
	}
	return errors
}

// close writes the messages that must wait for the end of the program.
func (r *reporter) close() {
	switch {
	case r.style.Format == "sarif":
		diag.Write(r.w, r.held, r.style)
	case r.hint && r.text() && len(r.ids) == 1 && r.ids[0] != string(diag.Usage):
		r.note("ptxlink --explain=" + r.ids[0] + " says more")
	case r.hint && r.text() && len(r.ids) > 1:
		r.note("ptxlink --explain=ID says more about " + strings.Join(r.ids, ", "))
	}
}

// text reports whether messages are for people instead of programs.
func (r *reporter) text() bool { return r.style.Format == "" || r.style.Format == "text" }

// findFormat returns the last valid --diagnostics-format in args. It must be known before the
// arguments are parsed, so that errors in the command line have that format too.
func findFormat(args []string) (format string) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, assigned := strings.Cut(arg, "=")
		if !assigned && i+1 < len(args) {
			value = args[i+1]
		}
		if (name == "--diagnostics-format" || name == "-diagnostics-format") && slices.Contains(diag.Formats, value) {
			format = value
		}
	}
	return format
}

func (r *reporter) note(text string) {
	var log diag.Log
	log.Note(diag.Place{}, text)
	r.write(log.Messages)
}

// fail writes the error that ends the program with the exit code.
func (r *reporter) fail(err error, code int) {
	m, ok := err.(*link.Message)
	if !ok {
		id := diag.IO
		if code == exitUsage {
			id = diag.Usage
		}
		m = diag.New(id, diag.Place{}, err.Error())
	}
	r.write([]*link.Message{m})
}

// terminalWidth returns the number of columns of the terminal, or $COLUMNS; 0 if neither is known.
func terminalWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return min(n, 10000)
	}
	if f, ok := w.(*os.File); ok && isTerminal(w) {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// useColor reports whether to use colour on w. The option overrides the environment. There,
// NO_COLOR (no-color.org) goes before FORCE_COLOR (force-color.org) and CLICOLOR_FORCE
// (bixense.com/clicolors). Otherwise, only terminals get colour.
func useColor(when string, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	isSet := func(name string) bool { return os.Getenv(name) != "" && os.Getenv(name) != "0" }
	switch {
	case os.Getenv("NO_COLOR") != "":
		return false
	case isSet("FORCE_COLOR"), isSet("CLICOLOR_FORCE"):
		return true
	}
	return os.Getenv("CLICOLOR") != "0" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bug reports a panic. No output exists yet, because outputs are written last. The stack is cut to
// the frames between the panic and main.
func (r *reporter) bug(what any, stack []byte) {
	const keep = 8
	var frames []string
	lines := strings.Split(string(bytes.TrimSpace(stack)), "\n")
	start := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic(") })
	lines = lines[max(0, start):]
	for i := 2; i+1 < len(lines) && len(frames) < keep; i += 2 {
		frames = append(frames, "  "+lines[i]+"\n  "+lines[i+1])
	}
	const advice = "this is a bug in ptxlink, not in your files; nothing was written. Please report it with the lines above and the inputs."
	if !r.text() {
		m := diag.New(diag.Internal, diag.Place{}, fmt.Sprint(what)).WithHelp(advice)
		for _, line := range append([]string{version()}, frames...) {
			m.Note(diag.Place{}, line)
		}
		r.write([]*link.Message{m})
		return
	}
	fmt.Fprintf(r.w, "ptxlink: internal error: %s\n", diag.Escape(fmt.Sprint(what)))
	fmt.Fprintf(r.w, "%s\n%s\n", version(), strings.Join(frames, "\n"))
	fmt.Fprintln(r.w, "ptxlink: note: "+advice)
}
