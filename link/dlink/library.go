package dlink

import (
	"context"
	"slices"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Library is an archive whose cubins nvlink links: it has no PTX that runs on the GPU.
type Library struct {
	Path string
	// Names are what it defines. They may stay undefined in a link of PTX.
	Names []string

	whole bool
}

// library returns libcudadevrt.a as nvlink links it. That of CUDA 13 has PTX for the
// newest GPU only. The names that this PTX defines are those that each of its cubins
// defines.
func (r *reader) library(ctx context.Context, c candidate) *Library {
	l := &Library{Path: c.input.Path, whole: c.input.WholeArchive}
	var ignored diag.Log // names are all that matters here
	members, _ := object.Members(ctx, object.Input{Path: c.input.Path}, object.Options{All: true, MaxSize: r.MaxInputSize}, &ignored)
	for _, m := range members {
		definitions, _ := ptx.Definitions(&diag.Source{Name: m.Name, Text: m.Text})
		for _, d := range definitions {
			l.Names = append(l.Names, d.Name)
		}
	}
	slices.Sort(l.Names)
	l.Names = slices.Compact(l.Names)
	return l
}

// NeedsLibrary reports whether a link of Inputs in which the names of Library may stay
// undefined has to go on with nvlink.
func (j *Job) NeedsLibrary(r *link.Result) bool {
	return j.Library != nil && !j.virtual && (j.Library.whole || slices.ContainsFunc(r.Symbols(), func(s link.Symbol) bool {
		_, found := slices.BinarySearch(j.Library.Names, s.Name)
		return found && s.Linkage == "extern"
	}))
}
