package resolve

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
)

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

// selected opens modules named a, b, c and so on, makes all lazy but one, and
// returns which are live and why.
func selected(t *testing.T, roots, defined []string, redirect map[string]string, main int, archive bool, texts ...string) (names, why []string) {
	t.Helper()
	var inputs []object.Input
	for i, text := range texts {
		in := object.Input{Name: string(rune('a' + i)), Text: []byte(top + text)}
		if archive && i != main {
			in.Text = fmt.Appendf([]byte("!<arch>\n"), "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s\n", "m/", 0, 0, 0, "644", len(in.Text)+1, in.Text)
		}
		inputs = append(inputs, in)
	}
	var log diag.Log
	set, err := object.Open(context.Background(), inputs, object.Options{Jobs: 1}, &log)
	if err != nil || log.Errors() > 0 {
		t.Fatal(err, log.Messages)
	}
	for i, u := range set.Units {
		u.Lazy = i != main
	}
	live, pulls, err := Live(set.Units, roots, defined, redirect, func(units []*object.Unit) error { return set.Read(context.Background(), units, &log) })
	if err != nil || log.Errors() > 0 {
		t.Fatal(err, log.Messages)
	}
	for i, f := range live {
		names = append(names, f.Name[:1])
		if f.Rank != i {
			t.Errorf("rank of %s: %d, want %d", f.Name, f.Rank, i)
		}
		if named := f.Name[:1] == string(rune('a'+main)); f.Pulled == named {
			t.Errorf("%s is pulled: %v", f.Name, f.Pulled)
		}
	}
	for _, p := range pulls {
		by := "-u"
		if p.By != nil {
			by = p.By.Name[:1]
		}
		why = append(why, p.File.Name[:1]+" for "+p.Symbol+" by "+by)
	}
	return names, why
}

func TestLive(t *testing.T) {
	for _, archive := range []bool{false, true} {
		for _, test := range []struct {
			what      string
			roots     []string
			main      int
			texts     []string
			live, why []string
		}{
			{"all rules", []string{"root", "malloc"}, 2, []string{
				".visible .func unneeded(){ret;}",                                                 // a
				".visible .func g(){ret;} .extern .func h(); .visible .func g2(){ call h; ret; }", // b
				".extern .func g(); .extern .func never(); .visible .entry k(){ call g; ret; }",   // c, the main module
				".visible .func g(){ret;}",                                                        // d: b is first
				".weak .func h(){ret;}",                                                           // e
				".visible .func never(){ret;}",                                                    // f: declared, not used
				".visible .func root(){ ret; }",                                                   // g: a root
				".visible .func malloc(){ret;}",                                                   // h: a system call
			}, []string{"b", "c", "e", "g"}, []string{"g for root by -u", "b for g by c", "e for h by b"}},
			{"a common definition, if there is no other", nil, 0, []string{
				".extern .global .b8 pool[4]; .extern .global .b8 only[4]; .visible .entry k(){ st.global.u8 [pool], 1; st.global.u8 [only], 1; ret; }",
				".common .global .b8 pool[4];",
				".common .global .b8 only[4];",
				".common .global .b8 only[4];",
				".visible .global .b8 pool[4];",
			}, []string{"a", "c", "e"}, []string{"e for pool by a", "c for only by a"}},
			{"a definition for a common one", nil, 0, []string{
				".common .global .b8 pool[4];",
				".common .global .b8 pool[4];",
				".weak .global .b8 pool[4];",
				".visible .global .b8 pool[4];",
			}, []string{"a", "c"}, []string{"c for pool by a"}},
			{"an alias", nil, 1, []string{
				".visible .func f(); .func body(){ret;} .alias f, body;",
				".extern .func f(); .visible .entry k(){ call f; ret; }",
			}, []string{"a", "b"}, []string{"a for f by b"}},
			{"what a member brings along is not looked for", nil, 0, []string{
				".extern .func f(); .extern .func g(); .visible .entry k(){ call f; call g; ret; }",
				".visible .func f(){ret;} .visible .func g(){ret;}",
				".visible .func g(){ret;}",
			}, []string{"a", "b"}, []string{"b for f by a"}},
			{"the definition of the main module", nil, 0, []string{
				".extern .func f(); .visible .func g(){ret;} .visible .entry k(){ call f; ret; }",
				".extern .func g(); .visible .func f(){ call g; ret; }",
				".visible .func g(){ret;}",
			}, []string{"a", "b"}, []string{"b for f by a"}},
			{"no definition for a local prototype", nil, 0, []string{
				".func g(); .visible .entry k(){ call g; ret; }",
				".visible .func g(){ret;}",
			}, []string{"a"}, nil},
			{"no common definition for a common one", nil, 0, []string{
				".common .global .b8 pool[4];",
				".common .global .b8 pool[4];",
			}, []string{"a"}, nil},
			{"no second common definition for a use", nil, 0, []string{
				".extern .func f(); .common .global .b8 pool[4]; .visible .entry k(){ call f; ret; }",
				".common .global .b8 pool[4];",
				".extern .global .b8 pool[4]; .visible .func f(){ st.global.u8 [pool], 1; ret; }",
			}, []string{"a", "c"}, []string{"c for f by a"}},
			{"no definition for the common one of a member", nil, 0, []string{
				".extern .func f(); .visible .global .b8 pool[4]; .visible .entry k(){ call f; ret; }",
				".common .global .b8 pool[4]; .visible .func f(){ret;}",
				".visible .global .b8 pool[4];",
			}, []string{"a", "b"}, []string{"b for f by a"}},
			{"a definition that a member brings along replaces a common one", nil, 0, []string{
				".extern .func f(); .visible .entry k(){ call f; ret; } .common .global .b8 pool[4];",
				".visible .global .b8 pool[4];",
				".visible .func f(){ret;} .visible .global .b8 pool[4];",
			}, []string{"a", "c"}, []string{"c for f by a"}},
			{"what a name is redirected to, not the name", nil, 0, []string{
				".extern .func old(); .extern .func other(); .visible .entry k(){ call old; call other; ret; }",
				".visible .func old(){ret;}",
				".visible .func new(){ret;}",
				".visible .func other(){ret;}",
			}, []string{"a", "c", "d"}, []string{"c for new by a", "d for other by a"}},
			{"a common definition for a root", []string{"pool"}, 0, []string{
				".visible .entry k(){ ret; }",
				".common .global .b8 pool[4];",
			}, []string{"a", "b"}, []string{"b for pool by -u"}},
			{"the first definition", nil, 2, []string{
				".visible .func g(){ret;}",
				".visible .func g(){ret;}",
				".extern .func g(); .visible .entry k(){ call g; ret; }",
			}, []string{"a", "c"}, []string{"a for g by c"}},
			{"the first common one", nil, 2, []string{
				".common .global .b8 pool[4];",
				".common .global .b8 pool[4];",
				".extern .global .b8 pool[4]; .visible .entry k(){ st.global.u8 [pool], 1; ret; }",
			}, []string{"a", "c"}, []string{"a for pool by c"}},
			{"no definition for what an option defines", nil, 0, []string{
				".extern .func option(); .visible .entry k(){ call option; ret; }",
				".visible .func option(){ret;}",
			}, []string{"a"}, nil},
		} {
			live, why := selected(t, test.roots, []string{"option", "nowhere"}, map[string]string{"old": "new"}, test.main, archive, test.texts...)
			if !slices.Equal(live, test.live) || !slices.Equal(why, test.why) {
				t.Errorf("%s (in archives: %v): live %v, want %v; %q, want %q", test.what, archive, live, test.live, why, test.why)
			}
		}
	}
}
