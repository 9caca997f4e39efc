package object

import (
	"slices"

	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Cubin is the record of machine code among the inputs, which nvlink links with the output. It has
// no text, so it is neither merged nor optimised.
type Cubin struct {
	container.Cubin
	Symbols []container.CubinSymbol
	Locals  []container.CubinSymbol // kernels and functions without linkage; not in Symbols
	// Archived is set for a member of an archive. It is linked only if something needs it;
	// otherwise it is not compared with anything.
	Archived bool
	// Offered is set for code that has not been compiled yet. Its names may stay undefined, and it
	// cannot be linked or compared.
	Offered bool
	// At is the number of inputs with PTX before it, because the first of several weak definitions
	// is linked. Weak definitions in members of archives come last.
	At int
}

// NewCubin returns the record of machine code.
func NewCubin(code container.Cubin) (*Cubin, error) {
	code.Data = container.MendClang(code.Data)
	c := &Cubin{Cubin: code}
	symbols, err := code.AllSymbols()
	for _, s := range symbols {
		switch {
		case !s.Local:
			c.Symbols = append(c.Symbols, s)
		case s.Function:
			c.Locals = append(c.Locals, s)
		}
	}
	return c, err
}

// Place returns the file as a whole.
func (c *Cubin) Place() diag.Place { return diag.InFile(c.Name, 0, 0) }

// Kind returns the kind of declaration that a symbol of a cubin has in PTX.
func Kind(s container.CubinSymbol) ptx.DeclKind {
	switch {
	case s.Entry:
		return ptx.Entry
	case s.Function:
		return ptx.Func
	}
	return ptx.Variable
}

// File returns the definitions of the cubin as a module without text.
func (c *Cubin) File() *File {
	f := &File{}
	f.Module, f.Name = &ptx.Module{Src: c.Place().Source}, c.Name
	for _, s := range slices.Concat(c.Symbols, c.Locals) {
		if !s.Defined {
			continue
		}
		linkage := ptx.Visible
		if s.Local {
			linkage = ptx.Local
		}
		n := int32(len(f.Names))
		f.Names = append(f.Names, s.Name)
		f.Decls = append(f.Decls, ptx.Decl{Kind: Kind(s), Name: ptx.NameID(n), Linkage: linkage})
		f.Symbols = append(f.Symbols, Symbol{Def: n, Decl: n, Alias: -1, Target: -1, Linkage: linkage})
	}
	return f
}
