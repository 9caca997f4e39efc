package link

import (
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

// Message is an error, a warning or a note. Package diag has its parts, the IDs and the formats.
type Message = diag.Message

// Place is the location of a message: text in an input, a whole input, or nothing.
type Place = diag.Place

// Errors is the error that Link returns when the inputs cannot be linked.
type Errors struct {
	// Messages are all errors and warnings of the link, in command-line order.
	Messages []*Message
	// IO is set if an input could not be read.
	IO bool
	// Modules are the names of the modules that were read. It is empty if a module could not be
	// read.
	Modules []string

	maps *infile.Maps
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
		if m.Kind == diag.Error {
			list = append(list, m)
		}
	}
	return list
}

// Error returns every message as uncoloured text.
func (e *Errors) Error() string {
	var b strings.Builder
	diag.Write(&b, e.Messages, diag.Style{})
	return strings.TrimSuffix(b.String(), "\n")
}
