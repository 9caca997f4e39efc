// Package outfile writes files whole or not at all: outputs and the files beside
// them.
package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"ptxlink/internal/infile"
	"ptxlink/object/diag"
)

// File is one file to write: the output, or a file beside it.
type File struct {
	Path string
	Data []byte
	From io.WriterTo // writes the data in place of Data, if it is not nil
	Mode fs.FileMode // permissions; 0 leaves them to the umask
	// NoFollow is set if an input gave the name, so that a symbolic link of that name is replaced,
	// wherever it leads.
	NoFollow bool
	// To receives the data in place of a file, such as standard output. Path is
	// then the name in messages.
	To io.Writer
}

// Write writes all files, each complete, or none of them.
//
//  1. The bytes go to a temporary file in the same directory, which then replaces the
//     file: a reader sees the old file or the new one, and a failure leaves the old
//     one. No file is renamed before all have been written. They are renamed in the
//     order given: the file that other tools wait for (Make, Ninja) must come last.
//  2. A symbolic link is kept, and its target is replaced, except with NoFollow.
//  3. A device or a pipe (/dev/null, /dev/stdout) is written directly, before files
//     are renamed.
//  4. A directory, and a file that is also an input or in the record read, are refused.
//  5. No file is renamed if a file in the record read has changed, and no device or pipe
//     is written.
//
// Libraries do less: google/renameio and natefinch/atomic write one file at a time and
// wait for the disk, renameio does not build for Windows, and natefinch/atomic replaces
// symbolic links.
func Write(inputs []string, read *infile.Files, files ...File) error {
	var staged []stagedFile
	defer func() {
		for _, s := range staged {
			discard(s.temp)
		}
	}()
	var direct []File
	for _, f := range files {
		if f.To != nil {
			if to, ok := f.To.(*os.File); ok {
				if info, err := to.Stat(); err == nil { // because the write reports the error if it is closed
					if err := checkInputs(f.Path, info, inputs, read); err != nil {
						return err
					}
				}
			}
			direct = append(direct, f)
			continue
		}
		if !f.NoFollow || !IsLink(f.Path) {
			if err := Check(f.Path, inputs, read); err != nil {
				return err
			}
			if isSpecial(f.Path) {
				direct = append(direct, f)
				continue
			}
		}
		s, err := stage(f)
		if err != nil {
			return CannotWrite(f.Path, err)
		}
		staged = append(staged, s)
		if f.From != nil && !f.NoFollow { // it may have read more inputs
			if err := Check(f.Path, inputs, read); err != nil {
				return err
			}
		}
	}
	if err := read.Changed(); err != nil {
		return err
	}
	for _, f := range direct {
		if err := writeSpecial(f); err != nil {
			return CannotWrite(f.Path, err)
		}
	}
	if len(direct) > 0 { // because the reader of a pipe may have taken its time
		if err := read.Changed(); err != nil {
			return err
		}
	}
	return unlessAbandoned(func() error { // so that Abandon waits until all of them are renamed
		for _, s := range staged {
			if err := rename(s.temp, s.final); err != nil {
				return CannotWrite(s.final, err)
			}
			made.written = true
		}
		return nil
	})
}

// Keep writes a file that is not an output, such as an entry of a cache: whole or not
// at all, like Write. It takes the place of a symbolic link.
func Keep(path string, data []byte) error {
	s, err := stageAt(path, File{Data: data})
	if err != nil {
		return err
	}
	defer discard(s.temp)
	return unlessAbandoned(func() error { return rename(s.temp, s.final) })
}

