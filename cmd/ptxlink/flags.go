package main

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// optionsText is the table of the options of all commands. Parsing, help, completion and the manual
// all come from it. Its first paragraphs describe its form.
//
//go:embed options.txt
var optionsText string

// The categories of options that are not shown in full: opposites of defaults and other names that
// users of ld and nvlink type, and options of ld that have no meaning for PTX. The latter must be
// accepted, because a compiler driver or a build system passes them to every linker.
const alsoCategory, ignoredCategory = "Also", "Ignored"

// flagsOf returns the options of a command that its --help lists, and others that it takes.
func flagsOf(command string) (listed, more []cli.Flag) {
	_, rows, _ := strings.Cut(optionsText, "\n-- ")
	category, rows, _ := strings.Cut(rows, " --\n")
	for rows != "" {
		var row string
		if row, rows, _ = strings.Cut(rows, "\n"); strings.HasPrefix(row, "-- ") {
			category = strings.Trim(row, "- ")
			continue
		}
		end := 0
		for end < len(rows) && rows[end] == '\t' {
			end += strings.IndexByte(rows[end:], '\n') + 1
		}
		usage := rows[:end]
		rows = rows[end:]
		names, row, _ := strings.Cut(row, "\t")
		kind, commands, _ := strings.Cut(row, "\t")
		switch taken, hidden := takes(command, commands); {
		case hidden:
			more = append(more, newFlag(names, kind, category, usage))
		case taken:
			listed = append(listed, newFlag(names, kind, category, usage))
		}
	}
	return listed, more
}

// replaced are the linkers that ptxlink replaces: LD in the table of options.
var replaced = []string{"clang-nvlink-wrapper", "nvlink", "nvptx-none-ld", rustLinker}

// takes reports whether a command is among the commands of an option. hidden is set if its --help
// does not list the option.
func takes(command, commands string) (taken, hidden bool) {
	for word := range strings.FieldsSeq(commands) {
		switch word {
		case command, "*":
			taken, hidden = true, false
		case command + "+":
			return true, true
		case "!" + command:
			return false, false
		case "LD+":
			hidden = !taken && slices.Contains(replaced, command)
		}
	}
	return taken || hidden, hidden
}

func newFlag(names, kind, category, usage string) cli.Flag {
	name, others, _ := strings.Cut(names, " ")
	aliases := strings.Fields(others)
	usage = strings.ReplaceAll(usage[1:len(usage)-1], "\n\t", "\n")
	kind, bare, _ := strings.Cut(kind, "=")
	kind, words, _ := strings.Cut(kind, ":")
	switch kind {
	case "bool":
		return &cli.BoolFlag{Name: name, Aliases: aliases, Category: category, Usage: usage}
	case "string":
		return &cli.StringFlag{Name: name, Aliases: aliases, Category: category, Usage: usage, Value: bare}
	case "strings":
		return &cli.StringSliceFlag{Name: name, Aliases: aliases, Category: category, Usage: usage}
	case "int":
		n, _ := strconv.ParseInt(bare, 10, 64)
		return &cli.Int64Flag{Name: name, Aliases: aliases, Category: category, Usage: usage, Value: n}
	}
	value := &choice{words: strings.ReplaceAll(words, ",", " "), open: kind == "any" || words == "", optional: kind == "optional", bare: bare}
	return &cli.GenericFlag{Name: name, Aliases: aliases, Category: category, Usage: usage, Value: value}
}

// joined are the letters whose value may be attached: -Ldir, -oFILE, -j8, -O2.
const joined = "LlojWuOyz"
