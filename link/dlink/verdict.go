package dlink

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// verdict says how the device code of a host object is used.
type verdict int

const (
	suits     verdict = iota // it has PTX that runs on the GPU, or link.Link reports its contents
	unsuited                 // it is skipped, because it has no code for the GPU
	cubinOnly                // nvlink links a cubin
	ltoOnly                  // nvlink would compile LTO-IR
)

// judge sets the verdict of each candidate. nvcc 12 asks for sm_90 even if sm_90a is meant, so
// nvlink 12 takes the code for sm_90a instead. Both are one GPU.
func (r *reader) judge() {
	special := object.GPU{Number: 90, Suffix: 'a'}
	if r.gpu == (object.GPU{Number: 90}) && !r.virtual() && slices.ContainsFunc(r.candidates, func(c candidate) bool {
		return !c.system && r.verdict(c.Object, c.archived) == unsuited && slices.Contains(c.Targets(container.PTX), special.String())
	}) {
		r.gpu = special
	}
	for i := range r.candidates {
		r.candidates[i].verdict = r.verdict(r.candidates[i].Object, r.candidates[i].archived)
	}
}

// verdict returns how device code is used. archived is set for a member of an archive.
func (r *reader) verdict(code container.Object, archived bool) verdict {
	if len(code.Codes) == 0 {
		return suits
	}
	newest, cubin := highest(code.Targets(container.PTX), r.runs), r.cubinFor(code)
	if newest != "" && !r.prefers(code, cubin, newest, archived) {
		return suits
	}
	if cubin != "" {
		return cubinOnly
	}
	if (code.Has(container.LTOIR) || code.Has(container.LLVMBitcode)) && (!r.virtual() || r.PTX) {
		return ltoOnly
	}
	return unsuited
}

// prefers reports whether the cubin, if there is one, is linked instead of the PTX. cubin and ptx
// are their GPUs.
func (r *reader) prefers(code container.Object, cubin, ptx string, archived bool) bool {
	switch {
	case cubin == "" || numberOf(cubin) < numberOf(ptx):
		return false
	case r.Prefer == PreferCubins:
		return true
	case r.Prefer == PreferPTX || archived:
		return r.Prefer != PreferPTX
	case r.Prefer != PreferOwn || cubin != r.gpu.String() || cubin != ptx && numberOf(cubin) == numberOf(ptx):
		return false
	}
	list := r.cubins(code)
	return len(list) == 1 && list[0].Virtual() == numberOf(ptx)
}

// runs reports whether PTX or LTO-IR for a target can be linked for the GPU; any can if the link
// names none.
func (r *reader) runs(target string) bool {
	t, ok := object.ParseGPU(target)
	return ok && (r.gpu.Runs(t) || r.Arch == "")
}

// cubinFor returns the highest GPU of a cubin that runs on the GPU of the link, or "".
func (r *reader) cubinFor(code container.Object) string {
	return highest(code.Targets(container.MachineCode), r.fits)
}

// highest returns the first target with the highest number among the targets that suit, or "".
func highest(targets []string, suits func(string) bool) (target string) {
	for _, of := range targets {
		if suits(of) && (target == "" || numberOf(of) > numberOf(target)) {
			target = of
		}
	}
	return target
}

func (r *reader) fits(target string) bool {
	t, ok := object.ParseGPU(target)
	return ok && !r.PTX && !r.virtual() && r.gpu.RunsCubin(t)
}

// cubins returns the cubins of an object that nvlink links. There are several only if an
// OffloadBinary or a fatbin has several for the GPU.
func (r *reader) cubins(code container.Object) (list []container.Cubin) {
	target := r.cubinFor(code)
	for _, c := range code.Codes {
		if c.Form == container.MachineCode && c.Target == target {
			if cubin, ok := r.cubin(code, c); ok {
				list = append(list, cubin)
			}
		}
	}
	return list
}

// numberOf returns the number of a GPU: 90 for sm_90a.
func numberOf(target string) int {
	gpu, _ := object.ParseGPU(target)
	return gpu.Number
}

// units returns the LTO-IR or the bitcode of device code for the highest GPU that suits. Bitcode
// without a GPU suits any.
func (r *reader) units(code container.Object) (list []container.Unit) {
	best := -1
	for _, c := range code.Codes {
		number := numberOf(c.Target)
		bitcode := c.Form == container.LLVMBitcode
		if c.Form != container.LTOIR && !bitcode || number < best || !r.runs(c.Target) && !(bitcode && c.Target == "") {
			continue
		}
		if number > best {
			list, best = nil, number
		}
		data, err := c.Bytes()
		if err != nil {
			object.Refuse(c.Name, err, r.log)
			continue
		}
		unit := container.Unit{Name: code.Name, Target: c.Target, Data: data}
		if bitcode {
			b, _ := container.ReadBitcode(data)
			unit.Bitcode = &b
		}
		list = append(list, unit)
	}
	return list
}

// report reports the objects that are not linked, in one message per reason, with the other objects
// as notes.
func (r *reader) report() {
	var first [ltoOnly + 1]*diag.Message
	for _, c := range r.candidates {
		if c.system || c.verdict == suits || c.verdict == cubinOnly || c.verdict == ltoOnly && r.LTO {
			continue
		}
		at := diag.At(&diag.Source{Name: c.Name}, diag.Span{})
		if m := first[c.verdict]; m != nil {
			m.Note(at, "the same holds for this one")
			continue
		}
		var m *diag.Message
		switch c.verdict {
		case unsuited:
			have := append(c.Targets(container.PTX), c.Targets(container.MachineCode)...)
			slices.Sort(have)
			have = slices.Compact(have)
			m = r.log.Warn(diag.MissingGPU, at, fmt.Sprintf("it has no code for %s, only for %s, and is skipped", r.Arch, strings.Join(have, ", "))).
				WithHelp("compile it for " + r.Arch + " as well, or link for the GPUs that it was compiled for")
		case ltoOnly:
			form, help := "LTO-IR", "compile without -dlto and without code=lto_"+object.ArchNumber(r.Arch)
			if slices.ContainsFunc(c.Codes, func(code container.Code) bool { data, _ := code.Bytes(); return container.IsOptiXIR(data) }) {
				form, help = "OptiX-IR", "compile with -ptx in place of -optix-ir"
			}
			if targets := append(c.Targets(container.LTOIR), c.Targets(container.LLVMBitcode)...); slices.ContainsFunc(targets, r.runs) {
				help += ", or let NVIDIA's nvlink compile it: add -dlto, as nvcc -dlto does"
			} else {
				form, help = form+" for "+strings.Join(targets, ", "), "compile it for "+r.Arch
			}
			m = r.log.Error(diag.NotPTX, at, "holds no PTX for "+r.Arch+", only "+form).WithHelp(help)
		}
		first[c.verdict] = m
	}
}
