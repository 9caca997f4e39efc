package ptx

import (
	"bytes"
	"slices"
	"strconv"
)

func (p *parser) function(start int32, linkage Linkage, word Token) {
	d := Decl{Linkage: linkage}
	params, results := p.functionHeader(&d, word)
	if p.Err == nil && p.defines == nil {
		d.Name, d.Signature = p.named(p.bytes(d.NameSpan)), p.signature(params, results)
	}
	p.in, d.FirstUse = int32(len(p.m.Decls)), int32(len(p.m.Uses))
	switch {
	case p.accept(';') || p.withoutSemicolon(d.Kind):
	case p.is('{'):
		if d.Linkage == Extern {
			p.errorAt(d.NameSpan, "drop .extern or the body", "%s is .extern and has a body", p.bytes(d.NameSpan))
			return
		}
		if d.Linkage == Common {
			p.errorAt(d.NameSpan, "", onlyGlobal)
			return
		}
		d.HasBody = true
		d.known = p.m.declared()
		ok := false
		if p.outline {
			d.Body, ok = p.block(bodyStops)
		} else {
			d.Body, ok = p.body(&d, params)
		}
		if !ok {
			p.expected("'}' of " + string(p.bytes(d.NameSpan)))
		}
	default:
		p.expected("{ or ;")
	}
	if p.Err != nil {
		return
	}
	d.EndUse = int32(len(p.m.Uses))
	d.Span = p.from(start)
	p.declare(&d)
}

// onlyGlobal is why ptxas refuses .common elsewhere.
const onlyGlobal = ".common is for variables in .global"

// declare adds a declaration.
func (p *parser) declare(d *Decl) {
	linked := d.Kind == Variable && d.Linkage != Local
	if p.defines != nil {
		s := p.defines.note(p.bytes(d.NameSpan), d.Kind, d.Binding(), d.Defines())
		s.linked = s.linked || linked
		return
	}
	p.m.Decls = append(p.m.Decls, *d)
	if linked && p.linked != nil {
		p.linked[d.Name] = true
	}
}

// functionHeader reads a function from its word, .func or .entry, up to its body or
// semicolon. It returns the results and parameters; the first of them are results.
func (p *parser) functionHeader(d *Decl, word Token) (params []Param, results int) {
	d.Kind = Func
	if p.isWord(".entry") {
		d.Kind = Entry
	}
	p.pass(word)
	for p.is('.') { // .attribute(.unified(1, 2))
		p.attr(d, true)
	}
	params = p.parameters(p.paramList[:0])
	results = len(params)
	d.NameSpan = p.name(Nothing, "a name")
	params = p.parameters(params)
	for p.is('.') && !p.withoutSemicolon(d.Kind) {
		p.attr(d, false)
	}
	d.Header = p.from(word.Off)
	p.paramList = params
	return params, results
}

// withoutSemicolon reports whether the next statement follows the header of a function. After a
// prototype of a .func the semicolon is optional, because ptxas does not require it, and nvopencc
// (CUDA 1 to 4) wrote none.
func (p *parser) withoutSemicolon(kind DeclKind) bool {
	if kind != Func || !p.is('.') {
		return false
	}
	switch string(p.text[p.at:wordEnd(p.text, p.at)]) {
	case ".extern", ".visible", ".weak", ".common", ".func", ".entry", ".global", ".const", ".shared", ".local", ".tex", ".file", ".section", ".alias":
		return true
	}
	return false
}

// parameters reads the results or the parameters of a function, if there are any. An
// outline skips those without comments and parentheses.
func (p *parser) parameters(list []Param) []Param {
	if !p.is('(') {
		return list
	}
	if p.outline {
		end := p.ahead.next(p.text, p.at+1, listStops)
		skipped := p.text[p.at:end]
		inDimension := bytes.IndexByte(skipped, '[') > 0 && bytes.LastIndexByte(skipped, '[') > bytes.LastIndexByte(skipped, ']')
		if end < len(p.text) && p.text[end] == ')' && !inDimension {
			p.move(end + 1)
			return list
		}
	}
	return p.params(list, false)
}

// attr reads one directive with its operands: .maxntid 256, 1, 1. Before the result
// list, only .attribute takes parentheses. A .pragma here ends with its own
// semicolon.
func (p *parser) attr(d *Decl, beforeResults bool) {
	w, word := p.word()
	a := Attr{Word: w}
	p.pass(word)
	for depth := 0; !p.eof(); p.next() {
		if p.is('(') {
			if depth == 0 && beforeResults && (w != ".attribute" || p.last != int(word.End)) {
				break
			}
			depth++
		} else if p.is(')') {
			depth--
		} else if depth == 0 && (p.is('.') || p.atName() && !p.isNamed("WARP_SZ") || p.is('{') || p.is(';')) {
			break
		}
	}
	if w == ".pragma" {
		p.accept(';')
	}
	a.Span = p.from(word.Off)
	d.Attrs = append(d.Attrs, a)
}

