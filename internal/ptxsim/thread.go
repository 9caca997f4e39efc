package ptxsim

import (
	"fmt"
	"slices"
)

// kind says how an instruction is executed.
type kind uint8

const (
	kAlu   kind = iota // dst = alu(sources)
	kRun               // run, for one thread after the other
	kJump              // run, which moves the thread on, or lets it wait: after it, the group may be at several places
	kLeave             // a jump that may end the thread
)

// instr is one translated instruction.
type instr struct {
	kind      kind
	unless    bool  // the guard is negated
	guard     int32 // a predicate, or -1
	dst, dst2 int32 // registers, or -1
	src       [4]operand
	mask      uint64 // of the destination
	alu       func(a, b, c uint64) uint64
	run       func(t *thread, in *instr)
	targets   []int32
	mem       *memory
	call      *call
	warp      *warpOp
	bar       *barrierOp
	off       int32 // in the text
}

// state is what a thread waits for.
type state uint8

const (
	ready state = iota
	atBarrier
	atWarpOp
	done
)

// thread is one thread of a block.
type thread struct {
	m     *Machine
	block *block
	warp  *warp
	lane  int
	index int // in the block
	id    [3]uint32

	state  state
	frames []*frame
	frame  *frame // the innermost
	regs   []uint64
	local  []byte
	carry  uint64 // CC.CF
	heap   int    // number of blocks from malloc
	clock  uint64

	// At a warp operation.
	lanes  uint32 // its mask
	values [3]uint64
}

// frame is one activation of a function.
type frame struct {
	fn      *function
	pc      int32
	base    uint64 // of its slots in .local
	regs    []uint64
	dynamic []dynamicObject
	site    *instr // the call in the caller
}

// dynamicObject is memory from alloca, or the last argument of a variadic function.
type dynamicObject struct{ off, size uint64 }

// instruction returns the instruction that the thread is at.
func (t *thread) instruction() *instr { return &t.frame.fn.code[t.frame.pc] }

// fail ends the launch with a fault at the current instruction.
func (t *thread) fail(format string, args ...any) { t.failAt(t.warp.in, format, args...) }

// failAt ends the launch with a fault at an instruction of the innermost function.
func (t *thread) failAt(in *instr, format string, args ...any) {
	f := t.frame.fn
	panic(&Error{File: f.mod.Src.Name, Line: f.mod.Src.Line(in.off), Function: f.name, Thread: t.number(), Text: fmt.Sprintf(format, args...)})
}

// number returns the index of the thread in the grid.
func (t *thread) number() int { return t.block.index*t.block.size + t.index }

// enter starts an activation of a function.
func (t *thread) enter(f *function, site *instr, extra uint64) *frame {
	top := uint64(firstAddress)
	if t.frame != nil {
		top = t.frame.end()
	}
	a := 2*uint64(f.align) - 1
	base := (top + a) &^ a
	end := base + f.size + extra
	if end > stackSize || len(t.frames) > stackSize/128 {
		failLaunchIf(t.frame == nil, f.name, "stack overflow: %d bytes", end)
		t.fail("stack overflow: %d calls, %d bytes", len(t.frames), end)
	}
	t.fill(base, end)
	return &frame{fn: f, regs: slices.Clone(f.fill), base: base, site: site}
}

// fill gives .local memory that is not initialised its pattern.
func (t *thread) fill(from, to uint64) {
	for uint64(len(t.local)) < to {
		t.local = append(t.local, t.m.opt.Fill)
	}
	for i := range t.local[from:to] {
		t.local[from:to][i] = t.m.opt.Fill
	}
}

// end returns the first address behind a frame.
func (f *frame) end() uint64 {
	end := f.base + f.fn.size
	for _, d := range f.dynamic {
		end = max(end, d.off+d.size)
	}
	return end
}

// push makes a frame the innermost.
func (t *thread) push(f *frame) {
	t.frames = append(t.frames, f)
	t.frame, t.regs = f, f.regs
}

// pop ends the innermost activation.
func (t *thread) pop() {
	t.frames = t.frames[:len(t.frames)-1]
	t.frame, t.regs = nil, nil
	if n := len(t.frames); n > 0 {
		t.frame = t.frames[n-1]
		t.regs = t.frame.regs
	}
}

// exit ends the thread.
func (t *thread) exit() {
	for len(t.frames) > 0 {
		t.pop()
	}
	t.state = done
	t.warp.left--
	t.block.left--
}

// passes reports whether the guard of an instruction holds.
func (t *thread) passes(in *instr) bool {
	return in.guard < 0 || t.regs[in.guard] != 0 != in.unless
}
