package link

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"ptxlink/internal/diag"
	"ptxlink/object"
)

// Input is one thing to link. Text wins over Reader, and Reader over Path.
type Input struct {
	// Name is what messages, the map and the dependency list call the input;
	// empty means Path, and "<input 1>" for the first input if that is empty too.
	Name string
	// Path names a file to read.
	Path string
	// Text is PTX in memory. It must not change while the Result is in use:
	// messages and the line map refer to it.
	Text []byte
	// Reader is read to its end, once.
	Reader io.Reader
	// WholeArchive links every member of an archive, needed or not. What does
	// not come out of an archive is always linked.
	WholeArchive bool
}

// Options say what to link and how. The zero value of every field but Inputs
// is what a plain `ptxlink a.ptx b.ptx` means.
type Options struct {
	Inputs []Input
	// Jobs bounds the number of inputs read at a time; 0 means one per CPU.
	// It never changes the output.
	Jobs int
	// Relocatable keeps undefined symbols as .extern and writes a module that
	// can be linked again (-r).
	Relocatable bool
	// AllowUndefined lists glob patterns (path.Match) of symbols that may stay
	// undefined; they are emitted as .extern.
	AllowUndefined []string
	// CheckOnly stops before the output is made; Result.PTX is then empty.
	CheckOnly bool
	// Atomics adds the lint of atomic operations (PTX Interoperability 4).
	Atomics bool
	// Arch is the GPU that the output is for, "sm_80": where an input holds PTX
	// for several, the highest that runs there is linked. Empty takes the highest
	// there is. It does not change .target, and a module that does not run there
	// is an error.
	Arch string
	// MaxInputSize bounds the bytes that one compressed input may grow to; 0 is
	// 4 GiB.
	MaxInputSize int64
	// Undefined lists names that archive members are linked for, though no input
	// uses them (-u); RequireDefined does so too and makes it an error if
	// nothing defines the name.
	Undefined, RequireDefined []string
	// Host is the platform that inputs which say nothing were compiled for:
	// "linux-x86_64". It is recorded in the output.
	Host string
	// AllowHostMismatch turns a known difference of operating system between
	// inputs into a warning. 32 against 64 bits stays an error.
	AllowHostMismatch bool
	// StripDebug leaves DWARF out of the output (-S), and the lines of .file and
	// .loc too unless KeepLines is set.
	StripDebug, KeepLines bool
	// Verbose adds notes about what was renamed, dropped or assumed.
	Verbose bool
}

// CheckHost says why Options.Host cannot be what it is; nil for the empty string.
func CheckHost(host string) error {
	if host == "" {
		return nil
	}
	_, err := object.ParseHost(host)
	return err
}

var (
	gpuName   = regexp.MustCompile(`^(sm|compute)_[1-9][0-9]{1,2}[af]?$`)
	gpuDigits = regexp.MustCompile(`([0-9])[._-]?([0-9]{0,2})([aAfF]?)$`)
)

// CheckArch says why an Arch of options cannot be what it is; nil for the empty
// string.
func CheckArch(arch string) error {
	if arch == "" || gpuName.MatchString(arch) {
		return nil
	}
	// sm_8, 80, sm80, sm-80, SM_80, 8.0
	suggestion := ""
	if part := gpuDigits.FindStringSubmatch(arch); part != nil && part[1] != "0" {
		kind := "sm"
		if strings.HasPrefix(strings.ToLower(arch), "c") {
			kind = "compute"
		}
		suggestion = fmt.Sprintf(" (did you mean %s_%s%s%s?)", kind, part[1], cmp.Or(part[2], "0"), strings.ToLower(part[3]))
	}
	return fmt.Errorf("%q is not the name of a GPU%s", arch, suggestion)
}

// Result is a finished link.
type Result struct {
	// PTX is the linked module. What the linker writes ends in LF; bodies keep
	// the line ends of their input.
	PTX []byte
	// Lines leads from a line of PTX back to the input line it came from.
	Lines *LineMap
	// Modules are the inputs that were linked, in command-line order.
	Modules []Module
	// Symbols are the module-scope symbols of the output, in output order.
	Symbols []Symbol
	// Dropped are definitions that lost to another one.
	Dropped []Symbol
	// Pulls say why each archive member was linked, in the order they came in.
	Pulls []Pull
	// Unused are the paths of the archives of which nothing was linked, as they
	// were given, in command-line order. As long as such an archive defines the
	// same names with the same linkage, a change of it does not change the
	// output; a name more can.
	Unused []string
	// Header of the output: "9.0", "sm_80", 64.
	Version     string
	Target      string
	AddressSize int
	// Debug says that the output carries DWARF (.target ..., debug), and
	// LineInfo that it carries .loc lines; ptxas wants -g or -lineinfo then.
	Debug, LineInfo bool
	// Messages are warnings and notes, in command-line order.
	Messages []*Message
	// Passes are the times of the passes, in order.
	Passes []Pass
}

// Module is one linked input, for the map file.
type Module struct {
	Name        string // as messages call it
	Path        string // file on disk; empty for stdin and memory
	Version     string
	Target      string
	AddressSize int
	Producer    string // "nvcc 12.4", "clang 19", "gcc", or empty
	Bytes       int
}

// Symbol is one module-scope symbol, for the map file.
type Symbol struct {
	Name     string // in the output
	Original string // in the input; differs from Name if it was renamed
	Module   string // name of the module that defines it; empty if undefined
	Supplier string // of an undefined one: "driver" for system calls, "launch" for dynamic shared memory, or empty
	Kind     string // "entry", "func", "object", "alias"
	Space    string // "global", "const", "shared", ... for objects
	Linkage  string // "visible", "weak", "common", "extern", "" for module-local
	Size     int64  // bytes of an object; bytes of PTX text of a body
	Align    int64
	Reason   string // for a dropped definition: why

	place diag.Place
}

// Place returns where the module defines the symbol; the zero Place if none does.
func (s Symbol) Place() Place { return publicPlace(s.place) }

// Line returns the 1-based line of the definition in its module, 0 if there is
// none.
func (s Symbol) Line() int {
	if s.place.Source == nil {
		return 0
	}
	return s.place.Source.Line(s.place.Span.Off)
}

// Pull says why an archive member was linked.
type Pull struct {
	Member string // "libm.a(sin.o)"
	Symbol string // what it was needed for
	By     string // the module that needed it first; empty for -u
}

// Pass is one step of the link and the wall time it took.
type Pass struct {
	Name string
	Time time.Duration
}
