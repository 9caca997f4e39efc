package ptx

import "ptxlink/object/diag"

// Scope describes what surrounds statements that are read alone, without the rest of their module:
// functions that were changed, or new variables.
type Scope struct {
	Version     Version
	AddressSize int
	// Percent is set if a module-scope name starts with %.
	Percent bool
	// Declared returns the module-scope name that a spelling means, if it is declared
	// before the statements.
	Declared func(spelling []byte) (name string, ok bool)
}

// Read reads statements. The result is a module of these statements alone. Its names are the names
// that they declare and use.
func (s Scope) Read(src *diag.Source) (*Module, *Error) {
	m := &Module{Src: src, Version: s.Version, AddressSize: s.AddressSize, around: s.Declared}
	p := &parser{pct: s.Percent}
	p.read(m, p.statements)
	m.around = nil
	return m, p.Err
}
