package abicheck

import (
	"fmt"
	"slices"

	"ptxlink/abicheck/ctype"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Conventions reports prototypes and calls that break the rules for ABI calls (PTX
// Interoperability 2 and 2.3, notes A to E):
//
//  1. PTX before 2.0 has no ABI calls.
//  2. Integers below 32 bits are passed as 32 bits; ptxas refuses the call.
//  3. 16-bit floats are for storage only; this is only a warning, because ptxas accepts them.
//  4. Alignments go up to 128 bytes.
//  5. Textures, samplers and surfaces are passed to functions as 64-bit handles.
func Conventions(t *resolve.Table, log *diag.Log) {
	for _, f := range t.Files {
		if len(f.Calls) > 0 && f.Version.Less(ptx.Version{Major: 2}) {
			log.Error(diag.NoABICalls, f.At(f.Calls[0].Target), fmt.Sprintf("call in PTX %s, which has no ABI calls", f.Version)).
				Note(f.At(f.VersionSpan), "version here").
				WithHelp("recompile the module for PTX 2.0 or later (PTX Interoperability 2)")
		}
	}
	c, called := checker{t: t, log: log}, [][]bool(nil)
	for file, f := range t.Files {
		for i := range f.Decls {
			d := &f.Decls[i]
			if d.Kind != ptx.Func {
				continue
			}
			isCalled := func() bool {
				if called == nil {
					called = calledNames(t)
				}
				return called[file][d.Name] && f.Symbols[d.Name].Decl == int32(i)
			}
			results, n := len(d.Signature.Results), d.Signature.Len()
			for at := range n {
				c.convention(side{f, d}, (results+at)%n, isCalled) // the parameters first
			}
		}
	}
}

// calledNames returns, by file and name, the definitions that direct calls lead to, or
// the first declarations if there are none.
func calledNames(t *resolve.Table) [][]bool {
	called := make([][]bool, len(t.Files))
	for i, f := range t.Files {
		called[i] = make([]bool, len(f.Names))
	}
	for i, f := range t.Files {
		for n := range f.Calls {
			if call := &f.Calls[n]; call.Use >= 0 {
				id := t.Main(object.ID{File: int32(i), Name: f.Uses[call.Use].Name})
				called[id.File][id.Name] = true
			}
		}
	}
	return called
}

// convention checks a parameter or result of a function, an index of Signature.At. Where the
// function is called, an integer below 32 bits is an error, except as its only result.
func (c *checker) convention(s side, at int, called func() bool) {
	p, log, plain := s.decl.Signature.At(at), c.log, s.file.Names[s.decl.Name]
	name := func() string { return log.Name(plain) } // a function, because demangling is slow
	place := func() diag.Place { return s.at(c.params(s)[at].Span) }
	switch {
	case p.Space != ".param":
	case ptx.Opaque(p.Word):
		log.Error(diag.OpaqueParam, place(), fmt.Sprintf("%s takes a %s, which only an entry can", name(), p.Word)).Of(plain).
			WithHelp("pass the 64-bit handle as a .b64 (PTX Interoperability 2.3, note E)")
	case p.Alignment() > ctype.MaxParamAlign:
		log.Error(diag.ParamAlign, place(), fmt.Sprintf("%s has a parameter aligned to %d, and %d is the most", name(), p.Alignment(), ctype.MaxParamAlign)).Of(plain).
			WithHelp("pass a pointer to it (PTX Interoperability 2.3, note D)")
	case p.Array || p.Vector > 0:
	case p.Word == ".f16":
		log.Warn(diag.ABI, place(), name()+" passes a .f16, a type that is for storage only").Of(plain).
			WithHelp("pass it as .b32, or in a structure of two bytes (PTX Interoperability 2.3, note C)")
	case slices.Contains([]string{".u8", ".s8", ".u16", ".s16"}, p.Word) && called():
		verb := "takes"
		if at < len(s.decl.Signature.Results) {
			verb = "returns"
		}
		log.Error(diag.NarrowParam, place(), fmt.Sprintf("%s %s a %s and is called; integers below 32 bits are passed as 32 bits", name(), verb, p.Word)).Of(plain).
			WithHelp("declare it .b32 in every module (PTX Interoperability 2.3, note A)")
	}
}
