// Package tool finds and runs the programs that ptxlink calls, such as ptxas, and reads what they
// print and write.
package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"ptxlink/internal/outfile"
)

// Command is a program to run.
type Command struct {
	Path  string
	Args  []string
	Dir   string    // the program's directory, also for its temporary files; may be empty
	Stdin io.Reader // may be nil
	Apart bool      // keep standard error apart
}

// Output is what a program printed, and how it ended.
type Output struct {
	// Said is standard output and standard error in one, or standard output.
	Said   []byte
	Errors []byte // standard error, with Command.Apart
	Left   int    // lines that are left out at the end, because there are too many
	State  *os.ProcessState
	Path   string // as in Command
}

// MaxSaid is the number of bytes that are kept of what a program prints.
const MaxSaid = 64 << 20

// Run runs a program to its end:
//
//  1. It dies with the context, with this process (on Linux), and with what it has
//     started: its process group is killed in any case when it has ended. A daemon has
//     a group of its own.
//  2. What it has printed when it ends is all. A daemon that it has started, such as
//     the server of a compiler cache, may hold the pipe open.
//  3. How it ended is not an error of Run, only that it could not be run.
func Run(ctx context.Context, c Command) (out Output, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("cannot run %s: %w", c.Path, outfile.Reason(err))
		}
	}()
	// SIGCHLD must not be ignored, because the kernel would then keep no exit status. A program
	// that uses ptxlink as a library may ignore it. Go's runtime does the same for a program whose
	// parent ignores the signal.
	if childSignal != nil {
		signal.Notify(ended, childSignal)
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Stdin = c.Dir, c.Stdin
	// Temporary files go to c.Dir, because ptxas does not remove them if it is killed, and reads
	// the whole directory at its end.
	if full, err := filepath.Abs(c.Dir); err == nil && c.Dir != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+full)
	}
	cmd.WaitDelay = time.Second // for Stdin
	said, err := newPrinted()
	if err != nil {
		return out, err
	}
	defer said.close()
	cmd.Stdout, cmd.Stderr = said.w, said.w
	said.keep = MaxSaid
	var errs *printed
	if c.Apart {
		if errs, err = newPrinted(); err != nil {
			return out, err
		}
		defer errs.close()
		cmd.Stderr, said.keep = errs.w, math.MaxInt
	}
	// The thread must stay, because the kernel ends the program when the thread that started it
	// ends, and Go ends a thread together with a goroutine that is locked to it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setup(cmd)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if err := cmd.Start(); err != nil {
		return out, err
	}
	stop := context.AfterFunc(ctx, func() { Kill(cmd) })
	go said.read()
	if errs != nil {
		go errs.read()
	}
	err = cmd.Wait()
	stop()
	Kill(cmd)
	said.end()
	out = Output{Said: said.data, Left: said.left, State: cmd.ProcessState, Path: c.Path}
	if errs != nil {
		errs.end()
		out.Errors, out.Left = errs.data, errs.left
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out, err
}

var ended = make(chan os.Signal, 1)

// printed reads what a program prints.
type printed struct {
	r, w *os.File
	done chan struct{}
	keep int
	data []byte
	left int // lines after data
}

func newPrinted() (*printed, error) {
	r, w, err := os.Pipe()
	return &printed{r: r, w: w, done: make(chan struct{}), keep: MaxSaid}, err
}

func (p *printed) close() {
	p.r.Close()
	p.w.Close()
}

// read reads to the end of the pipe, or until a deadline. The program's ends of the pipe
// are not ours.
func (p *printed) read() {
	p.w.Close()
	io.Copy(p, p.r)
	close(p.done)
}

// Write implements io.Writer.
func (p *printed) Write(data []byte) (int, error) {
	n := min(len(data), p.keep-len(p.data))
	p.data = append(p.data, data[:n]...)
	p.left += bytes.Count(data[n:], []byte("\n"))
	return len(data), nil
}

// end is called when the program has ended. It reads the rest of the pipe.
func (p *printed) end() {
	if p.r.SetReadDeadline(time.Now()) == nil {
		<-p.done
		p.r.SetReadDeadline(time.Time{})
		p.drain()
	} else { // because the system has no deadlines for pipes
		select {
		case <-p.done:
		case <-time.After(2 * time.Second):
			p.r.Close()
			<-p.done
		}
	}
	if p.left > 0 { // because the last line is not whole
		p.data = p.data[:bytes.LastIndexByte(p.data, '\n')+1]
		p.left++
	}
}

// Killed returns the signal that ended the program, such as "SIGSEGV (segmentation
// fault)", or "" if it exited by itself. It may be a shell script, and a shell reports a
// signal as 128 plus its number. Windows uses exit codes such as 0xc0000005.
func (o Output) Killed() string {
	if status, ok := o.State.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalName(status.Signal())
	}
	return endedBy(o.State.ExitCode())
}

// endedBy returns the signal, or exception of Windows, that an exit code stands for, or "".
// 0xffffffff is not one of them, because ptxas exits with -1 after errors, which Windows reports
// so.
func endedBy(code int) string {
	if uint32(code)>>28 == 0xc {
		return fmt.Sprintf("exit code %#x", uint32(code))
	}
	switch s := syscall.Signal(code - 128); s {
	case syscall.SIGILL, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGTERM:
		return signalName(s)
	}
	return ""
}

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT",
		syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGTERM: "SIGTERM",
	}
	name, ok := names[s]
	switch {
	case !ok:
		return s.String()
	case s == syscall.SIGKILL:
		return name + ", perhaps out of memory"
	}
	return name + " (" + s.String() + ")"
}

// maxFile is the number of bytes that are read of what a program writes.
const maxFile = 8 << 30
