package ptxas

import (
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// A fatbin records the options for ptxas that its module was compiled with, such as
// -maxrregcount=32:
//
//  1. The functions of a module are assembled with the options of its record, so
//     modules with different options must go to different parts. A module without a record
//     has none.
//  2. An option of Args replaces the recorded one.
//  3. One run of ptxas for all modules gets the options that all have. A warning
//     names the others.
//  4. Only options that choose code are passed on. Options that only print, and options that
//     the link decides, are dropped; a warning names the rest. A record cannot be trusted, because
//     it is part of an input: -o in it would write any file, and an option without its value would
//     take the name of the linked module for it.
//  5. If ptxas refuses a recorded option, the error is at the file that records it.

// codeOptions choose code, so they must be passed on. The value is true if the option has a value.
var codeOptions = map[string]bool{
	"maxrregcount": true, "device-function-maxrregcount": true, "maxntid": true, "minnctapersm": true, "override-directive-values": false, "register-usage-level": true,
	"opt-level": true, "Ofast-compile": true, "fmad": true, "allow-expensive-optimizations": true, "optimize-float-atomics": false, "disable-optimizer-constants": false,
	"def-load-cache": true, "def-store-cache": true, "force-load-cache": true, "force-store-cache": true, "dont-merge-basicblocks": false, "return-at-end": false,
	"legacy-bar-warp-wide-behavior": false, "enable-func-clone-sc": true, "make-errors-visible-at-exit": false, "device-stack-protector": true, "sanitize": true, "sp-bounds-check": false,
	"g-tensor-memory-access-check": false, "gno-tensor-memory-access-check": false, "gno-fabric-access-check": false, "compiler-annotations": false,
}

// decided are options that follow from the linked module or from the mode of ptxas, or that do not
// change code. The same holds for options that begin with "warn" or "suppress". Relocatable code is
// never position-independent, so -pic=false of nvcc -safety-compat changes nothing.
var decided = []string{"compile-only", "extensible-whole-program", "position-independent-code", "device-debug", "generate-line-info", "verbose", "disable-warnings", "split-compile"}

// unmerged are options that nvcc adds to -g. They can be dropped, because -g implies them.
var unmerged = []string{"dont-merge-basicblocks", "return-at-end"}

// longNames are the full names of options that nvcc or its users abbreviate.
var longNames = map[string]string{
	"c": "compile-only", "ewp": "extensible-whole-program", "pic": "position-independent-code", "g": "device-debug", "lineinfo": "generate-line-info", "v": "verbose", "w": "disable-warnings",
	"Werror": "warning-as-error", "dlcm": "def-load-cache", "dscm": "def-store-cache", "flcm": "force-load-cache", "fscm": "force-store-cache",
	"func-maxrregcount": "device-function-maxrregcount", "no-bb-merge": "dont-merge-basicblocks", "ret-end": "return-at-end",
	"Ofc": "Ofast-compile", "opt-fp-atomics": "optimize-float-atomics", "disable-optimizer-consts": "disable-optimizer-constants",
	"regUsageLevel": "register-usage-level", "annotate": "compiler-annotations",
	"g-tmem-access-check": "g-tensor-memory-access-check", "gno-tmem-access-check": "gno-tensor-memory-access-check",
	"O": "opt-level", "O0": "opt-level", "O1": "opt-level", "O2": "opt-level", "O3": "opt-level", "O4": "opt-level",
}

// longName returns the full name of an option such as "-O1" or "-maxrregcount=32".
func longName(option string) string {
	name, _ := cutOption(option)
	if long, ok := longNames[name]; ok {
		return long
	}
	return name
}

// cutOption returns the name of an option without its dashes, and its value.
func cutOption(option string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimLeft(option, "-"), "=")
	return name, value
}

// fits reports whether an option that chooses code has a value if it must have one, and otherwise
// none. -O1 has its value in the name.
func fits(option string) bool {
	name, value := cutOption(option)
	attached := name[0] == 'O' && len(name) <= 2
	return (value != "") == (codeOptions[longName(option)] && !attached)
}

// splitOptions splits a command line into options, each with its value after "=". If several
// options have one name, the last counts, as for ptxas.
func splitOptions(words []string) (list []string) {
	for _, word := range words {
		switch last := len(list) - 1; {
		case strings.HasPrefix(word, "-"):
			list = append(list, word)
		case last >= 0 && !strings.Contains(list[last], "="):
			list[last] += "=" + word
		}
	}
	seen := map[string]bool{}
	slices.Reverse(list)
	list = slices.DeleteFunc(list, func(option string) bool { return !sets.Add(&seen, longName(option)) })
	slices.Reverse(list)
	return list
}

