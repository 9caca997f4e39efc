package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// subcommand is a command with its own table of options. Linking has no name.
type subcommand struct {
	name        string
	usage       string // one line, for the help of ptxlink
	args        string // arguments after the options
	description string
	flags       func() []option
	letters     bool                                        // options of one letter may stand together
	first       func([]string) []string                     // sees the arguments before @FILE is read, and returns them
	before      func(*command, []option, []string) []string // sees the arguments afterwards, and returns them
	run         func(*command, *options) error              // the arguments are c.inputs
	like        map[string]string                           // options of linking that are spelled otherwise
}

// linking is the command without a subcommand.
func linking() subcommand {
	return subcommand{
		usage:       "ptxlink links PTX modules into one PTX module, or into one cubin with ptxas.",
		args:        "FILE...",
		description: description,
		flags:       newFlags,
		run:         (*command).run,
	}
}

// subcommands lists them in the order of --help. It is a function, as a run may
// use what leads back to it.
func subcommands() []subcommand {
	return []subcommand{abiCommand, arCommand, checkCommand, completionCommand(), depsCommand, explainCommand, extractCommand, infoCommand, libdeviceCommand, manualCommand(), nmCommand, nvlinkCommand, nvptxLdCommand, sizeCommand, versionCommand}
}

// findSubcommand returns the subcommand in args, or linking, and the arguments after it. Only the
// first argument can be a subcommand, so that files may have any name: "./abi",
// "-- abi", or an option before it, link a file called abi.
//
// "help nm" is "nm --help", unless there is a file called help.
func findSubcommand(args []string) (sub subcommand, rest []string) {
	if len(args) > 0 && args[0] == "help" {
		if _, err := os.Stat("help"); err != nil {
			args = append(slices.Clone(args[1:]), "--help")
		}
	}
	if len(args) > 0 {
		for _, sub := range subcommands() {
			if sub.name == args[0] {
				return sub, args[1:]
			}
		}
	}
	return linking(), args
}

// calledAs returns the arguments of a program that is called by another name, as a link
// or a copy: nvlink stands for ptxlink nvlink, and nvptx-none-ld for ptxlink
// nvptx-none-ld. So does ld in a folder of gcc's offload compiler, nvptx-none/bin or
// accel/nvptx-none.
func calledAs(program string, args []string) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	folder := filepath.Dir(program)
	if filepath.Base(folder) == "bin" {
		folder = filepath.Dir(folder)
	}
	if name == "ld" && filepath.Base(folder) == "nvptx-none" {
		name = nvptxLdCommand.name
	}
	if name == nvlinkCommand.name || name == nvptxLdCommand.name {
		return append([]string{name}, args...)
	}
	return args
}

// misspelt returns an error if the first argument is not a file but similar to a
// subcommand.
func (c *command) misspelt() error {
	first := c.inputs[0]
	if _, err := os.Stat(first.name); err == nil || first.library || strings.ContainsAny(first.name, "./") {
		return nil
	}
	var names []string
	for _, s := range subcommands() {
		names = append(names, s.name)
	}
	near := nearestOf(names, first.name)
	if near == "" {
		return nil
	}
	return &usageError{text: fmt.Sprintf("there is no file %s (did you mean ptxlink %s?)", first.name, near), help: "ptxlink --help lists the subcommands"}
}

// own makes messages refer to the help of the subcommand instead of that of linking.
func (s subcommand) own(err error) error {
	var usage *usageError
	if errors.As(err, &usage) && s.name != "" {
		usage.help = strings.Replace(usage.help, "ptxlink --help", "ptxlink "+s.name+" --help", 1)
	}
	return err
}

// spell returns how messages spell an option of linking; see diag.SpeakAs.
func (s subcommand) spell(table []option) func(string) (string, bool) {
	return func(option string) (string, bool) {
		if like := s.like[option]; like != "" {
			return like, true
		}
		return option, lookup(table, strings.TrimLeft(option, "-")) != nil
	}
}

// commonFlags are the options that every subcommand has.
func commonFlags() []option {
	const messages = "Messages"
	return []option{
		{kind: toggleKind, name: "help", aliases: []string{"h"}, category: messages, usage: "show this help"},
		{kind: textKind, name: "diagnostics-format", category: messages, choices: "text json sarif github", usage: "write messages as `FORMAT`: text, json, sarif or github"},
		{kind: whenKind, name: "color-diagnostics", category: messages, choices: "auto always never", usage: "colour messages: `WHEN` is auto, always or never"},
	}
}
