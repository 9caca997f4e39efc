// Package advice, of use to this module only, finds what to do about errors in names: what was meant by an
// undefined one, and how two definitions of one name came about. It searches definitions, archive members that
// are not linked, and sources, which takes longer than a link, so it runs only if there is such a message.
package advice

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/object/srcline"
	"ptxlink/resolve"
)

// Link holds what a link knows besides its messages.
type Link struct {
	Table *resolve.Table
	Log   *diag.Log
	// Members returns the archive members that are not linked.
	Members func() []*object.File
	Cubins  []*object.Cubin
	// WholeProgram are the names of objects without relocatable device code.
	WholeProgram []string
	// NotLinked are other files that are not linked, with the reason.
	NotLinked []string
	// HostObject returns the name of an object that defines a symbol for the host, or "", and whether nvcc
	// -ewp compiled it. It may be nil.
	HostObject func(symbol string) (object string, extensible bool)
}

// Names adds to messages about missing names what the user may have meant.
func Names(l Link, missing []resolve.Missing) {
	h := &hints{Link: l}
	for _, m := range missing {
		h.Log = l.Log
		if m.Machine { // nvlink leaves no name undefined
			h.Log = &diag.Log{Spelling: l.Log.Without("--allow-undefined")}
		}
		switch {
		case m.Option != nil:
			m.Message.WithHelp(h.meant(m.Name, m.Option.Scope))
		case m.Undeclared != nil:
			h.declaration(*m.Undeclared, m.Name, m.Message)
		default:
			h.suggest(m)
		}
	}
	h.several()
}

// hints finds what the user may have meant by a name.
type hints struct {
	Link
	files []*object.File // all of them, once they are needed

	// Definitions of all files, as indexes into list.
	list       []found
	named      map[string]int        // the first of each name
	based      map[string][]int      // external functions and variables by cxxName.base
	spelt      map[int]cxxName       // the same
	lasts      map[string][]int      // the same by cxxName.last
	static     map[string][]int      // what the source made static, by the cxxName.base that other files would use
	statements map[string]diag.Place // the directives of statements that the parser does not know, by the words in the statements
	searches   int                   // number of searches for misspellings
	closed     func() *object.File   // the first that was compiled without -rdc=true, or nil
	lines      srcline.Finder        // for sources
	scans      int                   // number of modules whose source was searched
	unknown    []*diag.Message       // about symbols that nothing is known about
	how        string                // what their definitions may need
}

// several replaces the help for single symbols if more than one needs it, so that it is
// the same text for all.
func (h *hints) several() {
	if len(h.unknown) < 2 {
		return
	}
	for _, m := range h.unknown {
		m.WithHelp(fmt.Sprintf("add the modules or libraries that define these %d symbols%s", len(h.unknown), h.how) + h.Log.With("--allow-undefined=GLOB", ", or pass %s to leave them open") + h.notLinked())
	}
}

// maxSearches limits the undefined symbols for which a misspelling is searched,
// because each search looks at all definitions. If more are undefined, a library is missing.
const maxSearches = 50

// found is a name in a file; file is nil if none was found.
type found struct {
	file *object.File
	name ptx.NameID
}

func (f found) place() diag.Place { return f.file.NamePlace(f.name) }

func (f found) spelling() string { return f.file.Names[f.name] }

func (h *hints) gather() {
	if h.files != nil {
		return
	}
	h.files = append(h.files, h.Table.Files...)
	h.files = append(h.files, h.Members()...)
	h.named, h.spelt = map[string]int{}, map[int]cxxName{}
	h.based, h.lasts, h.static = map[string][]int{}, map[string][]int{}, map[string][]int{}
	h.closed = sync.OnceValue(func() *object.File {
		if i := slices.IndexFunc(h.files, resolve.WholeProgram); i >= 0 {
			return h.files[i]
		}
		return nil
	})
	others := slices.Clip(h.files)
	for _, c := range h.Cubins {
		others = append(others, c.File())
	}
	for _, f := range others {
		for n, sym := range f.Symbols {
			if !sym.Defined() {
				continue
			}
			at, name := len(h.list), f.Names[n]
			h.list = append(h.list, found{f, ptx.NameID(n)})
			if _, ok := h.named[name]; !ok {
				h.named[name] = at
			}
			if f.DeclOf(ptx.NameID(n)) == nil {
				continue
			}
			if sym.Exported() {
				spelt := spell(name)
				h.based[spelt.base] = append(h.based[spelt.base], at)
				h.lasts[spelt.last] = append(h.lasts[spelt.last], at)
				h.spelt[at] = spelt
			} else if in, ok := diag.StaticName(name); ok {
				base := diag.WithoutParams(in.Name)
				h.static[base] = append(h.static[base], at)
			}
		}
	}
}

