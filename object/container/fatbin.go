package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

const (
	fatbinMagic = "\x50\xed\x55\xba"

	fatbinPTX    = 1
	fatbinELF    = 2
	fatbinLTO    = 8
	fatbinTile   = 0x80  // CUDA Tile IR
	fatbinConcat = 0x100 // CUDA 13's fatbinary -concat: one compressed body, an index of entries in the header

	fatbin64         = 0x1
	fatbinLinux      = 0x10
	fatbinMac        = 0x20
	fatbinWindows    = 0x40
	fatbinLZ4        = 0x2000
	fatbinZstd       = 0x8000
	fatbinObfuscated = 0x10000
	fatbinArch       = 0x100000 // sm_90a
	fatbinFamily     = 0x200000 // sm_100f
)

// IsFatbin reports whether data starts like a fatbin.
func IsFatbin(data []byte) bool { return prefixed(data, fatbinMagic) }

// fatbinEntry is the header of an entry. All lengths are exact, except the padded
// size of the body.
type fatbinEntry struct {
	Kind, Version uint16
	Header        uint32 // in the index of a concatenated entry: offset of the text in the body
	Padded        uint64
	Packed        uint32
	Options       uint32 // offset of {offset, length} of the options
	Minor, Major  uint16 // PTX ISA
	SM            uint32
	_             uint64 // the name of the source
	Flags         uint64
	_             uint64
	Plain         uint64
}

// minEntry is the size of a fatbinEntry, which ends with the uncompressed size. Headers record
// their length, because they are longer, and grow with each toolkit.
const minEntry = 0x40

func readFatbinEntry(b []byte) (e fatbinEntry) {
	binary.Decode(b, le, &e) // fails only if b is shorter
	return e
}

func (e fatbinEntry) target() string {
	if e.SM == 0 {
		return ""
	}
	suffix := ""
	switch {
	case e.Flags&fatbinArch != 0:
		suffix = "a"
	case e.Flags&fatbinFamily != 0:
		suffix = "f"
	}
	return fmt.Sprintf("sm_%d%s", e.SM, suffix)
}

func (e fatbinEntry) os() string {
	switch {
	case e.Flags&fatbinLinux != 0:
		return "linux"
	case e.Flags&fatbinMac != 0:
		return "mac"
	case e.Flags&fatbinWindows != 0:
		return "windows"
	}
	return ""
}

// eachFatbin opens one fatbin, or several that ld concatenated, with zeros between them. It
// calls opened with each fatbin after it.
func (op *opener) eachFatbin(data []byte, p place, opened func(fatbin []byte)) {
	for at := 0; ; {
		at += len(data[at:]) - len(bytes.TrimLeft(data[at:], "\x00"))
		if at == len(data) {
			return
		}
		p.need(IsFatbin(data[at:]), at, "no fatbin header where one should be")
		size := op.fatbin(data, at, p)
		opened(data[at : at+size])
		at += size
	}
}

func (op *opener) fatbin(data []byte, start int, p place) int {
	head, ok := span(data, uint64(start), 16)
	p.need(ok, start, "fatbin is cut short in its header")
	header, size := uint64(le.Uint16(head[6:])), le.Uint64(head[8:])
	p.need(header >= 16, start, "fatbin header has %d bytes, fewer than 16", header)
	p.need(within(data, uint64(start), header), start, "fatbin is cut short in its header")
	body, ok := span(data, uint64(start)+header, size)
	p.need(ok, start, "fatbin has %d bytes by its header, of which %d are there", size, uint64(len(data)-start)-header)
	op.groups++
	p.Group = op.groups
	first := len(op.members)
	for at := uint64(0); at < uint64(len(body)); {
		where := start + int(header) + int(at)
		b, ok := span(body, at, minEntry)
		if !ok || b[0]|b[1]|b[2]|b[3] == 0 {
			if len(trimNUL(body[at:])) == 0 {
				break // padding
			}
			p.need(ok, where, "fatbin is cut short in the header of an entry")
		}
		e := readFatbinEntry(b)
		p.need(e.Header >= minEntry, where, "fatbin entry has a header of %d bytes, fewer than %d", e.Header, minEntry)
		extended, ok := span(body, at, uint64(e.Header))
		p.need(ok, where, "fatbin entry has a header of %d bytes, of which %d are there", e.Header, uint64(len(body))-at)
		at += uint64(e.Header)
		text, ok := span(body, at, e.Padded)
		p.need(ok, where, "fatbin entry has %d bytes, of which %d are there", e.Padded, uint64(len(body))-at)
		op.fatbinEntry(e, extended, text, p, where)
		at += e.Padded
	}
	var made []*Member
	for i := range op.members[first:] {
		made = append(made, &op.members[first+i])
	}
	if l := op.list; l != nil && l.group == p.Group && len(l.objects) > 0 {
		made = l.objects[len(l.objects)-1].modules()
	}
	for _, m := range made {
		// A single PTX in a section takes the name of the section.
		if m.Target != "" && (len(made) > 1 || !p.section) {
			m.Name += ":" + m.Target
		}
	}
	return int(header + size)
}

