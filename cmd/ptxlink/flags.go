package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// option is an option of the command line.
type option struct {
	kind     kind
	name     string   // in code and on the left of "="; --help shows it last
	aliases  []string // other spellings
	category string   // in --help
	usage    string   // its line in --help. A word in backquotes is the name of the value
	preset   string   // the value if it is not given
	choices  string   // the values that completion offers, separated by spaces
	more     string   // further sentences for the manual page and docs/options.md
}

func (o *option) names() []string { return append([]string{o.name}, o.aliases...) }

type kind int

const (
	toggleKind kind = iota
	textKind
	numberKind
	listKind  // may be given several times
	whenKind  // see colorWhen
	usageKind // see usageWhen
	maybeKind // a text that only "=" gives
)

// newFlags returns the table of options. Parsing (args.go) and --help both read it,
// so an option is added only here.
func newFlags() []option {
	const output, input, linking, optimising, assembler, messages = "Output", "Inputs", "Linking", "Optimisation", "ptxas", "Messages"
	table := []option{
		{kind: textKind, name: "output", aliases: []string{"o"}, category: output, usage: "write to `FILE` (default: a.out.ptx, a.out.cubin, a.out.fatbin)"},
		{kind: toggleKind, name: "relocatable", aliases: []string{"r"}, category: output, usage: "keep undefined symbols, for another link"},
		{kind: toggleKind, name: "cubin", category: output, usage: "assemble to a cubin with ptxas; -o NAME.cubin implies it"},
		{kind: textKind, name: "format", category: output, choices: "ptx cubin fatbin", usage: "write `FORMAT`: ptx, cubin or fatbin (default: by the suffix of -o)"},
		{kind: toggleKind, name: "compile-only", aliases: []string{"c"}, category: output, usage: "write a relocatable cubin (with -r: undefined symbols allowed)"},
		{kind: maybeKind, name: "print-dependencies", category: output, usage: "print why each archive member is linked, or write it to `FILE`"},
		{kind: textKind, name: "Map", category: output, usage: "write a link map to `FILE`, as JSON if it ends in .json"},
		{kind: toggleKind, name: "print-map", aliases: []string{"M"}, category: output, usage: "write the link map to standard output; same as -Map -"},
		{kind: toggleKind, name: "cref", category: output, usage: "add the modules that use each symbol to the map, or print them"},
		{kind: textKind, name: "report", category: output, usage: "write a page about the link, in HTML, to `FILE`"},
		{kind: textKind, name: "dot", category: output, usage: "write the call graph to `FILE`, for Graphviz"},
		{kind: textKind, name: "dependency-file", aliases: []string{"MF"}, category: output, usage: "write a dependency file for Make to `FILE`"},
		{kind: toggleKind, name: "MD", category: output, usage: "write a dependency file to the name of the output and .d"},
		{kind: textKind, name: "unused-inputs", category: output, usage: "write the names of unused archives to `FILE`"},
		{kind: textKind, name: "reproduce", category: output, usage: "write a tar `FILE` with the inputs and options of this link",
			more: "It is written before the link, for a report of a fault: tar xf x.tar; cd x; ptxlink @response.txt. It holds neither the programs that ptxlink runs nor the members of thin archives."},
		{kind: textKind, name: "time-trace", category: output, usage: "write the time of each pass to `FILE`, as JSON for Chrome's tracing"},

		{kind: listKind, name: "L", category: input, usage: "search `DIR` for -l libraries"},
		{kind: listKind, name: "l", category: input, usage: "link lib`NAME`.a or .ptx from a -L folder (or .lib); -l:FILE: that file"},
		{kind: toggleKind, name: "whole-archive", category: input, usage: "link all members of the following archives"},
		{kind: toggleKind, name: "no-whole-archive", category: input, usage: "link only the needed members of the following archives"},
		{kind: toggleKind, name: "push-state", category: input, usage: "remember --whole-archive, for --pop-state"},
		{kind: toggleKind, name: "pop-state", category: input, usage: "go back to the --whole-archive of --push-state"},
		{kind: toggleKind, name: "start-group", category: input, usage: "ignored: the order of archives does not matter"},
		{kind: toggleKind, name: "end-group", category: input, usage: "ignored"},
		{kind: listKind, name: "undefined", aliases: []string{"u"}, category: input, usage: "link the archive member that defines `NAME`"},
		{kind: listKind, name: "require-defined", category: input, usage: "like -u, and report an error if `NAME` is undefined"},
		{kind: numberKind, name: "max-input-size", category: input, usage: "limit of decompressed inputs and pipes in `BYTES` (default: 4 GiB)"},
		{kind: toggleKind, name: "no-threads", category: input, usage: "same as --threads=1"},
		{kind: numberKind, name: "threads", aliases: []string{"j"}, category: input, usage: "read `N` inputs in parallel (default: number of CPUs)"},

		{kind: listKind, name: "allow-undefined", category: linking, usage: "allow undefined symbols that match `GLOB`"},
		{kind: textKind, name: "unresolved-symbols", category: linking, choices: "report-all ignore-all ignore-in-object-files ignore-in-shared-libs",
			usage: "`HOW`: report-all (default); ignore-all allows all undefined symbols", more: "ignore-in-object-files is ignore-all, and ignore-in-shared-libs is report-all, since PTX has no shared libraries."},
		{kind: toggleKind, name: "warn-unresolved-symbols", category: linking, usage: "report undefined symbols as warnings, and leave them open"},
		{kind: toggleKind, name: "error-unresolved-symbols", category: linking, usage: "report undefined symbols as errors (default)"},
		{kind: listKind, name: "defsym", category: linking, usage: "define a symbol: `NAME=SYMBOL` or NAME=NUMBER",
			more: "NAME=SYMBOL: what refers to NAME refers to SYMBOL; the output has no symbol NAME. NAME=NUMBER: NAME is a variable of this value, with the state space and type that the inputs declare, because symbols of PTX have no absolute addresses."},
		{kind: listKind, name: "wrap", category: linking, usage: "uses of `NAME` become uses of __wrap_NAME",
			more: "Uses of __real_NAME become uses of NAME. As in GNU ld, uses in the module that defines NAME stay. NAME may be a system call, such as malloc."},
		{kind: toggleKind, name: "allow-multiple-definition", category: linking, usage: "take the first of several strong definitions; same as -z muldefs"},
		{kind: listKind, name: "z", category: linking, choices: "defs undefs muldefs", usage: "`KEYWORD`: defs, undefs and muldefs; ignores others"},
		{kind: toggleKind, name: "dedupe-identical", category: linking, usage: "take the first of several strong definitions with the same text",
			more: "What they use that is private to their modules must be the same too, and must not change while the program runs."},
		{kind: listKind, name: "weaken-symbol", category: linking, usage: "make definitions that match `GLOB` .weak in each input"},
		{kind: listKind, name: "localize-symbol", category: linking, usage: "make definitions that match `GLOB` private to each input", more: "--localize takes the linkage away in the output only."},
		{kind: toggleKind, name: "gc-sections", category: linking, usage: "remove what nothing refers to (default, except with -r and -c)"},
		{kind: toggleKind, name: "no-gc-sections", category: linking, usage: "keep what nothing refers to"},
		{kind: toggleKind, name: "gc-variables", category: linking, usage: "remove also variables that only the host could use"},
		{kind: listKind, name: "entry", aliases: []string{"e"}, category: linking, usage: "keep only entries that match `GLOB`"},
		{kind: listKind, name: "export", category: linking, usage: "keep definitions that match `GLOB`"},
		{kind: listKind, name: "localize", category: linking, usage: "take the linkage of definitions that match `GLOB` away"},
		{kind: textKind, name: "version-script", category: linking, usage: "export and localize what `FILE` lists, in the language of GNU ld"},
		{kind: toggleKind, name: "print-gc-sections", category: linking, usage: "print what is removed"},
		{kind: listKind, name: "why-live", category: linking, usage: "print what leads to `SYMBOL`"},
		{kind: toggleKind, name: "strip-debug", aliases: []string{"S", "strip-all", "s"}, category: linking, usage: "remove debug information"},
		{kind: toggleKind, name: "keep-line-info", category: linking, usage: "with -S, keep .file and .loc"},
		{kind: textKind, name: "ptx-version", category: linking, usage: "write `VERSION` as .version (default: the highest of the inputs)",
			more: "A version that lacks the target or a directive of the inputs is refused. One below that of an input gives a warning, since only ptxas knows the versions of instructions."},
		{kind: textKind, name: "host", category: linking, usage: "host platform of inputs without one: `OS-CPU`, e.g. linux-x86_64"},
		{kind: toggleKind, name: "allow-host-mismatch", category: linking, usage: "allow different host operating systems, with a warning"},

		{kind: numberKind, name: "O", category: optimising, choices: "0 1 2", usage: "inline functions: `LEVEL` 1 small ones, 2 more (default: 0)"},
		{kind: listKind, name: "inline", category: optimising, usage: "inline functions that match `GLOB`, whatever their size"},
		{kind: listKind, name: "no-inline", category: optimising, usage: "never inline functions that match `GLOB`"},
		{kind: numberKind, name: "inline-limit", category: optimising, usage: "a small function adds at most `N` instructions (default: 40)"},
		{kind: toggleKind, name: "icf", category: optimising, usage: "replace functions by others with the same code"},
		{kind: toggleKind, name: "print-icf-sections", category: optimising, usage: "print which functions --icf replaces"},
		{kind: toggleKind, name: "print-inlining", category: optimising, usage: "print which calls are inlined, and why others are not"},

		{kind: listKind, name: "arch", category: assembler, usage: "link for the GPU `sm_NN` (default: the .target); several: a fatbin"},
		{kind: textKind, name: "ptxas", category: assembler, usage: "`PATH` of ptxas (default: $PTXAS, $CUDA_HOME, $CUDA_PATH, $PATH, the usual folders, pip's wheels)"},
		{kind: listKind, name: "Xptxas", category: assembler, usage: "pass `ARG` to ptxas; -Xptxas -v,-O1 passes two"},
		{kind: textKind, name: "ptxas-mode", category: assembler, choices: "auto whole separate", usage: "whole clones callees, separate needs nvlink: `MODE` (default: auto)"},
		{kind: textKind, name: "partition", category: assembler, usage: "assemble at most `N` parts in parallel, or auto; implies separate"},
		{kind: textKind, name: "emit-parts", category: assembler, usage: "write the parts as PTX to `PATTERN`, such as dir/part%d.ptx"},
		{kind: numberKind, name: "ptxas-jobs", category: assembler, usage: "run at most `N` ptxas at a time (default: number of CPUs)"},
		{kind: textKind, name: "nvlink", category: assembler, usage: "`PATH` of nvlink (default: $NVLINK, else beside ptxas)"},
		{kind: textKind, name: "fatbinary", category: assembler, usage: "`PATH` of fatbinary (default: $FATBINARY, else beside ptxas)"},
		{kind: usageKind, name: "resource-usage", category: assembler, choices: "compare", usage: "print registers, spills, sizes; `compare`: also those without -O"},
		{kind: toggleKind, name: "save-temps", category: assembler, usage: "keep the linked PTX and the parts beside the output"},
		{kind: toggleKind, name: "dry-run", category: assembler, usage: "print the commands that make the cubin, and write nothing"},
		{kind: textKind, name: "cache-dir", category: assembler, usage: "keep cubins in `DIR`, by content (default: $PTXLINK_CACHE)"},
		{kind: numberKind, name: "cache-size", category: assembler, usage: "limit of the cache in `BYTES` (default: 1 GiB)"},

		{kind: toggleKind, name: "help", aliases: []string{"h"}, category: messages, usage: "show this help"},
		{kind: toggleKind, name: "version", aliases: []string{"v"}, category: messages, usage: "show the version"},
		{kind: toggleKind, name: "trace", aliases: []string{"t"}, category: messages, usage: "print the name of each module that is linked"},
		{kind: listKind, name: "trace-symbol", aliases: []string{"y"}, category: messages, usage: "print the modules that define or use `SYMBOL`"},
		{kind: toggleKind, name: "verbose", category: messages, usage: "print what was renamed, dropped and assumed"},
		{kind: toggleKind, name: "time", category: messages, usage: "print the time of each pass"},
		{kind: toggleKind, name: "stats", category: messages, usage: "print the numbers of modules, symbols and bytes"},
		{kind: toggleKind, name: "demangle", category: messages, usage: "show C++ and Rust names as in their source (default)"},
		{kind: toggleKind, name: "no-demangle", category: messages, usage: "show names as they are"},
		{kind: toggleKind, name: "w", category: messages, usage: "suppress all warnings"},
		{kind: listKind, name: "W", category: messages, usage: "`no-ID` hides the warnings marked [-WID], error=ID refuses them"},
		{kind: toggleKind, name: "fatal-warnings", category: messages, usage: "treat warnings as errors; same as -Werror"},
		{kind: numberKind, name: "error-limit", category: messages, preset: "20", usage: "print at most `N` errors; 0: no limit (default: 20)"},
		{kind: textKind, name: "explain", category: messages, usage: "explain the error or warning `ID`"},
		{kind: textKind, name: "diagnostics-format", category: messages, choices: "text json sarif github", usage: "write messages as `FORMAT`: text, json, sarif or github"},
		{kind: whenKind, name: "color-diagnostics", category: messages, choices: "auto always never", usage: "colour messages: `WHEN` is auto, always or never"},
	}
	return append(table, ignored()...)
}

