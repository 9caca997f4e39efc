package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

// shells are the shells for which ptxlink completion has a script. A script runs ptxlink with the
// words up to the cursor and completionFlag, and offers the words that ptxlink prints.
var shells = []string{"bash", "zsh", "fish", "powershell"}

//go:embed completion
var completionScripts embed.FS

// completionFlag is the last argument by which urfave/cli recognises a completion request. ptxlink
// has its own scripts and answers, because the library's scripts run the command line through eval,
// and its answers are only names of options.
const completionFlag = "--generate-bash-completion"

var completionCommand = subcommand{
	Command: described("completion"),
	run:     (*command).completion,
}

func (c *command) completion(*cli.Context) error {
	if len(c.inputs) == 1 && slices.Contains(shells, c.inputs[0].name) {
		script, err := completionScripts.ReadFile("completion/ptxlink." + c.inputs[0].name)
		if err != nil {
			return err
		}
		return c.show(script)
	}
	return usageError("one shell must be named: bash, zsh, fish or powershell", "")
}

// asked returns the words if a shell asks for completions of the last word.
func asked(args []string) (words []string, ok bool) {
	if n := len(args); n > 1 && args[n-1] == completionFlag {
		return args[:n-1], true
	}
	return nil, false
}

// complete returns the completions of the last of words, which are the arguments so far. Each line
// has a word, a tab and its meaning. The line :files or :directories stands for the files or
// directories of the user.
func (s subcommand) complete(t table, words []string) string {
	var answer strings.Builder
	last := strings.TrimPrefix(words[len(words)-1], "''") // PowerShell's empty word
	offer := func(before string, list []value) {
		for _, v := range list {
			if strings.HasPrefix(before+v.word, last) {
				fmt.Fprintf(&answer, "%s\t%s\n", before+v.word, v.meaning)
			}
		}
	}
	if slices.Contains(words[:len(words)-1], "--") {
		return ":files\n"
	}
	if f, before := t.completed(words); f != nil {
		o := describeFlag(f)
		offer(before, o.values())
		switch o.Value {
		case "FILE", "PATH":
			answer.WriteString(":files\n")
		case "DIR":
			answer.WriteString(":directories\n")
		}
		return answer.String()
	}
	if strings.HasPrefix(last, "-") {
		for _, f := range t.flags {
			o := describeFlag(f)
			for _, spelling := range o.Spellings {
				offer(spelling, []value{{"", o.Text}})
				if o.optional {
					offer(spelling, []value{{"=", o.Text}})
				}
			}
			// Letters with their values, -O0 or -Wno-odr. -W must be typed first, because it has
			// hundreds of values.
			if letter := f.Names()[0]; len(letter) == 1 && strings.Contains(joined, letter) && (letter != "W" || last != "-") {
				offer("-"+letter, o.values())
			}
		}
		return answer.String()
	}
	switch {
	case s.Name == "completion":
		for _, shell := range shells {
			offer(shell, []value{{"", "shell"}})
		}
	case s.Name == "explain":
		offer("", ruleValues("", diag.Error, diag.Warning))
	case s.Name == "manual" || s.Name == "" && len(words) == 1:
		for _, sub := range subcommands {
			offer(sub.Name, []value{{"", sub.Usage}})
		}
	}
	if !slices.Contains([]string{"completion", "explain", "manual", "version"}, s.Name) {
		answer.WriteString(":files\n")
	}
	return answer.String()
}

// value is a value of an option that completion offers.
type value struct{ word, meaning string }

// targets are GPUs that a ptxas knows (TestTargets).
const targets = "sm_20 sm_30 sm_32 sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a " +
	"sm_100 sm_100a sm_100f sm_101 sm_101a sm_101f sm_103 sm_103a sm_103f sm_107 sm_107a sm_107f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f"

// values returns the values that completion offers for an option.
func (o option) values() (list []value) {
	for _, word := range o.words {
		list = append(list, value{word, o.Text})
	}
	switch o.Value {
	case "sm_NN":
		for target := range strings.FieldsSeq(targets) {
			list = append(list, value{target, o.Text})
		}
	case "ID": // the value of --explain
		list = ruleValues("", diag.Error, diag.Warning)
	case "no-ID": // the value of -W
		list = append(list, value{"error", "treat warnings as errors"})
		for _, prefix := range []string{"no-", "error=", ""} {
			list = append(list, ruleValues(prefix, diag.Warning)...)
		}
	}
	return list
}

// ruleValues returns the IDs of messages, each after a prefix.
func ruleValues(prefix string, kinds ...diag.Kind) (list []value) {
	for _, kind := range kinds {
		for _, r := range diag.Rules(kind) {
			list = append(list, value{prefix + string(r.ID), r.About})
		}
	}
	return list
}

// completed returns the option whose value is the last word, and the part of the word before the
// value; nil if the word is not a value.
func (t table) completed(words []string) (f cli.Flag, before string) {
	last := words[len(words)-1]
	name, _, assigned := strings.Cut(last, "=")
	if assigned && strings.HasPrefix(last, "-") {
		return t.named[strings.TrimLeft(name, "-")], name + "="
	}
	if len(words) > 1 && strings.HasPrefix(words[len(words)-2], "-") {
		f = t.named[strings.TrimLeft(words[len(words)-2], "-")]
		if f != nil && needsValue(f) {
			return f, ""
		}
	}
	return nil, ""
}
