package ptx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"ptxlink/internal/oracles"
	"ptxlink/internal/parallel"
	"ptxlink/object/diag"
)

const lexicalTop = ".version 7.0\n.target sm_80\n.address_size 64\n"

type lexicalPlace struct{ name, text, both, second string }

// blanks is white space within a line.
const blanks = " \t\r\f\x1a"

// lexicalPlaces are texts with places, ·, for a byte that is not printable ASCII. both
// lists the bytes with which the text declares gg and hh, second those with which it
// declares only hh; with all others it is refused.
var lexicalPlaces = []lexicalPlace{
	{"between tokens", lexicalTop + ".visible .global·.u32 gg;\n.visible .global .u32 hh;\n", space, ""},
	{"between statements", lexicalTop + ".visible .global .u32 gg;·.visible .global .u32 hh;\n", space, ""},
	{"before a line end", lexicalTop + ".visible .global .u32 gg;·\n.visible .global .u32 hh;\n", space, ""},
	{"before the module", "·" + lexicalTop + ".visible .global .u32 gg, hh;\n", space, ""},
	{"in the version", ".version·7.0\n.target sm_80\n.visible .global .u32 gg, hh;\n", " \t\r\f", ""},
	{"in the target", ".version 7.0 .target·sm_80·.visible .global .u32 gg, hh;\n", space, ""},
	{"in a function", lexicalTop + ".visible .global .u32 gg, hh;\n.visible .entry·k·(·)·{·.reg·.b32·%r<3>;·.reg·.pred·p;·mov.u32·%r1·,·1·;·L·:·@·p·bra·L·;·ret·;·}\n", space, ""},
	{"in a section", lexicalTop + ".visible .global .u32 gg, hh;\n.section·.debug_str·{·.b8·1·,·2·}\n", space, ""},
	{"behind a dot", lexicalTop + ".visible .·global .u32 gg, hh;\n", "", ""},
	{"in a line comment", lexicalTop + "// x ·.visible .global .u32 gg;\n.visible .global .u32 hh;\n", "\n", but("\x00\n\xff")},
	{"in a block comment", lexicalTop + "/* x · */ .visible .global .u32 gg, hh;\n", but("\x00\xff"), ""},
	{"in a string", lexicalTop + ".file 1 \"a·b\"\n.visible .global .u32 gg, hh;\n", but("\x00"), ""},
	{"in a line marker", lexicalTop + "#·1·\"a\"·2\n.visible .global .u32 gg, hh;\n", blanks, ""},
	{"behind a line marker", lexicalTop + "# 1 \"a\"·.visible .global .u32 gg;\n.visible .global .u32 hh;\n", "\n", ""},
}

// but returns the bytes that are not printable ASCII, without some.
func but(without string) string {
	var list []byte
	for c := range 256 {
		if (c <= ' ' || c > '~') && strings.IndexByte(without, byte(c)) < 0 {
			list = append(list, byte(c))
		}
	}
	return string(list)
}

// lexicalForms are whole texts behind the header, and whether they are read.
var lexicalForms = []struct {
	text string
	read bool
}{
	{". visible .global .u32 hh;", false},
	{".visible .global . u32 hh;", false},
	{".visible ./**/global .u32 hh;", false},
	{".visible\\\n.global .u32 hh;", false},
	{".visible/**/.global/**/.u32/**/hh;", true},
	{"/* /* */ .visible .global .u32 hh;", true},
	{"/*/ .bogus; */ .visible .global .u32 hh;", true},
	{"/***/ .visible .global .u32 hh;", true},
	{"// /*\n.visible .global .u32 hh;", true},
	{"// x \\\n.visible .global .u32 hh;", true},
	{"// x\r\n.visible .global .u32 hh;\r\r\n// end", true},
	{"/ / x\n.visible .global .u32 hh;", false},
	{".visible .global .u32 hh; /* x", false},
	{".file 1 \"a\nb\" .visible .global .u32 hh;", true},
	{`.file 1 "a//b/*c" .visible .global .u32 hh;`, true},
	{`.file 1 "a\" .visible .global .u32 hh;`, true},
	{`.file 1 "a\"b" .visible .global .u32 hh;`, false},
	{".visible .global .u32 hh; .file 1 \"a\n", false},
	{"#line 1 \"a\"\n.visible .global .u32 hh;", true},
	{"#line1 \"a\"\r\n.visible .global .u32 hh;", true},
	{"  #  line   3   \"a\"   4  5\n.visible .global .u32 hh;", true},
	{".visible # 1 \"a\nb\"\n.global .u32 hh;", true},
	{"# 1 \"a\" // x\n.visible .global .u32 hh;", false},
	{"# 1 \"a\" x\n.visible .global .u32 hh;", false},
	{"# 1 \"a\" 2,3\n.visible .global .u32 hh;", false},
	{"# 1 \"a\"2\n.visible .global .u32 hh;", false},
	{"# 1\"a\"\n.visible .global .u32 hh;", false},
	{"# 1 \"a\n.visible .global .u32 hh;", false},
	{"# 1\n.visible .global .u32 hh;", false},
	{"# 1 a\n.visible .global .u32 hh;", false},
	{"# 0x1 \"a\"\n.visible .global .u32 hh;", false},
	{"# 1U \"a\"\n.visible .global .u32 hh;", false},
	{"#\n1 \"a\"\n.visible .global .u32 hh;", false},
	{"#line\n.visible .global .u32 hh;", false},
	{"#pragma once\n.visible .global .u32 hh;", false},
	{"#\n.visible .global .u32 hh;", false},
	{".visible .global .u32 hh;\n# 1 \"a\"", false},
}

