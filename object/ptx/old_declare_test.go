package ptx

import (
	"slices"
	"strconv"
	"strings"
)

func (p *oldParser) function(start int32, linkage Linkage) {
	d := Decl{Linkage: linkage}
	params, results := p.functionHeader(&d)
	p.declared(start, d, params, results)
}

// functionHeader reads a function from .func or .entry up to its body or semicolon. It
// returns the results and parameters; the first of them are results.
func (p *oldParser) functionHeader(d *Decl) (params []Param, results int) {
	d.Kind = Func
	if p.isWord(".entry") {
		d.Kind = Entry
	}
	headerOff := p.tok.Off
	p.next()
	for p.tok.Kind == Word { // .attribute(.unified(1, 2))
		p.attr(d, true)
	}
	params = p.paramList[:0]
	if p.is('(') {
		params = p.params(params, false)
	}
	results = len(params)
	d.Name, d.NameSpan = p.name()
	if p.is('(') {
		params = p.params(params, false)
	}
	for p.tok.Kind == Word && !p.withoutSemicolon(d) {
		p.attr(d, false)
	}
	d.Header = p.from(headerOff)
	p.paramList = params
	return params, results
}

// declared reads what follows the header of a function.
func (p *oldParser) declared(start int32, d Decl, params []Param, results int) {
	p.in, d.FirstUse = int32(len(p.m.Decls)), int32(len(p.m.Uses))
	d.Signature = p.signature(params, results)
	switch {
	case p.is(';'):
		p.next()
	case p.withoutSemicolon(&d):
	case p.is('{'):
		if d.Linkage == Extern {
			p.errorAt(d.NameSpan, "drop .extern or the body", "%s is .extern and has a body", p.m.Names[d.Name])
			return
		}
		if d.Linkage == Common {
			p.errorAt(d.NameSpan, "", ".common is for variables in .global")
			return
		}
		d.HasBody = true
		d.known = p.m.declared()
		d.Body = p.body(&d, params)
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

func (p *oldParser) withoutSemicolon(d *Decl) bool {
	w := string(p.text[p.tok.Off:p.tok.End])
	return d.Kind == Func && p.tok.Kind == Word && (linkageOf(w) != Local ||
		slices.Contains([]string{".func", ".entry", ".global", ".const", ".shared", ".local", ".tex", ".file", ".section", ".alias"}, w))
}

// attr reads one directive with its operands: .maxntid 256, 1, 1. Before the result
// list, only .attribute takes parentheses. A .pragma here ends with its own
// semicolon.
func (p *oldParser) attr(d *Decl, beforeResults bool) {
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
		} else if depth == 0 && (p.tok.Kind == Word || p.tok.Kind == Ident && p.spelling() != "WARP_SZ" || p.is('{') || p.is(';')) {
			break
		}
	}
	if a.Word == ".pragma" && p.is(';') {
		p.next()
	}
	a.Span = p.from(from)
	d.Attrs = append(d.Attrs, a)
}

func (p *oldParser) lastIs(word string) bool { return string(p.text[p.last.Off:p.last.End]) == word }

