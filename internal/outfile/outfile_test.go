package outfile

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names lists a directory, so that a leftover temporary file is noticed.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func symlink(t *testing.T, target, path string) string {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	return path
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	out := write(t, filepath.Join(dir, "out.ptx"), "old")
	before, _ := os.Stat(out)
	os.SameFile(before, before) // on Windows, it looks which file it is
	if err := Write(nil, nil, File{Path: out, Data: []byte("new")}); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(out)
	if read(t, out) != "new" || names(t, dir) != "out.ptx" {
		t.Errorf("holds %q; directory: %s", read(t, out), names(t, dir))
	}
	if os.SameFile(before, after) {
		t.Error("written in place: a reader could see half of it")
	}
	if after.Mode() != before.Mode() {
		t.Errorf("mode %v, want the %v that the umask gives", after.Mode(), before.Mode())
	}
}

func TestWriteKeepsSymlink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	out := symlink(t, filepath.Join("sub", "..", "sub", "real.ptx"), filepath.Join(dir, "out.ptx"))
	for _, text := range []string{"one", "two"} { // dangling, then with a target
		if err := Write(nil, nil, File{Path: out, Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(dir, "sub", "real.ptx")); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	if info, _ := os.Lstat(out); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	loop := symlink(t, "loop", filepath.Join(dir, "loop"))
	if err := Write(nil, nil, File{Path: loop}); err == nil {
		t.Error("wrote to a loop of links")
	}
}

func TestWriteRefusesInput(t *testing.T) {
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.ptx"), "input")
	hard := filepath.Join(dir, "hard.ptx")
	if err := os.Link(in, hard); err != nil {
		t.Skip(err)
	}
	soft := symlink(t, "in.ptx", filepath.Join(dir, "soft.ptx"))
	for _, out := range []string{in, hard, soft, filepath.Join(dir, ".", "x", "..", "in.ptx")} {
		err := Write([]string{"", "missing.ptx", in}, nil, File{Path: out, Data: []byte("output")})
		if err == nil || !strings.Contains(err.Error(), "input") {
			t.Errorf("%s: %v", out, err)
		}
	}
	if read(t, in) != "input" || names(t, dir) != "hard.ptx in.ptx soft.ptx" {
		t.Errorf("touched: %q, %s", read(t, in), names(t, dir))
	}
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	for out, want := range map[string]string{
		dir:                                   "it is a directory",
		filepath.Join(dir, "none", "out.ptx"): "there is no directory",
		"":                                    "is empty",
	} {
		if err := Write(nil, nil, File{Path: out}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", out, err, want)
		}
	}
	if names(t, dir) != "" {
		t.Errorf("left behind: %s", names(t, dir))
	}
}

func TestWriteAllOrNone(t *testing.T) {
	dir := t.TempDir()
	a, b := write(t, filepath.Join(dir, "a"), "old"), filepath.Join(dir, "none", "b")
	if err := Write(nil, nil, File{Path: a, Data: []byte("new")}, File{Path: b}); err == nil {
		t.Fatal("no error")
	}
	if read(t, a) != "old" || names(t, dir) != "a" {
		t.Errorf("holds %q; directory: %s", read(t, a), names(t, dir))
	}
}

func TestWriteDevice(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip(err)
	}
	if err := Write([]string{"/dev/null"}, nil, File{Path: "/dev/null", Data: []byte("x")}); err != nil {
		t.Error(err)
	}
	if info, _ := os.Stat("/dev/null"); info.Mode().IsRegular() {
		t.Fatal("/dev/null was replaced")
	}
}

// TestWriteOpenFile: who opened a file sees what is written under its number.
func TestWriteOpenFile(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, directory := range []string{"/dev/fd", "/proc/self/fd"} {
		if _, err := os.Stat(directory); err != nil {
			t.Skip(err)
		}
		if err := Write(nil, nil, File{Path: filepath.Join(directory, strconv.Itoa(int(f.Fd()))), Data: []byte(directory)}); err != nil {
			t.Error(err)
		}
	}
	data := make([]byte, 100)
	if n, _ := f.ReadAt(data, 0); string(data[:n]) != "/dev/fd/proc/self/fd" {
		t.Errorf("the file holds %q", data[:n])
	}
}

func TestSameBeforeItExists(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if !Same("out", "./out") || !Same("out", filepath.Join(dir, "out")) || Same("out", "out2") {
		t.Error("spellings of a file that does not exist yet")
	}
}

// writerFunc is called between the creation of temporary files and their renaming.
type writerFunc func()

func (f writerFunc) Write(data []byte) (int, error) {
	f()
	return len(data), nil
}

// halfWritten panics as reading a mapped file does that became shorter.
type halfWritten struct{}

func (halfWritten) WriteTo(w io.Writer) (int64, error) {
	w.Write(make([]byte, 1<<16))
	panic("fault")
}

// TestWriteLeavesNothing checks that neither a failed rename nor a panic leaves a
// temporary file.
func TestWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	err := Write(nil, nil, File{Path: b}, File{Path: a}, File{To: writerFunc(func() {
		if list := names(t, dir); strings.Count(list, ".tmp") != 2 {
			t.Errorf("temporary files: %s", list)
		}
		os.Mkdir(b, 0o777)
	})})
	if err == nil || names(t, dir) != "b" {
		t.Errorf("%v; directory: %s", err, names(t, dir))
	}
	func() {
		defer func() { recover() }()
		Write(nil, nil, File{Path: a}, File{To: writerFunc(func() { panic("bug") })})
	}()
	if names(t, dir) != "b" {
		t.Errorf("after a panic: %s", names(t, dir))
	}
	func() {
		defer func() { recover() }()
		Write(nil, nil, File{Path: a, From: halfWritten{}})
	}()
	if names(t, dir) != "b" {
		t.Errorf("after a panic while it was written: %s", names(t, dir))
	}
}

func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	undo, err := MakeDir(made)
	if err != nil || names(t, dir) != "made" {
		t.Fatal(err, names(t, dir))
	}
	if undo(); names(t, dir) != "" {
		t.Error("an empty directory stays")
	}
	undo, _ = MakeDir(made)
	write(t, filepath.Join(made, "out"), "")
	if undo(); names(t, made) != "out" {
		t.Error("a directory with an output is gone")
	}
	if undo, _ = MakeDir(dir); undo != nil {
		undo()
	}
	if names(t, dir) != "made" {
		t.Error("a directory that was there before is gone")
	}
	if _, err := MakeDir(filepath.Join(dir, "none", "made")); err == nil || !strings.Contains(err.Error(), "cannot make the directory") {
		t.Error(err)
	}
}
