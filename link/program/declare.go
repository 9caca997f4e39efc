package program

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

func (pl *planner) decl(d resolve.DeclID) (*object.File, *ptx.Decl) {
	f := pl.Table.Files[d.File]
	return f, &f.Decls[d.Decl]
}

// record adds the comment at the start of the output that describes its inputs. The first line
// cannot hold information, because fatbinary 12.4 blanks the first line of a module; the rest
// survives and is read back.
func (pl *planner) record() {
	const digest = "\n   " + object.MetaDigest + "="
	h, host := pl.Header, pl.options.Host
	b := make([]byte, 0, 256)
	b = append(b, "// Linked by ptxlink\n"+object.MetaMark+" address_size="...)
	b = strconv.AppendInt(b, int64(h.AddressSize), 10)
	for _, field := range [][2]string{{"os", host.OS}, {"arch", host.Arch}, {"model", host.Model}} {
		if field[1] != "" {
			b = append(b, " "+field[0]+"="+field[1]...)
		}
	}
	for _, f := range pl.Table.Files {
		for _, d := range f.Digests {
			b = append(append(b, digest...), d...)
		}
	}
	pl.own(string(append(b, " */\n"...)))
}

func (pl *planner) directives() {
	h := pl.Header
	options := append([]string{h.arch.String()}, h.options...)
	if pl.Debug {
		options = append(options, "debug")
	}
	// If ptxas refuses one of these, the error must be reported at the input it comes from.
	version, target := h.versionFile, h.arch.file
	pl.add(ptx.Piece{Src: version.Src, Span: diag.Span{Off: version.VersionSpan.Off}, Text: ".version " + h.Version.String() + "\n"})
	pl.add(ptx.Piece{Src: target.Src, Span: diag.Span{Off: target.TargetSpan.Off}, Text: ".target " + strings.Join(options, ", ") + "\n"})
	size := ".address_size " + itoa(int64(h.AddressSize)) + "\n\n"
	if h.Version.Less(addressSizes) {
		size = "\n"
	}
	pl.own(size)
}

// addressSizes is the first version with .address_size.
var addressSizes = ptx.Version{Major: 2, Minor: 3}

func (pl *planner) files() {
	var b strings.Builder
	for i, row := range pl.lines.rows {
		b.WriteString(".file\t" + itoa(int64(i+1)) + " \"" + row.path + "\"" + row.stamp() + "\n")
	}
	if b.Len() > 0 {
		pl.own(b.String())
	}
}

func (pl *planner) nameEdits(edits []ptx.Edit, file int32, first, end int32) []ptx.Edit {
	f := pl.Table.Files[file]
	if !pl.Names.Differ(file) && !f.Padded {
		return edits
	}
	for _, use := range f.Uses[first:end] {
		name := pl.Names.Of(object.ID{File: file, Name: use.Name})
		if name == f.Names[use.Name] && !f.Padded {
			continue
		}
		// A use may be spelled a02 for a2, or be f in the list f<2>. The edits of locals cover such
		// lists, so they are skipped here.
		span := f.UseSpan(use)
		if f.Src.String(span) != name && !f.AtTargetRange(use) {
			edits = append(edits, ptx.Edit{Span: span, Text: name})
		}
	}
	return edits
}

// headerEdits returns the edits to the header of a function: its name, parameter names that would
// capture another symbol, and parameter types that callers declare differently.
func (pl *planner) headerEdits(d resolve.DeclID) []ptx.Edit {
	f, decl := pl.decl(d)
	var edits []ptx.Edit
	if name := pl.Names.Of(pl.Table.Declared(d)); name != f.Names[decl.Name] {
		edits = append(edits, ptx.Edit{Span: decl.NameSpan, Text: name})
	}
	edits = append(edits, pl.aligns.Header(d.File, decl)...)
	return pl.untype(edits, object.ID{File: d.File, Name: decl.Name}, decl)
}

// untype changes the types of a function's scalar parameters to .bN if modules declare them
// differently.
func (pl *planner) untype(edits []ptx.Edit, id object.ID, decl *ptx.Decl) []ptx.Edit {
	if len(pl.untyped) == 0 {
		return edits
	}
	list := pl.untyped[pl.function(id)]
	if len(list) < decl.Signature.Len() {
		return edits
	}
	for i, param := range pl.Table.Files[id.File].Params(decl) {
		if bits := ptx.BitType(param.Word); list[i] && bits != param.Word {
			edits = append(edits, ptx.Edit{Span: param.WordSpan, Text: bits})
		}
	}
	return edits
}

// literalEdits returns the edits of the float literals in calls if the parameter is printed as
// .b32, because ptxas would pass the low half of a double.
func (pl *planner) literalEdits(d resolve.DeclID) (edits []ptx.Edit) {
	f, decl := pl.decl(d)
	if len(pl.untyped) == 0 {
		return nil
	}
	loses := func(call *ptx.Call, i int) bool { // .f32 in its own module
		if call.Use < 0 {
			return false
		}
		name := f.Uses[call.Use].Name
		list, own := pl.untyped[pl.function(object.ID{File: d.File, Name: name})], f.DeclOf(name)
		return i < len(list) && list[i] && own != nil && i < own.Signature.Len() && own.Signature.At(i).Word == ".f32"
	}
	calls := f.CallsIn(decl)
	if !slices.ContainsFunc(calls, func(call ptx.Call) bool {
		for i := range call.Signature.Len() {
			if call.Signature.At(i).Word == "" && loses(&call, i) {
				return true
			}
		}
		return false
	}) {
		return nil
	}
	code := f.Code(decl)
	for _, st := range code.Statements {
		if len(calls) > 0 && code.Tokens[st.Op].Off == calls[0].Span.Off {
			edits = append(edits, code.LiteralEdits(st, func(i int) bool { return loses(&calls[0], i) })...)
			calls = calls[1:]
		}
	}
	return edits
}

