package link

import (
	"io"
	"slices"
	"strings"

	"ptxlink/internal/mapped"
	"ptxlink/object/diag"
)

// These are the types of messages, by the names that programs need most. Package diag has the rest,
// such as the IDs.
type (
	// Message is an error, a warning or a note.
	Message = diag.Message
	// Remark is a second place of a message.
	Remark = diag.Remark
	// Place is the location of a message: text in an input, a whole input, or nothing.
	Place = diag.Place
	// Kind is the severity of a message.
	Kind = diag.Kind
	// ID is the name of a rule: errors.Is(err, link.ID("undefined-symbol")) reports
	// whether a link failed for that reason.
	ID = diag.ID
	// Style says how WriteMessages writes.
	Style = diag.Style
)

// The kinds of message.
const (
	Error   = diag.Error   // nothing is linked
	Warning = diag.Warning // -Wno- disables it
	Note    = diag.Note    // for information
)

// WriteMessages writes messages as the ptxlink command does. As text, a message is a
// line with file, line and column, the line of the input with a marker below it, the
// notes and the help. As JSON it is one line. SARIF is one document; GitHub reads
// workflow commands. docs/errors.md describes the formats.
func WriteMessages(w io.Writer, messages []*Message, style Style) error {
	return diag.Write(w, messages, style)
}

// Errors is the error that Link returns when the inputs cannot be linked.
type Errors struct {
	// Messages are all errors and warnings of the link, in command-line order.
	Messages []*Message
	// IO is set if an input could not be read.
	IO bool
	// Modules are the names of the modules that were read. It is empty if a module could not be
	// read.
	Modules []string

	maps *mapped.Files
}

// ErrorsOf returns the messages of a log with errors, or nil.
func ErrorsOf(log *diag.Log) error {
	if log.Errors() == 0 {
		return nil
	}
	return &Errors{Messages: log.Messages, IO: slices.ContainsFunc(log.Messages, func(m *Message) bool { return m.ID == diag.IO })}
}

// Close unmaps the inputs of a link with Options.MapInputs. The errors must not be used
// afterwards. Without the option it does nothing.
func (e *Errors) Close() error { return e.maps.Close() }

// Unwrap returns the errors among the messages, so that errors.Is finds, for example,
// fs.ErrNotExist.
func (e *Errors) Unwrap() (list []error) {
	for _, m := range e.Messages {
		if m.Kind == Error {
			list = append(list, m)
		}
	}
	return list
}

// Error returns every message as uncoloured text.
func (e *Errors) Error() string {
	var b strings.Builder
	WriteMessages(&b, e.Messages, Style{})
	return strings.TrimSuffix(b.String(), "\n")
}
