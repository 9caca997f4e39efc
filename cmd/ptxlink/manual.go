package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
)

func manualCommand() subcommand {
	return subcommand{
		Command: cli.Command{
			Name:      "manual",
			Usage:     "print the manual page of a command",
			ArgsUsage: "[COMMAND]",
			Description: `Prints the manual page of linking or of a subcommand, for man:
ptxlink manual nm | man -l -

Exit codes: 0 success, 2 usage error, 3 a file cannot be written.`,
		},
		flags: func() []cli.Flag {
			const output = "Output"
			return append([]cli.Flag{
				&cli.BoolFlag{Name: "markdown", Category: output, Usage: "print all options as Markdown (docs/options.md)"},
				&cli.StringFlag{Name: "output-dir", Category: output, Usage: "write the pages of all commands to `DIR`"},
			}, commonFlags()...)
		},
		run: (*command).manual,
	}
}

// allCommands returns linking and the subcommands.
func allCommands() []subcommand { return append([]subcommand{linking()}, subcommands()...) }

// manual is ptxlink manual.
func (c *command) manual(opts *cli.Context) error {
	if len(c.inputs) > 1 {
		return &usageError{text: "one command has one manual page", help: "ptxlink --help lists the subcommands"}
	}
	if opts.Bool("markdown") {
		return c.show(markdown())
	}
	if dir := opts.String("output-dir"); dir != "" {
		var files []outfile.File
		for _, s := range allCommands() {
			files = append(files, outfile.File{Path: filepath.Join(dir, s.title()+".1"), Data: s.manualPage()})
		}
		return c.write(nil, files...)
	}
	name := ""
	if len(c.inputs) == 1 {
		name = c.inputs[0].name
	}
	for _, s := range allCommands() {
		if s.Name == name {
			return c.show(s.manualPage())
		}
	}
	return &usageError{text: fmt.Sprintf("there is no subcommand %q", name), help: "ptxlink --help lists the subcommands"}
}

// title returns the name of the manual page: ptxlink, or ptxlink-nm.
func (s subcommand) title() string { return strings.TrimSuffix("ptxlink-"+s.Name, "-") }

// command returns what a user types.
func (s subcommand) command() string { return strings.TrimSpace("ptxlink " + s.Name) }

// summary returns what the command does, as in the NAME of a manual page.
func (s subcommand) summary() string {
	return strings.TrimSuffix(cmp.Or(strings.TrimPrefix(s.Usage, "ptxlink "), s.Usage), ".")
}

// paragraphs splits the description; the last paragraph holds the exit codes.
func (s subcommand) paragraphs() (text []string, codes string) {
	text = strings.Split(s.Description, "\n\n")
	last := len(text) - 1
	if after, ok := strings.CutPrefix(text[last], "Exit codes: "); ok {
		return text[:last], after
	}
	return text, ""
}

// sentences returns the whole description of an option, as sentences.
func (o option) sentences() string {
	text := o.text
	if text[0] >= 'a' && text[0] <= 'z' && !strings.HasPrefix(text, "no-ID") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSpace(text + ". " + o.more)
}

