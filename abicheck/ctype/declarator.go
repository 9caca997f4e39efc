package ctype

import (
	"cmp"
	"slices"
	"strings"
)

// typeName reads a type without a name, as in sizeof.
func (p *parser) typeName() *Type {
	var attrs attributes
	base, _ := p.specifiers(&attrs)
	name, t := p.declarator(base)
	p.failIf(name.text != "", name.span, "", "expected \")\", not %s", name)
	return t
}

// declarator reads "*a[3]" and the like. It returns the name, if there is one, and
// its type.
func (p *parser) declarator(base *Type) (token, *Type) {
	p.enter()
	defer p.leave()
	t := base
	for pointers := 0; ; {
		switch w := p.peek(); {
		case w.text == "*" || w.text == "&":
			pointers++
			p.limit(pointers)
			p.next()
			t = PointerTo(t)
			t.reference = w.text == "&"
			continue
		case slices.Contains(ignoredWords, w.text):
			p.next()
			continue
		}
		break
	}
	if p.peek().text == "(" && p.startsDeclarator(p.peekAt(1)) {
		// The part in brackets must be read twice, the first time to find its end, because it
		// applies to what follows the brackets.
		open := p.next()
		inner := p.at
		p.skipGroup(open)
		t = p.suffixes(t)
		end := p.at
		p.at = inner
		name, whole := p.declarator(t)
		p.expect(")", "in the declarator")
		p.at = end
		return p.noFunction(name, whole)
	}
	name := token{span: p.peek().span}
	if p.peek().kind == 'w' && !isAttributeWord(p.peek().text) {
		name = p.next()
		p.failIf(refusedWords[name.text] != "" || isTypeWord(name.text), name.span, "", "expected a name, not %s", name)
	}
	return p.noFunction(name, p.suffixes(t))
}

// noFunction refuses function types. Pointers to functions are allowed.
func (p *parser) noFunction(name token, t *Type) (token, *Type) {
	// Before a ")" the declarator continues, as in "int (*f)(int)".
	mayBe := p.mayBeFunction && t != nil && t.Kind == function
	if t.element() != nil && t.element().Kind == function && p.peek().text != ")" && !mayBe {
		p.fail(name.span, "remove it; a function takes no space", "%s is a function", cmp.Or(name.text, "this"))
	}
	return name, t
}

func (p *parser) startsDeclarator(t token) bool {
	return t.text == "*" || t.text == "&" || t.text == "(" || t.kind == 'w' && !isTypeWord(t.text) && p.named(t.text) == nil && !slices.Contains(ignoredWords, t.text)
}

func isTypeWord(w string) bool {
	return slices.Contains([]string{"struct", "union", "class", "enum", "signed", "unsigned", "char", "short", "int", "long", "float", "double", "void", "__int128"}, w)
}

// suffixes reads the "[3][4]" or "(int)" after a name. The last one applies first.
func (p *parser) suffixes(t *Type) *Type {
	p.enter()
	defer p.leave()
	switch w := p.peek(); w.text {
	case "[":
		p.next()
		count, unsized := int64(0), p.peek().text == "]"
		if !unsized {
			at := p.peek()
			if count = p.constant(); count < 0 {
				p.fail(at.span, "", "an array cannot have %d elements", count)
			}
		}
		p.expect("]", "behind the length")
		elem := p.suffixes(t)
		switch {
		case elem == nil:
			p.fail(w.span, "", "an array cannot hold void")
		case elem.Kind == Array && elem.Open:
			p.fail(w.span, "give all but the first a length", "an array of arrays without a length")
		}
		return &Type{Kind: Array, Elem: elem, Count: count, Open: unsized}
	case "(":
		p.next()
		p.skipGroup(w)
		return &Type{Kind: function, Name: p.suffixes(t).String() + " ()"}
	}
	return t
}

func isAttributeWord(w string) bool {
	return slices.Contains([]string{"alignas", "_Alignas", "__align__", "__builtin_align__", "__attribute__", "__attribute", "__declspec"}, w)
}

func (p *parser) attributes(attrs *attributes) {
	for {
		w := p.peek()
		switch {
		case w.text == "[[":
			p.next()
			for p.peek().text != "]" {
				if p.peekAt(1).text == "::" { // gnu::packed
					p.next()
					p.next()
				}
				p.attribute(attrs)
				p.take(",")
			}
			p.next()
			p.expect("]", "behind the attribute")
		case w.kind != 'w' || !isAttributeWord(w.text):
			return
		case w.text == "__attribute__" || w.text == "__attribute" || w.text == "__declspec":
			p.next()
			p.expect("(", "behind "+w.text)
			double := p.take("(")
			for p.peek().text != ")" {
				p.attribute(attrs)
				p.take(",")
			}
			p.expect(")", "behind the attribute")
			if double {
				p.expect(")", "behind the attribute")
			}
		default:
			p.next()
			p.expect("(", "behind "+w.text)
			p.alignment(attrs, w)
			p.expect(")", "behind the alignment")
		}
	}
}

func (p *parser) attribute(attrs *attributes) {
	w := p.next()
	switch strings.Trim(w.text, "_") {
	case "aligned", "align":
		p.failIf(!p.take("("), w.span, "write aligned(16)", "aligned needs a number")
		p.alignment(attrs, w)
		p.expect(")", "behind the alignment")
	case "packed":
		attrs.packed = true
	case "deprecated", "unused", "visibility", "nothrow", "warn_if_not_aligned", "designated_init", "may_alias", "nodiscard", "maybe_unused", "noreturn":
		if open := p.peek(); p.take("(") {
			p.skipGroup(open)
		}
	default:
		p.fail(w.span, "only aligned(N) and packed are; remove the others", "attribute %s is not supported", w)
	}
}

// alignment reads a number or, for alignas, a type.
func (p *parser) alignment(attrs *attributes, w token) {
	at := p.peek()
	var n int64
	if _, value := p.enumerators[at.text]; at.kind == 'w' && !value && !isSizeWord(at.text) {
		l, err := LayOut(p.typeName(), p.model)
		p.failIf(err != nil, at.span, "", "%v", err)
		n = l.Align
	} else {
		n = p.constant()
	}
	if n < 0 || n&(n-1) != 0 || n == 0 && w.text != "alignas" && w.text != "_Alignas" || n > 1<<28 {
		p.fail(at.span, "an alignment is a power of two", "%d is not an alignment", n)
	}
	attrs.align = max(attrs.align, n)
}
