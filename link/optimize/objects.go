package optimize

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// usage describes how the code of one function uses one of its parameters, or an object that it
// passes to calls.
type usage struct {
	accesses []access
	taken    []int32 // tokens in `mov r, object`
	calls    []int32 // statements that pass the object
	other    bool    // there are uses that are not understood, so it cannot be replaced
}

// access is one ld or st of an object at a constant offset.
type access struct {
	statement int32
	store     bool
	offset    int64
	word      string        // the type: .u32
	elements  []ptx.Operand // the registers and constants, one unless it is a vector
	base      int32         // the token of the object
}

func (a *access) width() int64 { return ptx.TypeSize(a.word) }

// usages returns how code uses its parameters and its objects in .param. indirect is set if the
// code may access .param through registers, because the address of a parameter is then not an
// address in .local.
func usages(c *ptx.Code) (list []usage, indirect bool) {
	r := usageReader{Code: c, list: make([]usage, len(c.Locals))}
	clear(r.list) // avoids a second page fault: see sets.Slots
	for n, st := range c.Statements {
		understood := int32(-1) // the token that is understood
		if st.Kind == ptx.Instruction {
			switch op := c.Opcode(st); op {
			case "ld", "st":
				understood = r.access(int32(n), st, op == "st")
			case "mov":
				understood = r.address(st)
			case "call":
				r.call(int32(n), st)
				continue
			default: // cvta.param
				r.indirect = r.indirect || paramSpace(c, st)
			}
		}
		for i := st.First; i < st.End; i++ {
			if t := c.Tokens[i]; t.Kind == ptx.Ident && t.Role() != ptx.Declares && i != understood {
				if u := r.find(i); u != nil {
					u.other = true
				}
			}
		}
	}
	return r.list, r.indirect
}

// usageReader finds usages. Its methods return the token of an operand that they understand,
// or -1.
type usageReader struct {
	*ptx.Code
	list     []usage
	indirect bool
}

// find returns the usage of the object that a token refers to; nil if the object is not in .param.
func (r *usageReader) find(token int32) *usage {
	i, ok := r.Reference(int(token)).Local()
	if !ok {
		return nil
	}
	l := &r.Locals[i]
	if l.Kind == ptx.Parameter && l.Type.Space != ".reg" || l.Kind == ptx.Object && l.Type.Space == ".param" {
		return &r.list[i]
	}
	return nil
}

func (r *usageReader) access(n int32, st ptx.Statement, store bool) int32 {
	if !paramSpace(r.Code, st) {
		return -1
	}
	a, ok := accessOf(r.Code, st, store)
	if u := r.find(a.base); ok && u != nil {
		a.statement = n
		u.accesses = append(u.accesses, a)
		return a.base
	}
	r.indirect = true
	return -1
}

// address reads `mov r, object`.
func (r *usageReader) address(st ptx.Statement) int32 {
	if operands := r.Operands(st); len(operands) == 2 && operands[1].Shape == ptx.NameOperand {
		object := operands[1].First
		if u := r.find(object); u != nil {
			u.taken = append(u.taken, object)
			return object
		}
	}
	return -1
}

func (r *usageReader) call(n int32, st ptx.Statement) {
	for i, list := range r.Operands(st) {
		if list.Shape != ptx.List || i > 2 {
			continue
		}
		for _, o := range r.Elements(list) { // results or arguments
			if o.Shape != ptx.NameOperand {
				continue
			}
			if u := r.find(o.First); u != nil {
				u.calls = append(u.calls, n)
			}
		}
	}
}

// paramSpace reports whether an instruction names the space .param.
func paramSpace(c *ptx.Code, st ptx.Statement) bool {
	return slices.ContainsFunc(c.Tokens[st.Op+1:st.Operands], func(t ptx.Token) bool { return bytes.HasPrefix(c.Text(t), []byte(".param")) })
}

