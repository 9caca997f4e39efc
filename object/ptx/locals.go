package ptx

import "ptxlink/internal/diag"

// LocalNames calls visit for every name that a function declares and that a
// debug section may look up: labels, parameters, and objects in .local, .shared,
// .param, .global and .const. Registers are not among them.
func (m *Module) LocalNames(d *Decl, visit func(name diag.Span)) {
	for _, list := range [][]Param{d.Results, d.Params} {
		for i := range list {
			visit(list[i].NameSpan)
		}
	}
	if !d.HasBody {
		return
	}
	lex := NewLexer(m.Src.Text[:d.Body.End()], d.Body.Off)
	var last Token
	for t := lex.Next(); t.Kind != EOF; last, t = t, lex.Next() {
		switch {
		case t.Kind == Punct && t.Ch == ':' && last.Kind == Ident:
			visit(last.Span())
		case t.Kind == Word && localSpace[string(m.Src.Text[t.Off:t.End])] && startsStatement(last):
			t = m.declaredNames(&lex, visit)
		}
	}
}

// startsStatement says whether a statement may begin behind the token. A .loc
// ends in a number, without a semicolon.
func startsStatement(last Token) bool {
	return last.Kind == Number || last.Kind == Punct && (last.Ch == ';' || last.Ch == '{' || last.Ch == '}' || last.Ch == ':')
}

var localSpace = map[string]bool{".local": true, ".shared": true, ".param": true, ".global": true, ".const": true}

// declaredNames reads `.align 8 .b8 a[4], b = {1};` behind the state space.
func (m *Module) declaredNames(lex *Lexer, visit func(diag.Span)) Token {
	depth, init := 0, false
	for t := lex.Next(); ; t = lex.Next() {
		switch {
		case t.Kind == EOF:
			return t
		case t.Kind == Ident && depth == 0 && !init:
			visit(t.Span())
		case t.Kind != Punct:
		case t.Ch == ';' && depth == 0:
			return t
		case t.Ch == '[' || t.Ch == '{' || t.Ch == '(' || t.Ch == '<':
			depth++
		case t.Ch == ']' || t.Ch == '}' || t.Ch == ')' || t.Ch == '>':
			depth--
		case t.Ch == '=':
			init = true
		case t.Ch == ',' && depth == 0:
			init = false
		}
	}
}
