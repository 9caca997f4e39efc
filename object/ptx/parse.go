package ptx

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Parse reads one module. The error, if any, is the first in the text; the module
// then holds the statements before it.
//
// gcc -S declares variables and functions of other modules after the bodies that use them, and
// leaves it to its assembler to reorder them. Such a module must be read again, with the names of
// all of it.
func Parse(src *diag.Source) (*Module, *Error) {
	m, err := read(&Module{Src: src}, &parser{})
	late := func(use Undeclared) bool { _, ok := m.Lookup(src.String(use.Span)); return ok }
	if err != nil || !byGCC(src) || !slices.ContainsFunc(m.Undeclared, late) {
		return m, err
	}
	m, err = read(&Module{Src: src, around: m.anywhere}, &parser{pct: m.percent})
	m.around = nil
	return m, err
}

func byGCC(src *diag.Source) bool { return bytes.HasPrefix(src.Text, []byte("// BEGIN PREAMBLE")) }

// anywhere is Scope.Declared with all names of a module.
func (m *Module) anywhere(name []byte) (string, bool) {
	id, ok := m.find(sets.HashBytes(name), name)
	if !ok {
		return "", false
	}
	return m.Names[id], true
}

func read(m *Module, p *parser) (*Module, *Error) {
	if len(m.Src.Text) >= math.MaxInt32 {
		return m, &Error{Text: "module is 2 GiB or larger", Help: "split it"}
	}
	p.read(m, p.module)
	m.percent = p.pct
	return m, p.Err
}

func (p *parser) module() {
	p.header()
	p.statements()
}

func (p *parser) statements() {
	for p.Err == nil && !p.eof() {
		p.statement()
	}
}

func (p *parser) read(m *Module, statements func()) {
	p.m = m
	s := scratches.Get().(*scratch)
	p.scratch = s
	p.forget()
	m.Names, m.Decls, m.Uses, m.Locs, m.Calls, m.Locals = s.names[:0], s.decls[:0], s.uses[:0], s.locs[:0], s.calls[:0], s.localNames[:0]
	p.begin(m.Src.Text)
	statements()
	p.takeBack(m)
	scratches.Put(s)
}

func (p *parser) begin(text []byte) {
	p.Lexer = NewLexer(text, 0)
	p.plain = !p.outline && bytes.IndexByte(text, 0) < 0 && bytes.IndexByte(text, 255) < 0
	for i := range p.ahead {
		p.ahead[i] = -1
	}
	p.events.end = 0
	p.move(p.at)
}

// scratch is the memory that reading a module needs. The next module uses it again instead of
// allocating its own.
type scratch struct {
	scopes
	begun     []begun
	unknown   []unknownUse // of the body being read, as labels and blocks
	labels    []blockLabel
	blocks    []block
	declared  []LocalDecl // by the statement being read
	paramList []Param     // of the function being read
	// Of the call being read:
	callTokens  []Token
	operandList []Operand
	signatures
	events
	section Section // for its lists
	// sectionNames is how many names the sections of the last module referred to. The next module
	// reserves room for as many, because it is likely to refer to as many.
	sectionNames int

	// The long lists of the module, which gets copies of their exact size instead.
	names      []string
	decls      []Decl
	uses       []Use
	locs       []Loc
	calls      []Call
	localNames []LocalName
}

// takeBack replaces the lists of the module by copies, and keeps only memory for the
// next one.
func (s *scratch) takeBack(m *Module) {
	s.names, m.Names = copied(m.Names)
	s.decls, m.Decls = copied(m.Decls)
	s.uses, m.Uses = copied(m.Uses)
	s.locs, m.Locs = copied(m.Locs)
	s.calls, m.Calls = copied(m.Calls)
	s.localNames, m.Locals = copied(m.Locals)
	m.clip()
	s.sectionNames = len(m.sectionNames.names)
	s.source, s.percent = nil, 0
	s.signatures.table.Clear()
	clear(s.signatures.list)
	s.signatures.list = s.signatures.list[:0]
}

