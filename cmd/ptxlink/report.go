package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
	"ptxlink/internal/bridge"
	"ptxlink/internal/diag"
	"ptxlink/link"
)

// reporter writes messages according to the options.
type reporter struct {
	w      io.Writer
	style  link.Style
	quiet  bool     // -w
	hidden []string // -Wno-ID
	fatal  bool     // --fatal-warnings
	// told are the messages written so far, by kind, text and place, if each is to be
	// written once: several links of the same inputs have most in common.
	told map[string]bool
}

// write filters and writes messages, and counts the errors among them.
func (r *reporter) write(messages []*link.Message) (errors int) {
	var shown []*link.Message
	for _, m := range messages {
		if m.Kind == link.Warning {
			if r.quiet || slices.Contains(r.hidden, m.ID) {
				continue
			}
			if r.fatal {
				// Copy the message, because it belongs to the linker. Keep the ID,
				// so that the user can disable the warning.
				copied := *m
				copied.Kind = link.Error
				m = &copied
			}
		}
		if m.Kind == link.Error {
			errors++
		}
		if r.told != nil {
			key := fmt.Sprintf("%d %q %q %d %d", m.Kind, m.Text, m.Place.File, m.Place.Line, m.Place.Column)
			if r.told[key] {
				continue
			}
			r.told[key] = true
		}
		shown = append(shown, m)
	}
	link.WriteMessages(r.w, shown, r.style)
	return errors
}

// log writes the messages of a log.
func (r *reporter) log(log *diag.Log) (errors int) {
	return r.write(bridge.Messages[*link.Message](log.Messages))
}

// note writes one note.
func (r *reporter) note(text string) { r.write([]*link.Message{{Kind: link.Note, Text: text}}) }

// fail writes the error that ends the program with the exit code.
func (r *reporter) fail(err error, code int) {
	switch m := err.(type) {
	case *link.Message:
		r.write([]*link.Message{m})
	case *diag.Message:
		r.log(&diag.Log{Messages: []*diag.Message{m}})
	default:
		id := diag.IO
		if code == exitUsage {
			id = diag.Usage
		}
		r.log(&diag.Log{Messages: []*diag.Message{{ID: id, Text: err.Error()}}})
	}
}

// useColor reports whether to use colour on w. The option overrides NO_COLOR
// (no-color.org); without either, terminals get colour.
func useColor(when colorWhen, w io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// reportBug reports a panic. There are no outputs yet, because they are written last.
// The stack is cut to the frames between the panic and main.
func reportBug(w io.Writer, what any, stack []byte) {
	const keep = 8
	var frames []string
	lines := strings.Split(string(bytes.TrimSpace(stack)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[i:]
			break
		}
	}
	for i := 2; i+1 < len(lines) && len(frames) < keep; i += 2 {
		frames = append(frames, "  "+lines[i]+"\n  "+lines[i+1])
	}
	fmt.Fprintf(w, "ptxlink: internal error: %s\n", diag.Escape(fmt.Sprint(what)))
	fmt.Fprintf(w, "%s\n%s\n", version(), strings.Join(frames, "\n"))
	fmt.Fprintln(w, "ptxlink: note: this is a bug in ptxlink, not in your files; nothing was written. Please report it with the lines above and the inputs.")
}
