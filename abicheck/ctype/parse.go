package ctype

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/diag"
)

// Declared is one declaration in a C text: a struct, union or enum, a type name, or
// a variable with its type.
type Declared struct {
	Name string // of the variable or typedef; empty for a type alone
	Type *Type
	Span diag.Span
}

// Parse reads the C declarations that define the layout of data: structs, unions,
// enums, typedefs and variables, with CUDA's types and the attributes aligned and
// packed. A type alone ("unsigned long", "float4") is a declaration too. Later ones
// may refer to earlier ones. The model is needed for sizeof in the length of an
// array.
//
// An error is a *diag.Message that points into src.
func Parse(src *diag.Source, m Model) ([]Declared, error) {
	p := newParser(src, m)
	if err := p.try(p.declarations); err != nil {
		return nil, err
	}
	return p.declared, nil
}

func (p *parser) declarations() {
	p.lex()
	for p.peek().kind != 0 {
		if !p.structure() {
			p.declaration()
		}
	}
	p.failIf(len(p.open) > 0, p.peek().span, "", "the \"{\" of a namespace is not closed")
	// "typedef struct S S;" declares no layout if the struct remains unknown.
	p.declared = slices.DeleteFunc(p.declared, func(d Declared) bool {
		return d.Name == "" && d.Type.element().isRecord() && d.Type.element().incomplete
	})
	p.failIf(len(p.declared) == 0, diag.Span{}, "such as 'struct { char c; int b : 5; }'", "there is no declaration")
}

func newParser(src *diag.Source, m Model) *parser {
	return &parser{
		src: src, model: m,
		tags: map[string]*Type{}, typedefs: map[string]*Type{}, enumerators: map[string]int64{}, ambiguous: map[string]bool{}, nested: map[string]*Type{}, lost: map[string]*diag.Message{},
		outer: map[string]string{}, uses: map[string][]string{}, spaces: map[string]string{}, templates: map[string]*template{},
	}
}

type parser struct {
	src    *diag.Source
	model  Model
	tokens []token
	at     int
	depth  int

	tags        map[string]*Type // structs, unions and enums
	typedefs    map[string]*Type
	enumerators map[string]int64
	declared    []Declared

	header   bool // of ParseHeader
	failures []failure
	// ambiguous are enumerators with several values.
	ambiguous map[string]bool
	lost      map[string]*diag.Message // the errors of typedefs that were skipped
	nested    map[string]*Type         // classes within classes, without the scope
	pack      string                   // of #pragma pack; empty if there is none
	packs     []packing

	mayBeFunction bool // the next declarator belongs to a typedef

	scope  string              // "n::S::"
	open   []string            // the scopes before each "{" that is open
	outer  map[string]string   // of a scope, the one around it
	uses   map[string][]string // of a scope, those whose names are its own too
	spaces map[string]string   // the scope that the name of a namespace stands for

	templates   map[string]*template
	instance    string // full name of the class that record reads next
	instances   int
	special     int    // token of the class after template <>
	specialised string // its full name
	angles      int    // depth of the arguments of templates, where ">>" is two ">"
}

type attributes struct {
	align  int64
	packed bool
}

// declaration reads one declaration, which ends at ";" or at the end of the text.
func (p *parser) declaration() {
	from := p.peek()
	p.take("__extension__")
	isTypedef := p.take("typedef")
	var attrs attributes
	base, introduces := p.specifiers(&attrs)
	p.onlyOnStructs(attrs, from)
	n := 0
	for t := p.peek(); t.kind != 0 && t.text != ";"; t = p.peek() {
		p.mayBeFunction = isTypedef
		name, typ := p.declarator(base)
		p.mayBeFunction = false
		var own attributes
		p.attributes(&own)
		p.failIf(name.text == "" && isTypedef, p.peek().span, "", "expected the name of the typedef, not %s", p.peek())
		p.onlyOnStructs(own, name)
		p.failIf(p.peek().text == ":", p.peek().span, "put it into a struct: struct { ... };", "a bit field outside a struct")
		p.noInitialiser()
		switch {
		case isTypedef:
			p.define(name, typ)
			if typ != nil && typ.Kind != function {
				p.declare(Declared{Type: typ, Span: name.span})
			}
		default:
			at := name.span
			if name.text == "" {
				at = from.span
			}
			p.declare(Declared{Name: name.text, Type: typ, Span: at})
		}
		n++
		if !p.take(",") {
			break
		}
	}
	if n == 0 && !introduces.forward {
		p.declare(Declared{Type: base, Span: from.span})
	}
	if t := p.peek(); t.kind != 0 && !p.take(";") {
		p.fail(t.span, "declarations end in \";\"", "expected \";\", not %s", t)
	}
}

