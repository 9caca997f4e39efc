package dlink

import (
	"cmp"
	"context"
	"slices"

	"ptxlink/internal/infile"
	"ptxlink/link"
	"ptxlink/link/report"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Description is what a cubin or intermediate code in a file records about itself.
type Description struct {
	Name        string              `json:"name"`
	Target      string              `json:"machine_code,omitempty"` // of a cubin: sm_80
	LTOIR       string              `json:"lto_ir,omitempty"`       // likewise
	OptiXIR     string              `json:"optix_ir,omitempty"`     // likewise
	Bitcode     string              `json:"llvm_bitcode,omitempty"` // likewise
	TileIR      string              `json:"tile_ir,omitempty"`      // likewise
	Options     string              `json:"options,omitempty"`      // that a fatbin records for its compiler
	Makers      []string            `json:"made_by,omitempty"`      // of a cubin: the linker and the tools of NVIDIA, with their options
	Relocatable bool                `json:"relocatable"`
	Bytes       int                 `json:"bytes"`
	Memory      map[string]int64    `json:"memory,omitempty"` // on the GPU, by state space: global, const, shared
	Symbols     []DescriptionSymbol `json:"symbols"`
}

// DescriptionSymbol is a symbol of machine code. Size counts the code of a function, and
// Registers and Stack are per thread, the stack in bytes and without the stack of functions that it
// calls. Types are the results and parameters of a function, in PTX: "(.b32) (.b64)".
type DescriptionSymbol struct {
	Name       string                 `json:"name"`
	Kind       string                 `json:"kind"` // entry, func or object
	Space      string                 `json:"space,omitempty"`
	Linkage    string                 `json:"linkage"` // visible, weak, common, extern or local
	Defined    bool                   `json:"defined"`
	Size       int64                  `json:"size"`
	Initial    bool                   `json:"initialised,omitempty"`
	Types      string                 `json:"types,omitempty"`
	Parameters []container.CubinParam `json:"parameters,omitempty"` // of a kernel
	Registers  int                    `json:"registers,omitempty"`
	Stack      int                    `json:"stack,omitempty"`
}

// Describe describes the PTX in files, and the device code that has one of the forms, in the order of the files. It calls use with
// a record of one or the other, and keeps nothing, until use returns false. The error is *link.Errors if something cannot be read; use
// has been called for the rest.
func Describe(ctx context.Context, inputs []link.Input, forms []container.Form, log *diag.Log, use func(*report.Object, *Description) bool) error {
	maps, more := new(infile.Maps), true
	for _, in := range object.Named(inputs) {
		object.Walk(ctx, in, forms, object.Options{Map: maps}, log, func(o container.Object) bool {
			for _, c := range o.Codes {
				if more = more && ctx.Err() == nil; !more {
					break
				}
				if c.Form == container.PTX {
					object.ReadCode(c, in.Path, log, func(f *object.File) { more = more && use(report.ObjectOf(f), nil) })
				} else if slices.Contains(forms, c.Form) {
					more = describe(c, len(o.Codes) > 1, log, use)
				}
			}
			return more
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if len(log.Messages) == 0 { // which may show parts of a text
		maps.Close()
	}
	return link.ErrorsOf(log)
}

// describe calls use with the description of device code other than PTX, or logs why it cannot be read.
func describe(c container.Code, several bool, log *diag.Log, use func(*report.Object, *Description) bool) bool {
	data, err := c.Read()
	if err != nil {
		object.Refuse(c.Name, err, log)
		return true
	}
	d := describeData(c, data)
	if several { // PTX of several has the name of its GPU as well
		d.Name += ":" + c.Target + map[container.Form]string{container.MachineCode: ".cubin", container.LTOIR: ".ltoir", container.LLVMBitcode: ".bc", container.TileIR: ".tilebc"}[c.Form]
	}
	c.Release()
	return use(nil, &d)
}

func describeData(c container.Code, data []byte) Description {
	d := Description{Name: c.Name, Options: c.Options, Bytes: len(data), Symbols: []DescriptionSymbol{}}
	switch target := cmp.Or(c.Target, "an unknown GPU"); c.Form {
	case container.LTOIR:
		if container.IsOptiXIR(data) {
			d.OptiXIR = target
		} else {
			d.LTOIR = target
		}
		return d
	case container.LLVMBitcode:
		d.Bitcode = target
		return d
	case container.TileIR:
		d.TileIR = cmp.Or(c.Target, "any GPU")
		return d
	}
	cubin := container.Cubin{Data: data}
	d.Target, d.Makers, d.Relocatable, d.Memory = c.Target, cubin.Makers(), cubin.Relocatable(), cubin.Memory()
	symbols, _ := cubin.AllSymbols() // a damaged cubin has no symbols
	d.Symbols = make([]DescriptionSymbol, 0, len(symbols))
	for _, s := range symbols {
		d.Symbols = append(d.Symbols, DescriptionSymbol{s.Name, s.Kind(), s.Space, s.Linkage(), s.Defined, s.Size, s.Initial, object.PrototypeText(s.Prototype), s.Params, s.Registers, s.Frame})
	}
	return d
}

// Object returns what a Description has in common with the record of a module.
func (d Description) Object() *report.Object {
	o := &report.Object{Name: d.Name, MachineCode: d.Target, Bytes: d.Bytes, Symbols: []report.ObjectSymbol{}}
	for _, s := range d.Symbols {
		o.Symbols = append(o.Symbols, report.ObjectSymbol{Name: s.Name, Kind: s.Kind, Space: s.Space, Linkage: s.Linkage, Defined: s.Defined, Size: s.Size, Initial: s.Initial, Registers: s.Registers})
	}
	return o
}
