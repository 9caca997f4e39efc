package abicheck

import (
	"bytes"
	"fmt"
	"sort"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// WeakBodies warns about weak definitions that lost to one with another body:
// which of them a program gets then depends on the order of the inputs. Names
// that mean nothing outside the module are compared by the part they play, lines
// not at all. Modules of different compilers, ISA versions, targets or options
// write one function differently and are not compared.
func WeakBodies(t *resolve.Table, log *diag.Log) {
	for i := range t.Symbols {
		s := &t.Symbols[i]
		if !s.Defined() || len(s.Mentions) < 2 {
			continue
		}
		kept := t.Files[s.Def.File]
		def := kept.DeclOf(s.Def.Name)
		if def == nil || kept.Symbols[s.Def.Name].Linkage != ptx.Weak {
			continue
		}
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			sym := f.Symbols[id.Name]
			if id == s.Def || sym.Def < 0 || sym.Linkage != ptx.Weak || !sameCompiler(f, kept) {
				continue
			}
			d := &f.Decls[sym.Def]
			if d.Kind != def.Kind || sameText(t, id.File, d, s.Def.File, def) {
				continue
			}
			what := "body"
			if d.Kind == ptx.Variable {
				what = "initial value"
			}
			log.Warn(diag.ODR, f.At(d.NameSpan), fmt.Sprintf("%s has another %s here than in %s, whose definition is used", diag.Name(s.Name), what, kept.Name)).
				Note(kept.At(def.NameSpan), "this definition is used")
		}
	}
}

// sameCompiler says whether one source would give one text in both modules.
func sameCompiler(a, b *object.File) bool {
	if a.Producer != b.Producer || a.Version != b.Version || a.Debug != b.Debug || len(a.Target) != len(b.Target) {
		return false
	}
	for i := range a.Target {
		if a.Target[i].Word != b.Target[i].Word {
			return false
		}
	}
	return true
}

// sameText is SameBody with a short cut for the common case.
func sameText(t *resolve.Table, fileA int32, a *ptx.Decl, fileB int32, b *ptx.Decl) bool {
	x, y := bodyReader(t, fileA, a), bodyReader(t, fileB, b)
	if bytes.Equal(x.text(), y.text()) && len(x.f.Locs)+len(y.f.Locs) == 0 && x.namesNothingLocal() && y.namesNothingLocal() {
		return true
	}
	_, same := SameBody(t, fileA, a, fileB, b)
	return same
}

// SameBody says whether two bodies or initialisers are the same but for names
// without meaning elsewhere, and what each such name of the first is called in
// the second.
func SameBody(t *resolve.Table, fileA int32, a *ptx.Decl, fileB int32, b *ptx.Decl) (names map[string]string, same bool) {
	x, y := bodyReader(t, fileA, a), bodyReader(t, fileB, b)
	forth, back := map[string]string{}, map[string]string{}
	for {
		tx, nameX := x.next()
		ty, nameY := y.next()
		if tx.Kind != ty.Kind {
			return nil, false
		}
		if tx.Kind == ptx.EOF {
			return forth, true
		}
		sx, sy := x.f.Src.String(tx.Span()), y.f.Src.String(ty.Span())
		switch {
		case nameX != nameY:
			return nil, false
		case !nameX:
			if sx != sy {
				return nil, false
			}
		case forth[sx] == "" && back[sy] == "":
			forth[sx], back[sy] = sy, sx
		case forth[sx] != sy || back[sy] != sx:
			return nil, false
		}
	}
}

// reader reads the tokens of a body or initialiser.
type reader struct {
	t     *resolve.Table
	file  int32
	f     *object.File
	span  diag.Span
	uses  []ptx.Use
	locs  []ptx.Loc
	lex   ptx.Lexer
	start bool // of a statement: an opcode or a label
}

func bodyReader(t *resolve.Table, file int32, d *ptx.Decl) *reader {
	f := t.Files[file]
	r := &reader{t: t, file: file, f: f, span: d.Body, uses: f.Uses[d.FirstUse:d.EndUse], start: true}
	if d.Kind == ptx.Variable {
		r.span, r.start = d.Init, false
	}
	r.locs = f.Locs[sort.Search(len(f.Locs), func(i int) bool { return f.Locs[i].Span.Off >= r.span.Off }):]
	r.lex = ptx.NewLexer(f.Src.Text[:r.span.End()], r.span.Off)
	return r
}

func (r *reader) text() []byte { return r.f.Src.Bytes(r.span) }

func (r *reader) namesNothingLocal() bool {
	for _, u := range r.uses {
		if r.t.Of(object.ID{File: r.file, Name: u.Name}) == resolve.None {
			return false
		}
	}
	return true
}

// next is the next token outside .loc lines. local says that the token is a
// name without meaning elsewhere: a label, a local object, a module-local name.
func (r *reader) next() (t ptx.Token, local bool) {
	for t = r.lex.Next(); ; t = r.lex.Next() {
		for len(r.locs) > 0 && r.locs[0].Span.End() <= t.Off {
			r.locs = r.locs[1:]
		}
		if len(r.locs) == 0 || t.Off < r.locs[0].Span.Off || t.Kind == ptx.EOF {
			break
		}
	}
	start := r.start
	r.start = t.Kind == ptx.Punct && (t.Ch == ';' || t.Ch == '{' || t.Ch == '}' || t.Ch == ':')
	if t.Kind != ptx.Ident {
		return t, false
	}
	for len(r.uses) > 0 && r.uses[0].Off < t.Off {
		r.uses = r.uses[1:]
	}
	if len(r.uses) > 0 && r.uses[0].Off == t.Off {
		return t, r.t.Of(object.ID{File: r.file, Name: r.uses[0].Name}) == resolve.None
	}
	if start { // an opcode, unless a colon makes it a label
		rest := bytes.TrimLeft(r.f.Src.Text[t.End:r.span.End()], " \t")
		return t, len(rest) > 0 && rest[0] == ':'
	}
	return t, r.f.Src.Text[t.Off] != '%'
}
