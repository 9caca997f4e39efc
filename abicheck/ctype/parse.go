package ctype

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/parallel"
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
	p := &parser{src: src, model: m, tags: map[string]*Type{}, typedefs: map[string]*Type{}, enumerators: map[string]int64{}}
	if failed := parallel.Catch[*diag.Message](p.declarations); failed != nil {
		return nil, failed
	}
	return p.declared, nil
}

func (p *parser) declarations() {
	p.lex()
	for p.peek().kind != 0 {
		if t := p.peek(); t.kind == '#' {
			p.pragma(p.next())
		} else if !p.take(";") {
			p.declaration()
		}
	}
	// "typedef struct S S;" declares no layout if the struct remains unknown.
	p.declared = slices.DeleteFunc(p.declared, func(d Declared) bool {
		return d.Name == "" && d.Type.element().isRecord() && d.Type.element().incomplete
	})
	p.failIf(len(p.declared) == 0, diag.Span{}, "such as 'struct { char c; int b : 5; }'", "there is no declaration")
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

	pack  int64   // of #pragma pack; 0 if there is none
	packs []int64 // kept by push

	mayBeFunction bool // the next declarator belongs to a typedef
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
	"static":    "a static member takes no space; remove it",
	"virtual":   dumped,
	"template":  "write the struct with the types put in; " + dumped,
	"namespace": "remove it and the scopes before names; " + dumped,
	"using":     "write a typedef",
	"operator":  "member functions take no space; remove them",
	"friend":    "it takes no space; remove it",
	"_Complex":  "write it as a struct of two",
	"decltype":  "write the type",
	"auto":      "write the type",
}

// dumped is how clang shows the layout of a class that the document does not cover.
const dumped = "clang++ -Xclang -fdump-record-layouts shows the layouts of classes"

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
		if w.kind != 'w' {
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
		p.next()
		if w.text == "std" && p.take("::") { // the types of stdint.h
			w = p.next()
		}
		p.failIf(p.peek().text == "::", p.peek().span, dumped, "the scope %s is not supported", w.text)
		if t = p.named(w.text); t == nil {
			p.fail(w.span, "declare it before: struct "+w.text+" { ... };", "unknown type %s", w.text)
		}
		if found = true; t == voidType {
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
		tag = p.next()
		t.Name = tag.text
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
	least, most := p.values(scoped)
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
func (p *parser) values(scoped bool) (least, most int64) {
	var attrs attributes
	for next := int64(0); !p.take("}"); next++ {
		name := p.next()
		p.attributes(&attrs)
		p.failIf(name.kind != 'w', name.span, "", "expected a name in the enum, not %s", name)
		if p.take("=") {
			next = p.constant()
		}
		if !scoped {
			// In C++, one within a struct is not seen outside, so that a length would have the other value.
			old, known := p.enumerators[name.text]
			p.failIf(known && old != next, name.span, "rename one of the two", "%s has the values %d and %d", name.text, old, next)
			p.enumerators[name.text] = next
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

// define gives a type another name.
func (p *parser) define(name token, t *Type) {
	if t.isRecord() && t.Name == "" {
		t.Name = name.text
	}
	p.typedefs[name.text] = cmp.Or(t, voidType)
}

// voidType is what a typedef of void names.
var voidType = &Type{Kind: function, Name: "void"}

// named returns the type with a name, or nil.
func (p *parser) named(name string) *Type {
	// A tag is a type name in C++.
	return cmp.Or(p.typedefs[name], p.tags[name], Named(name))
}

// pragma reads #pragma pack(N), pack(push, N), pack(push), pack(pop) or pack().
func (p *parser) pragma(t token) {
	_, args, _ := strings.Cut(t.text, "pack")
	for _, word := range strings.FieldsFunc(cmp.Or(strings.Trim(args, " \t\r()"), "0"), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		switch word {
		case "push":
			p.packs = append(p.packs, p.pack)
		case "pop":
			if n := len(p.packs); n > 0 {
				p.pack, p.packs = p.packs[n-1], p.packs[:n-1]
			}
		case "0", "1", "2", "4", "8", "16":
			p.pack, _ = strconv.ParseInt(word, 10, 64)
		default:
			p.fail(t.span, "use 1, 2, 4, 8 or 16, and push and pop without labels", "#pragma pack(%s) is not supported", word)
		}
	}
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
