package atomics

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// The comments that nvcc and clang put around inline assembly; gcc's are #APP.
const (
	beginAsm = "begin inline asm"
	endAsm   = "end inline asm"
)

// atomicOp is one fence or atomic access.
type atomicOp struct {
	kind  atomicKind
	order memoryOrder
	scope memoryScope
	needs memoryScope // how wide its fences must be: scope, but no more than shared memory reaches
	said  bool        // it says its order and scope
	span  diag.Span
	on    address
}

// text is the operation as messages show it: order and scope, no more.
func (op *atomicOp) text(f *object.File) string {
	words := opcodeWords(f.Src.Bytes(op.span))
	if words[0] == "membar" {
		return strings.Join(words, "")
	}
	text := words[0]
	for _, w := range words[1:] {
		if _, ok := orderWords[w]; ok {
			text += w
		}
	}
	for _, w := range words[1:] {
		if _, ok := scopeWords[w]; ok {
			text += w
		}
	}
	return text
}

// address is a place in a variable, where it is known; the zero address is not.
type address struct {
	known  bool
	name   ptx.NameID
	offset int64
}

// atomicRun is a sequence of atomic operations that stand together.
type atomicRun struct {
	ops   []atomicOp
	asm   bool // in one inline assembly statement
	whole bool // the statement or function does nothing else to memory
}

// atomicBody is what a function does atomically.
type atomicBody struct {
	runs     []atomicRun
	accesses []atomicOp // on addresses that are known
}

var orderWords = map[string]memoryOrder{
	".relaxed": orderRelaxed, ".acquire": orderAcquire, ".release": orderRelease, ".acq_rel": orderAcqRel, ".sc": orderSeqCst,
}

var scopeWords = map[string]memoryScope{".cta": scopeCTA, ".cluster": scopeCluster, ".gpu": scopeGPU, ".sys": scopeSys, ".gl": scopeGPU}

// statement is one instruction, label, directive or brace of a body.
type statement struct {
	opcode    string // "{" and "}" for braces, ":" for labels, ".reg" and so on for directives
	words     []string
	span      diag.Span // of the opcode with its words
	operands  []ptx.Token
	predicate bool
	asm       int // the number of the inline assembly statement around it, 0 outside
}

// statements reads a body statement by statement.
type statements struct {
	f    *object.File
	end  int32
	lex  ptx.Lexer
	last int32 // where the token before ends
	tok  ptx.Token
	asm  int
	asms int
}

func newStatements(f *object.File, d *ptx.Decl) *statements {
	s := &statements{f: f, end: d.Body.End()}
	s.seek(d.Body.Off + 1)
	return s
}

func (s *statements) seek(off int32) {
	s.lex = ptx.NewLexer(s.f.Src.Text[:s.end], off)
	s.last = off
	s.advance()
}

// advance reads a token and sees in the comments before it where inline assembly
// begins and ends.
func (s *statements) advance() {
	t := s.lex.Next()
	gap := s.f.Src.Text[s.last:t.Off]
	if t.Off-s.last > 2 {
		begin, end := bytes.LastIndex(gap, []byte(beginAsm)), bytes.LastIndex(gap, []byte(endAsm))
		if begin < 0 && end < 0 {
			begin, end = bytes.LastIndex(gap, []byte("#APP")), bytes.LastIndex(gap, []byte("#NO_APP"))
		}
		switch {
		case begin > end:
			s.asms++
			s.asm = s.asms
		case end >= 0:
			s.asm = 0
		}
	}
	s.tok, s.last = t, t.End
}

func (s *statements) is(c byte) bool { return s.tok.Kind == ptx.Punct && s.tok.Ch == c }

func (s *statements) spelling() string { return s.f.Src.String(s.tok.Span()) }

