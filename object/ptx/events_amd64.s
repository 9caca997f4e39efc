#include "textflag.h"

#define BYTES(name, c) \
	DATA name<>+0(SB)/8, $c; DATA name<>+8(SB)/8, $c; DATA name<>+16(SB)/8, $c; DATA name<>+24(SB)/8, $c; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

#define TABLE(name, low, high) \
	DATA name<>+0(SB)/8, $low; DATA name<>+8(SB)/8, $high; DATA name<>+16(SB)/8, $low; DATA name<>+24(SB)/8, $high; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

BYTES(lower, 0x2020202020202020)
BYTES(letterA, 0x6161616161616161)
BYTES(letters, 0x1919191919191919)
BYTES(digit0, 0x3030303030303030)
BYTES(digits, 0x0909090909090909)
BYTES(underscore, 0x5f5f5f5f5f5f5f5f)
BYTES(dollar, 0x2424242424242424)
BYTES(percent, 0x2525252525252525)
BYTES(dot, 0x2e2e2e2e2e2e2e2e)
BYTES(nibble, 0x0f0f0f0f0f0f0f0f)

// A byte that is not always an event has a common bit in byLow, at its low four bits,
// and byHigh, at its high four bits.
TABLE(byLow, 0x7c7e7e7e7c7c7e5e, 0x3c7e3f6f3afb7f7e)
TABLE(byHigh, 0x4020100804028001, 0)

// LETTERS finds A-Z, a-z, _ and $.
#define LETTERS(bytes, out, t) \
	VPOR Y12, bytes, out; \
	VPSUBB Y11, out, out; \
	VPMINUB Y10, out, t; \
	VPCMPEQB out, t, out; \
	VPCMPEQB underscore<>(SB), bytes, t; \
	VPOR t, out, out; \
	VPCMPEQB dollar<>(SB), bytes, t; \
	VPOR t, out, out

#define DIGITS(bytes, out, t) \
	VPSUBB Y9, bytes, out; \
	VPMINUB Y8, out, t; \
	VPCMPEQB out, t, out

#define ALWAYS(bytes, out, t) \
	VPSRLW $4, bytes, t; \
	VPAND Y13, t, t; \
	VPSHUFB t, Y15, t; \
	VPSHUFB bytes, Y14, out; \
	VPAND t, out, out; \
	VPCMPEQB Y7, out, out

// MASK has the upper bit of each byte of two vectors.
#define MASK(low, high, out, t) \
	VPMOVMSKB low, out; \
	VPMOVMSKB high, t; \
	SHLQ $32, t; \
	ORQ t, out

// func masksAVX2(masks *uint64, text *byte, words int, glue, digit, dot uint64)
TEXT ·masksAVX2(SB), NOSPLIT, $0-48
	MOVQ masks+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ words+16(FP), CX
	MOVQ glue+24(FP), R8
	MOVQ digit+32(FP), R9
	MOVQ dot+40(FP), R10
	VMOVDQU byHigh<>(SB), Y15
	VMOVDQU byLow<>(SB), Y14
	VMOVDQU nibble<>(SB), Y13
	VMOVDQU lower<>(SB), Y12
	VMOVDQU letterA<>(SB), Y11
	VMOVDQU letters<>(SB), Y10
	VMOVDQU digit0<>(SB), Y9
	VMOVDQU digits<>(SB), Y8
	VPXOR Y7, Y7, Y7

loop:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	LETTERS(Y0, Y2, Y4)
	LETTERS(Y1, Y3, Y5)
	MASK(Y2, Y3, R11, AX)
	DIGITS(Y0, Y2, Y4)
	DIGITS(Y1, Y3, Y5)
	MASK(Y2, Y3, R12, AX)
	VPCMPEQB dot<>(SB), Y0, Y2
	VPCMPEQB dot<>(SB), Y1, Y3
	MASK(Y2, Y3, R13, AX)
	VPCMPEQB percent<>(SB), Y0, Y2
	VPCMPEQB percent<>(SB), Y1, Y3
	MASK(Y2, Y3, BX, AX)
	ALWAYS(Y0, Y2, Y4)
	ALWAYS(Y1, Y3, Y5)
	MASK(Y2, Y3, DX, AX)

	// A dot behind a digit.
	LEAQ (R9)(R12*2), AX
	ANDQ R13, AX
	ORQ AX, DX
	MOVQ R12, R9
	SHRQ $63, R9
	// Anything behind a dot but the rest of a name.
	ORQ R11, R12
	LEAQ (R10)(R13*2), AX
	MOVQ R12, R10
	NOTQ R10
	ANDQ R10, AX
	ORQ AX, DX
	MOVQ R13, R10
	SHRQ $63, R10
	// The start of a name without glue before it.
	ORQ R12, BX
	ORQ R13, BX
	LEAQ (R8)(BX*2), AX
	NOTQ AX
	ANDQ R11, AX
	ORQ AX, DX
	MOVQ BX, R8
	SHRQ $63, R8

	MOVQ DX, (DI)
	ADDQ $8, DI
	ADDQ $64, SI
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET
