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
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
		"quiet":  "#!/bin/sh\nexec tail -f /dev/null\n",
		"child":  "#!/bin/sh\ntrap '' TERM\ntail -f /dev/null & wait\n",
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
			said := filepath.Join(t.TempDir(), "said") // a file: Wait does not wait for who holds a pipe
			// The longer it waits, the more often ptxlink blocks already. Before it handles signals, as on a busy
			// machine, the signal kills it.
			for wait := 400 * time.Millisecond; ; wait *= 4 {
				stderr, err := os.Create(said)
				if err != nil {
					t.Fatal(err)
				}
				cmd = exec.Command("ptxlink", strings.Fields(test.args)...)
				cmd.Dir, cmd.Stdin, cmd.Stderr = dir, stdin, stderr
				cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
				err = cmd.Start()
				stderr.Close()
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(wait)
				cmd.Process.Signal(sent)
				cmd.Wait()
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
					break
				}
			}
			text, err := os.ReadFile(said)
			if code, want := cmd.ProcessState.ExitCode(), 128+int(sent); err != nil || code != want || !strings.Contains(string(text), "ptxlink: interrupted") {
				t.Errorf("%s, want exit code %d, %v\n%s", cmd.ProcessState, want, err, text)
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
	const hang = "trap '' TERM INT HUP\nsh -c 'tail -f /dev/null; :' & echo $! $$ >> \"$(dirname \"$0\")/ids\"\nwait\n"
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
			oracles.Await(func() bool {
				text, _ := os.ReadFile(filepath.Join(dir, "ids"))
				ids = strings.Fields(string(text))
				return len(ids) == 2*programs
			})
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
			if cmd.ProcessState.ExitCode() != exitInterrupt {
				t.Fatalf("%v, %s", ids, cmd.ProcessState)
			}
			for _, id := range ids {
				oracles.AwaitEnd(id)
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
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Dir, cmd.Stdin = dir, stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	in.WriteString("int ")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	oracles.Await(func() bool { // until ptxlink has read it, and handles signals
		left, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
		return err != nil || left == 0
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	found := regexp.MustCompile(`SigIgn:\s*([0-9a-f]+)`).FindSubmatch(status)
	if err != nil || found == nil {
		t.Fatalf("%v\n%s", err, status)
	}
	if ignored, err := strconv.ParseUint(string(found[1]), 16, 64); err != nil || ignored>>(syscall.SIGHUP-1)&1 == 0 {
		t.Errorf("SIGHUP is not ignored: %s, %v", found[1], err)
	}
	cmd.Process.Signal(syscall.SIGHUP)
	in.WriteString("i")
	in.Close()
	if err := <-ended; err != nil {
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
