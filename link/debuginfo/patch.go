package debuginfo

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"ptxlink/object/ptx"
)

// layout is a section of a module and the patches to it. The bytes between two
// patches are copied, with their fixups translated.
type layout struct {
	data    *ptx.Data
	base    int64    // where it starts in the merged section
	patches []patch  // by offset, without overlap
	texts   []string // texts of patches: literals of more than 8 bytes, or the symbol of an address
	// blocks holds, for each block of the section, the first patch that ends after the start of the
	// block.
	blocks []int32
	fixups
	// pairs is set for lists of address pairs. A fixup without a target becomes 1
	// there, because two zeros would end the list.
	pairs  bool
	walked seenEntries
}

type patch struct {
	off, end int64
	moved    int64   // distance by which the following bytes move
	in       *layout // reference, offset: the section that value is in
	value    int64   // reference, offset: an offset there; code: the shape; literal: up to 8 bytes
	from     int64   // reference: the offset it is relative to; literal, address: a number in texts, from 1
	size     int32   // number of bytes in the output
	kind     patchKind
}

// growth returns by how many bytes the patch makes the output longer.
func (p *patch) growth() int64 { return int64(p.size) - (p.end - p.off) }

type patchKind uint8

const (
	literal    patchKind = iota
	code                 // code of an abbreviation in the merged table
	reference            // the distance between two places of one section
	uleb                 // a reference as a padded LEB128
	number               // a place in a section, as a plain number
	offset               // a place in a section, as a fixup
	unitOffset           // an offset, but a plain 0 if it is 0, which ptxas accepts
	address              // of an output symbol, as a fixup
)

// A block must be small, so that layout.at looks at few patches.
const blockSize = 64

// settle computes the distance by which each patch moves the bytes after it. It must be called once
// all sizes are known. It returns the size of the section in the output.
func (l *layout) settle() int64 {
	moved := int64(0)
	l.blocks = make([]int32, 0, len(l.data.Bytes)/blockSize+1)
	for i := range l.patches {
		p := &l.patches[i]
		for int64(len(l.blocks))*blockSize < p.end {
			l.blocks = append(l.blocks, int32(i))
		}
		moved += p.growth()
		p.moved = moved
	}
	return int64(len(l.data.Bytes)) + moved
}

// at returns the output offset of a byte of the input.
func (l *layout) at(off int64) int64 {
	i := len(l.patches)
	if block := off / blockSize; block < int64(len(l.blocks)) {
		i = int(l.blocks[block])
		for ; i < len(l.patches) && l.patches[i].end <= off; i++ {
		}
	}
	to := l.base + off
	if i > 0 {
		to += l.patches[i-1].moved
	}
	if i < len(l.patches) && off > l.patches[i].off { // inside a patch
		to -= max(0, off-l.patches[i].off-int64(l.patches[i].size))
	}
	return to
}

// fixups finds the fixups of a section. Searches in ascending order are faster, because each starts
// where the one before ended.
type fixups struct {
	list []ptx.Fixup
	near int // the first fixup at or after the offset of the last search
}

func (f *fixups) fixupAt(off int64) *ptx.Fixup {
	if f.seek(off); f.near < len(f.list) && f.list[f.near].Offset == off {
		return &f.list[f.near]
	}
	return nil
}

func (f *fixups) seek(off int64) {
	const few = 8
	from := f.near
	if from > 0 && f.list[from-1].Offset >= off {
		from = 0
	}
	for i := range few {
		if from+i == len(f.list) || f.list[from+i].Offset >= off {
			f.near = from + i
			return
		}
	}
	rest := f.list[from+few:]
	f.near = from + few + sort.Search(len(rest), func(i int) bool { return rest[i].Offset >= off })
}

// hasFixup reports whether a fixup overlaps the bytes off to end.
func (l *layout) hasFixup(off, end int64) bool {
	l.seek(off)
	i := l.near
	return i < len(l.list) && l.list[i].Offset < end || i > 0 && l.list[i-1].Offset+int64(l.list[i-1].Width) > off
}

