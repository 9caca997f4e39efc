package ptxas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ptxlink/internal/bridge"
	"ptxlink/internal/diag"
	"ptxlink/internal/outfile"
	"ptxlink/link"
)

// Options holds the options of ptxas.
type Options struct {
	// Path is the path of ptxas, as returned by Find.
	Path string
	// Arch is the GPU to assemble for, such as "sm_80". It has no default: a
	// cubin for the wrong GPU fails only when it is loaded.
	Arch string
	// Args are additional arguments (-Xptxas). They override the options below.
	Args []string
	// Debug and LineInfo are set if the module has DWARF, which needs -g, or .loc
	// lines, which need -lineinfo.
	Debug, LineInfo bool
	// Compile writes a relocatable cubin (-c).
	Compile bool
}

// Origin maps a line of the module to the input line it came from. ok is false for a
// line that comes from no input. *link.LineMap implements it.
type Origin interface {
	Origin(line int) (place link.Place, ok bool)
}

// ErrRejected is returned if there is no cubin and the messages give the reason.
var ErrRejected = errors.New("ptxas did not accept the module")

// The names are the same in every run and contain no folder, because with -g ptxas 13
// writes its command line into the cubin.
const inputName, outputName = "linked.ptx", "linked.cubin"

// Assemble assembles a linked module to a cubin. It returns the messages of ptxas,
// with input lines; there may be messages without an error. An error other than
// ErrRejected means that ptxas could not be run.
func Assemble(ctx context.Context, o Options, ptx []byte, origin Origin) (cubin []byte, messages []*link.Message, err error) {
	var log diag.Log
	cubin, err = assemble(ctx, o, ptx, origin, &log)
	return cubin, bridge.Messages[*link.Message](log.Messages), err
}

func assemble(ctx context.Context, o Options, ptx []byte, origin Origin, log *diag.Log) (cubin []byte, err error) {
	if o.Arch == "" && !given(o.Args, "-arch", "--gpu-name") {
		return nil, errors.New("ptxas needs the name of a GPU, such as sm_80")
	}
	// ptxas 12.4 stops at a NUL and exits 0, with a cubin of the part before it.
	if at := bytes.IndexByte(ptx, 0); at >= 0 {
		merged := &diag.Source{Name: inputName, Text: ptx}
		log.Error(diag.NUL, diag.At(merged, diag.Span{Off: int32(at), Len: 1}), "ptxas would ignore everything after this NUL")
		return nil, ErrRejected
	}
	dir, remove, err := outfile.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(dir, inputName), ptx, 0o600); err != nil {
		return nil, err
	}

	cmd := exec.CommandContext(ctx, o.Path, o.args()...)
	cmd.Dir = dir
	// A wrapper script may be killed while its child still holds the pipe.
	cmd.WaitDelay = 2 * time.Second
	said, runErr := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if runErr != nil && !errors.As(runErr, &exit) {
		return nil, fmt.Errorf("cannot run %s: %w", o.Path, runErr)
	}

	errorsBefore := log.Errors()
	retell(string(said), o, ptx, origin, log)
	if how := crashed(cmd.ProcessState); how != "" {
		log.Error(diag.PtxasFailed, diag.Place{}, fmt.Sprintf("ptxas crashed (%s)", how)).
			WithHelp(fmt.Sprintf("the program is %s; try another version with --ptxas, and write the PTX instead of a cubin to see what it crashed on", o.Path))
		return nil, ErrRejected
	}
	if log.Errors() > errorsBefore {
		return nil, ErrRejected
	}
	if exit != nil {
		log.Error(diag.PtxasFailed, diag.Place{}, fmt.Sprintf("ptxas failed without a message (exit code %d)", exit.ExitCode())).
			WithHelp("the program is " + o.Path)
		return nil, ErrRejected
	}
	cubin, err = os.ReadFile(filepath.Join(dir, outputName))
	switch {
	case err != nil || len(cubin) == 0:
		m := log.Error(diag.PtxasFailed, diag.Place{}, "ptxas reported success and wrote no cubin")
		if strings.HasPrefix(o.Arch, "compute_") {
			m.WithHelp(o.Arch + " is a virtual architecture, for which ptxas only checks the module; name a GPU, such as sm_80")
		}
		return nil, ErrRejected
	}
	if err := checkCubin(cubin); err != nil {
		log.Error(diag.PtxasFailed, diag.Place{}, "ptxas reported success and wrote something that is not a cubin: "+err.Error()).
			WithHelp("the program is " + o.Path)
		return nil, ErrRejected
	}
	return cubin, nil
}

// args returns the command line. The user's arguments come last.
func (o Options) args() []string {
	var args []string
	if !given(o.Args, "-arch", "--gpu-name") {
		args = append(args, "-arch="+o.Arch)
	}
	if o.Compile && !given(o.Args, "-c", "--compile-only") {
		args = append(args, "-c")
	}
	// ptxas accepts -g or -lineinfo, but not both.
	if !given(o.Args, "-g", "--device-debug", "-lineinfo", "--generate-line-info") {
		if o.Debug {
			args = append(args, "-g")
		} else if o.LineInfo {
			args = append(args, "-lineinfo")
		}
	}
	args = append(args, o.Args...)
	return append(args, inputName, "-o", outputName)
}

// given reports whether one of the names is among the arguments, alone or as
// name=value.
func given(args []string, names ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(names, name)
	})
}

// crashed returns how a process was terminated, or "" if it exited by itself. ptxas
// may be a shell script, and a shell reports a signal as 128 plus its number. Windows
// uses exit codes such as 0xc0000005.
func crashed(p *os.ProcessState) string {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String() + outOfMemory(status.Signal())
	}
	code := p.ExitCode()
	if uint32(code) >= 0xc0000000 && code != -1 {
		return fmt.Sprintf("exit code %#x", uint32(code))
	}
	switch s := syscall.Signal(code - 128); s {
	case syscall.SIGILL, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGTERM:
		return s.String() + outOfMemory(s)
	}
	return ""
}

func outOfMemory(s syscall.Signal) string {
	if s == syscall.SIGKILL {
		return ", perhaps out of memory"
	}
	return ""
}
