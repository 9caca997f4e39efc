package container

import "fmt"

// Unit is a unit of intermediate code: LTO-IR, which only NVIDIA's tools read and nvlink compiles, or LLVM
// bitcode.
type Unit struct {
	Name   string // as in messages: "app.o", "libx.a(k.o)"
	Target string // sm_80: it runs on this GPU and on later ones
	Data   []byte // a fatbin with nothing else in it, what NVRTC and nvcc -ltoir write, or bitcode

	Bitcode *Bitcode // what the bitcode says of itself, or nil
	Archive bool     // from an archive: only what other units use of it is needed
	Kept    []string // Inline symbols that other code uses
}

// ltoMagic begins LTO-IR that is in no fatbin: of nvcc -ltoir, NVRTC and nvJitLink.
const ltoMagic = "\xed\x43\x4e\x7f"

// IsLTOIR reports whether data is LTO-IR in no container.
func IsLTOIR(data []byte) bool { return prefixed(data, ltoMagic) }

// Form returns what the code is called.
func (u Unit) Form() string {
	what := ltoIR
	switch {
	case u.Bitcode != nil:
		what = bitcode
	case IsOptiXIR(u.Data):
		what = optixIR
	}
	one, _, _ := what.words()
	return one
}

// IsOptiXIR reports whether data is what nvcc -optix-ir writes: LTO-IR with another number in its
// header. nvlink compiles it as well if its file is called .ltoir.
func IsOptiXIR(data []byte) bool {
	b, ok := span(data, 14, 2)
	return IsLTOIR(data) && ok && le.Uint16(b) == 2
}

// bareLTOIR offers LTO-IR in no fatbin. At byte 26, its header has the architecture, 800 for sm_80.
func (op *opener) bareLTOIR(data []byte, p place) {
	b, ok := span(data, 26, 2)
	p.need(ok, 0, "LTO-IR is cut short in its header")
	target := fmt.Sprintf("sm_%d", le.Uint16(b)/10)
	switch {
	case op.list != nil:
		p.Target = target
	case IsOptiXIR(data):
		op.none(optixIR, target, p)
		return
	}
	op.offer(LTOIR, target, p, whole(data))
}

func aloneInFatbin(header, body []byte) []byte {
	out := []byte(fatbinMagic)
	out = le.AppendUint16(out, 1)
	out = le.AppendUint16(out, 16)
	out = le.AppendUint64(out, uint64(len(header)+len(body)))
	return append(append(out, header...), body...)
}
