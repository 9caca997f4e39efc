package container

import (
	"runtime/debug"

	"ptxlink/internal/parallel"
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

// kindOf is the kind of each form other than PTX, for messages.
var kindOf = [...]kind{MachineCode: cubin, LTOIR: ltoIR, LLVMBitcode: bitcode, TileIR: tileIR}

// Code is device code in a file. Only its headers have been read. Name equals Member.Name only for PTX,
// because other codes of a file may share one name.
type Code struct {
	Member // without its Text
	Form   Form
	*reading
}

// reading is how the contents of a Code are read, for all copies of it.
type reading struct {
	op      *opener
	at      place
	read    func() []byte
	counted int64 // bytes of Options.MaxSize
	kept    []byte
}

// Bytes returns the contents, and decompresses them at the first call. LTO-IR of a fatbin is
// a fatbin with nothing else in it. Errors are of type *Error. The codes of one file are not
// read by several goroutines at once.
func (c Code) Bytes() (data []byte, err error) {
	if c.kept == nil {
		c.kept, err = c.Read()
	}
	return c.kept, err
}

// Read is Bytes, and decompresses at every call.
func (c Code) Read() ([]byte, error) { return parallel.CatchValue[*Error](c.plain) }

func (r *reading) plain() []byte {
	r.op.left += r.counted
	left := r.op.left
	r.counted = 0
	data := r.read()
	r.counted = left - r.op.left
	r.op.touched(len(data))
	return data
}

// muchMemory is a number of bytes that are not kept for the next code.
const muchMemory = 4 << 20

// Release gives back the memory of what Read or Modules has returned, which nobody may use
// afterwards: a lot of memory goes back to the system, less is reused for the next code of the file.
func (c Code) Release() {
	lent := c.op.lent
	if c.op.lent = nil; cap(lent) > muchMemory {
		lent = nil
		debug.FreeOSMemory()
	}
	c.op.spare = lent
}

// Modules returns the modules in PTX, as Open does, which Read reads.
func (c Code) Modules() ([]Member, error) {
	return parallel.CatchValue[*Error](func() []Member {
		op := newOpener(c.op.Options, c.op.size)
		p := c.at
		p.Member = c.Member
		if data := c.plain(); p.packed {
			op.open(data, p)
		} else {
			op.texts(data, p)
		}
		for i := 1; i < len(op.members); i++ {
			op.members[i].Name = c.op.names.unique(c.Name)
		}
		return op.members
	})
}

// Object is the device code of one object: a fatbin, or the code outside fatbins in one file or
// member of an archive. ld -r puts several fatbins into one file.
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

// modules returns the PTX of the object.
func (o Object) modules() (list []*Member) {
	for i := range o.Codes {
		if c := &o.Codes[i]; c.Form == PTX {
			list = append(list, &c.Member)
		}
	}
	return list
}

// Has reports whether the object has code in a form.
func (o Object) Has(f Form) bool { return len(o.Targets(f)) > 0 }

// Objects lists the device code in a file, in file order, and decompresses none of a fatbin.
// name is used in messages. Errors are of type *Error.
func Objects(name string, data []byte, o Options) (list []Object, err error) {
	if err = EachObject(name, data, o, func(o Object) bool { list = append(list, o); return true }); err != nil {
		return nil, err
	}
	return list, nil
}

// EachObject is Objects, and calls use with one object after the other, until it returns false. Of a damaged
// file, these are the objects before the damage.
func EachObject(name string, data []byte, o Options, use func(Object) bool) error {
	l := &listing{use: use}
	_, err := parallel.CatchValue[*Error](func() any {
		l.read(name, data, o)
		l.flush()
		return nil
	})
	if err == error(errEnough) {
		return nil
	}
	return err
}

// errEnough ends EachObject if use returns false.
var errEnough = &Error{Text: "no more is wanted"}

// listing is the state of EachObject and HostObjects.
type listing struct {
	use     func(Object) bool // or nil, if all objects are wanted at once
	objects []Object
	group   int // of the last object
	ended   bool
	codes   int

	hosts              bool // HostObjects, which opens nothing but host objects
	hostFiles, nonHost int
	symbol             func(object, name string) // HostSymbols
}

func (l *listing) read(name string, data []byte, o Options) {
	op := newOpener(o, int64(len(data)))
	op.list = l
	op.open(data, place{Member: Member{Name: name}, path: name, object: name})
}

func (l *listing) object(p place) *Object {
	last := len(l.objects) - 1
	if last < 0 || l.ended || l.group != p.Group {
		l.flush()
		l.objects = append(l.objects, Object{Name: p.object})
		l.group, l.ended = p.Group, false
		last = len(l.objects) - 1
	}
	return &l.objects[last]
}

// flush passes the object that is complete to use.
func (l *listing) flush() {
	if l.use == nil || len(l.objects) == 0 {
		return
	}
	o := l.objects[0]
	l.objects = nil
	for _, m := range o.modules() {
		m.Name = o.Codes[0].op.names.unique(m.Name)
	}
	if !l.use(o) {
		panic(errEnough)
	}
}

// offer lists device code, or adds its modules if only PTX is wanted. read returns the
// contents.
func (op *opener) offer(form Form, target string, p place, read func() []byte) {
	switch {
	case op.list != nil:
		op.needFew(op.list.codes, p)
		op.list.codes++
		op.touched(0)
		o := op.list.object(p)
		c := Code{p.Member, form, &reading{op: op, at: p, read: read}}
		c.Target = target
		o.Codes = append(o.Codes, c)
	case form == PTX:
		op.texts(read(), p)
	default:
		op.none(kindOf[form], target, p)
	}
}

// needFew ends the reading if there are n modules already. The average size must have a lower
// bound, because the record of a module takes more memory than the smallest module.
func (op *opener) needFew(n int, p place) {
	const some, least = 10_000, 256
	size := op.size + op.MaxSize - op.left
	if most := some + size/least; int64(n) >= most {
		panic(p.fault(-1, "holds more than %d modules in %d bytes; they cannot be that small", most, size))
	}
}

func whole(data []byte) func() []byte { return func() []byte { return data } }
