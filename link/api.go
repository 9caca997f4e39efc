package link

import (
	"time"

	"ptxlink/internal/infile"
	"ptxlink/link/program"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/srcline"
)

// Input is one thing to link.
type Input = object.Input

// Options holds the inputs and options of a link. The zero value of every field except Inputs is
// the default of `ptxlink a.ptx b.ptx`. Patterns have the syntax of path.Match.
type Options struct {
	Inputs []Input

	// Output.

	// Relocatable makes a module that can be linked again (-r): undefined symbols stay .extern, and
	// nothing is removed.
	Relocatable bool
	// CheckOnly runs all checks without making an output, so Result.PTX is empty.
	CheckOnly bool
	// Optimize rewrites the linked module (-O). It cannot be combined with Relocatable.
	Optimize Optimize
	// Atomics adds the lint of atomic operations (PTX Interoperability 4).
	Atomics bool
	// StripDebug removes DWARF (-S), and also .file and .loc unless KeepLines is set.
	StripDebug, KeepLines bool

	// The GPU and the host.

	// Arch is the GPU that the output is for, such as "sm_80". If an input has PTX
	// for several GPUs, the highest that runs on Arch is linked; if Arch is empty,
	// the highest of all. A module that does not run on Arch is an error. Arch does
	// not change .target.
	Arch string
	// Version is the .version of the output, such as "7.8"; empty means the highest of
	// the inputs. It is an error if the target or a directive requires a later version, and
	// a warning if an input has one.
	Version string
	// Host is the host platform, such as "linux-x86_64", of inputs that do not record
	// one. It is recorded in the output.
	Host string
	// AllowHostMismatch turns a known difference of operating system between
	// inputs into a warning. 32 against 64 bits stays an error.
	AllowHostMismatch bool

	// Assembled is set if ptxas will read the output. Otherwise a note names the functions that
	// only ptxas knows.
	Assembled bool

	// Which definition a name refers to.

	// AllowUndefined are patterns of symbols that may stay undefined, and are then .extern in the
	// output.
	AllowUndefined []string
	// Cubins are machine code that nvlink will link with the output, after ptxas -c. Names that
	// they define may stay undefined, definitions that they need stay in the output, and their
	// symbols must agree with the declarations of the modules. If there are Cubins, there may be no
	// Inputs.
	Cubins []*object.Cubin
	// WarnUndefined makes undefined symbols warnings. They stay undefined in the output.
	WarnUndefined bool
	// AllowDuplicates takes the first of several strong definitions of a name. Their
	// prototypes, or sizes and state spaces, must still agree.
	AllowDuplicates bool
	// DedupeIdentical takes the first of several strong definitions of a name if all
	// have the same text, with a note. Definitions that differ stay errors.
	DedupeIdentical bool
	// Wrap redirects names (--wrap): uses of NAME become uses of __wrap_NAME, except in a
	// module that defines NAME, and uses of __real_NAME become uses of NAME.
	Wrap []string
	// Define defines symbols (--defsym).
	Define []Definition
	// Weaken and LocalizeInputs are patterns of definitions that become .weak, or
	// lose their linkage, in each input before the inputs are linked, so that private
	// definitions with equal names do not clash. Localize acts on the output.
	Weaken, LocalizeInputs []string

	// The contents of the output.

	// Undefined are names whose archive members are linked even if no input uses them (-u).
	// RequireDefined does the same, and it is an error if no input defines the name.
	Undefined, RequireDefined []string
	// KeepUnused keeps the definitions that nothing in the output refers to. By default the output
	// keeps only definitions to which its entries, the names below, or variables in .global and
	// .const refer. It keeps these variables because the host can look them up. Without entries the
	// output is a library, so all functions and .shared variables with linkage stay. Relocatable
	// implies KeepUnused.
	KeepUnused bool
	// CollectVariables also removes variables that only the host could use.
	CollectVariables bool
	// Entries are patterns of the entries that stay. It is an error if one matches no entry.
	// If Entries, Kernels and Launched are empty, all entries stay.
	Entries []string
	// Kernels are parts of names: entries whose name contains one of them must stay too. A part
	// that no name contains is a warning.
	Kernels []string
	// Launched are patterns of the entries that the host launches, which stay too.
	Launched []string
	// WholeProgram are the names of objects that nvcc compiled without -rdc=true. They cannot be
	// linked, so they are not among the inputs; messages about undefined symbols name the first.
	WholeProgram []string
	// NotLinked are other files and libraries that are not among the inputs, each with the reason, such as
	// "a.o, which has no code for sm_80". Messages about undefined symbols name them.
	NotLinked []string
	// HostObject returns the name of an object that defines a symbol for the host, or "". It also
	// returns whether nvcc -ewp compiled the object, because no other object can call its functions
	// then. Messages about undefined symbols name it. It may be nil.
	HostObject func(symbol string) (object string, extensible bool)
	// Exports are patterns of further definitions that must stay. Definitions in Undefined and
	// RequireDefined stay, too.
	Exports []string
	// Localize are patterns of definitions that lose their linkage, so that the host and other
	// modules no longer find them. If Exports matches too, the more specific wins: a name, then a
	// pattern, then "*", as in the version scripts of GNU ld. If both are equally specific, Exports
	// wins.
	Localize []string
	// PatternPlaces are the places that messages show for patterns of Exports and Localize,
	// such as lines of a version script.
	PatternPlaces map[string]Place

	// What the result and its messages say.

	// Spelling is how messages name options and symbols.
	Spelling diag.Spelling
	// Verbose adds notes about renamed and dropped definitions and about assumptions.
	Verbose bool
	// TraceSymbols are names: a note shows each module that defines or uses one.
	TraceSymbols []string
	// WhyLive are names whose Result.Ways explain why they are in the output.
	WhyLive []string
	// CrossReference asks for Result.References, and OffloadMaps for Result.OffloadMaps.
	CrossReference, OffloadMaps bool

	// Memory and threads.

	// Jobs is the largest number of inputs that are read at a time; 0 means one per CPU. The output
	// cannot depend on it.
	Jobs int
	// MaxInputSize limits the decompressed size of one input in bytes; 0 means
	// 4 GiB.
	MaxInputSize int64
	// MapInputs maps large files into memory instead of reading them. It is faster for packages,
	// because only the needed members are read. The files stay mapped until Close of the Result or
	// of the Errors. Result.Unchanged reports whether another program has written them in place. A
	// file that becomes shorter meanwhile ends the process unless its goroutines have called
	// debug.SetPanicOnFault.
	MapInputs bool
	// Stream leaves Result.PTX and Lines empty, so that the output needs no memory. Result.WriteTo
	// writes the output instead.
	Stream bool
}

