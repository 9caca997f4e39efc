package main

import (
	"fmt"
	"io"
	"strconv"
)

// tarWriter writes regular files as a POSIX tar (ustar, with a pax header where a name
// is long or not ASCII). Package archive/tar would do, but it looks up users, for which
// Go links the C library: every start of ptxlink would pay for it.
type tarWriter struct {
	w   io.Writer
	err error
}

const tarBlock = 512

// add writes a file of the given size. Its mode is 0644; it has no time and user.
func (t *tarWriter) add(name string, size int64, from io.Reader) error {
	if !plainTarName(name) || size >= 1<<33 {
		records := paxRecord("path", name) + paxRecord("size", strconv.FormatInt(size, 10))
		t.header("pax", int64(len(records)), 'x')
		t.write([]byte(records))
		t.pad(int64(len(records)))
		name = "long"
	}
	t.header(name, size, '0')
	if t.err != nil {
		return t.err
	}
	if _, t.err = io.CopyN(t.w, from, size); t.err == nil {
		t.pad(size)
	}
	return t.err
}

// close writes the end of the tar.
func (t *tarWriter) close() error {
	t.write(make([]byte, 2*tarBlock))
	return t.err
}

func plainTarName(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return false
		}
	}
	return len(name) <= 100
}

// header writes the header of an entry. A size that does not fit is in the pax header.
func (t *tarWriter) header(name string, size int64, kind byte) {
	var h [tarBlock]byte
	copy(h[0:100], name)
	octal := func(at, digits int, n int64) { copy(h[at:], fmt.Sprintf("%0*o", digits, n)) }
	octal(100, 7, 0o644)
	octal(108, 7, 0)
	octal(116, 7, 0)
	octal(124, 11, size&(1<<33-1))
	octal(136, 11, 0)
	copy(h[148:156], "        ") // the sum counts itself as spaces
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	sum := int64(0)
	for _, b := range h {
		sum += int64(b)
	}
	octal(148, 6, sum)
	h[154] = 0
	t.write(h[:])
}

// pad fills the last block of n bytes.
func (t *tarWriter) pad(n int64) {
	if rest := n % tarBlock; rest > 0 {
		t.write(make([]byte, tarBlock-rest))
	}
}

func (t *tarWriter) write(b []byte) {
	if t.err == nil {
		_, t.err = t.w.Write(b)
	}
}

// paxRecord returns "LENGTH KEY=VALUE\n", whose length counts itself.
func paxRecord(key, value string) string {
	rest := " " + key + "=" + value + "\n"
	n := len(rest) + 1
	for n != len(strconv.Itoa(n))+len(rest) {
		n = len(strconv.Itoa(n)) + len(rest)
	}
	return strconv.Itoa(n) + rest
}