// manualPage returns the page of section 1, in the macros of man(7). It has no date, so
// that it is the same wherever it is made.
func (s subcommand) manualPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".\\\" Made by: %s\n", strings.TrimSpace("ptxlink manual "+s.Name))
	fmt.Fprintf(&b, ".TH %s 1 \"\" ptxlink \"User Commands\"\n", roff(strings.ToUpper(s.title())))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(s.title()), roff(s.summary()))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n[options] %s\n", roff(s.command()), roff(s.ArgsUsage))
	text, codes := s.paragraphs()
	b.WriteString(".SH DESCRIPTION\n")
	for i, p := range text {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		roffLines(&b, p)
	}
	b.WriteString(".SH OPTIONS\n")
	for _, group := range groups(s.flags()) {
		fmt.Fprintf(&b, ".SS %s\n", roff(group.Category))
		for _, f := range group.Flags {
			o := describeFlag(f)
			var names []string
			for _, name := range o.spellings {
				names = append(names, `\fB`+roff(name)+`\fR`)
			}
			suffix := o.suffix
			if o.value != "" {
				suffix = strings.Replace(suffix, o.value, `\fI`+o.value+`\fR`, 1)
			}
			fmt.Fprintf(&b, ".TP\n%s%s\n%s\n", strings.Join(names, ", "), suffix, roff(o.sentences()))
		}
	}
	if s.Name == "" {
		b.WriteString(".SH SUBCOMMANDS\n")
		for _, sub := range subcommands() {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s; see\n.BR %s (1).\n", roff(sub.command()), roff(sub.summary()), roff(sub.title()))
		}
		fmt.Fprintf(&b, ".SH WARNINGS\nThe names that \\fB\\-Wno\\-\\fIID\\fR takes: %s.\n", roff(strings.Join(warnings, ", ")))
		b.WriteString(".SH ENVIRONMENT\n")
		for _, v := range environment {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", v.name, roff(v.text))
		}
	}
	if codes != "" {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(strings.Join(strings.Fields(codes), " ")))
	}
	b.WriteString(".SH SEE ALSO\n")
	also := ".BR ptxlink (1)\n"
	if s.Name == "" {
		also = ".BR ptxas (1),\n.BR nvlink (1),\n.BR ld (1)\n"
	}
	b.WriteString(also)
	return b.Bytes()
}

// environment lists the variables that ptxlink reads.
var environment = []struct{ name, text string }{
	{"PTXAS, NVLINK, FATBINARY", "Paths of the programs, unless an option names them."},
	{"CUDA_HOME, CUDA_PATH", "Folders of a CUDA toolkit, whose bin is searched for ptxas."},
	{"PTXLINK_CACHE", "The folder of --cache-dir, unless the option names one."},
	{"NO_COLOR, CLICOLOR=0", "Messages have no colour."},
	{"FORCE_COLOR, CLICOLOR_FORCE", "Unless NO_COLOR is set, messages have colour if the value is neither empty nor 0."},
	{"GOMAXPROCS, GOGC", "Number of threads, and size of the heap, as for every Go program."},
}

// roff escapes text for man.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// roffLines writes a paragraph. Its indented lines keep their breaks.
func roffLines(b *bytes.Buffer, paragraph string) {
	literal := false
	for line := range strings.SplitSeq(paragraph, "\n") {
		if indented := strings.HasPrefix(line, " "); indented != literal {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
			literal = indented
		}
		b.WriteString(roff(line) + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
}

// markdown returns docs/options.md.
func markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# Options\n\nMade by `ptxlink manual --markdown` from the table that parses the command line; `go test ./cmd/ptxlink -run OptionDocs -update` rewrites this page.\n")
	for _, s := range allCommands() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s [options]%s`\n", s.command(), s.command(), strings.TrimRight(" "+s.ArgsUsage, " "))
		text, codes := s.paragraphs()
		for _, p := range text {
			b.WriteString("\n" + markdownParagraph(p) + "\n")
		}
		for _, group := range groups(s.flags()) {
			fmt.Fprintf(&b, "\n### %s\n\n| option | meaning |\n|---|---|\n", group.Category)
			for _, f := range group.Flags {
				o := describeFlag(f)
				fmt.Fprintf(&b, "| `%s%s` | %s |\n", strings.Join(o.spellings, "`, `"), o.suffix, markdownText(o.sentences()))
			}
		}
		if codes != "" {
			fmt.Fprintf(&b, "\nExit codes: %s\n", strings.Join(strings.Fields(codes), " "))
		}
	}
	return b.Bytes()
}

// markdownParagraph returns a paragraph; one with indented lines is shown as it is.
func markdownParagraph(p string) string {
	if strings.Contains(p, "\n ") {
		return "```\n" + p + "\n```"
	}
	return markdownText(strings.Join(strings.Fields(p), " "))
}

func markdownText(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "_", `\_`, "[", `\[`).Replace(text)
}
