package main

import (
	"fmt"
	"strings"

	"ptxlink/internal/diag"
)

// input is a file or a -l on the command line. Their order is the link order.
type input struct {
	name    string
	library bool
	whole   bool // behind --whole-archive
}

// usageError is an invalid command line: exit code 2.
type usageError struct{ text, help string }

func (e *usageError) Error() string { return e.text }

func (e *usageError) message() *diag.Message {
	return &diag.Message{ID: diag.Usage, Text: e.text, Help: e.help}
}

// reorder separates options and inputs: package flag stops at the first input. The
// rules are those of GNU ld and mold:
//
//  1. Options and inputs may be mixed. Arguments after "--" are inputs.
//  2. A long option has one dash or two, and its value follows "=" or is the
//     next argument.
//  3. A letter of joined may have its value attached. A long option of the
//     same spelling wins, except for o: "-other" is "-o ther". A word that still
//     looks like a long option, such as "-output", is an error.
//  4. "-" alone is standard input.
//
// It returns the arguments for readOptions, each as --name or --name=value, and the
// inputs in order.
func reorder(flags []option, args []string) (options []string, inputs []input, err error) {
	whole := false
	var states []bool // of --push-state
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			for _, name := range args[i+1:] {
				inputs = append(inputs, input{name: name, whole: whole})
			}
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			if arg == "" {
				return nil, nil, &usageError{text: "the name of an input is empty"}
			}
			inputs = append(inputs, input{name: arg, whole: whole})
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := lookup(flags, name)
		single := !strings.HasPrefix(arg, "--")
		if single {
			if err := mistakenFor(flags, arg); err != nil {
				return nil, nil, err
			}
		}
		if single && len(arg) > 2 && strings.IndexByte(joined, arg[1]) >= 0 && (f == nil || arg[1] == 'o' && name != "o") {
			name, value, hasValue = arg[1:2], arg[2:], true
			f = lookup(flags, name)
		}
		if f == nil {
			return nil, nil, unknownOption(flags, arg, name)
		}
		if !hasValue && needsValue(f) {
			if i++; i == len(args) {
				return nil, nil, &usageError{text: fmt.Sprintf("option %s needs a value", arg)}
			}
			value, hasValue = args[i], true
		}
		if value == "" && needsValue(f) { // -o "$UNSET"
			return nil, nil, &usageError{text: fmt.Sprintf("the value of option %s is empty", spell(name))}
		}
		if name == "whole-archive" || name == "no-whole-archive" {
			whole = name == "whole-archive" && value != "false"
		}
		switch {
		case name == "push-state":
			states = append(states, whole)
		case name == "pop-state" && len(states) == 0:
			return nil, nil, &usageError{text: "--pop-state has no --push-state before it"}
		case name == "pop-state":
			whole, states = states[len(states)-1], states[:len(states)-1]
		}
		if f.name == "l" {
			inputs = append(inputs, input{name: value, library: true, whole: whole})
		}
		option := "--" + f.name
		if hasValue {
			option += "=" + value
		}
		options = append(options, option)
	}
	return options, inputs, nil
}

// mistakenFor returns an error for a word that is a letter with its value but looks
// like a long option of ptxlink or of another tool: -output, -optf=x, -undefind x.
func mistakenFor(flags []option, arg string) error {
	word, value, assigned := strings.Cut(arg[1:], "=")
	if len(word) < 2 || strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz-") != "" || lookup(flags, word[:1]) == nil {
		return nil
	}
	as := fmt.Sprintf("-%s would be -%s %s", word, word[:1], word[1:])
	if assigned {
		as += "=" + value
	}
	switch word[0] {
	case 'l':
		if word == "lineinfo" {
			return &usageError{text: as, help: compilerOptions[word]}
		}
	case 'o':
		help := "write -o FILE or --output FILE; a word that begins with -o is -o and the name of a file"
		if word == "optf" || word == "options-file" {
			help = "@FILE stands for the arguments in FILE"
		}
		if word == "ooutput" && !assigned {
			return nil
		}
		near := nearestOf([]string{"output", "optimize", "options-file", "output-directory", "output-file"}, word)
		if assigned && len(word) > 3 || word == "out" || word == "optf" || word == "odir" || word == "oformat" || near != "" {
			return &usageError{text: as, help: help}
		}
	case 'u':
		if lookup(flags, word) == nil && (assigned || len(nearest(flags, word)) > 3) {
			return unknownOption(flags, arg, word)
		}
	}
	return nil
}

// splitLetters turns "-gC" into "-g -C" if both are options without a value, as in
// nm. Linkers do not do this, so linking does not either.
func splitLetters(flags []option, args []string) (split []string) {
	for _, arg := range args {
		if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' || lookup(flags, arg[1:]) != nil {
			split = append(split, arg)
			continue
		}
		var group []string
		for _, letter := range arg[1:] {
			if f := lookup(flags, string(letter)); f == nil || needsValue(f) {
				group = []string{arg}
				break
			}
			group = append(group, "-"+string(letter))
		}
		split = append(split, group...)
	}
	return split
}

// compilerOptions are what to do in place of options of nvcc that a link command may
// have.
var compilerOptions = map[string]string{
	"lineinfo":           "-lineinfo is for the compiler; ptxlink passes it to ptxas if a module has .loc lines, and -Xptxas=-lineinfo does so anyway",
	"generate-line-info": "-lineinfo is for the compiler; ptxlink passes it to ptxas if a module has .loc lines",
	"G":                  "-G is for the compiler; ptxlink passes -g to ptxas if a module has DWARF",
	"g":                  "-g is for the compiler; ptxlink passes it to ptxas if a module has DWARF",
	"rdc":                "-rdc=true is for the compiler; ptxlink always links relocatable device code",
	"dc":                 "compile with nvcc -ptx -rdc=true; ptxlink links the result",
	"dlink":              "ptxlink always links device code; -o NAME.cubin assembles the result",
	"gencode":            "--arch sm_80 names the GPU",
	"gpu-architecture":   "--arch sm_80 names the GPU",
	"maxrregcount":       "-Xptxas=-maxrregcount=N passes it to ptxas",
	"use_fast_math":      "-use_fast_math is for the compiler",
	"I":                  "-I is for the compiler; -L names a folder with libraries",
	"D":                  "-D is for the compiler",
	"shared":             "a cubin has no shared libraries; -r joins modules for another link",
	"T":                  "PTX has no addresses, so there are no linker scripts; --version-script chooses the symbols that stay visible",
}

func unknownOption(flags []option, arg, name string) error {
	arg, _, _ = strings.Cut(arg, "=")
	if why := refusedOption(name); why != "" {
		return &usageError{text: fmt.Sprintf("%s is not an option of ptxlink: %s", arg, why)}
	}
	text := fmt.Sprintf("unknown option %q", arg)
	if help := compilerOptions[name]; help != "" {
		return &usageError{text: text, help: help}
	}
	if near := nearest(flags, name); near != "" {
		text += fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return &usageError{text: text, help: "ptxlink --help lists the options"}
}

// nearest returns the option that was probably meant, or "" if none is similar.
func nearest(flags []option, name string) string {
	var names []string
	for _, f := range flags {
		names = append(names, f.names()...)
	}
	return nearestOf(names, name)
}
