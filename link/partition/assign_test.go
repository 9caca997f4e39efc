package partition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/object/ptx"
)

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		total       int64
		units, want int
	}{
		{0, 0, 1},
		{599, 10, 1},
		{1199, 10, 1},
		{1200, 3, 1}, // half the units
		{1200, 4, 2},
		{3000, 10, 4}, // 5 is no step
		{4000, 2, 2},  // large parts
		{3999, 2, 1},
		{100_000, 1, 48},
		{1 << 40, 1, 64},
	} {
		if n := choose(test.total, test.units); n != test.want {
			t.Errorf("%d instructions of %d units: %d parts, want %d", test.total, test.units, n, test.want)
		}
	}
}

// TestShare shares parts among the functions of two settings.
func TestShare(t *testing.T) {
	for _, test := range []struct {
		a, b  int // functions of 1000 instructions each
		parts int
		want  string
	}{
		{10, 1, 1, "[1 1]"}, // one for each setting, also if that is too many
		{10, 1, 2, "[1 1]"},
		{10, 1, 5, "[4 1]"}, // what is left over goes to the largest
		{1, 10, 5, "[1 4]"},
		{4, 4, 4, "[2 2]"},
		{4, 4, 5, "[3 2]"}, // the first of equals
		{3, 1, 9, "[3 1]"}, // a function is in one part
		{3000, 1, 3000, "[1024 1]"},
		{10, 1, 0, "[4 1]"}, // by size
	} {
		p := &Program{cost: make([]int64, test.a+test.b)}
		c := &cutter{Program: p, unit: make([]string, test.a+test.b)}
		groups := map[string][]int32{}
		for f := range int32(test.a + test.b) {
			p.cost[f], c.unit[f] = 1000-perFunction, fmt.Sprint(f)
			p.functions = append(p.functions, f)
			setting := "a"
			if f >= int32(test.a) {
				setting = "b"
			}
			groups[setting] = append(groups[setting], f)
		}
		if got := fmt.Sprint(c.share(groups, []string{"a", "b"}, test.parts)); got != test.want {
			t.Errorf("%d and %d functions in %d parts: %s, want %s", test.a, test.b, test.parts, got, test.want)
		}
	}
}

func TestPlace(t *testing.T) {
	load := []int64{5, 3, 4}
	for _, test := range []struct {
		weight, room int64
		want         int
	}{
		{2, 5, 1}, // the only one with room
		{2, 4, 1}, // the least load
	} {
		if got := place(cluster{hash: 7, weight: test.weight}, load, test.room); got != test.want {
			t.Errorf("weight %d, room %d: part %d, want %d", test.weight, test.room, got, test.want)
		}
	}
	// With room everywhere, the order depends on the cluster alone.
	used := map[int]bool{}
	for hash := range uint64(40) {
		c := cluster{hash: hash, weight: 1}
		to := place(c, load, 100)
		used[to] = true
		if again := place(c, []int64{1, 50, 90}, 100); again != to {
			t.Errorf("cluster %d goes to part %d, then to %d", hash, to, again)
		}
	}
	if len(used) != len(load) {
		t.Errorf("40 clusters use the parts %v", used)
	}
}

// TestSettings cuts a program whose units have different settings: a part has the functions of
// one setting, and says which.
func TestSettings(t *testing.T) {
	m := parse(t, writeProgram(3, 16, ""))
	for _, names := range [][2]string{{"-O1", "-O3"}, {"-O3", "-O1"}} { // of the smaller and the larger half
		setting := func(unit string) string {
			if unit < "u05" {
				return names[0]
			}
			return names[1]
		}
		found := map[string]int{}
		for i, part := range New(m).Cut(Options{Parts: 6, Unit: unitOf(m), Setting: setting}) {
			found[part.Setting]++
			for _, name := range part.Names {
				if strings.HasPrefix(name, "u") && setting(name[:3]) != part.Setting {
					t.Errorf("part %d is for %q and has %s", i, part.Setting, name)
				}
			}
		}
		if found[names[0]] == 0 || found[names[1]] <= found[names[0]] || found[names[0]]+found[names[1]] != 6 {
			t.Errorf("parts by setting: %v", found)
		}
		if parts := New(m).Cut(Options{Parts: 1, Unit: unitOf(m), Setting: setting}); len(parts) != 2 {
			t.Errorf("%d parts for two settings", len(parts))
		}
	}
	whole := New(m).Cut(Options{Parts: 1, Unit: unitOf(m), Setting: func(string) string { return "-O2" }})
	if len(whole) != 1 || whole[0].Setting != "-O2" || !slices.Contains(whole[0].Names, "u00_f0") {
		t.Errorf("the whole program is %d parts, for %q", len(whole), whole[0].Setting)
	}
}

