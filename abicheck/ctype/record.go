package ctype

import (
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
	if p.peek().kind == 'w' {
		tag = p.next()
	}
	p.take("final")
	p.attributes(&attrs)
	p.failIf(p.peek().text == ":", p.peek().span, "if it has members and is plain, make it the first member; "+dumped, "a base class is not supported")
	if !p.take("{") {
		p.failIf(tag.text == "", p.peek().span, "", "expected a name or \"{\" after %s, not %s", word.text, p.peek())
		return p.tagged(tag, kind), introduced{forward: p.peek().text == ";"}
	}
	t := &Type{Kind: kind, Name: tag.text, incomplete: true, Pack: p.pack}
	if known := p.tags[tag.text]; tag.text != "" && known != nil {
		p.failIf(!known.incomplete, tag.span, "rename one of the two", "%s is declared twice", tag.text)
		p.sameKind(tag, known, kind)
		known.Pack = p.pack
		t = known
	} else if tag.text != "" {
		p.tags[tag.text] = t
	}
	p.members(t, word.text != "class")
	p.attributes(&attrs)
	t.Align, t.Packed, t.incomplete = attrs.align, attrs.packed, false
	return t, introduced{defined: true}
}

// tagged returns the type of "struct S" without a body.
func (p *parser) tagged(tag token, kind Kind) *Type {
	known := p.tags[tag.text]
	if known == nil {
		if t := Named(tag.text); t != nil && kind == Struct && t.Kind == Vector {
			return t // struct float4
		}
		known = &Type{Kind: kind, Name: tag.text, incomplete: true}
		p.tags[tag.text] = known
	}
	p.sameKind(tag, known, kind)
	return known
}

func (p *parser) sameKind(tag token, known *Type, kind Kind) {
	p.failIf(known.Kind != kind, tag.span, "", "%s was declared as a %s", tag.text, strings.Fields(known.String())[0])
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
		const function = "remove it; it takes no space, but an object with a destructor or a copy constructor is passed by its address"
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
		case w.text == "typedef" || w.text == "using":
			p.fail(w.span, "move it before the struct", "a typedef within a struct is not supported")
		case w.text == "static_assert" || w.text == "_Static_assert":
			p.fail(w.span, "remove it", "an assertion within a struct is not supported")
		case w.text == "~" || w.text == t.Name && p.peekAt(1).text == "(":
			p.fail(w.span, function, "constructors and destructors are not supported")
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
		} else if m.Type.isRecord() {
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
		p.noInitialiser()
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
		p.failIf(inner.incomplete, m.Span, "declare its members before, or make this a pointer", "the members of %s are not known here", inner)
	}
	m.Align, m.Packed = attrs.align, attrs.packed
	if inner := m.Type.element(); m.Type.reference || inner.isRecord() && inner.notPOD {
		t.notPOD = true
	}
	t.Members = append(t.Members, m)
}

// element returns the element type of an array of any depth.
func (t *Type) element() *Type {
	for t != nil && t.Kind == Array {
		t = t.Elem
	}
	return t
}
