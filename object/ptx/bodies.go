package ptx

import "ptxlink/object/diag"

// Body is a function body that was read in another text. The zero Body stands for a body that was
// not read.
type Body struct {
	// Module has Names, Uses, Calls and Locs; the rest of it may be missing.
	Module           *Module
	Span             diag.Span
	FirstUse, EndUse int32 // as in Decl
}

// ParseWith is Parse for a module with bodies that were read in other texts, which it skips. bodies has an element for
// each body of src, in order: the zero Body, or one with the same bytes, whose names mean the same. For a skipped body,
// the module has only its uses, its lines, and its calls without prototypes and types.
func ParseWith(src *diag.Source, bodies []Body) (*Module, *Error) {
	return read(&Module{Src: src}, &parser{bodies: bodies, ids: map[*Module][]NameID{}})
}

// skipKnown skips the next body if it was read before, and adds what was found in it then.
func (p *parser) skipKnown() (body diag.Span, ok bool) {
	if len(p.bodies) == 0 {
		return body, false
	}
	b := p.bodies[0]
	p.bodies = p.bodies[1:]
	from := b.Module
	if from == nil {
		return body, false
	}
	names := p.ids[from]
	if names == nil {
		names = make([]NameID, len(from.Names))
		p.ids[from] = names
	}
	m, shift, more := p.m, int32(p.at)-b.Span.Off, int32(len(p.m.Uses))-b.FirstUse
	for _, u := range from.Uses[b.FirstUse:b.EndUse] {
		if names[u.Name] == 0 {
			names[u.Name] = p.named([]byte(from.Names[u.Name])) + 1
		}
		m.Uses = append(m.Uses, Use{u.Off + shift, names[u.Name] - 1})
	}
	for _, c := range from.CallsIn(&Decl{Body: b.Span}) {
		c.Span.Off, c.Target.Off = c.Span.Off+shift, c.Target.Off+shift
		if c.In, c.Proto, c.Signature = p.in, -1, nil; c.Use >= 0 {
			c.Use += more
		}
		m.Calls = append(m.Calls, c)
	}
	first, end := from.LocsIn(b.Span)
	for _, l := range from.Locs[first:end] {
		l.Span.Off, l.FileSpan.Off = l.Span.Off+shift, l.FileSpan.Off+shift
		if l.Inlining != nil {
			in := *l.Inlining
			for _, span := range []*diag.Span{&in.Tail, &in.Function, &in.FunctionSpan, &in.Inlined} {
				span.Off += shift
			}
			l.Inlining = &in
		}
		m.Locs = append(m.Locs, l)
	}
	body = diag.Span{Off: int32(p.at), Len: b.Span.Len}
	p.move(int(body.End()))
	return body, true
}
