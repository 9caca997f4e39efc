package link

import (
	"fmt"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// result describes the finished link.
func (l *linker) result(p *plan, w *writer) *Result {
	r := &Result{
		PTX:         w.out,
		Lines:       &LineMap{out: diag.Source{Text: w.out}, runs: w.runs},
		Version:     p.header.version.String(),
		Target:      p.header.arch.String(),
		AddressSize: p.header.addressSize,
		Debug:       l.debug.target,
		Unused:      l.unused,
		Passes:      l.passes,
	}
	for i, f := range l.files {
		r.Modules = append(r.Modules, Module{
			Name: f.Name, Path: f.Path, Version: f.Version.String(), Target: targetWords(f),
			AddressSize: f.AddressSize, Producer: f.Producer, Bytes: len(f.Src.Text),
		})
		r.LineInfo = r.LineInfo || f.LineInfo && len(l.fileTable.of[i]) > 0
	}
	for _, pull := range l.pulls {
		by := ""
		if pull.By != nil {
			by = pull.By.Name
		}
		r.Pulls = append(r.Pulls, Pull{pull.File.Name, pull.Symbol, by})
	}
	for _, s := range p.externs {
		id := s.Mentions[0]
		sym := l.describe(id)
		sym.Linkage, sym.Module, sym.Place = "extern", "", diag.Place{}
		switch {
		case resolve.IsSyscall(s.Name):
			sym.Supplier = "driver"
		case resolve.DynamicShared(l.files[id.File].DeclOf(id.Name)):
			sym.Supplier = "launch"
		}
		r.Symbols = append(r.Symbols, sym)
	}
	for _, d := range p.variables {
		sym := l.describe(object.ID{File: d.file, Name: l.files[d.file].Decls[d.decl].Name})
		sym.Align = max(sym.Align, p.align[d])
		r.Symbols = append(r.Symbols, sym)
	}
	for _, id := range p.aliases {
		r.Symbols = append(r.Symbols, l.describe(id))
	}
	for _, d := range p.bodies {
		r.Symbols = append(r.Symbols, l.describe(object.ID{File: d.file, Name: l.files[d.file].Decls[d.decl].Name}))
	}
	for i := range l.table.Symbols {
		s := &l.table.Symbols[i]
		for _, id := range s.Mentions {
			if l.files[id.File].Symbols[id.Name].Defined() && id != s.Def {
				lost := l.describe(id)
				winner := l.files[s.Def.File]
				lost.Reason = "the " + linkageName(winner.Symbols[s.Def.Name].Linkage) + " definition in " + winner.Name + " is used"
				r.Dropped = append(r.Dropped, lost)
			}
		}
	}
	if l.options.Verbose {
		l.explain(r)
	}
	r.Messages = l.sorted()
	return r
}

func targetWords(f *object.File) string {
	words := make([]string, len(f.Target))
	for i, o := range f.Target {
		words[i] = o.Word
	}
	return strings.Join(words, ", ")
}

func linkageName(linkage ptx.Linkage) string { return strings.TrimPrefix(linkage.String(), ".") }

func (l *linker) describe(id object.ID) Symbol {
	f := l.files[id.File]
	s := f.Symbols[id.Name]
	sym := Symbol{
		Name: l.names.Of(id), Original: f.Names[id.Name], Module: f.Name,
		Linkage: linkageName(s.Linkage), Place: f.NamePlace(id.Name),
	}
	if d := f.DeclOf(id.Name); d != nil {
		sym.Kind, sym.Space, sym.Size, sym.Align = measure(d)
	}
	if s.Alias >= 0 {
		sym.Kind, sym.Size = "alias", 0
	}
	return sym
}

// explain adds what --verbose tells: renames and dropped definitions.
func (l *linker) explain(r *Result) {
	for _, id := range l.names.Renamed {
		f := l.files[id.File]
		l.log.Note(f.NamePlace(id.Name), fmt.Sprintf("%s is called %s in the output, since another input has the name too", diag.Name(f.Names[id.Name]), l.names.Of(id)))
	}
	for _, local := range l.names.Locals {
		l.log.Note(l.files[local.File].At(local.Span), fmt.Sprintf("%s is called %s in this function, since another input has a symbol of that name", local.Old, local.New))
	}
	for i := range l.table.Symbols {
		if s := &l.table.Symbols[i]; s.Defined() && resolve.IsSyscall(s.Name) {
			l.log.Note(l.files[s.Def.File].NamePlace(s.Def.Name), s.Name+" is a system call; this definition takes the place of the driver's")
		}
	}
	for _, s := range r.Dropped {
		l.log.Note(s.Place, fmt.Sprintf("%s is dropped: %s", diag.Name(s.Original), s.Reason))
	}
}
