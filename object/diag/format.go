package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Formats are the values of Style.Format.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes messages as the ptxlink command does. As text, a message is a line with file, line
// and column, the line of the input with a marker below it, the notes and the help. As JSON it is
// one line. SARIF is one document; GitHub reads workflow commands. docs/errors.md describes the
// formats.
func Write(w io.Writer, messages []*Message, style Style) error {
	messages = style.limit(messages)
	switch style.Format {
	case "json":
		return writeJSONLines(w, messages, style.Spelling)
	case "sarif":
		return writeSARIF(w, messages, style)
	case "github":
		return writeGitHub(w, messages)
	}
	return writeText(w, messages, style)
}

// limit returns the messages up to the last error that is shown, and a note with the number of
// errors that follow it.
func (s Style) limit(messages []*Message) (shown []*Message) {
	most := s.ErrorLimit
	if most <= 0 {
		return messages
	}
	errors := 0
	for _, m := range messages {
		if m.Kind == Error {
			errors++
		}
		if errors <= most {
			shown = append(shown, m)
		}
	}
	if hidden := errors - most; hidden > 0 {
		shown = append(shown, &Message{Kind: Note, Text: fmt.Sprintf("%d more error%s not shown", hidden, map[bool]string{false: "s"}[hidden == 1]) + s.Spelling.With("--error-limit=0", "; %s shows all")})
	}
	return shown
}

// jsonMessage is a message in JSON. docs/errors.md describes it, so a field must never change its
// meaning.
type jsonMessage struct {
	ID       ID          `json:"id,omitempty"` // notes have none
	Severity string      `json:"severity"`
	Message  string      `json:"message"`
	Symbol   *jsonSymbol `json:"symbol,omitempty"`
	Places   []jsonPlace `json:"places"`
	Notes    []string    `json:"notes,omitempty"` // without a place
	Help     string      `json:"help,omitempty"`
}

type jsonSymbol struct {
	Mangled   string `json:"mangled"`
	Demangled string `json:"demangled"`
}

// jsonPlace is a place of a message. Line and Column count from 1, a column is a character, and the
// end is after the last character. All are missing if the place is the whole file.
type jsonPlace struct {
	Role      Role   `json:"role"`
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Message   string `json:"message,omitempty"` // text of a note
}

func writeJSONLines(w io.Writer, messages []*Message, s Spelling) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, m := range messages {
		j := jsonMessage{ID: m.ID, Severity: m.Kind.String(), Message: m.Text, Places: []jsonPlace{}, Help: m.Help}
		if m.Symbol != "" {
			j.Symbol = &jsonSymbol{m.Symbol, s.demangled(m.Symbol)}
		}
		if m.Place.Source != nil {
			j.Places = append(j.Places, placeJSON(m.Place, Primary, ""))
		}
		for _, n := range m.Notes {
			if n.Place.Source == nil {
				j.Notes = append(j.Notes, n.Text)
			} else {
				j.Places = append(j.Places, placeJSON(n.Place, n.Role(), n.Text))
			}
		}
		if err := e.Encode(j); err != nil {
			return err
		}
	}
	_, err := w.Write(EscapeJSON(b.Bytes()))
	return err
}

func placeJSON(at Place, role Role, text string) jsonPlace {
	p := jsonPlace{Role: role, Message: text}
	p.File, p.Line, p.Column = at.Position()
	p.EndLine, p.EndColumn = at.End()
	return p
}

// Role says what a place of a message is.
type Role string

// The roles of places.
const (
	Primary     Role = "primary"     // what the message is about
	Definition  Role = "definition"  // of the symbol, or the first of two
	Declaration Role = "declaration" // of the symbol
	UsePlace    Role = "use"         // of the symbol
	SourcePlace Role = "source"      // the line that the compiler read
	Linked      Role = "linked"      // the line that ptxas read
	Related     Role = "related"     // any other
)

