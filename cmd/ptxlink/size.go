package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/sets"
	"ptxlink/link/dlink"
	"ptxlink/link/report"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

var sizeCommand = subcommand{
	Command: described("size"),
	letters: true,
	run:     (*command).size,
}

// spaces are the columns of ptxlink size; the last one holds everything else.
var spaces = []string{"entry", "func", ".global", ".const", ".shared", "other"}

// moduleSizes are the sizes of a module.
type moduleSizes struct {
	Name    string       `json:"name"`
	Machine string       `json:"machine_code,omitempty"` // the GPU of a cubin
	Bytes   int          `json:"bytes"`                  // of the file
	Spaces  []spaceSize  `json:"spaces"`
	Symbols []symbolSize `json:"symbols"` // the largest first
}

type spaceSize struct {
	Space   string `json:"space"` // one of spaces
	Symbols int    `json:"symbols"`
	Bytes   int64  `json:"bytes"`
}

type symbolSize struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled,omitempty"` // if it is mangled
	Space     string `json:"space"`
	Bytes     int64  `json:"bytes"`
	Registers int    `json:"registers,omitempty"` // of a function in machine code
	module    string
}

// size runs ptxlink size.
func (c *command) size(opts *cli.Context) error {
	inputs, err := c.inspected()
	if err != nil {
		return err
	}
	out, n := c.shower(), 0
	rows := &diag.JSONList{W: out}
	var modules []moduleSizes // without their symbols
	var symbols symbolSizes
	unread := c.inspect(opts, inputs, func(o *report.Object, d *dlink.Description) bool {
		if d != nil {
			o = d.Object()
		}
		m := sizesOf(o)
		for i := range m.Spaces { // the symbols need not fill the sections
			if d == nil {
				break
			}
			if bytes, ok := d.Memory[strings.TrimPrefix(m.Spaces[i].Space, ".")]; ok {
				m.Spaces[i].Bytes = bytes
			}
		}
		switch n++; {
		case opts.Bool("json"):
			for i := range m.Symbols {
				m.Symbols[i].Demangled = diag.Spelling{}.Unmangled(m.Symbols[i].Name)
			}
			rows.Add(m)
		case opts.Bool("symbols"):
			symbols.add(m.Symbols)
		case opts.Bool("A"):
			if n > 1 {
				out.WriteByte('\n')
			}
			writeSizeTable(out, m)
		default:
			m.Symbols = nil
			modules = append(modules, m)
		}
		return works(out)
	}, container.MachineCode)
	switch {
	case n == 0 && unread != nil:
		return unread
	case opts.Bool("json"):
		rows.Close()
	case opts.Bool("symbols"):
		symbols.write(out, opts.Bool("demangle"))
	case !opts.Bool("A"):
		writeSizes(out, modules)
	}
	return cmp.Or(out.Flush(), unread)
}

func sizesOf(o *report.Object) moduleSizes {
	m := moduleSizes{Name: o.Name, Machine: o.MachineCode, Bytes: o.Bytes, Symbols: []symbolSize{}}
	for _, space := range spaces {
		m.Spaces = append(m.Spaces, spaceSize{Space: space})
	}
	for _, s := range o.Symbols {
		if !s.Defined || s.Kind == "alias" {
			continue
		}
		space := s.Kind
		if s.Kind == "object" {
			space = "." + s.Space
		}
		i := slices.Index(spaces, space)
		if i < 0 {
			i = len(spaces) - 1
		}
		m.Spaces[i].Symbols++
		m.Spaces[i].Bytes += s.Size
		m.Symbols = append(m.Symbols, symbolSize{Name: s.Name, Space: space, Bytes: s.Size, Registers: s.Registers, module: o.Name})
	}
	sortBySize(m.Symbols)
	return m
}

func sortBySize(list []symbolSize) {
	slices.SortStableFunc(list, func(a, b symbolSize) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
}

// writeSizes writes a line for each module, and one with the totals if there are several.
func writeSizes(w io.Writer, modules []moduleSizes) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, space := range spaces {
		fmt.Fprintf(t, "%s\t", space)
	}
	fmt.Fprintln(t, "file\t  module")
	total := moduleSizes{Name: "(total)", Spaces: make([]spaceSize, len(spaces))}
	for _, m := range modules {
		for i, s := range m.Spaces {
			total.Spaces[i].Bytes += s.Bytes
		}
		total.Bytes += m.Bytes
	}
	if len(modules) > 1 {
		modules = append(modules, total)
	}
	for _, m := range modules {
		for _, s := range m.Spaces {
			fmt.Fprintf(t, "%d\t", s.Bytes)
		}
		fmt.Fprintf(t, "%d\t  %s\n", m.Bytes, diag.Escape(m.Name))
	}
	t.Flush()
}

// writeSizeTable writes the table of a module.
func writeSizeTable(w io.Writer, m moduleSizes) {
	fmt.Fprintf(w, "%s:\n", diag.Escape(m.Name))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "symbols\tbytes\t  space")
	for _, s := range m.Spaces {
		if s.Symbols > 0 || s.Bytes > 0 {
			fmt.Fprintf(t, "%d\t%d\t  %s\n", s.Symbols, s.Bytes, s.Space)
		}
	}
	fmt.Fprintf(t, "\t%d\t  file\n", m.Bytes)
	t.Flush()
}

// symbolSizes are the symbols of all modules.
type symbolSizes struct {
	list  []symbolSize
	names map[string]string
}

// add adds the symbols of a module. Modules for several GPUs have the same names, which are kept once, and not
// with the module whose memory they share.
func (l *symbolSizes) add(symbols []symbolSize) {
	for _, s := range symbols {
		for _, name := range []*string{&s.Name, &s.module} {
			if _, ok := l.names[*name]; !ok {
				own := strings.Clone(*name)
				sets.Put(&l.names, own, own)
			}
			*name = l.names[*name]
		}
		l.list = append(l.list, s)
	}
}

// write writes the symbols, the largest first. A tabwriter would hold all of the text.
func (l *symbolSizes) write(w io.Writer, demangle bool) {
	sortBySize(l.list)
	bytes, space, module := len("bytes"), len("space"), len("module")
	for _, s := range l.list {
		bytes, space = max(bytes, len(fmt.Sprint(s.Bytes))), max(space, len(s.Space))
		module = max(module, utf8.RuneCountInString(diag.Escape(s.module)))
	}
	row := func(size, where, in, name string) {
		fmt.Fprintf(w, "%-*s  %-*s  %-*s  %s\n", bytes, size, space, where, module, in, name)
	}
	row("bytes", "space", "module", "name")
	for _, s := range l.list {
		name := s.Name
		if demangle {
			name = cmp.Or(diag.Spelling{}.Unmangled(name), name)
		}
		row(fmt.Sprint(s.Bytes), s.Space, diag.Escape(s.module), diag.Escape(name))
	}
}