const ignoredCategory = "Ignored"

// ignored are options of ld that have no meaning for PTX. A compiler driver or a build
// system passes them to every linker.
func ignored() []option {
	var list []option
	for _, o := range []struct {
		kind     kind
		names    string
		why, use string
	}{
		{toggleKind, "as-needed", "there are no shared libraries", ""},
		{toggleKind, "no-as-needed", "there are no shared libraries", ""},
		{toggleKind, "Bstatic static dn", "there are no shared libraries", ""},
		{toggleKind, "Bdynamic dy", "there are no shared libraries", ""},
		{toggleKind, "no-undefined", "this is the default", ""},
		{toggleKind, "no-allow-shlib-undefined", "there are no shared libraries", ""},
		{toggleKind, "export-dynamic E", "the host finds what has linkage", ""},
		{maybeKind, "build-id", "the output carries the digests of its inputs", "HASH"},
		{textKind, "hash-style", "PTX has no hash table", "STYLE"},
		{toggleKind, "eh-frame-hdr", "PTX has no unwind tables", ""},
		{toggleKind, "no-eh-frame-hdr", "PTX has no unwind tables", ""},
		{textKind, "plugin", "there are no plugins", "FILE"},
		{listKind, "plugin-opt", "there are no plugins", "OPTION"},
		{textKind, "m", "the inputs say for what they are", "EMULATION"},
		{toggleKind, "m64", "the inputs say for what they are", ""},
		{textKind, "sysroot", "only -L names folders", "DIR"},
		{toggleKind, "nostdlib", "only -L names folders", ""},
		{textKind, "compress-debug-sections", "debug sections of PTX are text", "FORM"},
		{toggleKind, "discard-all x", "names without linkage cost nothing", ""},
		{toggleKind, "discard-locals X", "names without linkage cost nothing", ""},
		{maybeKind, "sort-common", "the output has the order of the inputs", "ORDER"},
		{toggleKind, "relax", "ptxas chooses the instructions", ""},
		{toggleKind, "no-relax", "ptxas chooses the instructions", ""},
		{toggleKind, "warn-common", "commons of different sizes are warned of anyway", ""},
		{toggleKind, "no-fatal-warnings", "this is the default", ""},
		{toggleKind, "no-gc-variables", "this is the default", ""},
	} {
		names := strings.Fields(o.names)
		usage := "ignored: " + o.why
		switch {
		case o.use != "":
			usage = "`" + o.use + "` is ignored: " + o.why
		}
		list = append(list, option{kind: o.kind, name: names[0], aliases: names[1:], category: ignoredCategory, usage: usage})
	}
	return list
}

