package abicheck

import (
	"fmt"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// object reports how two declarations of a variable differ. Element types are
// not compared, because gcc writes .u64 x[4] for what clang calls .b8 x[32], and no instruction
// depends on it.
func (c *checker) object(name string, a, b side) {
	x, y := a.decl, b.decl
	switch {
	case x.Space != y.Space:
		c.log.Error(diag.VarSpace, a.at(x.SpaceSpan), fmt.Sprintf("%s is in %s here but in %s %s", c.log.Name(name), x.Space, y.Space, b.where())).Of(name).
			Note(b.at(y.SpaceSpan), b.note()).
			WithHelp("loads and stores of one of the two modules would go to the wrong memory; make the declarations agree")
		return
	case ptx.Opaque(x.Word) != ptx.Opaque(y.Word) || ptx.Opaque(x.Word) && x.Word != y.Word:
		c.log.Error(diag.VarType, a.at(x.WordSpan), fmt.Sprintf("%s is a %s here but a %s %s", c.log.Name(name), x.Word, y.Word, b.where())).Of(name).
			Note(b.at(y.WordSpan), b.note()).
			WithHelp("make the declarations agree")
		return
	case a.file != b.file && attribute(x) != attribute(y): // because ptxas ignores it within one module
		c.log.Error(diag.VarAttribute, a.at(x.NameSpan), fmt.Sprintf("%s is %s here but %s %s", c.log.Name(name), attributeBeside(x, y), attributeBeside(y, x), b.where())).Of(name).
			Note(b.at(y.NameSpan), b.note()).
			WithHelp("make the declarations agree")
		return
	}
	if sizesAgree(x, y) {
		if a.file != b.file && resolve.DynamicShared(x) && y.Defines() && y.Size() > 0 && a.file.Symbols[x.Name].Uses > 0 {
			c.log.Warn(diag.DynamicShared, a.at(x.NameSpan), fmt.Sprintf("%s is declared as dynamic shared memory here, but %s defines it with %d bytes", c.log.Name(name), b.file.Name, y.Size())).Of(name).
				Note(b.at(y.NameSpan), b.note()).
				WithHelp("rename one of the two, unless both are meant to be one array")
		} else if a.file != b.file && !x.Defines() && !y.Defines() && resolve.DynamicShared(x) != resolve.DynamicShared(y) {
			if resolve.DynamicShared(x) {
				a, b, x, y = b, a, y, x
			}
			c.log.Warn(diag.DynamicShared, a.at(x.NameSpan), fmt.Sprintf("%s is declared with %d bytes here, but as dynamic shared memory in %s: the launch sets its size", c.log.Name(name), x.Size(), b.file.Name)).Of(name).
				Note(b.at(y.NameSpan), "declared here").
				WithHelp("if the launch sets the size, declare it without one; otherwise define the array in one module, without .extern")
		}
		return
	}
	where := b.where()
	if x.Defines() && y.Defines() {
		where = "in " + b.file.Name + ", whose definition is used"
	}
	help := remedy(a, b, "declaration")
	if x.Linkage == ptx.Common && y.Init.Len > 0 {
		help = "the module with the initial value must declare the largest size"
	}
	if a.file.Language() == object.CXX && !x.Defines() && x.Dims.Len == 0 && y.Dims.Len > 0 && x.Size() == int64(a.file.AddressSize/8) {
		help = fmt.Sprintf("an array is not a pointer: if the source declares *%[1]s here, write %[1]s[] instead; otherwise %[2]s", c.log.Demangle(name), help)
	}
	c.log.Error(diag.VarSize, a.at(x.Declared), fmt.Sprintf("%s has %d bytes here but %d %s", c.log.Name(name), x.Size(), y.Size(), where)).Of(name).
		Note(b.at(y.Declared), b.note()).
		WithHelp(help)
}

func attribute(d *ptx.Decl) string {
	switch {
	case d.Managed:
		return ".managed"
	case d.Unified:
		return ".unified"
	}
	return ""
}

// attributeBeside describes d where another declaration is something else.
func attributeBeside(d, other *ptx.Decl) string {
	if a := attribute(d); a != "" {
		return a
	}
	return "not " + attribute(other)
}

// sizesAgree reports whether the declaration x is compatible with y, the one that
// counts: [] matches every size, and a .common matches any that is not smaller.
func sizesAgree(x, y *ptx.Decl) bool {
	sx, sy := x.Size(), y.Size()
	switch {
	case x.Unsized || y.Unsized || sx < 0 || sy < 0:
		return true
	case x.Linkage == ptx.Common && y.Defines():
		return sx <= sy
	}
	return sx == sy
}

// Alignment returns the alignment in bytes of the object in the output: the largest
// that any module declares, since its vector loads rely on it. by is the mention
// that requires it, -1 if the definition does.
func Alignment(t *resolve.Table, s *resolve.Symbol) (align int64, by int) {
	by = -1
	if s.Defined() {
		if d := t.Files[s.Def.File].DeclOf(s.Def.Name); d != nil && d.Kind == ptx.Variable {
			align = d.Alignment()
		}
	}
	for i, id := range s.Mentions {
		if a := t.Files[id.File].Symbols[id.Name].Align; a > align {
			align, by = a, i
		}
	}
	return align, by
}

// Alignments warns about definitions that must be raised to the alignment that
// another module declares. ptxas and nvlink do not check it, and the vector loads
// of that module then trap.
func Alignments(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Defined() || s.Uniform {
			continue
		}
		def := t.Files[s.Def.File].DeclOf(s.Def.Name)
		if def == nil || def.Kind != ptx.Variable {
			continue
		}
		align, by := Alignment(t, s)
		if by < 0 {
			continue
		}
		id := s.Mentions[by]
		if d := t.Files[id.File].DeclOf(id.Name); d != nil && !sizesAgree(d, def) { // var-size reports both
			continue
		}
		log.Warn(diag.Align, t.Files[id.File].NamePlace(id.Name), fmt.Sprintf("%s is aligned to %d here but to %d where it is defined; raised to %d", log.Name(s.Name), align, def.Alignment(), align)).Of(s.Name).
			Note(t.Files[s.Def.File].At(def.NameSpan), "defined here")
	}
}
