package ctype

import (
	"cmp"
	"slices"
	"strings"
)

// record reads a struct, union or class, from that word on.
func (p *parser) record() (*Type, introduced) {
	word := p.next()
	kind := Struct
	if word.text == "union" {
		kind = Union
	}
	var attrs attributes
	p.attributes(&attrs)
	tag := token{span: word.span}
	full := p.instance
	p.instance = ""
	if p.peek().kind == 'w' {
		if p.peekAt(1).text == "::" || full == "" && p.peekAt(1).text == "<" && p.special != p.at-1 {
			return p.elsewhere(kind)
		}
		tag = p.next()
		full = cmp.Or(full, p.scope+tag.text)
		if p.peek().text == "<" {
			full = p.specialName(tag)
		}
		for p.peek().text == "final" {
			p.next()
		}
	}
	p.attributes(&attrs)
	bases := p.bases(kind)
	if !p.take("{") {
		p.failIf(tag.text == "", p.peek().span, "", "expected a name or \"{\" after %s, not %s", word.text, p.peek())
		return p.tagged(tag, kind), introduced{forward: p.peek().text == ";"}
	}
	t := &Type{Kind: kind, Name: full, word: tag.text, incomplete: true}
	if tag.text != "" {
		known := p.tags[full]
		switch {
		case known == nil:
			p.tags[full] = t
			p.nest(tag.text, t)
		case !known.incomplete:
			// In a header, the first one is marked as incomplete, so that nothing uses the wrong
			// one.
			known.incomplete = p.header
			p.fail(tag.span, "rename one of the two", "%s is declared twice", full)
		case known.Kind != kind:
			p.fail(tag.span, "", "%s was declared as a %s", full, strings.Fields(known.String())[0])
		default:
			t = known
			t.word = tag.text
		}
	}
	return p.body(t, word, attrs, bases), introduced{defined: true}
}

// body reads a struct, union or class from after its "{".
func (p *parser) body(t *Type, word token, attrs attributes, bases []Member) *Type {
	t.Pack = p.packed(word)
	for _, base := range bases {
		p.add(t, base, attributes{})
		t.notPOD = true
		if base.Type.Name != "" {
			p.uses[t.Name+"::"] = append(p.uses[t.Name+"::"], base.Type.Name+"::")
		}
	}
	if t.Name != "" && !p.model.C {
		defer p.inScope(t.Name + "::")()
		p.typedefs[p.scope+t.word] = t // within a template, its name means this class
	}
	p.members(t, word.text != "class")
	p.attributes(&attrs)
	t.Align, t.Packed, t.incomplete = attrs.align, attrs.packed, false
	return t
}

// nest keeps a class within another one for text that is C but read as C++, because C knows it by
// its name alone.
func (p *parser) nest(name string, t *Type) {
	if p.scope == "" || p.spaces[strings.TrimSuffix(p.scope, "::")] != "" {
		return
	}
	if _, twice := p.nested[name]; twice {
		t = nil
	}
	p.nested[name] = t
}

// elsewhere reads "struct n::S", which may define a class that n declares.
func (p *parser) elsewhere(kind Kind) (*Type, introduced) {
	at := p.peek()
	t, name := p.typeAt()
	switch {
	case t == nil:
		p.fail(name.span, "", "unknown type %s", name.text)
	case p.peek().text == "{" || p.startsBases():
		p.failIf(!t.incomplete || t.Kind != kind || strings.Contains(t.Name, "<"), at.span, "", "%s is declared twice", name.text)
		bases := p.bases(kind)
		p.expect("{", "behind the name")
		t.word = p.tokens[p.at-2].text
		if i := strings.LastIndex(t.Name, ":"); i >= 0 {
			t.word = t.Name[i+1:]
		}
		return p.body(t, at, attributes{}, bases), introduced{defined: true}
	}
	return t, introduced{}
}

// tagged returns the type of "struct S" without a body.
func (p *parser) tagged(tag token, kind Kind) *Type {
	full := p.scope + tag.text
	if p.peek().text != ";" || p.tags[full] == nil { // "struct S;" declares one in this scope
		if known := p.lookUp(tag.text, keyOf(p.tags)); known != "" && p.peek().text != ";" {
			full = known
		}
	}
	known := p.tags[full]
	if known == nil && p.nested[tag.text] != nil && !p.header && p.peek().text != ";" {
		known = p.nested[tag.text]
	}
	if known == nil {
		if t := Named(tag.text); t != nil && kind == Struct && t.Kind == Vector {
			return t // struct float4
		}
		known = &Type{Kind: kind, Name: full, incomplete: true}
		p.tags[full] = known
	}
	if known.Kind != kind {
		p.fail(tag.span, "", "%s was declared as a %s", tag.text, strings.Fields(known.String())[0])
	}
	return known
}

func (p *parser) startsBases() bool {
	return p.peek().text == ":" && (p.peekAt(1).kind == 'w' || p.peekAt(1).text == "::")
}

