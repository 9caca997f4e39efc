package link_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
)

const linkerTop = ".version 7.8\n.target sm_75\n.address_size 64\n"

// user returns a kernel that calls a function.
func user(name, callee string) link.Input {
	return link.Input{Name: name + ".ptx", Text: []byte(linkerTop + ".extern .func " + callee + " (.param .b32 n);\n" +
		".visible .entry " + name + " () {\n.param .b32 p;\nst.param.b32 [p], 1;\ncall " + callee + ", (p);\nret;\n}\n")}
}

// library writes an archive of functions f0 to f9, each of which calls the next.
func library(t *testing.T, format string) string {
	var members []link.Input
	for i := range 10 {
		text := fmt.Sprintf(".global .u32 shared_name = %d;\n.visible .func f%d (.param .b32 n) {\n.reg .b32 %%r<2>;\nst.global.u32 [shared_name], 1;\n", i, i)
		if i < 9 {
			text = fmt.Sprintf(".extern .func f%d (.param .b32 n);\n%s{\n.param .b32 p;\nst.param.b32 [p], 1;\ncall f%d, (p);\n}\n", i+1, text, i+1)
		}
		members = append(members, link.Input{Name: fmt.Sprintf("f%d.ptx", i), Text: []byte(linkerTop + text + "ret;\n}\n")})
	}
	p, err := pack.Make(context.Background(), pack.Options{Inputs: members})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lib"+format+".a")
	if err := os.WriteFile(path, p.Data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLinker links many programs at once with one Linker. Each has the bytes that a
// link of its own has.
func TestLinker(t *testing.T) {
	path := library(t, "f")
	gcc := oracles.RequireFile(t, "gcc-nvptx/libc.a")
	libraries := []link.Input{{Path: path}, {Path: gcc}}
	l, err := link.NewLinker(context.Background(), "", libraries...)
	if err != nil {
		t.Fatal(err)
	}
	programs := [][]link.Input{{user("k", "f0")}, {user("k", "f7")}, {user("a", "f3"), user("b", "f8")}, {user("k", "strlen")}, {user("k", "printf"), user("k2", "f9")}}
	var group sync.WaitGroup
	for round := range 20 {
		for i, inputs := range programs {
			group.Go(func() {
				o := link.Options{Inputs: inputs, AllowUndefined: []string{"*"}, KeepUnused: round%2 == 0}
				got, err1 := l.Link(context.Background(), o)
				o.Inputs = append(inputs[:len(inputs):len(inputs)], libraries...)
				want, err2 := link.Link(context.Background(), o)
				if fmt.Sprint(err1) != fmt.Sprint(err2) {
					t.Errorf("program %d: %v; without the Linker %v", i, err1, err2)
				} else if err1 == nil && (!bytes.Equal(got.PTX, want.PTX) || fmt.Sprint(got.Pulls, got.Unused) != fmt.Sprint(want.Pulls, want.Unused)) {
					t.Errorf("program %d differs from a link without the Linker", i)
				}
			})
		}
	}
	group.Wait()
}

// TestLinkerSharesDWARF links modules with a Linker whose library has DWARF, at the same
// time: each link names the source line where a variable is declared, which it finds in
// the DWARF that all of them read. The race detector sees a link that writes to it.
func TestLinkerSharesDWARF(t *testing.T) {
	const dwarf = ".file 1 \"lib.cu\"\n.section .debug_abbrev { .b8 1,17,1,0,0,2,52,0,3,8,58,11,59,11,2,10,0,0,0 }\n" +
		".section .debug_info { .b32 28 .b8 2,0 .b32 .debug_abbrev .b8 8,1,2,116,97,98,108,101,0,1,7,9,3 .b64 table .b8 0 }\n"
	l, err := link.NewLinker(t.Context(), "", link.Input{Name: "lib.ptx", Text: []byte(strings.Replace(linkerTop, "sm_75", "sm_75, debug", 1) +
		".visible .global .align 4 .b8 table[16];\n" + dwarf)})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			r, err := l.Link(t.Context(), link.Options{Inputs: []link.Input{{Name: "main.ptx", Text: []byte(linkerTop +
				".extern .global .align 16 .b8 table[16];\n.visible .entry k () { .reg .b64 a; mov.u64 a, table; ret; }\n")}}})
			if err != nil {
				t.Error(err)
				return
			}
			said := ""
			for _, w := range r.Messages {
				said += fmt.Sprintln(w.Error(), w.Notes)
			}
			if !strings.Contains(said, "{lib.cu:7 ") {
				t.Errorf("no source line: %s", said)
			}
		})
	}
	group.Wait()
}

func TestLinkerReadsOnce(t *testing.T) {
	path := library(t, "f")
	text := []byte(linkerTop + ".visible .func g (.param .b32 n) { ret; }\n")
	l, err := link.NewLinker(context.Background(), "", link.Input{Path: path}, link.Input{Name: "g.ptx", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	clear(text)
	for range 2 {
		if _, err := l.Link(context.Background(), link.Options{Inputs: []link.Input{user("k", "f0"), user("k2", "g")}}); err != nil {
			t.Error(err)
		}
	}
}

func TestLinkerErrors(t *testing.T) {
	ctx := context.Background()
	_, err := link.NewLinker(ctx, "", link.Input{Path: "none.a"})
	var refused *link.Errors
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &refused) || !refused.IO {
		t.Errorf("a missing library: %v", err)
	}
	if _, err := link.NewLinker(ctx, "80"); err == nil {
		t.Error("the architecture 80 is accepted")
	}
	l, err := link.NewLinker(ctx, "sm_80", link.Input{Name: "bad.ptx", Text: []byte(linkerTop + ".visible .func f (\n")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := l.Link(ctx, link.Options{Inputs: []link.Input{user("k", "f0")}})
		if err == nil || strings.Count(err.Error(), "bad.ptx") == 0 {
			t.Errorf("a library with a syntax error: %v", err)
		}
	}
	if _, err := l.Link(ctx, link.Options{Inputs: []link.Input{user("k", "f0")}, Arch: "sm_90"}); err == nil || !strings.Contains(err.Error(), `were read for "sm_80"`) {
		t.Errorf("another architecture: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := link.NewLinker(ended, "", link.Input{Path: library(t, "f")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// BenchmarkLinker is a link of one kernel with gcc's libc, of which it needs puts.
func BenchmarkLinker(b *testing.B) {
	libc := link.Input{Path: oracles.RequireFile(b, "gcc-nvptx/libc.a")}
	kernel := linkerTop + ".extern .func (.param .b32 r) puts (.param .b64 text);\n.visible .entry k (.param .b64 text) {\n.reg .b64 %r;\n.param .b64 p;\n.param .b32 q;\n" +
		"ld.param.b64 %r, [text];\nst.param.b64 [p], %r;\ncall (q), puts, (p);\nret;\n}\n"
	o := link.Options{Inputs: []link.Input{{Name: "k.ptx", Text: []byte(kernel)}}, AllowUndefined: []string{"*"}}
	l, err := link.NewLinker(context.Background(), "", libc)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("linker", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Link(context.Background(), o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("link", func(b *testing.B) {
		b.ReportAllocs()
		one := o
		one.Inputs = append(one.Inputs[:1:1], libc)
		for b.Loop() {
			if _, err := link.Link(context.Background(), one); err != nil {
				b.Fatal(err)
			}
		}
	})
}
