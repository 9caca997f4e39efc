package ptx

import (
	"math"
	"strings"
)

func (p *parser) function(start int32, linkage Linkage) {
	d := Decl{Kind: Func, Linkage: linkage, FirstUse: int32(len(p.m.Uses))}
	if p.isWord(".entry") {
		d.Kind = Entry
	}
	p.in = int32(len(p.m.Decls))
	headerOff := p.tok.Off
	p.next()
	for p.tok.Kind == Word { // .attribute(.unified(1, 2))
		p.attr(&d, true)
	}
	if p.is('(') {
		d.Results = p.params(false)
	}
	d.Name, d.NameSpan = p.name()
	if p.is('(') {
		d.Params = p.params(false)
	}
	for p.tok.Kind == Word {
		p.attr(&d, false)
	}
	d.Header = p.from(headerOff)
	switch {
	case p.is(';'):
		p.next()
	case p.is('{'):
		if linkage == Extern {
			p.errorAt(d.NameSpan, "drop .extern or the body", "%s is .extern and has a body", p.m.Names[d.Name])
			return
		}
		if linkage == Common {
			p.errorAt(d.NameSpan, "", ".common is for variables in .global")
			return
		}
		d.HasBody = true
		if p.outline {
			d.Body = p.block(stops, "'}' of "+p.m.Names[d.Name])
		} else {
			d.Body = p.body(&d)
		}
	default:
		p.expected("{ or ;")
	}
	if p.Err != nil {
		return
	}
	d.Span = p.from(start)
	d.EndUse = int32(len(p.m.Uses))
	p.m.Decls = append(p.m.Decls, d)
}

// attr reads one directive with its operands: .maxntid 256, 1, 1. Before the
// result list, only .attribute takes a parenthesis for itself. A .pragma here
// ends in a semicolon of its own.
func (p *parser) attr(d *Decl, beforeResults bool) {
	a := Attr{Word: p.word()}
	from := p.tok.Off
	p.next()
	for depth := 0; p.tok.Kind != EOF; p.next() {
		if p.is('(') {
			if depth == 0 && beforeResults && (a.Word != ".attribute" || !p.lastIs(".attribute")) {
				break
			}
			depth++
		} else if p.is(')') {
			depth--
		} else if depth == 0 && (p.tok.Kind == Word || p.tok.Kind == Ident || p.is('{') || p.is(';')) {
			break
		}
	}
	if a.Word == ".pragma" && p.is(';') {
		p.next()
	}
	a.Span = p.from(from)
	d.Attrs = append(d.Attrs, a)
}

func (p *parser) lastIs(word string) bool { return string(p.text[p.last.Off:p.last.End]) == word }

// params reads a parenthesised parameter list.
func (p *parser) params(nameless bool) []Param {
	list := []Param{}
	p.next()
	for !p.is(')') {
		list = append(list, p.param(nameless))
		if p.is(',') {
			p.next()
		} else if !p.is(')') {
			p.expected("',' or ')' in the parameter list")
			return list
		}
	}
	p.next()
	return list
}

// param reads one parameter. In a .callprototype it may go without a name, as _
// or as nothing.
func (p *parser) param(nameless bool) Param {
	var a Param
	from := p.tok.Off
	for p.tok.Kind == Word {
		w := p.word()
		switch {
		case a.Space == "" && (w == ".param" || w == ".reg"):
			a.Space = w
		case w == ".ptr":
			// What follows describes the memory behind the pointer.
			for p.next(); p.tok.Kind == Word; {
				align := p.isWord(".align")
				if p.next(); align {
					p.next()
				}
			}
			continue
		default:
			p.typeWord(&a.Type)
			continue
		}
		p.next()
	}
	switch {
	case p.tok.Kind == Ident || nameless && p.is('_'):
		a.NameSpan = p.tok.Span()
		p.next()
	case !nameless:
		p.expected("a parameter name")
		return a
	}
	if a.Word == "" {
		p.errorAt(a.NameSpan, "", "parameter %s has no type", p.text[a.NameSpan.Off:a.NameSpan.End()])
		return a
	}
	p.dimensions(&a.Type)
	a.Span = p.from(from)
	return a
}

// typeWord reads one word of a type: the type itself, .align N, .vN,
// .attribute(...), or a word of tomorrow's ISA.
func (p *parser) typeWord(t *Type) {
	w := p.word()
	span := p.tok.Span()
	p.next()
	switch {
	case w == ".align":
		n, ok := int64(0), false
		if p.tok.Kind == Number {
			n, ok = ParseInt(p.spelling())
		}
		if !ok || n <= 0 || n&(n-1) != 0 {
			p.expected("an alignment (a power of two; keep a space between it and the next dot)")
			return
		}
		t.Align, t.AlignSpan = n, p.tok.Span()
		p.next()
	case w == ".v2" || w == ".v4" || w == ".v8":
		t.Vector = int(w[2] - '0')
	case w == ".attribute" && p.is('('):
		for depth := 0; p.tok.Kind != EOF; p.next() {
			if p.is('(') {
				depth++
			} else if p.is(')') {
				if depth--; depth == 0 {
					p.next()
					return
				}
			}
		}
	case TypeSize(w) != 0 || t.Word == "":
		t.Word, t.WordSpan = w, span
	}
}

