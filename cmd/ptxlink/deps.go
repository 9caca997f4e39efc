package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/object/diag"
)

var depsCommand = subcommand{
	Command: described("deps"),
	run:     links((*linkRequest).deps),
}

// dependencies is the output of ptxlink deps.
type dependencies struct {
	Modules []dependency `json:"modules"` // in link order
	Unused  []string     `json:"unused"`  // archives without a linked member
}

// dependency is a linked module. Symbol is empty for a module that is named, and By for -u.
type dependency struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol,omitempty"`
	By     string `json:"by,omitempty"`
	named  bool
}

func (j *linkRequest) deps() error {
	j.checkOnly, j.apart = true, true
	if err := j.readOptions(); err != nil {
		return err
	}
	if len(j.archs) > 0 {
		return usageError("--arch names several GPUs, which may be linked from different members", "name one")
	}
	j.options.Relocatable = true
	if err := j.readInputs(); err != nil {
		return err
	}
	targets, err := j.job().linkAll()
	if err != nil {
		return err
	}
	result := targets[0].Result
	d := dependencies{Modules: []dependency{}, Unused: append([]string{}, result.Unused...)}
	pulled := map[string]link.Pull{}
	for _, p := range result.Pulls {
		pulled[p.Member] = p
	}
	var names []string
	for _, m := range result.Modules {
		names = append(names, m.Name)
	}
	for _, c := range targets[0].Cubins {
		names = append(names, c.Name)
	}
	for _, name := range names {
		p, ok := pulled[name]
		d.Modules = append(d.Modules, dependency{Name: name, Symbol: p.Symbol, By: p.By, named: !ok})
	}
	if j.opts.Bool("json") {
		return j.showJSON(d)
	}
	var out bytes.Buffer
	d.write(&out, j.spelling)
	return j.show(out.Bytes())
}

// maxIndent is the deepest line that is indented more than the line above it. It must be limited,
// because a chain may be as long as the list of members.
const maxIndent = 40

// write writes the tree of modules. Each is below the module that needs it.
func (d *dependencies) write(w io.Writer, s diag.Spelling) {
	var roots []dependency
	below := map[string][]dependency{}
	for _, m := range d.Modules {
		if m.named {
			roots = append(roots, m)
		} else {
			below[m.By] = append(below[m.By], m)
		}
	}
	if len(below[""]) > 0 {
		roots = append(roots, dependency{named: true}) // for -u, because its By is empty
	}
	// A chain may be as long as the list of members, so recursion would use too much stack.
	type line struct {
		dependency
		depth int
	}
	var stack []line
	push := func(list []dependency, depth int) {
		for _, m := range slices.Backward(list) {
			stack = append(stack, line{m, depth})
		}
	}
	push(roots, 0)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		io.WriteString(w, strings.Repeat("  ", min(at.depth, maxIndent))+diag.Escape(cmp.Or(at.Name, "-u")))
		if !at.named {
			fmt.Fprintf(w, "  for %s", s.Name(at.Symbol))
		}
		io.WriteString(w, "\n")
		push(below[at.Name], at.depth+1)
	}
	for _, name := range d.Unused {
		fmt.Fprintf(w, "%s  nothing in it is needed\n", diag.Escape(name))
	}
}