// onlyOnStructs refuses attributes of a typedef or variable, because compilers differ in how these
// affect a parameter.
func (p *parser) onlyOnStructs(attrs attributes, at token) {
	p.failIf(attrs.align > 0 || attrs.packed, at.span, "put it behind the word struct, or on a member", "an alignment of a typedef or a variable is not supported")
}

func (p *parser) declare(d Declared) {
	p.failIf(d.Type == nil && d.Name == "", d.Span, "a pointer to it has: void *", "void has no size")
	p.declared = append(p.declared, d)
}

func (p *parser) noInitialiser() {
	if t := p.peek(); t.text == "=" || t.text == "{" {
		p.fail(t.span, "remove it; it does not change the layout", "an initial value is not allowed here")
	}
}

func (t *Type) isRecord() bool { return t != nil && (t.Kind == Struct || t.Kind == Union) }

// introduced records what specifiers did besides naming a type.
type introduced struct {
	forward bool // "struct S" and nothing more
	defined bool // with a body
}

// ignoredWords do not affect the layout.
var ignoredWords = []string{
	"const", "volatile", "restrict", "__restrict__", "__restrict", "mutable", "extern", "register", "constexpr", "__extension__",
	"__device__", "__host__", "__global__", "__constant__", "__shared__", "__managed__", "__device_builtin__", "_Atomic", "final", "typename",
}

// refusedWords are used for types whose layout the document does not define.
var refusedWords = map[string]string{
	"static":   "a static member takes no space; remove it",
	"virtual":  "the document covers C structs only (PTX Interoperability 7 for C++)",
	"template": "give the struct with the types put in",
	"operator": "member functions take no space; remove them",
	"friend":   "it takes no space; remove it",
	"_Complex": "write it as a struct of two",
	"decltype": "write the type",
	"auto":     "write the type",
}

// specifiers reads the part before the first declarator: a type and its qualifiers.
// The type is nil for void.
func (p *parser) specifiers(attrs *attributes) (*Type, introduced) {
	p.enter()
	defer p.leave()
	var t *Type
	var in introduced
	var words []string
	start := p.peek()
	found := false
	for {
		p.attributes(attrs)
		w := p.peek()
		if w.kind != 'w' && (w.text != "::" || found || len(words) > 0) {
			break
		}
		if help := refusedWords[w.text]; help != "" {
			p.fail(w.span, help, "%s is not supported", w.text)
		}
		if slices.Contains(ignoredWords, w.text) {
			p.next()
			continue
		}
		switch w.text {
		case "struct", "union", "class", "enum":
			p.failIf(found || len(words) > 0, w.span, "", "a second type")
			if found = true; w.text == "enum" {
				t, in = p.enum()
			} else {
				t, in = p.record()
			}
			continue
		case "signed", "__signed__", "unsigned", "char", "short", "int", "long", "float", "double", "void", "__int128":
			p.failIf(found, w.span, "", "a second type")
			words = append(words, strings.Trim(w.text, "_"))
			if w.text == "__int128" {
				words[len(words)-1] = w.text
			}
			p.next()
			continue
		}
		if found || len(words) > 0 {
			break
		}
		named, name := p.typeAt()
		if named == nil {
			first, _, _ := strings.Cut(name.text, "::")
			if err := p.lost[p.lookUp(first, keyOf(p.lost))]; err != nil {
				panic(err)
			}
			p.fail(name.span, "declare it before: struct "+name.text+" { ... };", "unknown type %s", name.text)
		}
		if t, found = named, true; named == voidType {
			t = nil
		}
	}
	if len(words) > 0 {
		return p.fundamental(words, start), in
	}
	p.failIf(!found, p.peek().span, "", "expected a type, not %s", p.peek())
	return t, in
}

// fundamental returns the type with these words in any order: "long unsigned int".
func (p *parser) fundamental(words []string, start token) *Type {
	sign, rest := "", []string{}
	for _, w := range words {
		if (w == "signed" || w == "unsigned") && sign == "" {
			sign = w
		} else {
			rest = append(rest, w)
		}
	}
	long := slices.Contains(rest, "long")
	if i := slices.Index(rest, "int"); i >= 0 && (long || slices.Contains(rest, "short")) {
		rest = slices.Delete(rest, i, i+1)
	}
	name := cmp.Or(strings.Join(rest, " "), "int")
	switch {
	case name == "void" && sign == "":
		return nil
	case len(words) == 2 && long && slices.Contains(rest, "double"):
		p.fail(start.span, "use double", "compilers disagree on long double: 8 bytes for clang, as many as on the host for nvcc")
	}
	t := Named(name)
	if unsigned := Named("unsigned " + name); sign == "unsigned" || sign != "" && unsigned == nil {
		t = unsigned
	} else if sign != "" && name == "char" {
		t = Named("signed char")
	}
	p.failIf(t == nil, start.span, "", "%q is not a type", strings.Join(words, " "))
	return t
}

