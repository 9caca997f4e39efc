package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape returns s in printable form: on one line, and without characters that
// control a terminal. Names of files, members and symbols, and the output of
// other programs, may be hostile, so they must pass through Escape into messages,
// maps, listings and records.
//
// Characters that do not print are written as in Go: \n, \x1b, \u009b, \u202e.
// They are control characters including C1, marks of text direction, spaces of
// no width, and bytes that are not UTF-8. All others are kept, including
// backslashes.
func Escape(s string) string {
	at := 0
	for at < len(s) && ' ' <= s[at] && s[at] < 0x7f { // most strings are in ASCII
		at++
	}
	if at == len(s) {
		return s
	}
	out := []byte(s[:at])
	for at < len(s) {
		r, n := utf8.DecodeRuneInString(s[at:])
		text := s[at : at+n]
		if strconv.IsPrint(r) && utf8.ValidString(text) {
			out = append(out, text...)
		} else {
			quoted := strconv.Quote(text)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		at += n
	}
	return string(out)
}

// The most bytes of a name and of a whole text in a message. Names of template instances have
// thousands of bytes, so longer ones lose their middle.
const (
	maxName = 4096
	maxText = 16384
)

// shorten removes bytes from the middle of s if it has more than most.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const dots = "..."
	head, tail := (most-len(dots))/2, len(s)-(most-len(dots))/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + dots + s[tail:]
}

// shown returns a text or name as it is shown in a message.
func shown(s string, most int) string { return Escape(shorten(s, most)) }

// WriteJSON writes v as indented JSON. A program that reads it gets every string
// unchanged, but the text has no control characters: the characters that Escape
// would change are written as \u and hexadecimal digits.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "", "", "\n") }

// writeJSON writes v between before and after. Lines but the first begin with indent.
func writeJSON(w io.Writer, v any, indent, before, after string) error {
	b := bytes.NewBufferString(before)
	e := json.NewEncoder(b)
	e.SetIndent(indent, "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline of Encode
	b.WriteString(after)
	_, err := w.Write(EscapeJSON(b.Bytes()))
	return err
}

// JSONList writes a list as WriteJSON does, one value after the other.
type JSONList struct {
	W   io.Writer
	Len int
}

// Add writes a value of the list.
func (l *JSONList) Add(v any) error {
	before := "[\n  "
	if l.Len > 0 {
		before = ",\n  "
	}
	l.Len++
	return writeJSON(l.W, v, "  ", before, "")
}

// Close writes the end of the list.
func (l *JSONList) Close() error {
	end := "\n]\n"
	if l.Len == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(l.W, end)
	return err
}

// EscapeJSON escapes the unprintable characters in the strings of a JSON text.
// encoding/json escapes only those below a space.
func EscapeJSON(text []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(text); {
		if c := text[at]; c < utf8.RuneSelf && c != 0x7f {
			at++
			continue
		}
		r, n := utf8.DecodeRune(text[at:])
		if !strconv.IsPrint(r) {
			out = append(out, text[from:at]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = at + n
		}
		at += n
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}
