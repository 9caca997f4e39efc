package container

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// Bitcode describes a module of LLVM bitcode.
type Bitcode struct {
	Producer string // "LLVM19.1.7"; LLVM before 3.8 and NVIDIA's write none
	Triple   string // "nvptx64-nvidia-cuda"
	Target   string // sm_80, or empty: the GPU that its functions are for
	Symbols  []BitcodeSymbol
}

// BitcodeSymbol is a name that a module defines for other modules, or needs from them.
type BitcodeSymbol struct {
	Name    string
	Defined bool
	Inline  bool // a compiler drops it if its module does not use it
}

// OnlyInline reports whether a compiler would drop everything that the module defines if it
// compiled the module alone, as for libclc.
func (b Bitcode) OnlyInline() bool {
	defines := false
	for _, s := range b.Symbols {
		if s.Defined && !s.Inline {
			return false
		}
		defines = defines || s.Defined
	}
	return defines
}

// bitcode offers LLVM bitcode. Bitcode for other machines, such as the host or 32-bit nvptx, is not
// linked.
func (op *opener) bitcode(data []byte, p place) {
	b, _ := ReadBitcode(data) // without an error, because its compiler tells where it is damaged
	switch {
	case b.Triple == "":
		op.none(bitcodeUnknown, "", p)
	case !strings.HasPrefix(b.Triple, "nvptx64"):
		op.none(bitcodeOther, b.Triple, p)
	default:
		op.offer(LLVMBitcode, cmp.Or(p.Target, b.Target), p, whole(data))
	}
}

const bitcodeMagic, wrapperMagic = "BC\xc0\xde", "\xde\xc0\x17\x0b"

// PTXName returns the name in valid PTX, where names cannot contain dots. LLVM itself changes only
// names that it can see to be private to the module, in the same way. It writes other names with a
// dot into PTX as they are.
func (s BitcodeSymbol) PTXName() string { return ptxName.Replace(s.Name) }

var ptxName = strings.NewReplacer(".", "_$_", "@", "_$_", "<", "_$_", ">", "_$_")

// IsBitcode reports whether data starts like LLVM bitcode.
func IsBitcode(data []byte) bool { return prefixed(data, bitcodeMagic) || prefixed(data, wrapperMagic) }

// bitcodeIn returns the bitcode in data, which may be in a wrapper. The wrapper has five words: the
// third is the place of the bitcode, and the fourth its size.
func bitcodeIn(data []byte) ([]byte, bool) {
	if !prefixed(data, wrapperMagic) {
		return data, prefixed(data, bitcodeMagic)
	}
	head, ok := span(data, 0, 20)
	if !ok {
		return nil, false
	}
	data, ok = span(data, uint64(le.Uint32(head[8:])), uint64(le.Uint32(head[12:])))
	return data, ok && prefixed(data, bitcodeMagic)
}

// ReadBitcode reads the only parts of LLVM's format (llvm.org/docs/BitCodeFormat.html) that
// tell what a module is and which names it has: these are in the symbol table of the module,
// where NVIDIA's libdevice has the functions with a body, or in the string table, which LLVM
// writes since version 5. It returns false for what it cannot read to the end.
func ReadBitcode(data []byte) (Bitcode, bool) {
	data, ok := bitcodeIn(data)
	if !ok {
		return Bitcode{}, false
	}
	r := &bitReader{data: data, at: 32}
	m := bitcodeReader{shared: map[uint64][]abbreviation{}}
	for !r.bad && r.at+32 <= len(r.data)*8 {
		m.block(r, noBlock, 2)
	}
	for _, s := range m.inTable {
		name, ok := span(m.strings, s.offset, s.length)
		if m.strings == nil { // of LLVM before 5
			break
		} else if !ok {
			return m.Bitcode, false
		}
		m.add(string(name), s.BitcodeSymbol)
	}
	return m.Bitcode, !r.bad
}

const (
	noBlock       = ^uint64(0)
	blockInfo     = 0
	blockModule   = 8
	blockGroups   = 10 // of attributes
	blockIdentity = 13
	blockSymtab   = 14
	blockStrtab   = 23
)

type bitcodeReader struct {
	Bitcode
	shared  map[uint64][]abbreviation // abbreviations that BLOCKINFO defines for blocks
	inTable []tableSymbol
	strings []byte
}

type tableSymbol struct {
	BitcodeSymbol
	offset, length uint64 // in strings
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
func (m *bitcodeReader) block(r *bitReader, id uint64, width uint) {
	abbreviations := slices.Clip(m.shared[id])
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
			if readsBlock(id, inner) {
				m.block(r, inner, uint(innerWidth))
			} else {
				r.skip(words * 32)
			}
		case 2:
			a := r.define()
			list := &abbreviations
			if id == blockInfo {
				shared := m.shared[target]
				list = &shared
			}
			if *list = append(*list, a); len(*list) > maxAbbreviations {
				r.bad = true
			}
			if id == blockInfo {
				m.shared[target] = *list
			}
		case 3:
			record := []uint64{r.vbr(6)}
			n := r.vbr(6)
			for r.bad = r.bad || n > maxElements; n > 0 && !r.bad; n-- {
				record = append(record, r.vbr(6))
			}
			if id == blockInfo && record[0] == 1 && len(record) > 1 {
				target = record[1]
			}
			m.record(id, record, nil)
		default:
			if code-4 >= uint64(len(abbreviations)) {
				r.bad = true
				return
			}
			r.blob = nil
			record := r.record(abbreviations[code-4])
			m.record(id, record, r.blob)
		}
		if id == noBlock {
			return
		}
	}
}

