package optimize

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ptxlink/object/ptx"
)

// spaces turns generic accesses into accesses of the state space that their address lies
// in, in the functions that others are inlined into. A compiler does the same before it
// writes PTX, but ptxas does not, neither 12.4 nor 13.5 (testdata/script/opt_spaces.txtar).
// Otherwise an object in .local whose address a callee got would stay in memory.
//
// An address lies in a space if each definition of its register is
//
//  1. cvta.SPACE, which makes a generic address from an address in that space;
//  2. mov or selp of such registers;
//  3. add or sub of such a register and an index: a constant, or a number of at most 32
//     bits that is not derived from an address.
//
// An index does not depend on where the space lies among the generic addresses, so an
// access that is valid wherever the space lies stays in it. Parameters of kernels prove nothing,
// because only some compilers define that they hold addresses in .global.
//
// After each definition of such a register, the same definition of a second register is added,
// which holds the address in the space. Nothing else changes.
func (s *state) spaces() {
	if s.p.AddressSize != 64 {
		return
	}
	found := make([]*addresses, len(s.functions))
	s.each(len(found), func(i int) {
		if f := s.functions[i]; s.grown[f.name] && bytes.Contains(f.src.Bytes(f.decl.Body), []byte("cvta")) && !s.described(f) {
			a := &addresses{f.code(), valuesOf(f.code()), map[ptx.RegisterID]bool{}, map[ptx.RegisterID]string{}, map[ptx.RegisterID]bool{}}
			a.measure()
			a.derive()
			a.propose()
			a.prune()
			found[i] = a
		}
	})
	s.edit(func(i int, f *function) []edit {
		if found[i] == nil {
			return nil
		}
		return found[i].rewrite(s, f)
	})
}

// addresses are the registers of a function that hold generic addresses.
type addresses struct {
	c       *ptx.Code
	values  map[ptx.RegisterID]*value
	derived map[ptx.RegisterID]bool   // from the address of an object, by any instructions
	space   map[ptx.RegisterID]string // the proved spaces; "" if the definitions do not agree
	large   map[ptx.RegisterID]bool   // of 64 bits, and not from constants and 32-bit numbers only
}

func (a *addresses) defined(st ptx.Statement) (list []ptx.RegisterID) {
	d, _ := destination(a.c, st)
	for i := d.First; i < d.End; i++ {
		if r, ok := a.c.Register(i); ok {
			list = append(list, r)
		}
	}
	return list
}

// measure finds the registers that hold large numbers, since they cannot be indexes.
func (a *addresses) measure() {
	spread(a.c, a.values, func(st ptx.Statement) (found []ptx.RegisterID) {
		list := a.defined(st)
		if len(list) == 0 || len(list) == 1 && a.small(st) {
			return nil
		}
		for _, r := range list {
			if !a.large[r] && plainRegister(a.c, r) {
				a.large[r] = true
				found = append(found, r)
			}
		}
		return found
	})
}

// derive finds the registers that instructions derive from addresses. It does not follow values
// through memory.
func (a *addresses) derive() {
	c := a.c
	spread(a.c, a.values, func(st ptx.Statement) (found []ptx.RegisterID) {
		list := a.defined(st)
		if len(list) == 0 {
			return nil
		}
		op := c.Opcode(st)
		if op == "ld" || op == "atom" || op == "call" {
			return nil
		}
		depends := op == "cvta"
		for i := st.Operands; i < st.End && !depends; i++ {
			r, ok := c.Register(i)
			depends = ok && a.derived[r]
		}
		for _, r := range list {
			if depends && !a.derived[r] {
				a.derived[r] = true
				found = append(found, r)
			}
		}
		return found
	})
}

// propose assigns a space to each register for which one definition proves it.
func (a *addresses) propose() {
	spread(a.c, a.values, func(st ptx.Statement) []ptx.RegisterID {
		r, space, _, bases, ok := a.definition(st)
		for _, q := range bases {
			space = cmp.Or(space, a.space[q])
		}
		if !ok || space == "" || a.space[r] != "" {
			return nil
		}
		a.space[r] = space
		return []ptx.RegisterID{r}
	})
}

