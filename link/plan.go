package link

import (
	"fmt"
	"sort"
	"strings"

	"ptxlink/abicheck"
	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// declID names one declaration of one file.
type declID struct{ file, decl int32 }

// plan is the order of the output. ptxas wants every name declared before it is
// used, and no declaration after its definition.
type plan struct {
	header     header
	externs    []*resolve.Symbol
	prototypes []declID // of functions, and of entries that something refers to
	forwards   []declID // variables whose initialisers form a cycle: one .extern ahead
	variables  []declID // after what their initialisers name
	aliases    []object.ID
	bodies     []declID
	pragmas    []string // module-scope, the same in all inputs

	// pushed holds, per file, module pragmas that go to the entries of the file.
	pushed [][]string
	// untyped marks definitions whose scalar parameters are printed as .bN,
	// because some caller spells them otherwise.
	untyped map[declID]bool
	align   map[declID]int64 // variables raised above their own alignment
}

// constantBank is the size of the constant bank in bytes: ptxas sums all .const
// of a module against it, referenced or not.
const constantBank = 65536

func (l *linker) plan(h header) *plan {
	p := &plan{header: h, untyped: map[declID]bool{}, align: map[declID]int64{}}
	entryUsed := l.referencedEntries()
	var variables []declID
	for i, f := range l.files {
		for n, sym := range f.Symbols {
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if sym.Alias >= 0 && l.table.Wins(id) {
				p.aliases = append(p.aliases, id)
			}
		}
		for d := range f.Decls {
			decl := &f.Decls[d]
			id := object.ID{File: int32(i), Name: decl.Name}
			sym := f.Symbols[decl.Name]
			if sym.Decl != int32(d) || !l.table.Wins(id) {
				continue
			}
			at := declID{int32(i), int32(d)}
			switch {
			case decl.Kind == ptx.Variable:
				variables = append(variables, at)
			case sym.Def < 0 && sym.Alias < 0:
				// A module-local prototype without a body, never called.
			case decl.Kind == ptx.Func || entryUsed[id]:
				p.prototypes = append(p.prototypes, at)
				fallthrough
			default:
				if decl.HasBody {
					p.bodies = append(p.bodies, at)
				}
			}
		}
	}
	for i := range l.table.Symbols {
		if s := &l.table.Symbols[i]; s.Open {
			p.externs = append(p.externs, s)
		} else {
			l.unify(p, s)
		}
	}
	l.order(p, variables)
	l.checkConstants(p)
	l.placePragmas(p)
	return p
}

// referencedEntries finds the entries that code or an initialiser names.
func (l *linker) referencedEntries() map[object.ID]bool {
	used := map[object.ID]bool{}
	for i, f := range l.files {
		for n, sym := range f.Symbols {
			if sym.Uses == 0 || sym.Decl < 0 || f.Decls[sym.Decl].Kind != ptx.Entry {
				continue
			}
			id := object.ID{File: int32(i), Name: ptx.NameID(n)}
			if s := l.table.Of(id); s != resolve.None {
				id = l.table.Symbols[s].Def
			}
			used[id] = true
		}
	}
	return used
}

// unify makes the winning definition fit what the other modules declared: .bN
// where the words of a parameter differ, and the largest alignment.
func (l *linker) unify(p *plan, s *resolve.Symbol) {
	if !s.Defined() {
		return
	}
	f := l.files[s.Def.File]
	def := f.DeclOf(s.Def.Name)
	if def == nil {
		return
	}
	at := declID{s.Def.File, f.Symbols[s.Def.Name].Decl}
	if def.Kind == ptx.Variable {
		if align, by := abicheck.Alignment(l.table, s); by >= 0 {
			p.align[at] = align
		}
		return
	}
	if l.wordsDiffer(s, def) {
		p.untyped[at] = true
	}
}

// wordsDiffer says whether some declaration spells a scalar of the prototype
// otherwise than ref does.
func (l *linker) wordsDiffer(s *resolve.Symbol, ref *ptx.Decl) bool {
	differ := func(x, y []ptx.Param) bool {
		for i := range x {
			if i < len(y) && !x[i].Array && x[i].Word != y[i].Word {
				return true
			}
		}
		return false
	}
	for _, id := range s.Mentions {
		d := l.files[id.File].DeclOf(id.Name)
		if d != nil && d != ref && (differ(d.Params, ref.Params) || differ(d.Results, ref.Results)) {
			return true
		}
	}
	return false
}

// order sorts variables so that each stands after those that its initialiser
// names. A cycle is broken by declaring an external member of it ahead.
func (l *linker) order(p *plan, variables []declID) {
	forward := map[declID]bool{}
	for {
		sorted, cycle := l.sortVariables(variables, forward)
		if cycle == nil {
			p.variables = sorted
			break
		}
		at := -1
		for i, v := range cycle {
			if l.linkage(v) != ptx.Local {
				at = i
				break
			}
		}
		if at < 0 {
			// One module alone cannot say this: ptxas has no forward
			// declaration of a module-local variable.
			f := l.files[cycle[0].file]
			l.log.Error(diag.InitialiserCycle, f.At(f.Decls[cycle[0].decl].NameSpan), "initialisers of module-local variables refer to each other in a cycle")
			return
		}
		forward[cycle[at]] = true
	}
	for _, v := range p.variables {
		if forward[v] {
			p.forwards = append(p.forwards, v)
		}
	}
}

// sortVariables is a depth-first topological sort that keeps command-line
// order where it can. It returns the first cycle it meets.
func (l *linker) sortVariables(variables []declID, forward map[declID]bool) (sorted, cycle []declID) {
	const (
		untouched = iota
		open
		done
	)
	state := make(map[declID]int, len(variables))
	var stack []declID
	var visit func(v declID) bool
	visit = func(v declID) bool {
		state[v] = open
		stack = append(stack, v)
		f := l.files[v.file]
		d := &f.Decls[v.decl]
		for _, use := range f.Uses[d.FirstUse:d.EndUse] {
			to, ok := l.definition(object.ID{File: v.file, Name: use.Name})
			if !ok || forward[to] || l.files[to.file].Decls[to.decl].Kind != ptx.Variable {
				continue
			}
			switch state[to] {
			case open:
				for i := range stack {
					if stack[i] == to {
						cycle = append(cycle, stack[i:]...)
						return false
					}
				}
			case untouched:
				if !visit(to) {
					return false
				}
			}
		}
		stack = stack[:len(stack)-1]
		state[v] = done
		sorted = append(sorted, v)
		return true
	}
	for _, v := range variables {
		if state[v] == untouched && !visit(v) {
			return nil, cycle
		}
	}
	return sorted, nil
}

// definition is the declaration that is emitted as the definition of what a
// name of a file means.
func (l *linker) definition(id object.ID) (declID, bool) {
	if s := l.table.Of(id); s != resolve.None {
		if id = l.table.Symbols[s].Def; id.File < 0 {
			return declID{}, false
		}
	}
	d := l.files[id.File].Symbols[id.Name].Def
	return declID{id.File, d}, d >= 0
}

func (l *linker) linkage(d declID) ptx.Linkage {
	f := l.files[d.file]
	return f.Symbols[f.Decls[d.decl].Name].Linkage
}

// checkConstants refuses what does not fit the constant bank, by symbol, before
// ptxas refuses it without a name.
func (l *linker) checkConstants(p *plan) {
	var constants []declID
	total := int64(0)
	for _, v := range p.variables {
		d := &l.files[v.file].Decls[v.decl]
		if d.Space != ".const" || d.Size() <= 0 {
			continue
		}
		align := max(d.Alignment(), p.align[v])
		total = (total + align - 1) &^ (align - 1)
		total += d.Size()
		constants = append(constants, v)
	}
	if total <= constantBank {
		return
	}
	sort.SliceStable(constants, func(i, j int) bool {
		a, b := constants[i], constants[j]
		return l.files[a.file].Decls[a.decl].Size() > l.files[b.file].Decls[b.decl].Size()
	})
	describe := func(v declID) (diag.Place, string) {
		f := l.files[v.file]
		d := &f.Decls[v.decl]
		return f.At(d.NameSpan), fmt.Sprintf("%s takes %d bytes", diag.Demangle(f.Names[d.Name]), d.Size())
	}
	place, text := describe(constants[0])
	m := l.log.Error(diag.ConstantOverflow, place, fmt.Sprintf("constant memory overflows: %d bytes in %d variables, %d at most; %s", total, len(constants), constantBank, text))
	for _, v := range constants[1:min(3, len(constants))] {
		m.Note(describe(v))
	}
	m.WithHelp("move the largest to .global memory")
}

// placePragmas decides where module-scope pragmas go. ptxas applies them to the
// whole module, also to what stands before them, so that one input's "nounroll"
// would reach the others (testdata/script/pragma_module.txtar): what all inputs
// say is kept, the rest moves to the entries of its module.
func (l *linker) placePragmas(p *plan) {
	p.pushed = make([][]string, len(l.files))
	say := func(f *object.File) (list []string) {
		for _, pragma := range f.Pragmas {
			list = append(list, pragma.Text)
		}
		return list
	}
	same := true
	first := say(l.files[0])
	for _, f := range l.files[1:] {
		same = same && strings.Join(say(f), "\n") == strings.Join(first, "\n")
	}
	if same {
		p.pragmas = first
		return
	}
	for i, f := range l.files {
		p.pushed[i] = say(f)
		if len(f.Pragmas) == 0 {
			continue
		}
		for d := range f.Decls {
			if f.Decls[d].Kind == ptx.Func && f.Decls[d].HasBody {
				l.log.Warn(diag.Pragma, f.At(f.Pragmas[0].Span), "this pragma is kept for the entries of the module but not for its functions, since it would reach the other inputs").
					Note(f.At(f.Decls[d].NameSpan), "a function that loses it")
				break
			}
		}
	}
}
