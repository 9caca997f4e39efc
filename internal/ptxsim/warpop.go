package ptxsim

import "math/bits"

// warpOp is an operation of several lanes of a warp.
type warpOp struct {
	key  string // opcode with modifiers: lanes that wait for each other have the same
	sync bool   // the lanes of a mask wait for each other; else those of the group
	mask operand
	// do sets the results of the lanes, given by their threads; nil for others.
	do func(w *warp, lanes *[32]*thread, in func(t *thread) *instr)
}

// reach brings a thread to a warp operation.
func (t *thread) reach(in *instr) {
	for i := range t.values {
		t.values[i] = t.get(&in.src[i])
	}
	t.lanes = 0
	if in.warp.sync {
		t.lanes = uint32(t.get(&in.warp.mask))
		if t.lanes>>t.lane&1 == 0 {
			t.fail("lane %d is not in the mask 0x%x of %s", t.lane, t.lanes, in.warp.key)
			return
		}
	}
	t.state = atWarpOp
}

// complete executes the warp operations like this one for which all lanes have come.
// The ISA lets lanes meet at different places in the code if the operation and the mask are
// the same (PTX ISA, shfl.sync).
func (w *warp) complete(in *instr) *Error {
	if !in.warp.sync {
		var lanes [32]*thread
		for _, t := range w.group {
			if t.state == atWarpOp {
				lanes[t.lane] = t
			}
		}
		return w.finish(in.warp, &lanes)
	}
	for _, lead := range w.threads {
		if lead.state != atWarpOp {
			continue
		}
		op := lead.frame.fn.code[lead.frame.pc].warp
		if op.key != in.warp.key || !op.sync {
			continue
		}
		var lanes [32]*thread
		all := true
		for _, t := range w.threads {
			if lead.lanes>>t.lane&1 == 0 || t.state == done {
				continue
			}
			if t.state != atWarpOp || t.lanes != lead.lanes || t.frame.fn.code[t.frame.pc].warp.key != op.key {
				all = false
				break
			}
			lanes[t.lane] = t
		}
		if !all {
			continue
		}
		if err := w.finish(op, &lanes); err != nil {
			return err
		}
	}
	return nil
}

func (w *warp) finish(op *warpOp, lanes *[32]*thread) *Error {
	op.do(w, lanes, func(t *thread) *instr { return &t.frame.fn.code[t.frame.pc] })
	for _, t := range lanes {
		if t == nil {
			continue
		}
		if t.err != "" {
			return t.fault(&t.frame.fn.code[t.frame.pc], t.err)
		}
		t.state = ready
		t.frame.pc++
	}
	return nil
}

func init() {
	opcodes["shfl"] = (*reader).shfl
	opcodes["vote"] = (*reader).vote
	opcodes["match"] = (*reader).match
	opcodes["redux"] = (*reader).redux
	opcodes["elect"] = (*reader).elect
	opcodes["activemask"] = func(r *reader) {
		t := r.typ()
		if r.operands(1) {
			r.warp(false, 0)
			r.in.dst, _ = r.dest(r.ops[0], t.bits)
			r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
				all := uint64(0)
				each(lanes, func(t *thread) { all |= 1 << t.lane })
				each(lanes, func(t *thread) { t.set(in(t).dst, all) })
			}
		}
	}
	opcodes["bar"] = (*reader).barrier
	opcodes["barrier"] = (*reader).barrier
}

// warp starts the translation of a warp operation. Its mask is operand n.
func (r *reader) warp(sync bool, n int) {
	r.in.kind = kWarp
	key := r.op
	for _, m := range r.c.Modifiers(r.st) {
		key += m
	}
	r.in.warp = &warpOp{key: key, sync: sync}
	if sync {
		r.in.warp.mask = r.source(r.ops[n], typ{".b32", 'b', 32, false}, false)
	}
}

func each(lanes *[32]*thread, do func(t *thread)) {
	for _, t := range lanes {
		if t != nil {
			do(t)
		}
	}
}

var b32 = typ{".b32", 'b', 32, false}

// shfl is PTX ISA, shfl and shfl.sync.
func (r *reader) shfl() {
	sync := r.take(".sync")
	mode := r.takeAny(".up", ".down", ".bfly", ".idx")
	r.typ()
	n := 4
	if sync {
		n = 5
	}
	if !r.operands(n) {
		return
	}
	r.warp(sync, n-1)
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32, 1)
	for i := range 3 {
		r.in.src[i] = r.source(r.ops[1+i], b32, false)
	}
	r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
		each(lanes, func(t *thread) {
			j, ok := shflSource(mode, uint32(t.lane), uint32(t.values[1]), uint32(t.values[2]))
			from := t
			if ok {
				from = lanes[j]
			}
			if from == nil {
				t.fail("shfl reads lane %d, which does not take part", j)
				return
			}
			t.set(in(t).dst, from.values[0])
			t.set(in(t).dst2, truth(ok))
		})
	}
}