// next is the next statement; ok is false behind the last.
func (s *statements) next() (st statement, ok bool) {
	for s.is(';') {
		s.advance()
	}
	st.asm = s.asm
	switch {
	case s.tok.Kind == ptx.EOF:
		return st, false
	case s.is('{') || s.is('}'):
		st.opcode = s.spelling()
		s.advance()
		return st, true
	case s.tok.Kind == ptx.Word:
		return s.directive(st), true
	}
	if s.is('@') {
		st.predicate = true
		for s.advance(); s.is('!'); s.advance() {
		}
		if s.advance(); s.tok.Kind != ptx.Ident {
			st.opcode = ":" // nothing that we know; it parts what is around it
			return st, true
		}
	}
	first := s.tok
	st.opcode = s.spelling()
	if s.advance(); s.is(':') {
		st.opcode = ":"
		s.advance()
		return st, true
	}
	st.span = first.Span()
	for ; s.tok.Kind == ptx.Word; s.advance() {
		st.words = append(st.words, plainWord(s.spelling()))
		st.span.Len = s.tok.End - first.Off
	}
	for ; !s.is(';') && s.tok.Kind != ptx.EOF; s.advance() {
		st.operands = append(st.operands, s.tok)
	}
	return st, true
}

// directive passes a directive. .loc and .file end without a semicolon.
func (s *statements) directive(st statement) statement {
	st.opcode = plainWord(s.spelling())
	at := s.tok.Off
	var span diag.Span
	switch st.opcode {
	case ".loc":
		locs := s.f.Locs
		if i := sort.Search(len(locs), func(i int) bool { return locs[i].Span.Off >= at }); i < len(locs) && locs[i].Span.Off == at {
			span = locs[i].Span
		}
	case ".file":
		if i := slices.IndexFunc(s.f.Files, func(f ptx.File) bool { return f.Span.Off == at }); i >= 0 {
			span = s.f.Files[i].Span
		}
	}
	if span.Len > 0 {
		s.seek(span.End())
		return st
	}
	for s.advance(); !s.is(';') && s.tok.Kind != ptx.EOF; s.advance() {
	}
	return st
}

// plainWord is a modifier without the white space that may follow its dot.
func plainWord(w string) string { return "." + strings.TrimLeft(w[1:], " \t\r\n\f") }

// opcodeWords parts an opcode with its modifiers: "ld", ".acquire", ".gpu".
func opcodeWords(text []byte) []string {
	var words []string
	lex := ptx.NewLexer(text, 0)
	for t := lex.Next(); t.Kind != ptx.EOF; t = lex.Next() {
		w := string(text[t.Off:t.End])
		if t.Kind == ptx.Word {
			w = plainWord(w)
		}
		words = append(words, w)
	}
	return words
}

// readAtomics finds the atomic operations of a body.
func readAtomics(f *object.File, d *ptx.Decl) atomicBody {
	var b atomicBody
	var run atomicRun
	at := addresses{f: f, uses: f.Uses[d.FirstUse:d.EndUse]}
	asm := 0
	whole := true // since the body, or the inline assembly statement, began
	wholeBody := true
	first := 0 // of the runs in the inline assembly statement
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
	s := newStatements(f, d)
	for st, ok := s.next(); ok; st, ok = s.next() {
		if st.asm != asm {
			wholeBody = wholeBody && asm == 0 && st.asm == 0 // inline assembly is a whole of its own
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
		case isAtomic && !st.predicate && op.said:
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

// quietOpcodes are instructions that touch no memory and pass control on.
var quietOpcodes = []string{
	"mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "shf", "and", "or", "xor", "not", "neg", "abs",
	"min", "max", "setp", "set", "selp", "bfe", "bfi", "prmt", "div", "rem", "fma", "isspacep",
}

// separates says whether a statement keeps what is before it from standing together
// with what is behind.
func separates(st *statement) bool {
	switch op := st.opcode; {
	case op == ":":
		return true
	case op == "{" || op == "}" || op[0] == '.':
		return false
	case op == "ret" || op == "exit":
		return st.predicate
	case op == "ld" || op == "ldu" || op == "st":
		return !slices.ContainsFunc(st.words, func(w string) bool {
			return w == ".local" || w == ".const" || strings.HasPrefix(w, ".param")
		})
	default:
		return !slices.Contains(quietOpcodes, op)
	}
}

// atomicOf says what an instruction of the tables, or membar or an atom that
// leaves order or scope unsaid, does. Instructions with a word that says they are
// something else (fence.proxy, ld.volatile) are none.
func atomicOf(st *statement) (op atomicOp, ok bool) {
	op = atomicOp{span: st.span}
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
	case "fence": // without an order it is acq_rel
		if !orderSaid {
			op.order = orderAcqRel
		}
		op.said = true
		ok = op.scope != scopeNone && len(st.words) <= 2 && (orderSaid || len(st.words) == 1)
	case "membar": // fence.sc, in another spelling
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
