package ctype

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/catch"
	"ptxlink/object/diag"
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

// Type returns the type with this name: a tag or a typedef, with its namespaces and the
// arguments of a template. If its declaration was skipped, the error is the one in it.
func (h *Header) Type(name string) (*Type, error) {
	p := h.p
	name = strings.Join(strings.Fields(name), " ")
	if strings.Contains(name, "<") {
		return p.written(name)
	}
	kind, tag, _ := strings.Cut(name, " ")
	tagged := isRecordWord(kind) && tag != ""
	if tagged {
		name = tag
	}
	name = strings.TrimPrefix(name, "::")
	scope, last := "", name
	for head, rest, deeper := strings.Cut(last, "::"); deeper; head, rest, deeper = strings.Cut(last, "::") {
		if inner, ok := p.scopes(scope, false, head); ok {
			scope = inner
		} else {
			scope += head + "::"
		}
		last = rest
	}
	var t *Type
	if full := p.within(scope, last, keyOf(p.tags), nil); tagged {
		t = p.tags[full]
	} else {
		t = p.typeIn(scope, false, last)
	}
	if t != nil && !t.incomplete {
		return t, nil
	}
	if t != nil && t.Name != "" && !strings.Contains(t.Name, "<") { // not the name of a typedef
		i := strings.LastIndex(t.Name, ":") + 1
		scope, last = t.Name[:i], t.Name[i:]
	}
	for _, f := range p.failures {
		if f.scope == scope && p.declares(f, last) {
			return nil, f.err
		}
	}
	text, help := fmt.Sprintf("no type %s is declared", name), "functions, variables and macros have no layout"
	if t != nil {
		text, help = fmt.Sprintf("%s is declared without members", t), ""
	} else if p.templates[scope+last] != nil {
		text, help = fmt.Sprintf("%s is a template", name), fmt.Sprintf("give it arguments: %s<int>", name)
	} else if full := p.hidden(last); full != "" {
		help = "there is " + full
	}
	m := diag.New(diag.CSyntax, diag.At(p.src, diag.Span{}), text).WithHelp(help)
	return nil, m
}

// written returns the type that a text names, such as Pair<int>.
func (p *parser) written(name string) (t *Type, err error) {
	text := p.src.Text
	defer func(src *diag.Source, tokens []token) { p.src, p.tokens = src, tokens }(p.src, p.tokens)
	p.src = &diag.Source{Name: p.src.Name, Text: append(slices.Clip(text), "\n"+name...)}
	from := len(p.tokens)
	p.tokens = slices.Clip(p.tokens)
	err = p.try(func() {
		all := p.src
		p.src = &diag.Source{Name: all.Name, Text: []byte(name)}
		p.lex()
		p.src, p.at = all, from
		for i := range p.tokens[from:] {
			p.tokens[from+i].span.Off += int32(len(text) + 1)
		}
		t = p.typeName()
		if end := p.peek(); end.kind != 0 {
			p.fail(end.span, "", "expected the end of the name, not %s", end)
		}
	})
	if m, ok := err.(*diag.Message); ok && int(m.Place.Span.Off) > len(text) {
		m.Place = diag.At(&diag.Source{Name: "<argument>", Text: []byte(name)}, diag.Span{Off: m.Place.Span.Off - int32(len(text)+1), Len: m.Place.Span.Len})
	}
	return t, err
}

// hidden returns the full name of a type in a namespace or class; "" if there is none,
// the least if there are several.
func (p *parser) hidden(name string) (full string) {
	for _, table := range []map[string]*Type{p.tags, p.typedefs} {
		for other := range table {
			if strings.HasSuffix(other, "::"+name) && !strings.ContainsAny(other, "<(") && (full == "" || other < full) {
				full = other
			}
		}
	}
	return full
}

// failure is a declaration of a header that was skipped.
type failure struct {
	scope     string
	from, end int // tokens
	err       error
}

// skipFrom skips the declaration from a token on, and records the error in it, if there is one.
func (p *parser) skipFrom(from int, err error) {
	p.at = from
	p.skipDeclaration()
	if err != nil {
		p.failures = append(p.failures, failure{p.scope, from, p.at, err})
	}
}

