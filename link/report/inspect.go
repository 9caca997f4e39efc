package report

import (
	"cmp"
	"context"

	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Object is the object record of one input: what the linker knows about it before
// linking. `ptxlink info --json` writes it as JSON.
type Object struct {
	Name        string         `json:"name"`
	Path        string         `json:"path,omitempty"`
	MachineCode string         `json:"machine_code,omitempty"` // the GPU of a cubin, which has no version, target and host
	Options     string         `json:"options,omitempty"`      // that its fatbin records for ptxas
	Version     string         `json:"version"`                // PTX ISA
	Target      []string       `json:"target"`                 // architecture and options
	AddressSize int            `json:"address_size,omitempty"`
	HostOS      string         `json:"host_os,omitempty"`
	HostArch    string         `json:"host_arch,omitempty"`
	DataModel   string         `json:"data_model,omitempty"`
	Producer    string         `json:"producer,omitempty"`
	Bytes       int            `json:"bytes"`
	Digests     []string       `json:"xxh64"` // of the PTX, or of the inputs of an earlier link
	Debug       bool           `json:"debug"`
	LineInfo    bool           `json:"line_info"`
	Symbols     []ObjectSymbol `json:"symbols"`
}

// ObjectSymbol describes a module-scope name of an input.
type ObjectSymbol struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`            // "entry", "func", "object", "alias"
	Space   string `json:"space,omitempty"` // "global", "const", ... of an object
	Linkage string `json:"linkage"`         // "visible", "weak", "common", "extern", "local"
	Defined bool   `json:"defined"`
	Size    int64  `json:"size"` // bytes of an object; bytes of PTX text of a body
	Align   int64  `json:"align,omitempty"`
	Line    int    `json:"line"`
	Text    string `json:"declaration"` // on one line, without body or initialiser
	Initial bool   `json:"initialised,omitempty"`

	Registers int `json:"registers,omitempty"` // of a function in machine code
}

// Inspect reads inputs as link.Link does and returns their records in order. The
// error is *link.Errors if an input is not a PTX module; the records of the others are
// returned, too.
func Inspect(ctx context.Context, inputs []link.Input, jobs int) ([]*Object, error) {
	var log diag.Log
	files, _, err := object.Load(ctx, object.Named(inputs), object.Options{Jobs: jobs, All: true}, &log)
	if err != nil {
		return nil, err
	}
	list := make([]*Object, len(files))
	for i, f := range files {
		list[i] = ObjectOf(f)
	}
	return list, link.ErrorsOf(&log)
}

// ObjectOf returns the record of a module.
func ObjectOf(f *object.File) *Object {
	o := &Object{
		Name: f.Name, Path: f.Path, Options: f.PtxasOptions, Version: f.Version.String(), AddressSize: f.AddressSize,
		HostOS: f.Host.OS, HostArch: f.Host.Arch, DataModel: f.Host.Model,
		Producer: f.Producer, Bytes: len(f.Src.Text), Digests: f.Digests, Debug: f.Debug, LineInfo: f.LineInfo,
		Symbols: []ObjectSymbol{},
	}
	for _, word := range f.Target {
		o.Target = append(o.Target, word.Word)
	}
	for n, name := range f.Names {
		s := f.Symbols[n]
		line := f.Src.Line(f.NamePlace(ptx.NameID(n)).Span.Off)
		sym := ObjectSymbol{Name: name, Linkage: cmp.Or(s.Linkage.Plain(), "local"), Defined: s.Defined(), Line: line}
		if d := f.DeclOf(ptx.NameID(n)); d != nil {
			sym.Kind, sym.Space, sym.Size, sym.Align = object.Measure(d)
			if d.Kind == ptx.Variable {
				sym.Initial, sym.Text = d.Init.Len > 0, f.Declaration(d, name)
			} else {
				sym.Text = string(ptx.Compact(f.Src.Bytes(d.Header)))
			}
		}
		if s.Alias >= 0 {
			sym.Kind = "alias"
		}
		o.Symbols = append(o.Symbols, sym)
	}
	return o
}