// recorded returns the options that the modules record, by module, and warnings about options that
// are not passed on.
func (o Options) recorded() (all map[string]string, refused []*diag.Message) {
	all = map[string]string{}
	var log diag.Log
	seen, given := map[string]bool{}, map[string]bool{}
	for _, option := range splitOptions(o.Args) {
		given[longName(option)] = true
	}
	warn := func(m link.Module, text string) {
		if sets.Add(&seen, text) {
			log.Warn(diag.PtxasOptions, diag.InFile(m.Name, 0, 0), text)
		}
	}
	for _, m := range o.Modules {
		if m.PtxasOptions == "" {
			continue
		}
		list := splitOptions(strings.Fields(m.PtxasOptions))
		debug := slices.ContainsFunc(list, func(option string) bool { return longName(option) == "device-debug" })
		list = slices.DeleteFunc(list, func(option string) bool {
			name := longName(option)
			switch _, code := codeOptions[name]; {
			case code && !fits(option):
				what := " has no value"
				if strings.Contains(option, "=") {
					what = " has a value too many"
				}
				warn(m, "damaged record of the options for ptxas: "+option+what+", so ptxas does not get it")
			case code:
				return given[name] || debug && slices.Contains(unmerged, name)
			case !slices.Contains(decided, name) && !strings.HasPrefix(name, "warn") && !strings.HasPrefix(name, "suppress"):
				warn(m, "ptxas does not get "+option+", which this file records")
			}
			return true
		})
		slices.Sort(list)
		all[m.Name] = strings.Join(list, " ")
	}
	return all, log.Messages
}

// blame moves a message of ptxas about a recorded option to the file that records it, because the
// user did not give the option.
func (t *teller) blame(m *diag.Message, u unit, text string) {
	for _, option := range u.options {
		name, value := cutOption(option)
		about := findWord([]byte(text), name) >= 0 || findWord([]byte(text), longName(option)) >= 0 ||
			value != "" && (strings.Contains(text, "'"+value+"': expected ") || strings.HasSuffix(text, "specified: "+value))
		at := slices.IndexFunc(t.Modules, func(in link.Module) bool { return slices.Contains(strings.Fields(t.setting(in.Name)), option) })
		if !about || at < 0 {
			continue
		}
		m.Place = diag.InFile(t.Modules[at].Name, 0, 0)
		if strings.HasPrefix(text, "Unknown option") {
			m.WithHelp("this file records " + option + ", which " + t.Path + " does not know; name a newer ptxas with " + t.Spelling.With("--ptxas", "%s or ") + "$PTXAS")
		} else {
			m.WithHelp("this file records " + option + t.Spelling.With("-Xptxas", "; an option of that name in %s takes its place"))
		}
		return
	}
}

// setting returns the options that are recorded for an input; "" if there are none.
func (t *teller) setting(unit string) string { return t.recorded[unit] }

// settings returns the different options of the inputs that have functions in the linked module.
// Other inputs do not count.
func (t *teller) settings() (list []string) {
	seen := map[string]bool{}
	add := func(setting string) {
		if sets.Add(&seen, setting) {
			list = append(list, setting)
		}
	}
	for _, in := range t.Modules {
		add(t.setting(in.Name))
	}
	if len(list) < 2 {
		return list
	}
	p, err := t.program()
	if err != nil { // ptxas reports the error
		return list
	}
	list, seen = nil, map[string]bool{}
	for i := range p.Decls {
		if d := &p.Decls[i]; d.HasBody {
			add(t.setting(t.unit(d.NameSpan.Off)))
		}
	}
	return list
}

// common returns the options that all of these inputs have, and the others.
func (t *teller) common() (all, some []string) {
	settings := t.settings()
	having := map[string]int{}
	var options []string
	for _, setting := range settings {
		for _, option := range strings.Fields(setting) {
			if having[option]++; having[option] == 1 {
				options = append(options, option)
			}
		}
	}
	for _, option := range options {
		if having[option] == len(settings) {
			all = append(all, option)
		} else {
			some = append(some, option)
		}
	}
	return all, some
}

// single returns the unit of a run for all inputs, and warns about options that only some inputs
// have, because this run cannot use them. help says how to keep them.
func (t *teller) single(log *diag.Log, help string) unit {
	all, some := t.common()
	if len(some) > 0 {
		var names []string
		for _, in := range t.Modules {
			if slices.ContainsFunc(strings.Fields(t.setting(in.Name)), func(option string) bool { return slices.Contains(some, option) }) {
				names = append(names, in.Name)
			}
		}
		text := "only some inputs were compiled with " + strings.Join(some, " ") + ", which one ptxas for all inputs does not get: " + first(names, 3)
		log.Warn(diag.PtxasOptions, diag.Place{}, diag.Escape(text)).WithHelp(help)
	}
	return unit{text: t.linked.Text, options: all}
}
