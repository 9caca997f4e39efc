package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProgress checks the line that shows the progress of ptxas on a terminal.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.ptx": ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n",
		"b.ptx": ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry l() { ret; }\n",
		"slow":  "#!/bin/sh\nsleep 1.7\nprintf '" + smallestCubin + "' > linked.cubin\n",
		"waits": "#!/bin/sh\nread line <\"$TURN\"\nprintf '" + smallestCubin + "' > linked.cubin\n",
		"works": "#!/bin/sh\nprintf '" + smallestCubin + "' > linked.cubin\n",
		"fails": "#!/bin/sh\nread line <\"$TURN\"\nexit 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const erased = `\r +\r`
	for _, test := range []struct{ name, args, env, want string }{
		{"whole", "--ptxas=./waits", "", `^(\rptxlink: assembling \(sm_80\), \d+ s)+` + erased + `$`},
		{"parts", "--ptxas=./waits --partition=2 --ptxas-jobs=1 --nvlink=./works", "",
			`^(\rptxlink: assembling 1 of 2 parts \(sm_80\), \d+ s)+(\rptxlink: assembling 2 of 2 parts \(sm_80\), \d+ s)+` + erased + `$`},
		{"error", "--ptxas=./fails", "", `^(\rptxlink: assembling \(sm_80\), \d+ s)+` + erased + `ptxlink: error: ptxas failed`},
		{"interrupt", "--ptxas=./waits", "", `^(\rptxlink: assembling \(sm_80\), \d+ s)+` + erased + `ptxlink: interrupted; nothing was written\n$`},
		{"narrow", "--ptxas=./waits", "narrow", `^(\rptxlink: assembling)+` + erased + `$`},
		{"fast", "--ptxas=./works", "", `^$`},
		{"dumb", "--ptxas=./slow", "TERM=dumb", `^$`},
		{"json", "--ptxas=./slow --diagnostics-format=json", "", `^[^\r]*$`},
		{"verbose", "--ptxas=./slow --verbose", "", `^ptxlink: note: [^\r]*\n$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			master, slave := terminal(t)
			if test.env == "narrow" {
				if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 20}); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("ptxlink", append(strings.Fields(test.args), "-w", "a.ptx", "b.ptx", "-o", test.name+".cubin")...)
			cmd.Dir, cmd.Stderr = dir, slave
			fifo := filepath.Join(t.TempDir(), "turn")
			if err := syscall.Mkfifo(fifo, 0o666); err != nil {
				t.Fatal(err)
			}
			turn, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer turn.Close()
			cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "TURN="+fifo, test.env)
			start := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			slave.Close()
			last := ""
			text := readTerminal(t, master, func(text string) {
				line := regexp.MustCompile(`assembling( \d+ of)?`).FindString(text[strings.LastIndexByte(text, '\r')+1:])
				switch {
				case line == "" || line == last:
				case test.name == "interrupt":
					cmd.Process.Signal(syscall.SIGTERM)
				default:
					turn.WriteString("\n")
				}
				last = line
			})
			cmd.Wait()
			if test.name == "fast" && time.Since(start) >= time.Second {
				t.Log("the machine is too busy to tell")
				return
			}
			if !regexp.MustCompile(test.want).MatchString(text) {
				t.Errorf("%q does not match %s", text, test.want)
			}
		})
	}
}

// TestWritten checks the line that says on a terminal what was written, and follows it.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.ptx":   ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n",
		"b.ptx":   ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry l() { ret; }\n",
		"f.ptx":   ".version 7.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n",
		"bad.ptx": ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry m() { call f; ret; }\n",
		"works":   "#!/bin/sh\nprintf '" + smallestCubin + "' > linked.cubin\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args string) string {
		master, slave := terminal(t)
		cmd := exec.Command("ptxlink", strings.Fields(args)...)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, slave, append(os.Environ(), "NO_COLOR=1", "PTXAS=./works")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		text := readTerminal(t, master, func(string) {})
		cmd.Wait()
		return text
	}
	const next = "; next: load it with cuModuleLoad"
	for args, want := range map[string]string{
		"a.ptx -o out.ptx":                                 `ptxlink: wrote out.ptx, 1 kernel, \d+ bytes` + next + `, or run (ptxlink out.ptx -o out.cubin --arch=sm_80)\n`,
		"a.ptx b.ptx":                                      `ptxlink: wrote a.out.ptx, 2 kernels, \d+ bytes` + next + `, or run ptxlink a.out.ptx -o a.out.cubin --arch=sm_80\n`,
		"a.ptx -o out.cubin --arch=sm_90":                  `ptxlink: wrote out.cubin, 1 kernel, \d+ bytes for sm_90` + next + `\n`,
		"-r a.ptx -o out.ptx":                              `ptxlink: wrote out.ptx, 1 kernel, \d+ bytes\n`,
		"f.ptx -o out.ptx":                                 `ptxlink: wrote out.ptx, 0 kernels, \d+ bytes\n`,
		"a.ptx -o -":                                       ``,
		"a.ptx -o /dev/null":                               ``,
		"a.ptx -o out.ptx -w":                              ``,
		"a.ptx -o out.ptx --diagnostics-format=json":       ``,
		"a.ptx -o out.ptx -MD":                             ``,
		"a.ptx -o out.ptx --dry-run":                       ``,
		"bad.ptx -o bad.out.ptx":                           `bad.ptx:[^w]* error: (?s:.*)`,
		"check f.ptx":                                      `ptxlink: note: ptxas has not run .*\n`,
		"nvlink --arch=sm_80 a.ptx -o out.cubin":           ``,
		"clang-nvlink-wrapper --arch sm_80 a.ptx -o o.out": ``,
	} {
		said := run(args)
		found := regexp.MustCompile(`^` + want + `$`).FindStringSubmatch(said)
		if found == nil || strings.Contains(said, "wrote") != strings.Contains(want, "wrote") {
			t.Errorf("%s: %q does not match %s", args, said, want)
		} else if len(found) > 1 { // follow the line
			command, _ := strings.CutPrefix(found[1], "ptxlink ")
			if said := run(command); !strings.HasPrefix(said, "ptxlink: wrote out.cubin, 1 kernel") {
				t.Errorf("%s: %q", found[1], said)
			}
		}
	}
}

// readTerminal returns what is written to the other side of a terminal until that is closed. It
// calls seen with each part of it, up to the last byte.
func readTerminal(t *testing.T, master *os.File, seen func(text string)) string {
	t.Helper()
	var said []byte
	part := make([]byte, 1<<12)
	for {
		n, err := master.Read(part)
		said = append(said, part[:n]...)
		if err != nil && !strings.Contains(err.Error(), syscall.EIO.Error()) {
			t.Fatal(err)
		}
		if err != nil { // the other side is closed
			return strings.ReplaceAll(string(said), "\r\n", "\n")
		}
		seen(string(said))
	}
}

// terminal opens a new terminal and its other side.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return master, slave
}
