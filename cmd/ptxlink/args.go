package main

import (
	"cmp"
	"fmt"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/internal/typo"
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

// reorder separates options and inputs: the library stops at the first input. The
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
// It returns the arguments for the library, each as --name or --name=value with the
// first name of the option, and the inputs in order.
func reorder(t table, args []string) (options []string, inputs []input, err error) {
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
		f := t.named[name]
		single := !strings.HasPrefix(arg, "--")
		if single {
			if err := mistakenFor(t, arg); err != nil {
				return nil, nil, err
			}
		}
		if single && len(arg) > 2 && strings.IndexByte(joined, arg[1]) >= 0 && (f == nil || arg[1] == 'o' && name != "o") {
			name, value, hasValue = arg[1:2], arg[2:], true
			f = t.named[name]
		}
		if f == nil {
			return nil, nil, unknownOption(t, arg, name)
		}
		if !hasValue && needsValue(f) {
			if i++; i == len(args) {
				return nil, nil, &usageError{text: fmt.Sprintf("option %s needs a value", arg)}
			}
			value, hasValue = args[i], true
			if next, _, _ := strings.Cut(strings.TrimLeft(value, "-"), "="); strings.HasPrefix(value, "-") && name[0] != 'X' && t.named[next] != nil {
				return nil, nil, &usageError{text: fmt.Sprintf("option %s needs a value, and %s is an option", arg, value), help: fmt.Sprintf("write %s=%s if it is the value", arg, value)}
			}
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
		long := f.Names()[0]
		if long == "l" {
			inputs = append(inputs, input{name: value, library: true, whole: whole})
		}
		option := "--" + long
		if hasValue {
			option += "=" + value
		}
		options = append(options, option)
	}
	return options, inputs, nil
}

// mistakenFor returns an error for a word that is a letter with its value but looks
// like a long option of ptxlink or of another tool: -output, -optf=x, -undefind x.
func mistakenFor(t table, arg string) error {
	word, _, assigned := strings.Cut(arg[1:], "=")
	if len(word) < 2 || strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz-") != "" || t.named[word[:1]] == nil {
		return nil
	}
	as := fmt.Sprintf("-%s means -%s %s", arg[1:], word[:1], arg[2:])
	switch word[0] {
	case 'l':
		if word == "lineinfo" {
			return &usageError{text: as, help: compilerAdvice(word)}
		}
	case 'o':
		help := "write -o FILE" + diag.With("--output FILE", " or %s") + "; a word that begins with -o is -o and the name of a file"
		if word == "optf" || word == "options-file" {
			help = "@FILE reads arguments from FILE"
		}
		if word == "ooutput" && !assigned {
			return nil
		}
		near := typo.Word([]string{"output", "optimize", "options-file", "output-directory", "output-file"}, word)
		if assigned && len(word) > 3 || word == "out" || word == "optf" || word == "odir" || word == "oformat" || near != "" {
			return &usageError{text: as, help: help}
		}
	case 'u':
		if t.named[word] == nil && (assigned || len(nearest(t, word)) > 3) {
			return unknownOption(t, arg, word)
		}
	}
	return nil
}

// splitLetters turns "-gC" into "-g -C" if both are options without a value, as in
// nm. Linkers do not do this, so linking does not either.
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

// compilerAdvice returns what to do in place of an option of nvcc that a link command may
// have, or "".
func compilerAdvice(name string) string {
	const forCompiler = " is for the compiler"
	switch name {
	case "lineinfo", "generate-line-info":
		return "-lineinfo" + forCompiler + "; ptxlink passes it to ptxas if a module has .loc lines" +
			diag.With("-Xptxas=-lineinfo", ", and %s does so anyway")
	case "G":
		return "-G" + forCompiler + "; ptxlink passes -g to ptxas if a module has DWARF"
	case "g":
		return "-g" + forCompiler + "; ptxlink passes it to ptxas if a module has DWARF"
	case "rdc":
		return "-rdc=true" + forCompiler + "; ptxlink always links relocatable device code"
	case "dc":
		return "compile with nvcc -ptx -rdc=true; ptxlink links the result"
	case "dlink":
		return diag.Join("ptxlink always links device code", diag.With("-o NAME.cubin", "%s assembles the result"))
	case "gencode", "gpu-architecture":
		return diag.With("--arch sm_80", "%s names the GPU")
	case "###":
		return diag.With("--dry-run", "%s prints the commands that it would run")
	case "maxrregcount":
		return diag.With("-Xptxas=-maxrregcount=N", "%s passes it to ptxas")
	case "Xlinker", "Wl":
		return "-Xlinker and -Wl, are for compilers; give the option itself"
	case "ptx":
		return diag.With("--format=ptx", "%s writes PTX; so does any -o without the suffix .cubin or .fatbin")
	case "fatbin":
		return diag.With("--format=fatbin", "%s writes a fatbin; so does -o NAME.fatbin")
	case "keep":
		return diag.With("--save-temps", "%s keeps the linked PTX and the parts beside the output")
	case "std", "fPIC", "fpic", "use_fast_math", "D", "pthread", "fopenmp":
		return "-" + name + forCompiler
	case "dlto", "flto":
		return diag.Join("ptxlink links PTX, not LTO-IR; compile without -"+name, diag.With("-O", "%s1 inlines functions of other modules"))
	case "I":
		return diag.Join("-I"+forCompiler, diag.With("-L", "%s names a directory with libraries"))
	case "shared":
		return diag.Join("a cubin has no shared libraries", diag.With("-r", "%s joins modules for another link"))
	case "T":
		return diag.Join("PTX has no addresses, so there are no linker scripts", diag.With("--version-script", "%s chooses the symbols that stay visible"))
	}
	return ""
}

func unknownOption(t table, arg, name string) error {
	arg, _, _ = strings.Cut(arg, "=")
	if why := refusedOption(name); why != "" {
		return &usageError{text: fmt.Sprintf("%s is not an option of ptxlink: %s", arg, why)}
	}
	text := fmt.Sprintf("unknown option %q", arg)
	if strings.HasPrefix(arg, "-I") || strings.HasPrefix(arg, "-D") { // -Idir, -DNAME
		name = arg[1:2]
	}
	if help := compilerAdvice(name); help != "" {
		return &usageError{text: text, help: help}
	}
	if near := nearest(t, name); near != "" {
		text += fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return &usageError{text: text, help: "ptxlink --help lists the options"}
}

// nearest returns the option that was probably meant, or "" if none is similar.
func nearest(t table, name string) string {
	names := t.names()
	return cmp.Or(typo.Word(names, name), longer(names, name))
}

// longer returns the longest name that begins another word, or that the word begins, as
// align in alignment; "" if none of five letters or more does.
func longer(names []string, word string) (longest string) {
	for _, n := range names {
		if len(n) > len(longest) && min(len(n), len(word)) >= 5 && (strings.HasPrefix(word, n) || strings.HasPrefix(n, word)) {
			longest = n
		}
	}
	return longest
}
