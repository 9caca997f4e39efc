package ctype

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// template is a class template or a template of an alias.
type template struct {
	full, scope string
	params      []param
	body        int // token of the word struct, or after "="; 0 if it was only declared
	alias       bool
	pack        string // of #pragma pack
	refused     *token // what this parser does not read
	what        string
}

type param struct {
	name      string
	isType    bool
	otherwise int // token of the default; 0 if there is none
}

// maxInstances limits the classes that templates give.
const maxInstances = 1000

// maxName limits the names of the classes, because a name may double in length from one to the
// next.
const maxName = 4096

func (p *parser) template(scope string, anywhere bool, name string) *template {
	if len(p.templates) == 0 {
		return nil
	}
	return p.templates[p.find(scope, anywhere, name, keyOf(p.templates))]
}

// templateDeclaration reads a template. Templates of functions and variables are skipped.
func (p *parser) templateDeclaration() {
	from := p.at
	p.next()
	if !p.take("<") { // an instantiation
		p.skipFrom(from, nil)
		return
	}
	if p.take(">") {
		p.specialisation(from)
		return
	}
	tpl := &template{scope: p.scope, pack: p.pack}
	if err := p.try(func() { p.params(tpl) }); err != nil || p.peek().text == "template" || p.peek().text == "requires" {
		p.skipFrom(from, err)
		return
	}
	begin := p.at
	name := token{}
	switch w := p.next(); w.text {
	case "struct", "class", "union":
		var attrs attributes
		if p.try(func() { p.attributes(&attrs) }) == nil && p.peek().kind == 'w' {
			name = p.next()
		}
		if p.peek().text == "<" || p.peek().text == "::" {
			tpl.refused, tpl.what = &w, "a partial specialisation of a template"
		} else if p.peek().text != ";" {
			tpl.body = begin
		}
	case "using":
		name = p.next()
		tpl.alias = true
		if p.take("=") {
			tpl.body = p.at
		}
	}
	p.skipFrom(from, nil)
	if name.kind != 'w' {
		return
	}
	tpl.full = p.scope + name.text
	if known := p.templates[tpl.full]; known != nil {
		tpl.redeclares(known)
	}
	p.templates[tpl.full] = tpl
}

// specialisation reads a template without parameters, after "template <>".
func (p *parser) specialisation(from int) {
	var err error
	if w := p.peek().text; w == "struct" || w == "class" || w == "union" {
		p.special, p.specialised = p.at, ""
		if err = p.try(p.declaration); err == nil {
			return
		}
		if p.specialised != "" && p.tags[p.specialised] == nil { // so that nothing uses the template's own class
			p.tags[p.specialised] = &Type{Kind: Struct, Name: p.specialised, incomplete: true}
		}
	}
	p.skipFrom(from, err)
}

// redeclares takes over what an earlier declaration of the template says.
func (tpl *template) redeclares(known *template) {
	// Defaults may be given where the template is only declared.
	for i := range min(len(known.params), len(tpl.params)) {
		tpl.params[i].otherwise = cmp.Or(tpl.params[i].otherwise, known.params[i].otherwise)
	}
	if known.refused != nil {
		tpl.refused, tpl.what = known.refused, known.what
	}
	if tpl.body == 0 {
		tpl.body, tpl.alias, tpl.pack = known.body, known.alias, known.pack
		if tpl.refused != known.refused { // because a partial specialisation has parameters of its own
			tpl.params = known.params
		}
	}
}

// params reads the parameters of a template, after "<".
func (p *parser) params(tpl *template) {
	for {
		param := param{}
		at := p.peek()
		switch {
		case at.text == "class" || at.text == "typename":
			p.next()
			param.isType = true
		case at.text == "template":
			tpl.refused, tpl.what = &at, "a template as the parameter of a template"
			p.skipArgument()
		default:
			for p.peek().kind == 'w' && p.peekAt(1).text != "," && p.peekAt(1).text != ">" && p.peekAt(1).text != "=" || p.peek().text == "::" {
				p.next()
			}
		}
		if p.peek().text == "..." || p.peek().text == "." {
			refused := p.peek()
			tpl.refused, tpl.what = &refused, "a template with any number of parameters"
			for p.take("...") || p.take(".") {
			}
		}
		if p.peek().kind == 'w' {
			param.name = p.next().text
		}
		if p.take("=") {
			param.otherwise = p.at
			p.skipArgument()
		}
		tpl.params = append(tpl.params, param)
		if p.take(">") {
			return
		}
		p.expect(",", "behind the parameter of a template")
	}
}

