package dlink

import (
	"cmp"
	"context"

	"ptxlink/link"
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
func Describe(ctx context.Context, inputs []link.Input) (rest []link.Input, list []Description) {
	for _, in := range inputs {
		name, data := holder(ctx, in)
		cubins, err := container.Cubins(name, data, container.Options{})
		ltoIR, _ := container.LTOIRs(name, data, container.Options{})
		if members, _ := container.Open(name, data, container.Options{}); err != nil || len(cubins)+len(ltoIR) == 0 || len(members) > 0 {
			rest = append(rest, in)
		}
		for _, l := range ltoIR {
			list = append(list, Description{Name: l.Name, LTOIR: cmp.Or(l.Target, "an unknown GPU"), Bytes: len(l.Data), Symbols: []DescriptionSymbol{}})
		}
		for _, c := range cubins {
			d := Description{Name: c.Name, Target: c.Target, Relocatable: c.Relocatable(), Bytes: len(c.Data), Symbols: []DescriptionSymbol{}}
			symbols, _ := c.Symbols() // none of a damaged cubin
			for _, s := range symbols {
				d.Symbols = append(d.Symbols, DescriptionSymbol{s.Name, s.Kind(), s.Linkage(), s.Defined, s.Size, link.CubinTypes(s.Prototype), s.Registers})
			}
			list = append(list, d)
		}
	}
	return rest, list
}