func (h *hints) kind(at int) ptx.DeclKind { return h.list[at].file.DeclOf(h.list[at].name).Kind }

const maxOverloads = 20

// overload returns the function with the same qualified name, or with the same name
// and extern "C" on one side only. Of several it returns the one whose parameters are
// spelt most alike.
func (h *hints) overload(wanted cxxName, kind ptx.DeclKind) (best found) {
	compared, limit := 0, 64
	for _, at := range h.based[wanted.base] {
		if compared == maxOverloads {
			break
		}
		if h.kind(at) != kind {
			continue
		}
		compared++
		if d := diag.Distance(h.spelt[at].plain, wanted.plain, limit); d <= limit {
			best, limit = h.list[at], d-1
		} else if best.file == nil {
			best = h.list[at]
		}
	}
	return best
}

// maxNamesakes limits the names with one last part that are compared.
const maxNamesakes = 100

// namesake returns the definition that name gets with another scope: a namespace is
// missing on one side. The parameters are the same if both names have them.
func (h *hints) namesake(wanted cxxName, kind ptx.DeclKind) found {
	return h.sameLast(wanted, kind, func(other cxxName) bool {
		return wanted.nested(other) && (wanted.params == other.params || wanted.params == "" || other.params == "")
	})
}

// instance returns another instance of the template that name is an instance of.
func (h *hints) instance(wanted cxxName, kind ptx.DeclKind) found {
	return h.sameLast(wanted, kind, func(other cxxName) bool {
		return wanted.template && other.template && wanted.scope == other.scope
	})
}

// moved returns the only function or variable with the same name in another namespace, unless a module that
// uses the name knows both.
func (h *hints) moved(s resolve.Missing, wanted cxxName, kind ptx.DeclKind) (f found) {
	list := h.lasts[wanted.last]
	if len(list) > maxNamesakes {
		return found{}
	}
	member := len(s.Mentions) == 0 || wanted.member(h.Table.Files[s.Mentions[0].File].DeclOf(s.Mentions[0].Name)) // it may be one in a cubin
	for _, at := range list {
		other := h.spelt[at]
		switch {
		case h.kind(at) != kind || !wanted.renames(other, member):
		case f.file == nil:
			f = h.list[at]
		case diag.SourceName(f.spelling()) != other.plain: // not the other constructor
			return found{}
		}
	}
	if f.file != nil && slices.ContainsFunc(s.Mentions, func(id object.ID) bool { _, knows := h.Table.Files[id.File].Lookup(f.spelling()); return knows }) {
		return found{}
	}
	return f
}

// sameLast returns the first definition with the last part of a name that fits.
func (h *hints) sameLast(wanted cxxName, kind ptx.DeclKind, fits func(other cxxName) bool) found {
	list := h.lasts[wanted.last]
	for _, at := range list[:min(len(list), maxNamesakes)] {
		if h.kind(at) == kind && fits(h.spelt[at]) {
			return h.list[at]
		}
	}
	return found{}
}

// misspelt returns the definition whose last part is the most similar, in the same scope.
// Names that differ in digits only are not misspelt, because such functions are numbered.
func (h *hints) misspelt(wanted cxxName, kind ptx.DeclKind) (similar found) {
	limit := diag.TypoLimit(wanted.last)
	if h.searches++; h.searches > maxSearches || len(wanted.last) >= 200 {
		return found{}
	}
	for at, f := range h.list {
		other, ok := h.spelt[at]
		if !ok || other.scope != wanted.scope || max(len(other.last)-len(wanted.last), len(wanted.last)-len(other.last)) > limit || h.kind(at) != kind {
			continue
		}
		if d := diag.Distance(other.last, wanted.last, limit); d <= limit && withoutDigits(other.last) != withoutDigits(wanted.last) {
			limit, similar = d-1, f
		}
	}
	return similar
}

