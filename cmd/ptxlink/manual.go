package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/object/diag"
)

var manualCommand = subcommand{
	Command: described("manual"),
	run:     (*command).manual,
}

func (c *command) manual(opts *cli.Context) error {
	if len(c.inputs) > 1 {
		return usageError("one command has one manual page", "ptxlink --help lists the subcommands")
	}
	if opts.Bool("markdown") {
		return c.show(render(markdownTemplate, allCommands()...))
	}
	if dir := opts.String("output-dir"); dir != "" {
		var files []outfile.File
		for _, s := range allCommands() {
			files = append(files, outfile.File{Path: filepath.Join(dir, s.Title()+".1"), Data: render(manTemplate, s)})
		}
		return c.write(nil, files...)
	}
	name := ""
	if len(c.inputs) == 1 {
		name = c.inputs[0].name
	}
	for _, s := range allCommands() {
		if s.Name == name {
			return c.show(render(manTemplate, s))
		}
	}
	return usageError(fmt.Sprintf("there is no subcommand %q", name), "ptxlink --help lists the subcommands")
}

// render runs a template of the library's printer for each command. The library's own manual pages
// are not used, because it would make them from Markdown, with sorted options, without categories
// and names of values, and with dashes instead of minus signs. Its reader of Markdown also takes
// 0.5 ms at every start.
func render(template string, commands ...subcommand) []byte {
	var b bytes.Buffer
	for _, s := range commands {
		cli.HelpPrinter(&b, template, s)
	}
	return b.Bytes()
}

// Title is the name of the manual page: ptxlink, or ptxlink-nm.
func (s subcommand) Title() string { return strings.TrimSuffix("ptxlink-"+s.Name, "-") }

// Summary describes the command in the words of the NAME section of a manual page.
func (s subcommand) Summary() string {
	return strings.TrimSuffix(cmp.Or(strings.TrimPrefix(s.Usage, "ptxlink "), s.Usage), ".")
}

func (s subcommand) Groups() []group {
	listed, _ := s.options()
	return groups(listed)
}

// Others returns the subcommands, if the command is linking itself.
func (s subcommand) Others() []subcommand {
	if s.Name != "" {
		return nil
	}
	return subcommands
}

// Paragraphs returns the paragraphs of the description except the last, because that has the exit
// codes.
func (s subcommand) Paragraphs() []string {
	list := strings.Split(s.Description, "\n\n")
	return list[:len(list)-1]
}

// Codes returns the meaning of the exit codes.
func (s subcommand) Codes() string {
	_, codes, _ := strings.Cut(s.Description, "Exit codes: ")
	return strings.Join(strings.Fields(codes), " ")
}

func (s subcommand) Warnings() string { return strings.Join(ruleNames(diag.Warning), ", ") }

// Sentences returns the whole description of an option. It begins with a capital letter, except
// that names of programs must stay in lower case.
func (o option) Sentences() string {
	return strings.TrimSpace(diag.Sentence(o.Text) + ". " + o.More)
}

// manTemplate is a page of section 1, in the macros of man(7). It has no date, since it must be the
// same wherever it is made.
//
//go:embed manual.tmpl
var manTemplate string

// markdownTemplate is a section of docs/options.md.
//
//go:embed options.tmpl
var markdownTemplate string

// roff escapes text, because man would otherwise interpret some of its characters.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// roffLines returns a paragraph. Its indented lines must keep their breaks.
func roffLines(paragraph string) string {
	var b strings.Builder
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
	return b.String()
}

// markdown returns a paragraph. A paragraph with indented lines is shown unchanged.
func markdown(text string) string {
	if strings.Contains(text, "\n ") {
		return "```\n" + text + "\n```"
	}
	return strings.NewReplacer("\n", " ", "|", `\|`, "*", `\*`, "<", "&lt;", "_", `\_`, "[", `\[`).Replace(text)
}
