package debuginfo

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// sink takes the contents of a section in order.
type sink interface {
	bytes(b []byte)
	address(to target)
}

// target is an address in the output: the address of a section or a symbol, plus a number.
type target struct {
	name   string
	addend int64
	width  int
}

// textSink writes a section as PTX. ptxas accepts no other form, so bytes must be in lists, and
// each address on its own line.
type textSink struct {
	done []string
	out  strings.Builder
	size int64
	line [inLine*5 + 8]byte
	end  int // length of what line holds
	free int // number of bytes that line has room for
}

const (
	inLine    = 16
	listStart = "\t.b8 "
	together  = 1 << 17 // bytes in one text
)

func newTextSink(name string) *textSink {
	t := &textSink{end: len(listStart), free: inLine}
	start := ".section " + name + "\n{\n"
	t.room(len(start))
	t.out.WriteString(start)
	copy(t.line[:], listStart)
	return t
}

// room starts a new text if the current one has no room for size more bytes. The section is kept in
// parts, because nothing needs all of it at once.
func (t *textSink) room(size int) {
	if t.out.Cap()-t.out.Len() < size {
		if t.out.Len() > 0 {
			t.done = append(t.done, t.out.String())
		}
		t.out = strings.Builder{}
		t.out.Grow(max(size, min(together, int(t.size)+1024)))
	}
}

func (t *textSink) bytes(b []byte) {
	t.size += int64(len(b))
	for len(b) > 0 {
		n := min(len(b), t.free)
		end := t.end
		for _, c := range b[:n] {
			binary.LittleEndian.PutUint64(t.line[end:], decimals[c].text)
			end += decimals[c].size
		}
		t.end = end
		if t.free -= n; t.free == 0 {
			t.endLine()
		}
		b = b[n:]
	}
}

func (t *textSink) endLine() {
	if t.end > len(listStart) {
		t.line[t.end-2] = '\n' // replaces the comma and the space
		t.room(t.end)
		t.out.Write(t.line[:t.end-1])
	}
	t.end, t.free = len(listStart), inLine
}

func (t *textSink) address(to target) {
	t.size += int64(to.width)
	t.endLine()
	t.room(len("\t.b64 +9223372036854775807\n") + len(to.name))
	if to.width == 8 {
		t.out.WriteString("\t.b64 ")
	} else {
		t.out.WriteString("\t.b32 ")
	}
	t.out.WriteString(to.name)
	if to.addend != 0 {
		var memory [24]byte
		t.out.Write(strconv.AppendInt(append(memory[:0], '+'), to.addend, 10))
	}
	t.out.WriteByte('\n')
}

func (t *textSink) texts() []string {
	t.endLine()
	t.room(2)
	t.out.WriteString("}\n")
	return append(t.done, t.out.String())
}

// decimals holds each byte as it is written in a list: "7, ".
var decimals = func() (t [256]struct {
	text uint64
	size int
}) {
	for c := range t {
		var b [8]byte
		t[c].size = len(append(strconv.AppendInt(b[:0], int64(c), 10), ", "...))
		t[c].text = binary.LittleEndian.Uint64(b[:])
	}
	return t
}()
