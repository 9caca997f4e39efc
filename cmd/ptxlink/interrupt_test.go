//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ptxlink/internal/oracles"
)

// TestInterrupt checks that the first signal ends ptxlink wherever it blocks, with
// exit code 128 and the signal's number, and that no temporary file remains.
func TestInterrupt(t *testing.T) {
	oracles.Long(t)          // waits for every case to block
	var many strings.Builder // its map is more than a pipe holds
	many.WriteString(".version 7.0\n.target sm_80\n.address_size 64\n")
	for i := range 5000 {
		fmt.Fprintf(&many, ".visible .global .u32 v%d;\n", i)
	}
	files := map[string]string{
		"a.ptx":  small,
		"m.ptx":  many.String(),
		"quiet":  "#!/bin/sh\nsleep 60\n",
		"child":  "#!/bin/sh\ntrap '' TERM\nsleep 3 & wait\n",
		"rsp":    "a.ptx @ff",
		"b.ptx":  strings.ReplaceAll(small, "k()", "l()"),
		"works":  "#!/bin/sh\nprintf '" + smallestCubin + "' > linked.cubin\n",
		"thin.a": "!<thin>\nff/             0           0     0     644     100       `\n",
	}
	for i, test := range []struct {
		name string
		args string
		open bool // somebody holds the FIFO open, and reads and writes nothing
	}{
		{"input", "a.ptx ff", false},
		{"input/open", "a.ptx ff", true},
		{"library", "a.ptx -l:ff -L.", false},
		{"response", "@ff", false},
		{"response/nested", "@rsp", true},
		{"output", "a.ptx -o ff", false},
		{"output/open", "m.ptx -o ff -Map=map", true},
		{"map", "a.ptx -Map=ff", false},
		{"map/open", "m.ptx -Map=ff", true},
		{"dependencies", "a.ptx --dependency-file=ff", false},
		{"unused", "a.ptx --unused-inputs=ff", false},
		{"stdin", "a.ptx -", false},
		{"extract", "extract ff", false},
		{"extract/output", "extract m.ptx -o ff", true},
		{"extract/directory", "extract a.ptx ff -o new/", false},
		{"nm", "nm ff", false},
		{"nm/output", "nm a.ptx --output ff", false},
		{"info", "info ff", true},
		{"check", "check ff", false},
		{"abi", "abi -", false},
		{"ar", "ar new.a a.ptx ff", false},
		{"ar/insert", "ar rc new.a a.ptx -", false},
		{"ptxas", "a.ptx -o a.cubin --ptxas ./quiet", false},
		{"ptxas/child", "a.ptx -o a.cubin --ptxas ./child", false},
		{"ptxas/parts", "a.ptx b.ptx -o a.cubin --partition=2 --save-temps --cache-dir=cache --ptxas ./child --nvlink ./quiet", false},
		{"nvlink", "a.ptx b.ptx -o a.cubin --ptxas-mode=separate --ptxas ./works --nvlink ./child", false},
		{"ptxas/map", "m.ptx -o a.cubin --ptxas ./quiet -Map=ff", true},
	} {
		sent := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[i%3]
		if signal.Ignored(sent) { // the test runs under nohup
			sent = syscall.SIGTERM
		}
		t.Run(test.name+"/"+sent.String(), func(t *testing.T) {
			t.Parallel()
			dir, tmp := t.TempDir(), t.TempDir()
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			fifo := filepath.Join(dir, "ff")
			if err := syscall.Mkfifo(fifo, 0o666); err != nil {
				t.Skip(err)
			}
			if test.open {
				f, err := os.OpenFile(fifo, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
			}
			stdin, hold, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			defer hold.Close()
			before := entries(t, dir)
			var cmd *exec.Cmd
			var said bytes.Buffer
			// On a busy machine the signal handler may not be installed yet.
			for wait := 400 * time.Millisecond; wait < 10*time.Second; wait *= 4 {
				said.Reset()
				cmd = exec.Command("ptxlink", strings.Fields(test.args)...)
				cmd.Dir, cmd.Stdin, cmd.Stderr = dir, stdin, &said
				cmd.WaitDelay = time.Second // a child of ptxas may hold the pipe
				cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { cmd.Wait(); close(ended) }()
				select {
				case <-ended:
					t.Fatalf("ended by itself: %s\n%s", cmd.ProcessState, &said)
				case <-time.After(wait):
				}
				cmd.Process.Signal(sent)
				select {
				case <-ended:
				case <-time.After(30 * time.Second):
					cmd.Process.Kill()
					<-ended
					t.Fatalf("the first signal did not end it\n%s", &said)
				}
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
					break
				}
			}
			if code, want := cmd.ProcessState.ExitCode(), 128+int(sent); code != want || !strings.Contains(said.String(), "ptxlink: interrupted") {
				t.Errorf("exit code %d, want %d\n%s", code, want, &said)
			}
			if after := entries(t, dir); after != before {
				t.Errorf("left behind: %s, was %s", after, before)
			}
			if left := entries(t, tmp); left != "" {
				t.Errorf("left in TMPDIR: %s", left)
			}
		})
	}
}

