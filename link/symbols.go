package link

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Definition is a symbol that the command line defines (--defsym).
type Definition struct {
	// Name is the symbol. No input may define it.
	Name string
	// Value is another symbol, for which Name becomes a synonym, so that the output has no symbol
	// called Name. Or it is a number: Name is then a variable with this value, and with the state
	// space and type that the inputs declare.
	Value string
}

func (d Definition) isNumber() bool { return strings.ContainsAny(d.Value[:1], "0123456789+-.") }

func (d Definition) check() error {
	switch {
	case d.Name == "" || d.Value == "":
		return diag.New(diag.Usage, diag.Place{}, "a definition needs a name and a value")
	case !d.isNumber() && !ptx.IsName(d.Value):
		return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q, the value of %s, is neither a number nor a symbol", d.Value, d.Name)).
			WithHelp("expressions such as NAME+4 are not supported")
	}
	return nil
}

// redirect returns resolve.Options.Redirect, which --wrap and --defsym are made of: a module that
// uses a name and does not define it uses another name instead. Texts are not changed before the
// names of the output are chosen. Five places must agree on what a redirected name means:
//
//  1. resolve.Live: an archive member is needed for the new name, and never for the old one.
//  2. Table.symbols: the use is a mention of the new name's symbol. A module that defines the old
//     name keeps it, as in GNU ld.
//  3. resolve.Rename: in that module the old name is spelt as the new one. Nothing else may get the
//     new spelling, also no local of a function, since the use would then bind to the local
//     (owners.redirected).
//  4. usesOf: a number needs a type, which comes from a use of either name.
//  5. Messages: the text at the place of an error shows the old name, so the message must say that
//     it stands for another (Table.reportUndefined).
//
// Chains are followed here once, since a value may itself be defined by an option. --wrap twice
// for one name is one redirection, and a cycle is an error.
func (o Options) redirect() (map[string]string, error) {
	if len(o.Wrap) == 0 && len(o.Define) == 0 {
		return nil, nil
	}
	names := map[string]string{}
	for _, d := range o.Define {
		if !d.isNumber() {
			names[d.Name] = d.Value
		}
	}
	if err := followChains(o.Define, names); err != nil {
		return nil, err
	}
	defined := maps.Clone(names) // either name of a wrapped symbol may be defined
	for _, name := range o.Wrap {
		wrapper := "__wrap_" + name
		names[name] = cmp.Or(defined[wrapper], wrapper)
		names["__real_"+name] = cmp.Or(defined[name], name)
	}
	return names, nil
}

// followChains replaces the target of each name by the end of its chain.
func followChains(define []Definition, names map[string]string) error {
	ended := map[string]bool{} // names whose target is already the end
	for _, d := range define {
		var chain []string
		at := d.Name
		for to, more := names[at]; more && !ended[at]; to, more = names[at] {
			if chain = append(chain, at); len(chain) > len(names) {
				return diag.New(diag.Usage, diag.Place{}, "the definition of "+d.Name+" leads back to itself")
			}
			at = to
		}
		if ended[at] {
			at = names[at]
		}
		for _, name := range chain {
			names[name], ended[name] = at, true
		}
	}
	return nil
}

// relink changes the linkage of definitions before resolution. It must act as objcopy does on
// files.
func relink(files []*object.File, o Options, log *diag.Log) {
	weaken, localize := sets.NewGlobs(o.Weaken), sets.NewGlobs(o.LocalizeInputs)
	for _, f := range files {
		own := false // Symbols may belong to several links, so it must be copied first
		var aliased map[ptx.NameID]bool
		for n := range f.Symbols {
			s, name := f.Symbols[n], f.Names[n]
			switch {
			case !s.Defined() || !s.Exported():
				continue
			case localize.Match(name):
				s.Linkage = ptx.Local
			case s.Linkage == ptx.Visible && weaken.Match(name):
				if aliased == nil {
					aliased = aliasNames(f)
				}
				if aliased[ptx.NameID(n)] {
					why := "ptxas takes no alias to a weak function"
					if s.Alias >= 0 {
						why = "ptxas gives an alias the linkage of its function"
					}
					log.Error(diag.Alias, f.NamePlace(ptx.NameID(n)), log.Name(name)+" cannot be weak: "+why)
					continue
				}
				s.Linkage = ptx.Weak
			default:
				continue
			}
			if !own {
				f.Symbols, own = slices.Clone(f.Symbols), true
			}
			f.Symbols[n] = s
		}
	}
}