// definition reads a statement that may define an address: the register, and either the space and
// the address in it, or the registers that it is derived from. Either operand of a sum may be its
// base, so the operand that is a candidate counts.
func (a *addresses) definition(st ptx.Statement) (r ptx.RegisterID, space string, in ptx.Operand, bases []ptx.RegisterID, ok bool) {
	c := a.c
	if st.Kind != ptx.Instruction {
		return
	}
	operands, words := c.Operands(st), c.Modifiers(st)
	if len(operands) < 2 || len(words) == 0 || operands[0].Shape != ptx.NameOperand {
		return
	}
	if r, ok = c.Register(operands[0].First); !ok || !plainRegister(c, r) {
		return r, "", in, nil, false
	}
	ok = false
	switch op := c.Opcode(st); {
	case op == "cvta" && len(words) == 2 && len(operands) == 2 && words[1] == ".u64":
		switch words[0] {
		case ".local", ".shared", ".global", ".const":
			return r, words[0], operands[1], nil, operands[1].Shape == ptx.NameOperand
		}
	case len(words) != 1 || !slices.Contains([]string{".b64", ".u64", ".s64"}, words[0]):
	case op == "mov" && len(operands) == 2:
		if q, is := a.register(operands[1]); is {
			return r, "", in, []ptx.RegisterID{q}, true
		}
	case op == "selp" && len(operands) == 4:
		q, is := a.register(operands[1])
		p, also := a.register(operands[2])
		return r, "", in, []ptx.RegisterID{q, p}, is && also
	case (op == "add" || op == "sub") && len(operands) == 3:
		q, first := a.register(operands[1])
		if p, second := a.register(operands[2]); op == "add" && second && !(first && a.space[q] != "") {
			return r, "", in, []ptx.RegisterID{p}, a.indexOperand(operands[1])
		}
		return r, "", in, []ptx.RegisterID{q}, first && a.indexOperand(operands[2])
	}
	return
}

func (a *addresses) register(o ptx.Operand) (r ptx.RegisterID, ok bool) {
	if o.Shape != ptx.NameOperand {
		return r, false
	}
	r, ok = a.c.Register(o.First)
	return r, ok && plainRegister(a.c, r)
}

// plainRegister reports whether a register has 64 bits and is not a parameter or a
// vector.
func plainRegister(c *ptx.Code, r ptx.RegisterID) bool {
	l := &c.Locals[r.Local]
	return l.Kind != ptx.Parameter && l.Type.Vector == 0 && ptx.TypeSize(l.Type.Word) == 8
}

// prune drops candidates until each definition of each candidate is one that spaces allows.
func (a *addresses) prune() {
	spread(a.c, a.values, func(st ptx.Statement) (found []ptx.RegisterID) {
		for _, r := range a.defined(st) {
			space, candidate := a.space[r]
			if !candidate {
				continue
			}
			_, of, _, bases, ok := a.definition(st)
			ok = ok && (of == "" || of == space)
			for _, q := range bases {
				ok = ok && a.space[q] == space
			}
			if !ok {
				delete(a.space, r)
				found = append(found, r)
			}
		}
		return found
	})
}

func (a *addresses) indexOperand(o ptx.Operand) bool {
	r, ok := a.register(o)
	return o.Shape == ptx.Immediate || ok && !a.large[r] && !a.derived[r] && len(a.values[r].definitions) > 0
}

// small reports whether a statement makes a number of 64 bits from constants and numbers
// of at most 32 bits.
func (a *addresses) small(st ptx.Statement) bool {
	c := a.c
	operands, words := c.Operands(st), c.Modifiers(st)
	if len(words) == 0 || len(operands) < 2 || operands[0].Shape != ptx.NameOperand {
		return false
	}
	last := words[len(words)-1]
	operands = operands[1:]
	switch op := c.Opcode(st); op {
	case "mul", "mad":
		if words[0] == ".wide" { // the product of two 32-bit numbers
			operands = operands[min(2, len(operands)):]
		}
	case "cvt":
		return narrow(last) && (ptx.TypeClass(last) == 's' || ptx.TypeClass(last) == 'u')
	case "ld":
		return narrow(last)
	case "and":
		for _, o := range operands {
			if n, ok := constant(c, o); ok && n >= 0 && n < 1<<32 {
				return true
			}
		}
	case "shl", "shr":
		operands = operands[:1]
	case "mov", "add", "sub", "or", "xor", "min", "max", "neg":
	default:
		return false
	}
	for _, o := range operands {
		r, ok := a.register(o)
		if o.Shape != ptx.Immediate && !(ok && !a.large[r] && len(a.values[r].definitions) > 0) {
			return false
		}
	}
	return true
}

// narrow reports whether a type has at most 32 bits.
func narrow(word string) bool { size := ptx.TypeSize(word); return 0 < size && size <= 4 }

func constant(c *ptx.Code, o ptx.Operand) (int64, bool) {
	if o.Shape != ptx.Immediate {
		return 0, false
	}
	n, err := strconv.ParseInt(asWritten(c).spell(o.First, o.End), 0, 64)
	return n, err == nil
}

