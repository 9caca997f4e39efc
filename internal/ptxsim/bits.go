package ptxsim

import "math/bits"

// bfe is PTX ISA, bfe.
func (r *reader) bfe() {
	t := r.typ()
	r.alu(t.bits, func(a, b, c uint64) uint64 {
		pos, n := int(b&0xff), int(c&0xff)
		if n == 0 {
			return 0
		}
		v := uint64(0)
		if t.signed() && a>>min(pos+n-1, t.bits-1)&1 != 0 {
			v = ^uint64(0)
		}
		if pos >= t.bits {
			return v
		}
		n = min(n, t.bits-pos)
		return v&^mask(n) | a>>pos&mask(n)
	}, t, u32, u32)
}

// bfi is PTX ISA, bfi: it has four sources.
func (r *reader) bfi() {
	t := r.typ()
	r.operandsOf(t, t, u32, u32)
	r.result(t.bits)
	r.in.kind = kRun
	n := t.bits
	r.in.run = func(t *thread, in *instr) {
		t.set(in.dst, insert(t.get(&in.src[0]), t.get(&in.src[1]), t.get(&in.src[2]), t.get(&in.src[3]), n))
	}
}

// insert returns b with a field of a: count bits at pos.
func insert(a, b, pos, count uint64, width int) uint64 {
	at, n := int(pos&0xff), int(count&0xff)
	if at >= width {
		return b
	}
	n = min(n, width-at)
	field := mask(n) << at
	return b&^field | a<<at&field
}

// bfind is PTX ISA, bfind: the most significant bit that differs from the sign, or -1.
func (r *reader) bfind() {
	amount := r.take(".shiftamt")
	t := r.typ()
	r.alu(32, func(a, _, _ uint64) uint64 {
		if t.signed() && a>>(t.bits-1) != 0 {
			a = ^a & mask(t.bits)
		}
		at := bits.Len64(a) - 1
		if amount && at >= 0 {
			at = t.bits - 1 - at
		}
		return uint64(at)
	}, t)
}

// shf is PTX ISA, shf: b and a are the halves of 64 bits.
func (r *reader) shf() {
	left := r.takeAny(".l", ".r") == ".l"
	clamp := r.takeAny(".clamp", ".wrap") == ".clamp"
	r.typ()
	r.alu(32, func(a, b, c uint64) uint64 {
		n := c & 31
		if clamp {
			n = min(c, 32)
		}
		both := b<<32 | a
		if left {
			return both << n >> 32
		}
		return both >> n
	}, b32, b32, u32)
}

// prmt is PTX ISA, prmt: each digit of the selector names a byte of {b, a}.
func (r *reader) prmt() {
	mode := r.takeAny(".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
	r.typ()
	table, ok := prmtModes[mode]
	r.alu(32, func(a, b, c uint64) uint64 {
		if ok {
			c = table[c&3]
		}
		both := b<<32 | a
		v := uint64(0)
		for i := range 4 {
			sel := c >> (4 * i) & 15
			x := both >> (8 * (sel & 7)) & 0xff
			if sel&8 != 0 {
				x = extend(x, 8) >> 8 & 0xff
			}
			v |= x << (8 * i)
		}
		return v
	}, b32, b32, b32)
}

// prmtModes are the selectors of the special modes, by the low bits of operand c.
var prmtModes = map[string][4]uint64{
	".f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	".b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	".rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	".ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	".ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	".rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

// bmsk is PTX ISA, bmsk: b bits at position a.
func (r *reader) bmsk() {
	clamp := r.takeAny(".clamp", ".wrap") == ".clamp"
	r.typ()
	r.alu(32, func(a, b, _ uint64) uint64 {
		if !clamp {
			a, b = a&31, b&31
		}
		if a >= 32 {
			return 0
		}
		return mask(int(min(b, 32))) << a
	}, b32, b32)
}

// szext is PTX ISA, szext: extends the low b bits of a.
func (r *reader) szext() {
	clamp := r.takeAny(".clamp", ".wrap") == ".clamp"
	t := r.typ()
	r.alu(32, func(a, b, _ uint64) uint64 {
		if !clamp {
			b &= 31
		}
		switch {
		case b == 0:
			return 0
		case b >= 32:
			return a
		case t.signed():
			return extend(a, int(b))
		}
		return a & mask(int(b))
	}, t, u32)
}
