package dlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/link"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// ltoHeader stands before LTO-IR for sm_80, here before the PTX that it is compiled to.
const ltoHeader = "\xedCN\x7f\001C\002\x83\003\002\007\000\030\000\001\000(\000\000\000,\000\000\000\001\000 \003"

const ptxHeader = ".version 7.0\n.target sm_80\n.address_size 64\n"

// bodies is the PTX of units, by name. That of bitcode declares what its symbols are.
var bodies = map[string]string{
	"call.bc":   ".extern .func f (.param .b32 x);\n.visible .entry call () { .param .b32 x; call f, (x); ret; }\n",
	"f.bc":      ".visible .func f (.param .b32 x) { ret; }\n",
	"inline.bc": ".visible .func f (.param .b32 x) { ret; }\n",
	"wide.bc":   ".visible .func f (.param .b64 x) { ret; }\n",
	"two.bc":    ".extern .func f (.param .b32 x);\n.visible .func two () { .param .b32 x; call f, (x); ret; }\n",
	"k":         ".extern .func g ();\n.visible .entry k () { call g; ret; }\n",
	"g":         ".visible .func g () { ret; }\n",
	"none":      ".visible .func none () { ret; }\n",
	"three":     ".visible .func g (.param .b32 x) { ret; }\n",
}

// stub stands in for a compiler. It writes down what it compiles.
type stub struct {
	refuses, warns string // a file
	fails          error
	runs           []string
}

// file returns the name of a unit without its archive.
func file(u container.Unit) string {
	name := filepath.Base(u.Name)
	if _, member, found := strings.Cut(name, "("); found {
		name = strings.TrimSuffix(member, ")")
	}
	return name
}

func body(u container.Unit) string { return bodies[strings.TrimSuffix(file(u), ".ltoir")] }

func (s *stub) LowerEach(_ context.Context, units []container.Unit, _ int, log *diag.Log) (texts [][]byte, err error) {
	for _, u := range units {
		s.runs = append(s.runs, filepath.Base(u.Name))
		if file(u) == s.warns {
			log.Warn(diag.Clang, diag.Place{}, "odd: "+file(u))
		}
		if file(u) == s.refuses {
			log.Error(diag.Bitcode, diag.Place{}, "refused: "+file(u))
			texts, err = append(texts, nil), cmp.Or(s.fails, ErrRejected)
			continue
		}
		texts = append(texts, []byte(ptxHeader+body(u)))
	}
	return texts, err
}

func (s *stub) Lower(_ context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	var names []string
	text, bodies := ptxHeader, ""
	for _, u := range units {
		name := filepath.Base(u.Name)
		if u.Archive {
			name = "[" + name + "]"
		}
		if u.Kept != nil {
			name += "{" + strings.Join(u.Kept, " ") + "}"
		}
		names = append(names, name)
		for line := range strings.Lines(body(u)) {
			if !strings.HasPrefix(line, ".extern") {
				bodies += line
			} else if !strings.Contains(text, line) {
				text += line
			}
		}
	}
	s.runs = append(s.runs, strings.Join(names, "+"))
	return []byte(text + bodies), nil
}

