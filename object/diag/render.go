package diag

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"ptxlink/internal/sets"
)

// Style says how messages are written.
type Style struct {
	Format     string   // one of Formats; empty is text
	Color      bool     // use terminal colours, in text
	ErrorLimit int      // stop after this many errors; 0 means no limit
	Width      int      // of the terminal, in columns; 0 means 128
	Full       bool     // do not shorten names and lists of calls in text
	Version    string   // of ptxlink, in SARIF
	Spelling   Spelling // of symbols, and of -W and --error-limit
}

var colors = map[string]string{
	"place": "\x1b[1m", "error": "\x1b[1;31m", "warning": "\x1b[1;35m", "note": "\x1b[1;36m", "help": "\x1b[1;32m", "mark": "\x1b[32m", "off": "\x1b[0m",
}

// color returns the escape sequence for a part of a message; "" without colour.
func (s Style) color(part string) string {
	if !s.Color {
		return ""
	}
	return colors[part]
}

// writeText renders messages as text: one "file:line:col: kind: text" line each, with the line of
// the file and a marker under the span, then notes and help. If a .cu file can be read, its line
// comes before the PTX that was compiled from it.
func writeText(w io.Writer, messages []*Message, style Style) error {
	var b strings.Builder
	type cause struct {
		id   ID
		help string
	}
	groups := map[cause]*group{}
	for _, m := range messages {
		if m.ID == UndefinedSymbol || m.ID == DuplicateSymbol {
			c := cause{m.ID, m.Help}
			if groups[c] == nil {
				groups[c] = &group{}
			}
			groups[c].left++
		}
	}
	for _, m := range messages {
		writeOne(&b, m, groups[cause{m.ID, m.Help}], style)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxCalls and maxCallsOfNote limit the places that are shown for an inlined line. The outermost
// call must always be among them, because in an inlined library it is the only one in the user's
// code.
const maxCalls, maxCallsOfNote = 4, 2

// shortChains drops the places in the middle of inlined lines, so that at most maxCalls or
// maxCallsOfNote remain.
func shortChains(notes []Remark) (kept []Remark) {
	for most := maxCalls; len(notes) > 0; most = maxCallsOfNote {
		end := 0
		for end < len(notes) && notes[end].Role() == SourcePlace {
			end++
		}
		lines := notes[:end]
		if left := end - most; left > 0 {
			kept = append(kept, lines[:most-1]...)
			lines = []Remark{{Place: lines[end-1].Place, Text: strings.Replace(lines[end-1].Text, "source line", fmt.Sprintf("source line (calls left out: %d)", left), 1)}}
		}
		kept = append(kept, lines...)
		if end < len(notes) {
			kept = append(kept, notes[end])
			end++
		}
		notes = notes[end:]
	}
	return kept
}

// group is the messages with one cause. Their help stands only after the last one. Messages after
// the second are brief, because lines of files, other uses and inlined calls would only repeat the
// first two.
type group struct {
	left, written int             // messages still to come, and messages written
	shown         map[string]bool // notes about whole files, and files in whose PTX something is
}

// leavesOut reports whether a message of the group omits a note.
func (g *group) leavesOut(n Remark, brief bool) bool {
	switch n.Role() {
	case SourcePlace, UsePlace:
		return brief
	}
	if strings.HasPrefix(n.Text, inPTX) {
		return !sets.Add(&g.shown, n.Place.File()) && brief
	}
	_, line, _ := n.Place.Position()
	return n.Place.Source != nil && line == 0 && !sets.Add(&g.shown, n.Place.File()+"\x00"+n.Text)
}

// writeOne writes a message; g is its group, or nil.
func writeOne(b *strings.Builder, m *Message, g *group, s Style) {
	notes, help := m.Notes, m.Help
	if !s.Full {
		notes = shortChains(notes)
	}
	if g != nil {
		if g.left--; g.left > 0 {
			help = ""
		}
		g.written++
	}
	brief := g != nil && g.written > 2 && !s.Full
	for i, n := range atSource(&Message{Place: m.Place, Text: m.Text, Notes: notes}, exact) {
		kind, id := "note", ID("")
		if i == 0 {
			kind, id = m.Kind.String(), m.ID
		} else if g != nil && !s.Full && g.leavesOut(n, brief) {
			continue
		}
		b.WriteString(firstLine(n.Place, kind, n.Text, id, s) + "\n")
		if !brief {
			writeExcerpt(b, n.Place, s)
		}
	}
	if help != "" {
		fmt.Fprintf(b, "%shelp:%s %s\n", s.color("help"), s.color("off"), shown(help, maxText))
	}
}

func firstLine(at Place, kind, text string, id ID, s Style) string {
	if !s.Full {
		text = abridge(text)
	}
	return fmt.Sprintf("%s%s:%s %s%s:%s %s%s", s.color("place"), at, s.color("off"), s.color(kind), kind, s.color("off"), shown(text, maxText), s.markOf(id))
}

// markOf returns the mark for the ID that text messages show after their first line: the option of
// a warning, including a warning that --fatal-warnings made an error, or the name of an error. It
// returns "" for errors that are not about the inputs, because --explain adds little to them.
func (s Style) markOf(id ID) string {
	switch id {
	case "", Usage, IO, Interrupted, Internal:
		return ""
	}
	if r, _ := id.Rule(); r.Kind == Warning && s.Spelling.Takes("-W") {
		return " [-W" + string(id) + "]"
	}
	return " [" + string(id) + "]"
}

// excerptWidth limits the part of a source line that is shown, because NVIDIA's own libraries have
// lines of 400 KB.
const excerptWidth = 120

// excerpt returns the width of excerpts. With the line number they must fit the terminal.
func (s Style) excerpt() int {
	if s.Width == 0 {
		return excerptWidth
	}
	return max(s.Width-len("12345 | ......"), 20)
}

func writeExcerpt(b *strings.Builder, at Place, s Style) {
	if at.Source == nil || (at.Span == Span{}) {
		return
	}
	number := at.Source.Line(at.Span.Off)
	span := at.Source.LineSpan(number)
	raw := at.Source.Bytes(span)
	from := clamp(int(at.Span.Off-span.Off), 0, len(raw))
	to := clamp(int(at.Span.End()-span.Off), from, len(raw))
	head, tail := "", ""
	if most := s.excerpt(); len(raw) > most {
		// Only this part is read, because many messages may point into one long line.
		lo := clamp(from-most/3, 0, len(raw))
		hi := clamp(lo+most, lo, len(raw))
		lo, hi = runeStart(raw, lo, -1), runeStart(raw, hi, +1)
		if lo > 0 {
			head = "..."
		}
		if hi < len(raw) {
			tail = "..."
		}
		raw, from, to = raw[lo:hi], from-lo+len(head), clamp(to, from, hi)-lo+len(head)
	}
	line := head + printable(raw) + tail
	// The marker line repeats the tabs of the source line, since only then it lines up at any tab
	// width.
	var pad strings.Builder
	for i, part := range strings.Split(line[:from], "\t") {
		if i > 0 {
			pad.WriteByte('\t')
		}
		pad.WriteString(strings.Repeat(" ", width(part)))
	}
	marks := strings.Repeat("^", max(1, width(strings.ReplaceAll(line[from:to], "\t", " "))))
	fmt.Fprintf(b, "%5d | %s\n      | %s%s%s%s\n", number, line, pad.String(), s.color("mark"), marks, s.color("off"))
}

// runeStart moves a place in a line to the start of a character. It may fail in bytes that are not
// UTF-8; printable replaces these.
func runeStart(line []byte, at, step int) int {
	for range utf8.UTFMax - 1 {
		if at <= 0 || at >= len(line) || utf8.RuneStart(line[at]) {
			break
		}
		at += step
	}
	return at
}

// printable replaces control codes, because a hostile or binary line must not control the terminal.
// The length in bytes stays the same, and tabs are kept.
func printable(line []byte) string {
	var out []byte
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r != '\t' && (r == utf8.RuneError && n == 1 || !strconv.IsPrint(r)) {
			if out == nil {
				out = bytes.Clone(line)
			}
			copy(out[i:i+n], [...]string{"?", "¿", "\ufffd", "\ufffd?"}[n-1])
		}
		i += n
	}
	if out == nil {
		out = line
	}
	return string(out)
}

func clamp(x, lo, hi int) int { return max(lo, min(x, hi)) }

// columns measures text on a terminal: wide characters have two columns, and combining characters
// none. Characters of ambiguous width have one, whatever the locale is, so that the output does not
// depend on it.
var columns = sync.OnceValue(func() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} })

// width returns the number of columns of a text without tabs.
func width(text string) int { return columns().StringWidth(text) }

// The most bytes of template arguments and of a mangled name in a text for people.
const (
	maxArguments = 72
	maxMangled   = 120
)

var mangledWord = sets.Regexp(`\b_[ZR][0-9A-Za-z_$.]+`)

// abridge shortens long template arguments and mangled names in a text by cutting out their middle.
func abridge(text string) string {
	if len(text) <= maxArguments {
		return text
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '<')
		end := -1
		for i, depth := open, 0; open >= 0 && i < len(text) && end < 0; i++ {
			switch {
			case text[i] == '<':
				depth++
			case text[i] == '>' && text[i-1] != '-':
				if depth--; depth == 0 {
					end = i
				}
			}
		}
		if end < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:open+1] + shorten(text[open+1:end], maxArguments))
		text = text[end:]
	}
	return mangledWord().ReplaceAllStringFunc(b.String(), func(name string) string { return shorten(name, maxMangled) })
}
