package ctype

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Names of C++ are kept in full: n::S, n::S::Inner, n::Pair<int>. A scope is the part
// before the last name with its "::", and "" is the outermost one. C has only that.

// inScope reads names in a scope within the present one until leave is called. Names of
// the outer one are seen from it.
func (p *parser) inScope(scope string) (leave func()) {
	outer := p.scope
	if _, known := p.outer[scope]; !known && scope != outer {
		p.outer[scope] = outer
	}
	p.scope = scope
	return func() { p.scope = outer }
}

// lookUp returns the full name that a name has from the present scope, of those that are
// declared; "" if there is none.
func (p *parser) lookUp(name string, declared func(full string) bool) string {
	for s := p.scope; ; s = p.outer[s] {
		if full := p.within(s, name, declared, nil); full != "" {
			return full
		}
		if s == "" {
			return ""
		}
	}
}

// within looks for a name in a scope and in the scopes that it uses: the scopes of using
// directives, inline namespaces and base classes.
func (p *parser) within(scope, name string, declared func(full string) bool, seen []string) string {
	if declared(scope + name) {
		return scope + name
	}
	for _, used := range p.uses[scope] {
		if slices.Contains(seen, used) {
			continue
		}
		seen = append(seen, used)
		if full := p.within(used, name, declared, seen); full != "" {
			return full
		}
	}
	return ""
}

// scopes finds the scope that a name stands for: a namespace, a class or an enum.
func (p *parser) scopes(from string, anywhere bool, name string) (scope string, ok bool) {
	full := p.find(from, anywhere, name, func(full string) bool {
		return p.spaces[full] != "" || p.typedefs[full] != nil || p.tags[full] != nil
	})
	if full == "" {
		return "", false
	}
	if space := p.spaces[full]; space != "" {
		return space, true
	}
	t := cmp.Or(p.typedefs[full], p.tags[full])
	return t.Name + "::", t.Name != ""
}

// find looks for a name in one scope, or anywhere around the present one.
func (p *parser) find(from string, anywhere bool, name string, declared func(string) bool) string {
	if anywhere {
		return p.lookUp(name, declared)
	}
	return p.within(from, name, declared, nil)
}

// keyOf returns a function that reports whether a name is in a table.
func keyOf[V any](table map[string]V) func(name string) bool {
	return func(name string) bool {
		_, known := table[name]
		return known
	}
}

// typeAt reads the name of a type, with the scopes before it and the arguments of a
// template. If the type is not known, it returns nil, with the whole name as the text of the word
// that is not known.
func (p *parser) typeAt() (t *Type, name token) {
	from := p.at
	scope, anywhere, known := "", true, true
	if p.take("::") {
		anywhere = false
	}
	for depth := 1; ; depth++ {
		p.limit(depth)
		w := p.next()
		if w.kind != 'w' {
			p.at = from
			return nil, w
		}
		if known {
			name.span = w.span
		}
		name.text += w.text
		t = nil
		if tpl := p.template(scope, anywhere, w.text); known && tpl != nil && p.peek().text == "<" {
			t = p.instantiate(tpl)
		} else if known {
			t = p.typeIn(scope, anywhere, w.text)
		}
		if p.peek().text != "::" || p.peekAt(1).kind != 'w' {
			break
		}
		p.next()
		switch {
		case t != nil && (t.isRecord() || t.Kind == Enum) && t.Name != "":
			scope = t.Name + "::"
		case known:
			if scope, known = p.scopes(scope, anywhere, w.text); !known && w.text == "std" {
				scope, known = "std::", true
			}
		}
		anywhere = false
		name.text += "::"
	}
	if t == nil {
		p.at = from
	}
	return t, name
}

