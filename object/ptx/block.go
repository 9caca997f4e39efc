package ptx

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"ptxlink/object/diag"
)

// section reads a .section block. Its names are kept as references for the linker to resolve,
// because they may be declared later.
func (p *parser) section() {
	from := int32(p.at)
	p.next()
	if !p.is('.') && !p.atName() {
		p.expected("a section name")
		return
	}
	name := p.span()
	s := Section{Name: string(p.bytes(name))}
	if p.next(); !p.is('{') {
		p.expected("'{'")
		return
	}
	s.Body.Off = int32(p.at + 1)
	if p.outline {
		if _, ok := p.block(bodyStops); !ok {
			p.expected("'}' of the section")
		}
		return
	}
	at := p.at
	if !p.readBlock(&s) {
		p.at = at
		for p.next(); !p.is('}'); {
			switch {
			case p.eof():
				p.expected("'}' of the section")
				return
			case p.is('{'):
				p.expected("data or '}' of the section")
				return
			case p.atName():
				name := p.name(Nothing, "")
				if p.accept(':') {
					s.Labels = append(s.Labels, name)
				} else {
					s.Refs = append(s.Refs, Ref{name, p.m.sectionNames.add(p.bytes(name))})
				}
			default:
				p.next()
			}
		}
		s.Body.Len = int32(p.at) - s.Body.Off
	}
	p.accept('}')
	s.Span = p.from(from)
	p.m.Sections = append(p.m.Sections, s)
}

// readBlock reads the labels and items of a block, keeps them, and stops at its closing
// brace. If there is an error, or far more bytes than text, it returns false and keeps
// nothing, because sectionReader then reads the block, and reports the error, once its data is
// wanted.
func (p *parser) readBlock(s *Section) bool {
	old := &p.scratch.section
	r := blockReader{cursor: cursor{Lexer: p.Lexer}, names: &p.m.sectionNames, room: 2 * len(p.text), want: -1}
	r.s = Section{bytes: old.bytes[:0], items: old.items[:0], offsets: old.offsets[:0], Labels: old.Labels[:0], Refs: old.Refs[:0]}
	r.names.reserve(min(p.scratch.sectionNames, (len(p.text)-p.at)/8))
	r.move(int(s.Body.Off))
	r.read()
	*old = r.s
	if r.Err != nil || !r.is('}') {
		return false
	}
	s.complete = true
	_, s.bytes = copied(r.s.bytes)
	_, s.items = copied(r.s.items)
	_, s.offsets = copied(r.s.offsets)
	_, s.Labels = copied(r.s.Labels)
	_, s.Refs = copied(r.s.Refs)
	s.Body.Len = int32(r.at) - s.Body.Off
	p.at = r.at
	return true
}

type blockReader struct {
	cursor
	s     Section   // its lists
	names *nameList // of the module; all names are in it if the module was read before
	room  int       // for bytes: few bytes of text must not take much memory in every link
	want  int64     // the offset to look for, or -1
	found diag.Span // the item there
}

// read reads up to the closing brace or the end of the text, or up to an error.
func (r *blockReader) read() {
	for r.Err == nil {
		if r.want < 0 {
			r.byteLists()
		}
		switch {
		case r.is('.'):
			r.item()
		case r.atName():
			r.label()
		case r.is('}') || r.at >= len(r.text):
			return
		default:
			r.expected("a label or .b8, .b16, .b32 or .b64")
		}
	}
}

// byteLists reads what most of a section consists of: lines such as `.b8 1,255`. It
// stops at the start of the first line that is not one.
func (r *blockReader) byteLists() {
	const word = '.' | 'b'<<8 | '8'<<16 | ' '<<24
	text, at := r.text, r.at
	list := r.s.bytes
	for at+8 < len(text) && binary.LittleEndian.Uint32(text[at:]) == word {
		end, count, ok := at+3, len(list), false
		for end+4 < len(text) { // text[end] is a space or comma
			n := uint(text[end+1] - '0')
			if ok = n <= 9; !ok {
				break
			}
			end += 2
			if d := uint(text[end] - '0'); n > 0 && d <= 9 {
				n = 10*n + d
				end++
				if d := uint(text[end] - '0'); d <= 9 {
					n = 10*n + d
					end++
				}
			}
			list = append(list, byte(n))
			if ok = n <= 255 && (text[end] == '\n' || text[end] == ' '); text[end] != ',' || n > 255 {
				break
			}
		}
		if !ok {
			list = list[:count]
			break
		}
		if r.move(end); r.at < len(text) && text[r.at] == ',' {
			r.at, list = at, list[:count]
			break
		}
		at = r.at
	}
	r.s.bytes = list
	r.at = at
}

