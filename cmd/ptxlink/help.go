package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

const description = `Options may be anywhere, with one dash or two; a word that begins with -o is
-o FILE. @FILE reads arguments from FILE, - is standard input or output, and
arguments after -- are files. On a terminal, a link says what it wrote, unless
-w is given.

Exit codes: 0 linked, 1 cannot be linked, 2 usage error, 3 a file cannot be
read or written, or a program such as ptxas cannot be run or fails, 70 a bug in
ptxlink, 128+n ended by signal n.`

// helpTemplate is the text of --help, for the app and for each command. The library's own template
// cannot be used, because it sorts the categories and the options, and does not break lines.
//
//go:embed help.tmpl
var helpTemplate string

// The library prints help and, for ptxlink manual, manual pages and Markdown from templates, so its
// printer of templates must know our functions.
func init() {
	cli.HelpPrinter = func(w io.Writer, template string, command any) {
		cli.HelpPrinterCustom(w, template, command, map[string]any{
			"groups": groups, "line": helpLine, "heads": helpHeads, "row": helpRow, "warnings": warningHelp,
			"roff": roff, "roffLines": roffLines, "upper": strings.ToUpper, "markdown": markdown,
		})
	}
}

// group is the options of one category.
type group struct {
	Category string
	Options  []option
}

func groups(flags []cli.Flag) (list []group) {
	for _, f := range flags {
		o := describeFlag(f)
		i := slices.IndexFunc(list, func(g group) bool { return g.Category == o.category })
		if i < 0 {
			i = len(list)
			list = append(list, group{Category: o.category})
		}
		list[i].Options = append(list[i].Options, o)
	}
	return list
}

// helpLine returns the line of one option: "  -o, --output FILE  write to FILE".
func helpLine(o option) string {
	heads := o.heads()
	if strings.HasPrefix(heads, "--") {
		heads = "    " + heads
	}
	return helpRow(heads, o.Text)
}

// helpHeads returns only the spellings, in lines that fit the screen.
func helpHeads(options []option) string {
	var heads []string
	for _, o := range options {
		heads = append(heads, o.heads())
	}
	return "  " + indented(diag.Wrap(strings.Join(heads, ", "), 0, helpWidth-2), 2) + "\n"
}

// helpWidth is the number of columns of a terminal in which --help must fit.
const helpWidth = 80

// helpRow returns a row of --help, with the text in the second column.
func helpRow(head, text string) string {
	const column = 34
	if len(head) > column-3 { // the text is on the next line, as in ld
		head += "\n" + strings.Repeat(" ", column-1)
	}
	return fmt.Sprintf("  %-*s %s\n", column-3, head, indented(diag.Wrap(text, 0, helpWidth-column), column))
}

// indented returns a text with all lines except the first indented.
func indented(text string, columns int) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", columns))
}
