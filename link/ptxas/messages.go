package ptxas

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// ptxas writes messages of these forms:
//
//	ptxas linked.ptx, line 12; error   : Unknown symbol 'x'
//	ptxas fatal   : Unresolved extern function 'f'
//	ptxas info    : Function properties for k
//	    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//
// An indented line continues the previous message. There is never a column.
var said = sets.Regexp(`^ptxas (?:.*, line (\d+); )?(fatal|error|warning|info) *: *(.*)$`)

// aborted is dropped, because it follows errors that were already reported.
const aborted = "Ptx assembly aborted due to errors"

// withoutPIC is a message of ptxas 12.4 about a whole program with some thousand variables. It is
// dropped, because the code is the same as with -pic=false
// (testdata/script/cubin_many_variables.txtar).
const withoutPIC = "Disabling default position-independent-code"

// stackUnknown starts the message of ptxas and nvlink about a kernel that reaches recursion or
// calls through pointers.
const stackUnknown = "Stack size for entry function "

// targetTooHigh is always about .target, but has no line number, so the line must be searched for.
const targetTooHigh = "SM version specified by .target is higher"

func lineOf(text []byte, wanted func(line []byte) bool) int {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; wanted(line) {
			return n
		}
	}
	return 0
}

// hear keeps the spills, and reports the other messages.
func (t *teller) hear(text string, u unit, log *diag.Log) {
	rest, list := readSpills(text)
	t.mu.Lock()
	maps.Copy(t.spills, list)
	t.mu.Unlock()
	if !talks(t.Args) {
		text = rest
	}
	t.retell(text, u, log)
}

// retell adds the messages of ptxas to the log, in their order.
func (t *teller) retell(text string, u unit, log *diag.Log) {
	before := log.Errors()
	var lines quota
	defer func() { noteLeft("ptxas", lines.left, log) }()
	var last *diag.Message
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		found := said().FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "", found != nil && t.drops(found[3]):
		case found == nil && last != nil && line[0] == ' ':
			last.Text += diag.Escape(": " + strings.TrimSpace(line))
		case found == nil && !lines.take(""), found != nil && !lines.take(found[2]):
			last = nil // otherwise an indented line would continue the last message
		case found == nil:
			// It is output of a wrapper script or a shell.
			last = log.Note(diag.Place{}, "ptxas: "+line)
		case found[3] == aborted && log.Errors() > before, strings.HasPrefix(found[3], withoutPIC):
		default:
			number, _ := strconv.Atoi(found[1])
			if u.line != nil {
				number = u.line(number)
			}
			if number == 0 && strings.HasPrefix(found[3], targetTooHigh) {
				number = lineOf(t.linked.Text, func(line []byte) bool { return bytes.HasPrefix(line, []byte(".target")) })
			}
			unresolved := ""
			if name := quoted().FindStringSubmatch(found[3]); name != nil && strings.HasPrefix(found[3], "Unresolved extern") {
				unresolved = name[1]
			}
			if number == 0 && unresolved != "" {
				number = externLine(t.linked.Text, unresolved)
			}
			if ignoresRegisters(found[3]) {
				found[2] = "warning"
			}
			last = t.message(log, found[2], found[3], number)
			last.WithHelp(t.advice(found[3]))
			if number == 0 {
				t.blame(last, u, found[3])
			}
			if unresolved != "" && last.Place.Source != nil {
				last.Notes = nil // because the line that ptxas read is the same declaration
			}
			if plain := log.Unmangled(unresolved); plain != "" {
				last.Note(diag.Place{}, unresolved+" is "+plain)
			}
		}
	}
}

// drops reports whether a message of ptxas or nvlink is not wanted. The programs have an option for
// this, but it cannot be used, because ptxas 13 may write its options into cubins.
func (o Options) drops(text string) bool {
	return o.SuppressStackWarnings && strings.HasPrefix(text, stackUnknown)
}

