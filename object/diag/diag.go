// Package diag holds the messages of ptxlink: errors, warnings and notes about places in
// the inputs, and the formats in which they are written.
package diag

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

// Source is one text that messages can point into. Name is what the user
// typed (or "archive.a(member)"), unescaped; Text is the input as read, after decompression
// and extraction from its container, and never changes.
type Source struct {
	Name string
	Text []byte

	line, column int // of a source whose text is unknown; see InFile

	once sync.Once
	ends []int32 // the number of line ends before each block of the text, and in all of it; built on first use

	longOnce sync.Once
	marks    []mark // of texts with long lines, built on first use
}

// mark is a place in a text and the number of characters before it, so that counting can start
// there.
type mark struct{ off, runes int32 }

// markDistance is the approximate number of bytes between marks.
const markDistance = 1024

// Span is a range of bytes of a Source. The zero Span is the start of the file.
type Span struct{ Off, Len int32 }

// End returns the offset just past the span.
func (s Span) End() int32 { return s.Off + s.Len }

// Bytes returns the text of the span, which may not be changed; an append copies it.
func (src *Source) Bytes(s Span) []byte { return src.Text[s.Off : s.Off+s.Len : s.Off+s.Len] }

// String returns the text of the span.
func (src *Source) String(s Span) string { return string(src.Bytes(s)) }

// lineBlock is the number of bytes in which Line counts line ends.
const lineBlock = 1024

func (src *Source) index() {
	src.once.Do(func() {
		n := int32(0)
		src.ends = make([]int32, 0, 2+len(src.Text)/lineBlock)
		for block := range slices.Chunk(src.Text, lineBlock) {
			src.ends = append(src.ends, n)
			n += int32(bytes.Count(block, []byte{'\n'}))
		}
		src.ends = append(src.ends, n)
	})
}

// Line returns the 1-based number of the line that holds the byte at off.
func (src *Source) Line(off int32) int {
	src.index()
	block := off / lineBlock
	return 1 + int(src.ends[block]) + bytes.Count(src.Text[block*lineBlock:off], []byte{'\n'})
}

func (src *Source) start(line int) int32 {
	src.index()
	before := int32(line - 1) // number of line ends before the line
	block := max(0, sort.Search(len(src.ends), func(i int) bool { return src.ends[i] >= before })-1)
	at := int32(block * lineBlock)
	for n := src.ends[block]; n < before; n++ {
		at += int32(bytes.IndexByte(src.Text[at:], '\n')) + 1
	}
	return at
}

// LineColumn returns the 1-based line and column of the byte at off. Columns count
// characters, not bytes; a tab is one column.
func (src *Source) LineColumn(off int32) (line, column int) {
	line = src.Line(off)
	start := src.start(line)
	if off-start <= markDistance {
		return line, 1 + utf8.RuneCount(src.Text[start:off])
	}
	// Many messages may point into one long line, so counting from its start would be slow.
	return line, 1 + src.runes(off) - src.runes(start)
}

func (src *Source) runes(off int32) int {
	src.longOnce.Do(func() {
		next := 0
		for at, runes := 0, 0; at < len(src.Text); runes++ {
			if at >= next {
				src.marks = append(src.marks, mark{int32(at), int32(runes)})
				next += markDistance
			}
			_, n := utf8.DecodeRune(src.Text[at:])
			at += n
		}
	})
	m := src.marks[sort.Search(len(src.marks), func(i int) bool { return src.marks[i].off > off })-1]
	return int(m.runes) + utf8.RuneCount(src.Text[m.off:off])
}

// LineSpan returns the span of a 1-based line without its line end, or the zero Span if the source
// does not have that many lines.
func (src *Source) LineSpan(line int) Span {
	if line < 1 || line > src.Line(int32(len(src.Text))) {
		return Span{}
	}
	from := src.start(line)
	text := src.Text[from:]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return Span{from, int32(len(bytes.TrimSuffix(text, []byte{'\r'})))}
}

// Kind is the severity of a message.
type Kind uint8

const (
	Error Kind = iota
	Warning
	Note
)

func (k Kind) String() string { return [...]string{"error", "warning", "note"}[k] }

// Place is the place that a message points to. A nil Source means the command line;
// a zero Span with a Source means the whole file.
type Place struct {
	Source *Source
	Span   Span
}

// At returns the Place of a span.
func At(src *Source, span Span) Place { return Place{src, span} }

// InFile returns a place in a file whose text is unknown, so line and column, which are 1-based,
// must be given. They are 0 if the place is the whole file.
func InFile(name string, line, column int) Place {
	return Place{Source: &Source{Name: name, line: line, column: column}}
}

// File returns the name of the input, unescaped; empty for the command line.
func (p Place) File() string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Name
}