// accessOf reads `ld.param.v2.u32 {a, b}, [x+8]` and the like.
func accessOf(c *ptx.Code, st ptx.Statement, store bool) (a access, ok bool) {
	words, operands := c.Modifiers(st), c.Operands(st)
	if len(words) < 2 || words[0] != ".param" && words[0] != ".param::func" || len(operands) != 2 {
		return a, false
	}
	value, address := operands[0], operands[1]
	if store {
		value, address = address, value
	}
	a = access{store: store, word: words[len(words)-1], elements: []ptx.Operand{value}}
	count := 1
	if len(words) == 3 {
		count = map[string]int{".v2": 2, ".v4": 4, ".v8": 8}[words[1]]
		if value.Shape != ptx.Vector || count == 0 {
			return a, false
		}
		a.elements = c.Elements(value)
	}
	if len(words) > 3 || len(a.elements) != count || a.width() == 0 {
		return a, false
	}
	a.base, a.offset, ok = c.AddressParts(address)
	return a, ok
}

// cell is a part of an object that a register replaces.
type cell struct {
	offset, width int64
	name          string
}

// bits returns the width of the register of a cell. 8 bits need a register of 16, since there are
// no smaller ones that mov accepts.
func (c *cell) bits() int64 { return max(16, 8*c.width) }

// cells splits an object into parts, so that each load reads a part, or bytes of one, and each
// store writes a part. If accesses overlap, the larger must consist of 2 or 4 parts of the same
// size. ok is false if that is impossible.
func cells(accesses []access) (list []cell, ok bool) {
	var stores, loads []cell
	for _, a := range accesses {
		if a.width() > 8 {
			return nil, false
		}
		for k := range a.elements {
			part := cell{offset: a.offset + int64(k)*a.width(), width: a.width()}
			if a.store {
				stores = append(stores, part)
			} else {
				loads = append(loads, part)
			}
		}
	}
	parts := map[int64]int64{} // widths by offset
	// Add one access after the other, and cut overlapping accesses into equal parts.
	cut := func(p cell, load bool) bool {
		var inside []int64
		for offset, width := range parts {
			if offset < p.offset+p.width && p.offset < offset+width {
				inside = append(inside, offset)
			}
		}
		slices.Sort(inside)
		if len(inside) == 0 {
			parts[p.offset] = p.width
			return len(parts) <= maxCells
		}
		first, last := inside[0], inside[len(inside)-1]
		if len(inside) == 1 && first <= p.offset && p.offset+p.width <= first+parts[first] && (load || parts[first] == p.width) {
			return true
		}
		least := p.width
		from, end := min(p.offset, first), max(p.offset+p.width, last+parts[last])
		for _, offset := range inside {
			least = min(least, parts[offset])
		}
		for _, offset := range append(inside, p.offset) {
			for offset%least != 0 {
				least /= 2
			}
			delete(parts, offset)
		}
		for offset := from; offset < end; offset += least {
			parts[offset] = least
		}
		return least > 1 && len(parts) <= maxCells
	}
	for i, p := range slices.Concat(stores, loads) {
		if !cut(p, i >= len(stores)) {
			return nil, false
		}
	}
	for offset, width := range parts {
		list = append(list, cell{offset: offset, width: width})
	}
	slices.SortFunc(list, func(a, b cell) int { return cmp.Compare(a.offset, b.offset) })
	return list, len(list) <= maxCells
}

// place replaces a parameter and its argument at one call.
type place struct {
	cells  []cell
	memory string // a .local object, or ""
	name   string // a register that replaces a parameter in .reg
	word   string // the type of the register
	passes string // the instructions that pass an operand that is not an object
	size   int64
	align  int64
}

func (p *place) declaration() string {
	var b strings.Builder
	switch {
	case p.name != "":
		fmt.Fprintf(&b, ".reg %s %s;", p.word, p.name)
	case p.memory != "":
		fmt.Fprintf(&b, ".local .align %d .b8 %s[%d];", p.align, p.memory, p.size)
	default:
		for i := range p.cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, ".reg .b%d %s;", p.cells[i].bits(), p.cells[i].name)
		}
	}
	return b.String()
}