// dimensions reads [4], [2][3] or [].
func (p *parser) dimensions(t *Type) {
	t.Count = 1
	for p.is('[') {
		t.Array = true
		if p.next(); p.is(']') {
			t.Unsized = true
			p.next()
			continue
		}
		n, ok := p.constant()
		if p.Err != nil {
			return
		}
		for !p.is(']') && p.tok.Kind != EOF && !p.is(';') {
			ok = false
			p.next()
		}
		if !ok || n < 0 || t.Count < 0 || n != 0 && t.Count > math.MaxInt64/64/n {
			t.Count = -1
		} else {
			t.Count *= n
		}
		p.need(']')
	}
}

// variables reads a variable statement; each declarator becomes a Decl.
func (p *parser) variables(start int32, linkage Linkage) {
	var t Type
	t.Space = p.word()
	prefixOff, spaceSpan := p.tok.Off, p.tok.Span()
	p.next()
	if p.is('[') { // .const[3], gone since ISA 2.2; ptxas says so
		for !p.is(']') && p.tok.Kind != EOF {
			p.next()
		}
		p.next()
		t.Space += "[]"
	}
	managed, unified := false, false
	for p.tok.Kind == Word {
		from := p.tok.Off
		p.typeWord(&t)
		attribute := string(p.text[from:p.last.End])
		managed = managed || strings.Contains(attribute, ".managed")
		unified = unified || strings.Contains(attribute, ".unified")
	}
	if t.Word == "" {
		p.expected("a type")
		return
	}
	prefix := p.from(prefixOff)
	for {
		d := Decl{Kind: Variable, Linkage: linkage, Type: t, Prefix: prefix, SpaceSpan: spaceSpan, Managed: managed, Unified: unified}
		p.in = int32(len(p.m.Decls))
		d.FirstUse = int32(len(p.m.Uses))
		from := p.tok.Off
		d.Name, d.NameSpan = p.name()
		if p.Err != nil {
			return
		}
		if p.is('<') { // b<3> at module scope: only .reg had it
			p.errorAt(p.tok.Span(), "", "a range of names at module scope")
			return
		}
		p.dimensions(&d.Type)
		if p.is('=') {
			p.next()
			from := p.tok.Off
			p.initialiser(Opaque(t.Word))
			if d.Init = p.from(from); d.Init.Len == 0 {
				p.expected("an initial value")
				return
			}
			p.countInit(&d)
		}
		d.Declared = p.from(from)
		d.EndUse = int32(len(p.m.Uses))
		first := len(p.m.Decls)
		p.m.Decls = append(p.m.Decls, d)
		if p.is(',') {
			p.next()
			continue
		}
		if !p.is(';') {
			p.expected("',' or ';' after the variable")
			return
		}
		p.next()
		for first >= 0 && p.m.Decls[first].Prefix == prefix {
			p.m.Decls[first].Span = p.from(start)
			if first--; first < 0 {
				break
			}
		}
		return
	}
}

// countInit gives x[] = {1, 2, 3} its size.
func (p *parser) countInit(d *Decl) {
	if !d.Unsized || p.outline {
		return
	}
	lex := NewLexer(p.text[:d.Init.End()], d.Init.Off)
	n, depth, any := int64(0), 0, false
	for t := lex.Next(); t.Kind != EOF; t = lex.Next() {
		switch {
		case t.Kind == Punct && (t.Ch == '{' || t.Ch == '('):
			depth++
		case t.Kind == Punct && (t.Ch == '}' || t.Ch == ')'):
			depth--
		case t.Kind == Punct && t.Ch == ',' && depth == 1:
			n++
		default:
			any = true
		}
	}
	if any {
		d.Unsized, d.Count = false, d.Count*(n+1)
	}
}

// initialiser passes a value or a braced list and records the names in it. The
// words of an opaque initialiser (filter_mode = nearest) are not names.
func (p *parser) initialiser(opaque bool) {
	for depth := 0; p.tok.Kind != EOF; p.next() {
		if depth == 0 && p.outline && p.is('{') {
			p.block(valueStops, "'}' of the initial value")
		}
		switch {
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			depth--
		case depth == 0 && (p.is(',') || p.is(';')):
			return
		case p.tok.Kind == Ident && !opaque:
			p.use()
		case p.is(';'):
			p.expected("'}' before the end of the statement")
			return
		}
	}
}