// typeIn returns the type with a name of one word. std:: has the types of stdint.h even if no
// header declares them.
func (p *parser) typeIn(scope string, anywhere bool, name string) *Type {
	full := p.find(scope, anywhere, name, func(full string) bool { return p.typedefs[full] != nil || p.tags[full] != nil })
	switch {
	case p.typedefs[full] != nil:
		return p.typedefs[full]
	case full != "":
		return p.tags[full] // because a tag is a type name in C++
	case scope == "" || scope == "std::":
		if t := Named(name); t != nil || p.header {
			return t
		}
		return p.nested[name]
	}
	return nil
}

func (p *parser) named(name string) *Type { return p.typeIn("", true, name) }

// valueAt reads the name of a constant after its first word.
func (p *parser) valueAt(w token) (int64, bool) {
	scope, anywhere := "", true
	for p.peek().text == "::" && p.peekAt(1).kind == 'w' {
		var known bool
		if scope, known = p.scopes(scope, anywhere, w.text); !known {
			return 0, false
		}
		anywhere = false
		p.next()
		w = p.next()
	}
	full := p.find(scope, anywhere, w.text, keyOf(p.enumerators))
	return p.enumerators[full], full != ""
}

// structure reads what only holds declarations or changes how they are read: extern "C",
// namespaces, templates, using, #pragma pack. It reports whether there was any.
func (p *parser) structure() bool {
	if next := p.peekAt(1).text; p.peek().text == "__extension__" && (next == "template" || next == "namespace" || next == "inline" || next == "using") {
		p.next()
	}
	t := p.peek()
	switch {
	case t.kind == '#':
		p.next()
		p.pragma(t)
	case t.text == ";":
		p.next()
	case t.text == "}" && len(p.open) > 0:
		p.next()
		p.scope = p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
	case t.text == "extern" && p.peekAt(1).kind == 's':
		p.next()
		p.next()
		if p.take("{") {
			p.limit(len(p.open))
			p.open = append(p.open, p.scope)
		}
	case p.model.C:
		return false
	case t.text == "namespace" || t.text == "inline" && p.peekAt(1).text == "namespace":
		p.namespace()
	case t.text == "template":
		p.templateDeclaration()
	case t.text == "using":
		p.using()
	default:
		return false
	}
	return true
}

// namespace reads the head of a namespace, or an alias of one.
func (p *parser) namespace() {
	inline := p.take("inline")
	p.next()
	outer := p.scope
	var attrs attributes
	p.attributes(&attrs)
	if p.peek().kind == 'w' && p.peekAt(1).text == "=" {
		alias := p.scope + p.next().text
		p.next()
		p.spaces[alias] = p.scopeAt()
		p.expect(";", "behind the namespace")
		return
	}
	scope := outer
	for depth, named := len(p.open), false; ; named = true {
		depth++
		p.limit(depth)
		name := "(anonymous namespace)"
		if p.peek().kind == 'w' {
			name = p.next().text
		} else if inline = true; named {
			p.fail(p.peek().span, "", "expected the name of a namespace, not %s", p.peek())
		}
		p.attributes(&attrs)
		full := scope + name
		if inline && !slices.Contains(p.uses[scope], full+"::") {
			p.uses[scope] = append(p.uses[scope], full+"::")
		}
		p.spaces[full], p.outer[full+"::"] = full+"::", scope
		scope = full + "::"
		if !p.take("::") {
			break
		}
		inline = p.take("inline")
	}
	p.expect("{", "behind the name of the namespace")
	p.open = append(p.open, outer)
	p.scope = scope
}

func (p *parser) scopeAt() string {
	scope, anywhere := "", !p.take("::")
	for {
		w := p.next()
		known := false
		if scope, known = p.scopes(scope, anywhere, w.text); !known {
			p.fail(w.span, "", "unknown namespace %s", w.text)
		}
		if !p.take("::") {
			return scope
		}
		anywhere = false
	}
}

