package dlink

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
)

// verdict is what becomes of the device code of a host object.
type verdict int

const (
	suits     verdict = iota // it has PTX that runs on the GPU, or link.Link says what it is
	unsuited                 // it has no code for the GPU: it is skipped
	cubinOnly                // nvlink would link a cubin
	ltoOnly                  // nvlink would compile LTO-IR
)

// judge sets the verdict of each candidate. nvcc 12 asks for sm_90 where sm_90a is meant,
// and nvlink 12 takes the code for sm_90a. Both are one GPU.
func (r *reader) judge() {
	special := object.GPU{Number: 90, Suffix: 'a'}
	if r.gpu == (object.GPU{Number: 90}) && !r.virtual() && slices.ContainsFunc(r.candidates, func(c candidate) bool {
		return !c.system && r.verdict(c.host) == unsuited && slices.Contains(c.host.PTX, special.String())
	}) {
		r.gpu = special
	}
	for i := range r.candidates {
		r.candidates[i].verdict = r.verdict(r.candidates[i].host)
	}
}

// verdict returns what becomes of device code.
func (r *reader) verdict(code container.HostCode) verdict {
	if len(code.PTX)+len(code.Cubins) == 0 && !code.LTO {
		return suits
	}
	for _, target := range code.PTX {
		if t, ok := object.ParseGPU(target); ok && r.gpu.Runs(t) {
			return suits
		}
	}
	if r.cubinFor(code) != "" {
		return cubinOnly
	}
	if code.LTO && !r.virtual() {
		return ltoOnly
	}
	return unsuited
}

// cubinFor returns the GPU of a cubin that runs on the GPU of the link, or "". It runs
// on GPUs of the same major number that are not older.
func (r *reader) cubinFor(code container.HostCode) string {
	for _, target := range code.Cubins {
		if t, ok := object.ParseGPU(target); ok && !r.virtual() && r.gpu.Runs(t) && t.Number/10 == r.gpu.Number/10 {
			return target
		}
	}
	return ""
}

// report reports the objects that are not linked: for each reason one message, with the
// other objects as notes.
func (r *reader) report(log *diag.Log) {
	var first [ltoOnly + 1]*diag.Message
	for _, c := range r.candidates {
		if c.system || c.verdict == suits {
			continue
		}
		at := diag.At(&diag.Source{Name: c.host.Name}, diag.Span{})
		if m := first[c.verdict]; m != nil {
			m.Note(at, "the same holds for this one")
			continue
		}
		var m *diag.Message
		switch c.verdict {
		case unsuited:
			have := append(slices.Clone(c.host.PTX), c.host.Cubins...)
			slices.Sort(have)
			have = slices.Compact(have)
			m = log.Warn(diag.MissingGPU, at, fmt.Sprintf("it has no code for %s, only for %s, and is skipped", r.Arch, strings.Join(have, ", "))).
				WithHelp("compile it for " + r.Arch + " as well, or link for the GPUs that it was compiled for")
		case cubinOnly:
			target := r.cubinFor(c.host)
			m = log.Error(diag.NotPTX, at, "holds no PTX for "+r.Arch+", only a cubin for "+target).
				WithHelp("ptxlink links PTX; keep it when you compile, with " + keeping(c.host))
		case ltoOnly:
			m = log.Error(diag.NotPTX, at, "holds no PTX for "+r.Arch+", only LTO-IR").
				WithHelp("compile and link without -dlto, and without code=lto_" + strings.TrimPrefix(r.Arch, "sm_"))
		}
		first[c.verdict] = m
	}
}

// keeping returns options of nvcc that keep PTX for each cubin, where the user's, such as
// -arch=all-major, kept it for the last GPU or for none.
func keeping(code container.HostCode) string {
	var options []string
	for _, target := range code.Cubins {
		virtual := "compute" + strings.TrimPrefix(target, "sm")
		options = append(options, fmt.Sprintf("-gencode arch=%s,code=[%s,%s]", virtual, target, virtual))
	}
	return strings.Join(options, " ")
}