// variables reads a variable statement; each declarator becomes a Decl.
func (p *parser) variables(start int32, linkage Linkage) {
	var t TypeAt
	space, word := p.word()
	t.Space = space
	if linkage == Common && space != ".global" {
		p.errorAt(word.Span(), "make it .weak, or move it to .global", onlyGlobal)
		return
	}
	p.pass(word)
	if p.is('[') { // .const[3], removed in ISA 2.2; ptxas reports it
		for !p.is(']') && !p.eof() {
			p.next()
		}
		p.next()
		t.Space += "[]"
	}
	for p.is('.') {
		w, word := p.word()
		p.pass(word)
		p.typeWord(&t, w, word.Span())
	}
	if t.Word == "" {
		p.expected("a type")
		return
	}
	if !p.typed(&t) {
		return
	}
	storage := Storage{TypeAt: t, Prefix: p.from(word.Off), SpaceSpan: word.Span()}
	attributes := p.bytes(storage.Prefix)
	storage.Managed, storage.Unified = bytes.Contains(attributes, []byte(".managed")), bytes.Contains(attributes, []byte(".unified"))
	first := len(p.m.Decls)
	for {
		own := storage
		d := Decl{Kind: Variable, Linkage: linkage, Storage: &own}
		p.in = int32(len(p.m.Decls))
		d.FirstUse = int32(len(p.m.Uses))
		d.EndUse = d.FirstUse
		d.NameSpan = p.name(Nothing, "a name")
		switch {
		case p.Err != nil:
			return
		case p.accept('<'):
			p.variableRange(d)
		default:
			if p.defines == nil {
				d.Name = p.named(p.bytes(d.NameSpan))
			}
			d.known = p.m.declared()
			p.declarator(&d)
		}
		switch {
		case p.Err != nil:
			return
		case p.accept(','):
			continue
		case !p.accept(';'):
			p.expected("',' or ';' after the variable")
			return
		}
		for i := first; i < len(p.m.Decls); i++ {
			p.m.Decls[i].Span = p.from(start)
		}
		return
	}
}

// declarator reads the dimensions and the initial value after the name.
func (p *parser) declarator(d *Decl) {
	dims := int32(p.at)
	p.dimensions(&d.Type)
	d.Dims = p.from(dims)
	if p.accept('=') {
		from := int32(p.at)
		elements := p.initialiser(Opaque(d.Word))
		if d.Init = p.from(from); d.Init.Len == 0 {
			p.expected("an initial value")
			return
		}
		if d.Unsized && elements > 0 {
			d.Unsized, d.Count = false, d.Count*elements
		}
	}
	d.Declared = p.from(d.NameSpan.Off)
	d.EndUse = int32(len(p.m.Uses))
	p.settle()
	p.declare(d)
}

// variableRange reads the count of `a<3>`, which declares a0, a1 and a2, except
// those that are declared with linkage before. A base with digits at its end, as in
// a7<2>, declares nothing, because ptxas strips all digits of a name to find its
// range. ptxas accepts neither dimensions nor a value after the count.
func (p *parser) variableRange(d Decl) {
	count, number, ok := p.integer()
	if !ok || count < 1 {
		p.expected("a number of variables")
		return
	}
	if count > maxRange-p.ranged {
		p.errorAt(number.Span(), "", "the ranges of this module stand for more than %d variables", maxRange)
		return
	}
	p.ranged += count
	p.pass(number)
	p.need('>')
	base := p.bytes(d.NameSpan)
	d.NameSpan = p.from(d.NameSpan.Off)
	d.Declared, d.Type.Count = d.NameSpan, 1
	if b, _ := splitNumber(base); len(b) < len(base) {
		return
	}
	if p.linked == nil {
		p.linked, p.m.ranges = map[NameID]bool{}, map[string]int64{}
		for _, d := range p.m.Decls {
			if d.Kind == Variable && d.Linkage != Local {
				p.linked[d.Name] = true
			}
		}
	}
	for i := range count {
		name := strconv.AppendInt(slices.Clip(base), i, 10)
		if p.defines != nil {
			if !p.defines.symbol(name).linked {
				p.defines.note(name, d.Kind, d.Linkage, d.Defines())
			}
		} else if d.Name = p.named(name); !p.linked[d.Name] {
			p.m.Decls = append(p.m.Decls, d)
		}
	}
	p.m.ranges[string(base)] = max(count, p.m.ranges[string(base)])
}

// initialiser reads a value or a braced list, and returns the number of elements of the
// list. The words of an opaque initialiser (filter_mode = nearest) and the word generic
// in generic(x) are not names.
func (p *parser) initialiser(opaque bool) (elements int64) {
	if p.outline && p.is('{') {
		if _, ok := p.block(valueStops); !ok {
			p.expected("'}' of the initial value")
		}
	}
	commas, any := int64(0), false
	for depth := 0; !p.eof(); {
		switch c := p.text[p.at]; {
		case c == '{' || c == '(':
			depth++
		case c == '}' || c == ')':
			depth--
		case depth == 0 && (c == ',' || c == ';'):
			if any {
				elements = commas + 1
			}
			return elements
		case c == ';':
			p.expected("'}' before the end of the statement")
		case depth == 1 && c == ',':
			commas++
		case p.atName():
			any = true
			if name := p.name(Nothing, ""); !opaque && !p.is('(') {
				p.use(name)
			}
			continue
		default:
			any = true
		}
		p.next()
	}
	return 0
}
