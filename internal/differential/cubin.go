package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ptxlink/internal/oracles"
)

// A cubin is the comparable part of the output of ptxas or nvlink.
type cubin struct {
	file    *elf.File
	symbols []*cubinSymbol // by index; 0 is the null symbol
	relocs  map[elf.SectionIndex][]reloc
	data    map[elf.SectionIndex][]byte
}

type cubinSymbol struct {
	elf.Symbol
	identity string // its name in its module, or its contents
}

type reloc struct {
	offset uint64
	kind   uint32
	symbol *cubinSymbol
	addend int64
}

// openCubin reads a cubin. The identity of a symbol without linkage is what local returns.
func openCubin(text []byte, local func(name string) string) (*cubin, error) {
	f, err := oracles.ParseCubin(text)
	if err != nil {
		return nil, err
	}
	c := &cubin{file: f, symbols: []*cubinSymbol{{}}, relocs: map[elf.SectionIndex][]reloc{}, data: map[elf.SectionIndex][]byte{}}
	list, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		c.symbols = append(c.symbols, &cubinSymbol{Symbol: s})
	}
	for i, s := range f.Sections {
		size := uint64(0)
		switch s.Type {
		case elf.SHT_REL:
			size = 16
		case elf.SHT_RELA:
			size = 24
		case elf.SHT_NOBITS, 0x70000007, 0x7000000a, 0x70000009: // .nv.global, .nv.shared, .nv.local
			continue
		}
		data := text[min(s.Offset, uint64(len(text))):min(s.Offset+s.FileSize, uint64(len(text)))]
		if size == 0 {
			c.data[elf.SectionIndex(i)] = data
			continue
		}
		for ; uint64(len(data)) >= size; data = data[size:] {
			info := binary.LittleEndian.Uint64(data[8:])
			if info>>32 >= uint64(len(c.symbols)) {
				return nil, fmt.Errorf("a relocation of symbol %d of %d", info>>32, len(c.symbols))
			}
			r := reloc{offset: binary.LittleEndian.Uint64(data), kind: uint32(info), symbol: c.symbols[info>>32]}
			if size == 24 {
				r.addend = int64(binary.LittleEndian.Uint64(data[16:]))
			}
			at := elf.SectionIndex(s.Info)
			c.relocs[at] = append(c.relocs[at], r)
		}
	}
	for _, s := range c.symbols {
		s.identity = c.identify(s, local)
	}
	return c, nil
}

func (c *cubin) identify(s *cubinSymbol, local func(name string) string) string {
	contents := fmt.Sprintf("%s, %d bytes %x", c.section(s), s.Size, c.bytes(s))
	switch m := inFunction.FindStringSubmatch(s.Name); {
	case m != nil:
		return suffix.ReplaceAllString(m[1], "") + " in a function, " + contents
	case s.isLocal() && strings.Contains(s.Name, ".const_opt."): // literals and tables created by ptxas
		return "literal, " + contents
	case !s.isLocal() || s.Section == elf.SHN_UNDEF:
		return s.Name
	case elf.ST_TYPE(s.Info) == elf.STT_SECTION:
		return "section"
	}
	return local(s.Name)
}

func (s *cubinSymbol) isFunc() bool { return elf.ST_TYPE(s.Info) == elf.STT_FUNC }
func (s *cubinSymbol) isObject() bool {
	t := elf.ST_TYPE(s.Info)
	return t == elf.STT_OBJECT || t >= oracles.CudaObject || t == elf.STT_COMMON
}
func (s *cubinSymbol) isLocal() bool { return elf.ST_BIND(s.Info) == elf.STB_LOCAL }

// defined returns the functions or the data that the cubin defines.
func (c *cubin) defined(keep func(*cubinSymbol) bool) (list []*cubinSymbol) {
	for _, s := range c.symbols {
		if s.Section != elf.SHN_UNDEF && keep(s) && s.Name != "_param" && !strings.HasPrefix(s.Name, ".") {
			list = append(list, s)
		}
	}
	return list
}

// function returns the function of a name, or nil.
func (c *cubin) function(name string) *cubinSymbol {
	for _, f := range c.defined((*cubinSymbol).isFunc) {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// section returns the kind of section of a symbol, without the kernel's name:
// ".nv.shared", ".text".
func (c *cubin) section(s *cubinSymbol) string {
	if int(s.Section) >= len(c.file.Sections) {
		return s.Section.String()
	}
	name := c.file.Sections[s.Section].Name
	for _, prefix := range []string{".nv.shared", ".nv_debug.shared", ".nv.constant2", ".nv.constant3", ".nv.constant4", ".nv.local"} {
		if strings.HasPrefix(name, prefix) {
			return strings.Replace(prefix, "_debug", "", 1)
		}
	}
	if s.isFunc() {
		return ".text"
	}
	return strings.TrimSuffix(name, ".init")
}

// bytes returns the contents of a symbol, nil for zeros.
func (c *cubin) bytes(s *cubinSymbol) []byte {
	data := c.data[s.Section]
	if s.Value+s.Size > uint64(len(data)) {
		return nil
	}
	data = data[s.Value : s.Value+s.Size]
	if !s.isFunc() && len(bytes.Trim(data, "\x00")) == 0 {
		return nil
	}
	return data
}

// relocations returns those inside a symbol, by offset from its start.
func (c *cubin) relocations(s *cubinSymbol) (list []reloc) {
	for _, r := range c.relocs[s.Section] {
		if r.offset >= s.Value && r.offset < s.Value+s.Size {
			r.offset -= s.Value
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b reloc) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.kind, b.kind)) })
	return list
}

// inFunction matches the name that ptxas gives to an object declared in a
// function.
var inFunction = regexp.MustCompile(`^\$__(.*)__\d+$`)

// suffix matches what ptxlink adds to the name of a local, or to the base of a
// register range, anywhere in a name: names of the pool look like that too.
var suffix = regexp.MustCompile(`\$\d+_?`)
