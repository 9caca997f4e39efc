package ptx

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/internal/hashed"
	"ptxlink/link/diag"
)

// Parse reads one module. The error, if any, is the first in the text; the module
// then holds the statements before it.
func Parse(src *diag.Source) (*Module, *Error) { return read(src, &parser{}) }

func read(src *diag.Source, p *parser) (*Module, *Error) {
	if len(src.Text) >= math.MaxInt32 {
		return &Module{Src: src}, &Error{Text: "module is 2 GiB or larger", Help: "split it"}
	}
	p.read(&Module{Src: src}, func() {
		p.header()
		for p.Err == nil && p.tok.Kind != EOF {
			p.statement()
		}
	})
	p.m.percent = p.pct
	return p.m, p.Err
}

// read reads the text of a module, from its first token on.
func (p *parser) read(m *Module, statements func()) {
	text := m.Src.Text
	p.cursor = cursor{Lexer: NewLexer(text, 0)}
	p.m = m
	for i := range p.ahead {
		p.ahead[i] = -1
	}
	p.scratch = scratches.Get().(*scratch)
	p.lend(p.m)
	p.events.end = 0
	// Comments with these bytes are errors (Lexer.readable) that only the lexer finds.
	p.unskimmed = p.unskimmed || bytes.IndexByte(text, 0) >= 0 || bytes.IndexByte(text, 255) >= 0
	p.next()
	statements()
	p.takeBack(p.m)
	scratches.Put(p.scratch)
}

// scratch is what reading a module needs meanwhile; the next module uses it again.
type scratch struct {
	code      codeReader // of the body being read
	buffer    []Token    // for its tokens
	paramList []Param    // of the function being read
	signatures
	events
	section Section // for its lists
	// sectionNames is how many names the sections of the last module referred to: those
	// of the next one are likely to refer to as many.
	sectionNames int

	// The long lists of the module. It gets copies of their exact size.
	names  []string
	decls  []Decl
	uses   []Use
	locs   []Loc
	calls  []Call
	locals []LocalName
}

func (s *scratch) lend(m *Module) {
	m.Names, m.Decls, m.Uses, m.Locs, m.Calls, m.Locals = s.names[:0], s.decls[:0], s.uses[:0], s.locs[:0], s.calls[:0], s.locals[:0]
}

// takeBack replaces the lists of the module by copies, and keeps only memory for the
// next one.
func (s *scratch) takeBack(m *Module) {
	s.names, m.Names = copied(m.Names)
	s.decls, m.Decls = copied(m.Decls)
	s.uses, m.Uses = copied(m.Uses)
	s.locs, m.Locs = copied(m.Locs)
	s.calls, m.Calls = copied(m.Calls)
	s.locals, m.Locals = copied(m.Locals)
	m.clip()
	s.sectionNames = len(m.sectionNames.names)
	old := s.code
	s.code = codeReader{begun: old.begun[:0], declared: old.declared[:0]}
	s.code.scopes = scopes{locals: old.locals[:0], visible: old.visible[:0], names: old.names, ranges: old.ranges}
	s.signatures.reset()
}

