package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/ptxas"
)

// readUsage reads --resource-usage.
func (c *command) readUsage(opts *cli.Context) error {
	when := opts.String("resource-usage")
	c.usage = when != "" && !opts.Bool("dry-run")
	c.assembler.Usage = c.usage || (c.beside["report"] != "" || c.beside["Map"] != "") && !opts.Bool("dry-run")
	c.compare = when == "compare"
	if c.compare && c.optimize.Level == 0 && len(c.optimize.Inline) == 0 && !c.optimize.Fold {
		return &usageError{text: "--resource-usage=compare needs -O, --inline or --icf", help: "it compares with the code without them"}
	}
	return nil
}

// showUsage writes a table of what each kernel and function uses, for each GPU. before
// are the outputs without optimisation, if they are to be compared.
func (c *command) showUsage(targets []ptxas.Target, outputs, before []ptxas.Output) error {
	for i, o := range outputs {
		if len(outputs) > 1 {
			fmt.Fprintf(c.stderr, "%s:\n", targets[i].Arch)
		}
		if o.Way != "" && !c.assembler.Verbose { // which prints it too
			fmt.Fprintln(c.stderr, diag.Escape(o.Way))
		}
		w := tabwriter.NewWriter(c.stderr, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, link.UsageHeads+"\tname")
		var old []ptxas.Usage
		if before != nil {
			old = before[i].Usages
		}
		writeUsages(w, o.Usages, old)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeUsages writes a line for each function, and then for each of old that is gone.
// Where a number differs from the old one, it writes both.
func writeUsages(w *tabwriter.Writer, list, old []ptxas.Usage) {
	was := map[string][]string{}
	for _, u := range old {
		was[u.Name] = u.Columns()
	}
	for _, u := range list {
		now := u.Columns()
		for i, number := range was[u.Name] {
			if number != now[i] {
				now[i] = number + " -> " + now[i]
			}
		}
		delete(was, u.Name)
		fmt.Fprintf(w, "%s\t%s\n", strings.Join(now, "\t"), diag.Demangle(u.Name))
	}
	for _, u := range old {
		if numbers, gone := was[u.Name]; gone {
			fmt.Fprintf(w, "%s\t%s (inlined, folded or removed)\n", strings.Join(numbers, "\t"), diag.Demangle(u.Name))
		}
	}
}

// unoptimized assembles the code without -O, --inline and --icf. It returns nil if
// that fails; the reason is a note, because the output does not need it.
func (c *command) unoptimized(ctx context.Context, targets []ptxas.Target) ([]ptxas.Output, error) {
	b := c.assembler
	b.Temporary = nil
	plain := make([]ptxas.Target, len(targets))
	for i, t := range targets {
		o := c.linkOptions
		o.Optimize = link.Optimize{}
		if len(c.archs) > 0 {
			o.Arch = t.Arch
		}
		result, err := link.Link(ctx, o)
		if err != nil {
			return nil, c.refused(err)
		}
		plain[i] = ptxas.Target{Arch: t.Arch, Result: result}
	}
	stop := c.showProgress(&b, plain)
	outputs, messages, err := b.AssembleAll(ctx, plain)
	stop()
	if !errors.Is(err, ptxas.ErrRejected) {
		return outputs, err
	}
	for _, m := range messages {
		if m.Kind == link.Error {
			c.report.note("nothing is compared, because the code without optimisation is refused: " + m.Text)
			break
		}
	}
	return nil, nil
}
