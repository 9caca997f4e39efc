package container

import "fmt"

// LTOIR is LTO-IR in a file: NVIDIA's intermediate code, which nvlink -lto compiles. Only
// NVIDIA's tools read it.
type LTOIR struct {
	Name   string // as in messages: "app.o", "libx.a(k.o)"
	Target string // sm_80: it runs on this GPU and on later ones
	// Data is what nvlink reads: a fatbin with nothing else in it, or what NVRTC and nvcc
	// -ltoir write.
	Data    []byte
	Archive bool // from an archive: linked only if needed
	Group   int  // as in Member
}

// ltoMagic begins LTO-IR that is in no fatbin.
const ltoMagic = "\xed\x43\x4e\x7f"

// LTOIRs returns the LTO-IR in a file, in file order. name is used in messages. Errors are
// of type *Error.
func LTOIRs(name string, data []byte, o Options) (list []LTOIR, err error) {
	op := newOpener(o, int64(len(data)))
	op.ltoIR = &list
	if err := op.open(data, place{name: name, path: name}); err != nil {
		return nil, err
	}
	return list, nil
}

func (op *opener) addLTOIR(l LTOIR, p place) {
	if op.form(IntermediateCode, l.Target, p); op.ltoIR != nil {
		*op.ltoIR = append(*op.ltoIR, l)
	}
}

// FormKind is what a Form is.
type FormKind uint8

const (
	PTX              FormKind = iota
	MachineCode               // a cubin
	IntermediateCode          // LTO-IR
)

// Form is a form of device code that a file offers.
type Form struct {
	Name   string // as in messages
	Kind   FormKind
	Target string // sm_80; empty for PTX in no fatbin
	Group  int    // as in Member
}

// Forms lists the device code in a file, in file order. It looks into no entry of a fatbin.
// name is used in messages. Errors are of type *Error.
func Forms(name string, data []byte, o Options) (list []Form, err error) {
	op := newOpener(o, int64(len(data)))
	op.forms = &list
	if err := op.open(data, place{name: name, path: name}); err != nil {
		return nil, err
	}
	return list, nil
}

// IsFatbin reports whether Data is a fatbin: nvlink goes by the names of files.
func (l LTOIR) IsFatbin() bool { return prefixed(l.Data, fatbinMagic) }

// IsLTOIR reports whether data is LTO-IR in no container.
func IsLTOIR(data []byte) bool { return prefixed(data, ltoMagic) }

// bareLTOIR is LTO-IR in no fatbin. Its header has the architecture, 800 for sm_80, behind
// 26 bytes.
func bareLTOIR(name string, data []byte) LTOIR {
	l := LTOIR{Name: name, Data: data}
	if b, ok := span(data, 26, 2); ok {
		l.Target = fmt.Sprintf("sm_%d", le.Uint16(b)/10)
	}
	return l
}

// aloneInFatbin returns a fatbin with one entry.
func aloneInFatbin(header, body []byte) []byte {
	out := []byte(fatbinMagic)
	out = le.AppendUint16(out, 1)
	out = le.AppendUint16(out, 16)
	out = le.AppendUint64(out, uint64(len(header)+len(body)))
	return append(append(out, header...), body...)
}
