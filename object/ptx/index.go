package ptx

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Index is an operand like x[2] or x[%r1+2] of an instruction, on a variable of the
// module. ptxas counts in the unit of the declaration before the body, so the operand keeps its
// meaning only if that declaration stays before it.
type Index struct {
	Use int32 // index in Uses of the variable
	// Stride is the number of bytes that the index counts in: the size of the type word
	// of the variable, whatever its vector and dimensions, but 1 if no declaration
	// before the body gives the array a size (testdata/script/index_stride.txtar).
	Stride int64
	Shared bool
}

// index records the last use, which an index follows. Arrays of types that we do not
// know have none, and ptxas refuses an index on anything else.
func (p *parser) index() {
	for ; p.seen < len(p.m.Decls); p.seen++ {
		d := &p.m.Decls[p.seen]
		if d.Kind != Variable || !d.Array {
			continue
		}
		if _, known := p.arrays[d.Name]; d.Size() != 0 {
			sets.Put(&p.arrays, d.Name, Index{Stride: TypeSize(d.Word), Shared: d.Space == ".shared"})
		} else if !known {
			sets.Put(&p.arrays, d.Name, Index{Stride: 1, Shared: d.Space == ".shared"})
		}
	}
	use := len(p.m.Uses) - 1
	if x := p.arrays[p.m.Uses[use].Name]; x.Stride > 0 {
		x.Use = int32(use)
		p.m.Indices = append(p.m.Indices, x)
	}
}

// IndicesIn returns the indices in the body of a declaration.
func (m *Module) IndicesIn(d *Decl) []Index {
	at := func(use int32) int {
		return sort.Search(len(m.Indices), func(i int) bool { return m.Indices[i].Use >= use })
	}
	return m.Indices[at(d.FirstUse):at(d.EndUse)]
}

// OffsetEdits adds the edits that replace the indices in a body by offsets in bytes,
// which mean the same after any declaration: x[2] becomes [x+8] as an address, and x+8 in mov. The
// edits that are there already may rename the operands.
func (m *Module) OffsetEdits(edits []Edit, d *Decl) []Edit {
	indices := m.IndicesIn(d)
	if len(indices) == 0 {
		return edits
	}
	SortEdits(edits)
	o := offsetter{Code: m.Code(d), others: edits}
	for _, x := range indices {
		o.replace(m.Uses[x.Use].Off, x)
	}
	return append(o.edits, edits...) // in front, because the first edit at a place counts
}

type offsetter struct {
	*Code
	others []Edit // sorted
	edits  []Edit
}

// indexed is an operand with an index in brackets.
type indexed struct {
	st        Statement
	name, end int32 // the token of the name, and the token after the bracket
	Index
}

func (o *offsetter) replace(off int32, index Index) {
	name := int32(sort.Search(len(o.Tokens), func(i int) bool { return o.Tokens[i].Off >= off }))
	st := o.Statements[sort.Search(len(o.Statements), func(i int) bool { return o.Statements[i].End > name })]
	x := indexed{st: st, name: name, end: name + 3, Index: index}
	for ; !o.Tokens[x.end-1].isPunct(']'); x.end++ {
		if x.end == st.End || o.Tokens[x.end-1].isPunct('[') {
			return // because ptxas refuses it, and an empty index
		}
	}
	if x.end-1 == name+2 {
		return
	}
	open, closed := "", ""
	switch o.Opcode(st) {
	case "ld", "ldu", "st":
		open, closed = "[", "]"
	}
	if first := o.Tokens[name+2]; first.Kind == Ident && string(o.Text(first)) != "WARP_SZ" {
		if x.end == name+4 || o.Tokens[name+3].isPunct('+') && x.end > name+5 { // because ptxas refuses all but x[r] and x[r+1]
			o.edits = append(o.edits, Edit{o.span(name, x.end), open + o.compute(x) + closed})
		}
		return
	}
	// The name stays, because another edit may rename it.
	o.edits = append(o.edits, Edit{Span: diag.Span{Off: off}, Text: open},
		Edit{o.span(name+1, x.end), "+" + byteOffset(o.inside(name+2, x.end-1), x.Stride) + closed})
}

// inside returns the text of some tokens, with the edits that are made for other reasons.
func (o *offsetter) inside(first, end int32) string {
	span := o.span(first, end)
	i := sort.Search(len(o.others), func(i int) bool { return o.others[i].Span.Off >= span.Off })
	k := sort.Search(len(o.others), func(i int) bool { return o.others[i].Span.Off >= span.End() })
	return string(Compact(Apply(nil, o.Module.Src.Text, span, o.others[i:k])))
}

