package container

import (
	"bytes"
	"slices"
	"strings"

	"ptxlink/internal/parallel"
)

// HostObjects returns the objects in a host object or an archive of them: those with relocatable
// device code (nvcc -dc), which the device link of nvcc links, the outputs of earlier device links,
// and objects with nothing but a name. It skips programs and shared libraries. other is set if the
// file is something else, or holds only other things. name is used in messages. Errors are of type
// *Error.
func HostObjects(name string, data []byte, o Options) (list []Object, other bool, err error) {
	l := &listing{hosts: true}
	list, err = parallel.CatchValue[*Error](func() []Object { l.read(name, data, o); return l.objects })
	return list, err == nil && l.nonHost > 0 && l.hostFiles == 0, err
}

// HostSymbols calls use for each symbol that a host object, or one in an archive of them, defines for the
// host linker, with the name of the object as in messages. It skips what cannot be read.
func HostSymbols(name string, data []byte, o Options, use func(object, symbol string)) {
	l := &listing{hosts: true, symbol: use}
	parallel.Catch[*Error](func() { l.read(name, data, o) })
}

// hostFile adds the device code of a host object. It skips programs and shared libraries, because
// they went through a device link of their own. list returns the sections whose names are wanted.
func (op *opener) hostFile(data []byte, p place, object bool, list func(wanted func(name string) bool) []deviceSection) {
	op.list.hostFiles++
	if !object {
		return
	}
	if op.list.symbol != nil {
		if prefixed(data, "\x7fELF") {
			for _, symbol := range elfSymbols(data) {
				op.list.symbol(p.object, symbol)
			}
		}
		return
	}
	var fatbins []byte
	var o Object
	var launched []string             // Object.Launched
	external, unclear := false, false // whether the section of kernels with external linkage is there
	wanted := func(name string) bool {
		o.WholeProgram = o.WholeProgram || name == wholeProgramCode
		return slices.Contains(relocatableSections, name)
	}
	op.eachSection(data, p, list(wanted), func(name string, body []byte, _ place) {
		switch name {
		case "__nv_relfatbin":
			if body = bytes.TrimLeft(body, "\x00"); len(fatbins) > 0 {
				body = append(fatbins[:len(fatbins):len(fatbins)], body...)
			}
			fatbins = body
			return
		case externalKernels, internalKernels:
			external = external || name == externalKernels
			for kernel := range strings.SplitSeq(string(body), "\x00") {
				if isIdentifier(strings.ReplaceAll(kernel, "*", "")) {
					launched = append(launched, kernel)
				} else if kernel != "" {
					unclear = true
				}
			}
			return
		}
		for id := range strings.SplitSeq(string(body), "\x00") {
			if linked, ok := strings.CutPrefix(id, "def "); ok && isIdentifier(linked) {
				o.Linked = append(o.Linked, linked)
			} else if isIdentifier(id) {
				o.IDs = append(o.IDs, id)
			}
		}
	})
	if len(fatbins) == 0 {
		o.Lost = len(o.IDs) > 0 && len(o.Linked) == 0 && !o.WholeProgram
		// An optimising host compiler removes the ID of whole-program code, but not the IDs of an
		// earlier device link.
		o.Name, o.WholeProgram = p.object, o.WholeProgram && len(o.Linked) == 0
		op.list.objects, op.list.ended = append(op.list.objects, o), true
		return
	}
	// ld -r makes one object of several, each with its fatbin. The first has the IDs of all.
	if external && !unclear {
		o.Launched = append([]string{}, launched...)
	}
	op.eachFatbin(fatbins, p, func(fatbin []byte) {
		p.Group = op.groups
		of := op.list.object(p)
		of.Fatbin, of.IDs, of.Linked, of.Launched = fatbin, o.IDs, o.Linked, o.Launched
		o = Object{}
	})
}

// Sections of host objects in which nvcc 11.8 and later record the kernels that the host code
// refers to: with external and with internal linkage.
const externalKernels, internalKernels = ".nvHRKE", ".nvHRKI"

// wholeProgramCode is the section of device code that was compiled without -rdc=true, or linked. It is not read.
const wholeProgramCode = ".nv_fatbin"

var relocatableSections = []string{"__nv_relfatbin", "__nv_module_id", externalKernels, internalKernels}

// isIdentifier reports whether an ID can be part of a C identifier, since it becomes part of C
// code.
func isIdentifier(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") == ""
}
