package program

import (
	"cmp"
	"slices"

	"ptxlink/abicheck"
	"ptxlink/internal/sets"
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

	pragmas  []string         // module-scope, the same in all inputs
	declared []resolve.DeclID // functions, and entries that are referenced: they have a prototype
	forwards []resolve.DeclID // declared .extern first, because their initialisers form a cycle
	// pushed holds, per file, the module pragmas that move to the entries of the file.
	pushed [][]string
	// untyped marks, for each function that modules declare differently (function), the
	// scalars among its results and parameters that are emitted as .bN because their types
	// differ.
	untyped map[object.ID][]bool
}

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
				pl.declared = append(pl.declared, at)
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
	pl.pragmas, pl.pushed = placePragmas(pl.Table)
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
		sets.Put(&pl.untyped, id, list)
	}
	if !s.Defined() {
		return
	}
	if align, by := abicheck.Alignment(pl.Table, s); by >= 0 {
		sets.Put(&pl.Align, resolve.DeclID{File: s.Def.File, Decl: pl.Table.Files[s.Def.File].Symbols[s.Def.Name].Decl}, align)
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
func (p *Program) Linkage(id object.ID) ptx.Linkage { return linkage(p.Table, id) }

func linkage(t *resolve.Table, id object.ID) ptx.Linkage {
	if s := t.Of(id); s != resolve.None && t.Symbols[s].Hidden {
		return ptx.Local
	}
	return t.Files[id.File].Symbols[id.Name].Linkage
}

// placePragmas decides the place of module-scope pragmas. ptxas applies them to the whole module,
// including the code before them, so "nounroll" of one input would affect the others
// (testdata/script/pragma_module.txtar). If all inputs have the same pragmas, they stay at module
// scope; otherwise each input's pragmas must move to its entries.
func placePragmas(t *resolve.Table) (common []string, pushed [][]string) {
	pushed = make([][]string, len(t.Files))
	same := true
	for i, f := range t.Files {
		for _, pragma := range f.Pragmas {
			pushed[i] = append(pushed[i], pragma.Text)
		}
		same = same && slices.Equal(pushed[i], pushed[0])
	}
	if same {
		return pushed[0], make([][]string, len(t.Files))
	}
	return nil, pushed
}
