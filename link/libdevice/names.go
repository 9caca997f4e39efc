package libdevice

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// names returns the functions that the bitcode of libdevice defines, such as
// __nv_sinf, sorted. Toolkits differ: CUDA 13.5 has __nv_fast_tanhf, 12.4 does not.
// It reads only the parts of LLVM's format (llvm.org/docs/BitCodeFormat.html) that
// have the names: the symbol table of the module, which NVIDIA writes, or its string
// table, which LLVM writes since version 5. It returns nil for bitcode it cannot read.
func names(bitcode []byte) []string {
	if !bytes.HasPrefix(bitcode, []byte("BC\xc0\xde")) {
		return nil
	}
	r := &bitReader{data: bitcode, at: 32}
	m := moduleNames{shared: map[uint64][]abbreviation{}}
	for !r.bad && r.at+32 <= len(r.data)*8 {
		m.block(r, noBlock, 2)
	}
	list := m.names
	for _, f := range m.inTable {
		if f[0] <= uint64(len(m.strings)) && f[1] <= uint64(len(m.strings))-f[0] {
			list = append(list, string(m.strings[f[0]:f[0]+f[1]]))
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !strings.HasPrefix(name, "__nv_") })
	slices.Sort(list)
	return slices.Compact(list)
}

const (
	noBlock     = ^uint64(0)
	blockInfo   = 0
	blockModule = 8
	blockSymtab = 14
	blockStrtab = 23
)

type moduleNames struct {
	shared  map[uint64][]abbreviation // abbreviations that BLOCKINFO defines for blocks
	names   []string
	inTable [][2]uint64 // offset and length in strings
	strings []byte
}

type abbreviation []operand

type operand struct {
	kind  uint8 // of the list below
	value uint64
}

const (
	literal = iota // value itself
	fixed          // value bits
	vbr            // chunks of value bits
	array
	char6
	blob
)

// block reads a block to its end; at the top of the file, it reads one item.
func (m *moduleNames) block(r *bitReader, id uint64, width uint) {
	abbreviations := slices.Clone(m.shared[id])
	target := noBlock // of BLOCKINFO
	for !r.bad {
		switch code := r.fixed(width); code {
		case 0: // the end
			r.align()
			return
		case 1: // a block inside
			inner, innerWidth := r.vbr(8), r.vbr(4)
			r.align()
			words := r.fixed(32)
			if inner == blockInfo || inner == blockModule || inner == blockStrtab || inner == blockSymtab && id == blockModule {
				m.block(r, inner, uint(innerWidth))
			} else {
				r.skip(words * 32)
			}
		case 2:
			a := r.define()
			if id == blockInfo {
				m.shared[target] = append(m.shared[target], a)
			} else {
				abbreviations = append(abbreviations, a)
			}
		case 3:
			record := []uint64{r.vbr(6)}
			for n := r.vbr(6); n > 0 && !r.bad; n-- {
				record = append(record, r.vbr(6))
			}
			if id == blockInfo && record[0] == 1 && len(record) > 1 {
				target = record[1]
			}
			m.record(id, record)
		default:
			if code-4 >= uint64(len(abbreviations)) {
				r.bad = true
				return
			}
			m.record(id, r.record(abbreviations[code-4]))
		}
		if id == noBlock {
			return
		}
	}
}

func (m *moduleNames) record(block uint64, record []uint64) {
	text := func(values []uint64) []byte {
		b := make([]byte, len(values))
		for i, v := range values {
			b[i] = byte(v)
		}
		return b
	}
	switch {
	case len(record) < 3:
	case block == blockSymtab && record[0] == 1: // value, name
		m.names = append(m.names, string(text(record[2:])))
	case block == blockSymtab && record[0] == 3: // value, offset of the function, name
		m.names = append(m.names, string(text(record[3:])))
	case block == blockModule && record[0] == 8 && len(record) > 5 && record[5] == 0: // a function with a body
		m.inTable = append(m.inTable, [2]uint64{record[1], record[2]})
	case block == blockStrtab && record[0] == 1:
		m.strings = text(record[1:])
	}
}

// bitReader reads the words of a bitstream. bad stays set.
type bitReader struct {
	data []byte
	at   int // in bits
	bad  bool
}

func (r *bitReader) fixed(width uint) uint64 {
	if width > 64 || r.at+int(width) > len(r.data)*8 {
		r.bad = true
		return 0
	}
	var bytes [16]byte
	copy(bytes[:], r.data[r.at/8:])
	low, high := binary.LittleEndian.Uint64(bytes[:]), uint64(bytes[8])
	shift := uint(r.at % 8)
	value := low >> shift
	if shift > 0 {
		value |= high << (64 - shift)
	}
	r.at += int(width)
	if width < 64 {
		value &= 1<<width - 1
	}
	return value
}

func (r *bitReader) vbr(width uint) (value uint64) {
	if width < 2 || width > 32 {
		r.bad = true
	}
	more := uint64(1) << (width - 1)
	for shift := uint(0); !r.bad; shift += width - 1 {
		chunk := r.fixed(width)
		value |= chunk &^ more << shift
		if chunk&more == 0 {
			break
		}
	}
	return value
}

func (r *bitReader) align() { r.at = (r.at + 31) &^ 31 }

func (r *bitReader) skip(bits uint64) {
	if bits > uint64(len(r.data)*8-min(r.at, len(r.data)*8)) {
		r.bad = true
		return
	}
	r.at += int(bits)
}

func (r *bitReader) define() (a abbreviation) {
	for n := r.vbr(5); n > 0 && !r.bad; n-- {
		o := operand{}
		if r.fixed(1) == 1 {
			o.value = r.vbr(8)
		} else if o.kind = uint8(r.fixed(3)); o.kind == fixed || o.kind == vbr {
			o.value = r.vbr(5)
		}
		a = append(a, o)
	}
	return a
}

func (r *bitReader) record(a abbreviation) (record []uint64) {
	for i := 0; i < len(a) && !r.bad; i++ {
		switch a[i].kind {
		case array: // of the operand behind it, the last one
			if i+1 == len(a) {
				r.bad = true
				break
			}
			for n := r.vbr(6); n > 0 && !r.bad; n-- {
				record = append(record, r.scalar(a[i+1]))
			}
			return record
		case blob:
			n := r.vbr(6)
			r.align()
			from := r.at / 8
			r.skip(n * 8)
			if !r.bad {
				for _, b := range r.data[from : from+int(n)] {
					record = append(record, uint64(b))
				}
			}
			r.align()
		default:
			record = append(record, r.scalar(a[i]))
		}
	}
	return record
}

func (r *bitReader) scalar(o operand) uint64 {
	switch o.kind {
	case literal:
		return o.value
	case fixed:
		return r.fixed(uint(o.value))
	case vbr:
		if o.value == 0 {
			return 0
		}
		return r.vbr(uint(o.value))
	case char6:
		return uint64("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"[r.fixed(6)])
	}
	r.bad = true
	return 0
}