// passRegister returns the instruction that passes an operand in the register of a parameter, or
// takes a result from it. Some types cannot use mov: ptxas has no mov for floats of 16 bits, nor
// for registers of 8 bits.
func (p *place) passRegister(c view, o ptx.Operand, result bool) (string, bool) {
	if o.Shape == ptx.Immediate {
		value, ok := literal(p.word, c.spell(o.First, o.End))
		if p.size == 1 {
			return fmt.Sprintf("cvt.u8.u16 %s, %#x;", p.name, value), ok && !result
		}
		return fmt.Sprintf("mov.b%d %s, %#x;", 8*p.size, p.name, value), ok && !result
	}
	name, bits, class, ok := c.register(o)
	if !ok || bits != 8*p.size || (class == 'p') != (p.word == ".pred") {
		return "", false
	}
	to, from := p.name, name
	if result {
		to, from = from, to
	}
	switch {
	case class == 'p':
		return fmt.Sprintf("mov.pred %s, %s;", to, from), true
	case bits == 8:
		return fmt.Sprintf("cvt.u8.u8 %s, %s;", to, from), true
	}
	return fmt.Sprintf("mov.b%d %s, %s;", bits, to, from), true
}

// rewrite returns the edits of all accesses of an object by the code of one function.
// ok is false if a type does not fit.
func (p *place) rewrite(c view, u *usage) (edits []edit, ok bool) {
	for i := range u.accesses {
		a := &u.accesses[i]
		st := c.Statements[a.statement]
		if p.memory != "" {
			space := c.Tokens[st.Op+1].Span()
			edits = append(edits, edit{span: space, text: ".local"}, edit{span: c.Tokens[a.base].Span(), text: p.memory})
			continue
		}
		text, ok := p.moves(c, a, c.guard(st))
		if !ok {
			return nil, false
		}
		edits = append(edits, edit{span: c.Span(st), text: text})
	}
	for _, token := range u.taken {
		edits = append(edits, edit{span: c.Tokens[token].Span(), text: p.memory})
	}
	return edits, len(u.taken) == 0 || p.memory != ""
}

// moves returns the instructions that replace an access of registers, each after the predicate
// guard.
func (p *place) moves(c view, a *access, guard string) (string, bool) {
	var list []string
	for i, o := range a.elements {
		from := a.offset + int64(i)*a.width()
		at := slices.IndexFunc(p.cells, func(cell cell) bool { return from < cell.offset+cell.width })
		if at < 0 || p.cells[at].offset > from {
			return "", false
		}
		cell := &p.cells[at]
		var text string
		ok := false
		switch {
		case cell.offset != from && (a.store || from+a.width() > cell.offset+cell.width):
		case cell.width < a.width():
			text, ok = severalCells(c, p.cells[at:], a, o, guard)
		case a.store && cell.width == a.width():
			text, ok = storeCell(c, cell, a.word, o, guard)
		case !a.store && sink(c.Code, o):
			continue
		case !a.store:
			text, ok = loadCell(c, cell, from-cell.offset, a.word, o, guard)
		}
		if !ok {
			return "", false
		}
		list = append(list, text)
	}
	return strings.Join(list, " "), true
}

