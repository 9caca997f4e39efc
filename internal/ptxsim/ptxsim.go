// Package ptxsim interprets PTX on the CPU, so that tests can compare what programs
// do before and after the linker or its optimiser changed them. Only tests use it.
//
// A Machine holds the memory of one or more modules, joined as a linker would join
// them. Launch runs an entry:
//
//	m, err := ptxsim.New(ptxsim.Options{}, module)
//	out := m.Alloc("out", make([]byte, 64), 4)
//	err = m.Launch("kernel", ptxsim.Grid{Threads: [3]int{32, 1, 1}}, out, int32(5))
//	result := out.Data
//
// # What is exact and what is chosen
//
// Integer operations, IEEE operations with all rounding modes, and conversions give
// the results that the PTX ISA states. Where it leaves a choice:
//
//   - Approximate operations (.approx, .full, ex2, lg2, sin, cos, tanh, rsqrt) give the
//     result rounded to nearest even.
//   - A NaN result is the canonical NaN: 0x7fffffff, 0x7ff8000000000000, 0x7fff.
//   - An integer divided by zero gives all ones, and so does the remainder.
//   - The lanes of a warp run in lockstep: of all threads that can run, those deepest in
//     calls go first, among these the ones with the smallest function and instruction,
//     and all threads at that instruction execute it together, in the order of lanes.
//     Every 10000 instructions the other threads of the warp get a turn, so that a
//     thread that spins does not starve the one it waits for.
//   - Blocks run one after the other, at most 64 taking turns.
//   - Registers, .local, .shared and uninitialised .param memory hold a pattern
//     (Options.Fill). Objects of .global and .const are zero, as the ISA says.
//   - Each object has exactly the alignment that its declaration asks for and not
//     more. The addresses of functions and of .global and .const objects depend on their
//     names alone, without the number that the linker adds to a name (x$1).
//
// # Errors
//
// A run stops at the first thing that correct PTX does not do: an access that is
// misaligned, or outside the object that it starts in, or to the wrong state space, or to the
// frame of a function that has returned; a store to .const; a call with arguments of
// other sizes than the callee has; a call of something that is not a function; a warp
// operation by a lane outside its mask; an aligned barrier reached by the threads of
// a warp at several places; a deadlock; too many steps; trap and failed assertions.
// Instructions that the interpreter does not know are errors when they are executed.
package ptxsim

import (
	"bytes"
	"fmt"
	"sort"

	"ptxlink/internal/parallel"
	"ptxlink/object/ptx"
)

// Options configures a Machine. The zero value has sensible defaults.
type Options struct {
	// Fill is the byte that uninitialised memory and registers are filled with; 0
	// means 0xa5.
	Fill byte
	// Steps limits the instructions of one launch, summed over threads; 0 means
	// 200 million.
	Steps int64
	// Sparse gives every address of global memory that is in no object zeroed memory when
	// it is first accessed, and rounds misaligned addresses of global memory down.
	Sparse bool
}

const (
	sharedSize = 1 << 24   // bytes of .shared memory of a block: that of all kernels of the modules
	stackSize  = 512 << 10 // bytes of .local and .param memory per thread, as on GPUs, and 128 times the depth of calls
)

// Machine is the state of a device with modules loaded. It is not safe for
// concurrent use.
type Machine struct {
	// Stores are the stores, atomic operations and reductions to global memory and
	// buffers, in the order of execution.
	Stores []Store
	// Prints are the calls of vprintf, in the order of execution.
	Prints []Print
	// Launches are the arguments of Launch.
	Launches []Launched
	// Objects are the .global objects, buffers and heap blocks, in the order of their creation.
	Objects []*Object

	opt      Options
	modules  []*module
	symbols  map[string]*symbol
	global   banked
	constant banked               // .const
	pages    map[uint64]*Object   // see Options.Sparse
	shared   window               // .shared, without dynamic memory
	dynamic  *Object              // dynamic shared memory: its alignment and start
	funcs    map[uint64]*function // by address
	inOrder  []*function          // by index

	launch int
	steps  int64
	params window // of the running entry
}

// Object is a piece of memory: a variable, a buffer or a block from malloc.
type Object struct {
	Name  string // of a static object of a function: function.name
	Space string // ".global", ".const", ".shared", ".param", ".local" or "heap"
	Data  []byte
	First []byte // the contents of a buffer before the first launch

	addr  uint64 // in its state space
	size  int64
	align int64
	freed bool
}