// variables reads a variable statement; each declarator becomes a Decl.
func (p *oldParser) variables(start int32, linkage Linkage) {
	var t TypeAt
	t.Space = p.word()
	prefixOff, spaceSpan := p.tok.Off, p.tok.Span()
	p.next()
	if p.is('[') { // .const[3], removed in ISA 2.2; ptxas reports it
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
	first := len(p.m.Decls)
	for {
		d := Decl{Kind: Variable, Linkage: linkage, Storage: &Storage{TypeAt: t, Prefix: prefix, SpaceSpan: spaceSpan, Managed: managed, Unified: unified}}
		p.in = int32(len(p.m.Decls))
		d.FirstUse = int32(len(p.m.Uses))
		d.EndUse = d.FirstUse
		from := p.tok.Off
		name := p.tok
		if p.tok.Kind != Ident {
			p.expected("a name")
			return
		}
		if p.next(); p.is('<') {
			if !p.variableRange(d, name) {
				return
			}
		} else {
			d.Name, d.NameSpan = p.named(p.text[name.Off:name.End]), name.Span()
			d.known = p.m.declared()
			p.declarator(&d, from)
			if p.Err != nil {
				return
			}
			p.m.Decls = append(p.m.Decls, d)
			if p.linked != nil {
				p.link(d)
			}
		}
		if p.is(',') {
			p.next()
			continue
		}
		if !p.is(';') {
			p.expected("',' or ';' after the variable")
			return
		}
		p.next()
		for i := first; i < len(p.m.Decls); i++ {
			p.m.Decls[i].Span = p.from(start)
		}
		return
	}
}

// declarator reads the dimensions and the initial value after the name.
func (p *oldParser) declarator(d *Decl, from int32) {
	dims := p.tok.Off
	p.dimensions(&d.Type)
	d.Dims = p.from(dims)
	if p.is('=') {
		p.next()
		from := p.tok.Off
		p.initialiser(Opaque(d.Word))
		if d.Init = p.from(from); d.Init.Len == 0 {
			p.expected("an initial value")
			return
		}
		p.countInit(d)
	}
	d.Declared = p.from(from)
	d.EndUse = int32(len(p.m.Uses))
}

// variableRange reads the count of `a<3>`, which declares a0, a1 and a2, except
// those that are declared with linkage before. A base with digits at its end, as in
// a7<2>, declares nothing, because ptxas strips all digits of a name to find its
// range. ptxas accepts neither dimensions nor a value after the count.
func (p *oldParser) variableRange(d Decl, base Token) bool {
	p.next()
	count, ok := ParseInt(p.spelling())
	if !ok || count < 1 {
		p.expected("a number of variables")
		return false
	}
	if count > oldMaxRange-p.listed {
		p.errorAt(p.tok.Span(), "", "the ranges of this module stand for more than %d variables", oldMaxRange)
		return false
	}
	p.listed += count
	p.next()
	p.need('>')
	d.NameSpan = p.from(base.Off)
	d.Declared, d.Type.Count = d.NameSpan, 1
	prefix := p.text[base.Off:base.End:base.End]
	if b, _ := splitNumber(prefix); len(b) < len(prefix) {
		return p.Err == nil
	}
	if p.linked == nil {
		p.linked, p.m.ranges = map[NameID]bool{}, map[string]int64{}
		for _, d := range p.m.Decls {
			p.link(d)
		}
	}
	for i := range count {
		d.Name = p.named(strconv.AppendInt(prefix, i, 10))
		if !p.linked[d.Name] {
			p.m.Decls = append(p.m.Decls, d)
		}
	}
	p.m.ranges[string(prefix)] = max(count, p.m.ranges[string(prefix)])
	return p.Err == nil
}

// link notes a variable with linkage.
func (p *oldParser) link(d Decl) {
	if d.Kind == Variable && d.Linkage != Local {
		p.linked[d.Name] = true
	}
}

// countInit sets the size of x[] = {1, 2, 3}.
func (p *oldParser) countInit(d *Decl) {
	if !d.Unsized {
		return
	}
	lex := newOldLexer(p.text[:d.Init.End()], d.Init.Off)
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

// initialiser skips a value or a braced list and records the names in it. The words
// of an opaque initialiser (filter_mode = nearest) and the word generic in
// generic(x) are not names.
func (p *oldParser) initialiser(opaque bool) {
	used := len(p.m.Uses)
	for depth := 0; p.tok.Kind != EOF; p.next() {
		if n := len(p.m.Uses); p.is('(') && n > used && p.m.Uses[n-1].Off == p.last.Off {
			p.m.Uses = p.m.Uses[:n-1]
		}
		switch {
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			depth--
		case depth == 0 && (p.is(',') || p.is(';')):
			return
		case p.tok.Kind == Ident && !opaque:
			p.use(p.tok.Off, p.text[p.tok.Off:p.tok.End])
		case p.is(';'):
			p.expected("'}' before the end of the statement")
			return
		}
	}
}