func TestLinker(t *testing.T) {
	files := map[string][]byte{
		"wrong.ptx": []byte(ptxHeader + "func"),
		"f.ptx":     []byte(ptxHeader + bodies["f.bc"]),
		"use.ptx":   []byte(ptxHeader + ".extern .func f (.param .b32 x);\n.visible .entry use () { .param .b32 x; call f, (x); ret; }\n"),
	}
	for name := range bodies {
		if data, err := os.ReadFile("../../testdata/forms/bitcode/" + name); err == nil {
			files[name] = data
		} else {
			files[name+".ltoir"] = []byte(ltoHeader + name)
		}
	}
	archive := func(names ...string) []byte {
		var members []container.ArchiveMember
		for _, name := range names {
			members = append(members, container.ArchiveMember{Name: name, Data: files[name]})
		}
		data, err := container.WriteArchive(members, false)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	files["lib.a"], files["lto.a"], files["needless.a"] = archive("two.bc", "f.bc", "wide.bc"), archive("g.ltoir", "none.ltoir"), archive("two.bc")
	files["inline.a"] = archive("inline.bc")
	for _, test := range []struct {
		inputs string
		change func(*Linker, *stub)
		runs   string // units that are compiled alone, and those that are compiled together
		units  int    // that the map describes
		unused string // archives
		said   string // messages
		err    string
	}{
		{inputs: "k.ltoir g.ltoir", runs: "k.ltoir g.ltoir k.ltoir+g.ltoir", units: 2},
		{inputs: "k.ltoir", runs: "k.ltoir", err: "undefined symbol: g"},
		{inputs: "k.ltoir g.ltoir", change: func(l *Linker, _ *stub) { l.Apart = true }, runs: "k.ltoir g.ltoir"},
		{inputs: "k.ltoir g.ltoir", change: func(l *Linker, _ *stub) { l.Options.Weaken = []string{"g"} }, runs: "k.ltoir g.ltoir"},
		{inputs: "k.ltoir three.ltoir", runs: "k.ltoir three.ltoir", err: "three.ltoir"},
		{inputs: "k.ltoir lto.a", runs: "k.ltoir lto.a(g.ltoir) lto.a(none.ltoir) k.ltoir+lto.a(g.ltoir)", units: 2},
		{inputs: "none.ltoir lto.a", runs: "none.ltoir lto.a(g.ltoir) lto.a(none.ltoir)", unused: "lto.a"},
		{inputs: "k.ltoir g.ltoir", change: func(_ *Linker, s *stub) { s.refuses = "g.ltoir" }, runs: "k.ltoir g.ltoir", err: "refused: g.ltoir"},
		{inputs: "k.ltoir g.ltoir", change: func(_ *Linker, s *stub) { s.warns = "g.ltoir" }, runs: "k.ltoir g.ltoir k.ltoir+g.ltoir", units: 2, said: "odd: g.ltoir"},
		// What both links say is said once.
		{inputs: "k.ltoir g.ltoir", change: func(l *Linker, _ *stub) { l.Options.Localize = []string{"other"} }, runs: "k.ltoir g.ltoir k.ltoir+g.ltoir", units: 2, said: "no definition matches other, which Options.Localize names"},
		{inputs: "k.ltoir", change: func(l *Linker, s *stub) {
			s.warns, l.Link = "k.ltoir", func(context.Context, link.Options) (*link.Result, error) { return nil, errors.New("no memory") }
		}, runs: "k.ltoir", err: "no memory", said: "odd: k.ltoir"},
		{inputs: "k.ltoir three.ltoir", change: func(_ *Linker, s *stub) { s.warns = "k.ltoir" }, runs: "k.ltoir three.ltoir", err: "odd: k.ltoir"},
		{inputs: "k.ltoir g.ltoir", change: func(l *Linker, _ *stub) { l.LTOIR = nil }, err: "LTO-IR"},
		{inputs: "k.ltoir g.ltoir", change: func(l *Linker, _ *stub) {
			l.LTOIR = func(*Intermediate) (Compiler, error) { return nil, errors.New("no compiler") }
		}, err: "no compiler"},
		{inputs: "call.bc f.ptx", runs: "call.bc"},
		// What is wrong with PTX is said before anything is compiled, or a compiler is missing.
		{inputs: "call.bc missing.ptx k.ltoir wrong.ptx", err: "wrong.ptx:4:"},
		{inputs: "call.bc f.ptx f.ptx", err: "named twice"},
		{inputs: "call.bc missing.ptx", change: func(l *Linker, _ *stub) {
			l.Bitcode = func(*Intermediate) (Compiler, error) { return nil, errors.New("no compiler") }
		}, err: "missing.ptx: error: cannot read"},
		// An input needs no name.
		{inputs: "call.bc", change: func(l *Linker, _ *stub) {
			l.Options.Inputs = append(l.Options.Inputs, link.Input{Text: files["f.ptx"]})
		}, runs: "call.bc"},
		{change: func(l *Linker, _ *stub) { l.Options.Inputs = []link.Input{{Text: files["f.ptx"]}} }},
		{inputs: "call.bc f.ptx", change: func(l *Linker, _ *stub) { l.Bitcode = nil }, err: "LLVM bitcode"},
		{inputs: "call.bc f.bc k.ltoir g.ltoir", runs: "k.ltoir g.ltoir call.bc f.bc k.ltoir+g.ltoir call.bc+f.bc", units: 4},
		{inputs: "call.bc wide.bc", runs: "call.bc wide.bc", err: "f takes a .b32 here but a .b64 where it is defined"},
		{inputs: "call.bc lib.a needless.a", runs: "call.bc lib.a(f.bc) call.bc+[lib.a(f.bc)]", units: 2, unused: "needless.a"},
		{inputs: "call.bc use.ptx lib.a", runs: "call.bc lib.a(f.bc) call.bc+lib.a(f.bc)", units: 2},
		{inputs: "call.bc lib.a", change: func(l *Linker, _ *stub) { l.Options.RequireDefined = []string{"two"} }, runs: "call.bc lib.a(two.bc) lib.a(f.bc) call.bc+lib.a(two.bc)+[lib.a(f.bc)]", units: 3},
		{inputs: "call.bc lib.a", change: func(l *Linker, _ *stub) { l.Options.RequireDefined = []string{"other"} }, runs: "call.bc lib.a(f.bc)", err: "other"},
		// Nothing is left of a library of inline functions that is compiled alone.
		{inputs: "call.bc inline.bc", runs: "call.bc call.bc+[inline.bc]", units: 2},
		{inputs: "call.bc inline.a", runs: "call.bc call.bc+[inline.a(inline.bc)]", units: 2},
		{inputs: "call.bc f.bc inline.bc", runs: "call.bc f.bc call.bc+f.bc", units: 2},
		{inputs: "call.bc inline.bc", change: func(l *Linker, _ *stub) { l.Apart = true }, runs: "call.bc inline.bc"},
		{inputs: "inline.bc", runs: "inline.bc"},
		// PTX may use them, which keeps them.
		{inputs: "use.ptx inline.bc", runs: "inline.bc{f}"},
		{inputs: "use.ptx inline.a", runs: "inline.a(inline.bc){f}"},
		{inputs: "call.bc use.ptx inline.bc", runs: "call.bc call.bc+inline.bc{f}", units: 2},
		{inputs: "none.ltoir inline.bc", runs: "none.ltoir"},
		// A member that cannot be compiled alone is compiled with what needs it, unless all must be alone.
		{inputs: "call.bc lib.a", change: func(_ *Linker, s *stub) { s.refuses = "f.bc" }, runs: "call.bc lib.a(f.bc) call.bc+[lib.a(f.bc)]", units: 2},
		{inputs: "call.bc lib.a", change: func(l *Linker, s *stub) { s.refuses, l.Options.Wrap = "f.bc", []string{"none"} }, runs: "call.bc lib.a(f.bc)", err: "refused: f.bc"},
		// A compiler that fails says nothing about a unit.
		{inputs: "call.bc f.bc", change: func(_ *Linker, s *stub) { s.refuses, s.fails = "f.bc", errors.New("no memory") }, runs: "call.bc f.bc", err: "no memory", said: "refused: f.bc"},
		{inputs: "call.bc lib.a", change: func(_ *Linker, s *stub) { s.refuses, s.fails = "f.bc", errors.New("no memory") }, runs: "call.bc lib.a(f.bc)", err: "no memory", said: "refused: f.bc"},
	} {
		t.Run(test.inputs, func(t *testing.T) {
			compiler := &stub{}
			find := func(*Intermediate) (Compiler, error) { return compiler, nil }
			l := Linker{PTX: true, Options: link.Options{Arch: "sm_80"}, LTOIR: find, Bitcode: find}
			dir := t.TempDir()
			for _, name := range strings.Fields(test.inputs) {
				input := filepath.Join(dir, name)
				if data, exists := files[name]; exists {
					if err := os.WriteFile(input, data, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				l.Options.Inputs = append(l.Options.Inputs, link.Input{Path: input})
			}
			if test.change != nil {
				test.change(&l, compiler)
			}
			linked, err := l.Run(t.Context())
			if got := strings.Join(compiler.runs, " "); got != test.runs {
				t.Errorf("compiled %s, want %s", got, test.runs)
			}
			if err != nil || test.err != "" {
				if err == nil || test.err == "" || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				if test.said != "" && (linked == nil || linked.Messages[0].Text != test.said) {
					t.Errorf("an error without what was said before: %+v", linked)
				}
				return
			}
			var said, unused []string
			for _, m := range linked.Messages {
				said = append(said, m.Text)
			}
			for _, name := range linked.Unused {
				unused = append(unused, filepath.Base(name))
			}
			if got := fmt.Sprint(len(linked.Units), unused, said); got != fmt.Sprint(test.units, strings.Fields(test.unused), slices.DeleteFunc([]string{test.said}, func(s string) bool { return s == "" })) {
				t.Errorf("units, unused archives and messages %s", got)
			}
			if _, err := link.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "linked", Text: linked.PTX}}}); err != nil {
				t.Error(err)
			}
		})
	}
}
