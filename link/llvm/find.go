// Package llvm finds clang or llc, and compiles LLVM bitcode to PTX with it.
package llvm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/internal/tool"
	"ptxlink/link/diag"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
)

var exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// Find sets Path to the absolute path of clang. It searches in this order:
//
//  1. explicit, the value of --clang: a path, or a name to look up on PATH; also that of an llc
//  2. $CLANG, likewise
//  3. the directories beside, such as that of the clang that calls its linker
//  4. clang on PATH, then the newest clang-NN on PATH, and those of Debian's and Homebrew's LLVM
//  5. llc in the same places
//
// Of 3 to 5, the first is chosen that is not older than the LLVM that wrote the units, or else the
// first: it may read them all the same.
func (c *Compiler) Find(ctx context.Context, explicit string, beside []string, units []container.LTOIR) (err error) {
	who := c.Spelling.Option("--clang")
	if explicit == "" {
		explicit, who = os.Getenv("CLANG"), "$CLANG"
	}
	if explicit != "" {
		if c.Path, err = Program(explicit); err != nil {
			return diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot run %s, which %s names: %v", explicit, who, WithoutPath(err))).
				WithHelp("name the program itself, such as /usr/bin/clang")
		}
		return nil
	}
	need := writtenBy(units)
	for _, path := range candidates(beside) {
		if isLLC(path) && !MakesPTX(path) {
			continue
		}
		if c.Path = cmp.Or(c.Path, path); need == 0 || c.version(ctx, path) >= need {
			c.Path = path
			return nil
		}
	}
	if c.Path != "" {
		return nil
	}
	return diag.New(diag.Tool, diag.Place{}, "cannot find clang or llc in $PATH or the usual directories").
		WithHelp("install clang" + atLeast(need) + ", name the program with " + c.Spelling.With("--clang", "%s or ") + "$CLANG, or compile to PTX: clang -S without -flto")
}

// atLeast returns " 22 or newer".
func atLeast(release int) string {
	if release == 0 {
		return ""
	}
	return fmt.Sprintf(" %d or newer", release)
}

// installed lists patterns of directories of LLVM. It is a variable for the test.
var installed = []string{"/usr/lib/llvm-*/bin", "/usr/local/opt/llvm*/bin", "/opt/homebrew/opt/llvm*/bin"}

// candidates lists the programs of steps 3 to 5.
func candidates(beside []string) (list []string) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, name := range []string{"clang", "llc"} {
		for _, dir := range beside {
			list = append(list, filepath.Join(dir, name+exe))
		}
		for _, dir := range dirs {
			list = append(list, filepath.Join(dir, name+exe))
		}
		list = append(list, newest(dirs, name+"-[1-9]*")...)
		var usual []string
		for _, pattern := range installed {
			found, _ := filepath.Glob(pattern)
			slices.SortFunc(found, ptxas.NewestFirst)
			usual = append(usual, found...)
		}
		for _, dir := range usual {
			list = append(list, filepath.Join(dir, name+exe))
		}
	}
	return slices.DeleteFunc(list, func(path string) bool {
		_, err := exec.LookPath(path) // with a separator in it, only that file
		return !filepath.IsAbs(path) || err != nil
	})
}

// newest returns the files of directories that match a pattern, the newest version first.
func newest(dirs []string, pattern string) (found []string) {
	for _, dir := range dirs {
		versions, _ := filepath.Glob(filepath.Join(dir, pattern))
		found = append(found, versions...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return ptxas.NewestFirst(filepath.Base(a), filepath.Base(b)) })
	return found
}

// FindLLC returns llc on PATH, or the newest llc-NN, if it can compile to PTX; "" if
// there is none.
func FindLLC() string {
	for _, name := range append([]string{"llc"}, newest(filepath.SplitList(os.Getenv("PATH")), "llc-[1-9]*")...) {
		path, err := Program(name)
		if err == nil && MakesPTX(path) {
			return path
		}
	}
	return ""
}

// MakesPTX reports whether an llc has the PTX target. Distributions may omit it.
func MakesPTX(llc string) bool {
	out, _ := exec.Command(llc, "--version").Output()
	return strings.Contains(string(out), "nvptx64")
}

// Program returns the absolute path of a program, because it runs in another directory;
// "" if there is an error.
func Program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// WithoutPath returns an error without the operation and the path, which the message
// contains already.
func WithoutPath(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err
}

// isLLC reports whether a program is an llc, by its name: llc, llc-19.
func isLLC(path string) bool { return strings.HasPrefix(filepath.Base(path), "llc") }

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:clang|LLVM) ?version (\d+)`) })

// version returns the release of a program, such as 19, or 0.
func (c *Compiler) version(ctx context.Context, path string) int {
	out, err := tool.Run(ctx, tool.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return 0
	}
	found := release().FindSubmatch(out.Said)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// writtenBy returns the newest release of LLVM that wrote one of the units, or 0.
func writtenBy(units []container.LTOIR) (newest int) {
	for _, u := range units {
		number, _, _ := strings.Cut(strings.TrimPrefix(u.Bitcode.Producer, "LLVM"), ".")
		n, _ := strconv.Atoi(number)
		newest = max(newest, n)
	}
	return newest
}
