package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

// input is a file or a -l on the command line. Their order is the link order.
type input struct {
	name    string
	library bool
	whole   bool // comes after --whole-archive
	before  bool // the last one before --whole-archive
}

// usageError returns the error of an invalid command line: exit code 2.
func usageError(text, help string) error {
	return diag.New(diag.Usage, diag.Place{}, text).WithHelp(help)
}

// reorder separates options and inputs, because the library stops at the first input. It
// follows the rules of GNU ld and mold:
//
//  1. Options and inputs may be mixed. Arguments after "--" are inputs.
//  2. A long option has one dash or two, and its value follows "=" or is the
//     next argument.
//  3. A letter of joined may have its value attached. A long option of the
//     same spelling wins, except for o: "-other" is "-o ther". A word that still
//     looks like a long option, such as "-output", is an error.
//  4. "-" alone is standard input.
//
// It returns the arguments for the library, each as --name or --name=value with the
// first name of the option, and the inputs in order.
func reorder(t table, args []string) (options []string, inputs []input, err error) {
	r := reorderer{table: t}
	for r.left = args; len(r.left) > 0; {
		arg := r.left[0]
		r.left = r.left[1:]
		switch {
		case arg == "--":
			for _, name := range r.left {
				r.input(name, false)
			}
			return r.options, r.inputs, nil
		case arg == "":
			return nil, nil, usageError("the name of an input is empty", "")
		case arg == "-" || arg[0] != '-':
			r.input(arg, false)
		default:
			if err := r.option(arg); err != nil {
				return nil, nil, err
			}
		}
	}
	if last := len(r.inputs) - 1; last >= 0 {
		r.inputs[last].before = r.whole && !r.inputs[last].whole
	}
	return r.options, r.inputs, nil
}

type reorderer struct {
	table
	left    []string // the arguments after the current one
	options []string
	inputs  []input
	whole   bool   // --whole-archive
	states  []bool // values of whole that --push-state saved
}

func (r *reorderer) input(name string, library bool) {
	names := []string{name}
	if !library {
		names = wildcards(name, runtime.GOOS)
	}
	for _, name := range names {
		r.inputs = append(r.inputs, input{name: name, library: library, whole: r.whole})
	}
}

// wildcards expands * and ? in the last part of a name, ignoring case. On Windows programs must do
// this, because the shells do not. A name that matches no file stays unchanged.
func wildcards(name, system string) (files []string) {
	dir, pattern := filepath.Split(name)
	if system == "windows" && strings.ContainsAny(pattern, "*?") {
		pattern = strings.ReplaceAll(strings.ToLower(pattern), "[", "[[]")
		entries, _ := os.ReadDir(cmp.Or(dir, "."))
		for _, e := range entries {
			if ok, _ := filepath.Match(pattern, strings.ToLower(e.Name())); ok && !e.IsDir() {
				files = append(files, dir+e.Name())
			}
		}
	}
	if files == nil {
		return []string{name}
	}
	return files
}

// option reads an option, and its value if the value is the next argument.
func (r *reorderer) option(arg string) error {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	f := r.named[name]
	if !strings.HasPrefix(arg, "--") {
		if err := compilerOption(r.table, arg); err != nil {
			return err
		}
		if len(arg) > 2 && strings.IndexByte(joined, arg[1]) >= 0 && (f == nil || arg[1] == 'o' && name != "o") {
			name, value, hasValue = arg[1:2], arg[2:], true
			f = r.named[name]
		}
	}
	if f == nil {
		return unknownOption(r.table, arg, name)
	}
	if needsValue(f) {
		if !hasValue {
			var err error
			if value, err = r.value(arg, name); err != nil {
				return err
			}
			hasValue = true
		}
		if value == "" { // such as -o "$UNSET"
			return usageError(fmt.Sprintf("the value of option %s is empty", spell(name)), "")
		}
	}
	if err := r.state(name, value); err != nil {
		return err
	}
	if describeFlag(f).Value == "SIZE" {
		var err error
		if value, err = size(name, value); err != nil {
			return err
		}
	}
	option := f.Names()[0]
	if option == "l" {
		r.input(value, true)
	}
	if hasValue {
		option += "=" + value
	}
	r.options = append(r.options, "--"+option)
	return nil
}

// size returns a number of bytes in decimal. The value may write it as 4G or 4GiB.
func size(option, value string) (string, error) {
	number, unit := value, ""
	if i := strings.IndexFunc(value, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		number, unit = value[:i], strings.ToUpper(strings.TrimSuffix(value[i:], "iB"))
	}
	n, err := strconv.ParseUint(number, 10, 63)
	shift, known := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	if err != nil || !known || n > math.MaxInt64>>shift {
		return "", usageError(fmt.Sprintf("%q is not a value of %s", value, spell(option)), spell(option)+" takes a number of bytes, or one with K, M, G or T: 4G is 4 GiB")
	}
	return strconv.FormatUint(n<<shift, 10), nil
}

