package ptx

import (
	"math"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Definition is a name that a module defines for others.
type Definition struct {
	Name    string
	Hash    uint64 // sets.Hash(Name)
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
	if !d.read(src) {
		return nil, false
	}
	return d.list(), true
}

// definer is the state of one call of Definitions. The next call uses its memory again.
type definer struct {
	parser  parser
	module  Module
	memory  scratch
	symbols []defined // numbered by names
	names   sets.Table
}

// defined is what a module declares of one name.
type defined struct {
	name    []byte
	kind    DeclKind
	linkage Linkage
	known   bool // it has a declaration, of this kind
	defines bool
	linked  bool // it is declared as a variable with linkage
}

var definers = sync.Pool{New: func() any { return new(definer) }}

func (d *definer) read(src *diag.Source) bool {
	d.names.Clear()
	clear(d.symbols)
	d.symbols = d.symbols[:0]
	d.module = Module{Src: src}
	d.parser = parser{m: &d.module, outline: true, defines: d, scratch: &d.memory}
	p := &d.parser
	p.begin(src.Text)
	p.module()
	d.aliases(p.m)
	return p.Err == nil
}

func (d *definer) aliases(m *Module) {
	for _, a := range m.Aliases {
		s := d.symbol([]byte(m.Names[a.Name]))
		s.defines = true
		if s.linkage == Extern { // because clang declares an alias .extern first
			s.linkage = Visible
		}
	}
}

// list returns the definitions for others. Their names share one string.
func (d *definer) list() (list []Definition) {
	var text sets.Text
	for i := range d.symbols {
		if s := &d.symbols[i]; s.defines && s.linkage != Local {
			list = append(list, Definition{text.Keep(s.name), d.names.Hash(int32(i)), s.linkage})
		}
	}
	return list
}

// symbol returns the entry of a name, and adds it if it is new.
func (d *definer) symbol(name []byte) *defined {
	hash := sets.HashBytes(name)
	n := d.names.Find(hash, func(n int32) bool { return string(d.symbols[n].name) == string(name) })
	if n < 0 {
		n = d.names.Add(hash)
		d.symbols = append(d.symbols, defined{name: name})
	}
	return &d.symbols[n]
}

// note merges a declaration into the entry of its name. Errors, such as two
// definitions, are reported when the module is parsed.
func (d *definer) note(name []byte, kind DeclKind, linkage Linkage, defines bool) *defined {
	s := d.symbol(name)
	if s.known && s.kind != kind || s.defines && defines {
		return s
	}
	s.linkage = s.linkage.Merge(linkage, defines, s.defines)
	s.kind, s.known, s.defines = kind, true, s.defines || defines
	return s
}
