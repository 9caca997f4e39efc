package container

import (
	"bytes"
	"debug/elf"
	"strings"
)

// HostCode is a host object with relocatable device code (nvcc -dc), which the device
// link of nvcc links.
type HostCode struct {
	Name   string   // as in messages: "app.o", "libx.a(k.o)"
	Fatbin []byte   // It shares memory with the data given to HostCodes
	IDs    []string // the names under which the object registers its device code
	// PTX and Cubins are the GPUs that the fatbin has PTX and cubins for, such as
	// "sm_90a"; LTO is set if it has LTO-IR.
	PTX, Cubins []string
	LTO         bool
	// Linked are the IDs of objects whose device code was linked earlier: this is the
	// output of nvcc -dlink.
	Linked []string
}

// HostCodes returns the host objects with relocatable device code in a file, which is
// an object or an archive, and the outputs of earlier device links. It skips objects
// without either. other is set if the file is something else, or holds only other
// things. name is used in messages. Errors are of type *Error.
func HostCodes(name string, data []byte, o Options) (list []HostCode, other bool, err error) {
	op := newOpener(o, int64(len(data)))
	op.codes = &hostCodes{}
	if err := op.open(data, place{name: name, path: name}); err != nil {
		return nil, false, err
	}
	return op.codes.list, op.codes.others > 0 && op.codes.objects == 0, nil
}

type hostCodes struct {
	objects, others int
	ptx             []string // GPUs of the fatbin that is looked at
	list            []HostCode
}

// hostCode adds the device code of a host object to op.codes. Programs and shared
// libraries went through a device link of their own.
func (op *opener) hostCode(file *elfFile, p place) *Error {
	op.codes.objects++
	if kind := elf.Type(file.order.Uint16(file.data[16:])); kind != elf.ET_REL {
		return nil
	}
	code := HostCode{Name: p.name}
	wanted := func(s elfSection) bool {
		return s.kind != elf.SHT_NOBITS && (s.name == "__nv_relfatbin" || s.name == "__nv_module_id")
	}
	err := op.eachSection(file.data, p, file.list(wanted), func(name string, body []byte, _ place) *Error {
		if name == "__nv_relfatbin" {
			if body = bytes.TrimLeft(body, "\x00"); len(code.Fatbin) > 0 {
				body = append(code.Fatbin[:len(code.Fatbin):len(code.Fatbin)], body...)
			}
			code.Fatbin = body
			return nil
		}
		for id := range strings.SplitSeq(string(body), "\x00") {
			if linked, ok := strings.CutPrefix(id, "def "); ok && isIdentifier(linked) {
				code.Linked = append(code.Linked, linked)
			} else if isIdentifier(id) {
				code.IDs = append(code.IDs, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(code.Fatbin) == 0 {
		if len(code.Linked) > 0 {
			op.codes.list = append(op.codes.list, code)
		}
		return nil
	}
	// ld -r makes one object of several, each with its fatbin. The first has the IDs of all.
	op.held, op.codes.ptx = holdings{}, nil
	return op.eachFatbin(code.Fatbin, p, func(fatbin []byte) {
		code.Fatbin, code.PTX, code.Cubins, code.LTO = fatbin, op.codes.ptx, op.held.targets[cubin], op.held.count[ltoIR] > 0
		op.codes.list = append(op.codes.list, code)
		code.IDs, code.Linked = nil, nil
		op.held, op.codes.ptx = holdings{}, nil
	})
}

// isIdentifier reports whether an ID can be part of a C identifier: it becomes C.
func isIdentifier(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") == ""
}
