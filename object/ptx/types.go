package ptx

// typeSize holds the size in bytes of every PTX type, which is also its natural
// alignment (PTX Interoperability 1.1; ISA "Fundamental Types"). Opaque types are
// 64-bit handles.
var typeSize = map[string]int64{
	".b8": 1, ".u8": 1, ".s8": 1,
	".b16": 2, ".u16": 2, ".s16": 2, ".f16": 2, ".bf16": 2,
	".b32": 4, ".u32": 4, ".s32": 4, ".f32": 4, ".f16x2": 4, ".bf16x2": 4, ".tf32": 4, ".u16x2": 4, ".s16x2": 4,
	".b64": 8, ".u64": 8, ".s64": 8, ".f64": 8, ".f32x2": 8,
	".b128":   16,
	".pred":   1,
	".texref": 8, ".samplerref": 8, ".surfref": 8,
	".e4m3": 1, ".e5m2": 1, ".e4m3x2": 2, ".e5m2x2": 2,
}

// TypeSize returns the size in bytes of a type word such as ".b32", or 0 if the
// word is not a type. It is also the natural alignment.
func TypeSize(word string) int64 { return typeSize[word] }

// Opaque reports whether a type has no bytes of its own: textures, samplers and
// surfaces.
func Opaque(word string) bool {
	return word == ".texref" || word == ".samplerref" || word == ".surfref"
}

// BitType returns the untyped word of the same width: ".b32" for ".f32". Other
// words are returned unchanged.
func BitType(word string) string {
	if len(word) >= 3 && (word[1] == 'u' || word[1] == 's' || word[1] == 'f') {
		switch w := ".b" + word[2:]; w {
		case ".b8", ".b16", ".b32", ".b64":
			return w
		}
	}
	return word
}
