package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/diag"
)

var explainCommand = subcommand{
	Command: cli.Command{
		Name:      "explain",
		Usage:     "explain errors and warnings, like --explain",
		ArgsUsage: "ID...",
		Description: `Prints an example of each error or warning, what to do, and where to read on.
docs/errors.md lists the IDs; a message shows its own behind the text.

Exit codes: 0 success, 2 usage error.`,
	},
	flags: commonFlags,
	run: func(c *command, _ *cli.Context) error {
		if len(c.inputs) == 0 {
			return &usageError{text: "no ID", help: "a message shows its ID behind the text: [undefined-symbol]; docs/errors.md lists all of them"}
		}
		for _, in := range c.inputs {
			if err := c.explain(in.name); err != nil {
				return err
			}
		}
		return nil
	},
}

// explain prints what an ID means. It takes the forms in which messages show it, too:
// [-Walign], -Wno-align.
func (c *command) explain(name string) error {
	name = strings.Trim(name, "[] ")
	if short, ok := strings.CutPrefix(name, "-W"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(short, "no-"), "error=")
	}
	id := diag.Find(strings.ToLower(name))
	if id == diag.None {
		names := ruleNames()
		text := fmt.Sprintf("there is no error or warning called %q", name)
		if near := nearestOf(names, name); near != "" {
			text += fmt.Sprintf(" (did you mean %s?)", near)
		} else if at := slices.IndexFunc(names, func(n string) bool { return len(name) > 2 && strings.Contains(n, name) }); at >= 0 {
			text += fmt.Sprintf(" (did you mean %s?)", names[at])
		}
		return &usageError{text: text, help: "docs/errors.md lists all of them"}
	}
	return c.show([]byte(id.Explain()))
}

// ruleNames returns the IDs of all errors, then those of all warnings.
func ruleNames() (names []string) {
	for _, kind := range []diag.Kind{diag.Error, diag.Warning} {
		for _, r := range diag.Rules(kind) {
			names = append(names, r.Name)
		}
	}
	return names
}
