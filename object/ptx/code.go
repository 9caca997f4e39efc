package ptx

import (
	"slices"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// StatementKind classifies the statements of a body.
type StatementKind uint8

const (
	Instruction StatementKind = iota
	LabelStatement
	Open      // {
	Close     // }
	Directive // .reg, .loc, .pragma, ...
	Empty     // ;
)

// Statement is one statement of a body: Code.Tokens[First:End]. For a declaration
// and for .loc, Operands is 0: they have none.
type Statement struct {
	Kind       StatementKind
	First, End int32
	// Op is the token of the opcode, the label, the directive or the brace. A
	// predicate comes before it.
	Op int32
	// Operands is the first token after the opcode and its modifiers.
	Operands int32
}

// Code is the body of one function, or the initial value of a variable, which is a
// single statement. Its statements hold every token of the text; between them are
// only white space, comments and line markers. Unknown instructions are statements
// like the others.
type Code struct {
	Module     *Module
	Tokens     []Token
	Statements []Statement
	// Locals are the parameters of the function and the declarations in its body,
	// in order.
	Locals []LocalDecl
	// TargetRanges are the lists `L<3>` of .branchtargets and .calltargets, in
	// order.
	TargetRanges []TargetRange

	refs []Reference  // by token
	lent *codeBuilder // of borrowed code
}

// TargetRange is `L<3>` in .branchtargets or .calltargets: the labels or
// functions L0, L1 and L2.
type TargetRange struct {
	Span    diag.Span // including its count
	Base    diag.Span
	Targets []Reference
}

// Reference is the meaning of a name in code: a local of the function, a
// module-scope name, or neither (a special register, a word of the ISA).
type Reference int32

// NoReference means neither a local nor a module-scope name.
const NoReference Reference = -1

func localReference(i int32) Reference   { return Reference(i) }
func moduleReference(n NameID) Reference { return -2 - Reference(n) }

// Local returns the index of a local in Code.Locals.
func (r Reference) Local() (i int32, ok bool) { return int32(r), r >= 0 }

// Name returns a module-scope name.
func (r Reference) Name() (id NameID, ok bool) { return NameID(-2 - r), r <= -2 }

// Reference returns the meaning of the token at an index. A name that the token
// declares refers to that local.
func (c *Code) Reference(token int) Reference { return c.refs[token] }

// Text returns the spelling of a token.
func (c *Code) Text(t Token) []byte { return c.Module.Src.Text[t.Off:t.End:t.End] }

// Span returns the span of a statement.
func (c *Code) Span(st Statement) diag.Span { return c.span(st.First, st.End) }

// OpSpan returns the span of the opcode with its modifiers, or of the directive.
func (c *Code) OpSpan(st Statement) diag.Span { return c.span(st.Op, st.Operands) }

func (c *Code) span(first, end int32) diag.Span {
	from := c.Tokens[first].Off
	return diag.Span{Off: from, Len: c.Tokens[end-1].End - from}
}

// Opcode returns the first word of an instruction or directive: "ld", ".reg". For a
// brace or an empty statement it returns "{", "}" or ";", and for a label its name.
func (c *Code) Opcode(st Statement) string { return string(c.Text(c.Tokens[st.Op])) }

// Modifiers returns the words after the opcode: ".global", ".u32".
func (c *Code) Modifiers(st Statement) []string {
	if st.Kind != Instruction {
		return nil
	}
	var words []string
	for _, t := range c.Tokens[st.Op+1 : st.Operands] {
		words = append(words, string(c.Text(t)))
	}
	return words
}

// Guarded reports whether a predicate stands before the instruction: @p.
func (st Statement) Guarded() bool { return st.Op > st.First }

// Shape is the form of an operand.
type Shape uint8

const (
	NameOperand  Shape = iota // %r1, L, x
	Immediate                 // 1, 0f3F800000, -1
	Address                   // [x+4]
	Vector                    // {%r1, %r2}
	List                      // (a, b): arguments of a call
	OtherOperand              // p|q, %v.x, x+4, and forms of later ISA versions
)

// Operand is one operand of an instruction: Code.Tokens[First:End].
type Operand struct {
	Shape      Shape
	First, End int32
}

// Operands splits the operands of an instruction at its commas.
func (c *Code) Operands(st Statement) []Operand {
	end := st.End
	if end > st.Operands && c.Tokens[end-1].isPunct(';') {
		end--
	}
	return operands(nil, c.Tokens, st.Operands, end)
}

// Elements splits the contents of the brackets of a Vector, List or Address.
func (c *Code) Elements(o Operand) []Operand { return operands(nil, c.Tokens, o.First+1, o.End-1) }

// AddressParts splits an Address such as [x], [x+4] or [x+-4] into the token of its
// base, and the offset. ok is false for all other forms.
func (c *Code) AddressParts(o Operand) (base int32, offset int64, ok bool) {
	if o.Shape != Address || o.End-o.First < 3 || c.Tokens[o.First+1].Kind != Ident {
		return 0, 0, false
	}
	base = o.First + 1
	rest := c.Tokens[base+1 : o.End-1]
	negative := false
	for i, t := range rest {
		switch {
		case i == len(rest)-1 && t.Kind == Number && i > 0:
			offset, ok = ParseInt(string(c.Text(t)))
		case i == 0 && t.isPunct('+'):
		case i < 2 && t.isPunct('-') && !negative:
			negative = true
		default:
			return 0, 0, false
		}
	}
	if negative {
		offset = -offset
	}
	return base, offset, ok || len(rest) == 0
}

// Register returns the register that a token refers to: the index of its declaration
// in Code.Locals, and its number if the declaration is a range. ok is false for all
// other names.
func (c *Code) Register(token int32) (r RegisterID, ok bool) {
	i, ok := c.refs[token].Local()
	if !ok || c.Locals[i].Type.Space != ".reg" {
		return RegisterID{}, false
	}
	r.Local = i
	if c.Locals[i].Count >= 0 {
		_, r.Number = splitNumber(c.Text(c.Tokens[token]))
	}
	return r, true
}

// RegisterID is one register of a function: see Code.Register.
type RegisterID struct {
	Local  int32
	Number int64
}

// CallOperands returns the results and then the arguments of a call, in the order of
// Signature.At. A name outside .param, a constant and anything else have no type.
func (c *Code) CallOperands(st Statement) []CallOperand {
	parts, ok := callParts(c.Operands(st))
	if !ok {
		return nil
	}
	var list []CallOperand
	for _, e := range slices.Concat(c.Elements(parts.results), c.Elements(parts.arguments)) {
		if e.First == e.End {
			continue
		}
		operand := CallOperand{Span: c.span(e.First, e.End)}
		if e.Shape == NameOperand {
			if i, ok := c.refs[e.First].Local(); ok && c.Locals[i].Type.Space == ".param" {
				operand.TypeAt = c.Locals[i].Type
			}
		}
		list = append(list, operand)
	}
	return list
}

// callOperands holds the operands of a call: (results), target, (arguments), prototype. All
// but the target may be missing.
type callOperands struct{ results, target, arguments, proto Operand }

// callParts finds the operands of a call. ok is false for an unknown form.
func callParts(list []Operand) (c callOperands, ok bool) {
	take := func(shape Shape) (o Operand) {
		if len(list) > 0 && list[0].Shape == shape {
			o, list = list[0], list[1:]
		}
		return o
	}
	c = callOperands{take(List), take(NameOperand), take(List), take(NameOperand)}
	return c, c.target.End > 0 && (c.arguments.End > 0 || c.proto.End > 0 || len(list) == 0)
}

func operands(list []Operand, tokens []Token, first, end int32) []Operand {
	for at := first; at < end; at++ {
		from, depth, closed := at, 0, at
	operand:
		for ; at < end; at++ {
			t := tokens[at]
			if t.Kind != Punct {
				continue
			}
			switch t.Ch {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				if depth--; depth == 0 && closed == from {
					closed = at
				}
			case ',':
				if depth <= 0 {
					break operand
				}
			}
		}
		shape := shapeOf(tokens[from:at])
		if shape >= Address && closed != at-1 { // [a] [b]
			shape = OtherOperand
		}
		list = append(list, Operand{shape, from, at})
	}
	return list
}

func shapeOf(tokens []Token) Shape {
	if len(tokens) == 0 {
		return OtherOperand
	}
	first, last := tokens[0], tokens[len(tokens)-1]
	switch {
	case len(tokens) == 1 && first.Kind == Ident:
		return NameOperand
	case last.Kind == Number && (len(tokens) == 1 || len(tokens) == 2 && first.isPunct('-')):
		return Immediate
	case first.isPunct('[') && last.isPunct(']'):
		return Address
	case first.isPunct('{') && last.isPunct('}'):
		return Vector
	case first.isPunct('(') && last.isPunct(')'):
		return List
	}
	return OtherOperand
}

func (t Token) isPunct(ch byte) bool { return t.Kind == Punct && t.Ch == ch }

// Code reads the body of a function or the initial value of a variable. It returns
// nil for a declaration without either. It cannot fail, because the text has been parsed.
func (m *Module) Code(d *Decl) *Code {
	b := m.build(d)
	if b == nil {
		return nil
	}
	c := b.Code
	_, c.Tokens = copied(b.Tokens)
	_, c.refs = copied(b.Code.refs)
	_, c.Statements = copied(b.Statements)
	_, c.Locals = copied(b.Locals)
	b.free()
	return c
}

// Borrow is like Code, but the result must not be used after Return, because the next code uses its
// memory again.
func (m *Module) Borrow(d *Decl) *Code {
	b := m.build(d)
	if b == nil {
		return nil
	}
	b.Code.lent = b
	return b.Code
}

// Return ends the use of borrowed code.
func (c *Code) Return() {
	if c != nil {
		clear(c.Locals)
		c.lent.free()
	}
}

func (m *Module) build(d *Decl) *codeBuilder {
	span := d.Body
	if d.Kind == Variable {
		span = d.Init
	}
	if span.Len == 0 {
		return nil
	}
	b := builders.Get().(*codeBuilder)
	b.Code, b.blocks = &Code{Module: m, refs: b.allRefs, Statements: b.allStatements}, b.blocks[:0]
	b.parser = parser{m: m, cursor: newCursor(m.Src.Text[:span.End()], span.Off), code: b, scratch: &b.memory}
	b.keep, b.tokens = true, slices.Grow(b.allTokens, int(span.Len)/5)
	b.open(d, m.Params(d))
	if d.Kind == Variable {
		b.initialiser(Opaque(d.Word))
		b.st.Kind = Directive
		b.add()
		b.Statements[0].Operands = 0
	} else {
		for b.codeStatement() {
			b.add()
		}
	}
	b.Tokens, b.Locals = b.tokens, b.locals
	b.allTokens, b.allRefs, b.allStatements = b.tokens[:0], b.Code.refs[:0], b.Statements[:0]
	return b
}

// free keeps the memory of a builder for the next one.
func (b *codeBuilder) free() {
	clear(b.pending)
	b.Code, b.parser, b.memory.source = nil, parser{}, nil
	builders.Put(b)
}

// codeBuilder builds the Code of one declaration. The next one uses its memory again.
type codeBuilder struct {
	*Code
	parser
	memory  scratch
	pending map[string][]forward // names that a later label may declare
	blocks  []int32              // the opening token of each block

	allTokens     []Token
	allRefs       []Reference
	allStatements []Statement
}

var builders = sync.Pool{New: func() any { return &codeBuilder{pending: map[string][]forward{}} }}

// forward is a name that a later label may declare: a token, or, with list >= 0,
// one target of the TargetRange at that token.
type forward struct{ token, list, target int32 }

func (b *codeBuilder) add() {
	st := b.st
	st.End = int32(len(b.tokens))
	if st.Operands == 0 {
		st.Operands = min(st.Op+1, st.End)
	}
	b.Statements = append(b.Statements, st)
	for len(b.refs) < len(b.tokens) {
		b.refs = append(b.refs, NoReference)
	}
	switch st.Kind {
	case Open:
		b.blocks = append(b.blocks, st.First)
	case Close:
		b.blocks = b.blocks[:len(b.blocks)-1]
	}
	b.st = Statement{First: st.End, Op: st.End}
}

// use resolves the last token, a name, in the current scopes.
func (b *codeBuilder) use(name diag.Span) {
	token := len(b.tokens) - 1
	b.tokens[token].setRole(Refers)
	for len(b.refs) < token {
		b.refs = append(b.refs, NoReference)
	}
	b.refs = append(b.refs, b.resolve(b.bytes(name), forward{token: int32(token), list: -1}))
}

func (b *codeBuilder) entered(i int32) {
	l := &b.locals[i]
	for len(b.refs) < len(b.tokens) {
		b.refs = append(b.refs, NoReference)
	}
	b.refs[l.token] = localReference(i)
	if l.Kind >= CodeLabel {
		l.block = b.blocks[len(b.blocks)-1]
		b.declareLabel(i)
	}
}

// resolve finds the meaning of a name at this point. A later label in a block
// around the name is meant if nothing else is visible, or only a label farther out.
func (b *codeBuilder) resolve(name []byte, at forward) Reference {
	ref := NoReference
	hash := sets.HashBytes(name)
	if i := b.find(hash, name); i >= 0 {
		ref = localReference(i)
		if b.locals[i].Kind < CodeLabel {
			return ref
		}
	} else if id, ok := b.m.moduleName(hash, name); ok && id < b.known {
		return moduleReference(id)
	}
	b.pending[string(name)] = append(b.pending[string(name)], at)
	return ref
}

// declareLabel resolves the earlier names that refer to a label: those in its block
// that do not refer to a label of an inner block.
func (b *codeBuilder) declareLabel(i int32) {
	block := b.locals[i].block
	list := b.pending[string(b.nameOf(i))]
	for len(list) > 0 && list[len(list)-1].token > block {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		ref := &b.refs[at.token]
		if at.list >= 0 {
			ref = &b.TargetRanges[at.list].Targets[at.target]
		}
		if inner, ok := ref.Local(); !ok || b.locals[inner].block < block {
			*ref = localReference(i)
		}
	}
	b.pending[string(b.nameOf(i))] = list
}
