package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

// subcommand is a command with its own table of options. Linking has no name.
type subcommand struct {
	cli.Command
	first  func([]string) []string                  // changes the arguments before @FILE is read
	before func(*command, table, []string) []string // changes the arguments afterwards
	run    func(*command, *cli.Context) error       // the arguments are c.inputs
	like   map[string]string                        // options of linking that have another spelling
	// unknown is the advice for options that the command does not have.
	unknown string

	letters bool // several options of one letter may share a dash, as in nm
}

// commandsText has a section for each subcommand: its first line is a summary, and the description
// follows an empty line. --help, the manual pages and docs/options.md show them.
//
//go:embed commands.txt
var commandsText string

// described returns a command with its texts from commandsText.
func described(name string) cli.Command {
	_, text, _ := strings.Cut(commandsText, "-- "+name+" ")
	text, _, _ = strings.Cut(text, "\n\n-- ")
	args, text, _ := strings.Cut(text, "--\n")
	usage, description, _ := strings.Cut(text, "\n\n")
	return cli.Command{Name: name, Usage: usage, ArgsUsage: strings.TrimSpace(args), Description: strings.TrimSpace(description)}
}

// linking is the command without a subcommand.
var linking = subcommand{
	Command: cli.Command{
		Usage:       "ptxlink links PTX modules into one PTX module, or into one cubin with ptxas.",
		ArgsUsage:   "FILE...",
		Description: description,
	},
	run: links((*linkRequest).run),
}

// subcommands lists the subcommands in the order of --help. It must be set in init, because some of
// their functions refer to the list, and Go allows no cycle among initial values.
var subcommands []subcommand

func init() {
	subcommands = []subcommand{abiCommand, arCommand, checkCommand, clangWrapperCommand, completionCommand, depsCommand, explainCommand, extractCommand, infoCommand, libdeviceCommand, manualCommand, nmCommand, nvlinkCommand, nvptxLdCommand, rustLinkerCommand, serveCommand, sizeCommand, versionCommand}
}

func allCommands() []subcommand { return append([]subcommand{linking}, subcommands...) }

// options is flagsOf for the command.
func (s subcommand) options() (listed, more []cli.Flag) { return flagsOf(cmp.Or(s.Name, "link")) }

func (s subcommand) table() table {
	listed, more := s.options()
	t := newTable(listed, s.like)
	t.add(more)
	t.unknown = s.unknown
	return t
}

// Line returns the command as a user types it.
func (s subcommand) Line() string { return strings.TrimSpace("ptxlink " + s.Name) }

// findSubcommand returns the subcommand in args, or linking, and the arguments after it. Only the
// first argument can be a subcommand, so that files may have any name: "./abi",
// "-- abi", or an option before it, link a file called abi.
//
// "help nm" is "nm --help", unless a file is called help.
func findSubcommand(args []string) (sub subcommand, rest []string) {
	if words, ok := asked(args); ok && len(words) == 1 {
		return linking, args // because the name is being typed
	} else if len(args) > 0 && args[0] == "help" && !ok {
		if _, err := os.Stat("help"); infile.Absent(err) {
			args = append(slices.Clone(args[1:]), "--help")
		}
	}
	if len(args) > 0 {
		for _, sub := range subcommands {
			if sub.Name == args[0] {
				return sub, args[1:]
			}
		}
	}
	return linking, args
}

// calledAs returns the arguments of a program that was called by another name, because it is a link
// or a copy: nvlink means ptxlink nvlink. The same holds for clang-nvlink-wrapper, nvptx-none-ld
// and the names of rustc's linkers for nvptx64, and for ld in a directory of gcc's offload
// compiler, nvptx-none/bin or accel/nvptx-none.
func calledAs(program string, args []string) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	dir := filepath.Dir(program)
	if filepath.Base(dir) == "bin" {
		dir = filepath.Dir(dir)
	}
	if name == "ld" && filepath.Base(dir) == "nvptx-none" {
		name = nvptxLdCommand.Name
	}
	if fromRustc(name, args) {
		name = rustLinker
	}
	if name == rustLinker || name == nvlinkCommand.Name || name == nvptxLdCommand.Name || name == "clang-nvlink-wrapper" {
		return append([]string{name}, args...)
	}
	return args
}