// byteOffset returns the offset of a constant index. ptxas computes it in 64 bits and
// keeps 32, without a sign (testdata/script/index_constant.txtar).
func byteOffset(index string, stride int64) string {
	if n, ok := ParseInt(index); ok {
		return strconv.FormatUint(uint64(uint32(n*stride)), 10)
	}
	return fmt.Sprintf("((%s)*%d&0xFFFFFFFF)", index, stride)
}

// compute writes instructions before the statement that compute the address of x[r] or
// x[r+2], and a block around both. It returns the register of the address. ptxas adds the
// constant in the type of the register, and keeps 32 bits of the offset here, too
// (testdata/script/index_register.txtar).
func (o *offsetter) compute(x indexed) string {
	register := unused(o.inside(x.st.First, x.st.End))
	sum, offset, address, base := register("%sum"), register("%offset"), register("%address"), register("%base")
	bits := 64
	if o.Module.AddressSize == 32 || o.Opcode(x.st) == "mov" && TypeSize(string(o.Text(o.Tokens[x.st.Operands-1]))) == 4 {
		bits = 32
	}
	word := ".u32" // of %laneid
	if i, ok := o.refs[x.name+2].Local(); ok {
		word = strings.Replace(o.Locals[i].Type.Word, ".b", ".u", 1)
	}
	front := fmt.Sprintf(".reg %s %s; .reg .b32 %s; .reg .b%d %s, %s; mov%s %s, %s; ", word, sum, offset, bits, address, base, word, sum, o.inside(x.name+2, x.name+3))
	if more := x.name + 4; more < x.end { // after a plus
		front += fmt.Sprintf("add%s %s, %s, %s; ", word, sum, sum, o.inside(more, x.end-1))
	}
	front += fmt.Sprintf("cvt.u32%s %s, %s; mul.lo.u32 %s, %s, %d; cvt.u%d.u32 %s, %s; ", word, offset, sum, offset, offset, x.Stride, bits, address, offset)
	front += fmt.Sprintf("mov.u%d %s, %s; add.u%d %s, %s, %s; ", bits, base, o.inside(x.name, x.name+1), bits, address, address, base)
	if o.generic(x) {
		front += fmt.Sprintf("cvta.shared.u%d %s, %s; ", bits, address, address)
	}
	o.edits = append(o.edits, o.before(x.st, front)...)
	return address
}

// unused returns a function that makes names unlike all in a text.
func unused(text string) func(name string) string {
	return func(name string) string {
		for strings.Contains(text, name) {
			name += "_"
		}
		return name
	}
}

// before returns the edits that put instructions before a statement, in a block with it.
func (c *Code) before(st Statement, instructions string) []Edit {
	span := c.Span(st)
	return []Edit{{Span: diag.Span{Off: span.Off}, Text: "{ " + instructions}, {Span: diag.Span{Off: span.End()}, Text: " }"}}
}

// LiteralEdits returns the edits that pass float literals of a call in registers, because ptxas
// makes a single of 2.0 for a parameter of .f32 and for such a register, but keeps the low half of
// a double for .b32 (testdata/script/abi_words_literal.txtar). The operands are numbered as in
// CallOperands.
func (c *Code) LiteralEdits(st Statement, wanted func(operand int) bool) (edits []Edit) {
	front, register := "", unused(c.Module.Src.String(c.Span(st)))
	for i, o := range c.CallOperands(st) {
		text := string(c.Module.Src.Bytes(o.Span))
		bits := len(text) == 10 && strings.EqualFold(text[:2], "0f")
		if first := text[0]; !wanted(i) || bits || class[first] == cLetter || class[first] == cSigil || first == '%' {
			continue
		}
		name := register("%literal" + strconv.Itoa(i))
		front += ".reg .f32 " + name + "; mov.f32 " + name + ", " + string(Compact([]byte(text))) + "; "
		edits = append(edits, Edit{o.Span, name})
	}
	if front == "" {
		return nil
	}
	return append(c.before(st, front), edits...)
}

// generic reports whether an access to a variable in .shared names no state space. ptxas
// then takes the state space of the variable, but cannot see the variable if its address is in a
// register.
func (o *offsetter) generic(x indexed) bool {
	access := slices.Contains([]string{"ld", "ldu", "st"}, o.Opcode(x.st))
	return access && x.Shared && !slices.ContainsFunc(o.Modifiers(x.st), func(word string) bool { return strings.HasPrefix(word, ".shared") })
}
