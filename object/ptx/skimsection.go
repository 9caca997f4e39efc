package ptx

import (
	"encoding/binary"
	"math"

	"ptxlink/link/diag"
)

// section reads a .section block. Its names may be declared later, so they are kept
// as references for the linker to resolve.
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
	if !p.skimSection(&s) {
		p.at, p.Err = at, nil
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

// skimSection reads the labels, numbers and expressions of a section byte by byte and
// keeps them, and stops at its closing brace. If it finds anything else, such as a
// number that does not fit, it returns false and keeps nothing: sectionReader then reads
// the section, and reports errors, once its data is wanted.
func (p *parser) skimSection(s *Section) bool {
	old := &p.scratch.section
	r := sectionSkim{p: p, text: p.text, at: int(s.Body.Off)}
	r.s = Section{bytes: old.bytes[:0], items: old.items[:0], offsets: old.offsets[:0], Labels: old.Labels[:0], Refs: old.Refs[:0]}
	p.m.sectionNames.reserve(min(p.scratch.sectionNames, (len(p.text)-r.at)/8))
	for r.next() {
	}
	*old = r.s
	if !r.done {
		return false
	}
	s.skimmed = true
	_, s.bytes = copied(r.s.bytes)
	_, s.items = copied(r.s.items)
	_, s.offsets = copied(r.s.offsets)
	_, s.Labels = copied(r.s.Labels)
	_, s.Refs = copied(r.s.Refs)
	s.Body.Len = int32(r.at) - s.Body.Off
	p.at = r.at
	return true
}

type sectionSkim struct {
	p    *parser
	s    Section // its lists
	text []byte
	at   int
	done bool // at the closing brace
}

// next reads one item or label. It returns false at the closing brace and before
// anything unusual.
func (r *sectionSkim) next() bool {
	text := r.text
	r.byteLists()
	r.gap()
	if r.at >= len(text) {
		return false
	}
	switch c := text[r.at]; {
	case c == '.':
		return r.item()
	case class[c] == cLetter, class[c] == cSigil:
		name, ok := r.name()
		if r.gap(); !ok || !r.is(':') {
			return false
		}
		r.s.Labels = append(r.s.Labels, name)
		r.s.offsets = append(r.s.offsets, int64(len(r.s.bytes)))
		return true
	case c == '}':
		r.done = true
	}
	return false
}

// byteLists reads what most of a section consists of: lines such as `.b8 1,255`. It
// stops at the start of the first line that is not one.
func (r *sectionSkim) byteLists() {
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
		if next := r.nextLine(end); next > 0 {
			at = next
			continue
		}
		r.at = end
		if r.gap(); r.at < len(text) && text[r.at] == ',' {
			r.at, list = at, list[:count]
			break
		}
		at = r.at
	}
	r.s.bytes = list
	r.at = at
}

// nextLine returns the start of the next line if that starts with a dot and only spaces
// and a comment come before it, else 0.
func (r *sectionSkim) nextLine(at int) int {
	const spaces = 0x2020202020202020
	text := r.text
	if text[at] == ' ' {
		for at+8 < len(text) && binary.LittleEndian.Uint64(text[at:]) == spaces {
			at += 8
		}
		for at+2 < len(text) && text[at] == ' ' {
			at++
		}
		if at+2 >= len(text) || text[at] != '/' || text[at+1] != '/' {
			return 0
		}
		at = lineEnd(text, at)
	}
	if at+1 < len(text) && text[at] == '\n' && text[at+1] == '.' {
		return at + 1
	}
	return 0
}

// gap skips white space and comments to the end of their line.
func (r *sectionSkim) gap() {
	if r.at < len(r.text) && class[r.text[r.at]] <= cSpace {
		for r.at+8 <= len(r.text) && string(r.text[r.at:r.at+8]) == "        " { // before clang's comments
			r.at += 8
		}
		r.p.at = r.at
		r.p.gap()
		r.at = r.p.at
	}
}

func (r *sectionSkim) is(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *sectionSkim) name() (diag.Span, bool) {
	from := r.at
	if from >= len(r.text) || class[r.text[from]] != cLetter && class[r.text[from]] != cSigil {
		return diag.Span{}, false
	}
	r.at = nameEnd(r.text, from+1)
	return diag.Span{Off: int32(from), Len: int32(r.at - from)}, r.at-from > 1 || class[r.text[from]] == cLetter
}