// Position returns the place for an editor: the name of the input, unescaped and empty for
// the command line, and the 1-based line and column, which are 0 for the whole file.
func (p Place) Position() (file string, line, column int) {
	if p.Source == nil {
		return "", 0, 0
	}
	if p.Span == (Span{}) {
		return p.Source.Name, p.Source.line, p.Source.column
	}
	line, column = p.Source.LineColumn(p.Span.Off)
	return p.Source.Name, line, column
}

// End returns the line and column after the last character of the place; both are 0 if the place is
// a whole file, or its text is unknown.
func (p Place) End() (line, column int) {
	if p.Source == nil || p.Span == (Span{}) {
		return 0, 0
	}
	return p.Source.LineColumn(p.Span.End())
}

// String returns the place as in the first line of a message: "a.ptx:4:39", "a.ptx", or
// "ptxlink" for the command line.
func (p Place) String() string {
	switch file, line, column := p.Position(); {
	case p.Source == nil:
		return "ptxlink"
	case line == 0:
		return shown(file, maxName)
	case column == 0: // because DWARF has lines without a column
		return fmt.Sprintf("%s:%d", shown(file, maxName), line)
	default:
		return fmt.Sprintf("%s:%d:%d", shown(file, maxName), line, column)
	}
}

// Remark is a second place that explains a message, such as the other definition.
type Remark struct {
	Place Place
	Text  string // one line, escaped like Message.Text
}

// Message is one error, warning or note. errors.As finds one in the errors of ptxlink's
// packages. New and the methods of Log create messages, whose texts are escaped.
type Message struct {
	Kind Kind
	// ID is the name of the rule, such as UndefinedSymbol. A standalone note has none.
	ID ID
	// Place is what the message is about.
	Place Place
	// Text is one line, in lower case and without a full stop. Control characters
	// from names in the input are escaped.
	Text string
	// Notes are related places, such as the other definition.
	Notes []Remark
	// Help suggests what to do about it, on one line; it may be empty.
	Help string
	// Symbol is the symbol that the message is about, as the input spells it, or empty.
	Symbol string
	// Err is the cause of the message, such as the error from reading a file; it may be nil.
	Err error
}

// New returns an error that is not in a log.
func New(id ID, place Place, text string) *Message {
	return &Message{ID: id, Place: place, Text: Escape(text)}
}

// Unwrap returns Err, so that errors.Is finds fs.ErrNotExist.
func (m *Message) Unwrap() error { return m.Err }

// Is reports whether target is the ID of the message.
func (m *Message) Is(target error) bool { return target == error(m.ID) && m.ID != "" }

// Note adds a second place and returns the message, for chaining.
func (m *Message) Note(place Place, text string) *Message {
	m.Notes = append(m.Notes, Remark{place, Escape(text)})
	return m
}

// Of sets the symbol that the message is about and returns the message.
func (m *Message) Of(symbol string) *Message {
	m.Symbol = symbol
	return m
}

// WithHelp sets the help of the message and returns the message.
func (m *Message) WithHelp(text string) *Message {
	m.Help = Escape(text)
	return m
}

// Log collects messages in the order they are added. The zero Log is ready. A Log has no lock, so
// each worker must own one from Split; Append joins them in command-line order.
type Log struct {
	Messages []*Message
	// Spelling names options in the messages as the program that shows the messages spells them.
	Spelling
}

// Error adds an error.
func (l *Log) Error(id ID, place Place, text string) *Message {
	return l.add(Error, id, place, text)
}

// Warn adds a warning, which -Wno- with the name of the ID silences.
func (l *Log) Warn(id ID, place Place, text string) *Message {
	return l.add(Warning, id, place, text)
}

// Note adds a standalone note (--verbose).
func (l *Log) Note(place Place, text string) *Message { return l.add(Note, "", place, text) }

func (l *Log) add(kind Kind, id ID, place Place, text string) *Message {
	m := New(id, place, text)
	m.Kind = kind
	l.Messages = append(l.Messages, m)
	return m
}

// Split returns n empty logs for workers, with the same Spelling.
func (l *Log) Split(n int) []Log {
	logs := make([]Log, n)
	for i := range logs {
		logs[i].Spelling = l.Spelling
	}
	return logs
}

// Append adds the messages of another log after these.
func (l *Log) Append(other *Log) { l.Messages = append(l.Messages, other.Messages...) }

// Errors returns the number of errors in the log.
func (l *Log) Errors() int {
	n := 0
	for _, m := range l.Messages {
		if m.Kind == Error {
			n++
		}
	}
	return n
}

// Error returns the uncoloured first line, "a.ptx:4:39: error: text". Because of it, *Message is an
// error, and a single message can be returned as one.
func (m *Message) Error() string {
	return firstLine(m.Place, m.Kind.String(), m.Text, m.ID, Style{Full: true})
}
