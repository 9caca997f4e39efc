package ptxsim

import (
	"math/bits"
	"strings"

	"ptxlink/object/ptx"
)

// warpOp is an operation of several lanes of a warp.
type warpOp struct {
	key  string // opcode with modifiers: lanes that wait for each other have the same
	sync bool   // the lanes of a mask wait for each other; else those of the group
	mask operand
	// do returns the results of a thread; lanes are nil that do not take part. It is nil if
	// there are none.
	do func(lanes *lanes, t *thread) (result, second uint64)
}

type lanes [32]*thread

// which returns a bit for each lane that fits.
func (l *lanes) which(fits func(t *thread) bool) (bits uint64) {
	for i, t := range l {
		if t != nil && fits(t) {
			bits |= 1 << i
		}
	}
	return bits
}

func (l *lanes) all() uint64 { return l.which(func(*thread) bool { return true }) }

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
		}
	}
	t.state = atWarpOp
}

// complete executes the warp operations like this one for which all lanes have come.
// The ISA lets lanes meet at different places in the code if the operation and the mask are
// the same (PTX ISA, shfl.sync).
func (w *warp) complete(in *instr) {
	if !in.warp.sync {
		var lanes lanes
		for _, t := range w.group {
			if t.state == atWarpOp {
				lanes[t.lane] = t
			}
		}
		w.finish(in.warp, &lanes)
		return
	}
	for _, lead := range w.threads {
		if lead.state != atWarpOp {
			continue
		}
		op := lead.instruction().warp
		if op.key != in.warp.key || !op.sync {
			continue
		}
		var lanes lanes
		all := true
		for _, t := range w.threads {
			if lead.lanes>>t.lane&1 == 0 || t.state == done {
				continue
			}
			if t.state != atWarpOp || t.lanes != lead.lanes || t.instruction().warp.key != op.key {
				all = false
				break
			}
			lanes[t.lane] = t
		}
		if all {
			w.finish(op, &lanes)
		}
	}
}

func (w *warp) finish(op *warpOp, lanes *lanes) {
	for _, t := range lanes {
		if t == nil {
			continue
		}
		if op.do != nil {
			in := t.instruction()
			result, second := op.do(lanes, t)
			t.set(in.dst, result)
			t.set(in.dst2, second)
		}
		t.state = ready
		t.frame.pc++
	}
}

// warp starts the translation of a warp operation with sources of these types. Behind them is
// the mask, if the lanes wait for each other.
func (r *reader) warp(sync bool, sources ...typ) {
	if sync {
		sources = append(sources, b32)
	}
	r.operandsOf(sources...)
	r.in.kind, r.in.run = kJump, (*thread).reach
	r.in.warp = &warpOp{key: r.op + strings.Join(r.c.Modifiers(r.st), ""), sync: sync}
	if sync {
		r.in.warp.mask = r.in.src[len(sources)-1]
	}
}

// shfl is PTX ISA, shfl and shfl.sync.
func (r *reader) shfl() {
	sync := r.take(".sync")
	mode := r.takeAny(".up", ".down", ".bfly", ".idx")
	r.typ()
	r.warp(sync, b32, b32, b32)
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32)
	r.in.warp.do = func(lanes *lanes, t *thread) (uint64, uint64) {
		j, ok := shflSource(mode, uint32(t.lane), uint32(t.values[1]), uint32(t.values[2]))
		from := t
		if ok {
			from = lanes[j]
		}
		if from == nil {
			t.fail("shfl reads lane %d, which does not take part", j)
		}
		return from.values[0], truth(ok)
	}
}

