package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// ErrRejected is the error if a program refuses its input. The reasons are in a log.
var ErrRejected = errors.New("a program refused its input")

// Wanted is a file that a program was run to write.
type Wanted struct {
	Form      string // such as "cubin"
	Dir, File string
	Check     func([]byte) error // returns an error if the file does not have the form
}

// Take returns the file that a program has written. program is its name in messages, and id the ID
// of a message about it. refused is set if it has printed errors about its input.
//
// Only Take and Verdict decide what a refusal is: then the error is ErrRejected. Every other error is one of the
// program or of the machine, a *diag.Message. It says nothing about the input, so a caller must not
// go on as after a refusal.
func (o Output) Take(program string, id diag.ID, refused bool, w Wanted) ([]byte, error) {
	if err := o.Verdict(program, id, refused); err != nil {
		return nil, err
	}
	data, err := (*infile.Files)(nil).ReadRegular(filepath.Join(w.Dir, w.File), maxFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, o.failure(id, program+" reported success and wrote no "+w.Form, nil)
	}
	if err == nil { // because on a full disk ptxas and nvlink write the start of a cubin, and exit with 0
		err = w.Check(data)
	}
	if err != nil {
		return nil, o.failure(id, fmt.Sprintf("%s reported success, but its %s cannot be used: %v", program, w.Form, outfile.Reason(err)), err)
	}
	return data, nil
}

// Verdict returns nil if a program has succeeded, and otherwise the error of Take.
func (o Output) Verdict(program string, id diag.ID, refused bool) error {
	signal, code := o.Killed(), o.State.ExitCode()
	machine := ""
	if refused || code != 0 {
		machine = ofMachine(o.Errors, o.Said)
	}
	switch {
	case signal != "" && !(refused && strings.HasPrefix(signal, "SIGABRT")): // because LLVM ends so after its error
		return o.failure(id, program+" was killed by "+signal, nil)
	case machine != "":
		return o.failure(id, program+": "+machine, nil)
	case refused:
		return ErrRejected
	case code != 0:
		return o.failure(id, fmt.Sprintf("%s failed without a message (exit code %d)", program, code), nil)
	}
	return nil
}

func (o Output) failure(id diag.ID, text string, err error) error {
	m := diag.New(id, diag.Place{}, text).WithHelp("the program is " + o.Path)
	m.Err = err
	return m
}

// machineSaid matches what NVIDIA's programs and LLVM print if they cannot have a file, memory or a thread.
var machineSaid = sets.Regexp(`(?im)^(?:.*\b(?:fatal|error)\b[^:\n]*|\s*what\(\)):\s*(.*(?:could not be opened|(?:cannot|could not|failed to|unable to) (?:open|read|write|create|load|map)` +
	`|error reading|writing file|fwrite failed|memory allocation failure|allocation failure occurred|out of memory|bad_alloc|library load error|cannot allocate memory|no such file or directory|no space left on device` +
	`|input/output error|disk quota exceeded|file too large|too many open files|permission denied|read-only file system).*)$`)

// ofMachine returns the first line of what a program has printed that machineSaid matches, or "".
func ofMachine(said ...[]byte) string {
	for _, text := range said {
		if found := machineSaid().FindSubmatch(text); found != nil {
			return string(found[1])
		}
	}
	return ""
}

// Worst returns the error that matters most of several programs, one that is not ErrRejected.
func Worst(errs ...error) (err error) {
	for _, e := range errs {
		if err == nil || e != nil && errors.Is(err, ErrRejected) {
			err = cmp.Or(e, err)
		}
	}
	return err
}

// Scarce reports whether an error says that the host is at a limit. EBADF is one of them, because a
// new process gets it if it moves a descriptor to a number beyond the limit.
func Scarce(err error) bool {
	limits := []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EBADF}
	return slices.ContainsFunc(limits, func(limit syscall.Errno) bool { return errors.Is(err, limit) })
}
