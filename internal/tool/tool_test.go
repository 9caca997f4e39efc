//go:build linux

package tool

import (
	"context"
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
	"ptxlink/object/diag"
)

// TestMain makes the test a program that runs another one, as ptxlink does.
func TestMain(m *testing.M) {
	if script := os.Getenv("TOOL_TEST_RUN"); script != "" {
		os.Unsetenv("TOOL_TEST_RUN")
		if os.Getenv("TOOL_TEST_IGNORE") != "" {
			signal.Ignore(syscall.SIGCHLD)
		}
		out, err := Run(context.Background(), Command{Path: "/bin/sh", Args: []string{"-c", script}})
		fmt.Printf("%s%v\n", out.Said, err)
		os.Exit(0)
	}
	if dir := os.Getenv("PTXLINK_CACHE_PROGRAM"); dir != "" {
		cacheProgram(dir, os.Args[1])
		return
	}
	oracles.Main(m)
}

// forever is a program that does not end.
const forever = "tail -f /dev/null"

// shell runs a script.
func shell(t *testing.T, script string) (Output, error) {
	t.Helper()
	return Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir()})
}

// TestLeftBehind: what a program leaves behind neither keeps it from ending nor makes it
// fail, and ends with it unless it is a daemon.
func TestLeftBehind(t *testing.T) {
	out, err := shell(t, forever+" & echo $!")
	if err != nil || out.State.ExitCode() != 0 {
		t.Fatal(out, err)
	}
	oracles.AwaitEnd(string(out.Said))
	if _, err := exec.LookPath("setsid"); err == nil {
		out, err = shell(t, "setsid sh -c 'echo $$ >id; exec "+forever+"' & until test -s id; do sleep 0.01; done; cat id; echo end")
		if err != nil || out.State.ExitCode() != 0 || !strings.HasSuffix(string(out.Said), "end\n") {
			t.Fatal(string(out.Said), err)
		}
		id := 0
		fmt.Sscan(string(out.Said), &id)
		if id == 0 || syscall.Kill(id, 0) != nil {
			t.Error("the daemon was ended")
		} else {
			syscall.Kill(id, syscall.SIGKILL)
		}
	}
}

// TestSaid: all that a program prints before it ends is read, up to the limit.
func TestSaid(t *testing.T) {
	for range 20 {
		out, err := shell(t, "head -c 60000 /dev/zero; setsid sleep 5 & exit 3")
		if err != nil || len(out.Said) != 60000 || out.State.ExitCode() != 3 {
			t.Fatalf("%d bytes, %v, %v", len(out.Said), out.State, err)
		}
	}
	out, err := shell(t, "echo first; yes ptxas error | head -c 80000000; kill -SEGV $$")
	if err != nil || len(out.Said) > MaxSaid || len(out.Said) < MaxSaid-100 || !strings.HasPrefix(string(out.Said), "first\n") || out.Said[len(out.Said)-1] != '\n' {
		t.Errorf("%d bytes, %v", len(out.Said), err)
	}
	if lines := (80000000 - MaxSaid) / len("ptxas error\n"); out.Left < lines || out.Left > lines+2 {
		t.Errorf("%d lines left out, want %d", out.Left, lines)
	}
	if how := out.Killed(); how != "SIGSEGV (segmentation fault)" {
		t.Error(how)
	}
	out, err = Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "cat; echo warning >&2"}, Stdin: strings.NewReader("text"), Apart: true})
	if err != nil || string(out.Said) != "text" || string(out.Errors) != "warning\n" {
		t.Errorf("%q, %q, %v", out.Said, out.Errors, err)
	}
}

func TestEndedBy(t *testing.T) {
	for code, want := range map[int]string{0: "", 1: "", 255: "", -1: "", 0xffffffff: "", 139: "SIGSEGV (segmentation fault)", 0xc0000005: "exit code 0xc0000005"} {
		if how := endedBy(code); how != want {
			t.Errorf("%#x is %q, want %q", code, how, want)
		}
	}
}

// TestCancelled: the context ends a program that hangs, with its children.
func TestCancelled(t *testing.T) {
	ids := filepath.Join(t.TempDir(), "ids")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		oracles.Await(func() bool {
			text, _ := os.ReadFile(ids)
			return strings.Count(string(text), "\n") == 2
		})
		cancel()
	}()
	_, err := Run(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "trap '' TERM INT; " + forever + " & echo $! >>" + ids + "; echo $$ >>" + ids + "; while :; do wait; done"}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	text, _ := os.ReadFile(ids)
	for _, id := range strings.Fields(string(text)) {
		oracles.AwaitEnd(id)
	}
}

