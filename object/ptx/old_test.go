package ptx

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"ptxlink/internal/hashed"
	"ptxlink/link/diag"
)

// The reader of the releases before, which makes tokens of everything. It serves one
// release as the oracle of the fuzzers, FuzzParse and FuzzSection, in the files old*_test.go,
// then goes.

// oldParse reads one module.
func oldParse(src *diag.Source) (*Module, *Error) { return oldRead(src, &oldParser{}) }

// oldParams reads the results and then the parameters of a function.
func oldParams(m *Module, d *Decl) []Param {
	if d.Kind == Variable {
		return nil
	}
	p := oldParser{m: m}
	p.oldCursor = oldCursor{oldLexer: newOldLexer(m.Src.Text[:d.Header.End()], d.Header.Off)}
	p.next()
	list, _ := p.functionHeader(&Decl{})
	return list
}

// oldCode reads the body of a function or the initial value of a variable.
func oldCode(m *Module, d *Decl) *Code {
	b := oldBuild(m, d)
	if b == nil {
		return nil
	}
	return b.Code
}

// oldSections reads every section of a module, like AllSections.
func oldSections(m *Module) (map[string]*Data, *Error) {
	set := oldSectionSet{m: m}
	all := map[string]*Data{}
	for i := range m.Sections {
		name := m.Sections[i].Name
		if all[name] != nil {
			continue
		}
		data, err := set.data(name)
		if err != nil {
			return nil, err
		}
		all[name] = &data
	}
	for name, data := range all {
		if len(data.Bytes) == 0 {
			delete(all, name)
		}
	}
	return all, nil
}

func oldRead(src *diag.Source, p *oldParser) (*Module, *Error) {
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
func (p *oldParser) read(m *Module, statements func()) {
	text := m.Src.Text
	p.oldCursor = oldCursor{oldLexer: newOldLexer(text, 0)}
	p.m = m
	p.next()
	statements()
	p.m.clip()
}

type oldParser struct {
	oldCursor
	m *Module
	// pct is set once a module-scope name starts with %; before that, registers are
	// skipped without a lookup.
	pct bool
	// in is the declaration being parsed, -1 outside.
	in int32

	code      oldReader // of the body being read
	buffer    []Token   // for its tokens
	paramList []Param   // of the function being read
	signatures
	listed   int64           // variables of all ranges so far
	linked   map[NameID]bool // variables with linkage so far; nil before the first range
	firstUse int             // index in Uses for the current statement
	// arrays says how indices on the arrays among the first seen declarations count.
	arrays map[NameID]Index
	seen   int
}

// name reads a module-scope name, and adds it if it is new.
func (p *oldParser) name() (NameID, diag.Span) {
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

func (p *oldParser) named(s []byte) NameID {
	id, ok := p.m.find(s)
	if !ok {
		id = p.m.addName(hashed.Bytes(s), s)
		p.pct = p.pct || s[0] == '%'
	}
	return id
}

func (p *oldParser) header() {
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
func (p *oldParser) statement() {
	start := p.tok.Off
	if p.tok.Kind != Word {
		if !p.sectionEnd() {
			p.expected("a directive")
		}
		return
	}
	firstUse := int32(len(p.m.Uses))
	p.in = -1
	linkage := Local
	for linkages := 0; ; linkages++ {
		l := linkageOf(p.word())
		if l == Local {
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
func (p *oldParser) sectionEnd() bool {
	span := p.tok.Span()
	if p.tok.Kind != Ident || !bytes.HasPrefix(p.text[span.Off:], []byte("$L__sec_end")) || len(p.m.Sections) == 0 {
		return false
	}
	p.next()
	p.m.SectionEnds = append(p.m.SectionEnds, span)
	return p.need(':')
}

// readFile reads `.file 1 "a.cu", 1700000000, 1234`.
func (c *oldCursor) readFile() File {
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

func (p *oldParser) pragma() {
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

func (p *oldParser) alias() {
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
func (p *oldParser) other(start, firstUse int32) {
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

// section reads a .section block. Its names may be declared later, so they are kept
// as references for the linker to resolve.
func (p *oldParser) section() {
	from := p.tok.Off
	p.next()
	if p.tok.Kind != Word && p.tok.Kind != Ident {
		p.expected("a section name")
		return
	}
	s := Section{Name: p.word()}
	if p.tok.Kind == Ident {
		s.Name = p.spelling()
	}
	if p.next(); !p.is('{') {
		p.expected("'{'")
		return
	}
	s.Body.Off = p.tok.End
	for p.next(); !p.is('}'); {
		switch {
		case p.tok.Kind == EOF:
			p.expected("'}' of the section")
			return
		case p.is('{'):
			p.expected("data or '}' of the section")
			return
		case p.tok.Kind == Ident:
			span := p.tok.Span()
			if p.next(); p.is(':') {
				s.Labels = append(s.Labels, span)
				p.next()
			} else {
				s.Refs = append(s.Refs, Ref{span, p.m.sectionNames.add(p.text[span.Off:span.End()])})
			}
			continue
		}
		p.next()
	}
	s.Body.Len = p.tok.Off - s.Body.Off
	p.next()
	s.Span = p.from(from)
	p.m.Sections = append(p.m.Sections, s)
}