// bases reads the base classes of a class in C++, from the colon on, if there is one.
func (p *parser) bases(kind Kind) (bases []Member) {
	if !p.startsBases() {
		return nil
	}
	p.next()
	for {
		for isAccess(p.peek().text) {
			p.next()
		}
		w := p.peek()
		switch {
		case w.text == "virtual":
			p.fail(w.span, refusedWords["virtual"], "virtual is not supported")
		case p.model.C:
			p.fail(w.span, "read it as C++", "C has no base classes")
		}
		t, name := p.typeAt()
		switch {
		case kind != Struct:
			p.fail(w.span, "", "a union has no base classes")
		case t == nil:
			p.fail(name.span, "declare it before: struct "+name.text+" { ... };", "unknown type %s", name.text)
		case t.Kind != Struct:
			p.fail(w.span, "write its members as the first ones", "%s as a base class is not supported", t)
		case slices.ContainsFunc(bases, func(m Member) bool { return m.Type == t }):
			p.fail(w.span, "", "%s is a base class twice", t)
		}
		bases = append(bases, Member{Type: t, Base: true, Span: w.span})
		p.failIf(p.peek().text == ".", p.peek().span, "give the struct with the types put in", "any number of base classes is not supported")
		if !p.take(",") {
			return bases
		}
	}
}

func isAccess(w string) bool { return w == "public" || w == "private" || w == "protected" }

// members reads up to the closing brace of t. public says whether members are public
// before the first label.
func (p *parser) members(t *Type, public bool) {
	p.enter()
	defer p.leave()
	open := p.tokens[p.at-1]
	for !p.take("}") {
		if p.take(";") {
			continue
		}
		w := p.peek()
		switch {
		case w.kind == '#':
			p.fail(w.span, "move it before the struct", "a directive within a struct is not supported")
		case w.kind == 0:
			p.fail(open.span, "", "the \"{\" is not closed")
		case isAccess(w.text) && p.peekAt(1).text == ":":
			public = w.text == "public"
			p.next()
			p.next()
			continue
		case p.model.C && w.text == "typedef":
			p.fail(w.span, "move it before the struct", "a typedef within a struct is not supported")
		case w.text == "typedef" || w.text == "using":
			p.nameWithin()
			continue
		case p.takesNoSpace(t):
			continue
		case w.text == "~" || w.text == t.word && p.peekAt(1).text == "(":
			p.fail(w.span, "remove it; it takes no space", "constructors and destructors are not supported")
		}
		before := len(t.Members)
		p.memberDeclaration(t)
		t.notPOD = t.notPOD || !public && len(t.Members) > before
	}
	seen := map[string]bool{}
	for _, name := range t.names(nil) {
		p.failIf(seen[name], open.span, "rename one of the two", "two members are called %s", name)
		seen[name] = true
	}
}

// names appends the names that may follow a dot, including those in anonymous
// members.
func (t *Type) names(names []string) []string {
	for i := range t.Members {
		m := &t.Members[i]
		if m.Name != "" {
			names = append(names, m.Name)
		} else if m.Type.isRecord() && !m.Base {
			names = m.Type.names(names)
		}
	}
	return names
}

// memberDeclaration reads "int a, *b : 3;".
func (p *parser) memberDeclaration(t *Type) {
	var attrs attributes
	from := p.peek()
	base, in := p.specifiers(&attrs)
	if p.peek().text == ";" {
		switch {
		case base.isRecord() && in.defined && base.Name == "":
			p.add(t, Member{Type: base, Span: from.span}, attrs)
		case in.defined || in.forward: // declares a type and no member
		default:
			p.fail(p.peek().span, "", "expected the name of a member, not \";\"")
		}
		p.next()
		return
	}
	for {
		m := Member{Type: base, Span: p.peek().span}
		own := attrs
		if p.peek().text != ":" {
			var name token
			name, m.Type = p.declarator(base)
			p.failIf(name.text == "", p.peek().span, "", "expected the name of a member, not %s", p.peek())
			m.Name, m.Span = name.text, name.span
		}
		p.attributes(&own)
		if p.take(":") {
			m.BitField = true
			m.Width = p.constant()
			p.attributes(&own)
		}
		p.initialiser(t)
		p.add(t, m, own)
		if !p.take(",") {
			break
		}
	}
	p.expect(";", "behind the member")
}

// add adds a member to t once all of it has been read.
func (p *parser) add(t *Type, m Member, attrs attributes) {
	p.failIf(m.Type == nil, m.Span, "a pointer to it may be: void *"+m.Name, "a member cannot be void")
	if inner := m.Type.element(); inner.isRecord() {
		t.byAddress, t.notPOD, t.disputed = t.byAddress || inner.byAddress, t.notPOD || inner.notPOD, t.disputed || inner.disputed
		p.failIf(inner.incomplete, m.Span, "declare its members before, or make this a pointer", "the members of %s are not known here", inner)
	}
	m.Align, m.Packed = attrs.align, attrs.packed
	t.notPOD = t.notPOD || m.Type.reference
	t.Members = append(t.Members, m)
}

// element returns the element type of an array of any depth.
func (t *Type) element() *Type {
	for t != nil && t.Kind == Array {
		t = t.Elem
	}
	return t
}
