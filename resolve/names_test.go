package resolve

import (
	"slices"
	"strings"
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// renamed links modules and returns the names of the output: those at module scope that
// differ from the input, as "b.f f$1"; those inside functions, as "b.k x x$1"; and the text
// of all functions that were edited. lookedUp lists names in functions as "a.k.L": debug
// sections look them up.
func renamed(t *testing.T, o Options, lookedUp string, modules ...string) (scope, locals, texts []string) {
	t.Helper()
	table := Resolve(opened(t, modules...), o, &diag.Log{})
	var names []LocalName
	for _, l := range strings.Fields(lookedUp) {
		id := table.id(l[:strings.LastIndex(l, ".")])
		at := DeclID{id.File, table.Files[id.File].Symbols[id.Name].Def}
		names = append(names, LocalName{DeclID: at, Name: l[strings.LastIndex(l, ".")+1:]})
	}
	n := Rename(table, names, 1)
	for i, f := range table.Files {
		differ := false
		for j, name := range f.Names {
			id := object.ID{File: int32(i), Name: ptx.NameID(j)}
			if out := n.Of(id); out != name {
				scope = append(scope, table.spelling(id)+" "+out)
				differ = true
				if redirected := table.Of(id) != None; slices.Contains(n.Renamed, id) == redirected {
					t.Errorf("%s is in Renamed: %v", table.spelling(id), !redirected)
				}
			}
		}
		if n.Differ(int32(i)) != differ {
			t.Errorf("Differ of %s: %v", f.Name, !differ)
		}
		for d := range f.Decls {
			if edits := n.LocalEdits(DeclID{int32(i), int32(d)}); edits != nil {
				texts = append(texts, string(ptx.Apply(nil, f.Src.Text, f.Decls[d].Span, edits)))
			}
		}
	}
	in := func(at DeclID) string {
		return table.spelling(object.ID{File: at.File, Name: table.Files[at.File].Decls[at.Decl].Name})
	}
	for _, l := range n.Locals() {
		locals = append(locals, in(l.DeclID)+" "+l.Old+" "+l.New)
	}
	for i, l := range names {
		renamed := slices.Contains(locals, in(l.DeclID)+" "+l.Name+" "+n.Local(int32(i)))
		if renamed == (n.Local(int32(i)) == l.Name) {
			t.Errorf("%s of %s is looked up as %s", l.Name, in(l.DeclID), n.Local(int32(i)))
		}
	}
	return scope, locals, texts
}

// TestRenameModuleScope states the names of the output at module scope.
func TestRenameModuleScope(t *testing.T) {
	private := ".func f(){ret;}"
	for _, test := range []struct {
		rule    string
		options Options
		modules []string
		want    []string
	}{
		{"names that differ stay", Options{}, []string{".func f(){ret;}", ".func g(){ret;}"}, nil},
		{"the first of a spelling keeps it, later ones are numbered", Options{}, []string{private, private, private}, []string{"b.f f$1", "c.f f$2"}},
		{"an external name keeps it, in a later module too", Options{}, []string{private, ".visible .func f(){ret;}"}, []string{"a.f f$1"}},
		{"an undefined name keeps it", Options{}, []string{private, ".extern .func f; .visible .entry k(){call f; ret;}"}, []string{"a.f f$1"}},
		{"a name of any kind is taken", Options{}, []string{private, ".global .u32 f;"}, []string{"b.f f$1"}},
		{"a number that an input has is skipped", Options{}, []string{private, private, ".visible .func f$1(){ret;}"}, []string{"b.f f$2"}},
		{"a number that a function declares is skipped", Options{}, []string{private, private + " .func g(){.reg .b32 f$1; ret;}"}, []string{"b.f f$2"}},
		{"numbers that a range declares are skipped", Options{}, []string{private, private + " .func g(){.reg .b32 f$<3>; ret;}"}, []string{"b.f f$3"}},
		{"of ranges of one name the longest counts", Options{}, []string{private, private + " .func g(){.reg .b32 f$<3>; ret;} .func h(){.reg .b32 f$<2>; ret;}"}, []string{"b.f f$3"}},
		{"a name of an earlier link gets a further suffix", Options{}, []string{".func f$1(){ret;}", ".func f$1(){ret;}"}, []string{"b.f$1 f$1$1"}},
		{"a redirected name is that of its symbol", Options{Redirect: map[string]string{"f": "g"}}, []string{".extern .func f; .visible .entry k(){call f; ret;}", ".visible .func g(){ret;}"}, []string{"a.f g"}},
		{"a definition keeps its name", Options{Redirect: map[string]string{"f": "g"}}, []string{".visible .func f(){ret;}", ".visible .func g(){ret;}"}, nil},
		{"what is redirected leaves its name to others", Options{Redirect: map[string]string{"f": "g"}}, []string{".extern .func f; .visible .entry k(){call f; ret;}", ".visible .func g(){ret;}", private}, []string{"a.f g"}},
	} {
		scope, locals, _ := renamed(t, test.options, "", test.modules...)
		same(t, test.rule, "module scope", scope, test.want)
		same(t, test.rule, "inside functions", locals, nil)
	}
}

// TestRenameLocals states the names of the output inside functions.
func TestRenameLocals(t *testing.T) {
	for _, test := range []struct {
		rule     string
		options  Options
		lookedUp string
		modules  []string
		want     []string
		texts    []string
	}{
		{"a local may have the name of a symbol that its module declares before", Options{}, "",
			[]string{".visible .func x(){ret;} .visible .entry k(){.reg .b32 x; mov.u32 x, 1; ret;}"}, nil, nil},
		{"not that of a symbol behind", Options{}, "",
			[]string{".visible .entry k(){.reg .b32 x; mov.u32 x, 1; ret;} .visible .func x(){ret;}"},
			[]string{"a.k x x$1"}, []string{".visible .entry k(){.reg .b32 x$1; mov.u32 x$1, 1; ret;}"}},
		{"nor that of an external name of another module", Options{}, "",
			[]string{".visible .func x(){ret;}", ".visible .entry k(){x: bra x;}"},
			[]string{"b.k x x$1"}, []string{".visible .entry k(){x$1: bra x$1;}"}},
		{"nor that of a private name of another module", Options{}, "",
			[]string{".func x(){ret;}", ".visible .entry k(.param .u32 x){.reg .b32 r; ld.param.u32 r, [x]; ret;}"},
			[]string{"b.k x x$1"}, []string{".visible .entry k(.param .u32 x$1){.reg .b32 r; ld.param.u32 r, [x$1]; ret;}"}},
		{"nor that of a name that several modules have, even the own", Options{}, "",
			[]string{".visible .func x(){ret;}", ".extern .func x; .visible .entry k(){.reg .b32 x; mov.u32 x, 1; ret;}"},
			[]string{"b.k x x$1"}, []string{".visible .entry k(){.reg .b32 x$1; mov.u32 x$1, 1; ret;}"}},
		{"nor in the first of them", Options{}, "",
			[]string{".extern .func x; .visible .entry k(){.reg .b32 x; mov.u32 x, 1; ret;}", ".visible .func x(){ret;}"},
			[]string{"a.k x x$1"}, []string{".visible .entry k(){.reg .b32 x$1; mov.u32 x$1, 1; ret;}"}},
		{"nor that of a symbol to which others are redirected, even the own", Options{Redirect: map[string]string{"old": "x"}}, "",
			[]string{".visible .func x(){ret;} .extern .func old; .visible .entry k(){.reg .b32 x; mov.u32 x, 1; call old; ret;}"},
			[]string{"a.k x x$1"}, []string{".visible .entry k(){.reg .b32 x$1; mov.u32 x$1, 1; call old; ret;}"}},
		{"it may have that of a symbol to which nothing is redirected", Options{Redirect: map[string]string{"old": "new"}}, "",
			[]string{".visible .func x(){ret;} .visible .entry k(){.reg .b32 x; mov.u32 x, 1; ret;}"}, nil, nil},
		{"a new name is not one that the function declares", Options{}, "",
			[]string{".func x(){ret;}", ".visible .entry k(){.reg .b32 x, x$1; mov.u32 x, x$1; ret;}"},
			[]string{"b.k x x$2"}, []string{".visible .entry k(){.reg .b32 x$2, x$1; mov.u32 x$2, x$1; ret;}"}},
		{"a range gets another base, if a member is the name of a symbol", Options{}, "",
			[]string{".func r2(){ret;}", ".visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;}"},
			[]string{"b.k r r$1$"}, []string{".visible .entry k(){.reg .b32 r$1$<3>; mov.u32 r$1$2, r$1$0; ret;}"}},
		{"not if the number is outside the range", Options{}, "",
			[]string{".func r3(){ret;}", ".visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;}"}, nil, nil},
		{"nor if its module declares the symbol before", Options{}, "",
			[]string{".func r2(){ret;} .visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;}"}, nil, nil},
		{"but if its module declares one before and another one behind", Options{}, "",
			[]string{".func r1(){ret;} .visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;} .func r2(){ret;}"},
			[]string{"a.k r r$1$"}, []string{".visible .entry k(){.reg .b32 r$1$<3>; mov.u32 r$1$2, r$1$0; ret;}"}},
		{"or if its module declares one before and another module one", Options{}, "",
			[]string{".func r1(){ret;} .visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;}", ".func r2(){ret;}"},
			[]string{"a.k r r$1$"}, []string{".visible .entry k(){.reg .b32 r$1$<3>; mov.u32 r$1$2, r$1$0; ret;}"}},
		{"a new base is not one that an input has", Options{}, "",
			[]string{".func r2(){ret;} .func r$1$0(){ret;}", ".visible .entry k(){.reg .b32 r<3>, r$2$<2>; mov.u32 r2, r$2$0; ret;}"},
			[]string{"b.k r r$3$"}, []string{".visible .entry k(){.reg .b32 r$3$<3>, r$2$<2>; mov.u32 r$3$2, r$2$0; ret;}"}},
		{"nor one that a new name of a symbol begins with", Options{}, "",
			[]string{".func r2(){ret;} .func r$1(){ret;}", ".func r$1(){ret;} .visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; ret;}"},
			[]string{"b.k r r$2$"}, []string{".visible .entry k(){.reg .b32 r$2$<3>; mov.u32 r$2$2, r$2$0; ret;}"}},
		{"a range may be that of a redirected symbol no more than a local", Options{Redirect: map[string]string{"old": "r2"}}, "",
			[]string{".visible .func r2(){ret;} .extern .func old; .visible .entry k(){.reg .b32 r<3>; mov.u32 r2, r0; call old; ret;}"},
			[]string{"a.k r r$1$"}, []string{".visible .entry k(){.reg .b32 r$1$<3>; mov.u32 r$1$2, r$1$0; call old; ret;}"}},
		{"registers that start with % are renamed, too", Options{}, "",
			[]string{".func %x(){ret;}", ".visible .entry k(){.reg .b32 %x, %y; mov.u32 %x, %y; ret;}"},
			[]string{"b.k %x %x$1"}, []string{".visible .entry k(){.reg .b32 %x$1, %y; mov.u32 %x$1, %y; ret;}"}},

		{"a range of targets is written out, if one of them is renamed", Options{}, "",
			[]string{".visible .func L1(){ret;}", ".visible .entry k(){.reg .b32 r; T: .branchtargets L<2>; brx.idx r, T; L0: L1: ret;}"},
			[]string{"b.k L1 L1$1"}, []string{".visible .entry k(){.reg .b32 r; T: .branchtargets L0, L1$1; brx.idx r, T; L0: L1$1: ret;}"}},
		{"so is one of functions", Options{}, "",
			[]string{".func f1(){ret;}", ".func f0(){ret;} .func f1(){ret;} .visible .entry k(){.reg .b64 r; F: .calltargets f<2>; call r, F; ret;}"},
			nil, []string{".visible .entry k(){.reg .b64 r; F: .calltargets f0, f1$1; call r, F; ret;}"}},

		{"a label that DWARF looks up stays, if it is the only one", Options{}, "a.k.L b.l.M",
			[]string{".visible .entry k(){L: ret;} .func f(){N: ret;}", ".visible .entry l(){M: ret;} .func g(){N: ret;}"}, nil, nil},
		{"each of several is renamed", Options{}, "a.k.L b.l.L",
			[]string{".visible .entry k(){L: bra L;}", ".visible .entry l(){L: bra L;}"},
			[]string{"a.k L L$1", "b.l L L$2"}, []string{".visible .entry k(){L$1: bra L$1;}", ".visible .entry l(){L$2: bra L$2;}"}},
		{"a label that DWARF does not look up counts, and stays", Options{}, "a.k.L",
			[]string{".visible .entry k(){L: bra L;} .func f(){L: bra L;}"},
			[]string{"a.k L L$1"}, []string{".visible .entry k(){L$1: bra L$1;}"}},
		{"that of a function that lost does not count", Options{}, "b.k.L",
			[]string{".visible .func f(){ret;}", ".visible .entry k(){L: ret;} .weak .func f(){L: ret;}"}, nil, nil},
		{"one from which an earlier link derived a name is renamed", Options{}, "a.k.L",
			[]string{".visible .entry k(){L: ret;}", ".func f(){L$1: ret;}"},
			[]string{"a.k L L$2"}, []string{".visible .entry k(){L$2: ret;}"}},
		{"one that a symbol captures is renamed once", Options{}, "b.l.L",
			[]string{".visible .func L(){ret;}", ".visible .entry l(){L: bra L;} .func f(){L: bra L;}"},
			[]string{"b.l L L$1", "b.f L L$2"}, []string{".visible .entry l(){L$1: bra L$1;}", ".func f(){L$2: bra L$2;}"}},
		{"the first of two in a function is renamed, as ptxas searches", Options{}, "a.k.L",
			[]string{".visible .entry k(){{L: bra L;} {L: bra L;}} .func f(){L: ret;}"},
			[]string{"a.k L L$1"}, []string{".visible .entry k(){{L$1: bra L$1;} {L: bra L;}}"}},
		{"two in a function count once", Options{}, "a.k.L",
			[]string{".visible .entry k(){{L: bra L;} {L: bra L;}}"}, nil, nil},
		{"a register is not looked up", Options{}, "b.k.L",
			[]string{".visible .func x(){ret;}", ".visible .entry k(){x: {.reg .b32 L; mov.u32 L, 1;} L: bra L;} .func f(){L: ret;}"},
			[]string{"b.k x x$1", "b.k L L$1"}, []string{".visible .entry k(){x$1: {.reg .b32 L; mov.u32 L, 1;} L$1: bra L$1;}"}},
	} {
		_, locals, texts := renamed(t, test.options, test.lookedUp, test.modules...)
		same(t, test.rule, "inside functions", locals, test.want)
		same(t, test.rule, "text", texts, test.texts)
	}
}
