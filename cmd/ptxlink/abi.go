package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"ptxlink/abicheck/ctype"
	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

var abiCommand = subcommand{
	Command: described("abi"),
	run:     (*command).abi,
}

func (c *command) abi(opts *cli.Context) error {
	model, err := abiModel(opts)
	if err != nil {
		return err
	}
	if len(c.inputs) != 1 {
		text := "no declaration"
		if len(c.inputs) > 1 {
			text = fmt.Sprintf("%d arguments where one declaration is wanted", len(c.inputs))
		}
		return usageError(text, "put it in quotes: ptxlink abi 'struct { char c; int b : 5; }'")
	}
	src := &diag.Source{Name: "<argument>", Text: []byte(c.inputs[0].name)}
	if c.inputs[0].name == "-" {
		src.Name = "<stdin>"
		if src.Text, err = infile.ReadAll(c.stdin, 16<<20); err != nil {
			return &exitError{exitIO, fmt.Errorf("cannot read standard input: %w", err)}
		}
	}
	declared, err := ctype.Parse(src, model)
	if err != nil {
		path := c.inputs[0].name
		if info, statErr := os.Stat(path); path != "-" && statErr == nil && !info.IsDir() {
			return usageError(path+" is a file, not a declaration", "pass the declarations in it: ptxlink abi - <"+path+"; for a whole header, clang -Xclang -fdump-record-layouts")
		}
		return &exitError{exitLink, err}
	}
	if !opts.Bool("all") {
		declared = declared[len(declared)-1:]
	}
	return c.showLayouts(opts, src, declared, model)
}

func (c *command) showLayouts(opts *cli.Context, src *diag.Source, declared []ctype.Declared, model ctype.Model) error {
	var out bytes.Buffer
	report := abiReport{Model: model.Name}
	for i, d := range declared {
		l, err := ctype.LayOut(d.Type, model)
		if bad, ok := errors.AsType[*ctype.Error](err); ok {
			err = diag.New(diag.TypeLayout, diag.At(src, cmp.Or(bad.Span, d.Span)), bad.Error()).WithHelp(bad.Help)
		}
		if err != nil {
			return &exitError{exitLink, err}
		}
		t, err := describe(d, l, model)
		if err != nil {
			return &exitError{exitLink, diag.New(diag.TypeLayout, diag.At(src, d.Span), err.Error())}
		}
		report.Types = append(report.Types, t)
		if i > 0 {
			out.WriteByte('\n')
		}
		t.write(&out, l, model)
	}
	if opts.Bool("json") {
		return c.showJSON(report)
	}
	return c.show(out.Bytes())
}

func abiModel(opts *cli.Context) (ctype.Model, error) {
	model := ctype.LP64
	name := opts.String("host")
	if opts.IsSet("model") {
		if name != "" {
			return model, usageError("--host and --model both say how large types are", "leave one out")
		}
		name = opts.String("model")
	}
	if name != "" {
		var err error
		if model, err = ctype.ModelOf(name); err != nil || opts.IsSet("host") && !strings.Contains(name, "-") {
			return model, usageError(fmt.Sprintf("unknown host %q", name), "--host wants linux, mac or windows, then x86_64, aarch64 or x86: linux-x86_64")
		}
	}
	model.C = opts.String("lang") == "c"
	return model, nil
}

// abiReport is the output of --json.
type abiReport struct {
	Model string    `json:"model"`
	Types []abiType `json:"types"`
}

type abiType struct {
	Name       string        `json:"name"` // name of the variable, if there is one
	Type       string        `json:"type"`
	Size       int64         `json:"size"`
	Align      int64         `json:"align"`
	Members    []abiMember   `json:"members"`
	Padding    []ctype.Range `json:"padding"`
	Param      string        `json:"param"`
	ParamError string        `json:"paramError,omitempty"`
	NVCCParam  string        `json:"nvccParam,omitempty"` // if it differs
}

type abiMember struct {
	Path     string `json:"path"`
	Depth    int    `json:"depth"`
	Type     string `json:"type"`
	Offset   int64  `json:"offset"`
	Bit      int64  `json:"bit"` // counted from the start of the type
	Bits     int64  `json:"bits"`
	BitField bool   `json:"bitField"`
	Signed   bool   `json:"signed"`
	Size     int64  `json:"size"`  // size of its type
	Align    int64  `json:"align"` // alignment that it requires of its struct

	letter byte
}

const maxParts = 10000

func describe(d ctype.Declared, l *ctype.Layout, model ctype.Model) (abiType, error) {
	t := abiType{Name: d.Name, Type: d.Type.String(), Size: l.Size, Align: l.Align, Members: []abiMember{}, Padding: append([]ctype.Range{}, l.Padding()...)}
	letter := 0
	for p := range l.Parts() {
		if len(t.Members) == maxParts {
			return t, fmt.Errorf("%s has more than %d members", t.Type, maxParts)
		}
		m := abiMember{
			Path: p.Path, Depth: p.Depth, Type: p.TypeString(),
			Offset: p.Bit / 8, Bit: p.Bit, Bits: p.Bits, BitField: p.BitField,
			Signed: p.Type.Kind == ctype.Integer && !p.Type.Unsigned || p.Type.Kind == ctype.Enum && !p.Type.Unsigned,
			Size:   p.Layout.Size, Align: p.Alignment,
			letter: ' ',
		}
		if isLeaf(p.MemberLayout) {
			m.letter = mapLetters[letter%len(mapLetters)]
			letter++
		}
		t.Members = append(t.Members, m)
	}
	name := cmp.Or(d.Name, "name")
	form, err := l.Param(model)
	if err != nil {
		t.ParamError = err.Error()
		return t, nil
	}
	t.Param = form.Decl(name)
	if nvcc := form.FromNVCC(); nvcc != form {
		t.NVCCParam = nvcc.Decl(name)
	}
	return t, nil
}

