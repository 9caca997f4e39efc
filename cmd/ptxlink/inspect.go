package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/report"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

var infoCommand = subcommand{
	Command: described("info"),
	run:     (*command).info,
}

var nmCommand = subcommand{
	Command: described("nm"),
	letters: true,
	run:     (*command).nm,
}

// inspect calls use with the object record of each PTX in the inputs, and with the description of device code of the other
// forms, one after the other, until use returns false. If something cannot be read, it reports that and returns an error,
// which is the result of the command after the rest is shown.
func (c *command) inspect(opts *cli.Context, inputs []link.Input, use func(*report.Object, *dlink.Description) bool, forms ...container.Form) error {
	if c.memory == nil {
		collectAt(100) // because most memory of one object is not needed for the next
	}
	return c.refused(dlink.Describe(opts.Context, inputs, forms, &diag.Log{Spelling: c.spelling}, use))
}

// inspected returns the inputs of a command that needs some.
func (c *command) inspected() ([]link.Input, error) {
	if len(c.inputs) == 0 {
		return nil, usageError("no input files", "ptxlink --help shows the usage")
	}
	return c.findInputs(nil)
}

// info runs ptxlink info.
func (c *command) info(opts *cli.Context) error {
	inputs, err := c.inspected()
	if err != nil {
		return err
	}
	out, n := c.shower(), 0
	rows := &diag.JSONList{W: out}
	unread := c.inspect(opts, inputs, func(o *report.Object, d *dlink.Description) bool {
		switch n++; {
		case opts.Bool("json") && d != nil:
			rows.Add(d)
		case opts.Bool("json"):
			rows.Add(o)
		default:
			if n > 1 {
				out.WriteByte('\n')
			}
			if d != nil {
				describeCubin(out, d)
			} else {
				describeObject(out, o)
			}
		}
		return works(out)
	}, container.MachineCode, container.LTOIR, container.LLVMBitcode, container.TileIR)
	if opts.Bool("json") {
		return showRows(out, rows, unread)
	}
	return cmp.Or(out.Flush(), unread)
}

// describeCubin writes what info prints of device code other than PTX.
func describeCubin(out io.Writer, o *dlink.Description) {
	what := "machine code, " + o.Target + map[bool]string{true: ", relocatable", false: ", linked"}[o.Relocatable]
	if o.LTOIR != "" {
		what = "LTO-IR for " + o.LTOIR
	} else if o.OptiXIR != "" {
		what = "OptiX-IR for " + o.OptiXIR
	} else if o.Bitcode != "" {
		what = "LLVM bitcode for " + o.Bitcode
	} else if o.TileIR != "" {
		what = "CUDA Tile IR for " + o.TileIR
	}
	fmt.Fprintf(out, "%s: %s\n  bytes     %d\n", diag.Escape(o.Name), diag.Escape(what), o.Bytes)
	if o.Options != "" {
		fmt.Fprintf(out, "  options   %s\n", diag.Escape(o.Options))
	}
	for _, maker := range o.Makers {
		fmt.Fprintf(out, "  made by   %s\n", diag.Escape(maker))
	}
	writeSymbols(out, o.Symbols, func(s dlink.DescriptionSymbol) (bool, bool) { return s.Defined, s.Linkage == "local" }, describeSymbol)
}

// writeSymbols writes the symbols of a file in three lists, as info prints them.
func writeSymbols[S any](w io.Writer, symbols []S, of func(S) (defined, local bool), text func(S) string) {
	for _, list := range []struct {
		title          string
		defined, local bool
	}{{"defines", true, false}, {"needs", false, false}, {"keeps to itself", true, true}} {
		title := "  " + list.title + ":\n"
		for _, s := range symbols {
			if defined, local := of(s); defined == list.defined && (defined && local) == list.local {
				fmt.Fprintf(w, "%s    %s\n", title, diag.Escape(text(s)))
				title = ""
			}
		}
	}
}

// describeSymbol returns what info prints of a symbol of machine code.
func describeSymbol(s dlink.DescriptionSymbol) string {
	text := s.Linkage + " " + s.Kind + " " + s.Name
	if s.Types != "" {
		text += " " + s.Types
	}
	if len(s.Parameters) > 0 {
		var sizes []string
		for _, p := range s.Parameters {
			sizes = append(sizes, fmt.Sprintf(".b8[%d]", p.Size))
		}
		text += " (" + strings.Join(sizes, ", ") + ")"
	}
	if s.Space != "" {
		text += ", ." + s.Space
	}
	if s.Defined {
		text += fmt.Sprintf(", %d bytes", s.Size)
	}
	if s.Registers > 0 {
		text += fmt.Sprintf(", %d registers", s.Registers)
	}
	if s.Stack > 0 {
		text += fmt.Sprintf(", %d bytes of stack", s.Stack)
	}
	if plain := (diag.Spelling{}).Unmangled(s.Name); plain != "" {
		text += "  // " + plain
	}
	return text
}