func (r *blockReader) errorAt(span diag.Span, format string, args ...any) {
	r.fail(int(span.Off), int(span.End()), "", format, args...)
}

func (r *blockReader) expected(what string) {
	switch t := r.token(); {
	case r.Err != nil:
	case t.Kind == EOF: // the end of the block: point at its brace
		r.errorAt(diag.Span{Off: t.Off, Len: 1}, "expected %s, found the end of the section", what)
	default:
		r.errorAt(t.Span(), "expected %s, found %s", what, r.text[t.Off:t.End])
	}
}

func (r *blockReader) label() {
	r.s.Labels = append(r.s.Labels, r.name(Nothing, "a label"))
	r.s.offsets = append(r.s.offsets, int64(len(r.s.bytes)))
	if !r.accept(':') {
		r.expected("':' after the label")
	}
}

// width returns the width in bytes of the items after the next word, or 0 for other words.
func (r *blockReader) width() int {
	switch word := string(r.text[r.at:wordEnd(r.text, r.at)]); word {
	case ".b8", ".b16", ".b32", ".b64":
		return int(TypeSize(word))
	}
	return 0
}

// item reads .b8, .b16, .b32 or .b64 with a list of numbers or an expression.
func (r *blockReader) item() {
	width := r.width()
	if width == 0 {
		r.expected(".b8, .b16, .b32 or .b64")
		return
	}
	r.move(wordEnd(r.text, r.at))
	if r.atName() || r.is('.') && r.width() == 0 {
		r.expression(width)
		return
	}
	for r.number(width) && r.accept(',') {
	}
}

func (r *blockReader) number(width int) bool {
	from := int32(r.at)
	negative := r.accept('-')
	n, ok := r.unsigned()
	if !ok {
		return false
	}
	limit := uint64(1) << (8*width - 1) // magnitude of the lowest negative number
	if negative && n > limit || !negative && width < 8 && n >= 2*limit {
		r.errorAt(r.from(from), "%s does not fit .b%d", r.text[from:r.last], 8*width)
		return false
	}
	if negative {
		n = -n
	}
	r.put(width, n, r.from(from))
	return r.Err == nil
}

// unsigned reads 12, 0x1f, 017 or 0b1, with an optional U.
func (r *blockReader) unsigned() (uint64, bool) {
	t := r.token()
	if t.Kind != Number {
		r.expected("a number")
		return 0, false
	}
	spelling := string(r.text[t.Off:t.End])
	n, err := strconv.ParseUint(strings.TrimSuffix(spelling, "U"), 0, 64)
	if err != nil || strings.ContainsAny(spelling, "_oO") {
		r.errorAt(t.Span(), "%s is not an integer of at most 64 bits", spelling)
		return 0, false
	}
	r.move(int(t.End))
	return n, true
}

func (r *blockReader) put(width int, n uint64, span diag.Span) {
	from := int64(len(r.s.bytes))
	if r.want >= from && r.want < from+int64(width) {
		r.found = span
	}
	r.s.bytes = binary.LittleEndian.AppendUint64(r.s.bytes, n)[:int(from)+width]
	if len(r.s.bytes) >= r.room {
		r.errorAt(span, "section is too large to keep")
	}
}

// expression reads name, name+number, name-name, and the same with the name of a section.
func (r *blockReader) expression(width int) {
	from := int32(r.at)
	t := r.token()
	e := expression{offset: int64(len(r.s.bytes)), width: int8(width), name: -1, minus: -1, section: t.Kind == Word, nameLen: t.End - t.Off}
	if width < 4 {
		r.errorAt(t.Span(), "an address needs .b32 or .b64")
		return
	}
	if r.move(int(t.End)); !e.section {
		e.name = r.ref(t.Span())
	}
	switch {
	case r.accept('+'):
		at := int32(r.at)
		n, ok := r.unsigned()
		if ok && n > math.MaxInt64 {
			r.errorAt(r.from(at), "%s is not an offset into a section", r.text[at:r.last])
		}
		e.addend = int64(n)
	case !e.section && r.accept('-'):
		if !r.atName() {
			r.expected("a label")
			return
		}
		e.minus = r.ref(r.name(Nothing, "a label"))
	}
	if r.Err == nil {
		e.span = r.from(from)
		r.s.items = append(doubled(r.s.items), e)
		r.put(width, 0, e.span)
	}
}

// ref numbers a name that the section refers to. A name before a colon is a label instead.
func (r *blockReader) ref(name diag.Span) int32 {
	if r.is(':') {
		r.expected("a label or .b8, .b16, .b32 or .b64")
		return -1
	}
	number := r.names.add(r.text[name.Off:name.End()])
	r.s.Refs = append(doubled(r.s.Refs), Ref{name, number})
	return number
}
