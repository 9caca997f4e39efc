package debuginfo

import (
	"context"
	"encoding/binary"
	"slices"

	"ptxlink/internal/dies"
	"ptxlink/internal/parallel"
	"ptxlink/object/ptx"
)

type merger struct {
	modules []*Module
	table   abbrevTable
}

func (w *merger) sections() (names []string) {
	for _, m := range w.modules {
		for i := range m.File.Sections {
			if name := m.File.Sections[i].Name; m.layouts[name] != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (w *merger) merge(ctx context.Context, jobs int) ([]Section, error) {
	names := w.sections()
	w.place()
	sections := make([]Section, len(names))
	err := parallel.Each(ctx, len(names), jobs, func(i int) string { return "merging " + names[i] }, func(i int) {
		out := newTextSink(names[i])
		w.write(ctx, names[i], out)
		sections[i] = Section{Name: names[i], Size: out.size, Texts: out.texts()}
	})
	if err != nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, m := range w.modules {
		for name, l := range m.layouts {
			if name != ".debug_str" { // Module.String still needs it
				l.patches, l.blocks, l.fixups, l.data.Fixups = nil, nil, fixups{}, nil
			}
		}
	}
	return sections, nil
}

func (w *merger) write(ctx context.Context, name string, out sink) {
	if name == ".debug_abbrev" {
		out.bytes(append(w.table.text, 0))
		return
	}
	for _, m := range w.modules {
		if l := m.layouts[name]; l != nil && ctx.Err() == nil {
			l.write(m, out)
		}
	}
}

// place assigns the codes of abbreviations and the offsets of everything.
func (w *merger) place() {
	size := map[string]int64{}
	for _, m := range w.modules {
		for _, name := range []string{".debug_info", ".debug_types"} {
			l := m.layouts[name]
			if l == nil {
				continue
			}
			codes := make([]uint64, len(m.shapeList)) // code 0: not assigned yet
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
}

// translate turns a fixup of the module into an address in the output. ok is false if the target of
// the fixup is gone.
func (m *Module) translate(f *ptx.Fixup) (to target, ok bool) {
	to = target{name: f.Target, addend: f.Addend, width: int(f.Width)}
	switch section := f.Section(); section {
	case "":
		name, fate := m.Name(f.Name)
		if fate != Kept || name == "" {
			return to, false
		}
		to.name = name
	case ".debug_abbrev", ".debug_line":
		to.addend = 0
	default:
		l := m.layouts[section]
		if l == nil {
			return to, false
		}
		to.addend = l.at(f.Addend)
	}
	return to, true
}

// abbrevTable is the abbreviation table of all units, in order of first use.
type abbrevTable struct {
	text  []byte            // the contents of .debug_abbrev, without the final 0
	codes map[string]uint64 // by the text of an abbreviation
}

func (t *abbrevTable) code(a *dies.Abbrev) uint64 {
	text := appendAbbrev(nil, a)
	code, ok := t.codes[string(text)]
	if !ok {
		code = uint64(len(t.codes) + 1)
		t.codes[string(text)] = code
		t.text = append(binary.AppendUvarint(t.text, code), text...)
	}
	return code
}

func appendAbbrev(b []byte, a *dies.Abbrev) []byte {
	b = binary.AppendUvarint(b, uint64(a.Tag))
	b = append(b, a.Children)
	for _, s := range a.Specs {
		b = binary.AppendUvarint(b, uint64(s.At))
		b = binary.AppendUvarint(b, s.Form)
		if s.Form == dies.FormImplicit {
			b = appendSleb(b, s.Implicit)
		}
	}
	return append(b, 0, 0)
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
