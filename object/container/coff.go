package container

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

const (
	peMagic      = "PE\x00\x00"
	anonymous    = "\x00\x00\xff\xff"                                                 // object of another form than COFF: cl /bigobj, cl /GL, or an import
	bigObject    = "\xc7\xa1\xba\xd1\xee\xba\xa9\x4b\xaf\x20\xfa\xf6\x6a\xa4\xdc\xb8" // class of anonymous objects with sections
	coffHeader   = 20
	bigHeader    = 56
	coffSection  = 40
	coffNoData   = 0x80 // IMAGE_SCN_CNT_UNINITIALIZED_DATA
	coffNameSize = 8
)

// coffMachines are the values of the first two bytes of an object.
var coffMachines = map[uint16]string{
	0x8664: "x86_64",
	0xaa64: "aarch64",
	0xa641: "aarch64", // ARM64EC
	0x014c: "i386",
	0x01c4: "arm",
}

// isCOFF reports whether data starts like an object for Windows. The two bytes of the machine are a
// usable mark only because the size of the optional header must be 0 as well: only programs have
// such a header.
func isCOFF(data []byte) bool {
	return len(data) >= coffHeader && le.Uint16(data[16:]) == 0 && coffMachines[le.Uint16(data)] != ""
}

// coffFile is an object, program or DLL for Windows. debug/pe cannot be used: it knows
// neither /bigobj nor all machines, and reads all symbols and relocations.
type coffFile struct {
	data     []byte
	image    bool // a program or DLL
	machine  uint16
	sections uint64 // offset of the section headers
	count    uint64
	strings  []byte // table of long names, from its size on
}

func (op *opener) program(data []byte, p place) {
	p.need(len(data) >= 0x40, 0, "Windows program is cut short in its header")
	at := uint64(le.Uint32(data[0x3c:]))
	head, ok := span(data, at, uint64(len(peMagic)+coffHeader))
	p.need(ok, 0x3c, "Windows program is cut short: its PE header is at byte %#x, and it ends at %#x", at, len(data))
	if !prefixed(head, peMagic) {
		op.none(host, "", p) // for DOS
		return
	}
	head = head[len(peMagic):]
	at += uint64(len(peMagic) + coffHeader)
	op.coff(&coffFile{data: data, image: true}, head, at+uint64(le.Uint16(head[16:])), p)
}

// anonymous opens an object with the long header. cl /bigobj writes it around
// sections; link.exe's imports and the objects of cl /GL have none.
func (op *opener) anonymous(data []byte, p place) {
	p.need(len(data) >= coffHeader, 0, "COFF object is cut short in its header")
	version, machine := le.Uint16(data[4:]), le.Uint16(data[6:])
	if version < 2 || len(data) >= 28 && string(data[12:28]) != bigObject {
		kind := host
		if version > 0 {
			kind = wholeProgram
		}
		op.none(kind, coffMachines[machine], p)
		return
	}
	p.need(len(data) >= bigHeader, 0, "COFF object is cut short in its header")
	f := &coffFile{data: data, machine: machine, sections: bigHeader, count: uint64(le.Uint32(data[44:]))}
	const symbol = 20
	f.readStrings(le.Uint32(data[48:]), le.Uint32(data[52:]), symbol, p)
	op.coffSections(f, p)
}

// coff opens a file whose COFF header is head and whose section headers begin at
// sections.
func (op *opener) coff(f *coffFile, head []byte, sections uint64, p place) {
	const symbol = 18
	f.machine, f.count, f.sections = le.Uint16(head), uint64(le.Uint16(head[2:])), sections
	f.readStrings(le.Uint32(head[8:]), le.Uint32(head[12:]), symbol, p)
	op.coffSections(f, p)
}

// readStrings finds the table of long names, which follows the symbols. A program without the table
// is accepted, because its field may be left from an object, and long names are rare.
func (f *coffFile) readStrings(symbols, count uint32, size uint64, p place) {
	at := uint64(symbols) + uint64(count)*size
	if symbols == 0 {
		return
	}
	head, ok := span(f.data, at, 4)
	if ok {
		f.strings, ok = span(f.data, at, uint64(le.Uint32(head)))
	}
	p.need(ok || f.image, 0, "COFF file is cut short: its symbols and names are at byte %#x, and it ends at %#x", symbols, len(f.data))
}

func (op *opener) coffSections(f *coffFile, p place) {
	p.OS, p.Arch = "windows", coffMachines[f.machine]
	headers := uint64(len(f.data)) - min(f.sections, uint64(len(f.data)))
	p.need(f.count <= headers/coffSection, int(f.sections), "COFF file is cut short: its section headers, %d of %d bytes, are at byte %#x, and it ends at %#x", f.count, coffSection, f.sections, len(f.data))
	list := func(wanted func(name string) bool) (list []deviceSection) {
		for i := range f.count {
			if s := f.section(f.sections + i*coffSection); s.off != 0 && wanted(s.name) {
				list = append(list, s)
			}
		}
		return list
	}
	if op.list != nil && op.list.hosts {
		op.hostFile(f.data, p, !f.image, list)
		return
	}
	op.sections(f.data, p, list(func(name string) bool {
		// Linkers cut names to 8 bytes in programs.
		return slices.ContainsFunc(deviceSections, func(device string) bool { return name == device || name == device[:coffNameSize] })
	}))
}

// section reads the section header at an offset, which exists. The offset of a section
// without data is 0.
func (f *coffFile) section(at uint64) deviceSection {
	b := f.data[at : at+coffSection]
	s := deviceSection{size: uint64(le.Uint32(b[16:])), off: uint64(le.Uint32(b[20:]))}
	if flags := le.Uint32(b[36:]); flags&coffNoData != 0 {
		s.off = 0
	}
	// A program pads its sections. The size in memory may be missing, or larger.
	if size := uint64(le.Uint32(b[8:])); f.image && size > 0 {
		s.size = min(s.size, size)
	}
	s.name = f.name(b[:coffNameSize])
	return s
}

// name returns the name in a section header: the name itself, or / and its offset in
// the table of long names in decimal, or // and the offset in base64.
func (f *coffFile) name(field []byte) string {
	short := string(bytes.TrimRight(field, "\x00"))
	where, long := strings.CutPrefix(short, "/")
	if !long {
		return short
	}
	var at uint64
	if digits, ok := strings.CutPrefix(where, "/"); ok {
		b, err := base64.StdEncoding.DecodeString(strings.Repeat("A", max(8-len(digits), 0)) + digits)
		if err != nil {
			return short
		}
		for _, c := range b {
			at = at<<8 | uint64(c)
		}
	} else if n, err := strconv.ParseUint(where, 10, 32); err == nil {
		at = n
	} else {
		return short
	}
	return cString(f.strings, at, longestSection)
}
