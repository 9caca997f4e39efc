package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/outfile"
)

func manualCommand() subcommand {
	return subcommand{
		name:  "manual",
		usage: "print the manual page of a command",
		args:  "[COMMAND]",
		flags: func() []option {
			const output = "Output"
			return append([]option{
				{kind: toggleKind, name: "markdown", category: output, usage: "print all options as Markdown (docs/options.md)"},
				{kind: textKind, name: "output-dir", category: output, usage: "write the pages of all commands to `DIR`"},
			}, commonFlags()...)
		},
		description: `Prints the manual page of linking or of a subcommand, for man:
ptxlink manual nm | man -l -

Exit codes: 0 success, 2 usage error, 3 a file cannot be written.`,
		run: (*command).manual,
	}
}

// allCommands returns linking and the subcommands.
func allCommands() []subcommand { return append([]subcommand{linking()}, subcommands()...) }

// manual is ptxlink manual.
func (c *command) manual(opts *options) error {
	if len(c.inputs) > 1 {
		return &usageError{text: "one command has one manual page", help: "ptxlink --help lists the subcommands"}
	}
	if opts.toggle("markdown") {
		return c.show(markdown())
	}
	if dir := opts.text("output-dir"); dir != "" {
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
		if s.name == name {
			return c.show(s.manualPage())
		}
	}
	return &usageError{text: fmt.Sprintf("there is no subcommand %q", name), help: "ptxlink --help lists the subcommands"}
}

// title returns the name of the manual page: ptxlink, or ptxlink-nm.
func (s subcommand) title() string { return strings.TrimSuffix("ptxlink-"+s.name, "-") }

// command returns what a user types.
func (s subcommand) command() string { return strings.TrimSpace("ptxlink " + s.name) }

// summary returns what the command does, as in the NAME of a manual page.
func (s subcommand) summary() string {
	return strings.TrimSuffix(cmp.Or(strings.TrimPrefix(s.usage, "ptxlink "), s.usage), ".")
}

// paragraphs splits the description; the last paragraph holds the exit codes.
func (s subcommand) paragraphs() (text []string, codes string) {
	text = strings.Split(s.description, "\n\n")
	last := len(text) - 1
	if after, ok := strings.CutPrefix(text[last], "Exit codes: "); ok {
		return text[:last], after
	}
	return text, ""
}

// groups returns the options by category, in the order of the table.
func groups(table []option) (list [][]option) {
	for _, o := range table {
		i := slices.IndexFunc(list, func(g []option) bool { return g[0].category == o.category })
		if i < 0 {
			list = append(list, nil)
			i = len(list) - 1
		}
		list[i] = append(list[i], o)
	}
	return list
}

// spellings returns all spellings of an option, the short ones first, and the name of
// its value.
func (o *option) spellings() (names []string, value string) {
	_, value, _ = cutQuoted(o.usage)
	for _, name := range o.names() {
		names = append([]string{spell(name)}, names...)
	}
	return names, value
}

// sentences returns the whole description of an option, as sentences.
func (o *option) sentences() string {
	before, value, after := cutQuoted(o.usage)
	text := before + value + after
	if text[0] >= 'a' && text[0] <= 'z' && !strings.HasPrefix(text, "no-ID") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	text += "."
	if o.more != "" {
		text += " " + o.more
	}
	return text
}

// manualPage returns the page of section 1, in the macros of man(7). It has no date, so
// that it is the same wherever it is made.
func (s subcommand) manualPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".\\\" Made by: %s\n", strings.TrimSpace("ptxlink manual "+s.name))
	fmt.Fprintf(&b, ".TH %s 1 \"\" ptxlink \"User Commands\"\n", roff(strings.ToUpper(s.title())))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(s.title()), roff(s.summary()))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n[options] %s\n", roff(s.command()), roff(s.args))
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
		fmt.Fprintf(&b, ".SS %s\n", roff(group[0].category))
		for _, o := range group {
			names, value := o.spellings()
			for i := range names {
				names[i] = `\fB` + roff(names[i]) + `\fR`
			}
			if value != "" {
				suffix := valueSuffix(&o, value)
				suffix = strings.Replace(suffix, value, `\fI`+value+`\fR`, 1)
				names[len(names)-1] += suffix
			}
			fmt.Fprintf(&b, ".TP\n%s\n%s\n", strings.Join(names, ", "), roff(o.sentences()))
		}
	}
	if s.name == "" {
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
	if s.name == "" {
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
		fmt.Fprintf(&b, "\n## %s\n\n`%s [options]%s`\n", s.command(), s.command(), strings.TrimRight(" "+s.args, " "))
		text, codes := s.paragraphs()
		for _, p := range text {
			b.WriteString("\n" + markdownParagraph(p) + "\n")
		}
		for _, group := range groups(s.flags()) {
			fmt.Fprintf(&b, "\n### %s\n\n| option | meaning |\n|---|---|\n", group[0].category)
			for _, o := range group {
				names, value := o.spellings()
				names[len(names)-1] += valueSuffix(&o, value)
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(names, "`, `"), markdownText(o.sentences()))
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
