package optimize

import (
	"math"
	"strconv"
	"strings"

	"ptxlink/object/ptx"
)

// literal returns the bits that ptxas stores or passes for a constant where a type is wanted
// (testdata/script/opt_literals.txtar). Types such as .b32 get the low bits, which are the bits of
// a double for decimal literals. mov takes fewer literals than st.param and calls, so the optimiser
// must write the bits. ok is false for literals that ptxas refuses, such as 1 for .f32, and for
// types in which the bits of a literal are not known.
func literal(word, text string) (bits uint64, ok bool) {
	size := uint64(ptx.TypeSize(word))
	if size == 0 || size > 8 {
		return 0, false
	}
	mask := uint64(1)<<(8*size) - 1 // all ones for 8 bytes too
	digits, negative := strings.CutPrefix(text, "-")
	if strings.Contains(digits, "_") {
		return 0, false
	}
	if n, err := strconv.ParseUint(strings.TrimSuffix(digits, "U"), 0, 64); err == nil {
		if negative {
			n = -n
		}
		return n & mask, strings.IndexByte("bus", ptx.TypeClass(word)) >= 0
	}
	var float float64
	single := false // the literal has the bits of a float
	switch prefix := strings.ToLower(digits[:min(2, len(digits))]); {
	case prefix == "0f" || prefix == "0d":
		n, err := strconv.ParseUint(digits[2:], 16, 64)
		if err != nil || negative {
			return 0, false
		}
		bits, float, single = n, math.Float64frombits(n), prefix == "0f"
	case prefix == "0x":
		return 0, false
	default:
		var err error
		if float, err = strconv.ParseFloat(digits, 64); err != nil {
			return 0, false
		}
		if negative {
			float = -float
		}
		bits = math.Float64bits(float)
	}
	switch {
	case ptx.TypeClass(word) == 'b', word == ".f64", word == ".f32" && single:
		return bits & mask, true
	case word == ".f32":
		return uint64(math.Float32bits(float32(float))), true
	}
	return 0, false
}
