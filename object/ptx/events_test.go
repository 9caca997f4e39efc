package ptx

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMasks compares the masks that the processor's vectors give with those computed in
// Go: for every pair of bytes at every place in a word, and for random text.
func TestMasks(t *testing.T) {
	if !haveAVX2 {
		t.Log("this processor has no AVX2, so there is one way only")
		return
	}
	compare := func(text []byte, before byte) {
		t.Helper()
		words := len(text) / 64
		want, got := make([]uint64, words), make([]uint64, words)
		bits := uint64(eventBits[before])
		masks(want, text, bits)
		masksAVX2(&got[0], &text[0], words, bits/evGlue&1, bits/evDigit&1, bits/evDot&1)
		if !slices.Equal(got, want) {
			t.Fatalf("masks of %q behind %q: %#x, want %#x", text, before, got, want)
		}
	}
	text := make([]byte, 128)
	for a := range 256 {
		for b := range 256 {
			for i := range text {
				text[i] = byte(a)
				if i%2 == 1 {
					text[i] = byte(b)
				}
			}
			compare(text, byte(b))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	const usual = "ab_$09%%..,;:[]{}\n\t \"#/\x00\x80"
	for range 20000 {
		for i := range text {
			text[i] = usual[random.IntN(len(usual))]
		}
		compare(text, usual[random.IntN(len(usual))])
	}
}
