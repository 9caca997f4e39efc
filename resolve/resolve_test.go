package resolve

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
)

// opened opens modules named a.ptx, b.ptx and so on. "pulled " before a text makes it an
// archive member that something needs; comments before a text name its compiler.
func opened(t *testing.T, texts ...string) []*object.File {
	t.Helper()
	var inputs []object.Input
	for i, text := range texts {
		text = strings.TrimPrefix(text, "pulled ")
		comments := text[:len(text)-len(strings.TrimLeft(text, "/"))]
		if comments != "" {
			comments, text, _ = strings.Cut(text, "\n")
		}
		inputs = append(inputs, object.Input{Name: letter(i) + ".ptx", Text: []byte(comments + "\n" + top + text)})
	}
	var log diag.Log
	set, err := object.Open(context.Background(), inputs, object.Options{Jobs: 1}, &log)
	if err != nil || log.Errors() > 0 || len(set.Units) != len(texts) {
		t.Fatal(err, log.Messages)
	}
	var files []*object.File
	for i, u := range set.Units {
		u.File.Rank, u.File.Pulled = i, strings.HasPrefix(texts[i], "pulled ")
		files = append(files, u.File)
	}
	return files
}

func letter[N int | int32](n N) string { return string(rune('a' + n)) }

// spelling returns a name of a file as a.f.
func (t *Table) spelling(id object.ID) string {
	if id.File < 0 {
		return "none"
	}
	return letter(id.File) + "." + t.Files[id.File].Names[id.Name]
}

func (t *Table) spellings(ids []object.ID) (list []string) {
	for _, id := range ids {
		list = append(list, t.spelling(id))
	}
	return list
}

// id returns the name that spelling returned.
func (t *Table) id(spelling string) object.ID {
	file := int32(spelling[0] - 'a')
	name, ok := t.Files[file].Lookup(spelling[2:])
	if !ok {
		panic("no " + spelling)
	}
	return object.ID{File: file, Name: name}
}

// written returns the messages of a log, each as the file and the text, with notes and
// help.
func written(log *diag.Log) (list []string) {
	for _, m := range log.Messages {
		file, _, _ := m.Place.Position()
		text := m.Kind.String() + " " + strings.TrimSuffix(file, ".ptx") + ": " + m.Text
		for _, n := range m.Notes {
			file, _, _ := n.Place.Position()
			text += "\nnote " + strings.TrimSuffix(file, ".ptx") + ": " + n.Text
		}
		if m.Help != "" {
			text += "\nhelp: " + m.Help
		}
		list = append(list, text)
	}
	return list
}

