package debuginfo

import (
	"context"
	"strconv"
	"strings"

	"ptxlink/internal/parallel"
	"ptxlink/object/ptx"
)

// merger writes the merged sections.
type merger struct {
	modules []*Module
	table   *abbrevTable
}

func (w *merger) merge(ctx context.Context, jobs int) ([]Section, error) {
	// The sections come in the order of the inputs.
	var names []string
	index := map[string]bool{}
	for _, m := range w.modules {
		for i := range m.File.Sections {
			if name := m.File.Sections[i].Name; m.layouts[name] != nil && !index[name] {
				index[name] = true
				names = append(names, name)
			}
		}
	}
	size := w.place()
	sections := make([]Section, len(names))
	err := parallel.Each(ctx, len(names), jobs, func(i int) string { return "merging " + names[i] }, func(i int) {
		s := &sections[i]
		s.Name = names[i]
		if s.Name == ".debug_abbrev" {
			s.Bytes = w.table.bytes()
			return
		}
		fixups := 0
		for _, m := range w.modules {
			if l := m.layouts[s.Name]; l != nil {
				fixups += len(l.list) + l.places
			}
		}
		s.Bytes, s.Fixups = make([]byte, 0, size[s.Name]), make([]ptx.Fixup, 0, fixups)
		for _, m := range w.modules {
			if l := m.layouts[s.Name]; l != nil && ctx.Err() == nil {
				l.write(m, s)
			}
		}
	})
	if err != nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, m := range w.modules {
		for name, l := range m.layouts {
			if name != ".debug_str" { // String asks for it
				l.patches, l.blocks, l.fixups, l.data.Fixups = nil, nil, fixups{}, nil
			}
		}
	}
	return sections, nil
}

// place assigns the codes of abbreviations and the offsets of everything. It returns the
// sizes of the merged sections.
func (w *merger) place() map[string]int64 {
	size := map[string]int64{}
	for _, m := range w.modules {
		for _, name := range []string{".debug_info", ".debug_types"} {
			l := m.layouts[name]
			if l == nil {
				continue
			}
			codes := make([]uint64, len(m.shapeList)) // 0 is not known yet
			for i := range l.patches {
				if p := &l.patches[i]; p.kind == code {
					n := &codes[p.value]
					if *n == 0 {
						*n = w.table.code(m.shapeList[p.value])
					}
					p.value, p.size = int64(*n), ulebSize(*n)
				}
			}
		}
		for name, l := range m.layouts {
			l.base = size[name]
			size[name] += l.settle()
		}
	}
	return size
}

// translate turns a fixup of the module into one of the output. Without section and
// symbol, its target is gone.
func (m *Module) translate(f ptx.Fixup) ptx.Fixup {
	switch f.Section {
	case "":
		name, fate := m.Name(f.Name)
		if fate != Kept {
			name, f.Addend = "", 0
		}
		f.Symbol = name
	case ".debug_abbrev", ".debug_line":
		f.Addend = 0
	default:
		if l := m.layouts[f.Section]; l != nil {
			f.Addend = l.at(f.Addend)
		} else {
			f.Section = ""
		}
	}
	return f
}

// abbrevTable is the abbreviation table of all units, in order of first use.
type abbrevTable struct {
	list  []*abbrev
	codes map[string]uint64
}

func newAbbrevTable() *abbrevTable {
	return &abbrevTable{codes: map[string]uint64{}}
}

func (t *abbrevTable) code(a *abbrev) uint64 {
	key := string(a.append(nil))
	code, ok := t.codes[key]
	if !ok {
		t.list = append(t.list, a)
		code = uint64(len(t.list))
		t.codes[key] = code
	}
	return code
}

func (a *abbrev) append(b []byte) []byte {
	b = appendUleb(b, a.tag)
	b = append(b, a.children)
	for _, s := range a.specs {
		b = appendUleb(b, s.at)
		b = appendUleb(b, s.form)
		if s.form == formImplicit {
			b = appendSleb(b, s.implicit)
		}
	}
	return append(b, 0, 0)
}

func (t *abbrevTable) bytes() (b []byte) {
	for i := range t.list {
		b = appendUleb(b, uint64(i+1))
		b = t.list[i].append(b)
	}
	return append(b, 0)
}

func appendUleb(b []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func appendSleb(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Text returns a section as PTX: bytes in lists, and each fixup on its own line.
// ptxas accepts no other form.
func (s *Section) Text() string {
	const inLine = 16
	var b strings.Builder
	b.Grow(len(s.Bytes)*(5*inLine+6)/inLine + len(s.Fixups)*50 + 100)
	b.WriteString(".section " + s.Name + "\n{\n")
	next := 0
	var buffer [5*inLine + 10]byte
	for at := int64(0); at < int64(len(s.Bytes)); {
		if next < len(s.Fixups) && s.Fixups[next].Offset == at {
			f := &s.Fixups[next]
			b.Write(append(strconv.AppendInt(append(buffer[:0], "\t.b"...), int64(8*f.Width), 10), ' '))
			b.WriteString(f.Section)
			b.WriteString(f.Symbol)
			if f.Addend != 0 {
				b.Write(strconv.AppendInt(append(buffer[:0], '+'), f.Addend, 10))
			}
			b.WriteByte('\n')
			at += int64(f.Width)
			next++
			continue
		}
		end := min(int64(len(s.Bytes)), at+inLine)
		if next < len(s.Fixups) {
			end = min(end, s.Fixups[next].Offset)
		}
		line := append(buffer[:0], "\t.b8 "...)
		for _, c := range s.Bytes[at:end] {
			line = append(line, decimals[c]...)
		}
		line = append(line[:len(line)-2], '\n')
		b.Write(line)
		at = end
	}
	b.WriteString("}\n")
	return b.String()
}

// decimals holds each byte as a list has it.
var decimals = func() (t [256]string) {
	for c := range t {
		t[c] = strconv.Itoa(c) + ", "
	}
	return t
}()
