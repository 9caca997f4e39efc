package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"ptxlink/internal/diag"
	"ptxlink/internal/outfile"
	"ptxlink/link"
)

var infoCommand = subcommand{
	name:  "info",
	usage: "show the object record of a file",
	args:  "FILE...",
	flags: func() []option {
		return append([]option{
			{kind: toggleKind, name: "json", category: "Output", usage: "print a JSON list of object records"},
		}, commonFlags()...)
	},
	description: `Prints the object record of each file: ISA version, target, address size, host
platform, compiler, digest, defined and undefined symbols.

Exit codes: 0 success, 1 a file is not PTX, 2 usage error, 3 a file cannot be
read.`,
	run: (*command).info,
}

var nmCommand = subcommand{
	name:  "nm",
	usage: "list the symbols of files",
	args:  "FILE...",
	flags: func() []option {
		const symbols = "Symbols"
		return append([]option{
			{kind: toggleKind, name: "demangle", aliases: []string{"C"}, category: symbols, usage: "demangle C++ and Rust names"},
			{kind: toggleKind, name: "undefined-only", aliases: []string{"u"}, category: symbols, usage: "only undefined symbols"},
			{kind: toggleKind, name: "defined-only", aliases: []string{"U"}, category: symbols, usage: "only defined symbols"},
			{kind: toggleKind, name: "extern-only", aliases: []string{"g"}, category: symbols, usage: "only external symbols"},
			{kind: toggleKind, name: "no-sort", aliases: []string{"p"}, category: symbols, usage: "do not sort by name"},
			{kind: toggleKind, name: "print-size", aliases: []string{"S"}, category: symbols, usage: "print the size of objects in hexadecimal"},
			{kind: toggleKind, name: "print-file-name", aliases: []string{"A"}, category: symbols, usage: "print the file name before every symbol"},
			{kind: textKind, name: "output", category: symbols, usage: "write to `FILE` (default: standard output)"},
		}, commonFlags()...)
	},
	description: `PTX has no addresses, so the first column of a defined symbol has dashes, as
llvm-nm prints for bitcode. The letters are nm's, lower case for local symbols:
  T entry or function   W weak function   V weak object   C common   U undefined
  D initialised object   B other object   R constant   S shared memory

Exit codes: 0 success, 1 a file is not PTX, 2 usage error, 3 a file cannot be
read.`,
	letters: true,
	run:     (*command).nm,
}

// inspect reads the object records of the arguments.
func (c *command) inspect(opts *options) ([]*link.Object, error) {
	if len(c.inputs) == 0 {
		return nil, &usageError{text: "no input files", help: "ptxlink --help shows the usage"}
	}
	if err := c.findInputs(nil); err != nil {
		return nil, err
	}
	list, err := link.Inspect(opts.ctx, c.linkOptions.Inputs, 0)
	if err != nil {
		return nil, c.refused(err)
	}
	return list, nil
}

// info runs ptxlink info.
func (c *command) info(opts *options) error {
	list, err := c.inspect(opts)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if opts.toggle("json") {
		if err := diag.WriteJSON(&out, list); err != nil {
			return err
		}
	} else {
		for i, o := range list {
			if i > 0 {
				out.WriteByte('\n')
			}
			writeInfo(&out, o)
		}
	}
	return c.show(out.Bytes())
}

