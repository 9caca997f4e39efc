package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/object/diag"
)

var explainCommand = subcommand{
	Command: described("explain"),
	first: func(args []string) (ids []string) {
		for _, arg := range args {
			if strings.HasPrefix(arg, "-W") {
				arg = bareID(arg)
			}
			ids = append(ids, arg)
		}
		return ids
	},
	run: func(c *command, _ *cli.Context) error {
		if len(c.inputs) == 0 {
			return c.listRules()
		}
		for _, in := range c.inputs {
			if err := c.explain(in.name); err != nil {
				return err
			}
		}
		return nil
	},
}

func (c *command) listRules() error {
	var b strings.Builder
	for _, list := range []struct {
		title string
		kind  diag.Kind
	}{{"Errors:\n", diag.Error}, {"\nWarnings:\n", diag.Warning}} {
		b.WriteString(list.title)
		for _, r := range diag.Rules(list.kind) {
			b.WriteString(helpRow(string(r.ID), r.About))
		}
	}
	return c.show([]byte(b.String()))
}

// bareID returns the ID without the additions with which messages and options show it: [-Walign],
// -Wno-align.
func bareID(name string) string {
	name = strings.Trim(name, "[] ")
	if short, ok := strings.CutPrefix(name, "-W"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(short, "no-"), "error=")
	}
	return name
}

func (c *command) explain(name string) error {
	name = bareID(name)
	rule, ok := diag.ID(strings.ToLower(name)).Rule()
	if !ok {
		names := ruleNames(diag.Error, diag.Warning)
		near := diag.NearestWord(names, name)
		if at := slices.IndexFunc(names, func(n string) bool { return len(name) > 2 && strings.Contains(n, name) }); near == "" && at >= 0 {
			near = names[at]
		}
		return usageError(fmt.Sprintf("there is no error or warning called %q", name)+diag.Question("", near), "ptxlink explain lists all of them")
	}
	return c.show([]byte(rule.Explain()))
}