// joined are the letters whose value may be attached: -Ldir, -oFILE, -j8, -O2.
const joined = "LlojWuOyz"

// colorWhen is the value of --color-diagnostics, which is optional.
type colorWhen string

func (c *colorWhen) Set(value string) error {
	switch value {
	case "true": // what package flag says for an option without a value
		*c = "always"
	case "auto", "always", "never":
		*c = colorWhen(value)
	default:
		return fmt.Errorf("want auto, always or never")
	}
	return nil
}

func (c *colorWhen) String() string   { return string(*c) }
func (c *colorWhen) Get() any         { return *c }
func (c *colorWhen) IsBoolFlag() bool { return true }

// values are those of an option that may be given several times.
type values []string

func (v *values) Set(value string) error { *v = append(*v, value); return nil }
func (v *values) String() string         { return strings.Join(*v, ",") }
func (v *values) Get() any               { return []string(*v) }

// maybe is an option whose value may be missing.
type maybe struct {
	given bool
	value string
}

func (m *maybe) Set(value string) error {
	if *m = (maybe{true, value}); value == "true" { // as for colorWhen
		m.value = ""
	}
	return nil
}

func (m *maybe) String() string   { return m.value }
func (m *maybe) Get() any         { return *m }
func (m *maybe) IsBoolFlag() bool { return true }

