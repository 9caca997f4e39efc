package link_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// embedder is a program of another module, which cannot import internal packages.
const embedder = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ptxlink/abicheck"
	"ptxlink/abicheck/ctype"
	"ptxlink/link"
	"ptxlink/link/libdevice"
	"ptxlink/link/pack"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

func show(messages []*link.Message) {
	for _, m := range messages {
		file, line, column := m.Place.Position()
		fmt.Printf("%s %q %s:%d:%d [%d+%d] %s; help %q\n", m.Kind, m.ID, file, line, column, m.Place.Span.Off, m.Place.Span.Len, m.Text, m.Help)
		for _, n := range m.Notes {
			fmt.Printf("  %s %s\n", n.Place, n.Text)
		}
	}
}

func main() {
	ctx := context.Background()
	one := link.Input{Name: "a.ptx", Text: []byte(top + ".visible .entry k () { ret; }\n.visible .func f () { ret; }\n")}
	two := link.Input{Name: "b\x1b[31m.ptx", Text: []byte(top + ".visible .func f () { ret; }\n")}
	_, err := link.Link(ctx, link.Options{Inputs: []link.Input{one, two}})
	var refused *link.Errors
	if !errors.As(err, &refused) {
		panic(err)
	}
	show(refused.Messages)
	diag.Write(os.Stdout, refused.Messages, diag.Style{})

	r, err := link.Link(ctx, link.Options{Inputs: []link.Input{one}, KeepUnused: true})
	if err != nil {
		panic(err)
	}
	for _, s := range r.Symbols() {
		file, line, column := s.Place().Position()
		fmt.Println(s.Name, file, line, column)
	}
	for _, lines := range []*link.LineMap{r.Lines, nil} {
		linked := &link.Result{PTX: r.PTX, Lines: lines, Target: r.Target}
		_, err := ptxas.Build{Options: ptxas.Options{Path: os.Args[1]}, Mode: ptxas.Whole}.Cubin(ctx, linked)
		fmt.Println(errors.Is(err, ptxas.ErrRejected))
		show(linked.Messages)
		diag.Write(os.Stdout, linked.Messages, diag.Style{})
	}
	p, err := pack.Make(ctx, pack.Options{Inputs: []link.Input{{Name: "none.ptx", Text: []byte(top)}}})
	if err != nil {
		panic(err)
	}
	show(p.Messages)
	_, err = ptxas.Find("./no\x1b[31m")
	message(err)
	_, err = libdevice.Find("./no\x1b[31m")
	message(err)
	passes(ctx)
}

// message prints an error that is a single message.
func message(err error) {
	var m *link.Message
	if !errors.As(fmt.Errorf("wrapped: %w", err), &m) {
		panic(err)
	}
	show([]*link.Message{m})
	diag.Write(os.Stdout, []*link.Message{m}, diag.Style{})
}

// passes calls the passes of a link one by one.
func passes(ctx context.Context) {
	var log object.Log
	files, _, err := object.Load(ctx, []object.Input{
		{Name: "a.ptx", Text: []byte(top + ".extern .func g (.param .b32 x);\n.visible .entry k () { .param .b32 p; call g, (p); ret; }\n")},
		{Name: "b.ptx", Text: []byte(top + ".visible .func g (.param .b64 x) { ret; }\n")},
	}, object.Options{}, &log)
	if err != nil {
		panic(err)
	}
	table := resolve.Resolve(files, resolve.Options{}, &log)
	abicheck.Symbols(table, &log)
	for _, m := range log.Messages {
		file, line, column := m.Place.Position()
		fmt.Println(m.Kind, m.ID, file, line, column)
	}
	m, fault := ptx.Parse(&ptx.Source{Name: "c.ptx", Text: []byte(top + ".visible .func h () { ld.global.u32 %r1, [%rd1]; ret; }\n")})
	if fault != nil {
		panic(fault)
	}
	for code, i := m.Code(&m.Decls[0]), 0; i < len(code.Statements); i++ {
		fmt.Print(code.Opcode(code.Statements[i]), " ")
	}
	fmt.Println()
	model, err := ctype.ModelOf("lp64")
	if err != nil {
		panic(err)
	}
	declared, err := ctype.Parse(&ptx.Source{Name: "s.h", Text: []byte("struct s { char c; double d; };")}, model)
	fmt.Println(len(declared), err)
	_, err = ctype.Parse(&ptx.Source{Name: "s.h", Text: []byte("struct {")}, model)
	message(err)
}
`

const embedderSays = `error "duplicate-symbol" b` + "\x1b" + `[31m.ptx:4:16 [59+1] multiple definition of f; help "rename one of the two, or drop .visible from one so that it stays in its module; Options.DedupeIdentical keeps one of two identical functions"
  a.ptx:5:16 first defined here
b\x1b[31m.ptx:4:16: error: multiple definition of f [duplicate-symbol]
    4 | .visible .func f () { ret; }
      |                ^
a.ptx:5:16: note: first defined here
    5 | .visible .func f () { ret; }
      |                ^
help: rename one of the two, or drop .visible from one so that it stays in its module; Options.DedupeIdentical keeps one of two identical functions
k a.ptx 4 17
f a.ptx 5 16
true
error "ptxas-error" a.ptx:5:1 [74+28] ptxas: Bad \x1b[31m thing; help ""
a.ptx:5:1: error: ptxas: Bad \x1b[31m thing [ptxas-error]
    5 | .visible .func f () { ret; }
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
true
error "ptxas-error" :0:0 [0+0] ptxas: Bad \x1b[31m thing; help ""
  <linked module>:12:1 ptxas read this line
ptxlink: error: ptxas: Bad \x1b[31m thing [ptxas-error]
<linked module>:12:1: note: ptxas read this line
   12 | .visible .func f () { ret; }
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
warning "empty-member" none.ptx:0:0 [0+0] this module defines nothing that other modules can use; help "make .visible what it is to define"
error "tool" :0:0 [0+0] cannot run ./no\x1b[31m, which Options.Path names: no such file or directory; help "name the program itself, such as /usr/local/cuda/bin/ptxas"
ptxlink: error: cannot run ./no\x1b[31m, which Options.Path names: no such file or directory [tool]
help: name the program itself, such as /usr/local/cuda/bin/ptxas
error "tool" :0:0 [0+0] there is no ./no\x1b[31m; help ""
ptxlink: error: there is no ./no\x1b[31m [tool]
error param-size a.ptx 4 18
{ ld ret } 
1 <nil>
error "c-syntax" s.h:1:8 [7+1] the "{" is not closed; help ""
s.h:1:8: error: the "{" is not closed [c-syntax]
    1 | struct {
      |        ^
`

// TestEmbedder compiles and runs that program. It uses link, its line map and
// messages, link/ptxas, link/libdevice, link/pack and the passes.
func TestEmbedder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands in for ptxas")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", strings.Replace(string(mod), "module ptxlink\n", "module example.test/embedder\n\nrequire ptxlink v0.0.0\n\nreplace ptxlink => "+root+"\n", 1), 0o666)
	write("go.sum", string(sum), 0o666)
	write("main.go", embedder, 0o666)
	fake := write("ptxas", "#!/bin/sh\nprintf 'ptxas linked.ptx, line 12; error   : Bad \\033[31m thing\\n'; exit 1\n", 0o777)
	cmd := exec.Command("go", "run", "-mod=mod", ".", fake)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if d := cmp.Diff(embedderSays, string(out)); d != "" {
		t.Error(d)
	}
}