// hidden returns the function or variable of the name that its source made static, and
// reports whether it has the same parameters. A name without C++ parameters
// matches all of them.
func (h *hints) hidden(wanted cxxName, kind ptx.DeclKind) (f found, in diag.Static, same bool) {
	for _, at := range h.static[wanted.base] {
		if h.kind(at) != kind || same {
			continue
		}
		f = h.list[at]
		in, _ = diag.StaticName(f.spelling())
		same = in.Name == wanted.plain || wanted.params == ""
	}
	return f, in, same
}

// suggest adds what the user may have meant: a definition that stays in its module, the
// same function with other parameters, in another namespace or of another template
// instance, or a misspelling. The help is the usual one where this may be wrong.
func (h *hints) suggest(s resolve.Missing) {
	kind, m := s.Kind, s.Message
	h.gather()
	wanted := spell(s.Name)
	if at, ok := h.named[s.Name]; ok {
		local := h.list[at]
		if d := local.file.DeclOf(local.name); d != nil && d.Linkage != ptx.Local && !object.IsNumbaShared(s.Name) {
			m.Note(local.place(), "defined here, but "+h.Log.Option("--localize-symbol")+" makes it private to its module")
			return
		}
		m.Note(local.place(), "defined here, but without .visible it stays in its module")
		m.WithHelp(export(local))
		return
	}
	if h.unknownStatement(s.Name, m) {
		return
	}
	static, in, same := h.hidden(wanted, kind)
	if same {
		static.explain(in, s.Name, m)
		return
	}
	did := func(f found) { m.Note(f.place(), "did you mean "+h.Log.Name(f.spelling())+"? It is defined here") }
	if f := h.overload(wanted, kind); f.file != nil {
		did(f)
		m.WithHelp("the parameters differ; make the declaration match the definition")
		switch params := spell(f.spelling()).params; {
		case params == wanted.params:
		case strings.TrimSuffix(params, " const") == strings.TrimSuffix(wanted.params, " const"):
			m.WithHelp("one of the two is const and the other is not; make the declaration match the definition")
		case versioned().ReplaceAllString(params, "") == versioned().ReplaceAllString(wanted.params, ""):
			m.WithHelp("the namespaces of a library have its version, such as that of CCCL; compile both modules with one version, and for the same GPUs")
		case strings.ReplaceAll(params, " noexcept", "") == strings.ReplaceAll(wanted.params, " noexcept", ""):
			m.WithHelp("noexcept is part of a type since C++17; compile both modules with the same -std, and declare it in both or in none")
		}
		if (f.spelling() == wanted.base) != (s.Name == wanted.base) {
			m.WithHelp(`one of the two is declared extern "C" and the other is not`)
		}
		return
	}
	if static.file != nil {
		static.explain(in, s.Name, m)
		m.WithHelp(m.Help + "; the parameters differ too, make the declaration match")
		return
	}
	if m.WithHelp(Explain(s.Name, kind)); m.Help != "" {
		reason, ok := strings.CutSuffix(m.Help, withRuntime)
		if ok && h.Log.Takes("--keep-system-libraries") { // in nvlink's place
			m.WithHelp(reason + "link libcudadevrt.a of the toolkit, which nvcc does by default")
		} else if ok {
			m.WithHelp(reason + strings.Replace(withRuntime, "sm_80", h.needed(), 1))
		} else if strings.HasPrefix(s.Name, ptx.OptiXPrefix) {
			m.WithHelp(m.Help + h.Log.With("--allow-undefined='"+ptx.OptiXPrefix+"*'", "; %s leaves it open"))
		}
		return
	}
	if h.forHost(s.Name, m) {
		return
	}
	for _, search := range []struct {
		find func(wanted cxxName, kind ptx.DeclKind) found
		help string
	}{
		{h.namesake, "the namespaces differ; make the declaration match the definition" + h.orAdd(s.Name)},
		{h.instance, "the template is instantiated for other arguments there; " + otherInstance},
		{h.misspelt, "correct the name" + h.orAdd(s.Name)},
		{func(wanted cxxName, kind ptx.DeclKind) found { return h.moved(s, wanted, kind) }, "the namespaces differ; make the declaration match the definition, and compile older files again" + h.orAdd(s.Name)},
	} {
		if f := search.find(wanted, kind); f.file != nil {
			did(f)
			m.WithHelp(search.help)
			return
		}
	}
	source, help := h.inSource(wanted, kind, m)
	if help != "" {
		m.WithHelp(help + h.orAdd(s.Name))
		return
	}
	if f := cmp.Or(source, h.closed()); f != nil {
		m.Note(f.At(diag.Span{}), "this module defines nothing that other modules can use")
		m.WithHelp("if " + f.Name + " is to define it, do not make it static there, and compile with -rdc=true (" + resolve.NoRDC + ")")
		if !slices.Contains(h.Table.Files, f) { // because it may be unrelated
			m.WithHelp(m.Help + h.orAdd(s.Name))
		}
		return
	}
	if names := h.WholeProgram; len(names) > 0 {
		h.notRelocatable(names[0], m)
		m.WithHelp("if " + names[0] + " is to define it, compile it with -rdc=true (" + resolve.NoRDC + ")" + h.orAdd(s.Name))
		return
	}
	if object.IsRust(s.Name) {
		m.WithHelp("another crate defines it: let rustc call ptxlink as its linker, with all crates, or compile that crate to PTX too (docs/from-rust.md)")
		return
	}
	how := ""
	switch {
	case diag.Instantiated(s.Name):
		how = ", or put the body of a template into its header"
	case kind == ptx.Func && len(s.Mentions) > 0 && h.Table.Files[s.Mentions[0].File].Language() == object.CXX:
		how = ", as __device__ and not static"
	}
	h.how = cmp.Or(h.how, how)
	m.WithHelp("add the module that defines it" + how + h.Log.With("--allow-undefined="+s.Name, ", or pass %s to leave it open") + h.notLinked())
	h.unknown = append(h.unknown, m)
}

