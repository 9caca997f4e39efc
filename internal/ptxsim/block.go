package ptxsim

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"ptxlink/internal/parallel"
)

// block is one block of threads (CTA).
type block struct {
	m       *Machine
	grid    Grid
	index   int
	id      [3]uint32
	size    int
	threads []*thread
	warps   []*warp
	left    int // threads that have not exited
	shared  []byte
	dynamic *Object
	bars    [16]barrier
}

// barrier is the state of one barrier of a block.
type barrier struct {
	count   int // arrivals that complete it; 0 for all threads
	arrived int // without those that wait
	waiting []*thread
	sum     uint64 // of bar.red: the threads whose predicate holds
}

// barrierOp is bar, barrier or bar.red.
type barrierOp struct {
	wait    bool   // false for arrive
	aligned bool   // all threads of a warp are at the same instruction
	red     string // .popc, .and, .or
	counted bool   // has an operand with the number of threads
}

// resident is the number of blocks that take turns.
const resident = 64

// Launch runs an entry until all threads have exited. The arguments are integers and
// floats of the size of their parameter, objects (their address), or []byte. Memory
// keeps its contents from launch to launch. After an error the machine is of no use.
func (m *Machine) Launch(entry string, grid Grid, args ...any) error {
	if fault := parallel.Catch[*Error](func() { m.run(entry, grid, args) }); fault != nil {
		return fault
	}
	return nil
}

func (m *Machine) run(entry string, grid Grid, args []any) {
	f := m.entry(entry)
	failLaunchIf(f == nil, "", "no entry %s", entry)
	m.arguments(f, args)
	total := 1
	size := 1
	for i := range 3 {
		grid.Blocks[i], grid.Threads[i] = max(1, grid.Blocks[i]), max(1, grid.Threads[i])
		total *= grid.Blocks[i]
		size *= grid.Threads[i]
	}
	failLaunchIf(size > 1024, "", "a block of %d threads", size)
	call := Launched{Entry: entry, Grid: grid}
	for _, a := range args {
		call.Args = append(call.Args, bytesOf(a))
	}
	m.Launches = append(m.Launches, call)
	m.launch++
	m.steps = 0
	var blocks []*block
	for next := 0; next < total || len(blocks) > 0; {
		for ; next < total && len(blocks) < resident; next++ {
			blocks = append(blocks, m.newBlock(f, grid, next, size))
		}
		// A block runs for as long as it can, then the next one.
		kept := blocks[:0]
		for _, b := range blocks {
			b.run()
			if b.left > 0 {
				kept = append(kept, b)
			}
		}
		blocks = kept
	}
}

// failLaunchIf ends a launch before code is executed.
func failLaunchIf(wrong bool, function, format string, args ...any) {
	if wrong {
		panic(&Error{Function: function, Thread: -1, Text: fmt.Sprintf(format, args...)})
	}
}

// arguments fills the parameters of an entry.
func (m *Machine) arguments(f *function, args []any) {
	m.params = f.entry
	failLaunchIf(len(args) != len(m.params.objects), f.name, "%d arguments for %d parameters", len(args), len(m.params.objects))
	for i, o := range m.params.objects {
		o.Data = bytesOf(args[i])
		failLaunchIf(int64(len(o.Data)) != o.size, f.name, "argument %d has %d bytes, its parameter %d", i, len(o.Data), o.size)
	}
}

func (m *Machine) newBlock(f *function, grid Grid, index, size int) *block {
	b := &block{m: m, grid: grid, index: index, size: size, left: size}
	b.id = coordinates(index, grid.Blocks)
	d := *m.dynamic
	d.size = grid.Shared
	b.dynamic = &d
	end := d.addr + uint64(d.size)
	failLaunchIf(end > sharedSize, f.name, "%d bytes of shared memory", end)
	b.shared = bytes.Repeat([]byte{m.opt.Fill}, int(end))
	for i := range size {
		if i%32 == 0 {
			b.warps = append(b.warps, &warp{block: b})
		}
		w := b.warps[i/32]
		t := &thread{m: m, block: b, warp: w, lane: i % 32, index: i, id: coordinates(i, grid.Threads)}
		w.threads = append(w.threads, t)
		w.left++
		b.threads = append(b.threads, t)
		t.push(t.enter(f, nil, 0))
	}
	return b
}

