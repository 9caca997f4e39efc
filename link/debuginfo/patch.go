package debuginfo

import (
	"sort"

	"ptxlink/object/ptx"
)

// layout is a section of a module and the patches to it. The bytes between two
// patches are copied, with their fixups translated.
type layout struct {
	data    *ptx.Data
	base    int64   // where it starts in the merged section
	patches []patch // by offset, without overlap
	// pairs is set for lists of address pairs. A fixup without a target becomes 1
	// there, because two zeros would end the list.
	pairs bool
}

// patch replaces the bytes off to end.
type patch struct {
	off, end int64
	size     int64 // in the output
	moved    int64 // distance by which the following bytes move
	kind     patchKind
	bytes    []byte  // literal
	in       *layout // reference, offset: the section that value is in
	value    int64   // reference, offset: an offset there
	from     int64   // reference: the offset it is relative to
	add      int64   // reference: added to the distance
	symbol   string  // address
	shape    *abbrev // code
}

type patchKind uint8

const (
	literal    patchKind = iota
	code                 // of an abbreviation in the merged table
	reference            // the distance between two places of one section
	uleb                 // the same as a padded LEB128
	offset               // a place in a section, as a fixup
	number               // the same as a plain number
	unitOffset           // the same as a fixup if it is 0, which ptxas accepts
	address              // of an output symbol, as a fixup
)

// settle computes the distance by which each patch moves the bytes after it, once all
// sizes are known. It returns the size of the section in the output.
func (l *layout) settle() int64 {
	moved := int64(0)
	for i := range l.patches {
		p := &l.patches[i]
		moved += p.size - (p.end - p.off)
		p.moved = moved
	}
	return int64(len(l.data.Bytes)) + moved
}

// at returns the output offset of a byte of the input.
func (l *layout) at(off int64) int64 {
	i := sort.Search(len(l.patches), func(i int) bool { return l.patches[i].end > off })
	to := l.base + off
	if i > 0 {
		to += l.patches[i-1].moved
	}
	if i < len(l.patches) && off > l.patches[i].off { // inside a patch
		to -= max(0, off-l.patches[i].off-l.patches[i].size)
	}
	return to
}

func (l *layout) fixupAt(off int64) *ptx.Fixup {
	list := l.data.Fixups
	i := sort.Search(len(list), func(i int) bool { return list[i].Offset >= off })
	if i < len(list) && list[i].Offset == off {
		return &list[i]
	}
	return nil
}

// cutFixup returns a fixup that a patch replaces only a part of; nil if there is
// none.
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

// write appends the section to out.
func (l *layout) write(m *Module, out *Section) {
	at, next := int64(0), 0
	copyTo := func(end int64) {
		base := int64(len(out.Bytes)) - at
		out.Bytes = append(out.Bytes, l.data.Bytes[at:end]...)
		for ; next < len(l.data.Fixups) && l.data.Fixups[next].Offset < end; next++ {
			f := m.translate(l.data.Fixups[next])
			f.Offset += base
			if f.Section == "" && f.Symbol == "" {
				if l.pairs {
					out.Bytes[f.Offset] = 1
				}
				continue
			}
			out.Fixups = append(out.Fixups, f)
		}
		at = end
	}
	for i := range l.patches {
		p := &l.patches[i]
		copyTo(p.off)
		p.write(m, out)
		at = p.end
		for next < len(l.data.Fixups) && l.data.Fixups[next].Offset < at {
			next++
		}
	}
	copyTo(int64(len(l.data.Bytes)))
}

func (p *patch) write(m *Module, out *Section) {
	fixup := func(f ptx.Fixup) {
		f.Offset, f.Width = int64(len(out.Bytes)), int(p.size)
		out.Fixups = append(out.Fixups, f)
		out.Bytes = append(out.Bytes, make([]byte, p.size)...)
	}
	n := p.value
	if p.in != nil {
		n = p.in.at(p.value)
	}
	switch p.kind {
	case literal:
		if p.bytes == nil {
			out.Bytes = appendUint(out.Bytes, uint64(n), p.size)
		}
		out.Bytes = append(out.Bytes, p.bytes...)
	case code:
		out.Bytes = appendUleb(out.Bytes, uint64(n))
	case reference:
		out.Bytes = appendUint(out.Bytes, uint64(n-p.in.at(p.from)+p.add), p.size)
	case uleb:
		n -= p.in.at(p.from)
		for range p.size - 1 {
			out.Bytes = append(out.Bytes, byte(n)|0x80)
			n >>= 7
		}
		out.Bytes = append(out.Bytes, byte(n)&0x7f)
	case number:
		out.Bytes = appendUint(out.Bytes, uint64(n), p.size)
	case unitOffset:
		if n == 0 {
			fixup(ptx.Fixup{Section: p.in.data.Name})
			return
		}
		out.Bytes = appendUint(out.Bytes, uint64(n), p.size)
	case offset:
		fixup(ptx.Fixup{Section: p.in.data.Name, Addend: n})
	case address:
		fixup(ptx.Fixup{Symbol: p.symbol})
	}
}

// put adds a patch with literal bytes.
func (l *layout) put(off, end int64, bytes []byte) {
	p := patch{off: off, end: end, size: int64(len(bytes))}
	if len(bytes) > 8 {
		p.bytes = bytes
	} else {
		for i, b := range bytes {
			p.value |= int64(b) << (8 * i)
		}
	}
	l.patches = append(l.patches, p)
}

// putSection turns a plain number into an offset into a section.
func (l *layout) putSection(off, end int64, in *layout, value uint64) {
	l.patches = append(l.patches, patch{off: off, end: end, size: end - off, kind: offset, in: in, value: int64(value)})
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

func ulebSize(n uint64) int64 {
	size := int64(1)
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
