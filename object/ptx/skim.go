package ptx

import (
	"bytes"

	"ptxlink/link/diag"
)

// skim passes the statements that most of a body consists of without making tokens:
// instructions, calls, blocks, labels, .loc, .reg and .param. It stops before the first
// statement with anything unusual in it, such as a comment between operands or a float
// with a decimal point, and the reader reads that one. FuzzParse checks that a module
// is the same without it.
func (p *parser) skim() {
	r := &p.code
	if p.pct || p.unskimmed || r.Err != nil || r.done {
		return
	}
	from := int(r.tok.Off)
	at := from
	for {
		end := p.skimStatement(at)
		if end < 0 {
			break
		}
		r.latest = -1
		r.last.End = int32(end)
		at = p.gap(end)
	}
	if at != from {
		r.at = at
		r.tok = r.Next()
	}
}

// gap skips white space and comments to the end of their line.
func (p *parser) gap(at int) int {
	text := p.text
	for at < len(text) {
		switch c := text[at]; {
		case class[c] == cSpace:
			if at++; at+8 <= len(text) && string(text[at:at+8]) == "        " { // before clang's comments
				at += 8
			}
		case c == '/' && at+1 < len(text) && text[at+1] == '/':
			at = lineEnd(text, at)
		default:
			return at
		}
	}
	return at
}

// nameEnd returns the end of the run of letters, digits, _ and $ at a place.
func (p *parser) nameEnd(at int) int {
	text := p.text
	for at < len(text) && inName[text[at]] {
		at++
	}
	return at
}

// skimStatement reads the statement at a place and returns its end, or -1 if the
// reader must read it.
func (p *parser) skimStatement(at int) int {
	r, text := &p.code, p.text
	if at >= len(text) {
		return -1
	}
	switch c := text[at]; {
	case c == '{':
		r.begun = append(r.begun, len(r.visible))
		return at + 1
	case c == '}' && len(r.begun) > 1:
		r.leave(r.begun[len(r.begun)-1])
		r.begun = r.begun[:len(r.begun)-1]
		return at + 1
	case c == '.':
		return p.skimDirective(at)
	case c == '@': // @%p1, @!%p1
		if at++; at < len(text) && text[at] == '!' {
			at++
		}
		for at < len(text) && class[text[at]] == cSpace { // gcc writes @ %r1
			at++
		}
		if at+1 >= len(text) || text[at] != '%' || !inName[text[at+1]] {
			return -1
		}
		at = p.nameEnd(at + 1)
		for at < len(text) && class[text[at]] == cSpace {
			at++
		}
		if at >= len(text) || class[text[at]] != cLetter {
			return -1
		}
		return p.skimInstruction(at, false)
	case class[c] == cLetter:
		return p.skimInstruction(at, true)
	case c == '$' || c == '_':
		end := p.nameEnd(at)
		if end-at > 1 && end < len(text) && text[end] == ':' {
			return p.skimLabel(at, end)
		}
	}
	return -1
}

// skimLabel records the label text[at:end], which a colon follows. Labels of
// prototypes and lists, and those that hide a module-scope name, are left to the
// reader.
func (p *parser) skimLabel(at, end int) int {
	name := p.text[at:end]
	next := p.gap(end + 1)
	if next+1 >= len(p.text) {
		return -1
	}
	switch c := p.text[next]; {
	case c == '@', c == '{', c == '}', class[c] == cLetter, class[c] == cSigil:
	case c == '.' && p.text[next+1] != 'c' && p.text[next+1] != 'b' && class[p.text[next+1]] == cLetter:
	default:
		return -1
	}
	if _, ok := p.m.moduleName(name); ok {
		return -1
	}
	p.local(&LocalDecl{Kind: CodeLabel, Name: diag.Span{Off: int32(at), Len: int32(end - at)}, Count: -1})
	return end + 1
}

// skimInstruction reads a label, or an opcode, its modifiers and its operands. It
// records the module-scope names in them.
func (p *parser) skimInstruction(from int, label bool) int {
	text := p.text
	if from+4 < len(text) && string(text[from:from+4]) == "call" && !inName[text[from+4]] && text[from+4] != ':' {
		at := p.opcodeEnd(from)
		for at < len(text) && class[text[at]] == cSpace {
			at++
		}
		return p.skimCall(from, at)
	}
	uses, depth := len(p.m.Uses), 0
	for at := from + 1; ; {
		if at = p.events.next(text, at); at >= len(text) || text[at-1] == '.' {
			break
		}
		switch c := text[at]; {
		case c == ';':
			if depth == 0 {
				return at + 1
			}
		case c == '{':
			depth++
			at++
			continue
		case c == '}':
			if depth--; depth >= 0 {
				at++
				continue
			}
		case class[c] == cLetter, class[c] == cSigil:
			end := p.nameEnd(at + 1)
			if (end-at > 1 || class[c] == cLetter) && p.use(int32(at), text[at:end]) {
				if next := p.gap(end); next < len(text) && text[next] == '[' {
					break
				}
			}
			if end-at > 1 || c != '$' { // _ alone is the sink
				at = end
				continue
			}
		case c == ':' && label && p.nameEnd(from) == at:
			return p.skimLabel(from, at)
		case c == ':', c == '.': // .shared::cluster, .v2.f32
			if end := p.opcodeEnd(from); at < end {
				at = end
				continue
			}
		}
		break
	}
	p.m.Uses = p.m.Uses[:uses]
	return -1
}