// Launched is one call of Launch.
type Launched struct {
	Entry string
	Grid  Grid
	Args  [][]byte
}

// Print is one call of vprintf.
type Print struct {
	Launch, Thread int
	Format         string
	// Args is the buffer of arguments, in C layout, with zeros for padding and for
	// the pointers of %s.
	Args    []byte
	Strings []string // the arguments of %s
}

// Grid is the shape of a launch. Zero extents mean 1.
type Grid struct {
	Blocks, Threads [3]int
	Shared          int64 // bytes of dynamic shared memory
}

// TooManySteps is the text of the error of a launch that exceeds Options.Steps.
const TooManySteps = "too many steps"

// Error is a fault in a run, with its place.
type Error struct {
	File     string
	Line     int // 1-based, 0 if unknown
	Function string
	Thread   int // in the grid, -1 if unknown
	Text     string
}

func (e *Error) Error() string {
	where := ""
	if e.File != "" {
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	}
	if e.Function != "" {
		where += e.Function + ": "
	}
	if e.Thread >= 0 {
		return fmt.Sprintf("%sthread %d: %s", where, e.Thread, e.Text)
	}
	return where + e.Text
}

// New loads modules into a new machine. Names with linkage are joined as a linker
// does: a strong definition wins, then the first weak one, then the largest common
// one, among equals one with a value; anything else is an error. Names that nothing
// defines are errors when code uses them.
func New(opt Options, modules ...*ptx.Module) (*Machine, error) {
	if opt.Fill == 0 {
		opt.Fill = 0xa5
	}
	if opt.Steps == 0 {
		opt.Steps = 200e6
	}
	m := &Machine{
		opt: opt, symbols: map[string]*symbol{}, funcs: map[uint64]*function{},
		global:   banked{32, globalWindow >> 32, 1 << 30, map[uint64]*Object{}},
		constant: banked{16, 0, 1 << 16, map[uint64]*Object{}}, // below 4 GiB
	}
	return parallel.CatchValue[*Error](func() *Machine { m.load(modules); return m })
}

// Alloc makes a buffer in global memory with these contents and alignment. The name
// identifies it in Stores.
func (m *Machine) Alloc(name string, data []byte, align int64) *Object {
	o := &Object{Name: name, Space: ".global", Data: data, First: bytes.Clone(data), size: int64(len(data)), align: align}
	m.place(o)
	return o
}

// Global returns the .global object with a name, or nil.
func (m *Machine) Global(name string) *Object {
	for _, o := range m.Objects {
		if o.Name == name && o.Space == ".global" {
			return o
		}
	}
	return nil
}

// Dynamic returns the address of dynamic shared memory in .shared.
func (m *Machine) Dynamic() uint64 { return m.dynamic.addr }

// Address returns the generic address of an object.
func (o *Object) Address() uint64 {
	switch o.Space {
	case ".const":
		return constWindow | o.addr
	case ".shared":
		return sharedWindow | o.addr
	}
	return o.addr
}

// FunctionAt returns the name of the function at an address.
func (m *Machine) FunctionAt(addr uint64) (string, bool) {
	if f := m.funcs[addr]; f != nil {
		return f.name, true
	}
	return "", false
}

// ObjectAt returns the .global or .const object at a generic address, or nil. The object may be a
// freed block of the heap.
func (m *Machine) ObjectAt(addr uint64) *Object {
	if spaceAt(addr) == constant {
		return m.constant.at(addr &^ constWindow)
	}
	return m.global.at(addr)
}

// Params returns the sizes in bytes of the parameters of an entry, or nil if the module
// does not define it.
func (m *Machine) Params(entry string) (sizes []int64) {
	f := m.entry(entry)
	if f == nil {
		return nil
	}
	for _, p := range f.decl.Signature.Params {
		sizes = append(sizes, p.Size())
	}
	return sizes
}

// Entries returns the names of the entries, sorted.
func (m *Machine) Entries() (names []string) {
	for _, f := range m.inOrder {
		if f.decl.Kind == ptx.Entry {
			names = append(names, f.name)
		}
	}
	sort.Strings(names)
	return names
}

// entry finds an entry by its name.
func (m *Machine) entry(name string) *function {
	for _, f := range m.inOrder {
		if f.name == name && f.decl.Kind == ptx.Entry {
			return f
		}
	}
	return nil
}