// try calls read and returns the error that it fails with.
func (p *parser) try(read func()) error {
	depth, scope, angles, pack := p.depth, p.scope, p.angles, p.pack
	if failed := catch.As[*diag.Message](read); failed != nil {
		p.depth, p.scope, p.angles, p.pack, p.instance = depth, scope, angles, pack, ""
		return failed
	}
	return nil
}

// topLevel reads or skips one declaration of a header.
func (p *parser) topLevel() {
	from := p.at
	structure := false
	err := p.try(func() { structure = p.structure() })
	switch {
	case err == nil && (structure || p.constantDeclaration()):
		return
	case err == nil && p.peek().text == "}": // one too many
		p.next()
		return
	case err == nil:
		err = p.try(p.declaration)
	}
	if err != nil {
		p.skipFrom(from, err)
		p.unknown(from, err)
	}
}

// unknown keeps the error of a skipped typedef or alias. Where its name hides another, it
// declares the name as a type whose members are not known, so that the hidden type is not found
// instead.
func (p *parser) unknown(from int, err error) {
	name := p.tokens[max(p.at-2, from)].text
	if p.tokens[from].text == "using" {
		name = p.tokens[min(from+1, p.at)].text
	} else if p.tokens[from].text != "typedef" {
		return
	}
	full := p.scope + name
	if failed, ok := err.(*diag.Message); ok {
		p.lost[full] = failed
	}
	if p.scope != "" && p.typedefs[full] == nil && p.tags[full] == nil && p.named(name) != nil {
		p.typedefs[full] = &Type{Kind: Struct, Name: full, incomplete: true}
	}
}

// nameWithin reads a typedef or an alias within a class, or skips it.
func (p *parser) nameWithin() {
	from := p.at
	err := p.try(func() {
		if p.peek().text == "using" {
			p.using()
			return
		}
		p.declaration()
	})
	if err != nil {
		p.skipFrom(from, nil)
		p.unknown(from, err)
	}
}

// skipDeclaration skips to the end of a declaration: a semicolon, or the closing brace
// of a function or a namespace.
func (p *parser) skipDeclaration() {
	if p.peek().text == "template" && p.peekAt(1).text == "<" && !p.skipTemplateParameters() {
		return
	}
	first := p.peek().text
	s := skipping{
		body:          first == "namespace" || first == "inline" && p.peekAt(1).text == "namespace",
		mayBeFunction: !isRecordWord(first) && first != "typedef" && first != "using",
	}
	for !s.next(p) {
	}
}

// skipTemplateParameters skips "template <...>". It returns false at the end of the text.
func (p *parser) skipTemplateParameters() bool {
	p.next()
	p.next()
	for depth := 1; depth > 0 && p.peek().kind != 0; {
		switch w := p.next(); w.text {
		case "<":
			depth++
		case ">":
			depth--
		case "(", "[", "{":
			if p.try(func() { p.skipGroup(w) }) != nil {
				return false
			}
		}
	}
	return true
}

type skipping struct {
	depth int  // of brackets
	body  bool // a "{" begins a body
	last  bool // the "}" of the present group ends the declaration
	// A "{" after "(...)" begins the body of a function, except in a class and an initial value.
	mayBeFunction bool
	constructor   bool // after its ":"; a{1} does not begin a body there
}

// next skips a token. It returns true if that is the last one of the declaration.
func (s *skipping) next(p *parser) (end bool) {
	t := p.next()
	switch {
	case t.kind == 0:
		return true
	case t.kind == '#':
		p.pragma(t)
		return false
	case s.depth == 0:
		s.note(t, p.tokens[max(p.at-2, 0)])
	}
	switch t.text {
	case "(", "[", "{":
		s.depth++
	case "[[":
		s.depth += 2
	case ")", "]", "}":
		if s.depth == 0 && t.text == "}" { // of a class, or of extern "C"
			p.at--
			return true
		}
		s.depth = max(s.depth-1, 0)
		return s.depth == 0 && t.text == "}" && s.last
	}
	return t.text == ";" && s.depth == 0
}

