package abicheck

import (
	"fmt"

	"ptxlink/abicheck/ctype"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Conventions reports prototypes and calls that break the rules for ABI calls (PTX
// Interoperability 2 and 2.3, notes A to E):
//
//  1. PTX before 2.0 has no ABI calls.
//  2. Integers below 32 bits are passed as 32 bits; ptxas refuses the call.
//  3. 16-bit floats are for storage only; ptxas accepts them, so this is a warning.
//  4. Alignments go up to 128 bytes.
//  5. Textures, samplers and surfaces are passed to functions as 64-bit handles.
func Conventions(t *resolve.Table, log *diag.Log) {
	var suspects []resolve.DeclID // functions that convention must look at
	for i, f := range t.Files {
		if len(f.Calls) > 0 && f.Version.Less(ptx.Version{Major: 2}) {
			log.Error(diag.NoABICalls, f.At(f.Calls[0].Target), fmt.Sprintf("call in PTX %s, which has no ABI calls", f.Version)).
				Note(f.At(f.VersionSpan), "version here").
				WithHelp("recompile the module for PTX 2.0 or later (PTX Interoperability 2)")
		}
		for d := range f.Decls {
			if decl := &f.Decls[d]; decl.Kind == ptx.Func && !conventional(decl.Signature) {
				suspects = append(suspects, resolve.DeclID{File: int32(i), Decl: int32(d)})
			}
		}
	}
	if len(suspects) == 0 {
		return
	}
	called := calledNames(t)
	for _, at := range suspects {
		f := t.Files[at.File]
		decl := &f.Decls[at.Decl]
		isCalled := called[at.File][decl.Name] && f.Symbols[decl.Name].Decl == at.Decl
		params, results := f.Params(decl), len(decl.Signature.Results)
		for i := range params[results:] {
			convention(f, decl, &params[results+i], isCalled, log)
		}
		for i := range params[:results] {
			convention(f, decl, &params[i], isCalled && i > 0, log)
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

// conventional reports whether convention has nothing to say of any function with the
// signature.
func conventional(s *ptx.Signature) bool {
	for i := range s.Len() {
		t := s.At(i)
		usual := t.Word == ".b8" && t.Array || t.Word == ".b32" || t.Word == ".b64" || t.Word == ".f32" || t.Word == ".f64" || t.Word == ".u32" || t.Word == ".u64"
		if !usual || t.Align > ctype.MaxParamAlign {
			return false
		}
	}
	return true
}

// convention checks a parameter, or the result of a function. narrow reports whether
// an integer below 32 bits is an error.
func convention(f *object.File, d *ptx.Decl, p *ptx.Param, narrow bool, log *diag.Log) {
	name := func() string { return log.Name(f.Names[d.Name]) } // demangling is slow
	switch {
	case p.Space != ".param":
	case ptx.Opaque(p.Word):
		log.Error(diag.OpaqueParam, f.At(p.Span), fmt.Sprintf("%s takes a %s, which only an entry can", name(), p.Word)).Of(f.Names[d.Name]).
			WithHelp("pass the 64-bit handle as a .b64 (PTX Interoperability 2.3, note E)")
	case p.Alignment() > ctype.MaxParamAlign:
		log.Error(diag.ParamAlign, f.At(p.Span), fmt.Sprintf("%s has a parameter aligned to %d, and %d is the most", name(), p.Alignment(), ctype.MaxParamAlign)).Of(f.Names[d.Name]).
			WithHelp("pass a pointer to it (PTX Interoperability 2.3, note D)")
	case p.Array || p.Vector > 0:
	case p.Word == ".f16" || p.Word == ".bf16":
		log.Warn(diag.ABI, f.At(p.Span), fmt.Sprintf("%s passes a %s, a type that is for storage only", name(), p.Word)).Of(f.Names[d.Name]).
			WithHelp("pass it as .b32, or in a structure of two bytes (PTX Interoperability 2.3, note C)")
	case narrow && p.ElementSize() < 4 && ptx.TypeSize(p.Word) != 0:
		log.Error(diag.NarrowParam, f.At(p.Span), fmt.Sprintf("%s takes a %s and is called; integers below 32 bits are passed as 32 bits", name(), p.Word)).Of(f.Names[d.Name]).
			WithHelp("declare it .b32 in every module (PTX Interoperability 2.3, note A)")
	}
}
