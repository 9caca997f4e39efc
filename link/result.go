package link

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/abicheck"
	"ptxlink/link/advice"
	"ptxlink/link/program"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/resolve"
)

func describe(p *program.Program, in inputs, o Options, log *diag.Log) *Result {
	d, t := describer{p}, p.Table
	r := &Result{
		Spelling:    o.Spelling,
		describer:   sync.OnceValue(d.describe),
		Version:     p.Header.Version.String(),
		Target:      p.Header.Arch(),
		AddressSize: p.Header.AddressSize,
		Kernels:     p.Kernels(),
		Debug:       p.Debug,
		Unused:      in.unused,
		Cubins:      in.cubins.Linked(),
		LineInfo:    p.LineInfo,
	}
	r.Modules = make([]Module, 0, len(t.Files))
	if o.CrossReference {
		r.References = d.references(in.cubins.Linked())
	}
	for _, f := range t.Files {
		r.Modules = append(r.Modules, Module{
			Name: f.Name, Path: f.Path, Version: f.Version.String(), Target: targetWords(f),
			AddressSize: f.AddressSize, Producer: f.Producer, Bytes: len(f.Src.Text), PtxasOptions: f.PtxasOptions,
		})
	}
	if o.OffloadMaps {
		for _, f := range t.Files {
			for line := range bytes.Lines(f.Src.Text) {
				if bytes.HasPrefix(line, []byte("//:")) {
					r.OffloadMaps = append(append(r.OffloadMaps, bytes.TrimRight(line, "\r\n")...), '\n')
				}
			}
		}
	}
	needs := map[string]string{} // the first cubin that needs a name
	for _, c := range r.Cubins {
		for _, s := range c.Symbols {
			if !s.Defined && needs[s.Name] == "" {
				needs[s.Name] = c.Name
			}
		}
	}
	for _, pull := range in.pulls {
		by := needs[pull.Symbol]
		if pull.By != nil {
			by = pull.By.Name
		}
		r.Pulls = append(r.Pulls, Pull{pull.File.Name, pull.Symbol, by})
	}
	for _, pull := range in.cubins.Pulls() {
		r.Pulls = append(r.Pulls, Pull{pull.Cubin, pull.Symbol, pull.By})
	}
	if o.Verbose {
		d.explain(r, log)
	}
	sortMessages(t.Files, log)
	advice.Sources(t.Files, log)
	r.Messages = log.Messages
	return r
}

// description holds the results of Result.Symbols, Dropped, Removed and Edges.
type description struct {
	symbols, dropped, removed []Symbol
	edges                     []Edge
}

func (d describer) describe() description {
	var dropped, removed []Symbol
	symbols := make([]Symbol, 0, len(d.Externs)+len(d.Variables)+len(d.Aliases)+len(d.Bodies))
	for _, s := range d.Externs {
		id := s.Mentions[0]
		sym := d.symbol(id)
		sym.Linkage, sym.Module, sym.place = "extern", "", diag.Place{}
		switch {
		case resolve.IsSyscall(s.Name):
			sym.Supplier = "driver"
		case resolve.DynamicShared(d.Table.Files[id.File].DeclOf(id.Name)):
			sym.Supplier = "launch"
		}
		symbols = append(symbols, sym)
	}
	for _, at := range d.Variables {
		sym := d.symbol(d.Table.Declared(at))
		sym.Align = max(sym.Align, d.Align[at])
		symbols = append(symbols, sym)
	}
	for _, id := range d.Aliases {
		symbols = append(symbols, d.symbol(id))
	}
	if d.Changes != nil {
		d.eachMoved(func(moved Symbol, _ object.ID) { symbols = append(symbols, moved) })
	}
	for i, at := range d.Bodies {
		sym := d.symbol(d.Table.Declared(at))
		sym.Size = d.BodySize(i)
		symbols = append(symbols, sym)
	}
	for i := range d.Table.Symbols {
		s := &d.Table.Symbols[i]
		for _, id := range s.Mentions {
			if d.Table.Files[id.File].Symbols[id.Name].Defined() && id != s.Def {
				lost := d.symbol(id)
				lost.Reason = d.lost(id)
				dropped = append(dropped, lost)
			}
		}
	}
	if d.Changes != nil {
		for _, at := range d.Changes.Gone {
			lost := d.symbol(d.Table.Declared(at))
			lost.Reason = d.Changes.Reasons[lost.Name]
			dropped = append(dropped, lost)
		}
	}
	for _, id := range d.Table.Removed() {
		removed = append(removed, d.symbol(id))
	}
	return description{symbols, dropped, removed, d.edges()}
}