// skipArgument skips to the "," or ">" after an argument of a template.
func (p *parser) skipArgument() {
	for depth := 0; ; {
		switch w := p.peek(); w.text {
		case "<":
			depth++
		case ">":
			if depth--; depth < 0 {
				return
			}
		case ",":
			if depth == 0 {
				return
			}
		case "(", "[", "{":
			p.next()
			p.skipGroup(w)
			continue
		case "", ";":
			p.fail(w.span, "", "expected \">\", not %s", w)
		}
		p.next()
	}
}

// instantiate reads the arguments of a template and returns its class.
func (p *parser) instantiate(tpl *template) *Type {
	p.enter()
	defer p.leave()
	open := p.next()
	if tpl.refused != nil {
		p.fail(tpl.refused.span, "give the struct with the types put in", "%s is not supported, and %s has one", tpl.what, tpl.full)
	}
	if p.instances++; p.instances > maxInstances {
		p.fail(open.span, "", "templates give more than %d classes", maxInstances)
	}
	p.angles++
	scope := fmt.Sprintf("%s<#%d>::", tpl.full, p.instances)
	p.outer[scope] = tpl.scope
	var args []string
	for i, param := range tpl.params {
		given := p.peek().text != ">"
		if given && i > 0 {
			p.expect(",", "behind the argument of a template")
		}
		end := p.at
		leave := func() {}
		if !given {
			p.failIf(param.otherwise == 0, p.peek().span, "", "%s has %d parameters", tpl.full, len(tpl.params))
			p.at = param.otherwise
			leave = p.inScope(scope)
		}
		if param.isType {
			t := cmp.Or(p.typeName(), voidType)
			p.typedefs[scope+param.name] = t
			args = append(args, p.argument(t))
		} else {
			n := p.constant()
			p.enumerators[scope+param.name] = n
			args = append(args, itoa(n))
		}
		leave()
		if !given {
			p.at = end
		}
	}
	p.expect(">", "behind the arguments of a template")
	p.angles--
	end := p.at
	full := tpl.full + "<" + strings.Join(args, ", ") + ">"
	if t := p.tags[full]; t != nil {
		return t
	}
	p.failIf(len(full) > maxName, open.span, "", "the name of a class from %s is longer than %d bytes", tpl.full, maxName)
	p.failIf(tpl.body == 0, open.span, "", "%s is declared without members", tpl.full)
	defer func(pack string, angles int) { p.pack, p.angles = pack, angles }(p.pack, p.angles)
	p.pack, p.angles = tpl.pack, 0
	defer p.inScope(scope)()
	p.at = tpl.body
	var t *Type
	if tpl.alias {
		t = p.typeName()
	} else {
		p.instance = full
		t, _ = p.record()
	}
	p.at = end
	return t
}

// specialName reads the arguments of "template <> struct Pair<int>" and returns the name
// of the class.
func (p *parser) specialName(tag token) string {
	tpl := p.template("", true, tag.text)
	p.failIf(tpl == nil, tag.span, "", "%s is not a template", tag.text)
	p.next()
	p.angles++
	var args []string
	for i, param := range tpl.params {
		if i > 0 {
			p.expect(",", "behind the argument of a template")
		}
		if param.isType {
			from := p.at
			args = append(args, p.argument(cmp.Or(p.typeName(), voidType)))
			for i := from; i < p.at; i++ {
				if w := &p.tokens[i]; w.text == "const" || w.text == "volatile" || w.text == "&" {
					tpl.refused, tpl.what = w, "a specialisation of a template for "+w.text
				}
			}
		} else {
			args = append(args, itoa(p.constant()))
		}
	}
	p.expect(">", "behind the arguments of a template")
	p.angles--
	p.specialised = tpl.full + "<" + strings.Join(args, ", ") + ">"
	return p.specialised
}

// argument returns the name of a type as an argument, one for each type.
func (p *parser) argument(t *Type) string {
	name := t.String()
	for _, word := range []string{"struct ", "union ", "enum "} {
		name = strings.TrimPrefix(name, word)
	}
	signed := name
	if name != "size_t" && t.Unsigned {
		signed = strings.TrimPrefix(name, "u")
	}
	switch {
	case t.Kind == Bool:
		return "bool"
	case t.Kind != Integer || !slices.Contains(otherNames, signed):
		return name
	}
	size := t.size(p.model)
	name = map[int64]string{1: "char", 2: "short", 4: "int", 8: "long"}[size]
	switch {
	case size == 1 && !t.Unsigned:
		return "signed char"
	case size > p.model.Long:
		name = "long long"
	}
	if t.Unsigned {
		name = "unsigned " + name
	}
	return name
}

// otherNames are names of integers that stand for others, by their size.
var otherNames = []string{"int8_t", "int16_t", "int32_t", "int64_t", "intmax_t", "intptr_t", "ptrdiff_t", "ssize_t", "size_t"}

func isRecordWord(w string) bool { return w == "struct" || w == "class" || w == "union" || w == "enum" }