// note records what a token outside of brackets tells about the tokens after it.
func (s *skipping) note(t, before token) {
	switch t.text {
	case "{":
		s.body = s.body || slices.Contains([]string{")", "const", "noexcept", "override", "final", "try"}, before.text)
		s.last = s.body && !(s.constructor && (before.kind == 'w' || before.text == ">"))
	case ":":
		s.constructor = s.body
	case "(":
		s.body = s.body || s.mayBeFunction && !isAttributeWord(before.text)
	case "=":
		if before.text != "operator" {
			s.body, s.mayBeFunction = false, false
		}
	}
}

// declares reports whether a skipped declaration declares a type.
func (p *parser) declares(f failure, name string) bool {
	tag := false // after struct, union, class or enum
	for i := f.from; i < f.end && i+1 < len(p.tokens); i++ {
		tag = tag || isRecordWord(p.tokens[i].text)
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
		before, w := p.tokens[i-1], p.tokens[i]
		if w.text == "[[" || w.text == "(" && (isAttributeWord(before.text) || before.text == "decltype") {
			p.at = i + 1
			p.skipGroup(w)
			p.at, i = from, p.at-1
			continue
		}
		switch w.text {
		case "virtual":
			p.fail(w.span, refusedWords["virtual"], "virtual is not supported")
		case "static":
			if p.constantDeclaration() {
				return true
			}
		case "friend", "static_assert", "_Static_assert", "template", "operator", "explicit", "~":
		case "", ";", "{", "}", ":", "=", ",", "[":
			return false
		case "(":
			after := p.peekAt(i + 1 - p.at).text
			constructor := before.text == t.word && t.word != ""
			if before.kind != 'w' || isTypeWord(before.text) || !constructor && p.named(before.text) != nil || after == "*" || after == "&" || after == "(" {
				return false
			}
		default:
			continue
		}
		break
	}
	p.skipDeclaration()
	p.noteMember(t, p.tokens[from:p.at])
	return true
}

// noteMember notes constructors, destructors and assignments. An object with a destructor
// or a copy or move constructor of its own is passed by its address. Compilers disagree on
// whether a class is a POD if such a function is defaulted or deleted.
func (p *parser) noteMember(t *Type, tokens []token) {
	text := significant(tokens)
	given := !strings.HasSuffix(text, "= default ;") && !strings.HasSuffix(text, "= delete ;")
	explicit := strings.HasPrefix(text, "explicit ")
	text = strings.TrimPrefix(text, "explicit ")
	params, constructor := strings.CutPrefix(text, t.word+" ( ")
	assigned, assignment := "", false
	if _, assigned, assignment = strings.Cut(text, "operator = ( "); assignment {
		assigned, assignment = strings.CutPrefix(assigned, t.word+" ")
	}
	behindArguments := func(text string) string { // of Pair<T>
		if _, rest, ok := strings.Cut(text, "> "); ok && strings.HasPrefix(text, "< ") {
			return rest
		}
		return text
	}
	switch {
	case strings.HasPrefix(text, "~"):
		t.notPOD = t.notPOD || given
		t.byAddress = t.byAddress || given
	case constructor:
		of, own := strings.CutPrefix(params, t.word+" ")
		copies := own && strings.HasPrefix(behindArguments(of), "&")
		t.notPOD = t.notPOD || given
		t.disputed = t.disputed || !given && (explicit || copies)
		t.byAddress = t.byAddress || copies && !strings.HasSuffix(text, "= default ;")
	case assignment:
		moves := strings.HasPrefix(behindArguments(assigned), "& &")
		t.notPOD = t.notPOD || given && !moves
		t.disputed = t.disputed || given && moves
	case strings.HasPrefix(text, "template ") && strings.Contains(text, "> "+t.word+" ( "):
		t.notPOD = true
	}
}

// significant joins the words of a member, without attributes and the like.
func significant(tokens []token) string {
	var words []string
	for depth, i := 0, 0; i < len(tokens); i++ {
		switch w := tokens[i].text; {
		case w == "[[":
			depth += 2
		case depth > 0:
			depth -= strings.Count(w, "]")
		case !slices.Contains(ignoredWords, w) && w != "inline" && w != "volatile":
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
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
