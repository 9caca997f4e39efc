package ptx

import (
	"encoding/binary"
	"math/bits"
)

// An event is a byte of an instruction that plainInstruction looks at. These are the
// first bytes of names, except registers and modifiers, and bytes that end a statement, nest, or
// are unusual: any byte with evAlways, a dot after a digit, and after a dot anything but a name.
const (
	evStart  = 1 << iota // may start a name
	evAlways             // always an event
	evDot
	evOther // does not continue a name
	evGlue  // a letter after it does not start a name
	evDigit
)

var eventBits = func() (t [256]uint8) {
	for c := range t {
		switch class[c] {
		case cLetter, cSigil:
			t[c] = evStart | evGlue
		case cDigit:
			t[c] = evGlue | evDigit
		case cBad:
			t[c] = evAlways | evOther
		default:
			t[c] = evOther
		}
	}
	for _, c := range `;{}:"#/` {
		t[c] |= evAlways
	}
	t['%'] |= evGlue
	t['.'] |= evDot | evGlue
	return t
}()

// events finds the events of a text, many bytes at a time: mask holds one bit for
// each byte from base on.
type events struct {
	base, end int
	mask      [64]uint64
}

// next returns the first event of a text at or after a place. The last bytes of a text,
// less than a word of the mask, have none; next returns the end of the text.
func (e *events) next(text []byte, at int) int {
	for {
		if at < e.base || at >= e.end {
			if len(text)-at < 64 {
				return len(text)
			}
			e.fill(text, at)
		}
		i := uint(at-e.base) / 64
		if m := e.mask[i%64] >> (uint(at-e.base) % 64); m != 0 {
			return at + bits.TrailingZeros64(m)
		}
		at = e.base + int(i+1)*64
	}
}

// fill computes the masks of whole words from a place on.
func (e *events) fill(text []byte, at int) {
	e.base = at
	words := min(len(e.mask), (len(text)-at)/64)
	e.end = at + 64*words
	before := uint64(0)
	if at > 0 {
		before = uint64(eventBits[text[at-1]])
	}
	if haveAVX2 {
		masksAVX2(&e.mask[0], &text[at], words, before/evGlue&1, before/evDigit&1, before/evDot&1)
	} else {
		masks(e.mask[:words], text[at:], before)
	}
}

// masks computes masks, one word for 64 bytes of text. before has the bits of the byte
// before the text.
func masks(list []uint64, text []byte, before uint64) {
	const every = 0x0101010101010101
	for i := range list {
		block := text[64*i:][:64]
		mask := uint64(0)
		for j := 0; j < 64; j += 8 {
			b := binary.LittleEndian.Uint64(block[j:])
			w := uint64(eventBits[byte(b)]) | uint64(eventBits[byte(b>>8)])<<8 | uint64(eventBits[byte(b>>16)])<<16 | uint64(eventBits[byte(b>>24)])<<24 |
				uint64(eventBits[byte(b>>32)])<<32 | uint64(eventBits[byte(b>>40)])<<40 | uint64(eventBits[byte(b>>48)])<<48 | uint64(eventBits[byte(b>>56)])<<56
			prev := w<<8 | before
			before = w >> 56
			event := w&^(prev>>4) | w>>1 | w>>2&(prev>>5) | prev>>2&(w>>3)
			mask |= event & every * 0x0102040810204080 >> 56 << j
		}
		list[i] = mask
	}
}