// versioned matches namespaces with a version: cuda::std::__4, cub::CUB_200200_800_NS.
var versioned = sets.Regexp(`\w*\d\w*::`)

// maxScans limits the modules whose source is searched, for all symbols.
const maxScans = 1000

// otherInstance is how to get another instance of a template.
const otherInstance = "put its body into the header, or instantiate it explicitly for these arguments"

// leftOut holds what to do about a function that is not in the PTX of its source, by a word of its declaration; the
// first match counts.
var leftOut = []leftOutBy{
	{"template", otherInstance},
	{"static ", "remove static from the definition"},
	{"inline", "remove inline from the definition, or put it into the header"},
	{"", "make it __device__ there, outside of anonymous namespaces, and check the #if around it"},
}

type leftOutBy struct{ word, help string }

// body matches the parameters of a function and the start of its body.
var body = sets.Regexp(`^\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*(?:const\s*|noexcept\s*)*\{`)

// inSource looks in the sources of the modules for a function that the compiler has left out of the PTX. It shows
// the definition, and returns the module and the advice, or nil.
func (h *hints) inSource(wanted cxxName, kind ptx.DeclKind, m *diag.Message) (in *object.File, help string) {
	if kind != ptx.Func {
		return nil, ""
	}
	for _, f := range h.Table.Files {
		if h.scans++; h.scans > maxScans {
			break
		}
		at := h.lines.Find(f.Module, wanted.last, func(before, after []byte) bool { return body().Match(after) && wanted.follows(before) })
		if at.Source == nil {
			continue
		}
		m.Note(at, "defined here, but "+f.Name+" does not have it")
		before := at.Source.Text[:at.Span.Off]
		before = before[bytes.LastIndexAny(before, ";{}#")+1:]
		cause := leftOut[slices.IndexFunc(leftOut, func(c leftOutBy) bool { return bytes.Contains(before, []byte(c.word)) })]
		switch {
		case !resolve.WholeProgram(f):
			return f, cause.help
		case cause.word == "static " || cause.word == "" && bytes.Contains(before, []byte("__device__")):
			return f, ""
		}
		return f, cause.help + ", and compile with -rdc=true"
	}
	return nil, ""
}

// needed returns the GPU of the files that is latest, and at least sm_80.
func (h *hints) needed() string {
	latest := object.GPU{Number: 80}
	for _, f := range h.Table.Files {
		for _, o := range f.Target {
			if gpu, ok := object.ParseGPU(o.Word); ok && gpu.Number > latest.Number {
				latest = gpu
			}
		}
	}
	return latest.String()
}

