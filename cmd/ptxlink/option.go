package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
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

// joined are the letters whose value may be attached: -Ldir, -oFILE, -j8, -O2.
const joined = "LlojWuOyz"

// option is a row of optionsText for one command.
type option struct {
	names    []string // the library knows only the first
	kind     string   // bool, string, strings or int
	same     string   // the option with its value for which this one stands: --threads=1
	initial  string   // the default
	words    []string // its values
	open     bool     // it has other values too
	optional bool     // only "=" gives a value; otherwise it is bare
	bare     string
	hidden   bool // --help does not list it
	category string

	Value         string // name of the value, between Before and After: " FILE", "DIR", "[=WHEN]"
	Before, After string
	Text          string // its line in --help, or the first sentence
	More          string // further sentences
}

// table is the options of a command, in order and by name.
type table struct {
	options []*option
	named   map[string]*option
	// Spelling says how messages spell an option of linking.
	diag.Spelling
	unknown string // advice for options that are not in the table
}

// newTable returns the options of a command; linking is called link.
func newTable(command string) table {
	t := table{named: map[string]*option{}}
	var more []*option
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
		if taken, hidden := takes(command, commands); taken {
			o := newOption(strings.Fields(names), kind, usage)
			o.hidden, o.category = hidden, category
			if hidden {
				more = append(more, o)
			} else {
				t.options = append(t.options, o)
			}
			for _, name := range o.names {
				t.named[name] = o
			}
		}
	}
	t.options = append(t.options, more...)
	return t
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

func newOption(names []string, kind, usage string) *option {
	o := &option{names: names}
	kind, value, _ := strings.Cut(kind, "=")
	kind, words, _ := strings.Cut(kind, ":")
	o.words = strings.FieldsFunc(words, func(r rune) bool { return r == ',' })
	switch o.kind = kind; kind {
	case "same":
		o.kind, o.same = "bool", "--"+value
	case "one":
		o.kind = "string"
	case "any":
		o.kind, o.open = "strings", true
	case "optional":
		o.kind, o.optional, o.open, o.bare = "string", true, words == "", value
	default:
		o.initial = value
	}
	usage, o.More, _ = strings.Cut(strings.ReplaceAll(usage[1:len(usage)-1], "\n\t", "\n"), "\n")
	start, rest, _ := strings.Cut(usage, "`")
	value, end, _ := strings.Cut(rest, "`")
	o.Value, o.Text = value, start+value+end
	switch {
	case o.optional:
		o.Before, o.After = "[=", "]"
	case value != "" && (len(names) > 1 || len(spell(names[0])) > 2):
		o.Before = " "
	}
	return o
}

// Spellings returns the names as users type them, the short ones first.
func (o *option) Spellings() (list []string) {
	for _, name := range slices.Backward(o.names) {
		list = append(list, spell(name))
	}
	return list
}

// heads returns all spellings, followed by the value.
func (o *option) heads() string {
	return strings.Join(o.Spellings(), ", ") + o.Before + o.Value + o.After
}

// spell writes the name of an option as ld and nvcc do: -L, -Map, -Xptxas and --threads.
func spell(name string) string {
	if len(name) == 1 || 'A' <= name[0] && name[0] <= 'Z' {
		return "-" + name
	}
	return "--" + name
}

// needsValue reports whether the next argument is the value of an option without "=".
func needsValue(o *option) bool { return o.kind != "bool" && !o.optional }

// checked returns a value in the form for the library, or an error if the option does not take it.
func (o *option) checked(value string) (string, error) {
	name := spell(o.names[0])
	wrong := func(near, help string) error {
		return usageError(fmt.Sprintf("%q is not a value of %s", value, name)+diag.Question("", near), name+" takes "+help)
	}
	switch {
	case o.Value == "SIZE":
		n, ok := size(value)
		if !ok {
			return "", wrong("", "a number of bytes, or one with K, M, G or T: 4G is 4 GiB")
		}
		return n, nil
	case o.kind == "int":
		if n, err := strconv.ParseInt(value, 0, 64); err != nil || n < 0 {
			return "", wrong("", "a number from 0 to 2^63 - 1")
		}
	case o.kind == "bool":
		on, err := strconv.ParseBool(value)
		if err != nil || o.same != "" {
			return "", usageError("option "+name+" takes no value", "ptxlink --help lists the options")
		}
		return strconv.FormatBool(on), nil
	case len(o.words) > 0 && !o.open && !slices.Contains(o.words, value) && (!o.optional || value != o.bare):
		last := len(o.words) - 1
		help := strings.Join(o.words[:last], ", ") + " or " + o.words[last]
		if last == 0 {
			help = o.words[0] + ", or no value"
		}
		return "", wrong(diag.NearestWord(o.words, strings.ToLower(value)), help)
	}
	return value, nil
}

// flags returns flags for the options from reorder, and for options with a default. Others must be
// left out, because the library compares each flag that is not given with all the others, which
// takes longer than a small link. Nor does it know the aliases: for each the library would set a
// list again, from a copy in JSON, which cannot hold bytes that are not UTF-8.
func (t table) flags(options []string) (list []cli.Flag) {
	given := map[*option]bool{}
	for _, option := range options {
		name, _, _ := strings.Cut(option[2:], "=")
		given[t.named[name]] = true
	}
	for _, o := range t.options {
		name := o.names[0]
		switch {
		case !given[o] && o.initial == "":
		case o.kind == "bool":
			list = append(list, &cli.BoolFlag{Name: name})
		case o.kind == "int":
			n, _ := strconv.ParseInt(o.initial, 10, 64)
			list = append(list, &cli.Int64Flag{Name: name, Value: n})
		case o.kind == "strings":
			list = append(list, &cli.StringSliceFlag{Name: name, KeepSpace: true})
		default:
			list = append(list, &cli.StringFlag{Name: name, Value: o.initial})
		}
	}
	return list
}