// unreadRow stands for a file without PTX in a JSON list. Error says what the file is.
type unreadRow struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error"`
}

// showRows ends a JSON list of the files that could be read with those that could not. unread is the error of these, or nil.
func showRows(out *bufio.Writer, rows *diag.JSONList, unread error) error {
	if refused, ok := errors.AsType[*refusedError](unread); ok {
		for _, m := range refused.messages {
			if file := m.Place.File(); m.Kind == diag.Error && file != "" {
				rows.Add(unreadRow{file, string(m.ID), m.Text})
			}
		}
	}
	if rows.Len == 0 && unread != nil {
		return unread
	}
	rows.Close()
	return cmp.Or(out.Flush(), unread)
}

// describeObject writes what info prints of PTX.
func describeObject(out io.Writer, o *report.Object) {
	bits := "address size not said"
	if o.AddressSize != 0 {
		bits = fmt.Sprintf("%d-bit", o.AddressSize)
	}
	fmt.Fprintf(out, "%s: PTX %s, %s, %s\n", diag.Escape(o.Name), o.Version, diag.Escape(strings.Join(o.Target, ", ")), bits)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, diag.Escape(fmt.Sprintf(format, args...)))
	}
	row("producer", "%s", cmp.Or(o.Producer, "unknown"))
	host := cmp.Or(strings.Trim(o.HostOS+"-"+o.HostArch, "-"), "unknown")
	if o.DataModel != "" {
		host += " (" + o.DataModel + ")"
	}
	row("host", "%s", host)
	if o.Options != "" {
		row("options", "%s", o.Options)
	}
	row("debug", "%s", map[[2]bool]string{{false, false}: "none", {false, true}: "lines", {true, false}: "DWARF", {true, true}: "DWARF and lines"}[[2]bool{o.Debug, o.LineInfo}])
	row("bytes", "%d", o.Bytes)
	for _, d := range o.Digests {
		row("xxh64", "%s", d)
	}
	t.Flush()
	writeSymbols(out, o.Symbols, func(s report.ObjectSymbol) (bool, bool) { return s.Defined, s.Linkage == "local" }, declaration)
}

// declaration returns the declaration of a symbol, followed by the demangled name.
func declaration(s report.ObjectSymbol) string {
	text := cmp.Or(s.Text, s.Name) // an alias may have no declaration
	if s.Linkage != "local" {
		text = "." + s.Linkage + " " + text
	}
	if plain := (diag.Spelling{}).Unmangled(s.Name); plain != "" {
		text += "  // " + plain
	}
	return text
}

// nm runs ptxlink nm.
func (c *command) nm(opts *cli.Context) error {
	inputs, err := c.inspected()
	if err != nil {
		return err
	}
	l := readListing(opts)
	if path := opts.String("output"); path != "" && path != "-" {
		var unread error
		err := c.write(c.paths, outfile.File{Path: path, From: writing(func(w io.Writer) error {
			out := bufio.NewWriterSize(w, 1<<16)
			unread = l.list(c, opts, inputs, out)
			return cmp.Or(out.Flush(), l.nothing(unread))
		})})
		return cmp.Or(l.nothing(unread), err, unread)
	}
	out := c.shower()
	unread := l.list(c, opts, inputs, out)
	return cmp.Or(l.nothing(unread), out.Flush(), unread)
}

// writing is an io.WriterTo.
type writing func(io.Writer) error

func (write writing) WriteTo(w io.Writer) (int64, error) { return 0, write(w) }

// nothing returns the error of what could not be read if nothing could.
func (l *listing) nothing(unread error) error {
	if l.objects == 0 {
		return unread
	}
	return nil
}

// list lists the symbols of the inputs, and returns the error of those that cannot be read.
func (l *listing) list(c *command, opts *cli.Context, inputs []link.Input, out *bufio.Writer) error {
	rows := diag.JSONList{W: out}
	var first *report.Object // is listed when it is known whether there is a second
	list := func(o *report.Object, header string) {
		if header != "" {
			fmt.Fprintf(out, header, diag.Escape(o.Name))
		}
		for _, s := range o.Symbols {
			l.write(out, o, s)
		}
	}
	unread := c.inspect(opts, inputs, func(o *report.Object, d *dlink.Description) bool {
		if d != nil {
			o = d.Object()
		}
		o.Symbols = l.choose(opts, o.Symbols)
		switch l.objects++; {
		case l.format == "json":
			rows.Add(listed(o))
		case l.files:
			list(o, "")
		case l.objects == 1:
			first = o
		default:
			if first != nil {
				list(first, "%s:\n")
				first = nil
			}
			list(o, "\n%s:\n")
		}
		return works(out)
	}, container.MachineCode)
	if first != nil {
		list(first, "")
	}
	if l.format == "json" && l.nothing(unread) == nil {
		rows.Close()
	}
	return unread
}

