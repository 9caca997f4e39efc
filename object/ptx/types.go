package ptx

import "strings"

// TypeSize returns the size in bytes of a type word such as ".b32", or 0 if the
// word is not a type. It is also the natural alignment (PTX Interoperability 1.1; ISA
// "Fundamental Types"). Opaque types are 64-bit handles.
func TypeSize(word string) int64 {
	switch word {
	case ".b8", ".u8", ".s8", ".pred", ".e4m3", ".e5m2":
		return 1
	case ".b16", ".u16", ".s16", ".f16", ".bf16", ".e4m3x2", ".e5m2x2":
		return 2
	case ".b32", ".u32", ".s32", ".f32", ".f16x2", ".bf16x2", ".tf32", ".u16x2", ".s16x2":
		return 4
	case ".b64", ".u64", ".s64", ".f64", ".f32x2", ".texref", ".samplerref", ".surfref":
		return 8
	case ".b128":
		return 16
	}
	return 0
}

// operand reports whether a type is one of instructions alone, and not of declarations.
func operand(word string) bool {
	switch word {
	case ".e4m3", ".e5m2", ".bf16", ".e4m3x2", ".e5m2x2", ".bf16x2", ".tf32", ".u16x2", ".s16x2", ".f32x2":
		return true
	}
	return false
}

// Opaque reports whether a type has no bytes of its own: textures, samplers and
// surfaces.
func Opaque(word string) bool {
	return word == ".texref" || word == ".samplerref" || word == ".surfref"
}

// TypeClass returns the class of a type: 'b', 'u', 's' or 'f', or 'p' for predicates; 0 if it has
// no word.
func TypeClass(word string) byte {
	switch {
	case len(word) < 2:
		return 0
	case strings.HasPrefix(word, ".bf"):
		return 'f'
	}
	return word[1]
}

// BitType returns the untyped word of the same width: ".b32" for ".f32". Other
// words are returned unchanged.
func BitType(word string) string {
	if strings.IndexByte("usf", TypeClass(word)) >= 0 {
		switch w := ".b" + word[2:]; w {
		case ".b8", ".b16", ".b32", ".b64":
			return w
		}
	}
	return word
}
