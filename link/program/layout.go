package program

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/internal/lazy"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Layout is the order of the output.
type Layout struct {
	Externs   []*resolve.Symbol // symbols that must stay .extern
	Variables []resolve.DeclID  // each must come after the variables its initialiser uses
	Aliases   []object.ID
	Bodies    []resolve.DeclID

	// Align has the alignment of each variable that is raised above its own.
	Align map[resolve.DeclID]int64

	pragmas    []string         // module-scope, the same in all inputs
	prototypes []resolve.DeclID // of functions, and of entries that are referenced
	forwards   []resolve.DeclID // declared .extern first, because their initialisers form a cycle
	// pushed holds, per file, the module pragmas that move to the entries of the file.
	pushed [][]string
	// untyped marks, for each function that modules declare differently (function), the
	// scalars among its results and parameters that are emitted as .bN because their types
	// differ.
	untyped map[object.ID][]bool
}

// constantBank is the size of the constant bank in bytes. All .const variables must fit, because
// ptxas counts them all, referenced or not.
const constantBank = 65536

// arrange decides the contents of the output and their order.
func (pl *planner) arrange() {
	var variables []resolve.DeclID
	for i, f := range pl.Table.Files {
		if len(f.Aliases) > 0 {
			for n := range f.Symbols {
				if id := (object.ID{File: int32(i), Name: ptx.NameID(n)}); f.Symbols[n].Alias >= 0 && pl.Table.Live(id) {
					pl.Aliases = append(pl.Aliases, id)
				}
			}
		}
		for d := range f.Decls {
			decl := &f.Decls[d]
			id := object.ID{File: int32(i), Name: decl.Name}
			sym := &f.Symbols[decl.Name]
			if sym.Decl != int32(d) || !pl.Table.Live(id) {
				continue
			}
			at := resolve.DeclID{File: int32(i), Decl: int32(d)}
			switch {
			case decl.Kind == ptx.Variable:
				variables = append(variables, at)
			case !sym.Defined():
				// This is a module-local prototype without a body. It can be dropped, because
				// nothing calls it.
			case decl.Kind == ptx.Func || pl.used(id):
				pl.prototypes = append(pl.prototypes, at)
				fallthrough
			default:
				if decl.HasBody {
					pl.Bodies = append(pl.Bodies, at)
				}
			}
		}
	}
	for i := range pl.Table.Symbols {
		s := &pl.Table.Symbols[i]
		if s.Open && pl.Table.Needed(s) {
			pl.Externs = append(pl.Externs, s)
		}
		pl.unify(s)
	}
	pl.Variables, pl.forwards = pl.order(variables)
	pl.checkConstants()
	pl.placePragmas()
}

// used reports whether code or an initialiser refers to an entry, since only then the entry needs a
// prototype.
func (pl *planner) used(id object.ID) bool {
	if s := pl.Table.Of(id); s != resolve.None {
		return pl.Table.Symbols[s].Used
	}
	return pl.Table.Files[id.File].Symbols[id.Name].Uses > 0
}

// unify adapts the declaration of a symbol to its declarations in other modules: parameters with
// different types become .bN, and a definition gets the largest alignment.
func (pl *planner) unify(s *resolve.Symbol) {
	if s.Uniform {
		return
	}
	if list := pl.differing(s); list != nil {
		id := pl.function(s.Mentions[0])
		for i, known := range pl.untyped[id] { // from another alias
			list[i] = list[i] || known
		}
		lazy.Put(&pl.untyped, id, list)
	}
	if !s.Defined() {
		return
	}
	if align, by := abicheck.Alignment(pl.Table, s); by >= 0 {
		lazy.Put(&pl.Align, resolve.DeclID{File: s.Def.File, Decl: pl.Table.Files[s.Def.File].Symbols[s.Def.Name].Decl}, align)
	}
}

// function returns the canonical name of a function: the name of its definition, with aliases
// followed, because ptxas requires an alias to have the prototype of its target.
func (pl *planner) function(id object.ID) object.ID {
	id = pl.Table.Main(id)
	if target := pl.Table.Files[id.File].Symbols[id.Name].Target; target >= 0 {
		id.Name = target
	}
	return id
}

// differing marks the scalar results and parameters of a function whose types differ between its
// declarations. It returns nil if all are equal.
func (pl *planner) differing(s *resolve.Symbol) (list []bool) {
	var first *ptx.Signature
	for _, id := range s.Mentions {
		d := pl.Table.Files[id.File].DeclOf(id.Name)
		if d == nil || d.Kind == ptx.Variable {
			continue
		}
		if first = cmp.Or(first, d.Signature); d.Signature.Same(first) {
			continue
		}
		for i := range min(first.Len(), d.Signature.Len()) {
			if x, y := first.At(i), d.Signature.At(i); !x.Array && x.Word != y.Word {
				if list == nil {
					list = make([]bool, first.Len())
				}
				list[i] = true
			}
		}
	}
	return list
}

