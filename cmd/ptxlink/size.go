package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object/container"
)

var sizeCommand = subcommand{
	Command: described("size"),
	letters: true,
	flags: func() []cli.Flag {
		const output = "Output"
		return append([]cli.Flag{
			&cli.BoolFlag{Name: "A", Aliases: []string{"sysv"}, Category: output, Usage: "print a table for each module, with the numbers of symbols"},
			&cli.BoolFlag{Name: "symbols", Category: output, Usage: "print a line for each symbol, the largest first"},
			&cli.BoolFlag{Name: "json", Category: output, Usage: "print JSON: the modules with their sizes and symbols"},
			&cli.BoolFlag{Name: "demangle", Aliases: []string{"C"}, Category: output, Usage: "demangle C++ and Rust names"},
		}, commonFlags()...)
	},
	run: (*command).size,
}

// spaces are the columns of ptxlink size; the last one holds what is in no other.
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
	list, cubins, unread := c.inspect(opts, container.MachineCode)
	if len(list)+len(cubins) == 0 && unread != nil {
		return unread
	}
	modules := make([]moduleSizes, 0, len(list)+len(cubins))
	for _, o := range list {
		modules = append(modules, sizesOf(o))
	}
	for _, d := range cubins {
		m := sizesOf(d.Object())
		for i := range m.Spaces { // the symbols need not fill the sections
			if bytes, ok := d.Memory[strings.TrimPrefix(m.Spaces[i].Space, ".")]; ok {
				m.Spaces[i].Bytes = bytes
			}
		}
		modules = append(modules, m)
	}
	var out bytes.Buffer
	switch {
	case opts.Bool("json"):
		return cmp.Or(c.showJSON(modules), unread)
	case opts.Bool("symbols"):
		writeSymbolSizes(&out, modules, opts.Bool("demangle"))
	case opts.Bool("A"):
		writeSizeTables(&out, modules)
	default:
		writeSizes(&out, modules)
	}
	return cmp.Or(c.show(out.Bytes()), unread)
}

func sizesOf(o *link.Object) moduleSizes {
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
		plain := diag.Spelling{}.Unmangled(s.Name)
		m.Symbols = append(m.Symbols, symbolSize{Name: s.Name, Demangled: plain, Space: space, Bytes: s.Size, Registers: s.Registers, module: o.Name})
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

// writeSizeTables writes a table for each module.
func writeSizeTables(w io.Writer, modules []moduleSizes) {
	for i, m := range modules {
		if i > 0 {
			fmt.Fprintln(w)
		}
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
}

// writeSymbolSizes writes the symbols of all modules, the largest first.
func writeSymbolSizes(w io.Writer, modules []moduleSizes, demangle bool) {
	var list []symbolSize
	for _, m := range modules {
		list = append(list, m.Symbols...)
	}
	sortBySize(list)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bytes\tspace\tmodule\tname")
	for _, s := range list {
		name := s.Name
		if demangle {
			name = cmp.Or(s.Demangled, s.Name)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\n", s.Bytes, s.Space, diag.Escape(s.module), diag.Escape(name))
	}
	t.Flush()
}