// readsBlock reports whether a block in another one is read. The others are skipped.
func readsBlock(outer, id uint64) bool {
	switch outer {
	case noBlock:
		return id == blockInfo || id == blockModule || id == blockIdentity || id == blockStrtab
	case blockModule:
		return id == blockInfo || id == blockGroups || id == blockSymtab
	}
	return false
}

// Codes of records, and kinds of linkage.
const (
	codeTriple, codeVariable, codeFunction, codeAlias = 2, 7, 8, 14

	linkageInternal, linkagePrivate, linkageAvailable = 3, 9, 12
)

func (m *bitcodeReader) record(block uint64, record []uint64, blob []byte) {
	text := func(values []uint64) []byte {
		b := make([]byte, len(values))
		for i, v := range values {
			b[i] = byte(v)
		}
		return b
	}
	switch {
	case block == blockStrtab && len(record) == 1 && record[0] == 1:
		m.strings = blob
	case len(record) < 3:
	case block == blockIdentity && record[0] == 1:
		m.Producer = string(text(record[1:]))
	case block == blockModule && record[0] == codeTriple:
		m.Triple = string(text(record[1:]))
	case block == blockGroups && record[0] == 3:
		m.attributes(text(record[1:]))
	case block == blockSymtab && record[0] == 1: // value, name
		m.add(string(text(record[2:])), BitcodeSymbol{Defined: true})
	case block == blockSymtab && record[0] == 3: // value, offset of the function, name
		m.add(string(text(record[3:])), BitcodeSymbol{Defined: true})
	case block == blockModule && len(record) > 6:
		m.symbol(record)
	}
}

// attributes reads a group of attributes, among which are strings: a kind, the name and a NUL,
// the value and a NUL.
func (m *bitcodeReader) attributes(group []byte) {
	_, value, found := bytes.Cut(group, []byte("\x04target-cpu\x00"))
	if end := bytes.IndexByte(value, 0); found && end > 0 && end < 16 && m.Target == "" {
		m.Target = string(value[:end])
	}
}

func (m *bitcodeReader) add(name string, s BitcodeSymbol) {
	if s.Name = name; name != "" && !strings.HasPrefix(name, "llvm.") {
		m.Symbols = append(m.Symbols, s)
	}
}

// symbol reads a record of a symbol: its code, the place of the name, the type, and, as the
// sixth and the seventh, whether it is declared only and the linkage.
func (m *bitcodeReader) symbol(record []uint64) {
	s := tableSymbol{offset: record[1], length: record[2]}
	switch record[0] {
	case codeFunction:
		s.Defined = record[5] == 0
	case codeVariable:
		s.Defined = record[5] != 0
	case codeAlias:
		s.Defined = true
	default:
		return
	}
	switch record[6] {
	case linkageInternal, linkagePrivate, 13, 14: // 13 and 14 were kinds of private
		return
	case linkageAvailable:
		s.Defined = false
	case 4, 11, 18, 19: // linkonce and linkonce_odr, and what they were
		s.Inline = true
	}
	m.inTable = append(m.inTable, s)
}

// LLVM stays far below these limits in the blocks that are read. Without limits, a short file would
// take long.
const maxAbbreviations, maxOperands, maxElements = 256, 64, 1 << 16

// bitReader reads the words of a bitstream. bad stays set, so that it can be checked at the end.
type bitReader struct {
	data []byte
	at   int // in bits
	bad  bool
	blob []byte // of the record
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
		if a = append(a, o); len(a) > maxOperands {
			r.bad = true
		}
	}
	return a
}

func (r *bitReader) record(a abbreviation) (record []uint64) {
	for i := 0; i < len(a) && !r.bad; i++ {
		switch a[i].kind {
		case array: // of the operand after it, which must be the last one
			if i+1 == len(a) || a[i+1].kind == literal || a[i+1].kind != char6 && a[i+1].value == 0 {
				r.bad = true // since elements without bits could be any number
				break
			}
			n := r.vbr(6)
			for r.bad = r.bad || n > maxElements; n > 0 && !r.bad; n-- {
				record = append(record, r.scalar(a[i+1]))
			}
			return record
		case blob:
			n := r.vbr(6)
			r.align()
			var ok bool
			if r.blob, ok = span(r.data, uint64(r.at/8), n); !ok {
				r.bad = true
				break
			}
			r.skip(n * 8)
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