// aliasNames returns the names that are aliases or have one.
func aliasNames(f *object.File) map[ptx.NameID]bool {
	names := map[ptx.NameID]bool{}
	for _, a := range f.Aliases {
		names[a.Name], names[a.Target] = true, true
	}
	return names
}

// use is the use of a name in an input.
type use struct {
	file *object.File
	name ptx.NameID
}

// usesOf returns a use of each name to which Options.Define gives a number. The use may have the
// name itself, or a name that redirect replaces by it.
func usesOf(files []*object.File, o Options, redirect map[string]string) map[string]use {
	uses := map[string]use{}
	var names []string
	for _, d := range o.Define {
		names = append(names, d.Name)
		if f, name := mention(files, d.Name); f != nil {
			uses[d.Name] = use{f, name}
		}
	}
	for _, name := range o.Wrap {
		names = append(names, name, "__real_"+name)
	}
	for _, name := range names {
		for _, f := range files { // a module that defines the name uses its own definition
			id, ok := f.Lookup(name)
			if to := redirect[name]; ok && uses[to].file == nil && f.Symbols[id].Exported() && !f.Symbols[id].Defined() {
				uses[to] = use{f, id}
			}
		}
	}
	return uses
}

// definedByOptions returns a module with the variables to which Options.Define gives a number, or
// nil if there are none. Its header is copied from an input that refers to such a variable.
func definedByOptions(ctx context.Context, files []*object.File, o Options, redirect map[string]string, log *diag.Log) (*object.File, error) {
	var text strings.Builder
	uses := usesOf(files, o, redirect)
	for _, d := range o.Define {
		f, name := uses[d.Name].file, uses[d.Name].name
		if f == nil {
			continue
		}
		decl, reason, value := f.DeclOf(name), "", ""
		switch {
		case f.Symbols[name].Defined():
			reason = "it is defined here"
		case !d.isNumber():
			continue
		case decl == nil || decl.Kind != ptx.Variable:
			reason = "it is a function"
		case decl.Space != ".const" && decl.Space != ".global":
			reason = "variables in " + decl.Space + " have no initial value"
		case decl.Array || decl.Vector > 0:
			reason = "it is not a scalar"
		default:
			var ok bool
			if value, ok = initialValue(decl.Word, d.Value); !ok {
				reason = "a " + decl.Word + " cannot hold it"
			}
		}
		if reason != "" {
			log.Error(diag.Defsym, f.NamePlace(name), log.Option("--defsym")+fmt.Sprintf(" gives %s the value %s, but %s", log.Name(d.Name), d.Value, reason)).Of(d.Name)
			continue
		}
		if text.Len() == 0 {
			fmt.Fprintf(&text, "// Variables of --defsym\n.version %s\n.target %s\n", f.Version, f.Target[0].Word)
			if f.AddressSize != 0 {
				fmt.Fprintf(&text, ".address_size %d\n", f.AddressSize)
			}
		}
		fmt.Fprintf(&text, ".visible %s %s = %s;\n", ptx.Compact(f.Src.Bytes(decl.Prefix)), d.Name, value)
	}
	if text.Len() == 0 {
		return nil, nil
	}
	made, _, err := object.Load(ctx, []object.Input{{Name: "<--defsym>", Text: []byte(text.String())}}, object.Options{}, log)
	if err != nil || len(made) == 0 {
		return nil, err
	}
	made[0].Rank = len(files)
	return made[0], nil
}

// mention returns the first file that defines a name for other modules; otherwise the first file
// that refers to such a name.
func mention(files []*object.File, name string) (in *object.File, id ptx.NameID) {
	for _, f := range files {
		n, ok := f.Lookup(name)
		if !ok || !f.Symbols[n].Exported() {
			continue
		}
		if f.Symbols[n].Defined() {
			return f, n
		}
		if in == nil {
			in, id = f, n
		}
	}
	return in, id
}

