package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ptxlink/internal/parallel"
	"ptxlink/internal/ptxsim"
	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/link/partition"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// unit is one module of a program.
type unit struct {
	name string
	text []byte
}

// variant is one way of making one module, or the parts of one, of a program. It may
// return messages and no output.
type variant struct {
	name string
	link func(units []unit) (outputs []unit, messages []*link.Message, err error)
}

// variants are the ways of all programs. The first one is the link without options.
var variants = []variant{
	{"linked", with(link.Options{})},
	{"--no-gc-sections", with(link.Options{KeepUnused: true})},
	{"-r, linked again", again},
	{"--partition=3", parts},
	{"-O1", with(link.Options{Optimize: link.Optimize{Level: 1}})},
	{"-O2", with(link.Options{Optimize: link.Optimize{Level: 2}})},
	{"--inline=*", with(link.Options{Optimize: link.Optimize{Inline: []string{"*"}}})},
	{"--icf", with(link.Options{Optimize: link.Optimize{Fold: true}})},
	{"-O2 --icf", with(link.Options{Optimize: link.Optimize{Level: 2, Fold: true}})},
	// A function with DWARF is not inlined.
	{"-S -O2 --icf", with(link.Options{StripDebug: true, Optimize: link.Optimize{Level: 2, Fold: true}})},
	{"-S --inline=*", with(link.Options{StripDebug: true, Optimize: link.Optimize{Inline: []string{"*"}}})},
	{"--no-gc-sections -O1 --icf", with(link.Options{KeepUnused: true, Optimize: link.Optimize{Level: 1, Fold: true}})},
}

// with links the units with some options.
func with(o link.Options) func([]unit) ([]unit, []*link.Message, error) {
	return func(units []unit) ([]unit, []*link.Message, error) {
		o := o
		o.Inputs = nil
		for _, u := range units {
			o.Inputs = append(o.Inputs, link.Input{Name: u.name, Text: u.text})
		}
		var r *link.Result
		var err error
		if p := parallel.Catch[any](func() { r, err = link.Link(context.Background(), o) }); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			return nil, nil, err
		}
		return []unit{{"out.ptx", r.PTX}}, r.Messages, nil
	}
}

// again links the first units and the others apart with -r, and both results together.
func again(units []unit) ([]unit, []*link.Message, error) {
	var linked []unit
	for part := range slices.Chunk(units, (len(units)+1)/2) {
		out, _, err := with(link.Options{Relocatable: true})(part)
		if err != nil {
			return nil, nil, err
		}
		linked = append(linked, unit{fmt.Sprintf("part%d.ptx", len(linked)), out[0].text})
	}
	return with(link.Options{})(linked)
}

// parts links the units and cuts the output, as the ways to a cubin do. A module with
// DWARF cannot be cut.
func parts(units []unit) (outputs []unit, messages []*link.Message, err error) {
	linked, messages, err := with(link.Options{})(units)
	if err != nil {
		return nil, nil, err
	}
	modules, err := parse(linked)
	if err != nil {
		return nil, messages, err
	}
	program := partition.New(modules[0])
	if program.Check(diag.Spelling{}) != nil {
		return nil, messages, nil
	}
	for i, part := range program.Cut(partition.Options{Parts: 3}) {
		outputs = append(outputs, unit{fmt.Sprintf("part%d.ptx", i), part.Text})
	}
	return outputs, messages, nil
}

// outcome is what a program did.
type outcome struct {
	err     error // of the modules, or of the run
	stores  []ptxsim.Store
	prints  []string            // of each thread, in order
	buffers map[string][]string // the contents of all objects in .global, by name
}

// launcher runs the kernels of a program.
type launcher func(m *ptxsim.Machine) error

