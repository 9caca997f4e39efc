package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"ptxlink/internal/outfile"
	"ptxlink/object/diag"
)

// Exe is the suffix of programs.
var Exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// Find returns the absolute path of a program, because it runs in another directory; "" if
// there is an error, which does not repeat the name.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", outfile.Reason(err)
	}
	return filepath.Abs(path)
}

// Asked returns the value that the user gave with the option --name (explicit), or else with the
// environment variable NAME, and which of the two it was. value is "" if neither is set.
func Asked(s diag.Spelling, name, explicit string) (value, who string) {
	if explicit != "" {
		return explicit, s.Option("--" + name)
	}
	variable := strings.ToUpper(name)
	return os.Getenv(variable), "$" + variable
}

// Named is Find for a program that the user named by who, an option or a variable. The error is
// a *diag.Message, with help if there is an example of a path.
func Named(who, name, example string) (path string, err error) {
	if path, err = Find(name); err != nil {
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot run %s, which %s names: %v", name, who, err))
		if err = m; example != "" {
			m.WithHelp("name the program itself, such as " + example)
		}
	}
	return path, err
}

// IsProgram reports whether a path with a separator in it leads to a program.
func IsProgram(path string) bool {
	there, _ := HasProgram(path)
	return there
}

// HasProgram is IsProgram, with the error if the machine does not tell.
func HasProgram(path string) (bool, error) {
	_, err := exec.LookPath(path)
	if slices.ContainsFunc([]error{fs.ErrNotExist, fs.ErrPermission, exec.ErrNotFound, syscall.EISDIR, syscall.ENOTDIR}, func(no error) bool { return errors.Is(err, no) }) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("cannot look for %s: %w", path, outfile.Reason(err))
	}
	return err == nil, err
}

// patience is how long a program may take to print its version.
const patience = 10 * time.Second

type patienceKey struct{}

// WithPatience returns a context in which a program may take another time to print its version.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// ErrHangs is what the error of Version wraps if the program does not end.
var ErrHangs = errors.New("it does not end")

// Version returns what a program prints with --version; nothing of one that cannot be run or fails. It
// is an error if the program does not end in time, and if the machine has no room to run it.
func Version(ctx context.Context, path string) ([]byte, error) {
	said, ok, err := TryVersion(ctx, path)
	if !ok {
		return nil, err
	}
	return said, err
}

// TryVersion returns what a program prints with --version, and whether it succeeds. It returns the
// errors of Version.
func TryVersion(ctx context.Context, path string) (said []byte, ok bool, err error) {
	limit, ok := ctx.Value(patienceKey{}).(time.Duration)
	if !ok {
		limit = patience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := Run(limited, Command{Path: path, Args: []string{"--version"}, Apart: true})
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case limited.Err() != nil:
		m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("%s --version has not ended after %v", path, limit))
		m.Err = ErrHangs
		return nil, false, m
	case Scarce(err):
		return nil, false, err
	case err != nil:
		return nil, false, nil
	case strings.HasPrefix(out.Killed(), "SIGKILL"): // an error, because this program may work, unlike one that crashes
		return nil, false, diag.New(diag.Tool, diag.Place{}, path+" --version was killed by "+out.Killed())
	}
	return out.Said, out.State.Success(), nil
}
