//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ptxlink/internal/infile"
)

// TestInputBecomesShorter: a large input is mapped, and its memory is gone once
// another program has made the file shorter, here while the output is written.
func TestInputBecomesShorter(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.ptx")
	text := ".version 7.8\n.target sm_75\n.address_size 64\n"
	for _, name := range "abcdefgh" {
		text += ".visible .func " + string(name) + "() {\n" + strings.Repeat("// comment\n", infile.LeastMapped/16) + "ret;\n}\n"
	}
	if err := os.WriteFile(large, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	shorten := rewrite(func() {
		if err := os.Truncate(large, 0); err != nil {
			t.Error(err)
		}
	})
	code := run(t.Context(), []string{large, "-o", "-"}, nil, &shorten, &said)
	want := large + ": an input became shorter while it was linked; link again"
	if code != exitIO || !strings.Contains(said.String(), want) {
		t.Errorf("exit code %d, want %d:\n%s", code, exitIO, said.String())
	}
}

// rewrite changes files when it is first written to. Standard output is written when the
// other outputs are, under other names.
type rewrite func()

func (r *rewrite) Write(data []byte) (int, error) {
	if *r != nil {
		(*r)()
		*r = nil
	}
	return len(data), nil
}

// TestInputChanges: a file that is written in place while it is linked leaves the old
// output. One that is replaced, or only gets another name, does not: the link has read
// one state of it.
func TestInputChanges(t *testing.T) {
	const header = ".version 7.8\n.target sm_75\n.address_size 64\n"
	zeros := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write(make([]byte, info.Size()))
		return err
	}
	replace := func(path string) error {
		if err := os.WriteFile(path+".new", make([]byte, 5), 0o666); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	}
	link := func(path string) error { return os.Link(path, path+".link") }
	for _, test := range []struct {
		changed string
		how     func(string) error
		args    string
		harm    bool
	}{
		{"large.ptx", zeros, "large.ptx", true},
		{"large.ptx", func(path string) error { return os.Truncate(path, 100) }, "large.ptx", true},
		{"large.ptx", replace, "large.ptx", false},
		{"large.ptx", os.Remove, "large.ptx", false},
		{"large.ptx", link, "large.ptx", false},
		{"small.ptx", zeros, "small.ptx", true},
		{"small.ptx", zeros, "--whole-archive thin.a", true},
		{"pack.a", zeros, "pack.a -u=f", true},
		{"pack.a", zeros, "small.ptx pack.a -u=g", true}, // nothing in it is needed
		{"rsp", zeros, "@rsp", true},
		{"script", zeros, "small.ptx --version-script=script", true},
	} {
		t.Run(test.changed+" "+test.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for path, text := range map[string]string{
				"large.ptx": header + strings.Repeat("// comment\n", infile.LeastMapped/8) + ".visible .func f() { ret; }\n",
				"small.ptx": header + ".visible .func f() { ret; }\n",
				"thin.a":    "!<thin>\n//                                              12        `\nsmall.ptx/\n\n/0              0           0     0     644     69        `\n",
				"rsp":       "small.ptx",
				"script":    "{ global: f; };",
				"out.ptx":   "old",
			} {
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			if code := run(t.Context(), []string{"ar", "pack.a", "small.ptx"}, nil, io.Discard, &said); code != exitOK {
				t.Fatalf("exit code %d\n%s", code, &said)
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(test.changed, old, old); err != nil {
				t.Fatal(err)
			}
			change := rewrite(func() {
				if err := test.how(test.changed); err != nil {
					t.Error(err)
				}
			})
			code := run(t.Context(), append(strings.Fields(test.args), "-r", "-o", "out.ptx", "-Map=-"), nil, &change, &said)
			text, _ := os.ReadFile("out.ptx")
			switch {
			case !test.harm && (code != exitOK || !strings.Contains(string(text), " f")):
				t.Errorf("exit code %d\n%s\n%.300s", code, &said, text)
			case test.harm && (code != exitIO || !strings.Contains(said.String(), test.changed+": it was changed while it was read")):
				t.Errorf("exit code %d\n%s", code, &said)
			case test.harm && string(text) != "old":
				t.Errorf("the output is now %.100q", text)
			}
			if left, _ := filepath.Glob(".ptxlink-*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestOutputIsInput: no output takes the place of a file that was read, however either
// is spelt.
func TestOutputIsInput(t *testing.T) {
	const module = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .func f() { ret; }\n"
	files := map[string]string{
		"main.ptx":   module,
		"lib.ptx":    strings.Replace(module, "f()", "g()", 1),
		"sub/in.ptx": strings.Replace(module, "f()", "h()", 1),
		"t.a":        "!<thin>\n//                                              22        `\nlib.ptx/\nsub/in.ptx/\n\n/0              0           0     0     644     69        `\n/9              0           0     0     644     69        `\n",
		"rsp":        "main.ptx @inner",
		"inner":      "-r",
		"script":     "{ global: *; };",
	}
	// Everything that is read: main.ptx, lib.ptx and sub/in.ptx in t.a, rsp, inner, script.
	const inputs = "@rsp --whole-archive t.a --version-script=script "
	for _, args := range []string{
		"-o lib.ptx", "-o sub/in.ptx", "-o ./sub/../lib.ptx", "-o rsp", "-o inner", "-o script",
		"-o hard.ptx", "-o soft.ptx", "-o softmain.ptx", "-o hardmain.ptx",
		"-o /dev/fd/3 3>>lib.ptx", "-o /proc/self/fd/3 3>>main.ptx", "-o - >>main.ptx", "-o - >>lib.ptx", "-o /dev/stdout >>main.ptx", "-o - >>inner",
		"-Map=lib.ptx -o new.ptx", "-Map=rsp -o new.ptx", "-Map=/dev/fd/3 -o new.ptx 3>>lib.ptx", "-Map=- -o new.ptx >>rsp",
		"--dot=lib.ptx -o new.ptx", "--report=lib.ptx -o new.ptx", "--report=script -o new.ptx", "--dependency-file=inner -o new.ptx", "-MF lib.ptx -o new.ptx", "--unused-inputs=lib.ptx -o new.ptx",
		"--print-dependencies=lib.ptx -o new.ptx", "--time-trace=lib.ptx -o new.ptx", "--reproduce=rsp -o new.ptx", "--reproduce=main.ptx -o new.ptx",
		"--partition=1 --emit-parts=%d.ptx -o new.ptx", // 0.ptx is a link to lib.ptx
	} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			if err := os.Mkdir(at("sub"), 0o777); err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			os.Link(at("lib.ptx"), at("hard.ptx"))
			os.Link(at("main.ptx"), at("hardmain.ptx"))
			os.Symlink("lib.ptx", at("soft.ptx"))
			os.Symlink("main.ptx", at("softmain.ptx"))
			os.Symlink("lib.ptx", at("0.ptx"))
			cmd := exec.Command("sh", "-c", "exec ptxlink "+inputs+args)
			cmd.Dir = dir
			said, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != exitIO || !strings.Contains(string(said), "input") {
				t.Errorf("%v\n%s", err, said)
			}
			for name, text := range files {
				if now, _ := os.ReadFile(at(name)); string(now) != text {
					t.Errorf("%s is now %.100q", name, now)
				}
			}
			if _, err := os.Stat(at("new.ptx")); err == nil {
				t.Error("there is an output")
			}
		})
	}
	// Standard input is one too, and other commands have outputs.
	for _, line := range []string{
		"ptxlink - -o main.ptx <main.ptx",
		"ptxlink - -r -o - <main.ptx >>main.ptx",
		"ptxlink nm t.a --output lib.ptx",
		"ptxlink extract t.a --force -o .",
		"ptxlink ar sub/in.ptx t.a",
		"ptxlink ar lib.ptx t.a",
	} {
		t.Run(line, func(t *testing.T) {
			dir := t.TempDir()
			os.Mkdir(filepath.Join(dir, "sub"), 0o777)
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = dir
			said, err := cmd.CombinedOutput()
			changed := false
			for name, text := range files {
				now, _ := os.ReadFile(filepath.Join(dir, name))
				changed = changed || string(now) != text
			}
			if changed || err == nil && line != "ptxlink extract t.a --force -o ." { // which finds each as it would write it
				t.Errorf("%v, changed: %v\n%s", err, changed, said)
			}
		})
	}
}
