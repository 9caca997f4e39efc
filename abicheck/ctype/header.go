package ctype

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/diag"
)

// Header holds the types of a C or C++ text.
type Header struct{ p *parser }

// ParseHeader reads preprocessed C or C++ as Parse does, and skips what it cannot read,
// such as functions, templates and namespaces.
func ParseHeader(src *diag.Source, m Model) (*Header, error) {
	p := newParser(src, m)
	p.header = true
	if err := p.try(p.lex); err != nil {
		return nil, err
	}
	for p.peek().kind != 0 {
		p.topLevel()
	}
	return &Header{p}, nil
}

// Type returns the type with this name: a tag or a typedef. If its declaration was
// skipped, the error is the one in it.
func (h *Header) Type(name string) (*Type, error) {
	p := h.p
	name = strings.Join(strings.Fields(name), " ")
	var t *Type
	if kind, tag, ok := strings.Cut(name, " "); ok && slices.Contains([]string{"struct", "union", "class", "enum"}, kind) {
		name = tag
		t = p.tags[tag]
	} else {
		t = p.named(name)
	}
	if t == nil || t.incomplete {
		for _, f := range p.failures {
			if p.tokens[f.from].text != "namespace" && p.declares(f, name) {
				return nil, f.err
			}
		}
		if t == nil {
			return nil, &diag.Message{ID: diag.CSyntax, Place: diag.At(p.src, diag.Span{}), Text: fmt.Sprintf("no type %s is declared", name), Help: "types in namespaces and templates are not read"}
		}
		return nil, &diag.Message{ID: diag.CSyntax, Place: diag.At(p.src, diag.Span{}), Text: fmt.Sprintf("%s is declared without members", t)}
	}
	return t, nil
}

// failure is a declaration of a header that was skipped.
type failure struct {
	from, end int // tokens
	err       error
}

// try calls read and returns the error that it fails with.
func (p *parser) try(read func()) (err error) {
	depth := p.depth
	defer func() {
		if what := recover(); what != nil {
			failed, ours := what.(parseError)
			if !ours {
				panic(what)
			}
			p.depth, err = depth, failed.Message
		}
	}()
	read()
	return nil
}

// topLevel reads or skips one declaration of a header.
func (p *parser) topLevel() {
	switch t := p.peek(); {
	case t.text == ";" || t.text == "}": // the end of extern "C"
		p.next()
		return
	case t.kind == '#':
		p.pragma(p.next())
		return
	case t.text == "extern" && p.peekAt(1).kind == 's':
		p.next()
		p.next()
		p.take("{")
		return
	}
	from := p.at
	if err := p.try(p.declaration); err != nil {
		p.at = from
		p.skipDeclaration()
		p.failures = append(p.failures, failure{from, p.at, err})
	}
}

// pragma reads #pragma pack, inside of which no record is laid out.
func (p *parser) pragma(t token) {
	switch args := strings.Join(strings.Fields(t.text[strings.Index(t.text, "pack")+len("pack"):]), ""); {
	case strings.HasPrefix(args, "(push"):
		p.packs = append(p.packs, p.pack)
		if i := strings.LastIndexByte(args, ','); i >= 0 {
			p.pack = strings.TrimRight(args[i+1:], ")")
		}
	case strings.HasPrefix(args, "(pop"):
		p.pack = ""
		if n := len(p.packs); n > 0 {
			p.pack, p.packs = p.packs[n-1], p.packs[:n-1]
		}
	default:
		p.pack = strings.Trim(args, "()")
	}
}

