package ptxsim

import (
	"math/bits"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// dims reads the dimensions [2][3] of an array; -1 for [].
func (mod *module) dims(span diag.Span) (list []int64) {
	lex := ptx.NewLexer(mod.Src.Text[:span.End()], span.Off)
	for t := lex.Next(); t.Kind != ptx.EOF; t = lex.Next() {
		switch {
		case t.Kind == ptx.Punct && t.Ch == '[':
			list = append(list, -1)
		case t.Kind == ptx.Number:
			n, _ := ptx.ParseInt(mod.Src.String(t.Span()))
			list[len(list)-1] = n
		}
	}
	return list
}

// initialise stores the initial value that Tokens[first:end] begins with (PTX ISA,
// Initializers). What it leaves out is zero.
func (mod *module) initialise(c *ptx.Code, first, end int32, t ptx.Type, dims []int64, o *Object) {
	in := &initialiser{expr: expr{mod: mod, c: c, at: first, end: end}, word: t.Word, size: ptx.TypeSize(t.Word), o: o}
	in.fail = func(why string) {
		mod.fail(c.Tokens[min(in.at, int32(len(c.Tokens)-1))].Off, "initial value of %s: %s", o.Name, why)
	}
	if t.Vector > 0 {
		dims = append(dims, int64(t.Vector))
	}
	if in.size == 0 || ptx.Opaque(t.Word) {
		mod.fail(c.Tokens[first].Off, "initial values of %s are not supported", t.Word)
	}
	if len(dims) == 0 && in.is('{') { // .u32 x = {1}
		dims = []int64{1}
	}
	in.value(dims, 0)
	if in.at < in.end && !in.is(',') && !in.is(';') {
		in.fail("text behind the initial value")
	}
}

type initialiser struct {
	expr
	word string
	size int64
	o    *Object
}

// value stores a scalar, or a braced list of a dimension, at an offset.
func (in *initialiser) value(dims []int64, off int64) {
	if len(dims) == 0 {
		v := in.scalar(in.word)
		if off+in.size > int64(len(in.o.Data)) {
			in.fail("more values than elements")
		}
		store(in.o.Data[off:off+in.size], v)
		return
	}
	step := in.size
	for _, d := range dims[1:] {
		step *= d
	}
	in.expect('{')
	for n := int64(0); !in.take('}'); n++ {
		if dims[0] >= 0 && n >= dims[0] {
			in.fail("more values than elements")
		}
		in.value(dims[1:], off+n*step)
		if !in.is('}') {
			in.expect(',')
		}
	}
}

// expr evaluates constant expressions in the tokens of code. Names are addresses.
type expr struct {
	mod     *module
	c       *ptx.Code
	at, end int32
	fail    func(why string) // does not return
}

func (e *expr) is(ch byte) bool {
	return e.at < e.end && e.c.Tokens[e.at].Kind == ptx.Punct && e.c.Tokens[e.at].Ch == ch
}

// expect takes a byte that must be there.
func (e *expr) expect(ch byte) {
	if !e.take(ch) {
		e.fail("'" + string(rune(ch)) + "' expected")
	}
}

func (e *expr) take(ch byte) bool {
	if e.is(ch) {
		e.at++
		return true
	}
	return false
}

// done checks that the expression goes to the end.
func (e *expr) done() {
	if e.at < e.end {
		e.fail("not understood")
	}
}

// scalar reads a value of a type.
func (e *expr) scalar(word string) uint64 {
	if t, ok := typeOf(word); ok && t.float() && !t.pair {
		f := t.format()
		minus := e.take('-')
		v, literal := uint64(0), false
		if e.at < e.end && e.c.Tokens[e.at].Kind == ptx.Number {
			v, literal = floatLiteral(string(e.c.Text(e.c.Tokens[e.at])), f)
		}
		if literal {
			e.at++
		} else {
			v = f.round(float64(int64(e.sum())), toNearest)
		}
		if minus {
			v ^= f.sign()
		}
		return v
	}
	return e.sum()
}

func (e *expr) sum() uint64 {
	v := e.product()
	for {
		switch {
		case e.take('+'):
			v += e.product()
		case e.take('-'):
			v -= e.product()
		case e.take('|'):
			v |= e.product()
		case e.take('&'):
			v &= e.product()
		default:
			return v
		}
	}
}

func (e *expr) product() uint64 {
	v := e.unary()
	for {
		switch {
		case e.take('*'):
			v *= e.unary()
		case e.is('<') || e.is('>'):
			ch := e.c.Tokens[e.at].Ch
			e.at++
			if !e.take(ch) {
				e.fail("comparisons are not supported")
			}
			if n := e.unary(); ch == '<' {
				v <<= n & 63
			} else {
				v >>= n & 63
			}
		default:
			return v
		}
	}
}

func (e *expr) unary() uint64 {
	switch {
	case e.at >= e.end:
		e.fail("a value is missing")
	case e.take('-'):
		return -e.unary()
	case e.take('+'):
		return e.unary()
	case e.take('~'):
		return ^e.unary()
	case e.take('('):
		if e.at < e.end && e.c.Tokens[e.at].Kind == ptx.Word { // a cast
			e.at++
			e.expect(')')
			return e.unary()
		}
		v := e.sum()
		e.expect(')')
		return v
	}
	t := e.c.Tokens[e.at]
	text := string(e.c.Text(t))
	switch t.Kind {
	case ptx.Number:
		v, ok := integerLiteral(text)
		if !ok {
			e.fail("integer expected")
		}
		e.at++
		// 0xff00(x) are some bytes of an address (PTX ISA, Initializers: mask()).
		if e.take('(') {
			x := e.sum()
			e.expect(')')
			return (x & v) >> bits.TrailingZeros64(v)
		}
		return v
	case ptx.Ident:
		at := e.at
		e.at++
		if text == "generic" && e.take('(') {
			s := e.symbol(e.at)
			v := e.sum()
			e.expect(')')
			if s != nil {
				v |= s.space.window()
			}
			return v
		}
		if text == "WARP_SZ" {
			return 32
		}
		if s := e.symbol(at); s != nil {
			return s.address()
		}
		e.fail(text + " is not a constant")
	}
	e.fail("unexpected " + text)
	return 0
}

// symbol returns what the module-scope name at a token refers to, or nil.
func (e *expr) symbol(token int32) *symbol {
	if id, ok := e.c.Reference(int(token)).Name(); ok {
		return e.mod.symbols[id]
	}
	return nil
}

// address returns the address of a symbol in its space.
func (s *symbol) address() uint64 {
	switch {
	case s.fn != nil:
		return s.fn.addr
	case s.obj != nil:
		return s.obj.addr
	}
	// Nothing is at this address, so that only its use is an error.
	return missingWindow | hashOf(s.name)>>16
}
