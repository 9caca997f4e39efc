package container

import (
	"bytes"
	"strings"
)

const (
	offloadMagic = "\x10\xff\x10\xad"
	offloadEntry = 40
)

// offload opens the OffloadBinaries of clang; a section holds one for each target
// and object. Version 1 holds one image, version 2 several, and version 3 may be
// compressed after its header. Later versions are read as 3.
func (op *opener) offload(data []byte, p place) {
	group := map[string]bool{} // targets in the current group
	for at := 0; ; {
		at += len(data[at:]) - len(bytes.TrimLeft(data[at:], "\x00"))
		if at == len(data) {
			return
		}
		p.need(prefixed(data[at:], offloadMagic), at, "no OffloadBinary header where one should be")
		head, ok := span(data, uint64(at), 32)
		p.need(ok, at, "OffloadBinary is cut short in its header")
		size := le.Uint64(head[8:])
		whole, ok := span(data, uint64(at), size)
		p.need(ok && size >= 32, at, "OffloadBinary has %d bytes by its header, of which %d are there", size, len(data)-at)
		op.offloadBinary(whole, at, p, &group)
		at += int(size)
	}
}

func (op *opener) offloadBinary(b []byte, at int, p place, group *map[string]bool) {
	version, entries, count := le.Uint32(b[4:]), le.Uint64(b[16:]), uint64(1)
	stringEntry := uint64(16)
	p.need(version > 0, at, "OffloadBinary has version 0")
	if version >= 2 {
		count, stringEntry = le.Uint64(b[24:]), 24
	}
	if version >= 3 && len(b) >= 40 {
		if inflated := le.Uint64(b[32:]); inflated != 0 {
			p.need(40 <= entries && entries <= uint64(len(b)) && entries <= inflated && inflated-entries <= 1<<62,
				at, "OffloadBinary says that it has %d bytes when decompressed, its entries at %d", inflated, entries)
			form := zlibCodec
			if prefixed(b[entries:], zstdMagic) {
				form = zstdCodec
			}
			body := op.decompress(b[entries:], p, at+int(entries), int64(inflated-entries), form)
			b = append(bytes.Clone(b[:entries]), body...) // because offsets count from the header
		}
	}
	total, most := 0, uint64(len(b)) // strings take 16 bytes each, unless entries share them
	for i := range count {
		e, ok := span(b, entries, offloadEntry)
		p.need(ok, at, "OffloadBinary has %d entries by its header, of which %d are there", count, i)
		entries += offloadEntry
		// If every entry named all strings, reading them would take quadratic time.
		n := le.Uint64(e[16:])
		p.need(n <= most, at, "entry %d of an OffloadBinary has %d strings by its header, more than it can have", i, n)
		most -= n
		strs := offloadStrings(b, le.Uint64(e[8:]), n, stringEntry, p, at)
		image, ok := span(b, le.Uint64(e[24:]), le.Uint64(e[32:]))
		// Overlapping images would expand to more than the file.
		total += len(image)
		p.need(ok && total <= len(b), at, "image %d of an OffloadBinary does not lie within it", i)
		if len(image) > 0 {
			op.image(image, strs["triple"], strs["arch"], p, group)
		}
	}
}

// offloadStrings reads the keys and values of an entry that the linker uses.
func offloadStrings(b []byte, from, count, size uint64, p place, at int) map[string]string {
	strs := map[string]string{}
	for i := range count {
		entry, ok := span(b, from, size)
		p.need(ok, at, "OffloadBinary has %d strings by its header, of which %d are there", count, i)
		from += size
		// The image kind is not used, because some writers guess it from a file suffix. These two
		// keys are reliable.
		for _, key := range []string{"triple", "arch"} {
			if k, ok := span(b, le.Uint64(entry), uint64(len(key)+1)); ok && string(k) == key+"\x00" {
				most := uint64(256)
				if size >= 24 {
					most = min(most, le.Uint64(entry[16:]))
				}
				strs[key] = cString(b, le.Uint64(entry[8:]), most)
			}
		}
	}
	return strs
}

// image opens one image. A target that repeats starts a new group, since nothing records which
// images belong to one source, but a compiler writes them in sequence, each for another target.
func (op *opener) image(image []byte, triple, arch string, p place, group *map[string]bool) {
	switch {
	case strings.HasPrefix(triple, "nvptx64"):
		p.AddressSize = 64
	case strings.HasPrefix(triple, "nvptx"):
		p.AddressSize = 32
	case triple != "" && !looksLikePTX(image):
		op.held.add(deviceOther, triple)
		return
	}
	p.Target = arch
	inner := p.in(p.Name)
	if arch != "" {
		inner.Name += ":" + arch
	}
	if key := triple + " " + arch; op.groups == 0 || (*group)[key] || len(*group) == 0 {
		op.groups++
		*group = map[string]bool{key: true}
	} else {
		(*group)[key] = true
	}
	inner.Group = op.groups
	inner.section = true
	op.open(image, inner)
}