// forHost explains a symbol that an object defines for the host, which is the likely place of the
// missing definition, and reports whether there is one.
func (h *hints) forHost(name string, m *diag.Message) bool {
	if h.HostObject == nil {
		return false
	}
	switch host, extensible := h.HostObject(name); {
	case host == "":
		return false
	case extensible:
		m.Note(diag.At(&diag.Source{Name: host}, diag.Span{}), "this object was compiled with -ewp, so other objects cannot call its device functions")
		m.WithHelp("compile " + host + " with -rdc=true in place of -ewp")
	case slices.Contains(h.WholeProgram, host):
		h.notRelocatable(host, m)
		m.WithHelp("compile " + host + " with -rdc=true (" + resolve.NoRDC + "), and declare __device__ there what other files use")
	default:
		m.Note(diag.At(&diag.Source{Name: host}, diag.Span{}), "this object defines it, but only for the host")
		m.WithHelp("declare it __device__ as well in the source of " + host + ", and compile that with nvcc -x cu -rdc=true")
	}
	return true
}

const maxNotLinked = 3

// notLinked names the files that may have the missing definitions.
func (h *hints) notLinked() string {
	list := h.NotLinked
	switch n := len(list) - maxNotLinked; {
	case len(list) == 0:
		return ""
	case n > 0:
		list = append(slices.Clone(list[:maxNotLinked]), fmt.Sprintf("and %d more", n))
	}
	return "; not linked: " + strings.Join(list, "; ")
}

func (h *hints) notRelocatable(name string, m *diag.Message) {
	m.Note(diag.At(&diag.Source{Name: name}, diag.Span{}), "the device code of this object was compiled without -rdc=true, and is not linked")
}

// unknownStatement adds the statement that names a symbol and that the parser does not know. It reports
// whether its directive is probably misspelt.
func (h *hints) unknownStatement(name string, m *diag.Message) bool {
	place, directive := h.statement(name)
	if directive == "" {
		return false
	}
	m.Note(place, "this statement names it, but ptxlink does not know "+diag.Escape(directive))
	near := object.Misspelt(directive)
	if near != "" {
		m.WithHelp("did you mean " + near + "?")
	}
	return near != ""
}

// statement returns the place and the directive of a statement that the parser does not
// know and that contains the name. Such a statement defines nothing, because it is only copied.
func (h *hints) statement(name string) (place diag.Place, directive string) {
	if h.statements == nil {
		h.statements = map[string]diag.Place{}
		for _, f := range h.files {
			for _, o := range f.Others {
				words := f.Words(o)
				for _, word := range words[1:] {
					if h.statements[word].Source == nil {
						h.statements[word] = f.At(diag.Span{Off: o.Span.Off, Len: int32(len(words[0]))})
					}
				}
			}
		}
	}
	if place = h.statements[name]; place.Source != nil {
		directive = place.Source.String(place.Span)
	}
	return place, directive
}

// orAdd returns the usual help for an undefined symbol, to be appended to other help.
func (h *hints) orAdd(name string) string {
	return "; if that is not it, add the module that defines it" + h.Log.With("--allow-undefined="+name, ", or pass %s")
}

// export returns how to let other modules use a definition that has the name they use.
// Without -rdc=true nvcc writes static variables like others.
func export(local found) string {
	switch f := local.file; {
	case f.HandWritten() || f.Producer == "ptxlink":
		return "make the definition .visible"
	case f.Producer != "" && !strings.HasPrefix(f.Producer, "nvcc"):
		return "remove static from the definition"
	case f.DeclOf(local.name) != nil && f.DeclOf(local.name).Kind == ptx.Variable:
		return "compile " + f.Name + " with -rdc=true, and remove static if the variable is static; " + resolve.NoRDC
	default:
		return "compile " + f.Name + " with -rdc=true; " + resolve.NoRDC
	}
}

// explain adds that the source made f static, which another module uses as name.
func (f found) explain(in diag.Static, name string, m *diag.Message) {
	file := sourceFile(f.file, in.File)
	text, help := " is static in ", "remove static from the definition"
	if d := f.file.DeclOf(f.name); d != nil && d.Kind == ptx.Variable {
		help += ", or declare it extern first if it is const or constexpr,"
	}
	if in.Anonymous {
		text, help = " is in an anonymous namespace in ", "move it out of the anonymous namespace"
	}
	m.Note(f.place(), diag.Escape(in.Name)+text+diag.Escape(file)+"; it is defined here")
	if name == diag.WithoutParams(in.Name) && name != in.Name {
		help += `, and declare it extern "C"`
	}
	m.WithHelp(help + " in " + file)
}
