package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"ptxlink/link"
	"ptxlink/link/ptxas"
	"ptxlink/link/report"
	"ptxlink/object/diag"
)

func (j *linkRequest) readUsage() error {
	when := j.opts.String("resource-usage")
	j.usage = when != "" && !j.opts.Bool("dry-run")
	j.assembler.Usage = j.usage || (j.beside["report"] != "" || j.beside["Map"] != "") && !j.opts.Bool("dry-run")
	j.compare = when == "compare"
	if j.compare && !j.options.Optimize.Enabled() {
		return usageError("--resource-usage=compare needs -O, --inline or --icf", "it compares with the code without them")
	}
	return nil
}

// showUsage writes, for each GPU, a table of the resources that each kernel and function uses.
// before are the outputs without optimisation, if they must be compared.
func (j *linkJob) showUsage(targets []ptxas.Target, outputs, before []ptxas.Output) error {
	for i, o := range outputs {
		if len(outputs) > 1 {
			fmt.Fprintf(j.stderr, "%s:\n", targets[i].Arch)
		}
		if o.Way != "" && !j.build.Verbose { // --verbose prints it already
			fmt.Fprintln(j.stderr, diag.Escape(o.Way))
		}
		w := tabwriter.NewWriter(j.stderr, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, report.UsageHeads+"\tname")
		var old []ptxas.Usage
		if before != nil {
			old = before[i].Usages
		}
		j.writeUsages(w, o.Usages, old)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeUsages writes a line for each function, and then for each function of old that is gone. If a
// number differs from the old one, it writes both.
func (j *linkJob) writeUsages(w *tabwriter.Writer, list, old []ptxas.Usage) {
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
		fmt.Fprintf(w, "%s\t%s\n", strings.Join(now, "\t"), j.spelling.Demangle(u.Name))
	}
	for _, u := range old {
		if numbers, gone := was[u.Name]; gone {
			fmt.Fprintf(w, "%s\t%s (inlined, folded or removed)\n", strings.Join(numbers, "\t"), j.spelling.Demangle(u.Name))
		}
	}
}

// unoptimized assembles the code without -O, --inline and --icf. If that fails, it returns nil; the
// reason is only a note, because the output does not need this code.
func (j *linkJob) unoptimized(targets []ptxas.Target) ([]ptxas.Output, error) {
	b := j.build
	b.Temporary = nil
	plain := make([]ptxas.Target, len(targets))
	for i, t := range targets {
		o := j.linked[i]
		o.Optimize = link.Optimize{}
		result, err := j.linkWith(j.opts.Context, o)
		if err != nil {
			return nil, j.refused(err)
		}
		plain[i] = ptxas.Target{Arch: t.Arch, Result: result, Cubins: t.Cubins}
	}
	stop := j.showProgress(&b, plain)
	outputs, messages, err := b.AssembleAll(j.opts.Context, plain)
	stop()
	if !errors.Is(err, ptxas.ErrRejected) {
		return outputs, err
	}
	if i := slices.IndexFunc(messages, func(m *link.Message) bool { return m.Kind == diag.Error }); i >= 0 {
		j.report.note("nothing is compared, because the code without optimisation is refused: " + messages[i].Text)
	}
	return nil, nil
}
