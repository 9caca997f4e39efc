// Package abicheck, of use to this module only, compares declarations: whether two of one
// symbol describe the same call or object, and whether inputs can share a host.
package abicheck

import (
	"fmt"
	"slices"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Symbols compares every declaration of every external symbol with the
// definition that the link chose, or with the first declaration if there is
// none, and reports all differences.
func Symbols(t *resolve.Table, log *diag.Log) {
	c := checker{t: t, log: log}
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Uniform {
			continue
		}
		ref := s.Main()
		for _, id := range s.Mentions {
			if id != ref && !t.Clash(id, ref) {
				c.compare(s, id, ref)
			}
		}
	}
	for i, f := range t.Files {
		for k := range f.Aliases {
			if a := &f.Aliases[k]; t.Chosen(object.ID{File: int32(i), Name: a.Name}) {
				c.aliasTarget(f, a)
			}
		}
		c.withinModule(f)
	}
}

type checker struct {
	t       *resolve.Table
	log     *diag.Log
	aliases map[*ptx.Decl]bool // made on first need

	// The headers and the body read last, because a message needs the places in them, and there may
	// be many messages about one function.
	headers [2]header
	body    *ptx.Code
	bodyOf  *ptx.Decl
	at      map[int32]ptx.Statement // of body, by the place of its opcode
}

type header struct {
	of     *ptx.Decl
	params []ptx.Param
}

// params reads the header of a function again, because its Signature has no places.
func (c *checker) params(s side) []ptx.Param {
	for _, h := range c.headers {
		if h.of == s.decl {
			return h.params
		}
	}
	c.headers[0] = c.headers[1]
	c.headers[1] = header{s.decl, s.file.Params(s.decl)}
	return c.headers[1].params
}

// operands reads the operands of a call again, because its Signature has no places.
func (c *checker) operands(f *object.File, call *ptx.Call) []ptx.CallOperand {
	if d := &f.Decls[call.In]; c.bodyOf != d {
		c.body, c.bodyOf = f.Code(d), d
		c.at = make(map[int32]ptx.Statement)
		for _, st := range c.body.Statements {
			c.at[c.body.Tokens[st.Op].Off] = st
		}
	}
	return c.body.CallOperands(c.at[call.Span.Off])
}

// declOf returns the declaration of an ID, or of its target for an alias without a declaration. It
// returns nil if there is neither.
func (c *checker) declOf(id object.ID) *ptx.Decl {
	f := c.t.Files[id.File]
	if d := f.DeclOf(id.Name); d != nil || f.Symbols[id.Name].Target < 0 {
		return d
	}
	return f.DeclOf(f.Symbols[id.Name].Target)
}

// side is one of two declarations being compared.
type side struct {
	file *object.File
	decl *ptx.Decl
}

func (s side) at(span diag.Span) diag.Place { return s.file.At(span) }

// where and note describe the second side of a comparison.
func (s side) where() string { return "where it is " + s.verb() }
func (s side) note() string  { return s.verb() + " here" }

func (s side) verb() string {
	if s.decl.Defines() {
		return "defined"
	}
	return "first declared"
}

func (c *checker) compare(s *resolve.Symbol, id, ref object.ID) {
	a := side{c.t.Files[id.File], c.declOf(id)}
	b := side{c.t.Files[ref.File], c.declOf(ref)}
	if a.decl == nil || b.decl == nil {
		return
	}
	if a.decl.Kind != b.decl.Kind {
		help := "rename one of the two"
		if a.decl.Kind != ptx.Variable && b.decl.Kind != ptx.Variable {
			help = "if nothing calls it, declare it a kernel (__global__, .entry) in both modules; otherwise rename one of the two"
		}
		c.log.Error(diag.SymbolKind, a.at(a.decl.NameSpan), fmt.Sprintf("%s is %s here but %s %s", c.log.Name(s.Name), a.decl.Kind.A(), b.decl.Kind.A(), b.where())).Of(s.Name).
			Note(b.at(b.decl.NameSpan), b.note()).
			WithHelp(help)
		return
	}
	switch {
	case a.decl.Kind == ptx.Variable:
		c.object(s.Name, a, b)
	case s.Open && slices.Contains(inDriver, s.Name): // because SystemCalls compares both with the driver
	case !a.decl.Signature.Same(b.decl.Signature) || len(a.decl.Attrs)+len(b.decl.Attrs) > 0:
		c.prototype(s.Name, a, b)
	}
}

func (c *checker) withinModule(f *object.File) {
	for i := range f.Decls {
		d, ref := &f.Decls[i], f.DeclOf(f.Decls[i].Name)
		switch {
		case d == ref || d.Kind != ref.Kind:
		case d.Kind == ptx.Variable:
			c.object(f.Names[d.Name], side{f, d}, side{f, ref})
		default:
			c.prototype(f.Names[d.Name], side{f, d}, side{f, ref})
		}
	}
}

// aliasTarget checks the rules of ptxas for an alias: its target is a function that
// is defined in the same module and not weak.
func (c *checker) aliasTarget(f *object.File, a *ptx.Alias) {
	name := c.log.Name(f.Names[a.Name])
	sym, target := f.Symbols[a.Name], f.Symbols[a.Target]
	switch {
	case sym.Decl < 0:
		c.log.Error(diag.Alias, f.At(a.NameSpan), name+" is an alias but is not declared").Of(f.Names[a.Name]).
			WithHelp("declare it with the prototype of its target before the .alias")
	case sym.Target < 0:
		c.log.Error(diag.AliasTarget, f.At(a.NameSpan), name+" is an alias of itself").Of(f.Names[a.Name]).
			WithHelp("an alias must lead to a function that the module defines (PTX ISA, .alias)")
	case !target.Defined() && !target.Exported() && target.Decl >= 0: // because resolve has reported it
	case !target.Defined():
		c.log.Error(diag.AliasTarget, f.At(a.TargetSpan), "alias to "+c.log.Name(f.Names[a.Target])+", which this module does not define").Of(f.Names[a.Target]).
			WithHelp("an alias and its target must be in one module (PTX ISA, .alias)")
	case target.Linkage == ptx.Weak:
		c.log.Error(diag.AliasTarget, f.At(a.TargetSpan), "alias to "+c.log.Name(f.Names[a.Target])+", which is .weak").Of(f.Names[a.Target]).
			Note(f.NamePlace(a.Target), "defined here").
			WithHelp("ptxas takes no alias to a weak function (PTX ISA, .alias)")
	}
}