// eachMoved calls use with each object that the optimiser moved to module scope, and its function.
func (d describer) eachMoved(use func(moved Symbol, function object.ID)) {
	if len(d.Changes.Moved) == 0 {
		return
	}
	functions := map[string]object.ID{}
	for _, at := range slices.Concat(d.Bodies, d.Changes.Gone) {
		id := d.Table.Declared(at)
		functions[d.Names.Of(id)] = id
	}
	for _, o := range d.Changes.Moved {
		id := functions[o.Function]
		of := d.symbol(id)
		use(Symbol{Name: o.Name, Original: o.Object, Module: of.Module, Kind: "object", Space: strings.TrimPrefix(o.Space, "."), Size: o.Size, Align: o.Align, place: of.place}, id)
	}
}

// ways returns why the definitions with a name are in the output. They have it in their input, in the output or in
// a cubin.
func (d describer) ways(name string, o Options) (all []Why) {
	removed := map[object.ID]bool{}
	for _, id := range d.Table.Removed() {
		removed[id] = true
	}
	add := func(id object.ID) {
		why := Why{Symbol: d.symbol(id)}
		switch {
		case d.Table.Live(id):
			steps := d.Table.WhyLive(id)
			if why.Root = d.Table.RootReason(steps[0]); why.Root == resolve.LookedUp {
				why.Root += o.Spelling.With("--gc-variables", "; %s removes such variables")
			}
			for _, step := range steps {
				why.Way = append(why.Way, d.symbol(step))
			}
		case removed[id]:
			why.Reason = "nothing in the output uses it"
		default:
			why.Reason = d.lost(id)
		}
		all = append(all, why)
	}
	for i, f := range d.Table.Files {
		if n, ok := f.Lookup(name); ok && f.Symbols[n].Defined() {
			add(object.ID{File: int32(i), Name: n})
		}
	}
	for _, id := range d.Names.Renamed {
		if d.Names.Of(id) == name && d.Table.Files[id.File].Symbols[id.Name].Defined() {
			add(id)
		}
	}
	if d.Changes != nil {
		d.eachMoved(func(moved Symbol, function object.ID) {
			if moved.Name == name {
				add(function)
				why := &all[len(all)-1]
				why.Symbol, why.Way = moved, append(why.Way, moved)
			}
		})
	}
	for _, c := range d.Table.Cubins.Linked() {
		for _, s := range c.Symbols {
			if s.Name == name && s.Defined {
				in := Symbol{Name: name, Original: name, Module: c.Name, Kind: s.Kind(), Space: s.Space, Linkage: s.Linkage(), Size: s.Size}
				all = append(all, Why{Symbol: in, Way: []Symbol{in}})
			}
		}
	}
	return all
}

// lost returns why another definition is used instead of this one.
func (d describer) lost(id object.ID) string {
	def := d.Table.Symbols[d.Table.Of(id)].Def
	if def.File < 0 { // because of a cubin
		return "the weak definition of an earlier cubin is used"
	}
	winner := d.Table.Files[def.File]
	return "the " + winner.Symbols[def.Name].Linkage.Plain() + " definition in " + winner.Name + " is used"
}

// describer describes symbols of the output.
type describer struct{ *program.Program }

func targetWords(f *object.File) string {
	words := make([]string, len(f.Target))
	for i, o := range f.Target {
		words[i] = o.Word
	}
	return strings.Join(words, ", ")
}

func (d describer) symbol(id object.ID) Symbol {
	f := d.Table.Files[id.File]
	s := f.Symbols[id.Name]
	sym := Symbol{
		Name: d.Names.Of(id), Original: f.Names[id.Name], Module: f.Name,
		Linkage: d.Linkage(id).Plain(), place: f.NamePlace(id.Name),
	}
	if decl := f.DeclOf(id.Name); decl != nil {
		sym.Kind, sym.Space, sym.Size, sym.Align = object.Measure(decl)
	}
	if s.Alias >= 0 {
		sym.Kind, sym.Size = "alias", 0
	}
	return sym
}

// explain adds the notes of --verbose about renames and dropped definitions.
func (d describer) explain(r *Result, log *diag.Log) {
	for _, id := range d.Names.Renamed {
		f := d.Table.Files[id.File]
		log.Note(f.NamePlace(id.Name), fmt.Sprintf("%s is called %s in the output, because another input has the same name", log.Name(f.Names[id.Name]), d.Names.Of(id))).Of(f.Names[id.Name])
	}
	for _, local := range d.Names.Locals() {
		log.Note(d.Table.Files[local.File].At(local.Span), fmt.Sprintf("%s is called %s in this function, because another input has a symbol of that name", local.Old, local.New))
	}
	for i := range d.Table.Symbols {
		if s := &d.Table.Symbols[i]; s.Defined() && resolve.IsSyscall(s.Name) {
			log.Note(d.Table.Files[s.Def.File].NamePlace(s.Def.Name), s.Name+" is a system call; this definition replaces the driver's")
		}
	}
	abicheck.NoteAlignments(d.Table, log)
	for _, s := range r.Dropped() {
		log.Note(s.place, fmt.Sprintf("%s is dropped: %s", log.Name(s.Original), s.Reason)).Of(s.Original)
	}
}