// skipDeclaration skips to the end of a declaration: a semicolon, or the closing brace
// of a function or a namespace.
func (p *parser) skipDeclaration() {
	body := p.peek().text == "namespace" || p.peek().text == "inline" && p.peekAt(1).text == "namespace"
	for depth := 0; ; {
		t := p.next()
		switch {
		case t.kind == 0:
			return
		case t.kind == '#':
			p.pragma(t)
		case t.text == "{" && depth == 0:
			before := p.tokens[max(p.at-2, 0)]
			body = body || slices.Contains([]string{")", "const", "noexcept", "override", "final", "try"}, before.text)
			depth++
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == "[[":
			depth += 2
		case t.text == ")" || t.text == "]" || t.text == "}":
			if depth == 0 && t.text == "}" { // of a class, or of extern "C"
				p.at--
				return
			}
			depth = max(depth-1, 0)
			if depth == 0 && t.text == "}" && body {
				return
			}
		case t.text == ";" && depth == 0:
			return
		}
	}
}

// declares reports whether a skipped declaration is that of a type.
func (p *parser) declares(f failure, name string) bool {
	tag := false // behind struct, union, class or enum
	for i := f.from; i < f.end && i+1 < len(p.tokens); i++ {
		tag = tag || slices.Contains([]string{"struct", "union", "class", "enum"}, p.tokens[i].text)
		after := p.tokens[i+1].text
		if p.tokens[i].text == name && (after == ";" || tag && (after == "{" || after == ":")) {
			return true
		}
	}
	return false
}

// takesNoSpace skips a member of a class in C++ that takes no space: a function, a
// constructor, a static member, a friend.
func (p *parser) takesNoSpace(t *Type) bool {
	if p.model.C {
		return false
	}
	from := p.at
	for i := p.at; ; i++ {
		w := p.tokens[i]
		switch w.text {
		case "virtual":
			p.fail(w.span, "the document covers C structs only (PTX Interoperability 7 for C++)", "virtual is not supported")
		case "static", "friend", "using", "static_assert", "_Static_assert", "template", "operator", "explicit", "~":
		case "", ";", "{", "}", ":", "=", ",", "[":
			return false
		case "(":
			before, after := p.tokens[i-1], p.peekAt(i+1-p.at).text
			if isAttributeWord(before.text) || before.text == "decltype" {
				from := p.at
				p.at = i + 1
				p.skipGroup(w)
				p.at, i = from, p.at-1
				continue
			}
			constructor := before.text == t.Name && t.Name != ""
			if before.kind != 'w' || isTypeWord(before.text) || !constructor && p.named(before.text) != nil || after == "*" || after == "&" || after == "(" {
				return false
			}
		default:
			continue
		}
		break
	}
	if p.peek().text == "using" && p.peekAt(2).text == "=" && p.named(p.peekAt(1).text) != nil {
		p.fail(p.peek().span, "rename one of the two", "%s has two meanings", p.peekAt(1).text)
	}
	p.skipDeclaration()
	p.special(t, p.tokens[from:p.at])
	return true
}

// special notes constructors, destructors and assignments. An object with a destructor
// or a copy or move constructor of its own is passed by its address.
func (p *parser) special(t *Type, tokens []token) {
	var words []string
	for _, w := range tokens {
		if !slices.Contains(ignoredWords, w.text) && w.text != "inline" {
			words = append(words, w.text)
		}
	}
	text := strings.Join(words, " ")
	if strings.HasPrefix(text, "~") || strings.HasPrefix(strings.TrimPrefix(text, "explicit "), t.Name+" (") || strings.Contains(text, "operator = ( "+t.Name+" &") {
		t.notPOD = true
	}
	if strings.HasSuffix(text, "= default ;") {
		return
	}
	if strings.HasPrefix(text, "~") || strings.HasPrefix(text, t.Name+" ( "+t.Name+" &") {
		t.byAddress = true
	}
}

// initialiser skips the initial value of a member in C++.
func (p *parser) initialiser(t *Type) {
	if p.model.C {
		p.noInitialiser()
		return
	}
	if w := p.peek().text; w != "=" && w != "{" {
		return
	}
	t.notPOD = true
	for {
		switch w := p.peek(); w.text {
		case ",", ";", "}", "":
			return
		case "(", "[", "{", "[[":
			p.next()
			p.skipGroup(w)
		default:
			p.next()
		}
	}
}