// TestVersion asks programs for their version, which may hang, or cannot be run.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	os.WriteFile(program, []byte("#!/bin/sh\ncase $0$1 in *fails*) exit 1 ;; *hangs*) "+forever+" & echo $! >"+dir+"/id; wait ;; esac\necho release 1.2\necho warning >&2\n"), 0o777)
	for name, want := range map[string]string{"program": "release 1.2\n", "fails": "", "hangs": "", "none": ""} {
		if name != "none" {
			os.Symlink(program, filepath.Join(dir, name))
		}
		ctx := t.Context()
		if name == "hangs" {
			ctx = WithPatience(ctx, 200*time.Millisecond)
		}
		said, err := Version(ctx, filepath.Join(dir, name))
		if string(said) != want || errors.Is(err, ErrHangs) != (name == "hangs") || err != nil && !strings.HasSuffix(err.Error(), "hangs --version has not ended after 200ms [tool]") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
	id, _ := os.ReadFile(filepath.Join(dir, "id"))
	oracles.AwaitEnd(string(id))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Version(ctx, program); err != context.Canceled {
		t.Error(err)
	}
}

// TestParentKilled: a program ends with ptxlink, even if that is killed.
func TestParentKilled(t *testing.T) {
	id := filepath.Join(t.TempDir(), "id")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TOOL_TEST_RUN=echo $$ >"+id+"; exec "+forever)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	oracles.Await(func() bool {
		text, _ = os.ReadFile(id)
		return len(text) > 0
	})
	cmd.Process.Kill()
	cmd.Wait()
	oracles.AwaitEnd(string(text))
}

// TestIgnoredChildren: the kernel keeps no exit status for a process that ignores
// SIGCHLD. Programs inherit that.
func TestIgnoredChildren(t *testing.T) {
	for _, parent := range []string{"", "trap '' CHLD; "} {
		cmd := exec.Command("bash", "-c", parent+`exec "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), "TOOL_TEST_RUN=sh -c 'exit 4'; echo $?; sleep 0.1")
		if parent == "" {
			cmd.Env = append(cmd.Env, "TOOL_TEST_IGNORE=1")
		}
		said, err := cmd.CombinedOutput()
		if err != nil || string(said) != "4\n<nil>\n" {
			t.Errorf("%q: %v %q", parent, err, said)
		}
	}
}

// TestTake checks that what a program leaves as its output may be anything, and what a refusal is.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666)
	os.Symlink("/dev/zero", filepath.Join(dir, "zero"))
	os.Mkdir(filepath.Join(dir, "dir"), 0o777)
	os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o666)
	os.WriteFile(filepath.Join(dir, "short"), nil, 0o666)
	os.WriteFile(filepath.Join(dir, "bad"), []byte("y"), 0o666)
	for name, want := range map[string]string{"fifo": "not a regular file", "zero": "not a regular file", "dir": "it is a directory", "none": "wrote no text", "file": "", "short": "wrote no text", "bad": "cannot be used: it is bad"} {
		out, err := Run(t.Context(), Command{Path: "/bin/true"})
		if err != nil {
			t.Fatal(err)
		}
		data, err := out.Take("true", diag.Tool, false, Wanted{Form: "text", Dir: dir, File: name, Check: func(data []byte) error {
			if string(data) != "x" {
				return errors.New("it is bad")
			}
			return nil
		}})
		if want == "" && (err != nil || string(data) != "x") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// TestVerdict checks what counts as a refusal: only errors of a program that ends by itself and are not about
// files, memory or threads.
func TestVerdict(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0": "",
		"echo 'x error : a type is unknown'; exit 1":                 "refused",
		"echo 'LLVM ERROR: Cannot select: intrinsic'; kill -ABRT $$": "refused",
		"echo 'x fatal : a type is unknown'; kill -KILL $$":          "x was killed by SIGKILL, perhaps out of memory",
		"exit 1":   "x failed without a message (exit code 1)",
		"exit 139": "x was killed by SIGSEGV (segmentation fault)",
		"echo 'x fatal   : Could not open output file \"o\"'; exit 1":       "x: Could not open output file \"o\"",
		"echo 'error: IO failure: No space left on device'; exit 70":        "x: IO failure: No space left on device",
		"echo '  what():  std::bad_alloc'; kill -ABRT $$":                   "x was killed by SIGABRT (aborted)",
		"echo 'x warning : Could not open x'; echo 'x error : y'; exit 1":   "refused",
		"echo 'x warning : Memory allocation failure'; echo all done; exit": "",
	} {
		out, err := Run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		err = out.Verdict("x", diag.Tool, strings.Contains(strings.ToLower(string(out.Said)), "error") || strings.Contains(string(out.Said), "fatal"))
		got := ""
		if failed, ok := errors.AsType[*diag.Message](err); ok {
			got = failed.Text
		} else if errors.Is(err, ErrRejected) {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	refused, failed := fmt.Errorf("x: %w", ErrRejected), errors.New("y")
	for _, errs := range [][]error{{nil, refused, failed}, {failed, refused, nil}} {
		if Worst(errs...) != failed || Worst(errs[:2]...) == nil {
			t.Errorf("%v: %v", errs, Worst(errs...))
		}
	}
}

// TestHasProgram checks which errors mean that there is no program.
func TestHasProgram(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "file"), nil, 0o666)
	os.Symlink("loop", filepath.Join(dir, "loop"))
	for path, want := range map[string]string{
		"/bin/sh": "true", dir: "false", dir + "/none": "false", dir + "/file": "false", dir + "/file/x": "false",
		dir + "/loop": "cannot look for " + dir + "/loop: too many levels of symbolic links",
	} {
		there, err := HasProgram(path)
		got := fmt.Sprint(there)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