// initialValue returns a number as PTX spells it for a variable of a type. ok is false if the type
// cannot hold it.
func initialValue(word, number string) (text string, ok bool) {
	bits := int(8 * ptx.TypeSize(word))
	switch word {
	case ".f32", ".f64":
		v, err := strconv.ParseFloat(number, bits)
		if word == ".f32" {
			return fmt.Sprintf("0f%08X", math.Float32bits(float32(v))), err == nil
		}
		return fmt.Sprintf("0d%016X", math.Float64bits(v)), err == nil
	case ".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64":
		signed, err := strconv.ParseInt(number, 0, bits)
		if err == nil && signed < 0 && word[1] == 'u' { // because nvcc writes .u32 for int
			return strconv.FormatUint(uint64(signed)<<(64-bits)>>(64-bits), 10), true
		}
		if err == nil {
			return strconv.FormatInt(signed, 10), true
		}
		unsigned, err := strconv.ParseUint(strings.TrimPrefix(number, "+"), 0, bits)
		return strconv.FormatUint(unsigned, 10), err == nil && word[1] != 's'
	}
	return "", false
}

func traceSymbols(files []*object.File, cubins []*object.Cubin, names []string, log *diag.Log) {
	if len(names) == 0 {
		return
	}
	for _, f := range files {
		firstUse := sync.OnceValue(func() map[ptx.NameID]ptx.Use {
			first := map[ptx.NameID]ptx.Use{}
			for _, u := range slices.Backward(f.Uses) {
				first[u.Name] = u
			}
			return first
		})
		for _, name := range names {
			n, ok := f.Lookup(name)
			if !ok { // a name of the output
				if n, ok = f.Lookup(resolve.Unnumbered(name)); !ok {
					continue
				}
			}
			s := f.Symbols[n]
			name := f.Names[n]
			switch {
			case s.Defined() && s.Exported():
				log.Note(f.NamePlace(n), "definition of "+log.Name(name))
			case s.Defined():
				log.Note(f.NamePlace(n), "definition of "+log.Name(name)+", for this module alone")
			case s.Uses > 0:
				at := f.NamePlace(n)
				if u, ok := firstUse()[n]; ok {
					at = f.At(f.UseSpan(u))
				}
				log.Note(at, "reference to "+log.Name(name))
			}
		}
	}
	for _, c := range cubins {
		for _, s := range c.Symbols {
			if slices.Contains(names, s.Name) {
				what := map[bool]string{false: "reference to ", true: "definition of "}[s.Defined]
				log.Note(c.Place(), what+log.Name(s.Name))
			}
		}
	}
}

// Reference is an external symbol with the modules that know it, as in a cross reference table.
type Reference struct {
	Name string
	// Modules are the names of modules: the module that defines the symbol first, then modules with
	// other definitions and modules that use the symbol, in command-line order.
	Modules []string
	Defined bool // the first module defines it
}

// references returns the external symbols in the order of their names, including the symbols of
// cubins.
func (d describer) references(cubins []*object.Cubin) (list []Reference) {
	at := map[string]int{}
	for i := range d.Table.Symbols {
		s := &d.Table.Symbols[i]
		r := Reference{Name: s.Name, Defined: s.Defined()}
		if r.Defined {
			r.Modules = append(r.Modules, d.Table.Files[s.Def.File].Name)
		}
		for _, id := range s.Mentions {
			f := d.Table.Files[id.File]
			// With --wrap, a module may have several names of one symbol, so it could be listed
			// twice.
			if n := len(r.Modules); id.File == s.Def.File || n > 0 && r.Modules[n-1] == f.Name {
				continue
			}
			if sym := f.Symbols[id.Name]; sym.Defined() || sym.Uses > 0 {
				r.Modules = append(r.Modules, f.Name)
			}
		}
		if len(r.Modules) > 0 {
			at[r.Name] = len(list)
			list = append(list, r)
		}
	}
	for _, c := range cubins {
		for _, s := range c.Symbols {
			i, known := at[s.Name]
			if !known && resolve.OfNvlink(s.Name) {
				continue
			}
			if !known {
				i, at[s.Name] = len(list), len(list)
				list = append(list, Reference{Name: s.Name})
			}
			r := &list[i]
			if s.Defined && !r.Defined {
				r.Modules, r.Defined = append([]string{c.Name}, r.Modules...), true
			} else {
				r.Modules = append(r.Modules, c.Name)
			}
		}
	}
	slices.SortFunc(list, func(a, b Reference) int { return strings.Compare(a.Name, b.Name) })
	return list
}
