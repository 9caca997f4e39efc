package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// warningOptions say which warnings are shown, and which are errors. The rules are
// the same as in GCC and clang:
//
//  1. The last of -WID and -Wno-ID counts, and the last of -Werror and -Wno-error.
//  2. -Werror=ID shows the warning as an error, and -Wno-error=ID as a warning,
//     whether -Werror is given or not.
//  3. -w hides all warnings.
//  4. Ignored options are shown only if -Wignored is given, because a driver passes them to
//     every linker.
type warningOptions struct {
	quiet  bool             // -w
	fatal  bool             // -Werror
	hidden map[diag.ID]bool // -Wno-ID, or false for -WID and -Werror=ID
	errors map[diag.ID]bool // -Werror=ID, or false for -Wno-error=ID
}

// read reads one -W option, without the W.
func (o *warningOptions) read(option string) error {
	name, no := strings.CutPrefix(option, "no-")
	word, named := strings.CutPrefix(name, "error=")
	switch {
	case name == "error":
		o.fatal = !no
		return nil
	case name == "all": // since all warnings are on already
		o.quiet = o.quiet || no
		return nil
	case !named:
		word = name
	}
	id := diag.ID(word)
	if err := checkWarning("-W"+strings.TrimSuffix(option, word), word); err != nil {
		return err
	}
	if !named {
		sets.Put(&o.hidden, id, no)
		return nil
	}
	sets.Put(&o.errors, id, !no)
	if !no {
		sets.Put(&o.hidden, id, false)
	}
	return nil
}

// apply returns the message as the options require, or nil if it must not be shown.
func (o *warningOptions) apply(m *link.Message) *link.Message {
	if m.Kind != diag.Warning {
		return m
	}
	if hidden, named := o.hidden[m.ID]; o.quiet || hidden || m.ID == diag.Ignored && !named {
		return nil
	}
	fatal, named := o.errors[m.ID]
	if !named {
		fatal = o.fatal
	}
	if fatal {
		// The message must be copied, because it belongs to the linker. It keeps the ID, so that
		// the user can disable the warning.
		copied := *m
		copied.Kind = diag.Error
		m = &copied
	}
	return m
}

// ruleNames returns the sorted IDs of each kind. -W and -Wno- accept only the IDs of warnings.
func ruleNames(kinds ...diag.Kind) (names []string) {
	for _, rule := range ruleValues("", kinds...) {
		names = append(names, rule.word)
	}
	return names
}

// checkWarning returns an error if no warning has the name. prefix is the part of the option before
// it.
func checkWarning(prefix, id string) error {
	warnings := ruleNames(diag.Warning)
	if slices.Contains(warnings, id) {
		return nil
	}
	if _, ok := diag.ID(id).Rule(); ok {
		return usageError(id+" is an error, and -W options are for warnings", "ptxlink --explain="+id+" says what to do about it")
	}
	if option, ok := strings.CutPrefix(prefix+id, "-Wl,"); ok {
		return usageError("-Wl, is for compilers", "give the option itself: "+strings.ReplaceAll(option, ",", " "))
	}
	near := cmp.Or(diag.NearestWord(warnings, id), longer(warnings, id))
	return usageError(fmt.Sprintf("there is no warning called %q", id)+diag.Question(prefix, near), "ptxlink --help lists the warnings")
}

// warningHelp returns the list of warnings in lines that fit the screen.
func warningHelp() string {
	// The first line begins two columns before the others, since it is not indented.
	return indented(diag.Wrap("Warnings: "+strings.Join(ruleNames(diag.Warning), " "), -2, helpWidth-2), 2) + "\n"
}
