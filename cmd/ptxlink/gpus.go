package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/link/ptxas"
)

// checkArch returns an error if the name is not that of a GPU.
func checkArch(arch string) error {
	if err := link.CheckArch(arch); err != nil {
		help := "--arch wants a name such as sm_80 or sm_90a"
		if strings.Contains(arch, ",") {
			help += "; it may be given several times"
		}
		return &usageError{text: err.Error(), help: help}
	}
	return nil
}

// readArchs reads --arch. Each cubin of a fatbin is the link for its GPU, because the
// inputs may hold PTX for several GPUs.
func (c *command) readArchs(archs []string) error {
	for i, arch := range archs {
		if err := checkArch(arch); err != nil {
			return err
		}
		if !slices.Contains(archs[:i], arch) {
			c.archs = append(c.archs, arch)
		}
	}
	switch {
	case len(c.archs) == 0:
		return nil
	case len(c.archs) == 1:
		c.linkOptions.Arch, c.archs = c.archs[0], nil
		return nil
	case c.format != "fatbin" && !c.checkOnly:
		what := map[string]string{"ptx": "PTX", "cubin": "a cubin"}[c.format]
		return &usageError{
			text: fmt.Sprintf("%s is for one GPU, but --arch names %s", what, strings.Join(c.archs, " and ")),
			help: "write out.fatbin, which holds a cubin for each, or link once for each",
		}
	}
	return nil
}

// linkAll links for each GPU.
func (c *command) linkAll(ctx context.Context) (targets []ptxas.Target, err error) {
	archs := c.archs
	if len(archs) == 0 {
		archs = []string{c.linkOptions.Arch}
	} else {
		c.report.told = map[string]bool{}
	}
	described := map[string]bool{}
	for _, arch := range archs {
		c.linkOptions.Arch = arch
		result, linkErr := c.link(ctx)
		if exit := (*exitError)(nil); linkErr != nil && !errors.As(linkErr, &exit) {
			return nil, linkErr
		}
		if linkErr != nil {
			err = linkErr // the other links have errors of their own
			continue
		}
		if text := c.describe(result); text != "" && !described[text] {
			described[text] = true
			if len(archs) > 1 {
				text = arch + ":\n" + text
			}
			io.WriteString(c.stderr, text)
		}
		if c.report.write(result.Messages) > 0 { // --fatal-warnings
			err = &exitError{code: exitLink}
		}
		targets = append(targets, ptxas.Target{Arch: cmp.Or(arch, result.Target), Result: result})
	}
	if err != nil {
		return nil, err
	}
	return targets, nil
}

// link links for one GPU.
func (c *command) link(ctx context.Context) (*link.Result, error) {
	result, err := link.Link(ctx, c.linkOptions)
	if err != nil {
		return nil, c.refused(err)
	}
	c.passes = append(c.passes, result.Passes...)
	var names []string
	for _, m := range result.Modules {
		names = append(names, m.Name)
	}
	c.traceModules(names)
	return result, nil
}

// describe returns what the options ask to print about a link.
func (c *command) describe(result *link.Result) string {
	var w strings.Builder
	if c.printPulls && c.beside["print-dependencies"] == "" {
		writePulls(&w, result)
	}
	if c.printRemoved {
		for _, s := range result.Removed() {
			fmt.Fprintf(&w, "removed\t%s\t%s:%d\t%s\n", s.Kind, diag.Escape(s.Module), s.Line(), diag.Escape(s.Name))
		}
	}
	for i, name := range c.linkOptions.WhyLive {
		printWay(&w, name, result.Ways[i])
	}
	if c.printFolded {
		showFolded(&w, result)
	}
	if c.printInlining {
		showInlining(&w, result)
	}
	return w.String()
}

// printWay prints what leads to a symbol, the root first.
func printWay(w io.Writer, name string, way []link.Symbol) {
	if len(way) == 0 {
		fmt.Fprintf(w, "%s is not in the output\n", diag.Escape(name))
		return
	}
	for i, s := range way {
		what := "is used by the line above"
		if i == 0 {
			what = "is a root"
		}
		fmt.Fprintf(w, "%*s%s %s (%s:%d) %s\n", 2*i, "", s.Kind, diag.Escape(s.Name), diag.Escape(s.Module), s.Line(), what)
	}
}

// unused returns the archives that no link needs.
func unused(targets []ptxas.Target) []string {
	list := targets[0].Unused
	for _, t := range targets[1:] {
		list = slices.DeleteFunc(slices.Clone(list), func(path string) bool { return !slices.Contains(t.Unused, path) })
	}
	return list
}

// readsAgain reports whether inputs are read more than once.
func (c *command) readsAgain() bool {
	return len(c.archs) > 0 || c.compare || c.beside["reproduce"] != ""
}

// again returns a reader that several links read from the start.
func (c *command) again(r io.Reader) io.Reader {
	if !c.readsAgain() {
		return r
	}
	return &replay{from: r}
}

// againIfPipe returns such a reader for a file that can be read only once, such as
// /dev/fd/63, if there are several links.
func (c *command) againIfPipe(path string) io.Reader {
	if !c.readsAgain() {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	return &replay{path: path}
}

// replay reads from a stream, and the same again after its end.
type replay struct {
	path string // to open, if from is nil
	from io.Reader
	kept []byte
	at   int
}

func (r *replay) Read(b []byte) (n int, err error) {
	if r.at < len(r.kept) {
		n = copy(b, r.kept[r.at:])
		r.at += n
		return n, nil
	}
	if r.path != "" {
		f, err := os.Open(r.path)
		if err != nil {
			return 0, err
		}
		r.path, r.from = "", f
	}
	if r.from != nil {
		n, err = r.from.Read(b)
		r.kept = append(r.kept, b[:n]...)
		r.at += n
		if err != io.EOF {
			return n, err
		}
		r.from = nil
		if n > 0 {
			return n, nil
		}
	}
	r.at = 0
	return 0, io.EOF
}
