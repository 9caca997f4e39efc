package container

import (
	"sync"

	"ptxlink/internal/catch"
)

// Form is a form of device code.
type Form uint8

const (
	PTX         Form = iota
	MachineCode      // a cubin
	LTOIR            // LTO-IR: NVIDIA's intermediate code, which nvlink -lto compiles
	LLVMBitcode
	TileIR // CUDA Tile IR: bytecode that tileiras compiles
)

// IsTileIR reports whether data is the bytecode of CUDA Tile IR.
func IsTileIR(data []byte) bool { return prefixed(data, "\x7fTileIR\x00") }

// kindOf is what each form other than PTX is called.
var kindOf = [...]kind{MachineCode: cubin, LTOIR: ltoIR, LLVMBitcode: bitcode, TileIR: tileIR}

// Code is device code in a file, of which only the headers have been read.
type Code struct {
	Name    string // as in messages: "app.o:__nv_relfatbin", "libx.a(k.cubin)"
	Form    Form
	Target  string // sm_80; empty for PTX in no container
	Options string // those that a fatbin records: for ptxas, or of LTO-IR for libnvvm

	read func() []byte
}

// Bytes returns the contents, and decompresses them at the first call. LTO-IR of a fatbin is
// a fatbin with nothing else in it. Errors are of type *Error. The codes of one file are not
// read by several goroutines at once.
func (c Code) Bytes() ([]byte, error) { return catch.Value[*Error](c.read) }

// Object is the device code of one object: a fatbin, or what is in one file or member of an
// archive and in no fatbin. ld -r puts several fatbins into one file.
type Object struct {
	Name  string // of the file or the member, as in messages: "app.o", "libx.a(k.o)"
	Codes []Code

	// Only HostObjects sets the rest.

	Fatbin []byte   // It shares memory with the data given to HostObjects
	IDs    []string // the names under which the object registers its device code
	// Linked are the IDs of objects whose device code was linked earlier: this is the
	// output of nvcc -dlink.
	Linked []string
	// Launched are patterns, with *, of the kernels that the host code of the object refers to;
	// nil if the object does not say.
	Launched []string
	// WholeProgram is set if nvcc compiled the device code without -rdc=true.
	WholeProgram bool
	// Lost is set if the object has the ID of device code, and no section that is known holds the code.
	Lost bool
}

// Targets returns the GPUs that the object has code for in a form.
func (o Object) Targets(f Form) (list []string) {
	for _, c := range o.Codes {
		if c.Form == f {
			list = append(list, c.Target)
		}
	}
	return list
}

// Words returns what an object without PTX holds, such as "a cubin for sm_80", and what to do where PTX is wanted.
func (o Object) Words() (what, help string) {
	var held holdings
	for _, c := range o.Codes {
		held.add(kindOf[c.Form], c.Target)
	}
	return held.words()
}

// Has reports whether the object has code in a form.
func (o Object) Has(f Form) bool { return len(o.Targets(f)) > 0 }

// Objects lists the device code in a file, in file order, and decompresses none of a fatbin.
// name is used in messages. Errors are of type *Error.
func Objects(name string, data []byte, o Options) ([]Object, error) {
	l := &listing{}
	return catch.Value[*Error](func() []Object { l.read(name, data, o); return l.objects })
}

// listing is the state of Objects and HostObjects.
type listing struct {
	objects []Object
	group   int // of the last object
	ended   bool
	codes   int

	hosts              bool // HostObjects, which opens nothing but host objects
	hostFiles, nonHost int
	symbol             func(object, name string) // HostSymbols
}

// read lists what is in a file.
func (l *listing) read(name string, data []byte, o Options) {
	op := newOpener(o, int64(len(data)))
	op.list = l
	op.open(data, place{Member: Member{Name: name}, path: name, object: name})
}

// object returns the object that p is in.
func (l *listing) object(p place) *Object {
	last := len(l.objects) - 1
	if last < 0 || l.ended || l.group != p.Group {
		l.objects = append(l.objects, Object{Name: p.object})
		l.group, l.ended = p.Group, false
		last++
	}
	return &l.objects[last]
}

// offer lists device code, or adds its modules if only PTX is wanted. read returns the
// contents.
func (op *opener) offer(form Form, target string, p place, read func() []byte) {
	switch {
	case op.list != nil:
		op.needFew(op.list.codes, p)
		op.list.codes++
		o := op.list.object(p)
		o.Codes = append(o.Codes, Code{p.Name, form, target, p.Options, sync.OnceValue(read)})
	case form == PTX:
		op.texts(read(), p)
	default:
		op.none(kindOf[form], target, p)
	}
}

// needFew ends the reading if there are n modules already. The record of a module takes more memory
// than the smallest module, so the average size has a lower bound.
func (op *opener) needFew(n int, p place) {
	const some, least = 10_000, 256
	size := op.size + op.MaxSize - op.left
	if most := some + size/least; int64(n) >= most {
		panic(p.fault(-1, "holds more than %d modules in %d bytes; they cannot be that small", most, size))
	}
}

// whole returns data for offer.
func whole(data []byte) func() []byte { return func() []byte { return data } }
