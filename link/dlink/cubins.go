package dlink

import (
	"context"
	"io"
	"os"
	"slices"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
)

// Cubins is the machine code that nvlink links with the PTX.
type Cubins struct {
	List    []container.Cubin // for ptxas.Options.Cubins
	Symbols []link.Cubin      // for link.Options.Cubins
}

// add adds a cubin, or reports why it cannot be read.
func (c *Cubins) add(cubin container.Cubin, log *diag.Log) {
	symbols, err := cubin.Symbols()
	if err != nil {
		log.Error(diag.BadContainer, diag.InFile(cubin.Name, 0, 0), "its cubin cannot be read: "+err.Error()).WithHelp("compile it again")
	}
	c.List, c.Symbols = append(c.List, cubin), append(c.Symbols, link.Cubin{Name: cubin.Name, Symbols: symbols})
}

// Separate takes the files from inputs that have no PTX for o.Arch and a relocatable cubin
// that runs on it: cubins, fatbins and host objects. If nothing is left, an empty module is.
func Separate(ctx context.Context, inputs []link.Input, o Options, log *diag.Log) (modules []link.Input, cubins Cubins) {
	r := reader{Options: o}
	r.gpu, _ = object.ParseGPU(o.Arch)
	modules = slices.DeleteFunc(slices.Clone(inputs), func(in link.Input) bool {
		if in.Path == "" || in.Reader != nil || !mayHoldCubins(in.Path) {
			return false
		}
		data, err := read(ctx, in.Path)
		if err != nil {
			return false // link.Link reports it
		}
		code := r.bare(in.Path, data)
		if r.verdict(code) != cubinOnly {
			return false
		}
		cubin := r.cubin(code)
		if !cubin.Relocatable() {
			return false
		}
		cubins.add(cubin, log)
		return true
	})
	if len(modules) == 0 && len(inputs) > 0 {
		modules = []link.Input{{Name: "<no PTX>", Text: emptyModule(r.gpu)}}
	}
	return modules, cubins
}

// mayHoldCubins reports whether a regular file starts as an ELF file or a fatbin does.
func mayHoldCubins(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && (string(magic[:]) == "\x7fELF" || string(magic[:]) == "\x50\xed\x55\xba")
}