// shflSource returns the lane that shfl reads, and whether it is in range.
func shflSource(mode string, lane, b, c uint32) (j uint32, ok bool) {
	b &= 31
	clamp, seg := c&31, c>>8&31
	maxLane := lane&seg | clamp&^seg
	switch mode {
	case ".up":
		j = lane - b
	case ".down":
		j = lane + b
	case ".bfly":
		j = lane ^ b
	default:
		j = lane&seg | b&^seg
	}
	if ok = j <= maxLane; mode == ".up" {
		ok = int32(j) >= int32(maxLane)
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
	r.warp(sync, pred)
	r.result(t.bits)
	r.in.warp.do = func(lanes *lanes, _ *thread) (uint64, uint64) {
		all, ballot := lanes.all(), lanes.which(func(t *thread) bool { return t.values[0] != 0 })
		switch mode {
		case ".all":
			return truth(ballot == all), 0
		case ".any":
			return truth(ballot != 0), 0
		case ".uni":
			return truth(ballot == 0 || ballot == all), 0
		}
		return ballot, 0
	}
}

// match is PTX ISA, match.sync.
func (r *reader) match() {
	all := r.takeAny(".any", ".all") == ".all"
	r.failIf(!r.take(".sync"), "match without .sync")
	r.warp(true, r.typ())
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32)
	r.in.warp.do = func(lanes *lanes, t *thread) (uint64, uint64) {
		same := lanes.which(func(u *thread) bool { return u.values[0] == t.values[0] })
		every := same == lanes.all()
		if all && !every {
			same = 0
		}
		return same, truth(every)
	}
}

// redux is PTX ISA, redux.sync, for integers.
func (r *reader) redux() {
	r.take(".sync")
	op := r.takeAny(".add", ".min", ".max", ".and", ".or", ".xor")
	t := r.typ()
	r.failIf(t.float(), "redux of %s is not supported", t.word)
	r.warp(true, t)
	r.result(32)
	fn := atomic(op, t)
	r.in.warp.do = func(lanes *lanes, _ *thread) (v, _ uint64) {
		first := true
		for _, t := range lanes {
			switch {
			case t == nil:
			case first:
				v, first = t.values[0], false
			default:
				v = fn(v, t.values[0], 0) & mask(32)
			}
		}
		return v, 0
	}
}

// elect is PTX ISA, elect.sync: the lowest lane is elected.
func (r *reader) elect() {
	r.take(".sync")
	r.warp(true)
	r.in.dst, r.in.dst2 = r.pair(r.ops[0], 32)
	r.in.warp.do = func(lanes *lanes, t *thread) (uint64, uint64) {
		lead := bits.TrailingZeros64(lanes.all())
		return uint64(lead), truth(t.lane == lead)
	}
}

func (r *reader) activemask() {
	t := r.typ()
	r.warp(false)
	r.result(t.bits)
	r.in.warp.do = func(lanes *lanes, _ *thread) (uint64, uint64) { return lanes.all(), 0 }
}

// barrier is PTX ISA, bar, barrier and bar.warp.sync. bar is barrier.cta.aligned.
func (r *reader) barrier() {
	if r.take(".warp") {
		r.take(".sync")
		r.ops = append([]ptx.Operand{{}}, r.ops...) // it has no destination
		r.warp(true)
		return
	}
	if r.take(".cluster") { // a cluster has one block
		r.fail("clusters are not supported")
	}
	r.take(".cta")
	what := r.takeAny(".sync", ".arrive", ".red")
	op := &barrierOp{wait: what != ".arrive", aligned: r.op == "bar" || r.take(".aligned")}
	r.take(".aligned")
	r.in.kind, r.in.run, r.in.bar = kJump, (*thread).arrive, op
	ops := r.ops
	if what == ".red" {
		op.red = r.takeAny(".popc", ".and", ".or")
		t := r.typ()
		r.failIf(len(ops) < 3, "%s with %d operands", r.op, len(ops))
		r.in.dst, _ = r.dest(ops[0], t.bits)
		r.in.src[2] = r.source(ops[len(ops)-1], pred, false)
		ops = ops[1 : len(ops)-1]
	}
	r.failIf(len(ops) < 1 || len(ops) > 2 || what == "", "%s with %d operands", r.op, len(r.ops))
	r.in.src[0] = r.source(ops[0], u32, false)
	if len(ops) == 2 {
		op.counted = true
		r.in.src[1] = r.source(ops[1], u32, false)
	}
}