// clip drops the spare capacity of the other lists, because links share modules, and an append to a
// list of one must copy it.
func (m *Module) clip() {
	m.Target, m.Files, m.Pragmas, m.Aliases, m.Others = slices.Clip(m.Target), slices.Clip(m.Files), slices.Clip(m.Pragmas), slices.Clip(m.Aliases), slices.Clip(m.Others)
	m.Sections, m.SectionEnds, m.Indices, m.Prototypes = slices.Clip(m.Sections), slices.Clip(m.SectionEnds), slices.Clip(m.Indices), slices.Clip(m.Prototypes)
	m.LocalRegisters, m.LocalRanges, m.TargetRanges = slices.Clip(m.LocalRegisters), slices.Clip(m.LocalRanges), slices.Clip(m.TargetRanges)
	m.Undeclared = slices.Clip(m.Undeclared)
	m.Reserved, m.ReservedRanges = slices.Clip(m.Reserved), slices.Clip(m.ReservedRanges)
	for i := range m.Decls {
		m.Decls[i].Attrs = slices.Clip(m.Decls[i].Attrs)
	}
	for i := range m.Sections {
		m.Sections[i].Labels, m.Sections[i].Refs = slices.Clip(m.Sections[i].Labels), slices.Clip(m.Sections[i].Refs)
	}
}

// copied returns the memory of a list, cleared, and a copy of the list; nil if it is
// empty.
func copied[T any](list []T) (memory, kept []T) {
	if len(list) > 0 {
		kept = make([]T, len(list))
		copy(kept, list)
	}
	clear(list)
	return list, kept
}

// doubled returns the list with room for one more element, and doubles its room if it is
// full: append would make less, and throw away more.
func doubled[T any](list []T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(64, len(list)))
	}
	return list
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// begun is an open block: the number of locals that were visible when it began, and its number.
type begun struct {
	visible int
	block   int32
}

type parser struct {
	cursor
	m *Module
	// outline skips everything in braces.
	outline bool
	ahead   ahead        // for an outline
	defines *definer     // with an outline: takes the declarations
	code    *codeBuilder // takes the code of one declaration, which was parsed before

	// pct is set once a module-scope name starts with %. Before that, a register cannot mean
	// another name, so it is skipped without a lookup.
	pct bool
	// in is the declaration being parsed, -1 outside.
	in int32
	*scratch
	ranged int64           // variables of all ranges so far
	linked map[NameID]bool // variables with linkage so far; nil before the first range
	// arrays says how indices on the arrays among the first seen declarations count.
	arrays map[NameID]Index
	seen   int

	// Of the body being read:
	known  NameID    // names below it were declared before the body
	st     Statement // the current one
	braces int       // open in its operands
	label  int32     // the ProtoLabel right before it, or -1
	listed int64     // targets of all lists so far
	done   bool
	inFunc bool // not of an entry
}

func (p *parser) moduleName() (NameID, diag.Span) {
	span := p.name(Nothing, "a name")
	if p.Err != nil {
		return 0, span
	}
	return p.named(p.bytes(span)), span
}

func (p *parser) named(s []byte) NameID {
	hash := sets.HashBytes(s)
	id, ok := p.m.find(hash, s)
	if !ok {
		id = p.m.addName(hash, s)
		p.pct = p.pct || s[0] == '%'
	}
	return id
}

func (p *parser) header() {
	what, help := carriage(p.text)
	if what == "" && !p.isWord(".version") {
		what, help = mistaken(p.m.Src)
	}
	if what != "" {
		p.Err = &Error{Text: what, Help: help, NotPTX: true}
		return
	}
	if !p.isWord(".version") {
		p.token()
		if p.Err == nil {
			span := p.span()
			span.Len = min(span.Len, 40)
			p.errorAt(span, "a PTX module starts with .version, .target and .address_size", "no .version directive at the start; this is not a PTX module")
		}
		return
	}
	from := int32(p.at)
	p.next()
	version := p.span()
	major, minor, ok := strings.Cut(string(p.bytes(version)), ".")
	sameLine := len(bytes.Trim(p.text[p.last:p.at], " \t\r\f")) == 0 // since ptxas does not take SUB for a space here
	if p.token().Kind != Number || !ok || !sameLine {
		p.expected("a version such as 8.4 behind .version")
		return
	}
	p.m.Version.Major, _ = strconv.Atoi(major)
	p.m.Version.Minor, _ = strconv.Atoi(minor)
	p.next()
	p.m.VersionSpan = p.from(from)

	if !p.isWord(".target") {
		p.expected(".target")
		return
	}
	from = int32(p.at)
	p.next()
	for {
		target := p.name(Nothing, "a target such as sm_80")
		if p.Err != nil {
			return
		}
		p.m.Target = append(p.m.Target, Option{p.m.Src.String(target), target})
		if !p.accept(',') {
			break
		}
	}
	p.m.TargetSpan = p.from(from)

	if p.isWord(".address_size") {
		from = int32(p.at)
		p.next()
		size := string(p.bytes(p.span()))
		if size != "32" && size != "64" {
			p.expected("32 or 64")
			return
		}
		p.m.AddressSize, _ = strconv.Atoi(size)
		p.next()
		p.m.AddressSpan = p.from(from)
	}
}