// parse parses modules.
func parse(units []unit) (modules []*ptx.Module, err error) {
	for _, u := range units {
		m, invalid := ptx.Parse(&diag.Source{Name: u.name, Text: u.text})
		if invalid != nil {
			return nil, invalid
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// run runs a program.
func run(units []unit, launch launcher, opt ptxsim.Options) (o outcome) {
	modules, err := parse(units)
	if err != nil {
		return outcome{err: err}
	}
	m, err := ptxsim.New(opt, modules...)
	if err != nil {
		return outcome{err: err}
	}
	o.err = launch(m)
	o.stores = m.Stores
	for i := range o.stores {
		o.stores[i].Object = plain(o.stores[i].Object)
		o.stores[i].Value = []byte(pointers(m, o.stores[i].Value, 0))
	}
	slices.SortStableFunc(m.Prints, func(p, q ptxsim.Print) int {
		return cmp.Or(cmp.Compare(p.Launch, q.Launch), cmp.Compare(p.Thread, q.Thread))
	})
	for _, p := range m.Prints {
		o.prints = append(o.prints, fmt.Sprintf("launch %d, thread %d: %q %x %q", p.Launch, p.Thread, p.Format, p.Args, p.Strings))
	}
	o.buffers = map[string][]string{}
	for _, b := range m.Objects {
		name := plain(b.Name)
		o.buffers[name] = append(o.buffers[name], pointers(m, b.Data, 0))
	}
	for _, list := range o.buffers {
		slices.Sort(list)
	}
	return o
}

// pointers returns data with its pointers replaced by what they point to: the name of
// a function, or the name and contents of an object. Among objects of one name and no
// linkage, addresses depend on the order. The contents of large objects, such as the stacks of gcc,
// with pointers into themselves, are compared by name only.
func pointers(m *ptxsim.Machine, data []byte, depth int) string {
	if len(data)%8 != 0 || depth > 3 {
		return string(data)
	}
	var b strings.Builder
	for at := 0; at < len(data); at += 8 {
		word := data[at : at+8]
		addr := binary.LittleEndian.Uint64(word)
		if addr>>56 == 0 {
			b.Write(word)
		} else if o := m.ObjectAt(addr); o != nil && len(o.Data) > 1<<10 {
			fmt.Fprintf(&b, "<%s+%d>", plain(o.Name), addr-o.Address())
		} else if o != nil {
			fmt.Fprintf(&b, "<%s+%d: %x>", plain(o.Name), addr-o.Address(), pointers(m, o.Data, depth+1))
		} else if name, ok := m.FunctionAt(addr); ok {
			fmt.Fprintf(&b, "<%s>", plain(name))
		} else {
			b.Write(word)
		}
	}
	return b.String()
}

// plain returns the name of an object without what linking adds: the numbers of
// renamed names, and $ where an object of a function moved to module scope.
func plain(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '$' || r == '.' })
	kept := parts[:0]
	for i, p := range parts {
		if i == 0 || strings.Trim(p, "0123456789") != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "$")
}

// diff returns the first difference of two outcomes, or "". Names with linkage must be
// in both; an object without linkage may have been removed.
func diff(want, got outcome, linkage map[string]bool) string {
	if (want.err == nil) != (got.err == nil) {
		return fmt.Sprintf("error %v, want %v", got.err, want.err)
	}
	if d := ptxsim.DiffStores(want.stores, got.stores, true); d != "" {
		return d
	}
	if a, b := strings.Join(want.prints, "\n"), strings.Join(got.prints, "\n"); a != b {
		return fmt.Sprintf("prints %s\nwant %s", b, a)
	}
	for name := range got.buffers {
		if want.buffers[name] == nil {
			return name + " is an object of the result only"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.buffers)) {
		rest := want.buffers[name]
		for _, b := range got.buffers[name] {
			i, found := slices.BinarySearch(rest, b)
			if !found {
				return fmt.Sprintf("%s is %x, want %x", name, got.buffers[name], want.buffers[name])
			}
			rest = rest[i+1:]
		}
		if len(got.buffers[name]) == 0 && linkage[name] {
			return name + " is not in the result"
		}
	}
	return ""
}

// diffStarts returns the first difference of two outcomes that may have ended with an error, or "". The
// threads may have come to other places.
func diffStarts(want, got outcome) string {
	slow := func(o outcome) bool { return o.err != nil && reasonOf(o.err) == ptxsim.TooManySteps }
	if (want.err == nil) != (got.err == nil) && !slow(want) && !slow(got) {
		return fmt.Sprintf("error %v, want %v", got.err, want.err)
	}
	return ptxsim.DiffStores(want.stores, got.stores, false)
}

// external returns the objects and functions that other modules or the host can name.
func external(units []unit) map[string]bool {
	modules, err := parse(units)
	must(err)
	names := map[string]bool{}
	for _, m := range modules {
		for _, d := range m.Decls {
			if d.Linkage != ptx.Local {
				names[plain(m.Names[d.Name])] = true
			}
		}
	}
	return names
}

// fault is a difference between the modules of a program and what a link made of them.
type fault struct {
	variant, text string
}

// result is what compare found.
type result struct {
	faults  []fault
	outputs [][]unit // by variant; nil where the link failed
	want    outcome
}

// compare runs the modules of a program, and all variants of it. A launch of cut may end with an error;
// only what comes before is compared.
func compare(units []unit, launch launcher, cut []launcher, opt ptxsim.Options, variants []variant) (res result, err error) {
	if res.want = run(units, launch, opt); res.want.err != nil {
		return res, res.want.err
	}
	starts := make([]outcome, len(cut))
	for i, launch := range cut {
		starts[i] = run(units, launch, opt)
	}
	linkage, done := external(units), map[string]bool{}
	for _, v := range variants {
		found := func(text string) {
			if text != "" {
				res.faults = append(res.faults, fault{v.name, text})
			}
		}
		outputs, messages, err := v.link(units)
		res.outputs = append(res.outputs, outputs)
		if err != nil {
			found(err.Error())
			continue
		}
		for _, m := range messages {
			if text := fmt.Sprintf("message: %v", m); sets.Add(&done, text) {
				found(text)
			}
		}
		if len(outputs) == 0 || !sets.Add(&done, fmt.Sprintf("%s", outputs)) {
			continue
		}
		// An optimised kernel may need more steps, as the copies of a call are instructions.
		more := opt
		more.Steps *= 4
		found(diff(res.want, run(outputs, launch, more), linkage))
		for i, launch := range cut {
			found(diffStarts(starts[i], run(outputs, launch, opt)))
		}
	}
	return res, nil
}

func unitsOf(texts []string) (units []unit) {
	for i, text := range texts {
		units = append(units, unit{fmt.Sprintf("unit%d.ptx", i), []byte(text)})
	}
	return units
}

// launchAll runs each entry with some threads. A parameter of 8 bytes is a pointer to a
// buffer; in others all bytes are 3.
func launchAll(m *ptxsim.Machine) error {
	for _, entry := range m.Entries() {
		var args []any
		for i, size := range m.Params(entry) {
			if size == 8 {
				args = append(args, m.Alloc(fmt.Sprintf("%s_%d", entry, i), bytes.Repeat([]byte{3}, 1024), 256))
			} else {
				args = append(args, bytes.Repeat([]byte{3}, int(size)))
			}
		}
		if err := m.Launch(entry, ptxsim.Grid{Threads: [3]int{3}, Shared: 256}, args...); err != nil {
			return err
		}
	}
	return nil
}