// cutFixup returns a fixup that a patch replaces only a part of, which means that the section is
// invalid; nil if there is none.
func (l *layout) cutFixup() *ptx.Fixup {
	patches := l.patches
	for i := range l.data.Fixups {
		f := &l.data.Fixups[i]
		end := f.Offset + int64(f.Width)
		for len(patches) > 0 && patches[0].end <= f.Offset {
			patches = patches[1:]
		}
		if len(patches) > 0 && patches[0].off < end && (patches[0].off > f.Offset || patches[0].end < end) {
			return f
		}
	}
	return nil
}

func (l *layout) write(m *Module, out sink) {
	at, next := int64(0), 0
	memory := make([]byte, 16)
	copyTo := func(end int64) {
		for ; next < len(l.data.Fixups) && l.data.Fixups[next].Offset < end; next++ {
			f := &l.data.Fixups[next]
			out.bytes(l.data.Bytes[at:f.Offset])
			at = f.Offset + int64(f.Width)
			if to, ok := m.translate(f); ok {
				out.address(to)
				continue
			}
			none := uint64(0)
			if l.pairs {
				none = 1
			}
			out.bytes(appendUint(memory[:0], none, int64(f.Width)))
		}
		out.bytes(l.data.Bytes[at:end])
	}
	for i := range l.patches {
		p := &l.patches[i]
		copyTo(p.off)
		l.writePatch(p, out, memory)
		at = p.end
		for next < len(l.data.Fixups) && l.data.Fixups[next].Offset < at {
			next++
		}
	}
	copyTo(int64(len(l.data.Bytes)))
}

func (l *layout) writePatch(p *patch, out sink, memory []byte) {
	n := p.value
	if p.in != nil {
		n = p.in.at(p.value)
	}
	b := memory[:0]
	switch p.kind {
	case literal:
		if p.from > 0 {
			out.bytes([]byte(l.texts[p.from-1]))
			return
		}
	case code:
		out.bytes(binary.AppendUvarint(b, uint64(n)))
		return
	case reference:
		n -= p.in.at(p.from)
	case uleb:
		n -= p.in.at(p.from)
		for range p.size - 1 {
			b = append(b, byte(n)|0x80)
			n >>= 7
		}
		out.bytes(append(b, byte(n)&0x7f))
		return
	case unitOffset, offset:
		if p.kind == offset || n == 0 {
			out.address(target{name: p.in.data.Name, addend: n, width: int(p.size)})
			return
		}
	case address:
		out.address(target{name: l.texts[p.from-1], width: int(p.size)})
		return
	}
	out.bytes(appendUint(b, uint64(n), int64(p.size)))
}

func (l *layout) put(off, end int64, bytes []byte) {
	l.patches = append(l.patches, l.literal(off, end, bytes))
}

func (l *layout) text(s string) int64 {
	l.texts = append(l.texts, s)
	return int64(len(l.texts))
}

// literal returns a patch that replaces the bytes from off to end by others.
func (l *layout) literal(off, end int64, bytes []byte) patch {
	p := patch{off: off, end: end, size: int32(len(bytes))}
	if len(bytes) > 8 {
		p.from = l.text(string(bytes))
		return p
	}
	for i, b := range bytes {
		p.value |= int64(b) << (8 * i)
	}
	return p
}

// putSection adds a patch that turns a plain number into an offset into a section.
func (l *layout) putSection(off, end int64, in *layout, value uint64) {
	l.patches = append(l.patches, patch{off: off, end: end, size: int32(end - off), kind: offset, in: in, value: int64(value)})
}

// inOrder sorts the patches and reports whether none overlap.
func (l *layout) inOrder() bool {
	sort.SliceStable(l.patches, func(i, j int) bool { return l.patches[i].off < l.patches[j].off })
	for i := 1; i < len(l.patches); i++ {
		if l.patches[i].off < l.patches[i-1].end {
			return false
		}
	}
	return true
}

func appendUint(b []byte, n uint64, size int64) []byte {
	for range size {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

func ulebSize(n uint64) int32 { return int32(max(1, (bits.Len64(n)+6)/7)) }
