package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

// choice is the value of a cli.GenericFlag: one of some words, or a value that may be missing.
type choice struct {
	words    string // separated by spaces, so that completion can offer them
	open     bool   // other values are accepted too
	optional bool   // only "=" gives a value
	bare     string // the value of an optional one if "=" is missing
	given    []string
}

// Set adds a value. If an option has no value, package flag passes "true", which Set must replace.
func (c *choice) Set(value string) error {
	if c.optional && value == "true" {
		value = c.bare
	}
	c.given = append(c.given, value)
	return nil
}

// String returns the last value, or "".
func (c *choice) String() string {
	if len(c.given) == 0 {
		return ""
	}
	return c.given[len(c.given)-1]
}

func (c *choice) Get() any         { return c.given }
func (c *choice) IsBoolFlag() bool { return c.optional }

// check returns an error if a value is not one of the words. option is the spelling of the option
// for messages.
func (c *choice) check(option string) error {
	words := strings.Fields(c.words)
	for _, value := range c.given {
		if c.open || slices.Contains(words, value) || c.optional && value == c.bare {
			continue
		}
		text := fmt.Sprintf("%q is not a value of %s", value, option) + diag.Question("", diag.NearestWord(words, strings.ToLower(value)))
		help := option + " takes " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
		if len(words) == 1 {
			help = option + " takes " + words[0] + ", or no value"
		}
		return usageError(text, help)
	}
	return nil
}

// words returns all values of a choice.
func words(opts *cli.Context, name string) []string {
	list, _ := opts.Value(name).([]string)
	return list
}

// checkValues checks values that package flag accepts. Numbers must not be negative, whatever the
// option.
func checkValues(opts *cli.Context) error {
	for _, f := range opts.Command.Flags {
		switch f := f.(type) {
		case *cli.Int64Flag:
			if opts.Int64(f.Name) < 0 {
				return notNumber(f.Name, opts.String(f.Name))
			}
		case *cli.GenericFlag:
			if err := f.Value.(*choice).check(spell(f.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// needsValue reports whether the next argument is the value of an option without "=".
func needsValue(f cli.Flag) bool {
	if f, ok := f.(*cli.GenericFlag); ok {
		return !f.Value.(*choice).optional
	}
	return f.(cli.DocGenerationFlag).TakesValue()
}

// table is the options of a command, in order and by name.
type table struct {
	flags []cli.Flag
	shown []cli.Flag // options that --help shows
	named map[string]cli.Flag
	// Spelling says how messages spell an option of linking.
	diag.Spelling
	unknown string // advice for options that are not in the table
}

// newTable returns the table of flags. like holds options of linking that have another spelling in
// it.
func newTable(flags []cli.Flag, like map[string]string) table {
	t := table{named: make(map[string]cli.Flag, 2*len(flags))}
	t.Spelling.Options = func(option string) (string, bool) {
		if spelling := like[option]; spelling != "" {
			return spelling, true
		}
		return option, t.named[strings.TrimLeft(option, "-")] != nil
	}
	t.add(flags)
	t.shown = flags
	return t
}

func (t *table) add(flags []cli.Flag) {
	t.flags = append(slices.Clip(t.flags), flags...)
	for _, f := range flags {
		for _, name := range f.Names() {
			t.named[name] = f
		}
	}
}

// used returns the flags that the options from reorder name, and flags with a default. Other flags
// can be skipped, because their value would be empty anyway. They must be skipped, because the
// library compares each flag that is not given with all the others, which takes longer than a small
// link.
func (t table) used(options []string) []cli.Flag {
	given := map[cli.Flag]bool{}
	for _, option := range options {
		name, value, assigned := strings.Cut(option[2:], "=")
		given[t.named[name]] = true
		if on, _ := strconv.ParseBool(value); name == "help" && (on || !assigned) {
			return t.shown // because it shows them
		}
	}
	return slices.DeleteFunc(slices.Clone(t.flags), func(f cli.Flag) bool {
		switch f := f.(type) {
		case *cli.Int64Flag:
			return f.Value == 0 && !given[f]
		case *cli.StringFlag:
			return f.Value == "" && !given[f]
		case *cli.StringSliceFlag:
			// For each further name the library would set the list again, from a copy in JSON,
			// which cannot hold bytes that are not UTF-8.
			f.Aliases, f.KeepSpace = nil, true
		}
		return !given[f]
	})
}

// option is a flag in the form that help, manual pages and completion show.
type option struct {
	Spellings     []string // the short ones first
	Value         string   // name of the value, between Before and After: " FILE", "DIR", "[=WHEN]"
	Before, After string
	Text          string // its line in --help, or the first sentence
	More          string // further sentences
	category      string
	optional      bool     // only "=" gives the value
	words         []string // values that completion offers
}

func describeFlag(f cli.Flag) option {
	usage, more, _ := strings.Cut(f.(cli.DocGenerationFlag).GetUsage(), "\n")
	start, rest, _ := strings.Cut(usage, "`")
	value, end, _ := strings.Cut(rest, "`")
	o := option{Value: value, Text: start + value + end, More: more, category: f.(cli.CategorizableFlag).GetCategory(), optional: value != "" && !needsValue(f)}
	for _, name := range f.Names() {
		o.Spellings = append([]string{spell(name)}, o.Spellings...)
	}
	if f, ok := f.(*cli.GenericFlag); ok {
		o.words = strings.Fields(f.Value.(*choice).words)
	}
	switch {
	case o.optional:
		o.Before, o.After = "[=", "]"
	case value != "" && (len(o.Spellings) > 1 || len(o.Spellings[0]) > 2):
		o.Before = " "
	}
	return o
}

// heads returns all spellings, followed by the value.
func (o option) heads() string {
	return strings.Join(o.Spellings, ", ") + o.Before + o.Value + o.After
}

// spell writes the name of an option as ld and nvcc do: -L, -Map, -Xptxas and --threads.
func spell(name string) string {
	if len(name) == 1 || 'A' <= name[0] && name[0] <= 'Z' {
		return "-" + name
	}
	return "--" + name
}