func coordinates(i int, extent [3]int) [3]uint32 {
	return [3]uint32{uint32(i % extent[0]), uint32(i / extent[0] % extent[1]), uint32(i / extent[0] / extent[1])}
}

// findShared returns the object that holds an address in .shared, or nil.
func (b *block) findShared(addr uint64) *Object {
	if d := b.dynamic; addr >= d.addr {
		if addr-d.addr < uint64(d.size) {
			return d
		}
		return nil
	}
	return b.m.shared.find(addr)
}

// run gives every warp turns until all threads have exited, or 100 turns each have
// passed.
func (b *block) run() {
	for turn := 0; b.left > 0 && turn < 100; turn++ {
		before := b.m.steps
		for _, w := range b.warps {
			if w.left > 0 {
				w.run()
			}
		}
		if b.m.steps == before {
			b.deadlock()
		}
	}
}

// deadlock ends the launch of a block in which no thread can run.
func (b *block) deadlock() {
	places := map[string]int{}
	var first *thread
	for _, t := range b.threads {
		if t.state == done {
			continue
		}
		if first == nil {
			first = t
		}
		f := t.frame
		places[fmt.Sprintf("%s line %d", f.fn.name, f.fn.mod.Src.Line(f.fn.code[f.pc].off))]++
	}
	var list []string
	for p, n := range places {
		list = append(list, fmt.Sprintf("%d threads wait in %s", n, p))
	}
	sort.Strings(list)
	first.failAt(first.instruction(), "deadlock: %s", strings.Join(list, ", "))
}

// arrive brings a thread to a barrier (PTX ISA, bar and barrier).
func (t *thread) arrive(in *instr) {
	n := t.get(&in.src[0])
	if n >= 16 {
		t.fail("there is no barrier %d", n)
	}
	b := &t.block.bars[n]
	count := 0
	if in.bar.counted {
		count = int(t.get(&in.src[1]))
		if count <= 0 || count%32 != 0 || count > (t.block.size+31)/32*32 {
			t.fail("barrier %d for %d threads of a block of %d", n, count, t.block.size)
		}
	}
	if len(b.waiting) == 0 && b.arrived == 0 {
		*b = barrier{count: count}
	} else if b.count != count {
		t.fail("barrier %d for %d threads, which others reached for %d", n, count, b.count)
	}
	if in.bar.red != "" {
		b.sum += t.get(&in.src[2])
	}
	if !in.bar.wait {
		b.arrived++
		t.frame.pc++
		return
	}
	t.state = atBarrier
	b.waiting = append(b.waiting, t)
}

// barriers releases the threads of barriers that are complete.
func (b *block) barriers() {
	for i := range b.bars {
		bar := &b.bars[i]
		if len(bar.waiting) == 0 {
			continue
		}
		need := bar.count
		if need == 0 {
			need = b.left
		} else if last := b.warps[len(b.warps)-1]; need > b.size {
			need -= 32 - len(last.threads)
		}
		if len(bar.waiting)+bar.arrived < need {
			continue
		}
		at := map[*warp]*thread{}
		for _, t := range bar.waiting {
			in := t.instruction()
			if u := at[t.warp]; u != nil && in.bar.aligned && (u.frame.fn != t.frame.fn || u.frame.pc != t.frame.pc) {
				t.failAt(in, "an aligned barrier, which thread %d of the warp reached at another place", u.number())
			}
			at[t.warp] = t
		}
		for _, t := range bar.waiting {
			in := t.instruction()
			switch in.bar.red {
			case ".popc":
				t.set(in.dst, bar.sum)
			case ".and":
				t.set(in.dst, truth(bar.sum == uint64(len(bar.waiting))))
			case ".or":
				t.set(in.dst, truth(bar.sum > 0))
			}
			t.state = ready
			t.frame.pc++
		}
		*bar = barrier{}
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
