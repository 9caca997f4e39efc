package ptx

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ptxlink/internal/parallel"
	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Data is the contents of all .section blocks of one name, concatenated.
type Data struct {
	Name   string
	Bytes  []byte  // zeros at fixups; must not be changed
	Fixups []Fixup // by offset
	Labels []Label // defined in the blocks, by offset
}

// Label is a label inside a section.
type Label struct {
	Name   string
	Offset int64 // from the start of the section
	Span   diag.Span
}

// Fixup is a location in a section that holds an address, Target+Addend.
type Fixup struct {
	Offset int64
	// Target is a section, ".debug_abbrev", or any other name: a code label, a
	// module-scope name, a parameter or object of a function. A label inside a section
	// of the module is given as that section plus its offset. The section itself may be
	// absent, because ptxas writes .debug_line.
	Target string
	Name   int32     // the number of Target in the module (SectionNames), or -1 for a section
	Width  int32     // in bytes: 4 or 8
	Addend int64     // never negative
	Span   diag.Span // the whole expression
}

// Section returns the section that the fixup refers to; "" if it is to another name.
func (f *Fixup) Section() string {
	if f.Name < 0 {
		return f.Target
	}
	return ""
}

// SectionData reads all blocks of a section; there may be none. It accepts the
// items that ptxas accepts: labels, and .b8, .b16, .b32 and .b64 with
//
//  1. numbers, alone or in a list: 12, -1, 0x1f, 017, 0b1
//  2. name or name+number, not in a list: .debug_loc+133, $L__tmp0, counter
//  3. label-label, both in one section, not in a list
//
// Where ptxas drops bits silently (.b32 4294967296, 64-bit hex), the number is used
// as written if it fits, and is an error otherwise.
func (m *Module) SectionData(name string) (data Data, err *Error) {
	set := sectionSet{m: m}
	err = parallel.Catch[*Error](func() { data = set.data(name) })
	return data, err
}

// LoadedSection returns the bytes of a section as if all sections lay at address 0, and
// any other name plus a number at the address that other returns; at 0 if other is nil.
// The bytes must not be changed.
func (m *Module) LoadedSection(name string, other func(name string, addend int64) uint64) (bytes []byte, err *Error) {
	set := sectionSet{m: m}
	err = parallel.Catch[*Error](func() {
		r := set.reader(name)
		r.load, r.other = true, other
		r.resolve()
		bytes = r.data.Bytes
	})
	return bytes, err
}

// AllSections reads every section of the module except those named, like
// SectionData. It omits empty sections.
func (m *Module) AllSections(except ...string) (all map[string]*Data, err *Error) {
	set := sectionSet{m: m}
	var seen map[string]bool
	err = parallel.Catch[*Error](func() {
		read := map[string]*Data{}
		for i := range m.Sections {
			name := m.Sections[i].Name
			if slices.Contains(except, name) || !sets.Add(&seen, name) {
				continue
			}
			if data := set.data(name); len(data.Bytes) > 0 {
				read[name] = &data
			}
		}
		all = read
	})
	return all, err
}

// SectionSpan returns the span of the item that holds a byte of a section, or the
// zero Span if there is none.
func (m *Module) SectionSpan(name string, offset int64) diag.Span {
	set := sectionSet{m: m}
	r := sectionReader{set: &set, want: offset}
	parallel.Catch[*Error](func() { r.read(name) }) // without an error, because that may be after the item
	return r.found
}

// sectionSet reads the sections of one module, each once.
type sectionSet struct {
	m       *Module
	blocks  map[string][]*Section     // by name
	labels  map[string]string         // defined in sections: the section's name
	readers map[string]*sectionReader // of the sections read so far
}

func (s *sectionSet) data(name string) Data {
	r := s.reader(name)
	r.resolve()
	return r.data
}

func (s *sectionSet) reader(name string) *sectionReader {
	r := s.readers[name]
	if r == nil {
		r = &sectionReader{set: s, want: -1}
		r.read(name)
		sets.Put(&s.readers, name, r)
	}
	return r
}

func (s *sectionSet) blocksOf(name string) []*Section {
	if s.blocks == nil {
		s.blocks = map[string][]*Section{}
		for i := range s.m.Sections {
			b := &s.m.Sections[i]
			s.blocks[b.Name] = append(s.blocks[b.Name], b)
		}
	}
	return s.blocks[name]
}

func (s *sectionSet) definer(label string) (section string, ok bool) {
	if s.labels == nil {
		s.labels = map[string]string{}
		for i := range s.m.Sections {
			for _, l := range s.m.Sections[i].Labels {
				s.labels[s.m.Src.String(l)] = s.m.Sections[i].Name
			}
		}
	}
	section, ok = s.labels[label]
	return section, ok
}

type sectionReader struct {
	set     *sectionSet
	data    Data
	labels  map[string]int64 // of this section
	pending []expression
	shared  bool                                   // data.Bytes and pending belong to the module
	load    bool                                   // write addresses instead of making fixups
	other   func(name string, addend int64) uint64 // with load: the address of a name outside the sections
	want    int64                                  // the offset to look for, or -1
	found   diag.Span
}

