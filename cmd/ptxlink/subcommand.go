package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// subcommand is a command other than linking. It has its own table of options, which
// the pre-pass of args.go reads like newFlags.
type subcommand struct {
	name        string
	usage       string // one line, for the help of ptxlink
	args        string // arguments after the options
	description string
	flags       func() []cli.Flag
	letters     bool                                          // options of one letter may stand together
	before      func(*command, []cli.Flag, []string) []string // sees the arguments first, and returns them
	run         func(*command, *cli.Context) error            // the arguments are c.inputs
}

// subcommands lists them in the order of --help. It is a function, as a run may
// use what leads back to it.
func subcommands() []subcommand {
	return []subcommand{abiCommand, arCommand, checkCommand, extractCommand, infoCommand, libdeviceCommand, nmCommand}
}

// findSubcommand returns the subcommand in args, and the arguments after it. Only the
// first argument can be a subcommand, so that files may have any name: "./abi",
// "-- abi", or an option before it, link a file called abi.
//
// "help nm" is "nm --help", unless there is a file called help.
func findSubcommand(args []string) (sub subcommand, rest []string, ok bool) {
	if len(args) > 0 && args[0] == "help" {
		if _, err := os.Stat("help"); err != nil {
			args = append(slices.Clone(args[1:]), "--help")
		}
	}
	if len(args) > 0 {
		for _, sub := range subcommands() {
			if sub.name == args[0] {
				return sub, args[1:], true
			}
		}
	}
	return subcommand{}, args, false
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

// become turns the app for linking into that of a subcommand.
func (s subcommand) become(app *cli.App, c *command) {
	app.Usage, app.Description, app.Flags = s.usage, s.description, s.flags()
	app.UsageText = strings.TrimSpace(fmt.Sprintf("ptxlink %s [options] %s", s.name, s.args))
	app.Action = func(ctx *cli.Context) error {
		c.report.style.Color = useColor(*ctx.Generic("color-diagnostics").(*colorWhen), c.stderr)
		return s.run(c, ctx)
	}
}

// own makes messages refer to the help of the subcommand instead of that of linking.
func (s subcommand) own(err error) error {
	var usage *usageError
	if errors.As(err, &usage) {
		usage.help = strings.Replace(usage.help, "ptxlink --help", "ptxlink "+s.name+" --help", 1)
	}
	return err
}

// commonFlags are the options that every subcommand has.
func commonFlags() []cli.Flag {
	const messages = "Messages"
	return []cli.Flag{
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Category: messages, Usage: "show this help"},
		&cli.GenericFlag{Name: "color-diagnostics", Category: messages, Value: new(colorWhen), Usage: "colour messages: `WHEN` is auto, always or never"},
	}
}

// helpWithSubcommands returns the help of linking, which also lists the subcommands.
func helpWithSubcommands(app *cli.App) string {
	var b strings.Builder
	b.WriteString("\nSubcommands, as the first argument (./NAME is a file):\n")
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "  %-31s %s\n", s.name, s.usage)
	}
	b.WriteString("\n" + warningHelp())
	text := help(app)
	end := strings.LastIndex(text, "\n"+app.Description)
	return text[:end] + b.String() + text[end:]
}
