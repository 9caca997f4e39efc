package ptx

import (
	"bytes"
	"slices"
	"strconv"
)

// build reads the code of a declaration, and returns nil if it has none.
func oldBuild(m *Module, d *Decl) *oldBuilder {
	span := d.Body
	if d.Kind == Variable {
		span = d.Init
	}
	if span.Len == 0 {
		return nil
	}
	b := &oldBuilder{pending: map[string][]oldForward{}}
	b.Code, b.blocks = &Code{Module: m, refs: b.allRefs, Statements: b.allStatements}, b.blocks[:0]
	b.oldCursor = oldCursor{oldLexer: newOldLexer(m.Src.Text[:span.End()], span.Off), keep: true}
	b.oldCursor.next()
	b.tokens = slices.Grow(b.allTokens, int(span.Len)/5)
	b.begin(m, d, oldParams(m, d), true)
	if d.Kind == Variable {
		b.initialValue(Opaque(d.Word))
	} else {
		for b.statement() {
			b.add()
		}
	}
	b.Tokens, b.Locals = b.tokens, b.locals
	b.allTokens, b.allRefs, b.allStatements = b.tokens[:0], b.Code.refs[:0], b.Statements[:0]
	return b
}

// oldBuilder builds the Code of one declaration. The next one uses its memory again.
type oldBuilder struct {
	*Code
	oldReader
	pending map[string][]oldForward // names that a later label may declare
	blocks  []int32                 // the opening token of each block

	allTokens     []Token
	allRefs       []Reference
	allStatements []Statement
}

// oldForward is a name that a later label may declare: a token, or, with list >= 0,
// one target of the TargetRange at that token.
type oldForward struct{ token, list, target int32 }

func (b *oldBuilder) initialValue(opaque bool) {
	b.initialiser(opaque)
	b.st = Statement{Kind: Directive, End: int32(len(b.tokens))}
	b.add()
}

// add resolves the names of the current statement in the current scopes.
func (b *oldBuilder) add() {
	st := b.st
	b.Statements = append(b.Statements, st)
	for int32(len(b.refs)) < st.End {
		b.refs = append(b.refs, NoReference)
	}
	for i := st.First; i < st.End; i++ {
		if t := b.tokens[i]; t.Kind == Ident && t.Role() == Refers {
			b.refs[i] = b.resolve(b.text[t.Off:t.End], oldForward{token: i, list: -1})
		}
	}
	for _, t := range b.targets {
		for k := range int32(t.count) {
			name := strconv.AppendInt(bytes.Clone(b.text[t.base.Off:t.base.End()]), int64(k), 10)
			at := oldForward{t.token, int32(len(b.TargetRanges)), k}
			t.targets = append(t.targets, b.resolve(name, at))
		}
		b.TargetRanges = append(b.TargetRanges, TargetRange{t.span, t.base, t.targets})
	}
	switch st.Kind {
	case Open:
		b.blocks = append(b.blocks, st.First)
	case Close:
		b.blocks = b.blocks[:len(b.blocks)-1]
	}
	first := len(b.locals)
	b.enterDeclared()
	for i := first; i < len(b.locals); i++ {
		b.refs[b.locals[i].token] = localReference(int32(i))
		if b.locals[i].Kind >= CodeLabel {
			b.locals[i].block = b.blocks[len(b.blocks)-1]
			b.declareLabel(int32(i))
		}
	}
}

// resolve finds the meaning of a name at this point. A later label in a block
// around the name is meant if nothing else is visible, or only a label farther out.
func (b *oldBuilder) resolve(name []byte, at oldForward) Reference {
	ref := NoReference
	if i := b.find(name); i >= 0 {
		ref = localReference(i)
		if b.locals[i].Kind < CodeLabel {
			return ref
		}
	} else if id, ok := b.moduleName(name); ok {
		return moduleReference(id)
	}
	b.pending[string(name)] = append(b.pending[string(name)], at)
	return ref
}

// declareLabel resolves the earlier names that refer to a label: those in its block
// that do not refer to a label of an inner block.
func (b *oldBuilder) declareLabel(i int32) {
	block := b.locals[i].block
	list := b.pending[string(b.nameOf(i))]
	for len(list) > 0 && list[len(list)-1].token > block {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		ref := &b.refs[at.token]
		if at.list >= 0 {
			ref = &b.TargetRanges[at.list].Targets[at.target]
		}
		if inner, ok := ref.Local(); !ok || b.locals[inner].block < block {
			*ref = localReference(i)
		}
	}
	b.pending[string(b.nameOf(i))] = list
}
