// Package dies reads the units and the entries (DIEs) of DWARF: 32-bit, versions 2 to 5.
package dies

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Error is an error at an offset of a section.
type Error struct {
	Section string
	Offset  int64
	Text    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d of %s", e.Text, e.Offset, e.Section)
}

// Reader reads a section. It keeps the first error.
type Reader struct {
	Section string
	Data    []byte
	At      int64
	Err     *Error
}

// Fail sets the error, and moves to the end.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = &Error{r.Section, r.At, fmt.Sprintf(format, args...)}
	}
	r.At = int64(len(r.Data))
}

// Skip passes n bytes.
func (r *Reader) Skip(n uint64) {
	if n > uint64(int64(len(r.Data))-r.At) {
		r.Fail("a value runs past the end")
		return
	}
	r.At += int64(n)
}

// Uint reads a number of n bytes, at most 8.
func (r *Reader) Uint(n int64) uint64 {
	from := r.At
	if r.Skip(uint64(n)); r.Err != nil {
		return 0
	}
	var b [8]byte
	copy(b[:], r.Data[from:r.At])
	return binary.LittleEndian.Uint64(b[:])
}

// Uleb reads an unsigned LEB128 number.
func (r *Reader) Uleb() uint64 {
	n, _ := r.leb()
	return n
}

// Sleb reads a signed LEB128 number.
func (r *Reader) Sleb() int64 {
	n, bits := r.leb()
	if bits < 64 && n>>(bits-1)&1 != 0 {
		n |= ^uint64(0) << bits
	}
	return int64(n)
}

// leb reads a LEB128 number without its sign, and returns the number of bits that it has.
func (r *Reader) leb() (n uint64, bits int) {
	for bits = 7; ; bits += 7 {
		if r.At >= int64(len(r.Data)) || bits > 70 {
			r.Fail("a number does not end")
			return 0, 64
		}
		b := r.Data[r.At]
		r.At++
		n |= uint64(b&0x7f) << (bits - 7)
		if b < 0x80 {
			return n, bits
		}
	}
}

// CString passes a string with its NUL.
func (r *Reader) CString() {
	n := bytes.IndexByte(r.Data[r.At:], 0)
	if n < 0 {
		r.At = int64(len(r.Data))
		r.Fail("a string does not end")
		return
	}
	r.At += int64(n) + 1
}
