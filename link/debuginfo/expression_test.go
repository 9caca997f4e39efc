package debuginfo

import (
	"context"
	"debug/dwarf"
	"slices"
	"testing"

	"ptxlink/internal/dies"
	"ptxlink/object/diag"
)

// TestExpressionOperands puts each operation of DWARF 5, and of GCC, before a DW_OP_call4:
// the merge moves the entry of that one only if it knows how many bytes the operands take.
// 0xff is no operation, so an operand that is too short is one that is not known.
func TestExpressionOperands(t *testing.T) {
	const die = 11 // the unit itself
	one, two := []byte{0xff}, []byte{0xff, 0xff}
	four, eight := slices.Concat(two, two), slices.Repeat(two, 4)
	leb := []byte{0xff, 0xff, 0x7f}
	entry := []byte{die, 0, 0, 0} // a section offset, as long as an address in DWARF 2
	operands := map[int][]byte{
		0x03: eight,                                                                                                        // addr
		0x08: one, 0x09: one, 0x0a: two, 0x0b: two, 0x0c: four, 0x0d: four, 0x0e: eight, 0x0f: eight, 0x10: leb, 0x11: leb, // const1u to consts
		0x15: one, 0x23: leb, 0x28: {0, 0}, 0x2f: {0, 0}, // pick, plus_uconst, bra, skip
		0x90: leb, 0x91: leb, 0x92: slices.Concat(leb, leb), 0x93: leb, 0x94: one, 0x95: one, // regx to xderef_size
		0x98: {die, 0}, 0x99: entry, 0x9a: append(entry, 0, 0, 0, 0), // calls
		0x9d: slices.Concat(leb, leb), 0x9e: {3, 0xff, 0xff, 0xff}, // bit_piece, implicit_value
		0xa0: slices.Concat(entry, make([]byte, 4), leb), 0xa3: {1, 0x30}, // implicit_pointer, entry_value
		0xa4: {die, 2, 0xff, 0xff}, 0xa5: append(leb, die), 0xa6: {0xff, die}, 0xa7: {0xff, die}, 0xa8: {die}, 0xa9: {die}, // const_type to reinterpret
		0xf2: slices.Concat(entry, make([]byte, 4), leb), 0xf3: {1, 0x30}, 0xf4: {die, 2, 0xff, 0xff}, 0xf5: append(leb, die),
		0xf6: {0xff, die}, 0xf7: {die}, 0xf9: {die}, 0xfa: entry, 0xfd: append(entry, 0, 0, 0, 0), // of GCC
	}
	for op := 0x70; op <= 0x8f; op++ { // breg0 to breg31
		operands[op] = leb
	}
	for _, plain := range [][2]int{
		{0x06, 0x06}, {0x12, 0x14}, {0x16, 0x22}, {0x24, 0x27}, {0x29, 0x2e}, {0x30, 0x6f}, // deref, stack, arithmetic, comparisons, lit0 to reg31
		{0x96, 0x97}, {0x9b, 0x9c}, {0x9f, 0x9f}, {0xe0, 0xe0}, {0xf0, 0xf0}, // nop to stack_value, of GCC
	} {
		for op := plain[0]; op <= plain[1]; op++ {
			operands[op] = []byte{}
		}
	}
	abbrev := []byte{1, 0x11, 0, byte(dwarf.AttrUseLocation), dies.FormBlock1, 0, 0, 0}
	for op := range 256 {
		expression := slices.Concat([]byte{byte(op)}, operands[op], []byte{0x99}, []byte{die, 0, 0, 0})
		info := slices.Concat([]byte{byte(9 + len(expression)), 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, byte(len(expression))}, expression)
		var log diag.Log
		_, kept, _ := prepare(context.Background(), []*Module{module(t, "a.c", map[string][]byte{".debug_abbrev": abbrev, ".debug_info": info})}, 1, &log)
		if operands[op] == nil {
			if len(kept) > 0 {
				t.Errorf("operation %#x is known", op)
			}
			continue
		}
		if len(kept) == 0 {
			t.Errorf("operation %#x: %s", op, log.Messages[0].Text)
			continue
		}
		at := int64(len(info) - 4)
		if !slices.ContainsFunc(kept[0].layouts[".debug_info"].patches, func(p patch) bool { return p.off == at && p.end == at+4 && p.kind == reference }) {
			t.Errorf("operation %#x: the next one does not move", op)
		}
	}
}
