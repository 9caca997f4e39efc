package abicheck

import (
	"fmt"

	"ptxlink/internal/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// object reports how two declarations of a variable differ. Element types are
// not compared: gcc writes .u64 x[4] for what clang calls .b8 x[32], and no
// instruction depends on it.
func (c *checker) object(name string, a, b side) {
	x, y := a.decl, b.decl
	switch {
	case x.Space != y.Space:
		c.log.Error(a.at(x.SpaceSpan), fmt.Sprintf("%s is in %s here but in %s %s", diag.Name(name), x.Space, y.Space, b.where())).
			Note(b.at(y.SpaceSpan), b.note()).
			WithHelp("loads and stores of one of the two modules would go to the wrong memory; make the declarations agree")
		return
	case ptx.Opaque(x.Word) != ptx.Opaque(y.Word) || ptx.Opaque(x.Word) && x.Word != y.Word:
		c.log.Error(a.at(x.WordSpan), fmt.Sprintf("%s is a %s here but a %s %s", diag.Name(name), x.Word, y.Word, b.where())).
			Note(b.at(y.WordSpan), b.note()).
			WithHelp("make the declarations agree")
		return
	case x.Managed != y.Managed && a.file != b.file: // ptxas passes over it within one module
		c.log.Error(a.at(x.NameSpan), fmt.Sprintf("%s is %s here but %s %s", diag.Name(name), managed(x), managed(y), b.where())).
			Note(b.at(y.NameSpan), b.note()).
			WithHelp("make the declarations agree")
		return
	}
	if c.sizesAgree(x, y) {
		return
	}
	where := b.where()
	if x.Defines() && y.Defines() {
		where = "in " + b.file.Name + ", whose definition is used"
	}
	c.log.Error(a.at(x.Declared), fmt.Sprintf("%s has %d bytes here but %d %s", diag.Name(name), x.Size(), y.Size(), where)).
		Note(b.at(y.Declared), b.note()).
		WithHelp("rebuild the module that saw the old declaration")
}

func managed(d *ptx.Decl) string {
	if d.Managed {
		return ".managed"
	}
	return "not .managed"
}

// sizesAgree says whether the declaration x goes with y, the one that counts:
// [] goes with every size, and a .common gives way to what is not smaller.
func (c *checker) sizesAgree(x, y *ptx.Decl) bool {
	sx, sy := x.Size(), y.Size()
	switch {
	case x.Unsized || y.Unsized || sx < 0 || sy < 0:
		return true
	case x.Linkage == ptx.Common && y.Defines():
		return sx <= sy
	}
	return sx == sy
}

// Alignment is the alignment in bytes that the object must have in the output:
// the largest that any module declares, since its vector loads rely on it. The
// second result is the mention that asks for it, -1 if the definition does.
func Alignment(t *resolve.Table, s *resolve.Symbol) (align int64, by int) {
	by = -1
	if s.Defined() {
		if d := t.Files[s.Def.File].DeclOf(s.Def.Name); d != nil {
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
// another module declares. ptxas and nvlink pass over it, and the vector loads
// of that module then trap.
func Alignments(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Defined() {
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
		log.Warn("align", t.Files[id.File].NamePlace(id.Name), fmt.Sprintf("%s is aligned to %d here but to %d where it is defined; raised to %d", diag.Name(s.Name), align, def.Alignment(), align)).
			Note(t.Files[s.Def.File].At(def.NameSpan), "defined here")
	}
}
