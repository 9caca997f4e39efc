package optimize

import (
	"slices"
	"sync"

	"ptxlink/object/ptx"
)

// devirtualise turns calls through a register into direct calls if the register has one definition
// in the function, which is the address of a function or a copy of such a register, and no local
// hides the name of the function. It also removes the definitions that become unused, because ptxas
// gives every caller 24 registers as long as the address of a function is taken. It reports whether
// it changed something.
func (s *state) devirtualise() (changed bool) {
	functions := sync.OnceValue(s.signatures)
	return s.edit(func(_ int, f *function) []edit {
		if !slices.ContainsFunc(f.calls, func(c ptx.Call) bool { return c.Use < 0 }) || s.described(f) {
			return nil
		}
		return devirtualiseIn(f, functions())
	})
}

// value holds the known facts about one register.
type value struct {
	definitions []int32 // numbers of statements
	mentions    []int32 // the statement of each token, definitions included
	uses        int     // number of tokens
}

func devirtualiseIn(f *function, functions map[string]*ptx.Signature) (edits []edit) {
	c := f.code()
	values, locals := valuesOf(c), namesOf(c)
	for _, st := range c.Statements {
		operands := calling(c, st)
		if len(operands) != 3 || operands[0].Shape != ptx.NameOperand || operands[1].Shape != ptx.List || operands[2].Shape != ptx.NameOperand {
			continue
		}
		target, list, prototype := operands[0], operands[1], operands[2]
		r, ok := c.Register(target.First)
		if !ok {
			continue
		}
		id, ok := functionIn(c, values, r)
		if !ok {
			continue
		}
		name := f.m.Names[id]
		if functions[name] == nil || locals.contain(name) || !fitsCall(c, st, functions[name]) {
			continue
		}
		from := c.Tokens[list.End-1].End
		edits = append(edits,
			edit{span: c.Tokens[target.First].Span(), text: name},
			edit{span: ptx.Span{Off: from, Len: c.Tokens[prototype.End-1].End - from}})
		// Remove the definitions that only this call used, because they would still take addresses.
		for {
			v := values[r]
			if v.uses--; v.uses > 0 {
				break
			}
			def := c.Statements[v.definitions[0]]
			edits = append(edits, edit{span: c.Span(def)})
			if r, ok = c.Register(c.Operands(def)[1].First); !ok {
				break
			}
		}
	}
	return edits
}

func valuesOf(c *ptx.Code) map[ptx.RegisterID]*value {
	values := map[ptx.RegisterID]*value{}
	for n, st := range c.Statements {
		defined, sure := destination(c, st)
		for i := st.First; i < st.End; i++ {
			r, ok := c.Register(i)
			if !ok || c.Tokens[i].Role() != ptx.Refers {
				continue
			}
			v := values[r]
			if v == nil {
				v = &value{}
				values[r] = v
			}
			v.mentions = append(v.mentions, int32(n))
			defines := i >= defined.First && i < defined.End
			if defines {
				v.definitions = append(v.definitions, int32(n))
			}
			if !defines || !sure {
				v.uses++
			}
		}
	}
	return values
}

// spread calls f for each statement. f returns the registers about which it has found out
// something; statements with these registers must then be visited again.
func spread(c *ptx.Code, values map[ptx.RegisterID]*value, f func(st ptx.Statement) []ptx.RegisterID) {
	waiting := make([]int32, len(c.Statements))
	queued := make([]bool, len(c.Statements))
	for n := range waiting {
		waiting[n], queued[n] = int32(n), true
	}
	for len(waiting) > 0 {
		n := waiting[0]
		waiting, queued[n] = waiting[1:], false
		for _, r := range f(c.Statements[n]) {
			for _, m := range values[r].mentions {
				if !queued[m] {
					waiting, queued[m] = append(waiting, m), true
				}
			}
		}
	}
}

// destination returns the operand whose registers a statement defines, or an empty one: the results
// of a call, and otherwise the first operand unless it is an address. Instructions that only read
// their first operand, such as brx, count too. If an instruction may define others, as
// tcgen05.ld.red does, all operands before the first address are returned, and sure is false.
func destination(c *ptx.Code, st ptx.Statement) (o ptx.Operand, sure bool) {
	if st.Kind != ptx.Instruction {
		return o, true
	}
	operands, op := c.Operands(st), c.Opcode(st)
	if len(operands) == 0 || operands[0].Shape == ptx.Address || op == "call" && operands[0].Shape != ptx.List {
		return o, true
	}
	o = operands[0]
	if op == "call" || slices.Contains(oneDestination, op) {
		return o, true
	}
	for _, other := range operands[1:] {
		if other.Shape == ptx.Address {
			break
		}
		o.End = other.End
	}
	return o, false
}

// oneDestination lists instructions that may have addresses or 64-bit numbers among their operands
// and define only their first operand. All others count as unsure, because later versions of PTX
// add instructions.
var oneDestination = []string{
	"mov", "cvta", "cvt", "ld", "atom", "add", "sub", "mul", "mad", "div", "rem", "min", "max", "neg", "abs", "and", "or", "xor", "not",
	"shl", "shr", "bfe", "bfi", "popc", "clz", "setp", "set", "selp", "isspacep", "mapa", "getctarank", "match",
}

// functionIn returns the function whose address a register holds. ok is false for a parameter,
// because callers pass or use its value.
func functionIn(c *ptx.Code, values map[ptx.RegisterID]*value, r ptx.RegisterID) (ptx.NameID, bool) {
	for range 64 {
		v := values[r]
		if v == nil || len(v.definitions) != 1 || c.Locals[r.Local].Kind == ptx.Parameter {
			return 0, false
		}
		st := c.Statements[v.definitions[0]]
		operands := c.Operands(st)
		if c.Opcode(st) != "mov" || st.Guarded() || len(operands) != 2 || operands[0].Shape != ptx.NameOperand || operands[1].Shape != ptx.NameOperand {
			return 0, false
		}
		if id, ok := c.Reference(int(operands[1].First)).Name(); ok {
			return id, true
		}
		var ok bool
		if r, ok = c.Register(operands[1].First); !ok {
			return 0, false
		}
	}
	return 0, false
}

func (s *state) signatures() map[string]*ptx.Signature {
	list := map[string]*ptx.Signature{}
	m := s.p.Prototypes()
	for i := range m.Decls {
		list[m.Names[m.Decls[i].Name]] = m.Decls[i].Signature
	}
	for i := range s.p.Functions {
		if f := &s.p.Functions[i]; f.Decl.Kind == ptx.Func {
			list[f.Name] = f.Decl.Signature
		}
	}
	return list
}

// fitsCall reports whether the operands of a call match the declaration of a function. Otherwise
// the call cannot become direct, because ptxas compares them more strictly for direct calls.
func fitsCall(c *ptx.Code, st ptx.Statement, f *ptx.Signature) bool {
	operands := c.CallOperands(st)
	if len(operands) != f.Len() || (c.Operands(st)[0].Shape == ptx.List) != (len(f.Results) > 0) {
		return false
	}
	for i := range operands {
		a, b := operands[i].Type, *f.At(i)
		if a.Space != ".param" || b.Space != ".param" || a.Array != b.Array || a.Unsized || b.Unsized || a.Vector != b.Vector || a.Size() != b.Size() || a.Alignment() != b.Alignment() {
			return false
		}
		if a.Word != b.Word && (ptx.BitType(a.Word) != ptx.BitType(b.Word) || a.Array || ptx.TypeClass(a.Word) == 'f' || ptx.TypeClass(b.Word) == 'f') {
			return false
		}
	}
	return true
}