func (t *teller) message(log *diag.Log, kind, text string, number int) *diag.Message {
	place, mapped := t.lines.Origin(number)
	if mapped {
		place.Span = narrow(place.Source, place.Span, text)
	}
	if number == 0 && kind != "info" {
		place = t.symbol(text)
	}
	var m *diag.Message
	switch kind {
	case "warning":
		m = log.Warn(diag.Ptxas, place, "ptxas: "+text)
	case "info":
		m = log.Note(place, "ptxas: "+text)
	default:
		m = log.Error(diag.PtxasError, place, "ptxas: "+text)
	}
	if number == 0 {
		return m
	}
	// Show the linked line if the linker wrote it or changed names in it, because the input then
	// lacks it.
	line := t.linked.LineSpan(number)
	saved := t.linked.Name != linkedName
	switch {
	case line == (diag.Span{}):
		m.Note(diag.Place{}, fmt.Sprintf("ptxas names line %d, and the linked module has fewer", number))
	case !mapped || !bytes.Contains(place.Source.Bytes(place.Source.LineSpan(place.Source.Line(place.Span.Off))), bytes.TrimSpace(t.linked.Bytes(line))):
		said := "ptxas read this line" + log.With("--save-temps", "; %s keeps the linked module")
		if saved {
			said = "ptxas read this line of the linked module"
		}
		m.Note(diag.At(t.linked, narrow(t.linked, line, text)), said)
	case saved:
		m.Note(diag.Place{}, fmt.Sprintf("this is line %d of %s, the linked module", number, t.linked.Name))
	}
	return m
}

// quoted matches quoted words in a message. It must not match apostrophes.
var quoted = sets.Regexp(`\B'([^']+)'`)

// narrow shrinks the span of a line to the first word that the message quotes, because ptxas gives
// no column. Otherwise it only trims white space.
func narrow(src *diag.Source, span diag.Span, text string) diag.Span {
	line := src.Bytes(span)
	for _, q := range quoted().FindAllStringSubmatch(text, -1) {
		if at := findWord(line, q[1]); at >= 0 {
			return diag.Span{Off: span.Off + int32(at), Len: int32(len(q[1]))}
		}
	}
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		return span
	}
	return diag.Span{Off: span.Off + int32(bytes.Index(line, trimmed)), Len: int32(len(trimmed))}
}

// findWord returns the position of word in the line, unless it is a part of a longer name; -1 if it
// is not there. "add" is in "add.u32" but not in "%add".
func findWord(line []byte, word string) int {
	for from := 0; ; {
		at := bytes.Index(line[from:], []byte(word))
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(word)
		startsName := at == 0 || !ptx.InName(line[at-1]) || !ptx.InName(word[0])
		endsName := end == len(line) || !ptx.InName(line[end]) || !ptx.InName(word[len(word)-1])
		if startsName && endsName {
			return at
		}
		from = at + 1
	}
}

// needsVersion matches the message of ptxas about code that is newer than the .version above it,
// because some compilers do not raise .version.
var needsVersion = sets.Regexp(`requires PTX ISA \.version (\d+\.\d+) or later$`)