// misspelt returns an error if the first argument is not a file but is similar to a subcommand.
func (c *command) misspelt() error {
	first := c.inputs[0]
	if _, ok := c.memory.input(first); ok {
		return nil
	}
	if _, err := os.Stat(first.name); !infile.Absent(err) || first.library || strings.ContainsAny(first.name, "./") {
		return nil
	}
	var names []string
	for _, s := range subcommands {
		names = append(names, s.Name)
	}
	near := diag.NearestWord(names, first.name)
	if near == "" {
		return nil
	}
	return usageError(fmt.Sprintf("there is no file %s (did you mean ptxlink %s?)", first.name, near), "ptxlink --help lists the subcommands")
}

// app returns the library's program: linking, or one subcommand of it. It has only the flags in
// c.arguments, since the table of a command that does not run would only cost time. The library
// writes to text, because it loses errors of writing.
func (s subcommand) app(c *command, t table, text io.Writer) *cli.App {
	s.Flags, s.UseShortOptionHandling = t.used(c.arguments), s.letters
	s.Action = func(opts *cli.Context) error { return s.run(c, opts) }
	s.Before = func(opts *cli.Context) error {
		c.report.style.Color, c.report.style.Width, c.report.style.Full = useColor(opts.String("color-diagnostics"), c.stderr), terminalWidth(c.stderr), opts.Bool("verbose")
		return cmp.Or(checkValues(opts), c.renameInputs())
	}
	s.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return parseError(err) }
	app := &cli.App{
		Name:      "ptxlink",
		Writer:    text,
		ErrWriter: c.stderr,
		HideHelp:  true, // because the table has it

		EnableBashCompletion: true,
		BashComplete:         s.BashComplete,
		// A comma must be a part of the value, as in -L a,b.
		DisableSliceFlagSeparator: true,
		CustomAppHelpTemplate:     helpTemplate,
		OnUsageError:              s.OnUsageError,
		ExitErrHandler:            func(*cli.Context, error) {}, // because finish decides
	}
	if s.Name != "" {
		app.Commands = []*cli.Command{&s.Command}
		s.HideHelp, s.CustomHelpTemplate = true, helpTemplate
		return app
	}
	app.Usage, app.ArgsUsage, app.Description = s.Usage, s.ArgsUsage, s.Description
	app.Flags, app.Before, app.Action = s.Flags, s.Before, s.Action
	for _, sub := range subcommands {
		app.Commands = append(app.Commands, &sub.Command)
	}
	return app
}

// parseError turns an error of package flag into one with the spelling and terms of ptxlink.
func parseError(err error) error {
	var value, name string
	if _, no := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &name); no == nil {
		return notNumber(strings.TrimSuffix(name, ":"), value)
	}
	if _, no := fmt.Sscanf(err.Error(), "invalid boolean value %q for -%s", &value, &name); no == nil {
		return usageError("option "+spell(strings.TrimSuffix(name, ":"))+" takes no value", "ptxlink --help lists the options")
	}
	return usageError(err.Error(), "ptxlink --help lists the options")
}

// notNumber returns the error for a value that must be a number. No such option accepts a negative
// number.
func notNumber(name, value string) error {
	return usageError(fmt.Sprintf("%q is not a value of %s", value, spell(name)), spell(name)+" takes a number from 0 to 2^63 - 1")
}

// own makes the error of a command line refer to the help of the subcommand instead of the help of
// linking. It also adds a note if the environment has options, because the error may be in these.
func (s subcommand) own(c *command, err error) error {
	usage, ok := errors.AsType[*diag.Message](err)
	if !ok || usage.ID != diag.Usage {
		return err
	}
	if s.Name != "" {
		usage.Help = strings.Replace(usage.Help, "ptxlink --help", "ptxlink "+s.Name+" --help", 1)
	}
	if c.environment {
		usage.Note(diag.Place{}, flagsVariable+" adds "+os.Getenv(flagsVariable))
	}
	return err
}