// needsValue reports whether the next argument is the option's value when none
// was given with "=".
func needsValue(o *option) bool {
	return o.kind != toggleKind && o.kind != whenKind && o.kind != usageKind && o.kind != maybeKind
}

// lookup finds an option by one of its names, without dashes.
func lookup(table []option, name string) *option {
	for i := range table {
		if table[i].name == name || slices.Contains(table[i].aliases, name) {
			return &table[i]
		}
	}
	return nil
}

// options are the options of one run, by their first names. An option that is not in
// the table, or not given, has the zero value or its preset.
type options struct {
	ctx context.Context
	set *flag.FlagSet
}

// parse reads the arguments from reorder.
func parse(ctx context.Context, table []option, args []string) (*options, error) {
	set := flag.NewFlagSet("ptxlink", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, o := range table {
		switch o.kind {
		case toggleKind:
			set.Bool(o.name, false, "")
		case textKind:
			set.String(o.name, o.preset, "")
		case numberKind:
			preset, _ := strconv.ParseInt(o.preset, 10, 64)
			set.Int64(o.name, preset, "")
		case listKind:
			set.Var(new(values), o.name, "")
		case whenKind:
			set.Var(new(colorWhen), o.name, "")
		case usageKind:
			set.Var(new(usageWhen), o.name, "")
		case maybeKind:
			set.Var(new(maybe), o.name, "")
		}
	}
	if err := set.Parse(args); err != nil {
		if _, name, ok := strings.Cut(err.Error(), " for -"); ok && strings.HasPrefix(err.Error(), "invalid boolean value ") && strings.HasSuffix(name, ": parse error") {
			name, _, _ = strings.Cut(name, ":")
			return nil, &usageError{text: "option " + spell(name) + " takes no value", help: "ptxlink --help lists the options"}
		}
		words := strings.NewReplacer(" for flag -", " for option --", " for -", " for option --")
		return nil, &usageError{text: words.Replace(err.Error()), help: "ptxlink --help lists the options"}
	}
	return &options{ctx, set}, nil
}

func get[T any](o *options, name string) (value T) {
	if f := o.set.Lookup(name); f != nil {
		value = f.Value.(flag.Getter).Get().(T)
	}
	return value
}

func (o *options) toggle(name string) bool   { return get[bool](o, name) }
func (o *options) text(name string) string   { return get[string](o, name) }
func (o *options) number(name string) int64  { return get[int64](o, name) }
func (o *options) list(name string) []string { return get[[]string](o, name) }
func (o *options) maybe(name string) maybe   { return get[maybe](o, name) }
func (o *options) color() colorWhen          { return get[colorWhen](o, "color-diagnostics") }

// given reports whether an option is in the arguments.
func (o *options) given(name string) (found bool) {
	o.set.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

const description = `Options may be anywhere, with one dash or two; a word that begins with -o is
-o FILE. @FILE reads arguments from FILE, - is standard input or output, and
arguments after -- are files.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written, 70 a bug in ptxlink, 130 interrupted.`

// help returns the text of --help: the options by category, in the order of the table.
func (s subcommand) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s\n", s.usage, strings.TrimSpace(strings.TrimSpace("ptxlink "+s.name)+" [options] "+s.args))
	category := ""
	var ignored []string
	for _, f := range s.flags() {
		if f.category == ignoredCategory {
			names, value := f.spellings()
			names[len(names)-1] += valueSuffix(&f, value)
			ignored = append(ignored, names...)
			continue
		}
		if f.category != category {
			category = f.category
			fmt.Fprintf(&b, "\n%s:\n", category)
		}
		b.WriteString(helpLine(&f))
	}
	if ignored != nil {
		b.WriteString("\nIgnored, for programs that call every linker alike:\n")
		for _, line := range wrap(strings.Join(ignored, ", "), helpWidth-2) {
			b.WriteString("  " + line + "\n")
		}
	}
	if s.name == "" {
		b.WriteString("\nSubcommands, as the first argument (./NAME is a file):\n")
		for _, sub := range subcommands() {
			b.WriteString(helpRow(sub.name, sub.usage))
		}
		b.WriteString("\n" + warningHelp())
	}
	fmt.Fprintf(&b, "\n%s\n", s.description)
	return b.String()
}

// helpLine returns the line of one option: "  -o, --output FILE  write to FILE".
func helpLine(f *option) string {
	before, value, after := cutQuoted(f.usage)
	text := before + value + after
	var names []string
	for _, name := range f.names() {
		names = append([]string{spell(name)}, names...) // the short one first
	}
	heads := strings.Join(names, ", ") + valueSuffix(f, value)
	if strings.HasPrefix(heads, "--") {
		heads = "    " + heads
	}
	return helpRow(heads, text)
}

// valueSuffix returns what follows the last spelling of an option: " FILE", "DIR" after
// a letter, or "[=WHEN]".
func valueSuffix(f *option, value string) string {
	switch {
	case value == "":
		return ""
	case !needsValue(f):
		return "[=" + value + "]"
	case len(f.name) == 1 && len(f.aliases) == 0:
		return value
	}
	return " " + value
}

// helpWidth is the number of columns of a terminal that --help fits in.
const helpWidth = 80

// helpRow returns a row of --help, with the text in a column of its own.
func helpRow(head, text string) string {
	const column = 34
	if len(head) > column-3 { // the text on a line of its own, as ld does
		head += "\n" + strings.Repeat(" ", column-1)
	}
	lines := wrap(text, helpWidth-column)
	return fmt.Sprintf("  %-*s %s\n", column-3, head, strings.Join(lines, "\n"+strings.Repeat(" ", column)))
}

// wrap breaks text into lines of at most width columns.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// spell writes the name of an option the way ld and nvcc do: -L, -Map, -Xptxas
// and --threads.
func spell(name string) string {
	if len(name) == 1 || 'A' <= name[0] && name[0] <= 'Z' {
		return "-" + name
	}
	return "--" + name
}

// cutQuoted splits a usage text at the word in backquotes.
func cutQuoted(usage string) (before, value, after string) {
	before, rest, _ := strings.Cut(usage, "`")
	value, after, _ = strings.Cut(rest, "`")
	return before, value, after
}