// write writes a type for people, with a map of its bytes.
func (t *abiType) write(w io.Writer, l *ctype.Layout, model ctype.Model) {
	head := t.Type
	if t.Name != "" {
		head = t.Name + ": " + head
	}
	fmt.Fprintf(w, "%s: size %d, alignment %d (%s: long has %d bytes, pointers %d)\n", head, t.Size, t.Align, model.Name, model.Long, model.Pointer)
	if len(t.Members) > 0 {
		t.writeMembers(w)
		m := byteMap{size: l.Size}
		m.place(l, 0, 0)
		if l.Size > 0 {
			m.write(w)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "parameter: %s\n", cmp.Or(t.Param, "none, "+t.ParamError))
	if t.NVCCParam != "" {
		fmt.Fprintf(w, "nvcc 12.4: %s\n", t.NVCCParam)
	}
}

func (t *abiType) writeMembers(w io.Writer) {
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n \tmember\ttype\toffset\tbits\tsize\talign\t")
	for _, m := range t.Members {
		name := m.Path
		if name == "" || strings.HasSuffix(name, ".") {
			name += "(unnamed)"
		}
		bits, size := "", fmt.Sprint(m.Size)
		switch {
		case m.BitField && m.Bits == 0:
			bits, size = "none", ""
		case m.BitField:
			from := m.Bit % 8
			bits, size = fmt.Sprintf("%d-%d", from, from+m.Bits-1), ""
			if m.Bits == 1 {
				bits = fmt.Sprint(from)
			}
		}
		fmt.Fprintf(table, "%c\t%s%s\t%s\t%d\t%s\t%s\t%d\t\n", m.letter, strings.Repeat("  ", m.Depth), name, m.Type, m.Offset, bits, size, m.Align)
	}
	table.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

const mapLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// isLeaf reports whether a member has a letter in the map. It must have bits, and none of its own
// members may have a letter instead.
func isLeaf(m *ctype.MemberLayout) bool {
	if m.BitField {
		return m.Name != "" && m.Bits > 0
	}
	inner := m.Layout
	for inner.Elem != nil {
		inner = inner.Elem
	}
	return m.Bits > 0 && len(inner.Members) == 0
}

// maxMapped bounds the bytes that a map shows.
const maxMapped = 256

// byteMap draws the member to which each byte belongs, eight bytes to a line, or each bit if there
// are bit fields. Members of a union that overlap must be in separate lines below each other.
type byteMap struct {
	size   int64
	bits   bool     // there are bit fields
	layers [][]byte // the letter of each bit; 0 if it has none
}

// place draws the members of l, which begins at bit base, with letters from next on. It returns the
// next unused letter.
func (m *byteMap) place(l *ctype.Layout, base int64, next int) int {
	for i := range l.Members {
		member := &l.Members[i]
		if isLeaf(member) {
			m.bits = m.bits || member.BitField
			m.put(base+member.Bit, member.Bits, mapLetters[next%len(mapLetters)])
			next++
			continue
		}
		count, inner := int64(1), member.Layout
		for inner.Elem != nil {
			count *= inner.Type.Count
			inner = inner.Elem
		}
		if inner.Size == 0 {
			count = min(count, 1)
		}
		after := next
		for i := range count {
			at := base + member.Bit + i*inner.Size*8
			if i > 0 && at >= maxMapped*8 {
				break
			}
			after = m.place(inner, at, next)
		}
		next = after
	}
	return next
}

// put draws bits in the first layer in which they are free, since members of a union overlap.
func (m *byteMap) put(bit, bits int64, letter byte) {
	end := min(bit+bits, maxMapped*8)
	if bit >= end {
		return
	}
	for i := 0; ; i++ {
		if i == len(m.layers) {
			m.layers = append(m.layers, make([]byte, maxMapped*8))
		}
		if part := m.layers[i][bit:end]; len(bytes.Trim(part, "\x00")) == 0 {
			copy(part, bytes.Repeat([]byte{letter}, len(part)))
			return
		}
	}
}

func (m *byteMap) write(w io.Writer) {
	perByte, shown := 1, ""
	if m.bits {
		perByte, shown = 8, "bits of each byte from 0 to 7; "
	}
	fmt.Fprintf(w, "\n  byte  %s. is padding\n", shown)
	if len(m.layers) == 0 {
		m.layers = append(m.layers, make([]byte, maxMapped*8))
	}
	for bit := range m.layers[0] { // bits for which no layer has a letter
		if !slices.ContainsFunc(m.layers, func(layer []byte) bool { return layer[bit] != 0 }) {
			m.layers[0][bit] = '.'
		}
	}
	before, skipped := "", false
	for row := int64(0); row < m.size && row < maxMapped; row += 8 {
		var drawn strings.Builder
		for i, layer := range m.layers {
			if i > 0 && len(bytes.Trim(layer[row*8:row*8+64], "\x00")) == 0 {
				continue
			}
			line := []byte("        ")
			for b := row; b < min(row+8, m.size); b++ {
				line = append(append(line, layer[b*8:][:perByte]...), ' ')
			}
			fmt.Fprintf(&drawn, "%s\n", bytes.TrimRight(bytes.ReplaceAll(line, []byte{0}, []byte{' '}), " "))
		}
		switch same := drawn.String() == before; {
		case !same:
			fmt.Fprintf(w, "%6d%s", row, drawn.String()[6:])
			before, skipped = drawn.String(), false
		case !skipped: // as in hexdump
			fmt.Fprint(w, "     *\n")
			skipped = true
		}
	}
	if m.size > maxMapped {
		fmt.Fprintf(w, "        %d bytes more\n", m.size-maxMapped)
	}
}