// smallestCubin is what container.CheckCubin accepts, for printf of a shell.
var smallestCubin = `\177ELF\2\1\1\63\7` + strings.Repeat(`\0`, 7) + `\2\0\276\0` + strings.Repeat(`\0`, 20) + `\100` + strings.Repeat(`\0`, 17) + `\100\0\1\0\0\0` + strings.Repeat(`\0`, 64)

// TestInterruptKillsPrograms checks that nothing runs on after an interrupt that ptxlink has started, although
// it ignores signals and is behind a script: ptxas, a compiler that is asked for its version, or
// the program of a cache.
func TestInterruptKillsPrograms(t *testing.T) {
	const hang = "trap '' TERM INT HUP\nsh -c 'sleep 60; :' & echo $! $$ >> \"$(dirname \"$0\")/ids\"\nwait\n"
	bitcode, err := os.ReadFile("../../testdata/forms/bitcode/f.bc")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"a.ptx":   small,
		"b.ptx":   strings.ReplaceAll(small, "k()", "l()"),
		"f.bc":    string(bitcode),
		"ptxas":   "#!/bin/sh\n" + hang,
		"nvlink":  "#!/bin/sh\n", // it is asked whether it is ptxlink
		"version": "#!/bin/sh\necho version 1\n",
		"cache":   "#!/bin/sh\necho '{\"ID\":0,\"KnownCommands\":[\"get\",\"put\",\"close\"]}'\n" + hang,
	}
	for args, programs := range map[string]int{
		"a.ptx b.ptx -o a.cubin --partition=2 --ptxas-jobs=2 --ptxas=./ptxas --nvlink=./nvlink": 2,
		"a.ptx -o a.cubin --ptxas=./version --nvlink=./ptxas":                                   1,
		"a.ptx -o a.cubin --ptxas=./version --nvlink=./nvlink --cache=prog:./cache":             1,
		"a.ptx -o a.cubin --ptxas=./ptxas --nvlink=./nvlink --cache-dir=cached":                 1,
		"f.bc -o a.ptx --clang=./ptxas":                                                         1,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("ptxlink", strings.Fields(args)...)
			cmd.Dir = dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var ids []string
			for range 200 {
				text, _ := os.ReadFile(filepath.Join(dir, "ids"))
				if ids = strings.Fields(string(text)); len(ids) == 2*programs {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
			if len(ids) != 2*programs || cmd.ProcessState.ExitCode() != exitInterrupt {
				t.Fatalf("%v, %s", ids, cmd.ProcessState)
			}
			for _, id := range ids {
				for try := 0; ; try++ {
					state, err := os.ReadFile("/proc/" + id + "/stat")
					if err != nil || strings.Contains(string(state), ") Z ") {
						break
					}
					if try == 40 {
						t.Errorf("process %s still runs", id)
						break
					}
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
}

// entries lists the files in a directory.
func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestIgnoredSignal checks that a signal that the parent ignores, as under nohup,
// stays ignored.
func TestIgnoredSignal(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `trap '' HUP; exec ptxlink abi -`)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	cmd.Process.Signal(syscall.SIGHUP)
	time.Sleep(500 * time.Millisecond)
	in.Write([]byte("int i"))
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestBrokenPipe checks that ptxlink ends silently and leaves no files when the
// reader of its standard output has gone.
func TestBrokenPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.ptx"), []byte(".version 7.0\n.target sm_80\n.visible .entry k() { ret; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"a.ptx -o - -Map=map", "nm a.ptx", "info a.ptx", "extract a.ptx -o -", "ar p x.a"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if strings.HasPrefix(args, "ar") {
			ar := exec.Command("ptxlink", "ar", "x.a", "a.ptx")
			ar.Dir = dir
			if err := ar.Run(); err != nil {
				t.Fatal(err)
			}
		}
		before := entries(t, dir)
		var said bytes.Buffer
		cmd := exec.Command("ptxlink", strings.Fields(args)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, &said
		err = cmd.Run()
		w.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitPipe || said.Len() > 0 {
			t.Errorf("%s: %v\n%s", args, err, &said)
		}
		if after := entries(t, dir); after != before {
			t.Errorf("%s left %s", args, after)
		}
	}
}

// TestFewDescriptors checks that a link with parts ends with an error or an output where
// few files can be open, and leaves no temporary directory.
func TestFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
	os.WriteFile(filepath.Join(dir, "works"), []byte("#!/bin/sh\nprintf '"+smallestCubin+"' > linked.cubin\n"), 0o777)
	var inputs []string
	for i := range 6 {
		name := fmt.Sprintf("p%d.ptx", i)
		inputs = append(inputs, name)
		os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k%d() { ret; }\n", i), 0o666)
	}
	ended := map[int]int{}
	for limit := 4; limit <= 20; limit++ {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec ptxlink %s -o out.cubin --partition=3 --ptxas ./works --nvlink ./works", limit, strings.Join(inputs, " ")))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"))
		said, _ := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		ended[code]++
		// Go's runtime cannot start with fewer descriptors than it needs itself, nor can the
		// shells of some releases run ./works.
		short := code == exitIO && strings.Contains(string(said), "too many open files") || code == exitLink && strings.Contains(string(said), "works")
		if code != exitOK && !short && !strings.Contains(string(said), "runtime: ") {
			t.Errorf("%d descriptors: exit code %d\n%s", limit, code, said)
		}
		if left := entries(t, filepath.Join(dir, "tmp")); left != "" {
			t.Errorf("%d descriptors: left %s", limit, left)
			os.RemoveAll(filepath.Join(dir, "tmp"))
			os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".ptxlink-*")); len(left) > 0 {
			t.Errorf("%d descriptors: left %s", limit, left)
		}
	}
	if ended[exitOK] == 0 || ended[exitIO] == 0 {
		t.Errorf("exit codes %v; this test shows nothing", ended)
	}
}

// TestFileSizeLimit checks that ulimit -f gives an error like that of a full disk.
func TestFileSizeLimit(t *testing.T) {
	dir := t.TempDir()
	text := ".version 7.0\n.target sm_80\n.visible .entry k() { ret; }\n//" + strings.Repeat("x", 100<<10) + "\n.visible .entry l() { ret; }\n"
	if err := os.WriteFile(filepath.Join(dir, "a.ptx"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command("sh", "-c", "ulimit -f 16; exec ptxlink extract a.ptx -o out/")
	cmd.Dir, cmd.Stderr = dir, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitIO || !strings.Contains(said.String(), "cannot write") {
		t.Errorf("%v\n%s", err, &said)
	}
	if left := entries(t, dir); left != "a.ptx" {
		t.Errorf("left behind: %s", left)
	}
}