// severalCells returns the instructions that replace an access of 2 or 4 cells.
func severalCells(c view, cells []cell, a *access, o ptx.Operand, guard string) (string, bool) {
	n := a.width() / cells[0].width
	if cells[0].width == 1 || int64(len(cells)) < n {
		return "", false
	}
	var names []string
	for i, cell := range cells[:n] {
		if cell.width != cells[0].width || cell.offset != cells[0].offset+int64(i)*cell.width {
			return "", false
		}
		names = append(names, cell.name)
	}
	bits := 8 * a.width()
	list := "{" + strings.Join(names, ", ") + "}"
	name, width, class, ok := c.register(o)
	switch {
	case !a.store && sink(c.Code, o):
		return "", true
	case a.store && o.Shape == ptx.Immediate:
		value, ok := literal(a.word, c.spell(o.First, o.End))
		var b strings.Builder
		for i, cell := range cells[:n] {
			part := value >> (8 * cell.width * int64(i)) & (1<<(8*cell.width) - 1)
			fmt.Fprintf(&b, "%smov.b%d %s, %#x; ", guard, cell.bits(), cell.name, part)
		}
		return strings.TrimSpace(b.String()), ok
	case !ok || width != bits || class == 'p':
		return "", false
	case a.store:
		return fmt.Sprintf("%smov.b%d %s, %s;", guard, bits, list, name), true
	}
	return fmt.Sprintf("%smov.b%d %s, %s;", guard, bits, name, list), true
}

// sink reports whether an element of a vector is _, which discards the value.
func sink(c *ptx.Code, o ptx.Operand) bool {
	return o.End == o.First+1 && string(c.Text(c.Tokens[o.First])) == "_"
}

// storeCell returns the instruction that stores an operand in a cell. The cell must be as wide as
// the type of the store.
func storeCell(c view, cell *cell, word string, o ptx.Operand, guard string) (string, bool) {
	if o.Shape == ptx.Immediate {
		value, ok := literal(word, c.spell(o.First, o.End))
		return fmt.Sprintf("%smov.b%d %s, %#x;", guard, cell.bits(), cell.name, value), ok
	}
	name, bits, class, ok := c.register(o)
	switch {
	case !ok || class == 'p' || bits < 8*cell.width:
		return "", false
	case bits == cell.bits():
		return fmt.Sprintf("%smov.b%d %s, %s;", guard, bits, cell.name, name), true
	case class == 'f' || bits > 64:
		return "", false
	}
	return fmt.Sprintf("%scvt.u%d.u%d %s, %s;", guard, cell.bits(), bits, cell.name, name), true
}

// loadCell returns the instructions that load a register from a cell, or from the part of the cell
// at a distance in bytes. ld extends a value to the width of its register by the sign of its type,
// so loadCell must do the same.
func loadCell(c view, cell *cell, distance int64, word string, o ptx.Operand, guard string) (string, bool) {
	name, bits, class, ok := c.register(o)
	width := 8 * ptx.TypeSize(word)
	switch {
	case !ok || class == 'p' || bits > 64 || bits < width:
		return "", false
	case (ptx.TypeClass(word) == 'f' || class == 'f') && bits != width:
		return "", false
	}
	sign := byte('u')
	if ptx.TypeClass(word) == 's' {
		sign = 's'
	}
	from, to, before, after := cell.name, name, "", ""
	declarations := ""
	if distance > 0 {
		// These names are in their own block. They cannot hide a name that the block uses, because
		// new names contain a word that is nowhere else in the program.
		declarations = fmt.Sprintf(".reg .b%d %ss; ", cell.bits(), cell.name)
		before = fmt.Sprintf("%sshr.u%d %ss, %s, %d; ", guard, cell.bits(), cell.name, cell.name, 8*distance)
		from = cell.name + "s"
	}
	if class == 'f' && width < cell.bits() { // because ptxas cannot convert these floats
		declarations += fmt.Sprintf(".reg .b%d %sf; ", bits, cell.name)
		to = cell.name + "f"
		after = fmt.Sprintf(" %smov.b%d %s, %s;", guard, bits, name, to)
	}
	var convert string
	switch {
	case bits == width && width == cell.bits():
		convert = fmt.Sprintf("%smov.b%d %s, %s;", guard, bits, to, from)
	case bits == width:
		convert = fmt.Sprintf("%scvt.u%d.u%d %s, %s;", guard, bits, cell.bits(), to, from)
	default:
		convert = fmt.Sprintf("%scvt.%c%d.%c%d %s, %s;", guard, sign, bits, sign, width, to, from)
	}
	if declarations == "" {
		return convert, true
	}
	return "{ " + declarations + before + convert + after + " }", true
}