// rewrite returns the edits of the accesses whose space is known, and of the definitions that these
// accesses need.
func (a *addresses) rewrite(s *state, f *function) (edits []edit) {
	c := a.c
	names := map[ptx.RegisterID]string{}
	var needed []ptx.RegisterID
	name := func(r ptx.RegisterID) string {
		if names[r] == "" {
			names[r] = s.register(f)
			needed = append(needed, r)
		}
		return names[r]
	}
	for _, st := range c.Statements {
		if r, ok := a.back(st); ok {
			source := c.Operands(st)[1]
			edits = append(edits,
				edit{span: c.OpSpan(st), text: "mov.u64"},
				edit{span: c.Tokens[source.First].Span(), text: name(r)})
			continue
		}
		base, at, ok := a.access(st)
		if !ok {
			continue
		}
		r, _ := c.Register(base)
		edits = append(edits,
			edit{span: ptx.Span{Off: c.Tokens[at].Off}, text: a.space[r]},
			edit{span: c.Tokens[base].Span(), text: name(r)})
	}
	for i := 0; i < len(needed); i++ { // needed grows in the loop
		for _, n := range a.values[needed[i]].definitions {
			st := c.Statements[n]
			_, _, in, bases, _ := a.definition(st)
			operands := c.Operands(st)
			var text string
			if len(bases) == 0 {
				text = fmt.Sprintf("mov.u64 %s, %s;", names[needed[i]], asWritten(c).spell(in.First, in.End))
			} else {
				list := []string{names[needed[i]]}
				for _, o := range operands[1:] {
					if q, ok := a.register(o); ok && slices.Contains(bases, q) {
						list = append(list, name(q))
					} else {
						list = append(list, asWritten(c).spell(o.First, o.End))
					}
				}
				text = asWritten(c).spell(st.Op, st.Operands) + " " + strings.Join(list, ", ") + ";"
			}
			edits = append(edits, edit{span: ptx.Span{Off: c.Span(st).Off}, text: asWritten(c).guard(st) + text + "\n\t"})
		}
	}
	if len(needed) > 0 {
		var list []string
		for _, r := range needed {
			list = append(list, names[r])
		}
		edits = append(edits, edit{span: ptx.Span{Off: f.decl.Body.Off + 1}, text: "\n\t.reg .b64 " + strings.Join(list, ", ") + ";"})
	}
	return edits
}

// back reads a cvta.to that makes an address in the space in which its operand is proved to lie.
func (a *addresses) back(st ptx.Statement) (r ptx.RegisterID, ok bool) {
	c := a.c
	if st.Kind != ptx.Instruction || c.Opcode(st) != "cvta" {
		return r, false
	}
	operands, words := c.Operands(st), c.Modifiers(st)
	if len(operands) != 2 || len(words) != 3 || words[0] != ".to" || words[2] != ".u64" {
		return r, false
	}
	r, ok = a.register(operands[1])
	return r, ok && a.space[r] == words[1]
}

// access reads a generic access of an address whose space is known. It returns the token of the
// register, and the token before which the space must be written.
func (a *addresses) access(st ptx.Statement) (base, at int32, ok bool) {
	c := a.c
	if st.Kind != ptx.Instruction {
		return
	}
	operands, op := c.Operands(st), c.Opcode(st)
	address, atomic := 0, op == "red" || op == "atom"
	switch op {
	case "st", "red":
	case "ld", "atom":
		address = 1
	default:
		return
	}
	if len(operands) <= address {
		return
	}
	if base, _, ok = c.AddressParts(operands[address]); !ok {
		return
	}
	r, ok := c.Register(base)
	if !ok || a.space[r] == "" {
		return 0, 0, false
	}
	space := a.space[r]
	words := c.Modifiers(st)
	n := 0
	for n < len(words) && slices.Contains([]string{".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".cta", ".cluster", ".gpu", ".sys"}, words[n]) {
		n++
	}
	for _, word := range words[n:] {
		if ptx.TypeSize(word) == 0 && !slices.Contains([]string{".v2", ".v4", ".v8"}, word) && !atomic {
			return 0, 0, false // a space, or a cache operator
		}
	}
	switch {
	case atomic && (n == len(words) || !slices.Contains([]string{".add", ".min", ".max", ".and", ".or", ".xor", ".exch", ".cas", ".inc", ".dec"}, words[n])):
		return 0, 0, false
	case space == ".local" && (atomic || n > 0), space == ".const" && (op != "ld" || n > 0):
		return 0, 0, false
	}
	return base, st.Op + 1 + int32(n), true
}