func (p *Program) linkage(d resolve.DeclID) ptx.Linkage { return p.Linkage(p.Table.Declared(d)) }

// Linkage returns the linkage of a definition in the output.
func (p *Program) Linkage(id object.ID) ptx.Linkage {
	if s := p.Table.Of(id); s != resolve.None && p.Table.Symbols[s].Hidden {
		return ptx.Local
	}
	return p.Table.Files[id.File].Symbols[id.Name].Linkage
}

// checkConstants reports constants that exceed the constant bank, with their names, because the
// error of ptxas has no names. It must count padding as ptxas lays out the bank, by descending
// alignment (testdata/script/const_padding.txtar). The order of variables with equal alignment does
// not matter.
func (pl *planner) checkConstants() {
	var constants []resolve.DeclID
	for _, v := range pl.Variables {
		if _, d := pl.decl(v); d.Space == ".const" && d.Size() > 0 {
			constants = append(constants, v)
		}
	}
	alignment := func(v resolve.DeclID) int64 {
		return max(pl.Table.Files[v.File].Decls[v.Decl].Alignment(), pl.Align[v])
	}
	size := func(v resolve.DeclID) int64 { return pl.Table.Files[v.File].Decls[v.Decl].Size() }
	slices.SortStableFunc(constants, func(a, b resolve.DeclID) int { return cmp.Compare(alignment(b), alignment(a)) })
	total := int64(0)
	for _, v := range constants {
		align := alignment(v)
		total = (total+align-1)&^(align-1) + size(v)
	}
	if total <= constantBank {
		return
	}
	slices.SortStableFunc(constants, func(a, b resolve.DeclID) int { return cmp.Compare(size(b), size(a)) })
	describe := func(v resolve.DeclID) (diag.Place, string) {
		f, d := pl.decl(v)
		return f.At(d.NameSpan), fmt.Sprintf("%s takes %d bytes", pl.log.Demangle(f.Names[d.Name]), d.Size())
	}
	place, text := describe(constants[0])
	m := pl.log.Error(diag.ConstantOverflow, place, fmt.Sprintf("constant memory overflows: %d bytes in %d variables, %d at most; %s", total, len(constants), constantBank, text))
	for _, v := range constants[1:min(3, len(constants))] {
		m.Note(describe(v))
	}
	if n := pl.copies(constants); n > 1 {
		how := "declare it inline (C++17) instead of static in the header that defines it"
		if resolve.WholeProgram(pl.Table.Files[constants[0].File]) { // nvcc accepts no inline variables
			how = "compile them with -rdc=true, and declare it inline (C++17) in the header that defines it"
		}
		m.WithHelp(fmt.Sprintf("the largest is copied into %d modules; %s, so that they share one", n, how))
		return
	}
	m.WithHelp("move the largest to .global memory")
}

// copies counts the variables that are copies of the first, because a C++ header gives a copy to
// each module that includes it.
func (pl *planner) copies(variables []resolve.DeclID) (n int) {
	source := func(v resolve.DeclID) (name, rest string) {
		f, d := pl.decl(v)
		return pl.log.Demangle(f.Names[d.Name]), string(f.Src.Text[d.NameSpan.End():d.Span.End()])
	}
	name, rest := source(variables[0])
	for _, v := range variables {
		if other, otherRest := source(v); other == name && otherRest == rest && pl.linkage(v) == ptx.Local && pl.Table.Files[v.File].Language() == object.CXX {
			n++
		}
	}
	return n
}

// placePragmas decides the place of module-scope pragmas. ptxas applies them to the whole module,
// including the code before them, so "nounroll" of one input would affect the others
// (testdata/script/pragma_module.txtar). If all inputs have the same pragmas, they stay at module
// scope; otherwise each input's pragmas must move to its entries.
func (pl *planner) placePragmas() {
	pl.pushed = make([][]string, len(pl.Table.Files))
	say := func(f *object.File) (list []string) {
		for _, pragma := range f.Pragmas {
			list = append(list, pragma.Text)
		}
		return list
	}
	same := true
	first := say(pl.Table.Files[0])
	for _, f := range pl.Table.Files[1:] {
		same = same && strings.Join(say(f), "\n") == strings.Join(first, "\n")
	}
	if same {
		pl.pragmas = first
		return
	}
	for i, f := range pl.Table.Files {
		pl.pushed[i] = say(f)
		loses := slices.IndexFunc(f.Decls, func(d ptx.Decl) bool { return d.Kind == ptx.Func && d.HasBody })
		if len(f.Pragmas) > 0 && loses >= 0 {
			pl.log.Warn(diag.Pragma, f.At(f.Pragmas[0].Span), "this pragma is kept for the entries of the module but not for its functions, because it would affect the other inputs").
				Note(f.At(f.Decls[loses].NameSpan), "this function, for example, loses it")
		}
	}
}
