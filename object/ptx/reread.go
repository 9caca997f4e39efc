package ptx

import "ptxlink/link/diag"

// Reread reads a statement that takes the place of a declaration d of the module, or
// stands before it: a changed function, or a new variable. The result is a module of that
// statement alone, with names of its own: those that the statement uses. They are declared
// before d, or added reports that they are.
func (m *Module) Reread(d *Decl, src *diag.Source, added func(name string) bool) (*Module, *Error) {
	n := &Module{Src: src, Version: m.Version, Target: m.Target, AddressSize: m.AddressSize, ranges: m.ranges}
	n.around = func(name []byte) (string, bool) {
		if id, ok := m.moduleName(name); ok && id < d.known {
			return m.Names[id], true
		}
		return string(name), added(string(name))
	}
	p := &parser{pct: m.percent}
	p.read(n, p.statement)
	if p.Err == nil && p.tok.Kind != EOF {
		p.expected("the end of the statement")
	}
	n.around = nil
	return n, p.Err
}
