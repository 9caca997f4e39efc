package ptx

import "golang.org/x/sys/cpu"

var haveAVX2 = cpu.X86.HasAVX2

// masksAVX2 computes words of masks as fill does. words is at least 1. The last
// three are 1 if the byte before text is glue, a digit or a dot.
//
//go:noescape
func masksAVX2(masks *uint64, text *byte, words int, glue, digit, dot uint64)
