package link_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ptxlink/link"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

func texts(modules ...string) []link.Input {
	inputs := make([]link.Input, len(modules))
	for i, m := range modules {
		inputs[i] = link.Input{Name: fmt.Sprintf("%c.ptx", 'a'+i), Text: []byte(m)}
	}
	return inputs
}

func mustLink(t *testing.T, o link.Options) *link.Result {
	t.Helper()
	r, err := link.Link(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// body returns the text after the meta block, which contains digests of the inputs.
func body(ptx []byte) string {
	_, rest, _ := strings.Cut(string(ptx), "*/\n")
	return rest
}

func TestInputForms(t *testing.T) {
	text := top + ".visible .func f() { ret; }\n"
	path := t.TempDir() + "/f.ptx"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var outputs []string
	for _, in := range []link.Input{{Path: path}, {Name: "text", Text: []byte(text)}, {Name: "reader", Reader: strings.NewReader(text)}} {
		outputs = append(outputs, string(mustLink(t, link.Options{Inputs: []link.Input{in}}).PTX))
	}
	if outputs[0] != outputs[1] || outputs[1] != outputs[2] {
		t.Errorf("the same module links differently:\n%s", strings.Join(outputs, "\n----\n"))
	}
}

// TestUnmatchedNames checks that a field which names nothing is reported under its own name.
func TestUnmatchedNames(t *testing.T) {
	result := mustLink(t, link.Options{
		Inputs: texts(top + ".visible .entry scale() { ret; }"), Exports: []string{"scael"}, Wrap: []string{"malloc"}, WhyLive: []string{"none*"},
	})
	var got []string
	for _, m := range result.Messages {
		got = append(got, string(m.ID)+": "+m.Text+"; "+m.Help)
	}
	want := []string{
		"unmatched: no definition matches scael, which Options.Exports names; did you mean scale?",
		"unmatched: no symbol matches malloc, which Options.Wrap names; ",
		"unmatched: no definition matches none*, which Options.WhyLive names; ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWholeProgramObject checks that a host object of nvcc -c, which has no trace of the
// private function, is said to lack -rdc=true.
func TestWholeProgramObject(t *testing.T) {
	inputs := texts(top+".extern .func helper(); .visible .entry k() { call helper; ret; }", "//\n//\n"+top)
	inputs[1].Name = "b.o:.nv_fatbin"
	_, err := link.Link(context.Background(), link.Options{Inputs: inputs})
	var failed *link.Errors
	if !errors.As(err, &failed) || len(failed.Messages) != 1 || !strings.Contains(failed.Messages[0].Help, "compile with -rdc=true") {
		t.Errorf("got %v", err)
	}
}

func TestErrorsAreReturned(t *testing.T) {
	_, err := link.Link(context.Background(), link.Options{Inputs: append(texts("not ptx"), link.Input{Path: "/does/not/exist.ptx"})})
	var failed *link.Errors
	if !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	if !failed.IO || len(failed.Messages) != 2 {
		t.Errorf("want both faults and IO set: %v", err)
	}
	if _, err := link.Link(context.Background(), link.Options{}); err == nil {
		t.Error("no inputs is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := link.Link(ctx, link.Options{Inputs: texts(top)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled link: %v", err)
	}
}

// many returns modules that call each other, with colliding module-local names.
func many(n int) []string {
	var list []string
	for i := range n {
		next := (i + 1) % n
		list = append(list, fmt.Sprintf(top+`.global .align 1 .b8 $str[4] = {%d, 0, 0, 0};
.extern .func (.param .b32 r) f%d(.param .b32 a);
.visible .func (.param .b32 r) f%d(.param .b32 a)
{
	.reg .b32 %%r<3>;
	.reg .b64 %%rd<2>;
	.param .b32 x;
	.param .b32 y;
	mov.u64 %%rd1, $str;
	ld.param.b32 %%r1, [a];
	st.param.b32 [x], %%r1;
	call.uni (y), f%d, (x);
	ld.param.b32 %%r2, [y];
	st.param.b32 [r], %%r2;
	ret;
}
`, i, next, i, next))
	}
	return list
}

func TestOutputDoesNotDependOnJobs(t *testing.T) {
	inputs := texts(many(40)...)
	want := mustLink(t, link.Options{Inputs: inputs, Jobs: 1}).PTX
	for _, jobs := range []int{2, 16} {
		if got := mustLink(t, link.Options{Inputs: inputs, Jobs: jobs}).PTX; !bytes.Equal(got, want) {
			t.Errorf("-j%d differs from -j1", jobs)
		}
	}
}

// TestJobs links the modules of all scripts with several goroutines, however small they are:
// the output and the messages are those of one goroutine. The race detector runs it too.
func TestJobs(t *testing.T) {
	ways := []link.Options{{}, {Relocatable: true}, {StripDebug: true, KeepLines: true}, {Optimize: link.Optimize{Level: 2, Fold: true}}}
	for _, set := range allLinks(t) {
		for _, o := range ways {
			o.Inputs = set
			said := func(jobs int) string {
				o.Jobs = jobs
				r, err := link.Link(t.Context(), o)
				if err != nil {
					return err.Error()
				}
				var b strings.Builder
				for _, m := range r.Messages {
					b.WriteString(m.Text + "\n")
				}
				return b.String() + string(r.PTX)
			}
			if one, four := said(1), said(4); one != four {
				t.Fatalf("%s: -j1:\n%s\n-j4:\n%s", inputNames(set), one, four)
			}
		}
	}
}

func TestStream(t *testing.T) {
	inputs := texts(many(40)...)
	want := mustLink(t, link.Options{Inputs: inputs})
	got := mustLink(t, link.Options{Inputs: inputs, Stream: true})
	for range 2 {
		var out bytes.Buffer
		n, err := got.WriteTo(&out)
		if err != nil || int(n) != len(want.PTX) || !bytes.Equal(out.Bytes(), want.PTX) || got.PTX != nil || got.Size() != len(want.PTX) {
			t.Errorf("%d bytes written, %d expected: %v", n, len(want.PTX), err)
		}
	}
	var out bytes.Buffer
	if n, err := want.WriteTo(&out); err != nil || int(n) != want.Size() || !bytes.Equal(out.Bytes(), want.PTX) {
		t.Errorf("%d bytes written, %d expected: %v", n, want.Size(), err)
	}
	if _, err := got.WriteTo(brokenWriter{}); err != errBroken {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestRelinkEqualsLinkingAtOnce(t *testing.T) {
	m := many(3)
	all := mustLink(t, link.Options{Inputs: texts(m...)}).PTX
	first := mustLink(t, link.Options{Inputs: texts(m[0], m[1]), Relocatable: true}).PTX
	again := mustLink(t, link.Options{Inputs: texts(string(first), m[2])}).PTX
	if d := cmp.Diff(string(all), string(again)); d != "" {
		t.Error(d)
	}
}

func TestLineMap(t *testing.T) {
	m := many(3)
	r := mustLink(t, link.Options{Inputs: texts(m...)})
	for i, line := range strings.Split(string(r.PTX), "\n") {
		place, ok := r.Lines.Origin(i + 1)
		if strings.HasPrefix(line, "\t") != ok && strings.HasPrefix(line, "\t") {
			t.Errorf("line %d has no origin: %s", i+1, line)
		}
		if !ok || !strings.HasPrefix(line, "\t") {
			continue
		}
		from := place.Source.String(place.Span)
		if cut, _, _ := strings.Cut(line, "$str"); !strings.HasPrefix(from, cut) {
			t.Errorf("line %d %q is said to come from %q", i+1, line, from)
		}
	}
	if _, ok := r.Lines.Origin(1); ok {
		t.Error("the linker's own line has an origin")
	}
	if _, ok := r.Lines.Origin(1 << 30); ok {
		t.Error("a line behind the end has an origin")
	}
}

// TestLineMapHeads checks the lines that begin with a word of the linker: a variable
// and the first line of a body belong to the input all the same.
func TestLineMapHeads(t *testing.T) {
	r := mustLink(t, link.Options{Inputs: texts(
		top+".extern .func f ();\n.visible .global .align 4 .b8 v[4];\n.visible .entry k ()\n{\n\tcall f;\n\tret;\n}\n",
		top+".extern .global .b8 v[4];\n.global .u64 p = v;\n.visible .func f ()\n{\n\tst.global.u64 [p], 1;\n\tret;\n}\n.visible .func one () { ret; }\n",
	), Localize: []string{"one"}, KeepUnused: true})
	var got []string
	for i, line := range strings.Split(string(r.PTX), "\n") {
		if place, ok := r.Lines.Origin(i + 1); ok {
			file, number, _ := place.Position()
			got = append(got, fmt.Sprintf("%s:%d %s", file, number, line))
		}
	}
	want := []string{
		"a.ptx:1 .version 7.8", "a.ptx:2 .target sm_75",
		"b.ptx:6 .visible .func f ();", "b.ptx:11 .func one ();",
		"a.ptx:5 .visible .global .align 4 .b8 v[4];", "b.ptx:5 .global .u64 p = v;",
		"a.ptx:6 .visible .entry k ()", "a.ptx:7 {", "a.ptx:8 \tcall f;", "a.ptx:9 \tret;", "a.ptx:10 }",
		"b.ptx:6 .visible .func f ()", "b.ptx:7 {", "b.ptx:8 \tst.global.u64 [p], 1;", "b.ptx:9 \tret;", "b.ptx:10 }",
		"b.ptx:11 .func one () { ret; }",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// FuzzLink checks that linking never panics, and that accepted inputs give output
// that parses, links again to the same text, and keeps every body byte for byte if
// no names collide.
func FuzzLink(f *testing.F) {
	f.Add(".global .u32 x = 1; .visible .func f(){ x: bra x; }", ".global .u32 x; .extern .func f(); .visible .func g(){ call f; }")
	f.Add(".weak .func (.param .f32 r) w(.param .u32 a){ ret; }", ".extern .func (.param .b32 r) w(.param .b32 a); .alias w2, w;")
	f.Add(".visible .global .u64 a = b; .extern .global .u64 b;", ".visible .global .u64 b = a; .extern .global .u64 a;")
	f.Add(".file 1 \"a\"\n .func f(){ .loc 1 2 3\n ret; }", ".file 3 \"b\"\n.section .debug_str { L: .b8 1 } .pragma \"nounroll\";")
	f.Add(".common .global .b8 c[4]; .shared .b8 s[];", ".common .global .b8 c[8]; .extern .shared .align 16 .f32 s[];")
	f.Add(".visible .global .u64 a = b; .extern .global .u64 b;", ".visible .global .u64 b = a+ .ex64 b = bal .u64 a.ext;")
	f.Fuzz(func(t *testing.T, a, b string) {
		r, err := link.Link(context.Background(), link.Options{Inputs: texts(top+a, top+b), Relocatable: true})
		if err != nil {
			return
		}
		_, target, _ := bytes.Cut(r.PTX, []byte("\n.target "))
		target, _, _ = bytes.Cut(target, []byte("\n"))
		if r.Debug != bytes.HasSuffix(target, []byte(", debug")) {
			t.Fatalf("Debug is %t, but .target %s", r.Debug, target)
		}
		again, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: "again.ptx", Text: r.PTX}}, Relocatable: true})
		if err != nil {
			t.Fatalf("the output does not link: %v\n%s", err, r.PTX)
		}
		once := body(r.PTX)
		_, uses := declarations(r.PTX)
		if _, inputs := declarations([]byte(top+a), []byte(top+b)); inputs != uses {
			return // a name was used before it is declared, which ptxas refuses
		}
		if twice := body(again.PTX); once != twice {
			t.Fatalf("linking again changes the output:\n%s", cmp.Diff(once, twice))
		}
		for i := range strings.Count(once, "\n") {
			r.Lines.Origin(i + 1)
		}
	})
}

// FuzzCollect checks what the removal of unused definitions leaves: the same entries
// and variables in .global and .const, bodies and initial values that are the same
// and whose names mean the same, and nothing to remove from the output.
func FuzzCollect(f *testing.F) {
	f.Add(".visible .func f(){ ret; } .func g(){ call f; } .visible .entry k(){ call g; }", ".extern .func f(); .func h(){ call f; } .global .u64 p = h; .shared .u32 s;")
	f.Add(".func b(){ ret; } .visible .func a(); .alias a, b; .visible .func c(); .alias c, a;", ".extern .func c(); .visible .entry k(){ call c; } .weak .func w(){ ret; }")
	f.Add(".visible .entry k(){ .reg .b64 %r; mov.b64 %r, t; T: .branchtargets T; L: .calltargets f<2>; } .func f0(){ ret; }", ".visible .const .u64 t[2] = {f, 0}; .extern .func f(); .tex .u32 u;")
	f.Add(".entry A(){ ret; }", ".func h(){ call A; }")
	f.Fuzz(func(t *testing.T, a, b string) {
		o := link.Options{Inputs: texts(top+a, top+b), AllowUndefined: []string{"*"}, KeepUnused: true}
		all, err := link.Link(context.Background(), o)
		if err != nil {
			return
		}
		x, uses := declarations(all.PTX)
		if _, inputs := declarations([]byte(top+a), []byte(top+b)); inputs != uses {
			o.Inputs = texts(string(all.PTX)) // a name was used before it is declared, which ptxas refuses
			if _, err := link.Link(context.Background(), o); err != nil {
				return // it is one of the other module now, such as an entry that is called
			}
		}
		o.KeepUnused = false
		few := mustLink(t, o)
		y, _ := declarations(few.PTX)
		if x == nil || y == nil {
			t.Fatalf("an output cannot be read:\n%s\n%s", all.PTX, few.PTX)
		}
		for name, d := range x {
			if _, ok := y[name]; !ok && (d.kind == ptx.Entry || d.kind == ptx.Variable && (d.space == ".global" || d.space == ".const")) {
				t.Fatalf("%s is gone:\n%s", name, few.PTX)
			}
		}
		for name, d := range y {
			if old, ok := x[name]; !ok || !slices.Equal(old.uses, d.uses) || old.text != d.text {
				t.Fatalf("%s was %v, is %v:\n%s\nof\n%s", name, old, d, few.PTX, all.PTX)
			}
		}
		o.Inputs = []link.Input{{Name: "again.ptx", Text: few.PTX}}
		if again := mustLink(t, o); len(again.Removed()) > 0 {
			t.Fatalf("%v can be removed from\n%s", again.Removed(), few.PTX)
		}
	})
}

// definition is a definition of an output.
type definition struct {
	kind  ptx.DeclKind
	space string
	text  string   // the body or initial value
	uses  []string // module-scope names in it
}

// declarations returns the definitions of modules by name, and the number of uses; nil
// if one cannot be read.
func declarations(texts ...[]byte) (list map[string]definition, uses int) {
	list = map[string]definition{}
	for _, text := range texts {
		m, err := ptx.Parse(&diag.Source{Text: text})
		if err != nil {
			return nil, -1
		}
		uses += len(m.Uses)
		for i := range m.Decls {
			d := &m.Decls[i]
			if !d.Defines() {
				continue
			}
			def := definition{kind: d.Kind, text: m.Src.String(d.Body)}
			if d.Kind == ptx.Variable {
				def.space, def.text = d.Space, m.Src.String(d.Init)
			}
			for _, u := range m.Uses[d.FirstUse:d.EndUse] {
				def.uses = append(def.uses, m.Names[u.Name])
			}
			list[m.Names[d.Name]] = def
		}
	}
	return list, uses
}

func TestSingleModuleKeepsBodies(t *testing.T) {
	text := many(1)[0] + ".func g() // comment\n{\n/* kept */ ret;\n\n}\n"
	r := mustLink(t, link.Options{Inputs: texts(text), KeepUnused: true})
	m, err := ptx.Parse(&diag.Source{Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Decls {
		if d.HasBody && !bytes.Contains(r.PTX, m.Src.Bytes(d.Body)) {
			t.Errorf("body of %s changed:\n%s", m.Names[d.Name], r.PTX)
		}
	}
}

// TestCancelWhileReading checks that a link can be cancelled while it waits for an
// input.
func TestCancelWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		w.Write([]byte("."))
		cancel()
	}()
	if _, err := link.Link(ctx, link.Options{Inputs: []link.Input{{Name: "pipe", Reader: r}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestCancelInOnlyDWARF checks that a link of a single module can be cancelled
// while its DWARF is read.
func TestCancelInOnlyDWARF(t *testing.T) {
	asked := func(entries, cancelAt int) (int, error) {
		info := ".b8 2, 0\n.b32 .debug_abbrev\n.b8 8, 1" + strings.Repeat(", 2", entries) + ", 0"
		text := strings.Replace(top, "sm_75", "sm_75, debug", 1) + ".visible .func f () { ret; }\n" +
			".section .debug_abbrev { .b8 1, 0x11, 1, 0, 0, 2, 0x24, 0, 0, 0, 0 }\n" +
			fmt.Sprintf(".section .debug_info {\n.b32 %d\n%s\n}\n", 7+1+entries+1, info)
		ctx := &asking{Context: t.Context(), end: cancelAt}
		_, err := link.Link(ctx, link.Options{Inputs: texts(text), Jobs: 1})
		return int(ctx.asked.Load()), err
	}
	few, err := asked(10, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	many, err := asked(20000, 1<<30)
	if err != nil || many < few+3 {
		t.Errorf("asked %d times for 10 entries and %d times for 20000; %v", few, many, err)
	}
	for at := 1; at <= many; at++ {
		if _, err := asked(20000, at); err != context.Canceled {
			t.Errorf("cancelled when asked for the %d. time: %v", at, err)
		}
	}
}

// asking counts the calls of Err and is cancelled from call number end on.
type asking struct {
	context.Context
	asked atomic.Int32
	end   int
}

func (c *asking) Err() error {
	if int(c.asked.Add(1)) >= c.end {
		return context.Canceled
	}
	return nil
}
