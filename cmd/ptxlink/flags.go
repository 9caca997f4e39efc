package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// newFlags returns the table of options. Parsing (args.go) and --help both read it,
// so an option is added only here. A word in backquotes is the name of the value in
// --help.
func newFlags() []cli.Flag {
	const output, input, linking, assembler, messages = "Output", "Inputs", "Linking", "ptxas", "Messages"
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: output, Usage: "write to `FILE` (default: a.out.ptx or a.out.cubin)"},
		&cli.BoolFlag{Name: "relocatable", Aliases: []string{"r"}, Category: output, Usage: "keep undefined symbols, for another link"},
		&cli.BoolFlag{Name: "cubin", Category: output, Usage: "assemble to a cubin with ptxas; -o NAME.cubin implies it"},
		&cli.BoolFlag{Name: "compile-only", Aliases: []string{"c"}, Category: output, Usage: "write a relocatable cubin (with -r: undefined symbols allowed)"},
		&cli.BoolFlag{Name: "print-dependencies", Category: output, Usage: "print why each archive member is linked"},
		&cli.StringFlag{Name: "Map", Category: output, Usage: "write a link map to `FILE`"},
		&cli.StringFlag{Name: "dependency-file", Category: output, Usage: "write a dependency file for Make to `FILE`"},
		&cli.StringFlag{Name: "unused-inputs", Category: output, Usage: "write the names of unused archives to `FILE`"},

		&cli.StringSliceFlag{Name: "L", Category: input, Usage: "search `DIR` for -l libraries"},
		&cli.StringSliceFlag{Name: "l", Category: input, Usage: "link lib`NAME`.a or .ptx from a -L folder; -l:FILE: that file"},
		&cli.BoolFlag{Name: "whole-archive", Category: input, Usage: "link all members of the following archives"},
		&cli.BoolFlag{Name: "no-whole-archive", Category: input, Usage: "link only the needed members of the following archives"},
		&cli.BoolFlag{Name: "start-group", Category: input, Usage: "ignored: the order of archives does not matter"},
		&cli.BoolFlag{Name: "end-group", Category: input, Usage: "ignored"},
		&cli.StringSliceFlag{Name: "undefined", Aliases: []string{"u"}, Category: input, Usage: "link the archive member that defines `NAME`"},
		&cli.StringSliceFlag{Name: "require-defined", Category: input, Usage: "like -u, and report an error if `NAME` is undefined"},
		&cli.Int64Flag{Name: "max-input-size", Category: input, Usage: "limit of decompressed inputs and pipes in `BYTES` (default: 4 GiB)"},
		&cli.IntFlag{Name: "threads", Aliases: []string{"j"}, Category: input, Usage: "read `N` inputs in parallel (default: number of CPUs)"},

		&cli.StringSliceFlag{Name: "allow-undefined", Category: linking, Usage: "allow undefined symbols that match `GLOB`"},
		&cli.BoolFlag{Name: "strip-debug", Aliases: []string{"S", "strip-all", "s"}, Category: linking, Usage: "remove debug information"},
		&cli.BoolFlag{Name: "keep-line-info", Category: linking, Usage: "with -S, keep .file and .loc"},
		&cli.StringFlag{Name: "host", Category: linking, Usage: "host platform of inputs without one: `OS-CPU`, e.g. linux-x86_64"},
		&cli.BoolFlag{Name: "allow-host-mismatch", Category: linking, Usage: "allow different host operating systems, with a warning"},

		&cli.StringFlag{Name: "arch", Category: assembler, Usage: "GPU to link and assemble for: `sm_NN` (default: the .target)"},
		&cli.StringFlag{Name: "ptxas", Category: assembler, Usage: "`PATH` of ptxas (default: $PTXAS, $CUDA_HOME, $CUDA_PATH, $PATH)"},
		&cli.StringSliceFlag{Name: "Xptxas", Category: assembler, Usage: "pass `ARG` to ptxas; -Xptxas -v,-O1 passes two"},

		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Category: messages, Usage: "show this help"},
		&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Category: messages, Usage: "show the version"},
		&cli.BoolFlag{Name: "verbose", Category: messages, Usage: "print what was renamed, dropped and assumed"},
		&cli.BoolFlag{Name: "time", Category: messages, Usage: "print the time of each pass"},
		&cli.BoolFlag{Name: "w", Category: messages, Usage: "suppress all warnings"},
		&cli.StringSliceFlag{Name: "W", Category: messages, Usage: "`no-ID` suppresses the warnings marked [-WID]"},
		&cli.BoolFlag{Name: "fatal-warnings", Category: messages, Usage: "treat warnings as errors; same as -Werror"},
		&cli.IntFlag{Name: "error-limit", Category: messages, Value: 20, Usage: "print at most `N` errors; 0: no limit (default: 20)"},
		&cli.GenericFlag{Name: "color-diagnostics", Category: messages, Value: new(colorWhen), Usage: "colour messages: `WHEN` is auto, always or never"},
	}
}

// joined are the letters whose value may be attached: -Ldir, -oFILE, -j8.
const joined = "LlojWu"

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
func (c *colorWhen) IsBoolFlag() bool { return true }

// needsValue reports whether the next argument is the option's value when none
// was given with "=".
func needsValue(f cli.Flag) bool {
	if g, ok := f.(*cli.GenericFlag); ok {
		_, optional := g.Value.(interface{ IsBoolFlag() bool })
		return !optional
	}
	return f.(cli.DocGenerationFlag).TakesValue()
}

// lookup finds an option by one of its names, without dashes.
func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

const description = `Options may be anywhere, with one dash or two; a word that begins with -o is
-o FILE. @FILE reads arguments from FILE, - is standard input or output, and
arguments after -- are files.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written, 70 a bug in ptxlink, 130 interrupted.`

// help returns the text of --help: the options by category, in the order of the
// table. The library would sort them.
func help(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s\n", app.Usage, app.UsageText)
	category := ""
	for _, f := range app.Flags {
		if c := f.(cli.CategorizableFlag).GetCategory(); c != category {
			category = c
			fmt.Fprintf(&b, "\n%s:\n", category)
		}
		b.WriteString(helpLine(f))
	}
	fmt.Fprintf(&b, "\n%s\n", app.Description)
	return b.String()
}

// helpLine returns the line of one option: "  -o, --output FILE  write to FILE".
func helpLine(f cli.Flag) string {
	before, value, after := cutQuoted(f.(cli.DocGenerationFlag).GetUsage())
	text := before + value + after
	var names []string
	for _, name := range f.Names() {
		names = append([]string{spell(name)}, names...) // the short one first
	}
	heads := strings.Join(names, ", ")
	if strings.HasPrefix(heads, "--") {
		heads = "    " + heads
	}
	switch {
	case value == "":
	case !needsValue(f):
		heads += "[=" + value + "]"
	case len(heads) == 2:
		heads += value
	default:
		heads += " " + value
	}
	if len(heads) > 31 { // the text on a line of its own, as ld does
		heads += "\n" + strings.Repeat(" ", 33)
	}
	return fmt.Sprintf("  %-31s %s\n", heads, text)
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