func writeInfo(w io.Writer, o *link.Object) {
	bits := "address size not said"
	if o.AddressSize != 0 {
		bits = fmt.Sprintf("%d-bit", o.AddressSize)
	}
	fmt.Fprintf(w, "%s: PTX %s, %s, %s\n", diag.Escape(o.Name), o.Version, diag.Escape(strings.Join(o.Target, ", ")), bits)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "  %s\t%s\n", name, diag.Escape(fmt.Sprintf(format, args...)))
	}
	row("producer", "%s", orUnknown(o.Producer))
	host := orUnknown(strings.Trim(o.HostOS+"-"+o.HostArch, "-"))
	if o.DataModel != "" {
		host += " (" + o.DataModel + ")"
	}
	row("host", "%s", host)
	row("debug", "%s", map[[2]bool]string{{false, false}: "none", {false, true}: "lines", {true, false}: "DWARF", {true, true}: "DWARF and lines"}[[2]bool{o.Debug, o.LineInfo}])
	row("bytes", "%d", o.Bytes)
	for _, d := range o.Digests {
		row("sha256", "%s", d)
	}
	t.Flush()
	for _, part := range []struct {
		title string
		in    func(link.ObjectSymbol) bool
	}{
		{"defines", func(s link.ObjectSymbol) bool { return s.Defined && s.Linkage != "local" }},
		{"needs", func(s link.ObjectSymbol) bool { return !s.Defined }},
		{"keeps to itself", func(s link.ObjectSymbol) bool { return s.Defined && s.Linkage == "local" }},
	} {
		first := true
		for _, s := range o.Symbols {
			if !part.in(s) {
				continue
			}
			if first {
				fmt.Fprintf(w, "  %s:\n", part.title)
				first = false
			}
			fmt.Fprintf(w, "    %s\n", diag.Escape(declaration(s)))
		}
	}
}

// declaration returns the declaration of a symbol, followed by the demangled name.
func declaration(s link.ObjectSymbol) string {
	text := s.Text
	if text == "" { // an alias that was never declared
		text = s.Name
	}
	if s.Linkage != "local" {
		text = "." + s.Linkage + " " + text
	}
	if plain := diag.Demangle(s.Name); plain != s.Name {
		text += "  // " + plain
	}
	return text
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// nm runs ptxlink nm.
func (c *command) nm(opts *options) error {
	list, err := c.inspect(opts)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, o := range list {
		if len(list) > 1 && !opts.toggle("print-file-name") {
			if i > 0 {
				out.WriteByte('\n')
			}
			fmt.Fprintf(&out, "%s:\n", diag.Escape(o.Name))
		}
		symbols := slices.DeleteFunc(o.Symbols, func(s link.ObjectSymbol) bool {
			return opts.toggle("undefined-only") && s.Defined || opts.toggle("defined-only") && !s.Defined || opts.toggle("extern-only") && s.Linkage == "local"
		})
		if !opts.toggle("no-sort") {
			slices.SortStableFunc(symbols, func(a, b link.ObjectSymbol) int { return strings.Compare(a.Name, b.Name) })
		}
		for _, s := range symbols {
			if opts.toggle("print-file-name") {
				out.WriteString(diag.Escape(o.Name) + ":")
			}
			writeSymbol(&out, s, opts.toggle("print-size"), opts.toggle("demangle"))
		}
	}
	if path := opts.text("output"); path != "" && path != "-" {
		return c.write(c.paths, outfile.File{Path: path, Data: out.Bytes()})
	}
	return c.show(out.Bytes())
}

func writeSymbol(w io.Writer, s link.ObjectSymbol, size, demangle bool) {
	value := strings.Repeat("-", 16)
	if !s.Defined {
		value = strings.Repeat(" ", 16)
	}
	if size && s.Defined && s.Space != "" {
		value += fmt.Sprintf(" %016x", s.Size)
	}
	name := s.Name
	if demangle {
		name = diag.Demangle(name)
	}
	fmt.Fprintf(w, "%s %c %s\n", value, letter(s), diag.Escape(name))
}

// letter returns nm's letter for the symbol.
func letter(s link.ObjectSymbol) byte {
	c := byte('T')
	switch {
	case !s.Defined && s.Linkage == "weak":
		return 'w'
	case !s.Defined:
		return 'U'
	case s.Linkage == "common":
		return 'C'
	case s.Linkage == "weak" && s.Space != "":
		return 'V'
	case s.Linkage == "weak":
		return 'W'
	case s.Space == "const":
		c = 'R'
	case s.Space == "shared":
		c = 'S'
	case s.Space != "" && s.Initial:
		c = 'D'
	case s.Space != "":
		c = 'B'
	}
	if s.Linkage == "local" {
		c += 'a' - 'A'
	}
	return c
}