// Why explains why a definition is in the output, or in Reason why it is not.
type Why struct {
	Symbol
	// Way leads from a root to the symbol: the root first, and each element uses the next. It is
	// nil if the symbol is not in the output. For a symbol of a linked cubin it is the symbol
	// alone, without a Place.
	Way []Symbol
	// Root is the reason why the first element is a root, such as "the host can look it up by
	// name".
	Root string
}

// Result is the result of a link.
type Result struct {
	// PTX is the linked module. Lines that the linker writes end in LF; bodies keep the line
	// endings of their input. To change it, replace the slice, since Parse would not see bytes that
	// were changed in place.
	PTX []byte
	// Lines maps a line of PTX to the input line it came from.
	Lines *LineMap
	// Modules are the inputs that were linked, in command-line order.
	Modules []Module
	// Pulls holds the reason why each archive member was linked, in link order.
	Pulls []Pull
	// Unused are the paths, as given and in command-line order, of the archives without a linked
	// member. As long as such an archive defines the same names with the same linkage, a change to
	// it cannot change the output. An added name can.
	Unused []string
	// Header of the output: "9.0", "sm_80", 64.
	Version     string
	Target      string
	AddressSize int
	// Kernels is the number of kernels in the output, without kernels of cubins.
	Kernels int
	// Debug reports whether the output has DWARF (.target ..., debug), and LineInfo
	// whether it has .loc lines. ptxas then needs -g or -lineinfo.
	Debug, LineInfo bool
	// Ways holds, for each name of Options.WhyLive, all definitions that have it in an input or
	// in the output.
	Ways [][]Why
	// References holds the external symbols, with Options.CrossReference.
	References []Reference
	// Units are the units of LTO-IR or LLVM bitcode that one of the modules was compiled from, for
	// the map. Link cannot set it, because its caller has compiled them.
	Units []Unit
	// Messages are warnings and notes, in command-line order.
	Messages []*Message
	// InlinedCalls are the direct calls of device functions, with Options.Optimize.
	InlinedCalls []InlinedCall
	// Folded are the functions that another one replaces (Optimize.Fold).
	Folded []FoldedFunction
	// Cubins are the linked cubins of Options.Cubins, in order.
	Cubins []*object.Cubin
	// OffloadMaps are the lines that start with "//:" in the linked modules, if Options.OffloadMaps
	// is set. gcc writes there the names that its host code offloads, and the output must have
	// these lines because gcc's mkoffload reads them.
	OffloadMaps []byte
	// Passes holds the time of each pass, in order.
	Passes []Pass
	// Spelling is how messages and reports name options and symbols.
	Spelling diag.Spelling

	describer func() description
	files     []*object.File // of a Stream, for the source lines in the map; otherwise they are parsed again

	program *program.Program // of a link with Options.Stream
	maps    *infile.Maps
	read    *infile.Files
}

