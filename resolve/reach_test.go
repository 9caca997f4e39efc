package resolve

import (
	"slices"
	"strings"
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// definitions returns the definitions of all files that have the property.
func (t *Table) definitions(property func(object.ID) bool) (list []string) {
	for i, f := range t.Files {
		for n := range f.Symbols {
			if id := (object.ID{File: int32(i), Name: ptx.NameID(n)}); f.Symbols[n].Defined() && property(id) {
				list = append(list, t.spelling(id))
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestCollect states which definitions are in the output. All others were removed, or lost
// to another.
func TestCollect(t *testing.T) {
	const program = ".visible .entry k(){ret;} "
	variables := Roots{Variables: true}
	for _, test := range []struct {
		rule    string
		roots   Roots
		options Options
		hide    string
		modules []string
		live    string
	}{
		{"what a kernel calls stays, and what that calls", Roots{}, Options{}, "", []string{".func g(){ret;} .func f(){call g; ret;} .func u(){ret;} .visible .entry k(){call f; ret;}"}, "a.f a.g a.k"},
		{"across modules", Roots{}, Options{}, "", []string{".extern .func f; .visible .entry k(){call f; ret;}", ".func g(){ret;} .visible .func f(){call g; ret;} .visible .func u(){ret;}"}, "a.k b.f b.g"},
		{"a cycle that nothing enters goes", Roots{}, Options{}, "", []string{program + ".visible .func g(); .visible .func f(){call g; ret;} .visible .func g(){call f; ret;}"}, "a.k"},
		{"a definition that lost does not keep what it uses", Roots{}, Options{}, "", []string{".func g(){ret;} .weak .func f(){call g; ret;} .visible .entry k(){call f; ret;}", ".visible .func f(){ret;}"}, "a.k b.f"},
		{"a declaration does not keep a definition", Roots{}, Options{}, "", []string{program + ".extern .func f;", ".visible .func f(){ret;}"}, "a.k"},
		{"a name that is taken as an address counts as used", Roots{}, Options{}, "", []string{".func f(){ret;} .visible .entry k(){.reg .b64 r; mov.u64 r, f; ret;}"}, "a.f a.k"},
		{"a name in an initial value counts as used", Roots{}, Options{}, "", []string{".func f(){ret;} .global .u64 v = f; .global .u64 w = f; .visible .entry k(){.reg .b64 r; mov.u64 r, v; ret;}"}, "a.f a.k a.v"},
		{"the body behind an alias stays", Roots{}, Options{}, "", []string{".func f(){ret;} .visible .func s(); .alias s, f; .visible .entry k(){call s; ret;}"}, "a.f a.k a.s"},
		{"the aliases between do not", Roots{}, Options{}, "", []string{".func f(){ret;} .visible .func s(); .visible .func m(); .alias s, m; .alias m, f; .visible .entry k(){call s; ret;}"}, "a.f a.k a.s"},
		{"an alias of a symbol of another module keeps that", Roots{}, Options{}, "", []string{".extern .func f; .visible .func s(); .alias s, f; .visible .entry k(){call s; ret;}", ".visible .func f(){ret;}"}, "a.k a.s b.f"},
		{"a statement that ptxlink does not know keeps what it names", Roots{}, Options{}, "", []string{program + ".func f(){ret;} .func g(){ret;} .newdirective f;"}, "a.f a.k"},
		{"a redirected use keeps what it was redirected to", Roots{}, Options{Redirect: map[string]string{"old": "new"}}, "", []string{".extern .func old; .visible .entry k(){call old; ret;}", ".visible .func old(){ret;} .visible .func new(){ret;}"}, "a.k b.new"},

		{"all kernels stay, also those without linkage", Roots{}, Options{}, "", []string{".visible .entry k(){ret;} .entry l(){ret;} .visible .func u(){ret;}"}, "a.k a.l"},
		{"only the kernels that are asked for", Roots{Entries: []string{"k", "m*"}}, Options{}, "", []string{".func f(){ret;} .visible .entry k(){ret;} .visible .entry l(){call f; ret;} .visible .entry m1(){ret;}"}, "a.k a.m1"},
		{"without a kernel all external functions stay, and .shared variables", variables, Options{}, "", []string{".func u(){ret;} .visible .func f(){ret;} .weak .func g(){ret;} .visible .shared .u32 s; .shared .u32 t;"}, "a.f a.g a.s"},
		{"without a kernel that is asked for, too", Roots{Entries: []string{"none"}}, Options{}, "", []string{program + ".visible .func f(){ret;}"}, "a.f"},
		{"an exported kernel makes it no library", Roots{Entries: []string{"none"}, Exports: []string{"k"}}, Options{}, "", []string{program + ".visible .func f(){ret;}"}, "a.k"},
		{"an exported function does", Roots{Entries: []string{"none"}, Exports: []string{"g"}}, Options{}, "", []string{program + ".visible .func f(){ret;} .func g(){ret;}"}, "a.f a.g"},
		{"but not those that are hidden", variables, Options{}, "f", []string{".visible .func f(){ret;} .visible .func g(){ret;}"}, "a.g"},
		{"a kernel of another module makes it no library", Roots{}, Options{}, "", []string{".visible .func f(){ret;}", program}, "b.k"},
		{"the host finds variables in .global and .const, also those without linkage", variables, Options{}, "", []string{program + ".visible .global .u32 g; .const .u32 c; .visible .shared .u32 s; .func f(){ret;} .global .u64 p = f;"}, "a.c a.f a.g a.k a.p"},
		{"unless variables are collected", Roots{}, Options{}, "", []string{program + ".visible .global .u32 g; .const .u32 c;"}, "a.k"},
		{"then those of a library go, too", Roots{}, Options{}, "", []string{".visible .global .u32 g; .visible .func f(){ret;} .visible .shared .u32 s;"}, "a.f a.s"},
		{"exports stay", Roots{Exports: []string{"f", "h*"}}, Options{}, "", []string{program + ".visible .func f(){ret;} .func h1(){ret;} .visible .func u(){ret;}"}, "a.f a.h1 a.k"},
		{"names stay; they are no patterns", Roots{Names: []string{"f", "h*"}}, Options{}, "", []string{program + ".visible .func f(){ret;} .visible .func h1(){ret;}"}, "a.f a.k"},
		{"an alias that is exported stays", Roots{Exports: []string{"s"}}, Options{}, "", []string{program + ".func f(){ret;} .visible .func s(); .alias s, f;"}, "a.f a.k a.s"},
		{"an export that lost does not", Roots{Exports: []string{"f"}}, Options{}, "", []string{program + ".func g(){ret;} .weak .func f(){call g; ret;}", ".visible .func f(){ret;}"}, "a.k b.f"},
		{"callables of OptiX stay", Roots{}, Options{}, "", []string{program + ".visible .func __direct_callable__a(){ret;} .visible .func __continuation_callable__b(){ret;} .visible .func __callable__c(){ret;}"}, "a.__continuation_callable__b a.__direct_callable__a a.k"},
		{"unified functions stay", Roots{}, Options{}, "", []string{program + ".visible .func .attribute(.unified(1, 2)) f(){ret;} .visible .func g() .noreturn {ret;}"}, "a.f a.k"},
	} {
		files := opened(t, test.modules...)
		table := Resolve(files, test.options, &diag.Log{})
		table.Hide(strings.Fields(test.hide), nil)
		all := table.definitions(table.Live)
		table.Collect(test.roots)
		live := table.definitions(table.Live)
		same(t, test.rule, "in the output", live, strings.Fields(test.live))
		same(t, test.rule, "kept", table.definitions(func(id object.ID) bool { return table.Chosen(id) && table.Kept(id) }), live)
		removed := slices.DeleteFunc(all, func(name string) bool { return slices.Contains(live, name) })
		same(t, test.rule, "removed", slices.Sorted(slices.Values(table.spellings(table.Removed()))), removed)
	}
}

// TestWhyLive states how the output comes to a definition.
func TestWhyLive(t *testing.T) {
	for _, test := range []struct {
		rule    string
		roots   Roots
		modules []string
		of      string
		way     string
	}{
		{"a root leads to itself", Roots{Ways: true}, []string{".visible .entry k(){ret;}"}, "a.k", "a.k"},
		{"the root comes first", Roots{Ways: true}, []string{".extern .func f; .visible .entry k(){call f; ret;}", ".func g(){ret;} .visible .func f(){call g; ret;}"}, "b.g", "a.k b.f b.g"},
		{"an alias is a step", Roots{Ways: true}, []string{".func f(){ret;} .visible .func s(); .alias s, f; .visible .entry k(){call s; ret;}"}, "a.f", "a.k a.s a.f"},
		{"a root leads to itself, also if another one uses it", Roots{Ways: true, Exports: []string{"f"}}, []string{".func f(){ret;} .visible .entry k(){call f; ret;}"}, "a.f", "a.f"},
		{"a recursive call is not why a function stays", Roots{Ways: true}, []string{".visible .func f(); .visible .func f(){call f; ret;} .visible .entry k(){call f; ret;}"}, "a.f", "a.k a.f"},
		{"nothing leads to what was removed", Roots{Ways: true}, []string{".func f(){ret;} .visible .entry k(){ret;}"}, "a.f", ""},
		{"an unknown statement is no definition", Roots{Ways: true}, []string{".func f(){ret;} .visible .entry k(){ret;} .newdirective f;"}, "a.f", "a.f"},
		{"nothing is recorded unless it is asked for", Roots{}, []string{".func f(){ret;} .visible .entry k(){call f; ret;}"}, "a.f", "a.f"},
	} {
		table := Resolve(opened(t, test.modules...), Options{}, &diag.Log{})
		table.Collect(test.roots)
		same(t, test.rule, "way", table.spellings(table.WhyLive(table.id(test.of))), strings.Fields(test.way))
	}
}

// TestNeeded states which undefined symbols the output needs, and which members have a
// part in it.
func TestNeeded(t *testing.T) {
	const program = ".visible .entry k(){ret;} "
	for _, test := range []struct {
		rule         string
		modules      []string
		everything   bool
		needed       bool // s
		contributing string
	}{
		{"what a kernel uses", []string{".extern .func s; .visible .entry k(){call s; ret;}"}, false, true, "a"},
		{"not what a removed function uses", []string{program + ".extern .func s; .func f(){call s; ret;}"}, false, false, "a"},
		{"unless everything stays", []string{program + ".extern .func s; .func f(){call s; ret;}"}, true, true, "a"},
		{"what another module uses", []string{program + ".extern .func s; .func f(){call s; ret;}", ".extern .func s; .visible .entry l(){call s; ret;}"}, false, true, "ab"},
		{"members of which nothing stays have no part", []string{program + ".extern .func s; .func f(){call s; ret;}", "pulled .visible .func g(){ret;}"}, false, false, "a"},
		{"inputs have, whatever stays", []string{program + ".extern .func s;", ".visible .func g(){ret;}"}, false, false, "ab"},
		{"members with an unknown statement have", []string{program + ".extern .func s;", "pulled .visible .func g(){ret;} .newdirective 1;"}, false, false, "ab"},
		{"members have, if everything stays", []string{program + ".extern .func s;", "pulled .visible .func g(){ret;}"}, true, true, "ab"},
		{"all have, if nothing stays", []string{"pulled .extern .func s; .func f(){ret;}", "pulled .func g(){ret;}"}, false, false, "ab"},
	} {
		table := Resolve(opened(t, test.modules...), Options{}, &diag.Log{})
		if !test.everything {
			table.Collect(Roots{})
		}
		s, _ := table.Lookup("s")
		if needed := table.Needed(s); needed != test.needed {
			t.Errorf("%s: needed: %v", test.rule, needed)
		}
		contributing := ""
		for _, f := range table.Contributing() {
			contributing += letter(f.Rank)
		}
		if contributing != test.contributing {
			t.Errorf("%s: %s have a part, want %s", test.rule, contributing, test.contributing)
		}
	}
}

// TestMissing states which names the output uses and nothing defines, and who uses them first.
func TestMissing(t *testing.T) {
	const program = ".visible .entry k(){ret;} "
	for _, test := range []struct {
		rule    string
		modules []string
		missing string
	}{
		{"what a kernel uses", []string{".extern .func s; .visible .entry k(){call s; ret;}"}, "s:a"},
		{"not what a module defines", []string{".extern .func s; .visible .entry k(){call s; ret;}", ".visible .func s(){ret;}"}, ""},
		{"not what a removed function uses", []string{program + ".extern .func s; .func f(){call s; ret;}"}, ""},
		{"the first that uses it, not one that declares it", []string{".extern .func s;", ".extern .func s; .visible .entry k(){call s; ret;}", ".extern .func s; .visible .entry l(){call s; ret;}"}, "s:b"},
		{"nor one whose use was removed", []string{".extern .func s; .func f(){call s; ret;}", ".extern .func s; .visible .entry k(){call s; ret;}"}, "s:b"},
	} {
		table := Resolve(opened(t, test.modules...), Options{AllowUndefined: []string{"*"}}, &diag.Log{})
		table.Collect(Roots{})
		var missing []string
		table.Missing(func(name string, by *object.File) { missing = append(missing, name+":"+letter(by.Rank)) })
		same(t, test.rule, "missing", missing, strings.Fields(test.missing))
	}
}

// TestKept states which definitions are in the output or in another module.
func TestKept(t *testing.T) {
	table := Resolve(opened(t, ".extern .func outside; .func nowhere; .func removed(){ret;} .extern .func other; .visible .entry k(){call other; ret;}", ".visible .func other(){ret;}"), Options{}, &diag.Log{})
	table.Collect(Roots{})
	for name, want := range map[string]bool{"a.outside": true, "a.nowhere": true, "a.removed": false, "a.other": true, "b.other": true, "a.k": true} {
		if table.Kept(table.id(name)) != want {
			t.Errorf("%s is kept: %v", name, !want)
		}
	}
}

// TestHide states which definitions lose their linkage.
func TestHide(t *testing.T) {
	for _, test := range []struct{ rule, local, global, hidden string }{
		{"those that match", "f* g", "", "f1 f2 g"},
		{"none without patterns", "", "*", ""},
		{"a name goes before a pattern", "f1", "f*", "f1"},
		{"a pattern goes before everything", "*", "f*", "g"},
		{"a name goes before everything", "*", "g", "f1 f2"},
		{"what both lists name stays", "f1", "f1", ""},
		{"what both lists match stays", "f?", "?1", "f2"},
		{"everything in both stays", "*", "*", ""},
		{"not what is undefined", "undefined", "", ""},
	} {
		table := Resolve(opened(t, ".extern .func undefined; .visible .func f1(){ret;} .weak .func f2(){ret;} .visible .func g(){ret;} .func private(){ret;}"), Options{}, &diag.Log{})
		table.Hide(strings.Fields(test.local), strings.Fields(test.global))
		var hidden []string
		for _, s := range table.Symbols {
			if s.Hidden {
				hidden = append(hidden, s.Name)
			}
		}
		same(t, test.rule, "hidden", hidden, strings.Fields(test.hidden))
	}
}