// shflSource returns the lane that shfl reads, and whether it is in range.
func shflSource(mode string, lane, b, c uint32) (j uint32, ok bool) {
	b &= 31
	clamp, seg := c&31, c>>8&31
	maxLane := lane&seg | clamp&^seg
	minLane := lane & seg
	switch mode {
	case ".up":
		j = lane - b
		ok = int32(j) >= int32(maxLane)
	case ".down":
		j = lane + b
		ok = j <= maxLane
	case ".bfly":
		j = lane ^ b
		ok = j <= maxLane
	default:
		j = minLane | b&^seg
		ok = j <= maxLane
	}
	if !ok {
		j = lane
	}
	return j, ok
}

// vote is PTX ISA, vote and vote.sync.
func (r *reader) vote() {
	sync := r.take(".sync")
	mode := r.takeAny(".all", ".any", ".uni", ".ballot")
	t := r.typ()
	n := 2
	if sync {
		n = 3
	}
	if !r.operands(n) {
		return
	}
	r.warp(sync, n-1)
	r.in.dst, _ = r.dest(r.ops[0], t.bits)
	r.in.src[0] = r.source(r.ops[1], typ{".pred", 'p', 1, false}, false)
	r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
		ballot, present := uint64(0), uint64(0)
		each(lanes, func(t *thread) {
			present |= 1 << t.lane
			ballot |= t.values[0] & 1 << t.lane
		})
		v := ballot
		switch mode {
		case ".all":
			v = truth(ballot == present)
		case ".any":
			v = truth(ballot != 0)
		case ".uni":
			v = truth(ballot == 0 || ballot == present)
		}
		each(lanes, func(t *thread) { t.set(in(t).dst, v) })
	}
}

// match is PTX ISA, match.sync.
func (r *reader) match() {
	all := r.takeAny(".any", ".all") == ".all"
	if !r.take(".sync") {
		r.fail("match without .sync")
	}
	t := r.typ()
	if !r.operands(3) {
		return
	}
	r.warp(true, 2)
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32, 1)
	r.in.src[0] = r.source(r.ops[1], t, false)
	r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
		each(lanes, func(t *thread) {
			same, every := uint64(0), true
			each(lanes, func(u *thread) {
				if u.values[0] == t.values[0] {
					same |= 1 << u.lane
				} else {
					every = false
				}
			})
			if all && !every {
				same = 0
			}
			t.set(in(t).dst, same)
			t.set(in(t).dst2, truth(every))
		})
	}
}

// redux is PTX ISA, redux.sync, for integers.
func (r *reader) redux() {
	r.take(".sync")
	op := r.takeAny(".add", ".min", ".max", ".and", ".or", ".xor")
	t := r.typ()
	if !r.operands(3) || t.float() {
		r.fail("redux of %s is not supported", t.word)
		return
	}
	r.warp(true, 2)
	r.in.dst, _ = r.dest(r.ops[0], 32)
	r.in.src[0] = r.source(r.ops[1], t, false)
	fn := atomics(op, t)
	r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
		var v uint64
		first := true
		each(lanes, func(t *thread) {
			if first {
				v, first = t.values[0], false
			} else {
				v = fn(v, t.values[0], 0) & mask(32)
			}
		})
		each(lanes, func(t *thread) { t.set(in(t).dst, v) })
	}
}

// elect is PTX ISA, elect.sync: the lowest lane is elected.
func (r *reader) elect() {
	r.take(".sync")
	if !r.operands(2) {
		return
	}
	r.warp(true, 1)
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32, 1)
	r.in.warp.do = func(w *warp, lanes *[32]*thread, in func(*thread) *instr) {
		present := uint32(0)
		each(lanes, func(t *thread) { present |= 1 << t.lane })
		lead := bits.TrailingZeros32(present)
		each(lanes, func(t *thread) {
			t.set(in(t).dst, uint64(lead))
			t.set(in(t).dst2, truth(t.lane == lead))
		})
	}
}

// barrier is PTX ISA, bar, barrier and bar.warp.sync. bar is barrier.cta.aligned.
func (r *reader) barrier() {
	if r.take(".warp") {
		r.take(".sync")
		if r.operands(1) {
			r.warp(true, 0)
			r.in.warp.do = func(*warp, *[32]*thread, func(*thread) *instr) {}
		}
		return
	}
	if r.take(".cluster") { // a cluster has one block
		r.fail("clusters are not supported")
	}
	r.take(".cta")
	what := r.takeAny(".sync", ".arrive", ".red")
	op := &barrierOp{wait: what != ".arrive", aligned: r.op == "bar" || r.take(".aligned")}
	r.take(".aligned")
	r.in.kind, r.in.bar = kBar, op
	ops := r.ops
	u32 := typ{".u32", 'u', 32, false}
	if what == ".red" {
		op.red = r.takeAny(".popc", ".and", ".or")
		t := r.typ()
		if len(ops) < 3 {
			r.operands(3)
			return
		}
		r.in.dst, _ = r.dest(ops[0], t.bits)
		r.in.src[2] = r.source(ops[len(ops)-1], typ{".pred", 'p', 1, false}, false)
		ops = ops[1 : len(ops)-1]
	}
	if len(ops) < 1 || len(ops) > 2 || what == "" {
		r.fail("%s with %d operands", r.op, len(r.ops))
		return
	}
	r.in.src[0] = r.source(ops[0], u32, false)
	if len(ops) == 2 {
		op.counted = true
		r.in.src[1] = r.source(ops[1], u32, false)
	}
}
