package ptxsim

import "ptxlink/object/ptx"

// typ is an instruction type.
type typ struct {
	word  string
	class byte // b, u, s, f, g for .bf16, p for .pred
	bits  int
	pair  bool // .f16x2, .bf16x2: two halves of 16 bits
}

var (
	u32  = typ{".u32", 'u', 32, false}
	b32  = typ{".b32", 'b', 32, false}
	u64  = typ{".u64", 'u', 64, false}
	pred = typ{".pred", 'p', 1, false}
)

func typeOf(word string) (typ, bool) {
	size := int(ptx.TypeSize(word))
	if size == 0 {
		return typ{}, false
	}
	t := typ{word: word, class: word[1], bits: 8 * size}
	switch word {
	case ".pred":
		t.bits = 1
	case ".f16x2":
		t.pair = true
	case ".bf16":
		t.class = 'g'
	case ".bf16x2":
		t.class, t.pair = 'g', true
	case ".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16", ".f32", ".f64":
	default:
		return typ{}, false
	}
	return t, true
}

func (t typ) float() bool  { return t.class == 'f' || t.class == 'g' }
func (t typ) signed() bool { return t.class == 's' }

// format returns the format of a floating-point type, of one half for pairs.
func (t typ) format() format {
	switch {
	case t.class == 'g':
		return bf16
	case t.bits == 64:
		return f64
	case t.bits == 32 && !t.pair:
		return f32
	}
	return f16
}

// mask returns the bits of a value of n bits.
func mask(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// extend sign-extends a value of n bits.
func extend(v uint64, n int) uint64 {
	return uint64(int64(v<<(64-n)) >> (64 - n))
}
