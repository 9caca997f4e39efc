package dlink

import (
	"cmp"
	"context"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
)

// Description is what a cubin or LTO-IR in a file says of itself, for ptxlink info.
type Description struct {
	Name        string              `json:"name"`
	Target      string              `json:"machine_code,omitempty"` // of a cubin: sm_80
	LTOIR       string              `json:"lto_ir,omitempty"`       // likewise
	Relocatable bool                `json:"relocatable"`
	Bytes       int                 `json:"bytes"`
	Symbols     []DescriptionSymbol `json:"symbols"`
}

// DescriptionSymbol is a global or weak symbol. Size is that of the code of a function, and
// Registers are those of a thread. Types are those of a function, in PTX: "(.b32) (.b64)".
type DescriptionSymbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`    // entry, func or object
	Linkage   string `json:"linkage"` // visible, weak, common or extern
	Defined   bool   `json:"defined"`
	Size      int64  `json:"size"`
	Types     string `json:"types,omitempty"`
	Registers int    `json:"registers,omitempty"`
}

// Describe describes the cubins and the LTO-IR in files. It returns the inputs that have PTX
// or neither, too: of these, more can be said.
func Describe(ctx context.Context, inputs []link.Input, log *diag.Log) (rest []link.Input, list []Description) {
	for _, in := range Buffered(ctx, inputs, 0) {
		name, data := holder(ctx, in)
		objects, err := container.Objects(name, data, container.Options{})
		before, errs, ptx := len(list), log.Errors(), err != nil
		for _, o := range objects {
			for _, c := range o.Codes {
				if c.Form == container.PTX {
					ptx = true
				} else if data, err := c.Bytes(); err != nil {
					object.Refuse(c.Name, err, log)
				} else {
					list = append(list, describe(c, data))
				}
			}
		}
		if ptx || len(list) == before && log.Errors() == errs {
			rest = append(rest, in)
		}
	}
	return rest, list
}

// describe describes machine code or LTO-IR.
func describe(c container.Code, data []byte) Description {
	d := Description{Name: c.Name, Bytes: len(data), Symbols: []DescriptionSymbol{}}
	if c.Form == container.IntermediateCode {
		d.LTOIR = cmp.Or(c.Target, "an unknown GPU")
		return d
	}
	cubin := container.Cubin{Data: data}
	d.Target, d.Relocatable = c.Target, cubin.Relocatable()
	symbols, _ := cubin.Symbols() // none of a damaged cubin
	for _, s := range symbols {
		d.Symbols = append(d.Symbols, DescriptionSymbol{s.Name, s.Kind(), s.Linkage(), s.Defined, s.Size, link.CubinTypes(s.Prototype), s.Registers})
	}
	return d
}