// Sources returns a function that finds the line of the source that DWARF or .loc lines give for a
// place in an input; line is 0 if they give none.
func (r *Result) Sources() func(Place) (file string, line int) {
	sources := &srcline.Finder{Spelling: r.Spelling, Parse: true, Recorded: true}
	for _, f := range r.files {
		sources.Know(f.Module)
	}
	return sources.Source
}

// Symbols returns the module-scope symbols of the output, in output order.
func (r *Result) Symbols() []Symbol { return r.describer().symbols }

// Dropped returns the definitions that are not in the output because another definition is used,
// all their calls are inlined, or another function has the same code. Reason says which.
func (r *Result) Dropped() []Symbol { return r.describer().dropped }

// Removed returns the definitions that are not in the output because nothing in it
// refers to them.
func (r *Result) Removed() []Symbol { return r.describer().removed }

// Unit is LTO-IR or LLVM bitcode that was compiled to a module, together with other units of its
// form.
type Unit struct {
	Name, Target string
	Form         string   // "LTO-IR", "OptiX-IR" or "LLVM bitcode"
	Bytes        int      // size of the unit
	Module       string   // the name of the module
	Defines      []string // names
}

// Module is one linked input, for the map file.
type Module struct {
	Name        string `json:"name"`           // as messages call it
	Path        string `json:"path,omitempty"` // file on disk; empty for stdin and memory
	Version     string `json:"version"`
	Target      string `json:"target"`
	AddressSize int    `json:"address_size"`
	Producer    string `json:"producer,omitempty"` // "nvcc 12.4", "clang 19", "gcc", or empty
	Bytes       int    `json:"bytes"`
	// PtxasOptions are the options that the module's fatbin records for ptxas, such as
	// "--compile-only -maxrregcount=32". Package ptxas passes them on.
	PtxasOptions string `json:"ptxas_options,omitempty"`
}

// Symbol is one module-scope symbol, for the map file.
type Symbol struct {
	Name     string // in the output
	Original string // in the input; differs from Name if it was renamed
	Module   string // name of the module that defines it; empty if undefined
	Supplier string // if undefined: "driver" for system calls, "launch" for dynamic shared memory
	Kind     string // "entry", "func", "object", "alias"
	Space    string // "global", "const", "shared", ... for objects
	Linkage  string // "visible", "weak", "common", "extern", "" for module-local
	Size     int64  // bytes of an object; bytes of PTX text of a body, in the output if it is there
	Align    int64
	Reason   string // why a dropped definition was dropped

	place diag.Place
}

// Place returns where the module defines the symbol; the zero Place if none does.
func (s Symbol) Place() Place { return s.place }

// Line returns the 1-based line of the definition in its module, 0 if there is
// none.
func (s Symbol) Line() int {
	if s.place.Source == nil {
		return 0
	}
	return s.place.Source.Line(s.place.Span.Off)
}

// Pull records why an archive member was linked.
type Pull struct {
	Member string `json:"member"`       // "libm.a(sin.o)"
	Symbol string `json:"symbol"`       // the symbol it was needed for
	By     string `json:"by,omitempty"` // the module that needed it first; empty for -u
}

// Pass is one step of the link and the wall time it took.
type Pass struct {
	Name  string
	Time  time.Duration
	Start time.Time
}