// meaning returns what a text with a byte at its places declares.
func (p lexicalPlace) meaning(c byte) string {
	switch {
	case strings.IndexByte(p.both, c) >= 0:
		return "gg hh"
	case strings.IndexByte(p.second, c) >= 0:
		return "hh"
	}
	return "refused"
}

func (p lexicalPlace) with(c byte) string { return strings.ReplaceAll(p.text, "·", string([]byte{c})) }

// TestLexical checks that each reader of a module divides it into tokens as the tables
// say, which TestLexicalPtxas compares with ptxas.
func TestLexical(t *testing.T) {
	readers := map[string]func(*diag.Source) (*Module, *Error){
		"reader":  Parse,
		"tokens":  tokenByToken,
		"outline": Outline,
	}
	for name, read := range readers {
		check := func(text, want, what string) {
			t.Helper()
			m, err := read(&diag.Source{Text: []byte(text)})
			got := "refused"
			if err == nil {
				got = declaredVariables(m)
			}
			// An outline leaves errors in what it skips to the others.
			if got != want && !(name == "outline" && want == "refused") {
				t.Errorf("%s: the %s says %q, want %q (%v)", what, name, got, want, err)
			}
		}
		for _, place := range lexicalPlaces {
			for _, c := range []byte(but("")) {
				check(place.with(c), place.meaning(c), fmt.Sprintf("byte %#x %s", c, place.name))
			}
		}
		for _, form := range lexicalForms {
			want := "refused"
			if form.read {
				want = "hh"
			}
			check(lexicalTop+form.text, want, strconv.Quote(form.text))
		}
	}
}

func declaredVariables(m *Module) string {
	var names []string
	for i := range m.Decls {
		if d := &m.Decls[i]; d.Kind == Variable {
			names = append(names, m.Names[d.Name])
		}
	}
	return strings.Join(names, " ")
}

// TestLexicalPtxas asks ptxas for the facts of the tables.
func TestLexicalPtxas(t *testing.T) {
	for _, tool := range oracles.EveryPtxas() {
		if tool != "ptxas" && testing.Short() {
			continue
		}
		path := oracles.Require(t, tool)
		type question struct{ text, want, what string }
		var questions []question
		for _, place := range lexicalPlaces {
			ask := func(bytes, want string) {
				if bytes != "" {
					questions = append(questions, question{strings.ReplaceAll(place.text, "·", bytes), want, fmt.Sprintf("%q %s", bytes, place.name)})
				}
			}
			// What ptxas makes of bytes from 128 on in strings depends on its release:
			// we pass them on.
			ask(strings.Map(func(c rune) rune {
				if c == utf8.RuneError {
					return -1
				}
				return c
			}, place.both), "gg hh")
			ask(strings.ReplaceAll(place.second, "\xff", ""), "hh")
			for _, c := range []byte("\v\x00\xff") {
				// Before 13, ptxas ends its input without a message at a NUL, and in 11.8 at
				// many other bytes. A comment with a byte 255 goes on where we refuse it.
				if want := place.meaning(c); want == "refused" && (c == '\v' || tool == "ptxas-new" && !strings.HasSuffix(place.name, "comment")) {
					ask(string([]byte{c}), want)
				}
			}
		}
		if tool == "ptxas" {
			questions = append(questions, question{lexicalTop + "// \xff.visible .global .u32 gg;\n.visible .global .u32 hh;", "gg hh", "byte 255 in a line comment"},
				question{lexicalTop + "/* \xff */ .visible .global .u32 hh;", "refused", "byte 255 in a comment"})
		}
		for _, form := range lexicalForms {
			q := question{lexicalTop + form.text, "refused", strconv.Quote(form.text)}
			if form.read {
				q.want = "hh"
			}
			questions = append(questions, q)
		}
		dir := t.TempDir()
		parallel.Each(t.Context(), len(questions), 2, func(int) string { return tool }, func(i int) {
			q := questions[i]
			in, out := filepath.Join(dir, fmt.Sprint(i)), filepath.Join(dir, fmt.Sprint(i)+".cubin")
			if err := os.WriteFile(in, []byte(q.text), 0o666); err != nil {
				t.Error(err)
				return
			}
			err := exec.Command(path, "-c", "-arch=sm_80", in, "-o", out).Run()
			cubin, _ := os.ReadFile(out)
			got := "refused"
			if err == nil {
				var names []string
				for _, name := range []string{"gg", "hh"} {
					if bytes.Contains(cubin, []byte("\x00"+name+"\x00")) {
						names = append(names, name)
					}
				}
				got = strings.Join(names, " ")
			}
			if got != q.want {
				t.Errorf("%s, %s: it says %q, want %q", tool, q.what, got, q.want)
			}
		})
	}
}

// TestKnown checks that the common words have slots of their own.
func TestKnown(t *testing.T) {
	for _, w := range strings.Fields(common) {
		if words[slot(binary.LittleEndian.Uint64([]byte(w+"\x00\x00\x00\x00\x00")))].spelling != w || known([]byte(w + " .visible")[:len(w)]) != w {
			t.Errorf("%s has no slot", w)
		}
	}
}