// using reads a using directive, a using declaration or an alias.
func (p *parser) using() {
	p.next()
	if p.take("namespace") {
		if scope := p.scopeAt(); scope != p.scope && !slices.Contains(p.uses[p.scope], scope) {
			p.uses[p.scope] = append(p.uses[p.scope], scope)
		}
		p.expect(";", "behind the namespace")
		return
	}
	p.take("typename")
	if p.peekAt(1).text == "=" || p.peekAt(1).text == "[[" || isAttributeWord(p.peekAt(1).text) {
		name := p.next()
		var attrs attributes
		p.attributes(&attrs)
		p.expect("=", "behind the name")
		t := p.typeName()
		p.onlyOnStructs(attrs, name)
		p.define(name, t)
		p.expect(";", "behind the type")
		return
	}
	t, name := p.typeAt()
	p.failIf(t == nil, name.span, "", "unknown type %s", name.text)
	p.typedefs[p.scope+name.text[strings.LastIndex(name.text, ":")+1:]] = t
	p.expect(";", "behind the type")
}

// define gives a type another name in this scope.
func (p *parser) define(name token, t *Type) {
	if t.isRecord() && t.Name == "" {
		t.Name = p.scope + name.text
	}
	t = cmp.Or(t, voidType)
	p.typedefs[p.scope+name.text] = t
}

// voidType is what a typedef of void names.
var voidType = &Type{Kind: function, Name: "void"}

// constantDeclaration reads "static constexpr int n = 4;" and reports whether it is one.
func (p *parser) constantDeclaration() bool {
	from := p.at
	constant := false
	for i := from; ; i++ {
		switch w := p.tokens[i]; w.text {
		case "=":
			if !constant || p.tokens[i-1].kind != 'w' || p.model.C {
				return false
			}
			name := p.tokens[i-1]
			p.at = i + 1
			err := p.try(func() {
				n := p.constant()
				p.expect(";", "behind the value")
				p.enumerator(p.scope+name.text, n)
			})
			if err != nil {
				p.at = from
			}
			return err == nil
		case "const", "constexpr":
			constant = true
		case "", ";", "(", "{", "[", "}", "struct", "class", "union", "enum", "template", "operator":
			return false
		}
	}
}

// enumerator gives a name a value. In C, where an enum within a struct declares names
// outside of it, one with two values has none.
func (p *parser) enumerator(full string, value int64) {
	if old, known := p.enumerators[full]; p.header && (p.ambiguous[full] || known && old != value) {
		p.ambiguous[full] = true
		delete(p.enumerators, full)
	} else {
		p.enumerators[full] = value
	}
}

func (p *parser) pragma(t token) {
	_, args, _ := strings.Cut(t.text, "pack")
	args = strings.Trim(args, " \t\r()")
	words := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	word, label := "", ""
	if len(words) > 0 && (words[0] == "push" || words[0] == "pop" || words[0] == "show") {
		word, words = words[0], words[1:]
	}
	if word != "" && len(words) > 0 && !('0' <= words[0][0] && words[0][0] <= '9') {
		label, words = words[0], words[1:]
	}
	switch word {
	case "show":
		return
	case "push":
		p.packs = append(p.packs, packing{p.pack, label})
	case "pop":
		for i := len(p.packs) - 1; i >= 0; i-- {
			if label == "" || p.packs[i].label == label {
				p.pack, p.packs = p.packs[i].pack, p.packs[:i]
				break
			}
		}
	default:
		p.pack = ""
	}
	if len(words) > 0 {
		p.pack = words[0]
	} else if word == "push" && label != "" {
		p.pack = label // a label, or a macro that the preprocessor has left
	}
}

// packing is what #pragma pack(push) keeps.
type packing struct{ pack, label string }

// packed returns the limit of #pragma pack at a struct; 0 if there is none.
func (p *parser) packed(at token) int64 {
	switch p.pack {
	case "", "0":
		return 0
	case "1", "2", "4", "8", "16":
		n, _ := strconv.ParseInt(p.pack, 10, 64)
		return n
	}
	p.fail(at.span, "use 1, 2, 4, 8 or 16", "#pragma pack(%s) is not supported", p.pack)
	return 0
}
