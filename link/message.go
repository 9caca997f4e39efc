package link

import (
	"io"
	"strings"

	"ptxlink/internal/bridge"
	"ptxlink/internal/mapped"
	"ptxlink/link/diag"
)

// Message is an error, a warning or a note. errors.As finds one in the errors of
// this package and of those beside it, such as link/ptxas.
type Message struct {
	// Kind says how much the message matters.
	Kind Kind
	// ID is the name of the rule of an error or warning, such as "undefined-symbol".
	// A name never changes its meaning; docs/errors.md lists them. A note has none.
	ID string
	// Text is one line, in lower case and without a full stop. Control characters
	// from names in the input are escaped.
	Text string
	// Place is what the message is about.
	Place Place
	// Symbol is the symbol that the message is about, as the input spells it; empty if
	// there is none.
	Symbol string
	// Notes are related places, such as the other definition.
	Notes []Remark
	// Help suggests what to do about it, on one line; it may be empty.
	Help string
	// Err is the underlying error, such as that of opening a file; it may be nil.
	Err error
}

// ID is the name of a rule as an error: errors.Is(err, link.ID("undefined-symbol"))
// reports whether a link failed for that reason. docs/errors.md lists the names.
type ID string

// Error returns the name.
func (id ID) Error() string { return string(id) }

// Is reports whether target is the ID of the message.
func (m *Message) Is(target error) bool {
	id, ok := target.(ID)
	return ok && m.ID == string(id) && m.ID != ""
}

// Remark is a second place of a message.
type Remark struct {
	Place Place
	Text  string // one line, escaped like that of a Message
}

// Place is the location of a message: text in an input, a whole input, or nothing.
type Place struct {
	// File is the name of the input as given, or archive.a(member). It is not
	// escaped. It is empty if the message is not about an input.
	File string
	// Line and Column count from 1; a column is a character, and a tab is one.
	// Both are 0 if the place is a whole input.
	Line, Column int
	// Offset and Length are the bytes of the input that the place spans, after
	// decompression and extraction from its container.
	Offset, Length int

	at diag.Place // set in messages of this package, to show the line
}

// Kind is the severity of a message.
type Kind uint8

// The kinds of message.
const (
	Error   Kind = Kind(diag.Error)   // nothing is linked
	Warning Kind = Kind(diag.Warning) // -Wno- disables it
	Note    Kind = Kind(diag.Note)    // for information
)

// String returns "error", "warning" or "note".
func (k Kind) String() string { return diag.Kind(k).String() }

// Error returns the first line of the message, "a.ptx:4:39: error: text". It makes
// a Message an error.
func (m *Message) Error() string { return m.internal().Error() }

// Unwrap returns Err, so that errors.Is finds, for example, fs.ErrNotExist.
func (m *Message) Unwrap() error { return m.Err }

// Style holds the options of WriteMessages.
type Style struct {
	Format     string // "text", which is the default, "json", "sarif" or "github"
	Color      bool   // use terminal colours
	ErrorLimit int    // stop after this many errors; 0 means no limit
	Width      int    // of the terminal, in columns; 0 means 128
	Full       bool   // do not shorten names in text
	Version    string // of ptxlink, in SARIF
}

// WriteMessages writes messages as the ptxlink command does. As text, a message is a
// line with file, line and column, the line of the input with a marker below it, the
// notes and the help. As JSON it is one line. SARIF is one document; GitHub reads
// workflow commands. docs/errors.md describes the formats.
func WriteMessages(w io.Writer, messages []*Message, style Style) error {
	list := make([]*diag.Message, len(messages))
	for i, m := range messages {
		list[i] = m.internal()
	}
	return diag.Write(w, list, diag.Style(style))
}

func (m *Message) internal() *diag.Message {
	d := &diag.Message{Kind: diag.Kind(m.Kind), ID: diag.Find(m.ID), Place: m.Place.internal(), Text: m.Text, Symbol: m.Symbol, Help: m.Help, Err: m.Err}
	for _, n := range m.Notes {
		d.Note(n.Place.internal(), n.Text)
	}
	return d
}

func (p Place) internal() diag.Place {
	if p.at.Source != nil || p.File == "" {
		return p.at
	}
	// A Place that a caller created has no text to show.
	return diag.At(&diag.Source{Name: p.File, FixedLine: p.Line, FixedColumn: p.Column}, diag.Span{})
}

func publicMessages(list []*diag.Message) []*Message {
	var public []*Message
	for _, d := range list {
		m := &Message{Kind: Kind(d.Kind), ID: d.ID.String(), Text: diag.Escape(d.Text), Symbol: d.Symbol, Place: publicPlace(d.Place), Help: diag.Escape(d.Help), Err: d.Err}
		for _, n := range d.Notes {
			m.Notes = append(m.Notes, Remark{publicPlace(n.Place), diag.Escape(n.Text)})
		}
		public = append(public, m)
	}
	return public
}

func publicPlace(at diag.Place) Place {
	p := Place{at: at}
	p.File, p.Line, p.Column = at.Position()
	p.Offset, p.Length = int(at.Span.Off), int(at.Span.Len)
	return p
}

func init() {
	bridge.PublicMessages = func(list []*diag.Message) any { return publicMessages(list) }
	bridge.InternalPlace = func(p any) diag.Place { return p.(Place).internal() }
	diag.ToPublic = func(m *diag.Message, target any) bool {
		public, ok := target.(**Message)
		if ok {
			*public = publicMessages([]*diag.Message{m})[0]
		}
		return ok
	}
}

// Errors is the error that Link returns when the inputs cannot be linked.
type Errors struct {
	// Messages are all errors and warnings of the link, in command-line order.
	Messages []*Message
	// IO is set if an input could not be read.
	IO bool
	// Modules are the names of the modules that were read, unless one of them could
	// not be.
	Modules []string

	maps *mapped.Files
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