// advice returns the help for a message of ptxas, if it is known.
func (t *teller) advice(text string) string {
	switch {
	case strings.HasPrefix(text, "Unsupported .version"):
		help := t.Path + " is older than the PTX; name a newer ptxas with " + t.Spelling.With("--ptxas", "%s or ") + "$PTXAS"
		if names := quoted().FindStringSubmatch(text); names != nil {
			help += t.Spelling.With("--ptx-version="+names[1], ", or lower the version of the output with %s")
		}
		return help
	case needsVersion().MatchString(text):
		return t.Spelling.With("--ptx-version="+needsVersion().FindStringSubmatch(text)[1], "raise the version of the output with %s")
	case strings.HasPrefix(text, stackUnknown):
		return "the kernel recurses or calls through pointers: avoid that, or set the bytes of stack per thread with cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch"
	case strings.HasPrefix(text, targetTooHigh):
		return fmt.Sprintf("the module needs a newer GPU than %s; name it with %s", t.Arch, t.Spelling.Option("--arch"))
	case strings.HasPrefix(text, "Value ") && strings.HasSuffix(text, "for option 'gpu-name'"):
		return fmt.Sprintf("%s does not know %s; name another GPU with %s, or another ptxas with %s$PTXAS", t.Path, t.Arch, t.Spelling.Option("--arch"), t.Spelling.With("--ptxas", "%s or "))
	case strings.HasPrefix(text, "Unresolved extern") && !t.Compile:
		return t.unfinished() + ", and the ptxas of a later CUDA may know the function"
	case strings.Contains(text, overLimit) || strings.Contains(text, tooManyConstants):
		return t.asWhole(text)
	case ignoresRegisters(text) && t.Compile:
		return t.Spelling.With("--ptxas-mode=whole", "only a cubin of %s keeps setmaxnreg")
	case strings.HasPrefix(text, "Feature 'unified Functions'"):
		return t.unified()
	case strings.HasPrefix(text, "Optimized debugging not supported"):
		return "the module carries DWARF, so ptxas is run with -g, which excludes -O1 and more"
	case strings.HasPrefix(text, "Unknown option"):
		return "the option comes from " + t.Spelling.Option("-Xptxas") + "; see " + t.Path + " --help"
	}
	return ""
}

// ignoresRegisters reports whether ptxas says, only as an info, that setmaxnreg does nothing
// (testdata/script/cubin_setmaxnreg.txtar).
func ignoresRegisters(text string) bool { return strings.Contains(text, "'setmaxnreg' ignored") }

// overLimit is in the messages of ptxas and nvlink about a kernel that calls a function with more
// registers than .maxntid or an option lets the kernel have. Whole mode avoids it, because there
// the limit holds for the copies of functions (testdata/script/cubin_mode_registers.txtar).
const overLimit = " with max regcount of "

// tooManyConstants is in the message of nvlink about a kernel that reaches more than 64 KB of
// constants. ptxas -c makes them for each function (testdata/script/cubin_mode_constants.txtar).
const tooManyConstants = "uses too much data for compiler-generated constants"

// asWhole returns the help for a refusal of separate functions. If the user has chosen them,
// --ptxas-mode=whole avoids it.
func (t *teller) asWhole(text string) string {
	whole, constants := "%s needs no nvlink", ""
	switch {
	case strings.Contains(text, overLimit):
		whole = "%s gives each kernel copies of functions that keep its limit of registers"
	case strings.Contains(text, tooManyConstants):
		whole, constants = "%s assembles the program at once", t.Spelling.With("-Xptxas --disable-optimizer-constants", "%s assembles PTX without such constants")
		if len(t.Cubins) > 0 {
			constants += "; cubins must be compiled with that option of ptxas"
		}
	}
	if !t.apart {
		return constants
	}
	return diag.Join(t.Spelling.With("--ptxas-mode=whole", whole), constants)
}

// unfinished returns the help for an undefined symbol, which a finished cubin cannot have.
func (o Options) unfinished() string {
	return diag.Join("a finished cubin has no undefined symbols", o.Spelling.With("-c", "%s makes one that can be linked further"))
}

// unified returns the help for .unified, since no mode can make a finished cubin of it
// (testdata/script/var_unified.txtar).
func (o Options) unified() string {
	return diag.Join("only nvlink can finish .unified functions, and it needs an index file (-uidx) of an undocumented format", o.Spelling.With("-c", "%s makes a relocatable cubin"))
}

// externLine returns the number of the line that declares a name .extern; 0 if none does.
func externLine(text []byte, name string) int {
	between := func(r rune) bool { return r > 0x7f || !ptx.InName(byte(r)) }
	return lineOf(text, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte(".extern ")) && slices.Contains(strings.FieldsFunc(string(line), between), name)
	})
}