func (op *opener) fatbinEntry(e fatbinEntry, header, body []byte, p place, where int) {
	p = p.in(p.Name)
	p.Options = e.optionsIn(header)
	read := func() []byte { return op.fatbinBody(e, body, p, where, len(header)) }
	switch {
	case e.Kind == fatbinLTO:
		read = whole(aloneInFatbin(header, body))
	case e.Kind == fatbinConcat && e.Flags&fatbinObfuscated == 0:
		size := uint64(len(body))
		if e.Flags&(fatbinZstd|fatbinLZ4) != 0 {
			size = e.Plain
		}
		op.fatbinIndex(header, size, p, where, sync.OnceValue(read))
		return
	}
	op.fatbinCode(e, p, read)
}

// fatbinCode offers the code of an entry, or of a part of one, which read returns.
func (op *opener) fatbinCode(e fatbinEntry, p place, read func() []byte) {
	switch {
	case e.Kind == fatbinLTO:
		op.offer(LTOIR, e.target(), p, read)
	case e.Flags&fatbinObfuscated != 0:
		op.none(obfuscated, e.target(), p)
	case e.Kind == fatbinELF:
		p.Options = "" // because CUDA 13 stores attributes of the code there
		op.offer(MachineCode, e.target(), p, read)
	case e.Kind == fatbinTile:
		op.offer(TileIR, e.target(), p, read)
	case e.Kind != fatbinPTX:
		op.none(deviceOther, e.target(), p)
	default:
		p.AddressSize, p.Target = 32, e.target()
		if e.Flags&fatbin64 != 0 {
			p.AddressSize = 64
		}
		// For Windows the object counts, because a fatbinary that runs on Linux labels its fatbins
		// linux even if clang compiles for Windows.
		if host := e.os(); host != "" && p.OS != "windows" {
			p.OS = host
		}
		op.offer(PTX, p.Target, p, read)
	}
}

// fatbinBody returns the contents of an entry, which begins at where of p.
func (op *opener) fatbinBody(e fatbinEntry, body []byte, p place, where, header int) []byte {
	if e.Packed > 0 {
		p.need(uint64(e.Packed) <= uint64(len(body)), where, "fatbin entry has %d compressed bytes, of which %d are there", e.Packed, len(body))
		body = body[:e.Packed]
		if e.Flags&(fatbinZstd|fatbinLZ4) == 0 {
			err := p.fault(where, "fatbin entry is compressed in a form that is not known")
			err.Help = "a later CUDA may have written it; compile with nvcc -no-compress"
			panic(err)
		}
	}
	at := where + header
	switch {
	case e.Flags&fatbinZstd != 0:
		return op.decompress(body, p, at, int64(min(e.Plain, 1<<62)), zstdCodec)
	case e.Flags&fatbinLZ4 != 0:
		return op.block(body, p, at, e.Plain)
	}
	return body
}

// optionsIn returns the options for ptxas in the header of an entry. An invalid offset means that
// there are none, because the options decide nothing here.
func (e fatbinEntry) optionsIn(header []byte) string {
	at, ok := span(header, uint64(e.Options), 8)
	if e.Options == 0 || !ok {
		return ""
	}
	text, _ := span(header, uint64(le.Uint32(at)), uint64(le.Uint32(at[4:])))
	return strings.TrimSpace(string(trimNUL(text)))
}

// fatbinIndex opens an entry that holds several codes, in size bytes that plain returns. After
// the usual header come {u32 count, u32 size} and count headers with options, whose size field
// is the offset of the code in the body. nvlink 13.5 reads LTO-IR there, in the form that it has in
// a file of its own, but fatbinary 13.5 writes none: it obfuscates LTO-IR in separate entries.
func (op *opener) fatbinIndex(header []byte, size uint64, p place, where int, plain func() []byte) {
	p.need(len(header) >= minEntry+8, where, "fatbin entry of several texts has no index")
	count := le.Uint32(header[minEntry:])
	total := uint64(0)
	at := uint64(minEntry + 8)
	for i := range count {
		b, ok := span(header, at, minEntry)
		p.need(ok, where+int(at), "index of a fatbin entry has %d texts, of which %d are there", count, i)
		e := readFatbinEntry(b)
		const outside = "text %d of a fatbin entry does not lie within the entry"
		// Overlapping texts would expand to more than the body.
		p.need(e.Padded <= size-total && uint64(e.Header) <= size-e.Padded, where+int(at), outside, i)
		total += e.Padded
		text := func() []byte {
			text, ok := span(plain(), uint64(e.Header), e.Padded)
			p.need(ok, where+int(at), outside, i)
			return text
		}
		p.Options = e.optionsIn(header[at:])
		op.fatbinCode(e, p, text)
		next := uint64(minEntry)
		if e.Options > 0 {
			o, ok := span(b, uint64(e.Options), 8)
			if !ok {
				o, ok = span(header, at+uint64(e.Options), 8)
			}
			p.need(ok, where+int(at), "options of text %d do not lie within the entry", i)
			// The options end in a NUL.
			next = (uint64(le.Uint32(o)) + uint64(le.Uint32(o[4:])) + 1 + 7) &^ 7
		}
		at += max(next, minEntry)
	}
}
