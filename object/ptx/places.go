package ptx

import (
	"bytes"
	"cmp"
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// NamePlace is a place in a body that means a name: the index of its declaration in the
// list passed to PlainPlaces.
type NamePlace struct {
	Span diag.Span
	Name int32
}

// PlaceSearch finds the places of names that functions declare. It keeps memory from one
// function to the next; the zero PlaceSearch is ready.
type PlaceSearch struct {
	m     *Module
	text  []byte
	body  diag.Span
	names []diag.Span // their declarations
	table sets.Table

	// Known once a name occurs again:
	head  int  // a place before which the body has no block, string or comment
	clear int  // no comment /* */ before it
	block bool // there is one
}

// PlainPlaces returns the places in the body of a function that mean names it declares
// there, by offset; declared holds the places of the declarations. It searches the text
// and reads no code. ok is false if that is not enough: the code of the function then
// decides.
//
// A name that occurs nowhere else needs only its declaration. Where it occurs again, the
// declaration must be in the outermost block, and each use an operand on the line of its
// opcode, after the end of another statement.
func (s *PlaceSearch) PlainPlaces(m *Module, d *Decl, declared []diag.Span) (places []NamePlace, ok bool) {
	s.table.Clear()
	*s = PlaceSearch{m: m, text: m.Src.Text, body: d.Body, names: s.names[:0], table: s.table}
	var first [256]bool
	for _, span := range declared {
		if span.Off < d.Body.Off || span.End() > d.Body.End() || !s.add(span) {
			return nil, false
		}
		first[s.text[span.Off]] = true
	}
	places = make([]NamePlace, 0, len(declared)+1)
	for c, is := range first {
		if !is {
			continue
		}
		if places, ok = s.search(byte(c), places); !ok {
			return nil, false
		}
	}
	slices.SortFunc(places, func(a, b NamePlace) int { return cmp.Compare(a.Span.Off, b.Span.Off) })
	return places, true
}

// add adds a name by its declaration. It returns false if the name is not new.
func (s *PlaceSearch) add(declared diag.Span) bool {
	name := s.m.Src.Bytes(declared)
	if s.find(name) >= 0 {
		return false
	}
	s.table.Add(sets.HashBytes(name))
	s.names = append(s.names, declared)
	return true
}

func (s *PlaceSearch) find(name []byte) int32 {
	return s.table.Find(sets.HashBytes(name), func(n int32) bool { return bytes.Equal(s.m.Src.Bytes(s.names[n]), name) })
}

// search adds the places of names that start with c.
func (s *PlaceSearch) search(c byte, places []NamePlace) ([]NamePlace, bool) {
	text, end := s.text, int(s.body.End())
	for at := int(s.body.Off); ; {
		i := bytes.IndexByte(text[at:end], c)
		if i < 0 {
			return places, true
		}
		from := at + i
		at = nameEnd(text[:end], from+1)
		if inName[text[from-1]] || text[from-1] == '%' {
			continue
		}
		n := s.find(text[from:at])
		if n < 0 {
			continue
		}
		declared := s.names[n]
		if from != int(declared.Off) && !s.plain(from, int(declared.Off)) {
			return places, false
		}
		places = append(places, NamePlace{diag.Span{Off: int32(from), Len: int32(at - from)}, n})
	}
}

// plain reports whether a name at a place is an operand that refers to the declaration
// at another.
func (s *PlaceSearch) plain(at, declaration int) bool {
	const long = 200 // more is not plain, and would take time
	m, text, body := s.m, s.text, int(s.body.Off)
	if s.head == 0 {
		s.head = min(body+1+long, int(s.body.End()))
		if i := bytes.IndexAny(text[body+1:s.head], "{}/\"#"); i >= 0 {
			s.head = body + 1 + i
		}
		s.clear = s.head
	}
	if at > s.clear && !s.block {
		s.block = bytes.Contains(text[s.clear:at], []byte("/*"))
		s.clear = at - 1
	}
	if declaration > s.head || at < declaration || s.block || len(m.LocalRanges) > 0 || len(m.Prototypes) > 0 || len(m.TargetRanges) > 0 {
		return false
	}
	near := max(body, at-long)
	i := bytes.LastIndexByte(text[near:at], '\n')
	if i < 0 {
		return false
	}
	line := near + i + 1
	before := bytes.Trim(text[line:at], " \t")
	for i, c := range before {
		switch {
		case i == 0 && class[c] != cLetter && c != '@', c == '.' && i == len(before)-1:
			return false
		case inName[c], c == ' ', c == '\t', c == '.', c == ',', c == '%', c == '[', c == ']', c == '+', c == '@', c == '!':
		default:
			return false
		}
	}
	if rest, guarded := bytes.CutPrefix(before, []byte("@")); guarded { // @%p1 bra, @!%p1 bra
		rest = bytes.TrimPrefix(rest, []byte("!"))
		if len(rest) == 0 || rest[0] != '%' || !bytes.ContainsAny(rest, " \t") {
			return false
		}
	}
	return len(before) > 0 && endsStatement(text[max(body, line-long):line])
}

// endsStatement reports whether a statement ends where text does. The first line of text
// may be incomplete.
func endsStatement(text []byte) bool {
	for {
		text = bytes.TrimRight(text, " \t\r\n")
		from := bytes.LastIndexByte(text, '\n') + 1
		line := bytes.TrimLeft(text[from:], " \t")
		if from == 0 || len(line) == 0 || line[0] == '#' {
			return false
		}
		code, _, comment := bytes.Cut(line, []byte("//"))
		switch last := line[len(line)-1]; {
		case comment && len(code) == 0:
			text = text[:from]
		case bytes.HasPrefix(code, []byte(".loc")):
			return len(bytes.Trim(code[4:], "0123456789 \t")) == 0
		default:
			return !comment && (last == ';' || last == ':' || last == '}')
		}
	}
}