// expression is an item that depends on labels: name+addend or name-minus.
type expression struct {
	offset      int64
	addend      int64
	name, minus int32 // numbers of names (SectionNames) that are added and subtracted, or -1
	span        diag.Span
	nameLen     int32 // at the start of span
	width       int8
	section     bool // the name is a section
}

func (r *sectionReader) fail(span diag.Span, format string, args ...any) {
	panic(&Error{Span: span, Text: fmt.Sprintf(format, args...)})
}

func (r *sectionReader) read(name string) {
	r.data.Name = name
	r.labels = map[string]int64{}
	blocks := r.set.blocksOf(name)
	for _, s := range blocks {
		if s.complete && r.want < 0 {
			r.append(s, len(blocks) == 1)
			continue
		}
		base := int64(len(r.data.Bytes))
		b := blockReader{cursor: cursor{Lexer: NewLexer(r.set.m.Src.Text[:s.Body.End()], 0)}, names: &r.set.m.sectionNames, room: math.MaxInt, want: max(-1, r.want-base)}
		b.move(int(s.Body.Off))
		b.read()
		if r.found.Len == 0 {
			r.found = b.found
		}
		if r.append(&b.s, false); b.Err != nil {
			panic(b.Err)
		}
	}
}

// append adds the lists of a block. only is set if the section has no other.
func (r *sectionReader) append(s *Section, only bool) {
	base := int64(len(r.data.Bytes))
	for i, span := range s.Labels {
		r.addLabel(span, base+s.offsets[i])
	}
	if only {
		r.data.Bytes, r.pending, r.shared = slices.Clip(s.bytes), s.items, true
		return
	}
	r.data.Bytes = append(r.data.Bytes, s.bytes...)
	at := len(r.pending)
	for r.pending = append(r.pending, s.items...); at < len(r.pending); at++ {
		r.pending[at].offset += base
	}
}

func (r *sectionReader) addLabel(span diag.Span, offset int64) {
	name := r.set.m.Src.String(span)
	if _, ok := r.labels[name]; ok {
		r.fail(span, "label %s is defined twice", name)
	}
	r.labels[name] = offset
	r.data.Labels = append(r.data.Labels, Label{name, offset, span})
}

// resolve turns the expressions into fixups and numbers, once every label of the
// section is known.
func (r *sectionReader) resolve() {
	pending := r.pending
	if r.pending = nil; len(pending) == 0 {
		return
	}
	fixups := 0
	for i := range pending {
		if pending[i].minus < 0 {
			fixups++
		}
	}
	if r.shared && (r.load || fixups < len(pending)) {
		r.data.Bytes = slices.Clone(r.data.Bytes)
	}
	if !r.load {
		r.data.Fixups = make([]Fixup, 0, fixups)
	}
	names := r.set.m.sectionNames.names
	for i := range pending {
		e := &pending[i]
		section, offset := "", int64(0)
		if e.section {
			section = r.set.m.Src.String(diag.Span{Off: e.span.Off, Len: e.nameLen})
		} else {
			section, offset = r.find(names[e.name])
		}
		if e.minus < 0 {
			f := Fixup{Offset: e.offset, Width: int32(e.width), Target: section, Name: -1, Addend: e.addend, Span: e.span}
			if section == "" {
				f.Target, f.Name = names[e.name], e.name
			} else if f.Addend += offset; f.Addend < 0 {
				r.fail(e.span, "%s lies outside every section", r.set.m.Src.String(e.span))
			}
			switch {
			case !r.load:
				r.data.Fixups = append(r.data.Fixups, f)
			case section != "":
				r.fill(e, uint64(f.Addend))
			case r.other != nil:
				r.fill(e, r.other(f.Target, f.Addend))
			}
			continue
		}
		section2, offset2 := r.find(names[e.minus])
		if section == "" || section != section2 {
			r.fail(e.span, "%s is not known before ptxas runs; both must be labels of one section", r.set.m.Src.String(e.span))
		}
		n := uint64(offset - offset2)
		if e.width == 4 && int64(n) != int64(int32(n)) && n > math.MaxUint32 {
			r.fail(e.span, "%s does not fit .b32", r.set.m.Src.String(e.span))
		}
		r.fill(e, n)
	}
}

func (r *sectionReader) fill(e *expression, n uint64) {
	for i := range e.width {
		r.data.Bytes[e.offset+int64(i)] = byte(n >> (8 * i))
	}
}

// find returns the section and offset of a label; section is empty if it is not in
// one.
func (r *sectionReader) find(label string) (section string, offset int64) {
	if at, ok := r.labels[label]; ok {
		return r.data.Name, at
	}
	name, ok := r.set.definer(label)
	if !ok {
		return "", 0
	}
	return name, r.set.reader(name).labels[label]
}

// String returns the resolved expression: .debug_loc+133.
func (f Fixup) String() string {
	if f.Addend == 0 {
		return f.Target
	}
	return f.Target + "+" + strconv.FormatInt(f.Addend, 10)
}
