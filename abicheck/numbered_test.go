package abicheck

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// numberedBody is a function as nvcc -lineinfo writes it, with what has other numbers in
// another module in braces.
const numberedBody = `.file 1 "a.h"
.global .align 4 .u32 counter;
.global .align 4 .u32 log{5};
.extern .func ext(.param .b32 n);
.weak .func (.param .b32 r) f(.param .b32 a, .param .b32 b)
{
	.local .align 8 .b8 	__local_depot{5}[8];
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.loc	1 {10} 3
$L__func_begin{5}:
	ld.param.u32 	%r1, [a];
$L__tmp{9}:
	setp.eq.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB{5}_2;
	mov.u32 	%r2, log{5};
	{ // callseq {7}, 0
	.param .b32 p0;
	st.param.b32 	[p0+0], %r1;
	call.uni ext, (p0);
	} // callseq {7}
	call.uni ext, (0f3F800000);
$L__BB{5}_2:
	.loc	1 {12} 1
	mov.u32 	%r2, counter;
	st.param.b32 	[r+0], %r1;
$L__tmp{10}:
	ret;
$L__func_end{5}:
}
`

// renumber returns a text with the numbers moved.
func renumber(text string, by int) string {
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(text, "{")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		number, digits := leadingNumber(rest)
		if text = rest; digits > 0 && rest[digits] == '}' {
			b.WriteString(strconv.Itoa(number + by))
			text = rest[digits+1:]
		} else {
			b.WriteByte('{')
		}
	}
}

// TestSameNumbered compares copies of a function whose texts differ in several ways. What
// sameNumbered finds equal, match finds equal, too, with the same names.
func TestSameNumbered(t *testing.T) {
	plain := renumber(numberedBody, 0)
	for _, test := range []struct {
		what, text string
		want       bool
	}{
		{"the same", plain, true},
		{"other numbers", renumber(numberedBody, 1), true},
		{"numbers of other lengths", renumber(numberedBody, 995), true},
		{"other code", strings.Replace(plain, "setp.eq", "setp.ne", 1), false},
		{"another local label", strings.ReplaceAll(plain, "$L__BB5_2", "$L__BB5_3"), false},
		{"one label has another number", strings.Replace(renumber(numberedBody, 1), "bra 	$L__BB6_2", "bra 	$L__BB5_2", 1), false},
		{"two numbers", strings.Replace(renumber(numberedBody, 1), "$L__tmp11", "$L__tmp12", 1), false},
		{"a number with zeros", strings.ReplaceAll(plain, "$L__BB5_", "$L__BB05_"), false},
		{"another symbol", strings.Replace(plain, "mov.u32 	%r2, counter", "mov.u32 	%r2, log5", 1), false},
		{"another parameter", strings.ReplaceAll(plain, "[a]", "[b]"), false},
		{"exchanged parameters", strings.Replace(plain, "(.param .b32 a, .param .b32 b)", "(.param .b32 b, .param .b32 a)", 1), false},
		{"other literals", strings.Replace(plain, "ext(.param .b32 n)", "ext(.param .f32 n)", 1), false},
		{"a line more", strings.Replace(plain, "	ret;", "	.loc 1 13 1\n	ret;", 1), false},
		{"an instruction less", strings.Replace(plain, "	mov.u32 	%r2, counter;\n", "", 1), false},
	} {
		same, law := compareCopies(t, plain, test.text)
		if law != "" {
			t.Errorf("%s: %s", test.what, law)
		} else if same != test.want {
			t.Errorf("%s: %v, want %v", test.what, same, test.want)
		}
	}

	longer := strings.ReplaceAll(numberedBody, "__local_depot{5}", "my__local_depot{5}")
	if same, law := compareCopies(t, renumber(longer, 0), renumber(longer, 1)); same || law != "" {
		t.Errorf("longer names: %v, %s", same, law)
	}
	list := strings.NewReplacer(".extern .func ext", ".extern .func ext0();\n.extern .func ext1();\n.extern .func ext", "	ret;", "list: .calltargets ext<2>;\n	ret;").Replace(plain)
	if _, law := compareCopies(t, list, list); law != "" {
		t.Errorf("a list of targets: %s", law)
	}

	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"5", "6", "_2", "$L__BB5_2", "$L__BB6_2", "$L__tmp9", "__local_depot5", "log5", "counter", "// callseq 7", "%r1", "%r2", ";", " ", "ret;"}
	equal := 0
	for range 3000 {
		text := renumber(numberedBody, random.IntN(3)*(1+random.IntN(100)))
		for range random.IntN(3) {
			at := len(plain)/4 + random.IntN(len(plain)/2)
			if word := words[random.IntN(len(words))]; strings.Contains(text[at:], word) {
				at += strings.Index(text[at:], word)
				text = text[:at] + words[random.IntN(len(words))] + text[at+len(word):]
			}
		}
		same, law := compareCopies(t, plain, text)
		if law != "" {
			t.Fatalf("%s:\n%s", law, text)
		}
		if same {
			equal++
		}
	}
	if equal < 300 {
		t.Errorf("only %d of the texts are equal", equal)
	}
}

// compareCopies reports whether sameNumbered finds f equal in two modules, and how match
// contradicts it.
func compareCopies(t *testing.T, a, b string) (same bool, contradiction string) {
	t.Helper()
	const header = ".version 8.4 .target sm_80 .address_size 64\n"
	var log diag.Log
	files, _, err := object.Load(t.Context(), []object.Input{{Name: "a", Text: []byte(header + a)}, {Name: "b", Text: []byte(header + b)}}, object.Options{}, &log)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 || log.Errors() > 0 {
		return false, ""
	}
	table := resolve.Resolve(files, resolve.Options{}, &log)
	at := func(file int32) resolve.DeclID {
		id, _ := files[file].Lookup("f")
		return resolve.DeclID{File: file, Decl: files[file].Symbols[id].Def}
	}
	x, y := at(1), at(0)
	if x.Decl < 0 || y.Decl < 0 {
		return false, ""
	}
	numbers, same := sameNumbered(table, x, y)
	if !same {
		return false, ""
	}
	m, matches := match(table, x, y)
	defer m.done()
	if !matches {
		return true, "match finds a difference"
	}
	for i := range m.x.Locals {
		l := &m.x.Locals[i]
		name := m.a.f.Src.String(l.Name)
		if l.Kind == ptx.Register || m.forth[i] < 0 {
			continue
		}
		if want := m.b.f.Src.String(m.y.Locals[m.forth[i]].Name); numbers.of(name) != want {
			return true, name + " is " + want + " there, not " + numbers.of(name)
		}
	}
	return true, ""
}