// listing is the form of the output of nm.
type listing struct {
	format             string // "bsd", "posix", "just-symbols" or "json"
	radix              string // "%016x", or the verb of another radix
	files, lines       bool
	demangle           bool
	sizes, sizeForBody bool
	objects            int // that were listed
}

func readListing(opts *cli.Context) listing {
	l := listing{
		format: cmp.Or(opts.String("format"), "bsd"), files: opts.Bool("print-file-name"), lines: opts.Bool("line-numbers"),
		demangle: opts.Bool("demangle") && !opts.Bool("no-demangle"), sizes: opts.Bool("print-size"), sizeForBody: opts.Bool("size-sort"),
		radix: "%016" + cmp.Or(opts.String("radix"), "x"),
	}
	for _, name := range []string{"portability", "just-symbols", "json"} {
		if opts.Bool(name) {
			l.format = strings.Replace(name, "portability", "posix", 1)
		}
	}
	return l
}

// choose returns the symbols to list, in order.
func (l *listing) choose(opts *cli.Context, symbols []report.ObjectSymbol) []report.ObjectSymbol {
	symbols = slices.DeleteFunc(symbols, func(s report.ObjectSymbol) bool {
		return opts.Bool("undefined-only") && s.Defined || (opts.Bool("defined-only") || opts.Bool("size-sort")) && !s.Defined ||
			opts.Bool("extern-only") && s.Linkage == "local" || opts.Bool("no-weak") && s.Linkage == "weak"
	})
	if opts.Bool("no-sort") {
		return symbols
	}
	slices.SortStableFunc(symbols, func(a, b report.ObjectSymbol) int {
		order := strings.Compare(a.Name, b.Name)
		switch {
		case opts.Bool("size-sort"):
			order = cmp.Or(cmp.Compare(a.Size, b.Size), order)
		case opts.Bool("numeric-sort"):
			order = cmp.Or(cmp.Compare(a.Line, b.Line), order)
		}
		if opts.Bool("reverse-sort") {
			order = -order
		}
		return order
	})
	return symbols
}

// write writes the line of a symbol.
func (l *listing) write(w io.Writer, o *report.Object, s report.ObjectSymbol) {
	name := s.Name
	if l.demangle {
		name = (diag.Spelling{}).Demangle(name)
	}
	name = diag.Escape(name)
	prefix := ""
	if l.files {
		prefix = diag.Escape(o.Name) + ":"
		if l.format == "posix" {
			prefix += " "
		}
	}
	place := ""
	if l.lines && s.Line > 0 {
		place = fmt.Sprintf("\t%s:%d", diag.Escape(o.Name), s.Line)
	}
	value := strings.Repeat("-", 16)
	if !s.Defined {
		value = strings.Repeat(" ", 16)
	}
	size := fmt.Sprintf(l.radix, s.Size)
	switch {
	case l.format == "just-symbols":
		fmt.Fprintf(w, "%s%s\n", prefix, name)
		return
	case l.format == "posix":
		if !s.Defined {
			size = ""
		}
		line := fmt.Sprintf("%s%s %c %s %s", prefix, name, letter(s), strings.TrimSpace(value), size)
		fmt.Fprintln(w, strings.TrimRight(line, " ")+place)
		return
	case l.sizeForBody && !l.sizes:
		value = size
	case l.sizes && s.Defined && (s.Space != "" || l.sizeForBody || o.MachineCode != ""):
		value += " " + size
	}
	fmt.Fprintf(w, "%s%s %c %s%s\n", prefix, value, letter(s), name, place)
}

// listedFile is a file in the JSON of nm.
type listedFile struct {
	Name    string         `json:"name"`
	Machine string         `json:"machine_code,omitempty"`
	Symbols []listedSymbol `json:"symbols"`
}

type listedSymbol struct {
	Letter    string `json:"letter"`
	Demangled string `json:"demangled,omitempty"`
	report.ObjectSymbol
}

// listed returns the symbols of a file for JSON.
func listed(o *report.Object) listedFile {
	f := listedFile{o.Name, o.MachineCode, []listedSymbol{}}
	for _, s := range o.Symbols {
		f.Symbols = append(f.Symbols, listedSymbol{string(letter(s)), diag.Spelling{}.Unmangled(s.Name), s})
	}
	return f
}

// letter returns nm's letter for the symbol.
func letter(s report.ObjectSymbol) byte {
	c := byte('T')
	switch {
	case !s.Defined && s.Linkage == "weak":
		return 'w'
	case !s.Defined:
		return 'U'
	case s.Linkage == "common":
		return 'C'
	case s.Linkage == "weak" && s.Kind == "object":
		return 'V'
	case s.Linkage == "weak":
		return 'W'
	case s.Space == "const":
		c = 'R'
	case s.Space == "shared":
		c = 'S'
	case s.Kind == "object" && s.Initial:
		c = 'D'
	case s.Kind == "object":
		c = 'B'
	}
	if s.Linkage == "local" {
		c += 'a' - 'A'
	}
	return c
}