// value returns the next argument, which must be the value of an option.
func (r *reorderer) value(arg, name string) (string, error) {
	if len(r.left) == 0 {
		return "", usageError(fmt.Sprintf("option %s needs a value", arg), "")
	}
	value := r.left[0]
	r.left = r.left[1:]
	if next, _, _ := strings.Cut(strings.TrimLeft(value, "-"), "="); strings.HasPrefix(value, "-") && name[0] != 'X' && r.named[next] != nil {
		return "", usageError(fmt.Sprintf("option %s needs a value, and %s is an option", arg, value), fmt.Sprintf("write %s=%s if it is the value", arg, value))
	}
	return value, nil
}

// state reads an option that changes the meaning of the inputs after it.
func (r *reorderer) state(name, value string) error {
	switch name {
	case "whole-archive":
		r.whole = value != "false"
	case "no-whole-archive":
		r.whole = false
	case "push-state":
		r.states = append(r.states, r.whole)
	case "pop-state":
		last := len(r.states) - 1
		if last < 0 {
			return usageError("--pop-state has no --push-state before it", "")
		}
		r.whole, r.states = r.states[last], r.states[:last]
	}
	return nil
}

// compilerOption returns an error for an option of a compiler that would be a letter with its value: -lineinfo, -use_fast_math.
func compilerOption(t table, arg string) error {
	word, _, _ := strings.Cut(arg[1:], "=")
	if len(word) < 2 || t.named[word[:1]] == nil || t.named[word] != nil || strings.IndexByte(joined, word[0]) < 0 {
		return nil
	}
	if help := adviceFor(t, compilerOptions, word); help != "" {
		return usageError(fmt.Sprintf("-%s means -%s %s", arg[1:], word[:1], arg[2:]), help)
	}
	return nil
}

// splitLetters turns "-gC" into "-g -C" if both are options without a value, as in nm. Link
// commands must not use it, because linkers do not do this.
func splitLetters(t table, args []string) (split []string) {
	for _, arg := range args {
		if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' || t.named[arg[1:]] != nil {
			split = append(split, arg)
			continue
		}
		var group []string
		for _, letter := range arg[1:] {
			if f := t.named[string(letter)]; f == nil || needsValue(f) {
				group = []string{arg}
				break
			}
			group = append(group, "-"+string(letter))
		}
		split = append(split, group...)
	}
	return split
}

// adviceFor returns what a list of diag says to do instead of using an option of another tool, or "". NAME stands for the
// name of the option.
func adviceFor(t table, list, name string) string {
	lines := diag.FactOf(list, name)
	if lines == nil {
		return ""
	}
	return diag.WithOptions(strings.Replace(lines[0], "-NAME", "-"+name, 1), func(option, use string) string {
		if !t.takes(option) {
			return ""
		}
		return t.With(option, use)
	})
}

// takes reports whether a command takes an option. If the option has a fixed list of words as
// values, it must take the word after "=" too.
func (t table) takes(option string) bool {
	name, word, _ := strings.Cut(strings.TrimLeft(option, "-"), "=")
	f, _ := t.named[name].(*cli.GenericFlag)
	return f == nil || word == "" || slices.Contains(strings.Fields(f.Value.(*choice).words), word)
}

// Lists of options that a link command may contain by mistake: options of nvcc, clang, nvlink and ptxas, and options of ld and LLVM's
// linkers that cannot be ignored.
const compilerOptions, refusedOptions = "options of compilers", "refused options"

func unknownOption(t table, arg, name string) error {
	arg, _, _ = strings.Cut(arg, "=")
	if why := adviceFor(t, refusedOptions, name); why != "" {
		return usageError(fmt.Sprintf("%s is not an option of ptxlink: %s", arg, why), "")
	}
	text := fmt.Sprintf("unknown option %q", arg)
	if strings.HasPrefix(arg, "-I") || strings.HasPrefix(arg, "-D") { // such as -Idir, -DNAME
		name = arg[1:2]
	}
	if help := adviceFor(t, compilerOptions, name); help != "" {
		return usageError(text, help)
	}
	return usageError(text+diag.Question("--", nearest(t, name)), diag.Join(t.unknown, "ptxlink --help lists the options"))
}

// nearest returns the option that the user probably meant, or "" if none is similar.
func nearest(t table, name string) string {
	var names []string
	for _, f := range t.flags {
		names = append(names, f.Names()...)
	}
	return cmp.Or(diag.NearestWord(names, name), longer(names, name))
}

// longer returns the longest name that is a prefix of the word, or has the word as a prefix, as
// align and alignment. "" if no such name has five letters or more, since shorter prefixes say
// little.
func longer(names []string, word string) (longest string) {
	for _, n := range names {
		if len(n) > len(longest) && min(len(n), len(word)) >= 5 && (strings.HasPrefix(word, n) || strings.HasPrefix(n, word)) {
			longest = n
		}
	}
	return longest
}