// prefix returns the start of a variable statement: space, alignment, type. Non-zero
// align and word replace the declared alignment and type.
func prefix(src *diag.Source, decl *ptx.Decl, align int64, word string) string {
	var edits []ptx.Edit
	switch {
	case align == 0:
	case decl.AlignSpan.Len > 0:
		edits = append(edits, ptx.Edit{Span: decl.AlignSpan, Text: itoa(align)})
	default:
		edits = append(edits, ptx.Edit{Span: diag.Span{Off: decl.SpaceSpan.End()}, Text: " .align " + itoa(align) + " "})
	}
	if word != "" {
		edits = append(edits, ptx.Edit{Span: decl.WordSpan, Text: word})
	}
	ptx.SortEdits(edits)
	return string(ptx.Compact(ptx.Apply(nil, src.Text, decl.Prefix, edits)))
}

// forward adds a forward declaration of a variable, which a cycle of initialisers needs.
func (pl *planner) forward(d resolve.DeclID) {
	f, decl := pl.decl(d)
	pl.line(f.Src, decl.Span.Off, ".extern "+prefix(f.Src, decl, pl.Align[d], "")+" "+pl.Names.Of(pl.Table.Declared(d))+f.Shape(decl))
}

func (pl *planner) variable(d resolve.DeclID) {
	f, decl := pl.decl(d)
	var edits []ptx.Edit
	if name := pl.Names.Of(pl.Table.Declared(d)); name != f.Src.String(decl.NameSpan) { // also a1 of a<3>
		edits = append(edits, ptx.Edit{Span: decl.NameSpan, Text: name})
	}
	edits = pl.nameEdits(edits, d.File, decl.FirstUse, decl.EndUse)
	edits = append(edits, ptx.Edit{Span: diag.Span{Off: decl.Declared.End()}, Text: ";"})
	front := pl.linkage(d).Word() + prefix(f.Src, decl, pl.Align[d], "") + " "
	pl.add(ptx.Piece{Src: f.Src, Span: decl.Declared, Edits: edits, Text: front, After: true})
}

// extern adds one declaration of a symbol that stays open. There cannot be more, because ptxas 11.8
// does not accept a second .extern of a variable, nor two prototypes that differ in a word.
func (pl *planner) extern(s *resolve.Symbol) {
	files := pl.Table.Files
	best := -1
	var decl *ptx.Decl
	for i, id := range s.Mentions {
		if d := files[id.File].DeclOf(id.Name); d != nil && (decl == nil || saysMore(d, decl)) {
			best, decl = i, d
		}
	}
	if decl == nil {
		return
	}
	f := files[s.Mentions[best].File]
	if decl.Kind == ptx.Variable {
		align, by := abicheck.Alignment(pl.Table, s)
		if by < 0 || align <= decl.Alignment() {
			align = 0
		}
		word := ""
		for _, other := range s.Mentions {
			if d := files[other.File].DeclOf(other.Name); decl.Unsized && d != nil && d.Unsized && d.Word != decl.Word {
				word = ".b8"
			}
		}
		pl.line(f.Src, decl.Span.Off, ".extern "+prefix(f.Src, decl, align, word)+" "+s.Name+f.Shape(decl))
		return
	}
	edits := pl.aligns.Header(s.Mentions[best].File, decl)
	if f.Names[decl.Name] != s.Name { // because of resolve.Options.Redirect
		edits = append(edits, ptx.Edit{Span: decl.NameSpan, Text: s.Name})
	}
	edits = pl.untype(edits, s.Mentions[best], decl)
	text := f.Prototype(decl, edits)
	returns := func(id object.ID) bool {
		d := files[id.File].DeclOf(id.Name)
		return d != nil && !d.Has(".noreturn")
	}
	if decl.Has(".noreturn") && slices.ContainsFunc(s.Mentions, returns) {
		text = bytes.Replace(text, []byte(".noreturn"), nil, 1) // Replace returns a copy
	}
	pl.line(f.Src, decl.Span.Off, ".extern "+string(ptx.Compact(text)))
}

// saysMore reports whether the extern declaration a replaces b. The larger size wins, except that
// an unsized declaration must win for dynamic shared memory.
func saysMore(a, b *ptx.Decl) bool {
	switch {
	case a.Kind != ptx.Variable || b.Kind != ptx.Variable:
		return false
	case a.Unsized != b.Unsized:
		return a.Unsized == (a.Space == ".shared")
	}
	return a.Size() > b.Size()
}

// alias adds an alias. If its target is an alias, it must use the final target, because ptxas -c
// fails on an alias of an alias.
func (pl *planner) alias(id object.ID) {
	f := pl.Table.Files[id.File]
	sym := f.Symbols[id.Name]
	target := pl.Names.Of(object.ID{File: id.File, Name: sym.Target})
	pl.line(f.Src, f.Aliases[sym.Alias].Span.Off, ".alias "+pl.Names.Of(id)+", "+target)
}

// others copies unknown statements. Metadata is not copied, since metadata() merges it.
func (pl *planner) others() {
	for i, f := range pl.Table.Files {
		for _, o := range f.Others {
			if _, ok := f.Metadata(o); ok {
				continue
			}
			pl.add(ptx.Piece{Src: f.Src, Span: o.Span, Edits: pl.nameEdits(nil, int32(i), o.FirstUse, o.EndUse), After: true})
		}
	}
}