// Role returns the role of the place of a note. Only the text of the note shows the role.
func (r Remark) Role() Role {
	for _, word := range []struct {
		text string
		role Role
	}{
		{inPTX, Related},
		{"source line", SourcePlace}, {"linked module", Linked}, {"used here", UsePlace}, {"more use", UsePlace}, {"accessed at", UsePlace},
		{"defined", Definition}, {"definition", Definition}, {"initialised", Definition}, {"reserved", Definition}, {"declared", Declaration},
	} {
		if strings.Contains(r.Text, word.text) {
			return word.role
		}
	}
	return Related
}

// writeGitHub writes workflow commands, which GitHub shows beside the lines of a change. It shows
// ten errors and ten warnings of a step there, and all of them in the log. PTX is the output of a
// compiler and in no change, so a message goes to its source line instead if the file is there.
func writeGitHub(w io.Writer, messages []*Message) error {
	var b strings.Builder
	for _, m := range messages {
		command := m.Kind.String()
		if m.Kind == Note {
			command = "notice"
		}
		var properties []string
		add := func(key, value string) {
			properties = append(properties, key+"="+githubProperty.Replace(Escape(value)))
		}
		places := atSource(m, inChange)
		at, notes := places[0].Place, places[1:]
		if file, line, column := at.Position(); at.Source != nil {
			add("file", file)
			if line > 0 {
				add("line", fmt.Sprint(line))
			}
			if endLine, endColumn := at.End(); endLine > 0 {
				add("endLine", fmt.Sprint(endLine))
				if endLine == line { // GitHub refuses columns if there are several lines
					add("col", fmt.Sprint(column))
					add("endColumn", fmt.Sprint(endColumn))
				}
			} else if column > 0 {
				add("col", fmt.Sprint(column))
			}
		}
		if m.ID != "" {
			add("title", string(m.ID))
		}
		text := shown(m.Text, maxText)
		for _, n := range notes {
			text += "\n" + firstLine(n.Place, "note", n.Text, "", Style{Full: true})
		}
		if m.Help != "" {
			text += "\nhelp: " + shown(m.Help, maxText)
		}
		b.WriteString("::" + command)
		if len(properties) > 0 {
			b.WriteString(" " + strings.Join(properties, ","))
		}
		b.WriteString("::" + githubData.Replace(text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inPTX begins the note for a place that is shown at its source line.
const inPTX = "in the PTX"

// atSource returns the place of a message, with its text, and its notes. If source lines follow a
// place, the first wanted line takes its text, and the place comes after the lines.
func atSource(m *Message, wanted func(line Remark) bool) (list []Remark) {
	rest := append([]Remark{{Place: m.Place, Text: m.Text}}, m.Notes...)
	for len(rest) > 0 {
		end := 1
		for end < len(rest) && rest[end].Role() == SourcePlace {
			end++
		}
		at, lines := rest[0], rest[1:end]
		rest = rest[end:]
		n := slices.IndexFunc(lines, func(line Remark) bool {
			return line.Place.Source != nil && line.Place.Source.Text != nil && wanted(line)
		})
		if n < 0 {
			list = append(append(list, at), lines...)
			continue
		}
		list = append(list, Remark{Place: lines[n].Place, Text: at.Text})
		list = append(append(list, lines[:n]...), lines[n+1:]...)
		list = append(list, Remark{Place: at.Place, Text: behind(lines[n].Text)})
	}
	return list
}

// behind returns the text of the note for a place that comes after its source line. text is the
// note that the line had.
func behind(text string) string {
	if name, ok := strings.CutPrefix(text, "source line of "); ok {
		return inPTX + " of " + name
	}
	if strings.HasPrefix(text, "first used") {
		return "declared here, " + inPTX
	}
	if _, name, ok := strings.Cut(text, ", in "); ok {
		return inPTX + " of " + name
	}
	return inPTX
}

// inChange reports whether a source line is in a file below the working directory, since only such
// a file can be in the change.
func inChange(line Remark) bool { return filepath.IsLocal(line.Place.Source.Name) }

// exact reports whether a source line belongs to the place itself, and not to the start of the
// function around the place.
func exact(line Remark) bool { return !strings.Contains(line.Text, "which starts") }

// GitHub's runner reads these escapes in properties and in texts, so they must be used there.
var (
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
)
