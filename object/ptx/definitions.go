package ptx

import (
	"bytes"
	"math"
	"strings"
	"sync"

	"ptxlink/internal/hashed"
	"ptxlink/link/diag"
)

// Definition is a name that a module defines for others.
type Definition struct {
	Name    string
	Hash    uint64 // hashed.String(Name)
	Linkage Linkage
}

// Definitions returns what a module defines for others. It skips the same text as
// Outline. ok is false if there is an error in the rest, which Parse returns.
func Definitions(src *diag.Source) (list []Definition, ok bool) {
	if len(src.Text) >= math.MaxInt32 {
		return nil, false
	}
	d := definers.Get().(*definer)
	defer definers.Put(d)
	if d.read(src, true); d.unusual {
		d.read(src, false)
	}
	if d.Err != nil {
		return nil, false
	}
	return d.list(), true
}

// definer is the state of one call of Definitions. The next call uses its memory again.
type definer struct {
	parser
	module  Module
	memory  scratch
	symbols []defined // numbered by names
	names   hashed.Table
	unusual bool // skim cannot read this module
}

// defined is what a module declares of one name.
type defined struct {
	name    []byte
	kind    DeclKind
	linkage Linkage
	known   bool // it has a declaration, of this kind
	defines bool
}

var definers = sync.Pool{New: func() any { return new(definer) }}

// read reads a module: plain statements byte by byte if skim is set, all others with
// the parser.
func (d *definer) read(src *diag.Source, skim bool) {
	d.names.Clear()
	clear(d.symbols)
	d.symbols, d.unusual = d.symbols[:0], false
	d.module = Module{Src: src}
	d.parser = parser{m: &d.module, outline: true, scratch: &d.memory}
	d.parser.cursor = cursor{Lexer: NewLexer(src.Text, 0)}
	for i := range d.ahead {
		d.ahead[i] = -1
	}
	d.next()
	d.header()
	for d.Err == nil && d.tok.Kind != EOF && !d.unusual {
		if skim && d.skim() {
			continue
		}
		first := len(d.m.Decls)
		d.statement()
		d.unusual = skim && d.linked != nil // what a range a<3> declares depends on the variables before it
		for i := first; i < len(d.m.Decls); i++ {
			decl := &d.m.Decls[i]
			d.note([]byte(d.m.Names[decl.Name]), decl.Kind, decl.Linkage, decl.Defines())
		}
	}
	for _, a := range d.m.Aliases {
		s := d.symbol([]byte(d.m.Names[a.Name]))
		s.defines = true
		if s.linkage == Extern { // clang declares an alias .extern first
			s.linkage = Visible
		}
	}
}

// list returns the definitions for others. Their names share one string.
func (d *definer) list() []Definition {
	count, size := 0, 0
	for i := range d.symbols {
		if s := &d.symbols[i]; s.defines && s.linkage != Local {
			count++
			size += len(s.name)
		}
	}
	if count == 0 {
		return nil
	}
	list := make([]Definition, 0, count)
	var text strings.Builder
	text.Grow(size)
	for i := range d.symbols {
		if s := &d.symbols[i]; s.defines && s.linkage != Local {
			text.Write(s.name)
			name := text.String()[text.Len()-len(s.name):]
			list = append(list, Definition{name, d.names.Hash(int32(i)), s.linkage})
		}
	}
	return list
}

// symbol returns the entry of a name, and adds it if it is new.
func (d *definer) symbol(name []byte) *defined {
	hash := hashed.Bytes(name)
	n := d.names.Find(hash, func(n int32) bool { return string(d.symbols[n].name) == string(name) })
	if n < 0 {
		n = d.names.Add(hash)
		d.symbols = append(d.symbols, defined{name: name})
	}
	return &d.symbols[n]
}

// note merges a declaration into the entry of its name. Errors, such as two
// definitions, are reported when the module is parsed.
func (d *definer) note(name []byte, kind DeclKind, linkage Linkage, defines bool) {
	s := d.symbol(name)
	if s.known && s.kind != kind || s.defines && defines {
		return
	}
	s.linkage = s.linkage.Merge(linkage, defines, s.defines)
	s.kind, s.known, s.defines = kind, true, s.defines || defines
}

// skim reads a plain declaration of a function or of one variable. It returns false,
// and does nothing, if anything else or a comment is in it.
func (d *definer) skim() bool {
	if d.tok.Kind != Word {
		return false
	}
	s := scan{text: d.text, at: int(d.tok.Off), ok: true}
	linkage := Local
	w := s.word()
	switch string(s.bytes(w)) {
	case ".extern":
		linkage = Extern
	case ".visible":
		linkage = Visible
	case ".weak":
		linkage = Weak
	}
	if linkage != Local {
		w = s.word()
	}
	switch string(s.bytes(w)) {
	case ".func":
		return d.skimFunction(&s, Func, linkage)
	case ".entry":
		return d.skimFunction(&s, Entry, linkage)
	case ".global", ".const", ".shared":
		return d.skimVariable(&s, linkage)
	}
	return false
}

func (d *definer) skimFunction(s *scan, kind DeclKind, linkage Linkage) bool {
	if s.is('(') {
		d.skipParams(s)
	}
	name := s.name(false)
	if s.is('(') {
		d.skipParams(s)
	}
	body := s.is('{')
	if !body {
		s.need(';')
	}
	if !s.ok || body && linkage == Extern {
		return false
	}
	d.note(s.bytes(name), kind, linkage, body)
	if d.passed(s); body {
		d.block(bodyStops, "'}' of the function")
	} else {
		d.next()
	}
	return true
}

// skipParams finds the end of a parameter list.
func (d *definer) skipParams(s *scan) {
	end := bytes.IndexByte(s.text[s.at:], ')')
	if end < 0 {
		s.ok = false
		return
	}
	list := s.text[s.at : s.at+end]
	s.ok = s.ok && d.ahead.next(s.text, s.at, quoteStops) >= s.at+end && bytes.IndexByte(list, '(') < 0 && bytes.IndexByte(list, ';') < 0
	s.at += end + 1
}

func (d *definer) skimVariable(s *scan, linkage Linkage) bool {
	w := s.word()
	if string(s.bytes(w)) == ".align" {
		n, _ := s.number()
		s.ok = s.ok && n > 0 && n&(n-1) == 0
		w = s.word()
	}
	s.ok = s.ok && TypeSize(words[string(s.bytes(w))]) != 0
	name := s.name(false)
	for s.ok && s.is('[') {
		s.number()
		s.need(']')
	}
	value := s.ok && s.is('=')
	if value {
		s.need('{')
	} else {
		s.need(';')
	}
	if !s.ok {
		return false
	}
	d.note(s.bytes(name), Variable, linkage, linkage != Extern)
	if d.passed(s); value {
		d.block(valueStops, "'}' of the initial value")
		d.unusual = !d.is(';') // another variable
	}
	d.next()
	return true
}

// passed makes the last byte that s has read the current token.
func (d *definer) passed(s *scan) {
	d.at = s.at
	d.tok = Token{Kind: Punct, Ch: s.text[s.at-1], Off: int32(s.at - 1), End: int32(s.at)}
}
