package atomics

import (
	"bytes"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// The comments that nvcc and clang put around inline assembly; gcc's are #APP.
const (
	beginAsm = "begin inline asm"
	endAsm   = "end inline asm"
)

type atomicOp struct {
	kind  atomicKind
	order memoryOrder
	scope memoryScope
	needs memoryScope // minimum scope of its fences: scope, but no wider than shared memory reaches
	said  bool        // order and scope are explicit
	name  string      // "ld"
	words []string    // ".acquire", ".gpu"
	span  diag.Span
	on    address
}

// text returns the operation as shown in messages: only order and scope.
func (op *atomicOp) text() string {
	text := op.name
	if text == "membar" {
		return text + strings.Join(op.words, "")
	}
	for _, w := range op.words {
		if _, ok := orderWords[w]; ok {
			text += w
		}
	}
	for _, w := range op.words {
		if _, ok := scopeWords[w]; ok {
			text += w
		}
	}
	return text
}

// address is a known place in a variable; the zero address is unknown.
type address struct {
	known  bool
	name   ptx.NameID
	offset int64
}

// atomicRun is a sequence of adjacent atomic operations.
type atomicRun struct {
	ops   []atomicOp
	asm   bool // in one inline assembly statement
	whole bool // the statement or function has no other memory access
}

type atomicBody struct {
	runs     []atomicRun
	accesses []atomicOp // on known addresses
}

var orderWords = map[string]memoryOrder{
	".relaxed": orderRelaxed, ".acquire": orderAcquire, ".release": orderRelease, ".acq_rel": orderAcqRel, ".sc": orderSeqCst,
}

var scopeWords = map[string]memoryScope{".cta": scopeCTA, ".cluster": scopeCluster, ".gpu": scopeGPU, ".sys": scopeSys, ".gl": scopeGPU}

// statement is one statement of a body in the form this check uses.
type statement struct {
	ptx.Statement
	opcode string
	words  []string
	span   diag.Span // of the opcode with its modifiers
	asm    int       // the number of the inline assembly statement around it, 0 outside
}

func statements(code *ptx.Code, body diag.Span) []statement {
	list := make([]statement, 0, len(code.Statements))
	asm, asms := 0, 0
	last := body.Off + 1
	for _, s := range code.Statements[1:] {
		st := statement{Statement: s, opcode: code.Opcode(s), words: code.Modifiers(s)}
		for i := s.First; i < s.End; i++ {
			t := code.Tokens[i]
			switch begins, found := inlineAsm(code.Module.Src.Text[last:t.Off]); {
			case begins:
				asms++
				asm = asms
			case found:
				asm = 0
			}
			if last = t.End; i == s.First {
				st.asm = asm
			}
		}
		if s.Kind == ptx.Instruction {
			st.span = code.OpSpan(s)
		}
		if s.Kind != ptx.Empty {
			list = append(list, st)
		}
	}
	return list
}

// inlineAsm finds a marker of inline assembly in the comments between two tokens, and reports
// whether the last one begins it.
func inlineAsm(gap []byte) (begins, found bool) {
	if len(gap) <= 2 {
		return false, false
	}
	begin, end := bytes.LastIndex(gap, []byte(beginAsm)), bytes.LastIndex(gap, []byte(endAsm))
	if begin < 0 && end < 0 {
		begin, end = bytes.LastIndex(gap, []byte("#APP")), bytes.LastIndex(gap, []byte("#NO_APP"))
	}
	return begin > end, begin >= 0 || end >= 0
}

func readAtomics(f *object.File, d *ptx.Decl) atomicBody {
	var b atomicBody
	var run atomicRun
	at := addresses{Code: f.Code(d)}
	asm := 0
	whole := true // since the start of the body or of the inline assembly statement
	wholeBody := true
	first := 0 // first run in the inline assembly statement
	flush := func() {
		if len(run.ops) > 0 {
			run.asm = asm > 0
			b.runs = append(b.runs, run)
		}
		run = atomicRun{}
	}
	leave := func() {
		flush()
		if asm > 0 && whole && len(b.runs) == first+1 {
			b.runs[first].whole = true
		}
	}
	for _, st := range statements(at.Code, d.Body) {
		if st.asm != asm {
			wholeBody = wholeBody && asm == 0 && st.asm == 0 // because an inline assembly statement counts by itself
			leave()
			asm, whole, first = st.asm, true, len(b.runs)
		}
		on := at.operand(&st)
		op, isAtomic := atomicOf(&st)
		if op.kind != fenceOp && on.known && op.scope != scopeNone {
			op.on = on
			b.accesses = append(b.accesses, op)
		}
		switch {
		case isAtomic && !st.Guarded() && op.said:
			run.ops = append(run.ops, op)
		case isAtomic || separates(&st):
			whole, wholeBody = false, false
			flush()
		}
		at.step(&st)
	}
	leave()
	if asm == 0 && wholeBody && len(b.runs) == 1 {
		b.runs[0].whole = true
	}
	return b
}

// quietOpcodes lists instructions that neither access memory nor change control
// flow.
var quietOpcodes = []string{
	"mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "shf", "and", "or", "xor", "not", "neg", "abs",
	"min", "max", "setp", "set", "selp", "bfe", "bfi", "prmt", "div", "rem", "fma", "isspacep",
}

// separates reports whether the statements before and after st are not adjacent.
func separates(st *statement) bool {
	switch op := st.opcode; {
	case st.Kind == ptx.LabelStatement:
		return true
	case st.Kind != ptx.Instruction:
		return false
	case op == "ret" || op == "exit":
		return st.Guarded()
	case op == "ld" || op == "ldu" || op == "st":
		return !slices.ContainsFunc(st.words, func(w string) bool {
			return w == ".local" || w == ".const" || strings.HasPrefix(w, ".param")
		})
	default:
		return !slices.Contains(quietOpcodes, op)
	}
}

// atomicOf returns the operation of an instruction in the tables, of membar, or of
// an atom without order or scope. ok is false for instructions with a modifier that
// makes them something else (fence.proxy, ld.volatile).
func atomicOf(st *statement) (op atomicOp, ok bool) {
	op = atomicOp{name: st.opcode, words: st.words, span: st.span}
	orderSaid := false
	for _, w := range st.words {
		if o, ok := orderWords[w]; ok {
			op.order, orderSaid = o, true
		} else if s, ok := scopeWords[w]; ok {
			op.scope = s
		}
	}
	op.said = orderSaid && op.scope != scopeNone
	switch st.opcode {
	case "fence": // the default order is acq_rel
		if !orderSaid {
			op.order = orderAcqRel
		}
		op.said = true
		ok = op.scope != scopeNone && len(st.words) <= 2 && (orderSaid || len(st.words) == 1)
	case "membar": // another spelling of fence.sc
		op.order, op.said = orderSeqCst, true
		ok = op.scope != scopeNone && len(st.words) == 1
	case "ld":
		op.kind, ok = loadOp, op.said && !slices.Contains(st.words, ".mmio")
	case "st":
		op.kind, ok = storeOp, op.said && !slices.Contains(st.words, ".mmio")
	case "atom", "red":
		op.kind = updateOp
		ok = !slices.Contains(st.words, ".async")
		if ok && op.scope == scopeNone {
			op.scope = scopeGPU
		}
	}
	if !ok {
		return atomicOp{}, false
	}
	op.needs = op.scope
	for _, w := range st.words {
		switch w {
		case ".shared", ".shared::cta":
			op.needs = scopeCTA
		case ".shared::cluster":
			op.needs = min(op.needs, scopeCluster)
		}
	}
	return op, true
}