// TestTogether checks that the parts of a module fit together.
func TestTogether(t *testing.T) {
	texts := []string{`.version 7.0
.target sm_80
.address_size 64
.func target();
.func other();
.alias other, target;
.func target()
{
	ret;
}
.visible .entry k1()
{
	call other;
	ret;
}
.visible .entry k2()
{
	call target;
	ret;
}
`}
	for seed := range uint64(10) {
		texts = append(texts, writeProgram(seed, 12, ""))
	}
	for _, text := range texts {
		for _, parts := range []int{2, 3, 9} {
			m := parse(t, text)
			list := New(m).Cut(Options{Parts: parts})
			if len(list) < 2 {
				t.Fatalf("one part of\n%s", text)
			}
			checkParts(t, m, list)
		}
	}
}

// checkParts checks that each part declares what it uses and nothing else, that one part defines
// what others declare, and that copies of functions are few.
func checkParts(t *testing.T, m *ptx.Module, parts []*Part) {
	t.Helper()
	whole := &cutter{Program: New(m)}
	var modules []*ptx.Module
	shared, copies := map[string]int{}, map[string]int{}
	costs := int64(0)
	for i, part := range parts {
		p := parse(t, string(part.Text))
		modules = append(modules, p)
		program := New(p)
		costs += (&cutter{Program: program}).total(program.functions)
		aliases := map[ptx.NameID]bool{}
		for _, a := range p.Aliases {
			aliases[a.Name] = true
			for _, name := range []ptx.NameID{a.Name, a.Target} {
				if !slices.ContainsFunc(p.Decls, func(d ptx.Decl) bool { return d.Name == name && d.Span.Off < a.Span.Off }) {
					t.Errorf("part %d declares %s behind its alias in\n%s", i, p.Names[name], part.Text)
				}
			}
		}
		var exposed []string
		for _, d := range p.Decls {
			name := p.Names[d.Name]
			if (d.Defines() || aliases[d.Name]) && d.Linkage != ptx.Local && d.Linkage != ptx.Extern {
				shared[name]++
			} else if d.Defines() {
				copies[name]++
			}
			id, _ := m.Lookup(name)
			original := &m.Decls[whole.define[id]]
			if d.Linkage == ptx.Visible && original.Linkage == ptx.Local {
				exposed = append(exposed, name)
			}
			for _, u := range m.Uses[original.FirstUse:original.EndUse] {
				if _, ok := p.Lookup(m.Names[u.Name]); d.Defines() && !ok {
					t.Errorf("part %d has %s and does not declare %s:\n%s", i, name, m.Names[u.Name], part.Text)
				}
			}
		}
		if !slices.Equal(part.Exposed, exposed) {
			t.Errorf("part %d exposes %q, and says %q", i, exposed, part.Exposed)
		}
		if p.AddressSize != m.AddressSize || p.Version != m.Version || p.Src.String(p.TargetSpan) != m.Src.String(m.TargetSpan) {
			t.Errorf("the header of part %d differs:\n%s", i, part.Text)
		}
	}
	if all := whole.total(whole.functions); costs > all+all/copiedShare {
		t.Errorf("the parts have %d instructions, the module %d", costs, all)
	}
	for i, p := range modules {
		used, declared := map[ptx.NameID]bool{}, map[ptx.NameID]ptx.Linkage{}
		for _, d := range p.Decls {
			for _, u := range p.Uses[d.FirstUse:d.EndUse] {
				used[u.Name] = used[u.Name] || u.Name != d.Name
			}
			if before, again := declared[d.Name]; again && before == ptx.Extern {
				t.Errorf("part %d declares %s twice:\n%s", i, p.Names[d.Name], p.Src.Text)
			}
			declared[d.Name] = d.Linkage
		}
		for id, linkage := range declared {
			name := p.Names[id]
			if linkage == ptx.Extern && (!used[id] || shared[name] != 1) {
				t.Errorf("part %d declares %s, used %t, which %d parts define:\n%s", i, name, used[id], shared[name], p.Src.Text)
			}
			if copies[name] > 1 && !used[id] {
				t.Errorf("part %d has a copy of %s, which it does not use:\n%s", i, name, p.Src.Text)
			}
		}
	}
}