// rename is os.Rename. It tries again on Windows, because no file can be replaced there while
// another program, such as a virus scanner, reads it.
func rename(from, to string) (err error) {
	for range 100 {
		if err = os.Rename(from, to); err == nil || runtime.GOOS != "windows" {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// Check returns an error if path cannot be an output, so that this is known before
// any work is done. Another spelling of an input, a hard link to it, a symbolic link to
// it and an open file (/dev/fd/3) all count as the input. The files in the record read
// are inputs as well, but a device may be both.
func Check(path string, inputs []string, read *infile.Files) error {
	if path == "" {
		return diag.New(diag.Usage, diag.Place{}, "the name of the output is empty")
	}
	info, err := os.Stat(path)
	if err := checkInputs(path, info, inputs, read); err != nil {
		return err
	}
	switch {
	case err == nil && info.IsDir():
		return CannotWrite(path, errors.New("it is a directory"))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return CannotWrite(path, err)
	}
	final, err := followLinks(path)
	if err != nil {
		return CannotWrite(path, err)
	}
	dir := filepath.Dir(final)
	if _, err := os.Stat(dir); err != nil {
		return CannotWrite(path, fmt.Errorf("there is no directory %s", dir))
	}
	return nil
}

// checkInputs returns an error if an output is also an input. info describes the file of the output;
// it is nil if that does not exist.
func checkInputs(output string, info fs.FileInfo, inputs []string, read *infile.Files) error {
	if info != nil && !info.Mode().IsRegular() {
		return nil
	}
	input := ""
	if info != nil {
		input = read.Same(info)
	}
	if i := slices.IndexFunc(inputs, func(in string) bool { return in != "" && same(output, info, in) }); input == "" && i >= 0 {
		input = inputs[i]
	}
	if input == "" {
		return nil
	}
	text := fmt.Sprintf("the output %s is also an input", output)
	if input != output {
		text = fmt.Sprintf("the output %s is the same file as the input %s", output, input)
	}
	return diag.New(diag.OutputIsInput, diag.Place{}, text).WithHelp("choose another name for the output")
}

// Same reports whether two names refer to one file, or would if it existed.
func Same(a, b string) bool {
	info, _ := os.Stat(a)
	return same(a, info, b)
}

// same is Same, with the info of the first file if there is one.
func same(a string, info fs.FileInfo, b string) bool {
	other, err := os.Stat(b)
	if info != nil && err == nil {
		return os.SameFile(info, other)
	}
	return info == nil && err != nil && canonical(a) == canonical(b)
}

// canonical returns the name of a file, which need not exist, in a form that does
// not depend on its spelling.
func canonical(path string) string {
	if final, err := followLinks(path); err == nil {
		path = final
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return infile.Fold(filepath.Clean(path))
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return infile.Fold(filepath.Join(dir, filepath.Base(path)))
}

// stagedFile is a written file that has not been renamed yet.
type stagedFile struct{ temp, final string }

// stage writes a file beside its final place. No temporary file remains after an error or a panic
// (a mapped input that becomes shorter causes one, see package mapped).
func stage(f File) (s stagedFile, err error) {
	final := f.Path
	if !f.NoFollow {
		if final, err = followLinks(f.Path); err != nil {
			return s, err
		}
	}
	return stageAt(final, f)
}

// IsLink reports whether a path names a symbolic link.
func IsLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func stageAt(final string, f File) (s stagedFile, err error) {
	s.final = final
	var temp *os.File
	err = create(func() (string, error) {
		if temp, err = createBeside(s.final); err != nil {
			return "", err
		}
		s.temp = temp.Name()
		return s.temp, nil
	}, os.Remove)
	if err != nil {
		return s, err
	}
	whole := false
	defer func() {
		if !whole {
			temp.Close()
			discard(s.temp)
		}
	}()
	if err = f.writeTo(temp); err == nil && f.Mode != 0 {
		err = temp.Chmod(f.Mode)
	}
	if err == nil {
		err = temp.Close()
	}
	whole = err == nil
	return s, err
}

func (f *File) writeTo(w io.Writer) (err error) {
	if f.From != nil {
		_, err = f.From.WriteTo(w)
	} else {
		_, err = w.Write(f.Data)
	}
	return err
}

// A temporary file is called .ptxlink-0123abcd.tmp.
const temporaryStart, temporaryEnd = ".ptxlink-", ".tmp"

// IsTemporary reports whether a file has the name of a temporary file.
func IsTemporary(name string) bool {
	return len(name) == len(temporaryStart)+8+len(temporaryEnd) && strings.HasPrefix(name, temporaryStart) && strings.HasSuffix(name, temporaryEnd)
}

// createBeside creates a file in the directory of path, because a rename is atomic only within one
// file system. os.CreateTemp would give it mode 0600; a compiler's output has the mode that the
// umask gives.
func createBeside(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(temporaryStart+"%08x"+temporaryEnd, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// followLinks returns the end of the symbolic links of path, even if that file does
// not exist yet. filepath.EvalSymlinks cannot be used, because it fails there.
func followLinks(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			// Not filepath.Join: it would treat "link/.." as the directory that holds
			// link.
			target = filepath.Dir(path) + string(filepath.Separator) + target
		}
		path = target
	}
	return "", errors.New("too many symbolic links")
}

// isSpecial reports whether path is written directly. The names of open files count
// even if they refer to a regular file, because the process that opened that file
// would not see a replacement.
func isSpecial(path string) bool {
	if path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// writeSpecial writes to a special file. It appends to a regular one, so that `-o /dev/stdout >>log`
// keeps the log. CON of Windows is not opened for appending.
func writeSpecial(f File) error {
	to := f.To
	if to == nil {
		flag := os.O_WRONLY
		if info, err := os.Stat(f.Path); err == nil && info.Mode().IsRegular() {
			flag |= os.O_APPEND
		}
		w, err := os.OpenFile(f.Path, flag, 0)
		if err != nil {
			return err
		}
		defer w.Close() // data written to a device or a pipe cannot be taken back
		to = w
	}
	// This must be before the first byte of an output that is not a file of its own.
	if err := unlessAbandoned(func() error { made.written = true; return nil }); err != nil {
		return err
	}
	err := f.writeTo(to)
	if f.To != nil && errors.Is(err, syscall.EPIPE) {
		return ErrStdoutUnread
	}
	return err
}

// Lost reports whether what was written went to a standard output that may have been closed.
func (f *File) Lost() bool {
	stdout := f.To == os.Stdout || f.Path == "/dev/stdout" || f.Path == "/dev/fd/1" || f.Path == "/proc/self/fd/1"
	return stdout && nullOrClosed()
}

// ErrStdoutUnread is returned if the reader of File.To has stopped reading.
var ErrStdoutUnread = errors.New("the reader has closed it")

// CannotWrite returns the error for a failed write to path.
func CannotWrite(path string, err error) error {
	return fmt.Errorf("cannot write %s: %w", path, Reason(err))
}

// Reason is infile.Reason, also for errors of package os/exec.
func Reason(err error) error {
	if program, ok := errors.AsType[*exec.Error](err); ok {
		if err = program.Err; filepath.Base(program.Name) != program.Name && errors.Is(err, exec.ErrNotFound) {
			err = syscall.ENOENT // because on Windows the error is about %PATH% even if the name has a directory
		}
	}
	return infile.Reason(err)
}