// opcodeEnd returns the end of an opcode and the modifiers that follow it without a
// space.
func (p *parser) opcodeEnd(from int) int {
	text := p.text
	at := p.nameEnd(from)
	for at+1 < len(text) && text[at] == '.' && inName[text[at+1]] {
		at = p.nameEnd(at + 1)
		for at+2 < len(text) && text[at] == ':' && text[at+1] == ':' && inName[text[at+2]] {
			at = p.nameEnd(at + 2)
		}
	}
	return at
}

// skimDirective reads `.loc 1 20 3` and `.reg .b32 %r<9>;`.
func (p *parser) skimDirective(at int) int {
	text := p.text
	end := p.nameEnd(at + 1)
	switch string(text[at:end]) {
	case ".loc":
		return p.skimLoc(at, end)
	case ".reg":
		if at := p.skimRegisters(end); at >= 0 {
			return at
		}
		return p.skimObject(end, ".reg")
	case ".param":
		return p.skimObject(end, ".param")
	case ".local":
		return p.skimObject(end, ".local")
	}
	return -1
}

func (p *parser) skimLoc(from, at int) int {
	text := p.text
	var loc Loc
	var end int
	if loc.LocPlace, loc.FileSpan, end = p.skimPlace(at); end < 0 {
		return -1
	}
	if end < len(text) && text[end] == ',' {
		if loc.Inlining, end = p.skimInlining(end); end < 0 {
			return -1
		}
	}
	// More numbers, and a comma, belong to the directive.
	next := p.gap(end)
	if next >= len(text) {
		return -1
	}
	switch c := text[next]; {
	case class[c] == cLetter, class[c] == cSigil, c == '@', c == '{', c == '}', c == '.' && next > end:
		loc.Span = diag.Span{Off: int32(from), Len: int32(end - from)}
		if cap(p.m.Locs) == 0 {
			p.m.Locs = make([]Loc, 0, 16+(len(text)-at)/256) // clang's lines are denser than others
		}
		p.m.Locs = append(doubled(p.m.Locs), loc)
		return end
	}
	return -1
}

// skimPlace reads the numbers of a file, a line and a column, of which the last two may be
// missing, and returns their end; -1 if the reader must read them.
func (p *parser) skimPlace(at int) (place LocPlace, file diag.Span, end int) {
	for i, n := range []*int64{&place.File, &place.Line, &place.Column} {
		for at < len(p.text) && class[p.text[at]] == cSpace {
			at++
		}
		value, digits := decimal(p.text, at)
		if digits == at {
			if i == 2 {
				break
			}
			return place, file, -1
		}
		*n = value
		if i == 0 {
			file = diag.Span{Off: int32(at), Len: int32(digits - at)}
		}
		at, end = digits, digits
	}
	return place, file, end
}

// skimInlining reads `, function_name $L__info_string0, inlined_at 1 20 3`.
func (p *parser) skimInlining(from int) (*Inlining, int) {
	s := scan{text: p.text, at: from, ok: true}
	s.need(',')
	if string(s.bytes(s.name(false))) != "function_name" {
		return nil, -1
	}
	in := &Inlining{Function: s.name(false)}
	in.FunctionSpan = in.Function
	s.need(',')
	if string(s.bytes(s.name(false))) != "inlined_at" || !s.ok {
		return nil, -1
	}
	var end int
	if in.InlinedAt, in.Inlined, end = p.skimPlace(s.at); end < 0 {
		return nil, -1
	}
	in.Tail = diag.Span{Off: int32(from), Len: int32(end - from)}
	return in, end
}

// decimal reads a decimal number that ends before anything that could be part of it.
// end is at if there is none.
func decimal(text []byte, at int) (value int64, end int) {
	end = at
	for end < len(text) && class[text[end]] == cDigit && end-at < 10 {
		value = 10*value + int64(text[end]-'0')
		end++
	}
	if end == at || text[at] == '0' && end-at > 1 || end >= len(text) || inName[text[end]] || text[end] == '.' {
		return 0, at
	}
	return value, end
}

// skimRegisters reads the rest of a declaration of one register whose name starts with
// %, or of one range of these. It declares nothing that a module-scope name could meet.
func (p *parser) skimRegisters(at int) int {
	s := scan{text: p.text, at: at, ok: true}
	w := s.bytes(s.word())
	if !s.ok || !bytes.ContainsRune([]byte("bfpsu"), rune(w[1])) || !s.is('%') {
		return -1
	}
	name := s.at
	s.at = p.nameEnd(name)
	if s.at == name || s.at >= len(s.text) || bytes.IndexByte(s.text[name:s.at], '$') >= 0 {
		return -1
	}
	switch s.text[s.at] {
	case ';':
		if p.code.hides(s.text[name-1:s.at], false) {
			return -1
		}
		return s.at + 1
	case '<':
		if p.code.hides(nil, true) {
			return -1
		}
	default:
		return -1
	}
	s.at++
	s.number()
	s.need('>')
	if s.need(';'); !s.ok {
		return -1
	}
	return s.at
}
