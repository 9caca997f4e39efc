package ptxsim

import "math"

// warp is up to 32 threads that run in lockstep.
type warp struct {
	block   *block
	threads []*thread // by lane
	left    int       // threads that have not exited
	group   []*thread // those that execute the current instruction
	in      *instr    // the current instruction
	turn    bool      // the group of the last turn must let others go first
}

// turnLength is the number of instructions that a warp executes before others, and
// its threads that were left behind, get a turn.
const turnLength = 10000

// before reports whether thread t goes before u: deeper in calls, then earlier in
// the code.
func (t *thread) before(u *thread) bool {
	f, g := t.frame, u.frame
	switch {
	case len(t.frames) != len(u.frames):
		return len(t.frames) > len(u.frames)
	case f.fn != g.fn:
		return f.fn.index < g.fn.index
	}
	return f.pc < g.pc
}

// pick fills the group with the threads that go next. stop is the nearest
// instruction of the same function where others wait.
func (w *warp) pick() (stop int32, ok bool) {
	last := uint32(0)
	if w.turn {
		for _, t := range w.group {
			last |= 1 << t.lane
		}
		w.turn = false
	}
	var lead *thread
	for round := 0; round < 2 && lead == nil; round++ {
		for _, t := range w.threads {
			if t.state == ready && last>>t.lane&1 == 0 && (lead == nil || t.before(lead)) {
				lead = t
			}
		}
		last = 0
	}
	w.group = w.group[:0]
	if lead == nil {
		return 0, false
	}
	stop = math.MaxInt32
	for _, t := range w.threads {
		if t.state != ready || len(t.frames) != len(lead.frames) || t.frame.fn != lead.frame.fn {
			continue
		}
		if t.frame.pc == lead.frame.pc {
			w.group = append(w.group, t)
		} else if t.frame.pc > lead.frame.pc {
			stop = min(stop, t.frame.pc)
		}
	}
	return stop, true
}

// run executes instructions until all threads wait or have exited, or the turn is
// over.
func (w *warp) run() {
	for budget := turnLength; budget > 0; {
		stop, ok := w.pick()
		if !ok {
			return
		}
		frame := w.group[0].frame
		code := frame.fn.code
		pc := frame.pc
		for {
			in := &code[pc]
			w.in = in
			budget--
			w.block.m.steps += int64(len(w.group))
			if in.kind > kRun {
				for _, t := range w.group {
					t.frame.pc = pc
				}
				w.control(in)
				break
			}
			for _, t := range w.group {
				if in.guard >= 0 && !t.passes(in) {
					continue
				}
				if in.kind == kAlu {
					t.set(in.dst, in.alu(t.get(&in.src[0]), t.get(&in.src[1]), t.get(&in.src[2]))&in.mask)
				} else {
					in.run(t, in)
				}
			}
			if pc++; pc == stop || budget <= 0 {
				for _, t := range w.group {
					t.frame.pc = pc
				}
				break
			}
		}
		if w.block.m.steps > w.block.m.opt.Steps {
			t := w.group[0]
			for _, u := range w.threads {
				if u.frame != nil {
					t = u
				}
			}
			if t.frame == nil {
				return
			}
			t.failAt(t.instruction(), TooManySteps)
		}
	}
	w.turn = true
}

// control executes an instruction after which the threads of the group may be at
// different places.
func (w *warp) control(in *instr) {
	for _, t := range w.group {
		if !t.passes(in) {
			t.frame.pc++
			continue
		}
		in.run(t, in)
	}
	switch {
	case in.warp != nil:
		w.complete(in)
	case in.bar != nil:
		w.block.barriers()
	case in.kind == kLeave:
		// A thread that exits may be what others wait for.
		for _, t := range w.group {
			if t.state != done {
				continue
			}
			for _, u := range w.threads {
				if u.state == atWarpOp {
					w.complete(u.instruction())
				}
			}
			w.block.barriers()
			return
		}
	}
}