// enum reads an enum, from that word on.
func (p *parser) enum() (*Type, introduced) {
	p.next()
	var attrs attributes
	p.attributes(&attrs)
	scoped := p.take("class") || p.take("struct")
	p.attributes(&attrs)
	t := &Type{Kind: Enum, Unsigned: true, Elem: Named("unsigned int")}
	tag := token{}
	if p.peek().kind == 'w' {
		if p.peekAt(1).text == "::" {
			at := p.peek()
			known, name := p.typeAt()
			p.failIf(known == nil || known.Kind != Enum || p.peek().text == "{", at.span, "", "the values of enum %s are not known", name.text)
			return known, introduced{}
		}
		tag = p.next()
		t.Name = p.scope + tag.text
	}
	fixed := scoped
	if scoped {
		t.Elem, t.Unsigned = Named("int"), false
	}
	if p.peek().text == ":" && (p.peekAt(1).kind == 'w') {
		p.next()
		at := p.peek()
		underlying, _ := p.specifiers(&attrs)
		p.failIf(underlying == nil || underlying.Kind != Integer && underlying.Kind != Bool, at.span, "", "an enum holds integers")
		t.Elem, t.Unsigned, fixed = underlying, underlying.Unsigned, true
	}
	if !p.take("{") {
		return p.enumWithoutValues(t, tag, fixed), introduced{}
	}
	if tag.text != "" {
		p.tags[t.Name] = t
	}
	least, most := p.values(t, scoped)
	if !fixed {
		t.Elem = p.enumerated(least, most)
		t.Unsigned = t.Elem.Unsigned
	}
	return t, introduced{defined: true}
}

// enumWithoutValues returns the type of "enum E": one that is known, or t, which it
// declares if its type is fixed.
func (p *parser) enumWithoutValues(t *Type, tag token, fixed bool) *Type {
	known := p.tags[t.Name]
	if p.peek().text != ";" {
		known = p.tags[p.lookUp(tag.text, keyOf(p.tags))]
	}
	switch {
	case known != nil && known.Kind == Enum:
		return known
	case !fixed || tag.text == "":
		p.fail(tag.span, "declare it before: enum "+tag.text+" { ... };", "the values of enum %s are not known", tag.text)
	}
	p.tags[t.Name] = t
	return t
}

// values reads the names of an enum and their values, up to the closing brace.
func (p *parser) values(t *Type, scoped bool) (least, most int64) {
	var attrs attributes
	for next := int64(0); !p.take("}"); next++ {
		name := p.next()
		p.attributes(&attrs)
		p.failIf(name.kind != 'w', name.span, "", "expected a name in the enum, not %s", name)
		if p.take("=") {
			next = p.constant()
		}
		if !scoped {
			p.enumerator(p.scope+name.text, next)
		}
		if t.Name != "" && !p.model.C {
			p.enumerator(t.Name+"::"+name.text, next)
		}
		least, most = min(least, next), max(most, next)
		p.failIf(!p.take(",") && p.peek().text != "}", p.peek().span, "", "expected \",\" or \"}\" in the enum, not %s", p.peek())
	}
	return least, most
}

// enumerated returns the integer that holds the values of an enum.
func (p *parser) enumerated(least, most int64) *Type {
	name := "int"
	if least < -1<<31 || most >= 1<<32 || least < 0 && most >= 1<<31 {
		name = "long"
		if p.model.Long < 8 {
			name = "long long"
		}
	}
	if least >= 0 {
		name = "unsigned " + name
	}
	return Named(name)
}

// ModelOf finds a data model by its name, or by the name of a host: "linux-x86_64".
func ModelOf(name string) (Model, error) {
	for _, m := range []Model{LP64, LLP64, ILP32} {
		if m.Name == name {
			return m, nil
		}
	}
	os, arch, _ := strings.Cut(name, "-")
	wide := slices.Contains([]string{"x86_64", "aarch64", "ppc64le"}, arch)
	switch {
	case os == "windows" && wide:
		return LLP64, nil
	case (os == "linux" || os == "mac") && wide:
		return LP64, nil
	case os == "windows" && arch == "x86":
		m := ILP32
		m.WChar = 2
		return m, nil
	case (os == "linux" || os == "mac") && (arch == "x86" || arch == "arm"):
		return ILP32, nil
	}
	return Model{}, fmt.Errorf("unknown host %q", name)
}