// clip drops the room behind the other lists: links share modules, and an append to a
// list of one must copy it.
func (m *Module) clip() {
	m.Target, m.Files, m.Pragmas, m.Aliases, m.Others = slices.Clip(m.Target), slices.Clip(m.Files), slices.Clip(m.Pragmas), slices.Clip(m.Aliases), slices.Clip(m.Others)
	m.Sections, m.SectionEnds, m.Indices, m.Prototypes = slices.Clip(m.Sections), slices.Clip(m.SectionEnds), slices.Clip(m.Indices), slices.Clip(m.Prototypes)
	m.LocalRegisters, m.LocalRanges, m.TargetRanges = slices.Clip(m.LocalRegisters), slices.Clip(m.LocalRanges), slices.Clip(m.TargetRanges)
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

type parser struct {
	cursor
	m *Module
	// outline skips everything in braces.
	outline bool
	ahead   ahead // for an outline
	// unskimmed makes tokens of every statement, to compare with skim in tests.
	unskimmed bool

	// pct is set once a module-scope name starts with %; before that, registers are
	// skipped without a lookup.
	pct bool
	// in is the declaration being parsed, -1 outside.
	in int32

	*scratch
	listed   int64           // variables of all ranges so far
	linked   map[NameID]bool // variables with linkage so far; nil before the first range
	firstUse int             // index in Uses for the current statement
	// arrays says how indices on the arrays among the first seen declarations count.
	arrays map[NameID]Index
	seen   int
}

// name reads a module-scope name, and adds it if it is new.
func (p *parser) name() (NameID, diag.Span) {
	if p.tok.Kind != Ident {
		p.expected("a name")
		return 0, p.tok.Span()
	}
	span := p.tok.Span()
	s := p.text[p.tok.Off:p.tok.End]
	id := p.named(s)
	p.next()
	return id, span
}

func (p *parser) named(s []byte) NameID {
	id, ok := p.m.find(s)
	if !ok {
		id = p.m.addName(hashed.Bytes(s), s)
		p.pct = p.pct || s[0] == '%'
	}
	return id
}

func (p *parser) header() {
	if !p.isWord(".version") {
		if what, help := mistaken(p.m.Src); what != "" {
			p.Err = &Error{Text: what, Help: help, NotPTX: true}
			return
		}
		if p.Err == nil {
			span := p.tok.Span()
			if span.Len > 40 {
				span.Len = 40
			}
			p.errorAt(span, "a PTX module starts with .version, .target and .address_size", "no .version directive at the start; this is not a PTX module")
		}
		return
	}
	from, word := p.tok.Off, p.tok.End
	p.next()
	major, minor, ok := strings.Cut(p.spelling(), ".")
	sameLine := len(bytes.Trim(p.text[word:p.tok.Off], " \t\r\f")) == 0 // ptxas takes SUB for no space here
	if p.tok.Kind != Number || !ok || !sameLine {
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
	from = p.tok.Off
	for p.next(); ; p.next() {
		if p.tok.Kind != Ident {
			p.expected("a target such as sm_80")
			return
		}
		p.m.Target = append(p.m.Target, Option{p.spelling(), p.tok.Span()})
		if p.next(); !p.is(',') {
			break
		}
	}
	p.m.TargetSpan = p.from(from)

	if p.isWord(".address_size") {
		from = p.tok.Off
		p.next()
		size := p.spelling()
		if size != "32" && size != "64" {
			p.expected("32 or 64")
			return
		}
		p.m.AddressSize, _ = strconv.Atoi(size)
		p.next()
		p.m.AddressSpan = p.from(from)
	}
}

// statement reads one module-scope statement.
func (p *parser) statement() {
	start := p.tok.Off
	if p.tok.Kind != Word {
		if !p.sectionEnd() {
			p.expected("a directive")
		}
		return
	}
	var d Decl
	if results, ok := p.skimHeader(&d); ok {
		p.declared(start, d, p.paramList, results)
		return
	}
	firstUse := int32(len(p.m.Uses))
	p.in = -1
	linkage := Local
	for linkages := 0; ; linkages++ {
		l, ok := linkageOf[p.word()]
		if !ok {
			break
		}
		if linkages > 0 {
			p.errorAt(p.tok.Span(), "keep one of the two", "%s after %s; a declaration has one linkage", p.word(), linkage)
			return
		}
		linkage = l
		if p.next(); p.tok.Kind != Word {
			p.expected("a declaration")
			return
		}
	}
	switch w := p.word(); w {
	case ".func", ".entry":
		p.function(start, linkage)
	case ".global", ".const", ".shared", ".local", ".param", ".reg", ".tex":
		p.variables(start, linkage)
	case ".version", ".target", ".address_size":
		p.errorAt(p.tok.Span(), "these may be several modules written into one file; pass them as separate inputs", "second %s in one module", w)
	case ".file":
		p.m.Files = append(p.m.Files, p.readFile())
	case ".loc":
		if l := p.readLoc(); p.Err == nil {
			p.m.Locs = append(p.m.Locs, l)
		}
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
		p.other(start, firstUse)
	}
}

// sectionEnd reads a label behind a section, with which rustc -g ends it. No ptxas accepts it.
func (p *parser) sectionEnd() bool {
	span := p.tok.Span()
	if p.tok.Kind != Ident || !bytes.HasPrefix(p.text[span.Off:], []byte("$L__sec_end")) || len(p.m.Sections) == 0 && !p.outline {
		return false
	}
	p.next()
	p.m.SectionEnds = append(p.m.SectionEnds, span)
	return p.need(':')
}

var linkageOf = map[string]Linkage{".extern": Extern, ".visible": Visible, ".weak": Weak, ".common": Common}

// readFile reads `.file 1 "a.cu", 1700000000, 1234`.
func (c *cursor) readFile() File {
	f := File{Time: -1, Size: -1, In: -1}
	from := c.tok.Off
	c.next()
	ok := false
	if c.tok.Kind == Number {
		f.Index, ok = ParseInt(c.spelling())
	}
	if !ok {
		c.expected("a file index")
		return f
	}
	if c.next(); c.tok.Kind != String {
		c.expected("a file name in quotes")
		return f
	}
	f.Path = string(c.text[c.tok.Off+1 : c.tok.End-1])
	c.next()
	for _, field := range []*int64{&f.Time, &f.Size} {
		if !c.is(',') {
			break
		}
		c.next()
		*field, ok = ParseInt(c.spelling())
		if !ok {
			c.expected("a number")
			return f
		}
		c.next()
	}
	f.Span = c.from(from)
	return f
}

func (p *parser) pragma() {
	from := p.tok.Off
	p.next()
	textOff := p.tok.Off
	for p.tok.Kind == String || p.is(',') {
		p.next()
	}
	text := p.from(textOff)
	if !p.need(';') {
		return
	}
	p.m.Pragmas = append(p.m.Pragmas, Pragma{p.m.Src.String(text), p.from(from)})
}

func (p *parser) alias() {
	var a Alias
	from := p.tok.Off
	p.next()
	a.Name, a.NameSpan = p.name()
	p.need(',')
	a.Target, a.TargetSpan = p.name()
	p.need(';')
	a.Span = p.from(from)
	if p.Err == nil {
		p.m.Aliases = append(p.m.Aliases, a)
	}
}

// other keeps an unknown statement: up to its semicolon, or to the end of its
// block.
func (p *parser) other(start, firstUse int32) {
	if p.word() == ".noreturn" || TypeSize(p.word()) != 0 {
		p.expected("a declaration")
		return
	}
	for depth := 0; ; p.next() {
		switch {
		case p.tok.Kind == EOF:
			p.expected("the end of the statement")
			return
		case p.tok.Kind == Ident:
			p.use(p.tok.Off, p.text[p.tok.Off:p.tok.End])
		case p.is('{') || p.is('('):
			depth++
		case p.is('}') || p.is(')'):
			if depth--; depth < 0 {
				p.expected("a directive")
				return
			}
		}
		if depth == 0 && (p.is(';') || p.is('}')) {
			p.next()
			p.m.Others = append(p.m.Others, Other{p.from(start), firstUse, int32(len(p.m.Uses))})
			return
		}
	}
}