func same(t *testing.T, rule, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s:\n%s\nwant:\n%s", rule, what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestResolve states which definition of s wins.
func TestResolve(t *testing.T) {
	const (
		use    = ".extern .func s; .visible .entry k(){ call s; ret; }"
		strong = ".visible .func s(){ret;}"
		weak   = ".weak .func s(){ret;}"
		common = ".common .global .b8 s[4];"
	)
	plain := Options{}
	for _, test := range []struct {
		rule    string
		options Options
		modules []string
		winner  string
	}{
		{"a declaration defines nothing", plain, []string{use}, "none"},
		{"the only definition wins, before its uses", plain, []string{strong, use}, "a.s"},
		{"the only definition wins, behind its uses", plain, []string{use, strong}, "b.s"},
		{"a prototype without a body is a reference, if it is .visible", plain, []string{".visible .func s();", weak}, "b.s"},
		{"a prototype without a body is a reference, if it is .weak", plain, []string{".weak .func s();", weak}, "b.s"},
		{"what has no linkage is no definition for others", plain, []string{use, ".func s(){ret;}"}, "none"},
		{"a strong definition wins over a weak one before it", plain, []string{weak, strong}, "b.s"},
		{"a strong definition wins over a weak one behind it", plain, []string{strong, weak}, "a.s"},
		{"a strong definition wins over a common one", plain, []string{common, ".visible .global .b8 s[4];"}, "b.s"},
		{"a weak definition wins over a common one before it", plain, []string{common, ".weak .global .b8 s[4];"}, "b.s"},
		{"a weak definition wins over a common one behind it", plain, []string{".weak .global .b8 s[4];", common}, "a.s"},
		{"the first of two weak definitions wins", plain, []string{weak, weak}, "a.s"},
		{"a weak definition of an input wins over that of a member before it", plain, []string{"pulled " + weak, weak}, "b.s"},
		{"a weak definition of an input wins over that of a member behind it", plain, []string{weak, "pulled " + weak}, "a.s"},
		{"the first of two weak definitions of members wins", plain, []string{"pulled " + weak, "pulled " + weak}, "a.s"},
		{"the first of two weak definitions of inputs wins, behind a member", plain, []string{"pulled " + weak, weak, weak}, "b.s"},
		{"a strong definition of a member wins over a weak one of an input", plain, []string{weak, "pulled " + strong}, "b.s"},
		{"a common definition of a member stays the first of two", plain, []string{"pulled " + common, common}, "a.s"},
		{"the largest common definition wins, if it is the last", plain, []string{common, ".common .global .b8 s[8];"}, "b.s"},
		{"the largest common definition wins, if it is the first", plain, []string{".common .global .b8 s[8];", common}, "a.s"},
		{"a common definition with a value wins over a larger one", plain, []string{".common .global .b8 s[4] = {1};", ".common .global .b8 s[8];"}, "a.s"},
		{"a common definition with a value wins over a weak one", plain, []string{".weak .global .b8 s[4] = {2};", ".common .global .b8 s[4] = {1};"}, "b.s"},
		{"of common definitions of one size that with a value wins", plain, []string{common, ".common .global .b8 s[4] = {1};"}, "b.s"},
		{"the first of two equal common definitions wins", plain, []string{common, common}, "a.s"},
		{"an alias is a definition", plain, []string{use, ".visible .func s(); .func f(){ret;} .alias s, f;"}, "b.s"},
		{"a texture reference without linkage counts as weak, for others", plain, []string{".extern .global .texref s;", ".global .texref s;"}, "b.s"},
		{"a texture reference without linkage counts as weak, beside a strong one", plain, []string{".global .texref s;", ".visible .global .texref s;"}, "b.s"},
		{"so do a sampler and a surface", plain, []string{".global .samplerref s; .global .surfref u;", ".visible .global .samplerref s;"}, "b.s"},
		{"a name refers to what it is redirected to", Options{Redirect: map[string]string{"old": "s"}}, []string{".extern .func old; .visible .entry k(){ call old; ret; }", strong}, "b.s"},
		{"a module that defines a name keeps it", Options{Redirect: map[string]string{"s": "other"}}, []string{strong, ".visible .func other(){ret;}"}, "a.s"},
		{"a definition is not redirected, so it does not win elsewhere", Options{Redirect: map[string]string{"old": "s"}}, []string{".visible .func old(){ret;}", weak}, "b.s"},
		{"a redirection is not followed twice", Options{Redirect: map[string]string{"old": "s", "s": "third"}}, []string{".extern .func old; .visible .entry k(){ call old; ret; }", ".visible .func third(){ret;}", strong}, "c.s"},
	} {
		var log diag.Log
		table := Resolve(opened(t, test.modules...), test.options, &log)
		winner := "none"
		if s, ok := table.Lookup("s"); ok {
			winner = table.spelling(s.Def)
		}
		if winner != test.winner {
			t.Errorf("%s: %s wins, want %s", test.rule, winner, test.winner)
		}
		same(t, test.rule, "messages", written(&log), nil)
	}
}

// TestMentions states which modules a symbol knows, and whether they need comparing.
func TestMentions(t *testing.T) {
	const proto = ".extern .func (.param .b32 r) s (.param .b64 p);"
	for _, test := range []struct {
		rule     string
		modules  []string
		mentions []string
		uniform  bool
	}{
		{"in the order of the inputs, the definition among them", []string{proto, ".visible .func (.param .b32 r) s (.param .b64 p) {ret;}", proto}, []string{"a.s", "b.s", "c.s"}, true},
		{"what has no linkage is another s", []string{".func s(){ret;}", proto}, []string{"b.s"}, true},
		{"the names of parameters need no comparing", []string{proto, ".extern .func (.param .b32 x) s (.param .b64 y);"}, []string{"a.s", "b.s"}, true},
		{"other parameters do", []string{proto, ".extern .func (.param .b32 r) s (.param .b32 p);"}, []string{"a.s", "b.s"}, false},
		{"other results do", []string{proto, ".extern .func s (.param .b64 p);"}, []string{"a.s", "b.s"}, false},
		{"directives do", []string{proto, ".extern .func (.param .b32 r) s (.param .b64 p) .noreturn;"}, []string{"a.s", "b.s"}, false},
		{"directives of the first do", []string{".extern .func (.param .b32 r) s (.param .b64 p) .noreturn;", proto}, []string{"a.s", "b.s"}, false},
		{"one that differs is enough", []string{proto, ".extern .func s;", proto}, []string{"a.s", "b.s", "c.s"}, false},
		{"variables do", []string{".visible .global .u32 s;", ".extern .global .u32 s;"}, []string{"a.s", "b.s"}, false},
	} {
		table := Resolve(opened(t, test.modules...), Options{}, &diag.Log{})
		s, _ := table.Lookup("s")
		same(t, test.rule, "mentions", table.spellings(s.Mentions), test.mentions)
		if s.Uniform != test.uniform {
			t.Errorf("%s: uniform: %v", test.rule, s.Uniform)
		}
	}
}

// TestOpen states which symbols may stay undefined.
func TestOpen(t *testing.T) {
	for _, test := range []struct {
		rule    string
		options Options
		module  string
		open    bool
	}{
		{"not a function", Options{}, ".extern .func s;", false},
		{"all with -r", Options{Relocatable: true}, ".extern .func s;", true},
		{"a name that the user allows", Options{AllowUndefined: []string{"s"}}, ".extern .func s;", true},
		{"a pattern that the user allows", Options{AllowUndefined: []string{"t", "[rs]"}}, ".extern .func s;", true},
		{"not what other patterns allow", Options{AllowUndefined: []string{"t*", "s?"}}, ".extern .func s;", false},
		{"dynamic shared memory", Options{}, ".extern .shared .b8 s[];", true},
		{"not shared memory of a known size", Options{}, ".extern .shared .b8 s[4];", false},
		{"not global memory of an unknown size", Options{}, ".extern .global .b8 s[];", false},
		{"not what is defined, even if the user allows it", Options{AllowUndefined: []string{"s"}}, ".visible .func s(){ret;}", false},
		{"system calls", Options{}, ".extern .func vprintf;", true},
		{"system calls of a later driver", Options{}, ".extern .func __cuda_syscall_new;", true},
	} {
		table := Resolve(opened(t, test.module), test.options, &diag.Log{})
		if open := table.Symbols[0].Open; open != test.open {
			t.Errorf("%s: open: %v", test.rule, open)
		}
	}
	table := Resolve(opened(t, ".extern .shared .b8 s[4];", ".extern .shared .b8 s[];"), Options{}, &diag.Log{})
	if !table.Symbols[0].Open {
		t.Error("dynamic shared memory is not open if another module gives it a size")
	}
}

// TestDuplicate states which definitions clash. The first definition wins.
func TestDuplicate(t *testing.T) {
	const strong, longer = ".visible .func s(){ret;}", ".visible .func s(){ret; ret;}"
	for _, test := range []struct {
		rule    string
		options Options
		modules []string
		places  string // files of the errors
	}{
		{"a weak definition does not clash", Options{}, []string{strong, ".weak .func s(){ret;}"}, ""},
		{"two strong ones clash", Options{}, []string{strong, longer}, "b"},
		{"each but the first has a message", Options{}, []string{strong, ".weak .func s(){ret;}", longer, longer}, "cd"},
		{"none has if several are allowed", Options{Multiple: true}, []string{strong, strong}, ""},
		{"none has if the caller compares them", Options{Compared: true}, []string{strong, strong}, ""},
		{"an alias without a declaration has no linkage, so it does not clash", Options{}, []string{strong, ".func f(){ret;} .alias s, f;"}, ""},
	} {
		var log diag.Log
		table := Resolve(opened(t, test.modules...), test.options, &log)
		var want []string
		for _, file := range test.places {
			want = append(want, "error "+string(file)+": multiple definition of s\nnote a: first defined here")
		}
		same(t, test.rule, "messages", written(&log), want)
		if s, _ := table.Lookup("s"); table.spelling(s.Def) != "a.s" {
			t.Errorf("%s: %s wins", test.rule, table.spelling(s.Def))
		}
		last := table.id(letter(len(test.modules)-1) + ".s")
		if clash := table.Clash(table.id("a.s"), last); clash != (want != nil || test.options.Compared) {
			t.Errorf("%s: clash: %v", test.rule, clash)
		}
	}
}

// TestDefinition states which body a use of s in the first module leads to.
func TestDefinition(t *testing.T) {
	for _, test := range []struct {
		rule    string
		modules []string
		collect bool
		want    string
	}{
		{"a definition of the module without linkage", []string{".func s(); .func s(){ret;}", ".visible .func s(){ret;}"}, false, "a.s"},
		{"that of another module", []string{".extern .func s;", ".visible .func s(); .visible .func s(){ret;}"}, false, "b.s"},
		{"not a weak one that lost", []string{".weak .func s(){ret;}", ".visible .func s(){ret;}"}, false, "b.s"},
		{"the function behind an alias", []string{".extern .func s;", ".visible .func s(); .func f(){ret;} .alias s, f;"}, false, "b.f"},
		{"the function at the end of a chain of aliases", []string{".extern .func s;", ".func f(){ret;} .visible .func s(); .visible .func m(); .alias s, m; .alias m, f;"}, false, "b.f"},
		{"nothing that is undefined", []string{".extern .func s;"}, false, ""},
		{"nothing behind an alias of what is undefined", []string{".extern .func f; .visible .func s(); .alias s, f;"}, false, ""},
		{"nothing that was removed", []string{".func s(){ret;} .visible .entry k(){ret;}"}, true, ""},
	} {
		table := Resolve(opened(t, test.modules...), Options{}, &diag.Log{})
		if test.collect {
			table.Collect(Roots{})
		}
		at, ok := table.Definition(table.id("a.s"))
		got := ""
		if ok {
			d := table.Files[at.File].Decls[at.Decl]
			got = table.spelling(object.ID{File: at.File, Name: d.Name})
			for i, other := range table.Files[at.File].Decls {
				if other.Name == d.Name && table.LiveDecl(DeclID{at.File, int32(i)}) != other.HasBody {
					t.Errorf("%s: declaration %d has the body in the output: %v", test.rule, i, !other.HasBody)
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.rule, got, test.want)
		}
	}
}
