package dlink

import (
	"cmp"
	"context"
	"slices"

	"ptxlink/internal/mapped"
	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
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

// DescriptionSymbol is a symbol of machine code. Size is that of the code of a function, and
// Registers and Stack are those of a thread, the stack in bytes and without that of functions that it
// calls. Types are those of a function, in PTX: "(.b32) (.b64)".
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

// Describe describes the device code in files that has one of the forms, which do not include PTX. It also returns the inputs
// that have PTX, or no device code at all, for other messages.
func Describe(ctx context.Context, inputs []link.Input, forms []container.Form, log *diag.Log) (rest []link.Input, list []Description) {
	for _, in := range Buffered(ctx, inputs, 0) {
		name, data := holder(ctx, in, new(mapped.Files))
		objects, err := container.Objects(name, data, container.Options{})
		before, errs, ptx := len(list), log.Errors(), err != nil
		for _, o := range objects {
			for _, c := range o.Codes {
				if ptx = ptx || c.Form == container.PTX; !slices.Contains(forms, c.Form) {
					continue
				}
				data, err := c.Bytes()
				if err != nil {
					object.Refuse(c.Name, err, log)
					continue
				}
				d := describe(c, data)
				if len(o.Codes) > 1 { // PTX of several has the name of its GPU as well
					d.Name += ":" + c.Target + map[container.Form]string{container.MachineCode: ".cubin", container.LTOIR: ".ltoir", container.LLVMBitcode: ".bc", container.TileIR: ".tilebc"}[c.Form]
				}
				list = append(list, d)
			}
		}
		if ptx || len(list) == before && log.Errors() == errs {
			rest = append(rest, in)
		}
	}
	return rest, list
}

// describe describes device code other than PTX.
func describe(c container.Code, data []byte) Description {
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
	for _, s := range symbols {
		d.Symbols = append(d.Symbols, DescriptionSymbol{s.Name, s.Kind(), s.Space, s.Linkage(), s.Defined, s.Size, s.Initial, link.CubinTypes(s.Prototype), s.Params, s.Registers, s.Frame})
	}
	return d
}

// Object returns what a Description has in common with the record of a module.
func (d Description) Object() *link.Object {
	o := &link.Object{Name: d.Name, MachineCode: d.Target, Bytes: d.Bytes, Symbols: []link.ObjectSymbol{}}
	for _, s := range d.Symbols {
		o.Symbols = append(o.Symbols, link.ObjectSymbol{Name: s.Name, Kind: s.Kind, Space: s.Space, Linkage: s.Linkage, Defined: s.Defined, Size: s.Size, Initial: s.Initial, Registers: s.Registers})
	}
	return o
}
