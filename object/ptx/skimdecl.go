package ptx

import (
	"bytes"

	"ptxlink/link/diag"
)

// scan moves over text byte by byte. What it reads fails once ok is false; the reader
// then reads the statement again.
type scan struct {
	text []byte
	at   int
	ok   bool
}

// space skips white space. A comment is left to the reader.
func (s *scan) space() {
	for s.at < len(s.text) && class[s.text[s.at]] == cSpace {
		s.at++
	}
}

// is skips white space and, if it comes next, a byte.
func (s *scan) is(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scan) need(c byte) { s.ok = s.is(c) && s.ok }

// word reads a directive: a dot and a name.
func (s *scan) word() diag.Span {
	s.space()
	from := s.at
	if from >= len(s.text) || s.text[from] != '.' {
		s.ok = false
		return diag.Span{}
	}
	for s.at++; s.at < len(s.text) && inName[s.text[s.at]]; s.at++ {
	}
	if s.at == from+1 || s.at < len(s.text) && s.text[s.at] == ':' {
		s.ok = false
	}
	return diag.Span{Off: int32(from), Len: int32(s.at - from)}
}

// name reads a name that starts with a letter, _ or $, or with % if register is set.
func (s *scan) name(register bool) diag.Span {
	s.space()
	from := s.at
	if from >= len(s.text) || class[s.text[from]] != cLetter && class[s.text[from]] != cSigil && !(register && s.text[from] == '%') {
		s.ok = false
		return diag.Span{}
	}
	for s.at++; s.at < len(s.text) && inName[s.text[s.at]]; s.at++ {
	}
	s.ok = s.ok && (s.at > from+1 || class[s.text[from]] == cLetter)
	return diag.Span{Off: int32(from), Len: int32(s.at - from)}
}

// number reads a decimal number.
func (s *scan) number() (value int64, span diag.Span) {
	s.space()
	value, end := decimal(s.text, s.at)
	s.ok = s.ok && end > s.at
	span = diag.Span{Off: int32(s.at), Len: int32(end - s.at)}
	s.at = end
	return value, span
}

// typed reads `.align 8 .b8 name[16]`, what follows the state space of a parameter
// or local.
func (s *scan) typed(space string, parameter bool) (t TypeAt, name diag.Span) {
	t.Space, t.Count = space, 1
	w := s.word()
	if string(s.bytes(w)) == ".align" {
		t.Align, t.AlignSpan = s.number()
		s.ok = s.ok && t.Align > 0 && t.Align&(t.Align-1) == 0
		w = s.word()
	}
	t.Word, t.WordSpan = known(s.bytes(w)), w
	s.ok = s.ok && TypeSize(t.Word) != 0
	if s.space(); parameter && s.at < len(s.text) && s.text[s.at] == '.' {
		s.ok = s.ok && string(s.bytes(s.word())) == ".ptr"
		for s.space(); s.ok && s.at < len(s.text) && s.text[s.at] == '.'; s.space() {
			if string(s.bytes(s.word())) == ".align" {
				s.number()
			}
		}
	}
	name = s.name(true)
	end := s.at
	if s.is('[') {
		t.Array = true
		t.Count, _ = s.number()
		s.need(']')
		end = s.at
		s.ok = s.ok && !s.is('[')
	}
	s.at = end
	return t, name
}

func (s *scan) bytes(span diag.Span) []byte { return s.text[span.Off:span.End()] }

// skimHeader reads a plain function up to its body or semicolon: its linkage, results,
// name and parameters. It returns false, and does nothing, if anything else or a
// comment is in it.
func (p *parser) skimHeader(d *Decl) (results int, ok bool) {
	if p.unskimmed || p.tok.Kind != Word {
		return 0, false
	}
	s := scan{text: p.text, at: int(p.tok.Off), ok: true}
	w := s.word()
	switch string(s.bytes(w)) {
	case ".extern":
		d.Linkage = Extern
	case ".visible":
		d.Linkage = Visible
	case ".weak":
		d.Linkage = Weak
	}
	if d.Linkage != Local {
		w = s.word()
	}
	switch string(s.bytes(w)) {
	case ".func":
		d.Kind = Func
	case ".entry":
		d.Kind = Entry
	default:
		return 0, false
	}
	list := p.paramList[:0]
	if s.is('(') {
		list = s.params(list, p.outline)
	}
	results = len(list)
	d.NameSpan = s.name(false)
	end := s.at
	if s.is('(') {
		list = s.params(list, p.outline)
		end = s.at
	}
	s.space()
	if !s.ok || s.at >= len(s.text) || s.text[s.at] != '{' && s.text[s.at] != ';' {
		return 0, false
	}
	p.paramList = list
	d.Header = diag.Span{Off: w.Off, Len: int32(end) - w.Off}
	d.Name = p.named(s.bytes(d.NameSpan))
	p.at = s.at + 1
	p.last.End = int32(end)
	p.tok = Token{Kind: Punct, Ch: s.text[s.at], Off: int32(s.at), End: int32(s.at + 1)}
	return results, true
}

