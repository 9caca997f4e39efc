// Package resolve, of use to this module only, chooses the definition of every name, and
// the names in the output.
package resolve

import (
	"cmp"
	"slices"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// SymbolID indexes Table.Symbols. Module-local names have None.
type SymbolID int32

// None is the SymbolID of a name that is local to its module.
const None SymbolID = -1

// Symbol is one external name of the link.
type Symbol struct {
	Name string
	// Def is the chosen definition; File is -1 if there is none.
	Def object.ID
	// Mentions lists all modules that declare or define the name, including the
	// chosen one, in command-line order. Modules that only list the name of a kernel
	// (forgetKernelNames) are left out.
	Mentions []object.ID
	// Open is set for a name that stays .extern in the output: a system call,
	// dynamic shared memory, or a symbol that the user allowed.
	Open bool
	// Left is set if ptxas decides whether the function may stay undefined.
	Left bool
	// Hidden is set by Table.Hide: the definition has no linkage in the output.
	Hidden bool
	// Uniform is set if all mentions declare a function without directives and with
	// the same signature, so that there is nothing to compare.
	Uniform bool
	// Used is set if code or an initialiser of any module refers to the name.
	Used bool
}

// Defined reports whether the link has a definition.
func (s *Symbol) Defined() bool { return s.Def.File >= 0 }

// Main returns the mention that stands for the symbol: its definition, or else the first.
func (s *Symbol) Main() object.ID {
	if s.Defined() {
		return s.Def
	}
	return s.Mentions[0]
}

// Table holds the symbol of every name of every file.
type Table struct {
	Files   []*object.File
	Symbols []Symbol // in order of first mention
	of      [][]SymbolID
	byName  sets.Table
	twins   bool   // a name stands for its staticTwin
	reach   *reach // nil if everything stays
	options Options
	// Cubins is the machine code of the link; not nil.
	Cubins *Cubins
	// Duplicates holds second strong definitions that were reported.
	Duplicates map[object.ID]*Duplicate
}

// Of returns the external symbol of a name in a file, or None.
func (t *Table) Of(id object.ID) SymbolID { return t.of[id.File][id.Name] }

// Definer returns the name with the definition that a name in a file refers to; ok is false if
// nothing defines it. A name that is local to its file refers to itself.
func (t *Table) Definer(id object.ID) (definer object.ID, ok bool) {
	if s := t.Of(id); s != None {
		id = t.Symbols[s].Def
	}
	return id, id.File >= 0
}

// Main returns Symbol.Main of the symbol of a name, or the name itself if it is local to its
// file.
func (t *Table) Main(id object.ID) object.ID {
	if s := t.Of(id); s != None {
		return t.Symbols[s].Main()
	}
	return id
}

// Lookup returns the external symbol of a name.
func (t *Table) Lookup(name string) (*Symbol, bool) {
	id := t.find(sets.Hash(name), name)
	if id == None {
		return nil, false
	}
	return &t.Symbols[id], true
}

// Live reports whether the definition of a name in a module is part of the output.
// An external definition that lost to another is not, nor is one that Collect removed.
func (t *Table) Live(id object.ID) bool { return t.Chosen(id) && !t.removed(id) }

// Chosen reports whether the name is local to its module or has its definition there.
func (t *Table) Chosen(id object.ID) bool {
	s := t.Of(id)
	return s == None || t.Symbols[s].Def == id
}

// LiveDecl reports whether a declaration gives its name the body or storage in the
// output.
func (t *Table) LiveDecl(at DeclID) bool {
	id := t.Declared(at)
	return t.Files[at.File].Symbols[id.Name].Def == at.Decl && t.Live(id)
}

// Declared returns the name that a declaration declares.
func (t *Table) Declared(at DeclID) object.ID {
	return object.ID{File: at.File, Name: t.Files[at.File].Decls[at.Decl].Name}
}

// Definition returns the declaration that gives a name its body or storage in the
// output, through resolution and aliases. ok is false if there is none: the name is
// undefined, an alias of an undefined name, or removed by Collect.
func (t *Table) Definition(id object.ID) (at DeclID, ok bool) {
	if id, ok = t.Definer(id); !ok || t.removed(id) {
		return DeclID{}, false
	}
	f := t.Files[id.File]
	sym := f.Symbols[id.Name]
	if sym.Def < 0 && sym.Target >= 0 {
		sym = f.Symbols[sym.Target]
	}
	return DeclID{id.File, sym.Def}, sym.Def >= 0
}

// DeclID identifies one declaration of one file.
type DeclID struct{ File, Decl int32 }

// Options say which symbols may stay undefined or be defined twice, and what the link has besides
// the modules.
type Options struct {
	Relocatable    bool     // all may
	AllowUndefined []string // path.Match patterns
	WarnUndefined  bool     // all may, with a warning
	// Redirect maps names to the names of other symbols: a module that refers to the first and does
	// not define it refers to the second.
	Redirect map[string]string
	// Multiple allows several strong definitions; the first wins. Compared leaves the message about
	// them to the caller, who calls Table.Duplicate.
	Multiple, Compared bool
	// Cubins may be nil. NvlinkReports leaves messages about the names that they need to nvlink, which
	// first removes kernels that the modules do not know.
	Cubins        *Cubins
	NvlinkReports bool
	// Assembled is set if ptxas will read the output, and says itself what it does not know.
	Assembled bool
}

// Resolve chooses the definition of every name. It reports all duplicate symbols.
//
// The first definition in this order wins; among equals, the first on the command
// line:
//
//  1. a strong definition (.visible); a second one is an error
//  2. a .weak definition; the definitions of pulled archive members come last
//  3. the largest .common definition
//
// A name without linkage is local to its module, with one exception: a texture,
// sampler or surface is external in a cubin whatever its linkage, since the driver
// binds it by name. Without linkage it counts as .weak. Samplers with different initial
// values stay private, because the host does not bind those. A .visible or .weak
// prototype without a body is a reference, like .extern.
func Resolve(files []*object.File, o Options, log *diag.Log) *Table {
	if o.Cubins == nil {
		o.Cubins = &Cubins{}
	}
	t := &Table{Files: files, of: make([][]SymbolID, len(files)), options: o, Cubins: o.Cubins}
	t.mention()
	for i := range t.Symbols {
		t.choose(&t.Symbols[i], log)
	}
	t.forgetKernelNames()
	t.open()
	t.Cubins.duplicates(t, log)
	return t
}

// textureReference reports whether a module-scope name is a .texref, .samplerref or
// .surfref.
func textureReference(f *object.File, name ptx.NameID) bool {
	d := f.DeclOf(name)
	return d != nil && d.Kind == ptx.Variable && ptx.Opaque(d.Word)
}

// privateSamplers returns the samplers without linkage whose initial value differs from the value of the first sampler
// of that name. Samplers with linkage come first. nvlink makes one symbol with both values.
func (t *Table) privateSamplers() (private map[object.ID]bool) {
	var samplers []object.ID
	for i, f := range t.Files {
		for d := range f.Decls {
			if decl := &f.Decls[d]; decl.Kind == ptx.Variable && decl.Word == ".samplerref" && decl.Defines() {
				samplers = append(samplers, object.ID{File: int32(i), Name: decl.Name})
			}
		}
	}
	linkage := func(id object.ID) ptx.Linkage { return t.Files[id.File].Symbols[id.Name].Linkage }
	slices.SortStableFunc(samplers, func(a, b object.ID) int { return cmp.Compare(linkage(b), linkage(a)) })
	var first map[string]string
	for _, id := range samplers {
		f := t.Files[id.File]
		value := string(ptx.Compact(f.Src.Bytes(f.DeclOf(id.Name).Init)))
		if known, ok := first[f.Names[id.Name]]; !ok {
			sets.Put(&first, f.Names[id.Name], value)
		} else if known != value && value != "" && linkage(id) == ptx.Local {
			sets.Put(&private, id, true)
		}
	}
	return private
}

func (t *Table) mention() {
	counts, mentions := t.symbols()
	list := make([]object.ID, mentions)
	for s := range t.Symbols {
		t.Symbols[s].Mentions, list = list[:0:counts[s]], list[counts[s]:]
	}
	first := make([]*ptx.Signature, len(t.Symbols))
	for i, f := range t.Files {
		for n, id := range t.of[i] {
			if id == None {
				continue
			}
			s := &t.Symbols[id]
			d := f.DeclOf(ptx.NameID(n))
			plain := d != nil && d.Kind == ptx.Func && len(d.Attrs) == 0
			if plain && len(s.Mentions) == 0 {
				s.Uniform, first[id] = true, d.Signature
			}
			s.Uniform = s.Uniform && plain && d.Signature.Same(first[id])
			s.Used = s.Used || f.Symbols[n].Uses > 0
			s.Mentions = append(s.Mentions, object.ID{File: int32(i), Name: ptx.NameID(n)})
		}
	}
}

// symbols makes the symbols, and sets the symbol of each name. It returns the number of mentions by
// symbol, and the sum.
func (t *Table) symbols() (counts []int32, mentions int) {
	total, defined := 0, 0
	for _, f := range t.Files {
		total += len(f.Names)
		for n := range f.Symbols {
			if f.Symbols[n].Defined() && f.Symbols[n].Exported() {
				defined++
			}
		}
	}
	t.Symbols = make([]Symbol, 0, defined)
	t.byName.Reserve(defined)
	counts = make([]int32, 0, defined)
	ids, private := make([]SymbolID, total), t.privateSamplers()
	for i, f := range t.Files {
		var twins map[string]string
		t.of[i], ids = ids[:len(f.Names):len(f.Names)], ids[len(f.Names):]
		for n := range f.Names {
			t.of[i][n] = None
			if !f.Symbols[n].Exported() && (!textureReference(f, ptx.NameID(n)) || private[object.ID{File: int32(i), Name: ptx.NameID(n)}]) {
				continue
			}
			name, hash := f.Names[n], f.NameHash(ptx.NameID(n))
			if to, ok := t.options.Redirect[name]; ok && !f.Symbols[n].Defined() {
				name, hash = to, sets.Hash(to)
			} else if to, ok := staticTwin(f, ptx.NameID(n), &twins); ok {
				name, hash, t.twins = to, sets.Hash(to), true
			}
			s := t.find(hash, name)
			if s == None {
				s = SymbolID(t.byName.Add(hash))
				t.Symbols = append(t.Symbols, Symbol{Name: name, Def: object.ID{File: -1}})
				counts = append(counts, 0)
			}
			t.of[i][n] = s
			counts[s]++
			mentions++
		}
	}
	return counts, mentions
}

func (t *Table) find(hash uint64, name string) SymbolID {
	return SymbolID(t.byName.Find(hash, func(n int32) bool { return t.Symbols[n].Name == name }))
}

// strength ranks definitions in the order given at Resolve; 0 means undefined.
func (t *Table) strength(id object.ID) int {
	s := t.Files[id.File].Symbols[id.Name]
	switch {
	case !s.Defined():
		return 0
	case s.Linkage == ptx.Common:
		return 1
	case s.Linkage == ptx.Weak || s.Linkage == ptx.Local: // of a texture reference
		return weak
	}
	return strong
}

const weak, strong = 2, 3

// Clash reports whether two definitions cannot be in one link, whatever their
// contents: both are strong. Resolve has reported them.
func (t *Table) Clash(a, b object.ID) bool {
	return !t.options.Multiple && t.strength(a) == strong && t.strength(b) == strong
}

// Strong reports whether a module has a strong definition of the name.
func (t *Table) Strong(id object.ID) bool { return t.strength(id) == strong }

// Duplicate is a second strong definition that was reported.
type Duplicate struct {
	First   object.ID
	Message *diag.Message
	Same    bool // it has the text of the first (abicheck.Duplicates)
}

// Duplicate reports the second strong definition of a symbol.
func (t *Table) Duplicate(s *Symbol, id object.ID, log *diag.Log) *diag.Message {
	m := log.Error(diag.DuplicateSymbol, t.place(id), "multiple definition of "+log.Name(s.Name)).Of(s.Name).
		Note(t.place(s.Def), "first defined here")
	sets.Put(&t.Duplicates, id, &Duplicate{First: s.Def, Message: m})
	return m
}

func (t *Table) choose(s *Symbol, log *diag.Log) {
	best := 0
	for _, id := range s.Mentions {
		strength := t.strength(id)
		switch {
		case strength > best, strength == weak && best == weak && t.Files[s.Def.File].Pulled && !t.Files[id.File].Pulled:
			best, s.Def = strength, id
		case strength == strong: // best is strong too
			if !t.options.Multiple && !t.options.Compared {
				t.Duplicate(s, id, log)
			}
		case strength == 1 && best == 1 && t.decl(id).Size() > t.decl(s.Def).Size(): // a .common cannot be unsized
			s.Def = id
		}
	}
	if best == weak && t.Cubins.wins(s.Name, t.Files[s.Def.File]) {
		s.Def = object.ID{File: -1}
	}
}

func (t *Table) decl(id object.ID) *ptx.Decl { return t.Files[id.File].DeclOf(id.Name) }

func (t *Table) place(id object.ID) diag.Place { return t.Files[id.File].NamePlace(id.Name) }

// DynamicShared reports whether the declaration is memory whose size is set at
// launch: .extern .shared x[]. It never has a definition.
func DynamicShared(d *ptx.Decl) bool {
	return d != nil && d.Kind == ptx.Variable && d.Space == ".shared" && d.Unsized
}

func (t *Table) open() {
	allowed := sets.NewGlobs(t.options.AllowUndefined)
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if s.Defined() {
			continue
		}
		_, machine := t.Cubins.defined[s.Name]
		s.Open = t.options.Relocatable || machine || IsSyscall(s.Name) || allowed.Match(s.Name)
		if !s.Open && leftToPtxas(s.Name) && t.decl(s.Mentions[0]).Kind == ptx.Func {
			s.Open, s.Left = true, true
		}
		for _, id := range s.Mentions {
			s.Open = s.Open || DynamicShared(t.decl(id))
		}
	}
}
