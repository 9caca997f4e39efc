//go:build !amd64

package ptx

const haveAVX2 = false

func masksAVX2(masks *uint64, text *byte, words int, glue, digit, dot uint64) {}
