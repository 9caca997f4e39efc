package ptx

import (
	"math"
	"slices"

	"ptxlink/link/diag"
)

// oldSectionSet reads the sections of one module, each once.
type oldSectionSet struct {
	m       *Module
	blocks  map[string][]*Section        // by name
	labels  map[string]string            // defined in sections: the section's name
	readers map[string]*oldSectionReader // of the sections read so far
}

func (s *oldSectionSet) data(name string) (Data, *Error) {
	r := s.reader(name)
	if r.Err == nil {
		r.resolve()
	}
	return r.data, r.Err
}

func (s *oldSectionSet) reader(name string) *oldSectionReader {
	r := s.readers[name]
	if r == nil {
		r = &oldSectionReader{set: s, want: -1}
		r.read(name)
		if s.readers == nil {
			s.readers = map[string]*oldSectionReader{}
		}
		s.readers[name] = r
	}
	return r
}

func (s *oldSectionSet) blocksOf(name string) []*Section {
	if s.blocks == nil {
		s.blocks = map[string][]*Section{}
		for i := range s.m.Sections {
			b := &s.m.Sections[i]
			s.blocks[b.Name] = append(s.blocks[b.Name], b)
		}
	}
	return s.blocks[name]
}

// definer returns the section that defines a label.
func (s *oldSectionSet) definer(label string) (section string, ok bool) {
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

type oldSectionReader struct {
	oldLexer
	set     *oldSectionSet
	tok     Token
	data    Data
	labels  map[string]int64 // of this section
	pending []oldExpression
	shared  bool                                   // data.Bytes and pending are those of the module
	load    bool                                   // write addresses instead of making fixups
	other   func(name string, addend int64) uint64 // with load: the address of a name outside the sections
	want    int64                                  // the offset to look for, or -1
	found   diag.Span
}

// oldExpression is an item that depends on labels: name+addend or name-minus.
type oldExpression struct {
	offset      int64
	addend      int64
	name, minus int32 // SectionNames; -1 if there is none
	span        diag.Span
	nameLen     int32 // at the start of span
	width       int8
	section     bool // the name is that of a section
}

func (r *oldSectionReader) next() { r.tok = r.Next() }

func (r *oldSectionReader) is(ch byte) bool { return r.tok.Kind == Punct && r.tok.Ch == ch }

func (r *oldSectionReader) spelling() string { return string(r.text[r.tok.Off:r.tok.End]) }

func (r *oldSectionReader) errorAt(span diag.Span, format string, args ...any) {
	r.fail(int(span.Off), int(span.End()), "", format, args...)
	r.tok = Token{Off: r.tok.Off, End: r.tok.Off}
}

func (r *oldSectionReader) expected(what string) {
	if r.Err != nil {
		return
	}
	if r.tok.Kind == EOF { // the end of the block: point at its brace
		r.errorAt(diag.Span{Off: r.tok.Off, Len: 1}, "expected %s, found the end of the section", what)
		return
	}
	r.errorAt(r.tok.Span(), "expected %s, found %s", what, r.spelling())
}

// read lays out the section.
func (r *oldSectionReader) read(name string) {
	r.data.Name = name
	r.labels = map[string]int64{}
	blocks := r.set.blocksOf(name)
	for _, s := range blocks {
		if r.Err != nil {
			return
		}
		r.oldLexer = newOldLexer(r.set.m.Src.Text[:s.Body.End()], s.Body.Off)
		for r.next(); r.tok.Kind != EOF; {
			switch r.tok.Kind {
			case Ident:
				r.label()
			case Word:
				r.item()
			default:
				r.expected("a label or .b8, .b16, .b32 or .b64")
			}
		}
	}
}

func (r *oldSectionReader) addLabel(span diag.Span, offset int64) {
	name := r.set.m.Src.String(span)
	if _, ok := r.labels[name]; ok {
		r.errorAt(span, "label %s is defined twice", name)
		return
	}
	r.labels[name] = offset
	r.data.Labels = append(r.data.Labels, Label{name, offset, span})
}

func (r *oldSectionReader) label() {
	span := r.tok.Span()
	if r.addLabel(span, int64(len(r.data.Bytes))); r.Err != nil {
		return
	}
	if r.next(); !r.is(':') {
		r.expected("':' after the label")
		return
	}
	r.next()
}

// width returns the width of the items after the current Word, or 0 for other
// words.
func (r *oldSectionReader) width() int {
	return wordWidth(r.spelling())
}

func (r *oldSectionReader) item() {
	width := r.width()
	if width == 0 {
		r.expected(".b8, .b16, .b32 or .b64")
		return
	}
	if r.next(); r.tok.Kind == Ident || r.tok.Kind == Word && r.width() == 0 {
		r.expression(width)
		return
	}
	for {
		r.number(width)
		if r.Err != nil || !r.is(',') {
			return
		}
		r.next()
	}
}

func (r *oldSectionReader) number(width int) {
	from, negative := r.tok.Off, r.is('-')
	if negative {
		r.next()
	}
	n, ok := r.unsigned()
	if !ok {
		return
	}
	span := diag.Span{Off: from, Len: r.tok.End - from}
	limit := uint64(1) << (8*width - 1) // magnitude of the lowest negative number
	if negative && n > limit || !negative && width < 8 && n >= 2*limit {
		r.errorAt(span, "%s does not fit .b%d", r.set.m.Src.String(span), 8*width)
		return
	}
	if negative {
		n = -n
	}
	r.put(width, n, span)
	r.next()
}

// unsigned reads the current number without moving past it.
func (r *oldSectionReader) unsigned() (uint64, bool) {
	if r.tok.Kind != Number {
		r.expected("a number")
		return 0, false
	}
	n, ok := integer(r.spelling())
	if !ok {
		r.errorAt(r.tok.Span(), "%s is not an integer of at most 64 bits", r.spelling())
	}
	return n, ok
}

// put appends the low bytes of n in little-endian order.
func (r *oldSectionReader) put(width int, n uint64, span diag.Span) {
	from := int64(len(r.data.Bytes))
	for i := range width {
		r.data.Bytes = append(r.data.Bytes, byte(n>>(8*i)))
	}
	if r.want >= from && r.want < from+int64(width) {
		r.found = span
	}
}

func (r *oldSectionReader) expression(width int) {
	e := oldExpression{offset: int64(len(r.data.Bytes)), width: int8(width), name: -1, minus: -1, section: r.tok.Kind == Word, span: r.tok.Span()}
	e.nameLen = e.span.Len
	if !e.section {
		e.name = r.set.m.SectionName(r.text[r.tok.Off:r.tok.End])
	}
	if width < 4 {
		r.errorAt(e.span, "an address needs .b32 or .b64")
		return
	}
	switch r.next(); {
	case r.is('+'):
		r.next()
		n, ok := r.unsigned()
		if ok && n > math.MaxInt64 {
			r.errorAt(r.tok.Span(), "%s is not an offset into a section", r.spelling())
		}
		e.addend = int64(n)
	case r.is('-') && !e.section:
		if r.next(); r.tok.Kind != Ident {
			r.expected("a label")
		}
		e.minus = r.set.m.SectionName(r.text[r.tok.Off:r.tok.End])
	default:
		r.add(e)
		return
	}
	if r.Err == nil {
		e.span.Len = r.tok.End - e.span.Off
		r.next()
		r.add(e)
	}
}

func (r *oldSectionReader) add(e oldExpression) {
	r.pending = append(r.pending, e)
	r.put(int(e.width), 0, e.span)
}

// resolve turns the expressions into fixups and numbers, once every label of the
// section is known.
func (r *oldSectionReader) resolve() {
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
		} else if section, offset = r.find(names[e.name]); r.Err != nil {
			return
		}
		if e.minus < 0 {
			f := Fixup{Offset: e.offset, Width: int32(e.width), Target: section, Name: -1, Addend: e.addend, Span: e.span}
			if section == "" {
				f.Target, f.Name = names[e.name], e.name
			} else if f.Addend += offset; f.Addend < 0 {
				r.errorAt(e.span, "%s lies outside every section", r.set.m.Src.String(e.span))
				return
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
		if r.Err != nil {
			return
		}
		if section == "" || section != section2 {
			r.errorAt(e.span, "%s is not known before ptxas runs; both must be labels of one section", r.set.m.Src.String(e.span))
			return
		}
		n := uint64(offset - offset2)
		if e.width == 4 && int64(n) != int64(int32(n)) && n > math.MaxUint32 {
			r.errorAt(e.span, "%s does not fit .b32", r.set.m.Src.String(e.span))
			return
		}
		r.fill(e, n)
	}
}

// fill writes the value of an expression.
func (r *oldSectionReader) fill(e *oldExpression, n uint64) {
	for i := range e.width {
		r.data.Bytes[e.offset+int64(i)] = byte(n >> (8 * i))
	}
}

// find returns the section and offset of a label; section is empty if it is not in
// one.
func (r *oldSectionReader) find(label string) (section string, offset int64) {
	if at, ok := r.labels[label]; ok {
		return r.data.Name, at
	}
	name, ok := r.set.definer(label)
	if !ok {
		return "", 0
	}
	other := r.set.reader(name)
	if other.Err != nil {
		r.Err = other.Err
		return "", 0
	}
	return name, other.labels[label]
}