// item reads .b8, .b16, .b32 or .b64 with a list of numbers or an expression.
func (r *sectionSkim) item() bool {
	text, at := r.text, r.at
	if at+4 >= len(text) {
		return false
	}
	width, next := 0, byte(' ')
	switch {
	case text[at+1] == 'b' && text[at+2] == '8':
		width, next = 1, text[at+3]
		r.at = at + 3
	case text[at+1] == 'b':
		switch string(text[at+2 : at+4]) {
		case "16":
			width = 2
		case "32":
			width = 4
		case "64":
			width = 8
		}
		next = text[at+4]
		r.at = at + 4
	}
	if width == 0 || class[next] != cSpace {
		return false
	}
	r.gap()
	if at := r.at; at < len(text) && (text[at] == '.' || class[text[at]] == cLetter || class[text[at]] == cSigil) {
		return width >= 4 && len(r.s.bytes) < 2*len(text) && r.expression(width)
	}
	for {
		negative := r.is('-')
		if negative {
			r.gap()
		}
		n, ok := r.number()
		limit := uint64(1) << (8*width - 1) // magnitude of the lowest negative number
		if !ok || negative && n > limit || !negative && width < 8 && n >= 2*limit {
			return false
		}
		if negative {
			n = -n
		}
		if width == 1 {
			r.s.bytes = append(r.s.bytes, byte(n))
		} else {
			r.s.bytes = binary.LittleEndian.AppendUint64(r.s.bytes, n)
			r.s.bytes = r.s.bytes[:len(r.s.bytes)-8+width]
		}
		if r.gap(); !r.is(',') {
			// Few bytes of text must not take much memory in every link.
			return len(r.s.bytes) < 2*len(text)
		}
		r.gap()
	}
}

// number reads a number without a sign.
func (r *sectionSkim) number() (n uint64, ok bool) {
	text, at := r.text, r.at
	end := at
	for end < len(text) && class[text[end]] == cDigit {
		n = 10*n + uint64(text[end]-'0')
		end++
	}
	if end == at || end >= len(text) {
		return 0, false
	}
	r.at = end
	if end-at < 19 && !inName[text[end]] && text[end] != '.' && (text[at] != '0' || end-at == 1) {
		return n, true
	}
	if r.at = nameEnd(r.text, end); r.at >= len(text) || text[r.at] == '.' {
		return 0, false
	}
	return integer(string(text[at:r.at]))
}

// expression reads name, name+number, name-name, and the same with the name of a section.
func (r *sectionSkim) expression(width int) bool {
	from := r.at
	e := expression{offset: int64(len(r.s.bytes)), width: int8(width), name: -1, minus: -1}
	if r.text[from] == '.' {
		e.section = true
		if r.at = nameEnd(r.text, from+1); r.at == from+1 || r.at >= len(r.text) || r.text[r.at] == ':' {
			return false
		}
		if word := string(r.text[from:r.at]); wordWidth(word) != 0 {
			return false
		}
	} else if name, ok := r.name(); !ok || !r.ref(&e.name, name) {
		return false
	}
	end := r.at
	e.nameLen = int32(end - from)
	r.gap()
	switch {
	case r.is('+'):
		r.gap()
		n, ok := r.number()
		if !ok || n > math.MaxInt64 {
			return false
		}
		e.addend, end = int64(n), r.at
	case !e.section && r.is('-'):
		r.gap()
		name, ok := r.name()
		if end = r.at; !ok || !r.ref(&e.minus, name) {
			return false
		}
	}
	e.span = diag.Span{Off: int32(from), Len: int32(end - from)}
	r.s.items = append(doubled(r.s.items), e)
	r.s.bytes = append(r.s.bytes, "\x00\x00\x00\x00\x00\x00\x00\x00"[:width]...)
	return true
}

// ref numbers a name that the section refers to. A label may not follow.
func (r *sectionSkim) ref(number *int32, name diag.Span) bool {
	at := r.at
	if r.gap(); r.is(':') {
		return false
	}
	r.at = at
	*number = r.p.m.sectionNames.add(r.text[name.Off:name.End()])
	r.s.Refs = append(doubled(r.s.Refs), Ref{name, *number})
	return true
}