// params reads a parameter list behind its parenthesis, or only finds its end.
func (s *scan) params(list []Param, skip bool) []Param {
	if s.is(')') {
		return list
	}
	if skip {
		end := bytes.IndexByte(s.text[s.at:], ')') // errors in what is skipped do not matter
		s.ok = s.ok && end >= 0 && !bytes.ContainsAny(s.text[s.at:s.at+end], "/#\"(;\x00")
		s.at += end + 1
		return list
	}
	for s.ok {
		w := s.word()
		if string(s.bytes(w)) != ".param" {
			s.ok = false
			break
		}
		var a Param
		a.TypeAt, a.NameSpan = s.typed(".param", true)
		a.Span = diag.Span{Off: w.Off, Len: int32(s.at) - w.Off}
		list = append(list, a)
		if s.is(')') {
			return list
		}
		s.need(',')
	}
	return list
}

// skimObject reads the rest of a declaration of one object or register.
func (p *parser) skimObject(at int, space string) int {
	s := scan{text: p.text, at: at, ok: true}
	l := LocalDecl{Kind: Object, Count: -1}
	if space == ".reg" {
		l.Kind = Register
	}
	l.Type, l.Name = s.typed(space, false)
	if s.need(';'); !s.ok {
		return -1
	}
	p.local(&l)
	if s.text[l.Name.Off] != '%' || space == ".param" || p.code.hides(s.bytes(l.Name), false) { // as enterDeclared does
		p.code.enter(l)
	}
	return s.at
}

// skimCall reads the operands of a call, behind its modifiers, whose opcode is at op.
func (p *parser) skimCall(op, at int) int {
	s := scan{text: p.text, at: at, ok: true}
	uses := len(p.m.Uses)
	c := Call{Use: -1, Proto: -1, In: p.in}
	types, results := p.types[:0], 0
	if s.is('(') {
		types = p.skimOperandList(&s, types)
		results = len(types)
		s.need(',')
	}
	c.Target = s.name(true)
	if s.ok {
		c.Use = int32(len(p.m.Uses))
		if p.use(c.Target.Off, s.bytes(c.Target)); int(c.Use) == len(p.m.Uses) {
			c.Use = -1
		}
	}
	end := s.at
	if s.is(',') {
		if s.need('('); s.ok {
			types = p.skimOperandList(&s, types)
		}
		end = s.at
		if s.is(',') {
			proto := s.name(false)
			if s.ok {
				p.use(proto.Off, s.bytes(proto))
				if i := p.code.find(s.bytes(proto)); i >= 0 && p.code.locals[i].Kind == ProtoLabel {
					c.Proto = p.code.locals[i].Proto
				}
			}
			end = s.at
		}
	}
	if s.need(';'); !s.ok {
		p.m.Uses = p.m.Uses[:uses]
		return -1
	}
	c.Span = diag.Span{Off: int32(op), Len: int32(end - op)}
	p.types = types
	c.Signature = p.intern(types, results)
	p.m.Calls = append(p.m.Calls, c)
	return s.at
}

// skimOperandList reads names and numbers behind a parenthesis.
func (p *parser) skimOperandList(s *scan, types []Type) []Type {
	if s.is(')') {
		return types
	}
	for s.ok {
		var t Type
		if s.space(); s.at < len(s.text) && class[s.text[s.at]] == cDigit {
			s.number()
		} else if span := s.name(true); s.ok {
			name := s.bytes(span)
			p.use(span.Off, name)
			t = p.code.operandType(name)
		}
		types = append(types, t)
		if s.is(')') {
			return types
		}
		s.need(',')
	}
	return types
}