func (p *parser) statement() {
	if !p.is('.') {
		if !p.sectionEnd() {
			p.expected("a directive")
		}
		return
	}
	start := int32(p.at)
	firstUse := int32(len(p.m.Uses))
	p.in = -1
	linkage := Local
	w, word := p.word()
	for l := linkageOf(w); l != Local; l = linkageOf(w) {
		if linkage != Local {
			p.errorAt(word.Span(), "keep one of the two", "%s after %s; a declaration has one linkage", w, linkage)
			return
		}
		linkage = l
		if p.pass(word); !p.is('.') {
			p.expected("a declaration")
			return
		}
		w, word = p.word()
	}
	switch w {
	case ".func", ".entry":
		p.function(start, linkage, word)
	case ".global", ".const", ".shared", ".local", ".param", ".reg", ".tex":
		p.variables(start, linkage)
	case ".version", ".target", ".address_size":
		p.errorAt(word.Span(), "these may be several modules written into one file; pass them as separate inputs", "second %s in one module", w)
	case ".file":
		p.m.Files = append(p.m.Files, p.readFile())
	case ".loc":
		p.loc(word)
	case ".pragma":
		p.pragma()
	case ".section":
		p.section()
	case ".alias":
		p.alias()
	default:
		if linkage != Local {
			p.expected("a declaration")
			return
		}
		p.other(w, start, firstUse)
	}
}

// sectionEnd reads a label after a section. rustc -g ends sections with one, although no ptxas
// accepts it.
func (p *parser) sectionEnd() bool {
	if !p.atName() || !bytes.HasPrefix(p.text[p.at:], []byte("$L__sec_end")) || len(p.m.Sections) == 0 && !p.outline {
		return false
	}
	p.m.SectionEnds = append(p.m.SectionEnds, p.name(Nothing, ""))
	return p.need(':')
}

func linkageOf(word string) Linkage {
	return Linkage(max(int(Local), slices.Index(linkageWords, word+" ")))
}

// readFile reads `.file 1 "a.cu", 1700000000, 1234`.
func (c *cursor) readFile() File {
	f := File{Time: -1, Size: -1, In: -1}
	from := int32(c.at)
	c.next()
	index, number, ok := c.integer()
	if !ok || number.Kind != Number {
		c.expected("a file index")
		return f
	}
	f.Index = index
	c.pass(number)
	path := c.token()
	if path.Kind != String {
		c.expected("a file name in quotes")
		return f
	}
	f.Path = string(c.text[path.Off+1 : path.End-1])
	c.pass(path)
	for _, field := range []*int64{&f.Time, &f.Size} {
		if !c.accept(',') {
			break
		}
		*field, _ = c.needInteger("a number")
	}
	f.Span = c.from(from)
	return f
}

func (p *parser) pragma() {
	from := int32(p.at)
	p.next()
	textOff := int32(p.at)
	for p.is('"') || p.is(',') {
		p.next()
	}
	text := p.from(textOff)
	if p.need(';') {
		p.m.Pragmas = append(p.m.Pragmas, Pragma{p.m.Src.String(text), p.from(from)})
	}
}

func (p *parser) alias() {
	var a Alias
	from := int32(p.at)
	p.next()
	a.Name, a.NameSpan = p.moduleName()
	p.need(',')
	a.Target, a.TargetSpan = p.moduleName()
	p.need(';')
	a.Span = p.from(from)
	if p.Err == nil {
		p.m.Aliases = append(p.m.Aliases, a)
	}
}

// other keeps an unknown statement: up to its semicolon, or to the end of its
// block.
func (p *parser) other(word string, start, firstUse int32) {
	if word == ".noreturn" || TypeSize(word) != 0 {
		p.expected("a declaration")
		return
	}
	for depth := 0; ; {
		ends := false
		switch {
		case p.eof():
			p.expected("the end of the statement")
			return
		case p.atName():
			p.use(p.name(Refers, ""))
			continue
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			if depth--; depth < 0 {
				p.expected("a directive")
				return
			}
			ends = p.is('}')
		case p.is(';'):
			ends = true
		}
		if p.next(); ends && depth == 0 {
			p.m.Others = append(p.m.Others, Other{p.from(start), firstUse, int32(len(p.m.Uses))})
			return
		}
	}
}
