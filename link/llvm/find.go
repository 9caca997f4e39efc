// Package llvm finds clang or llc, and compiles LLVM bitcode to PTX with it.
package llvm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Find sets Path to the absolute path of clang. It searches in this order:
//
//  1. explicit, the value of --clang: the path of a clang or an llc, or a name to look up on PATH
//  2. $CLANG, likewise
//  3. the directories in beside, such as the directory of the clang that calls its linker
//  4. clang on PATH, then the newest clang-NN on PATH, and clang of Debian's and Homebrew's LLVM
//  5. llc in the same places
//
// Of 3 to 5, it takes the first program that is not older than the LLVM that wrote the units.
// Otherwise it takes the first, because an older LLVM may read the units all the same.
func (c *Compiler) Find(ctx context.Context, explicit string, beside []string, units []container.Unit) (err error) {
	if explicit, who := tool.Asked(c.Spelling, "clang", explicit); explicit != "" {
		c.Path, err = tool.Named(who, explicit, "/usr/bin/clang")
		return err
	}
	need := writtenBy(units)
	for _, path := range candidates(beside) {
		if isLLC(path) {
			if makes, err := MakesPTX(ctx, path); err != nil {
				return err
			} else if !makes {
				continue
			}
		}
		c.Path = cmp.Or(c.Path, path)
		release := need
		if need > 0 {
			if release, err = version(ctx, path); err != nil {
				return err
			}
		}
		if release >= need {
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

// atLeast returns text for a message: " 22 or newer", or "" for release 0.
func atLeast(release int) string {
	if release == 0 {
		return ""
	}
	return fmt.Sprintf(" %d or newer", release)
}

// installed lists patterns of directories of LLVM. It is a variable for the test.
var installed = func() []string {
	return infile.Dirs("/usr/lib/llvm-*/bin", "/usr/local/opt/llvm*/bin", "/opt/homebrew/opt/llvm*/bin")
}

// candidates lists the programs of steps 3 to 5.
func candidates(beside []string) (list []string) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, name := range []string{"clang", "llc"} {
		for _, dir := range slices.Concat(beside, dirs) {
			list = append(list, filepath.Join(dir, name+tool.Exe))
		}
		list = append(list, newest(dirs, name+"-[1-9]*")...)
		for _, pattern := range installed() {
			for _, dir := range ptxas.Newest(pattern) {
				list = append(list, filepath.Join(dir, name+tool.Exe))
			}
		}
	}
	return slices.DeleteFunc(list, func(path string) bool { return !filepath.IsAbs(path) || !tool.IsProgram(path) })
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
func FindLLC(ctx context.Context) (string, error) {
	for _, name := range append([]string{"llc"}, newest(filepath.SplitList(os.Getenv("PATH")), "llc-[1-9]*")...) {
		path, err := tool.Find(name)
		if err != nil {
			continue
		}
		if makes, err := MakesPTX(ctx, path); makes || err != nil {
			return path, err
		}
	}
	return "", nil
}

// MakesPTX reports whether an llc has the PTX target. It must be asked, because distributions may
// omit the target.
func MakesPTX(ctx context.Context, llc string) (bool, error) {
	said, err := tool.Version(ctx, llc)
	return bytes.Contains(said, []byte("nvptx64")), err
}

// isLLC reports whether a program is an llc, by its name: llc, llc-19.
func isLLC(path string) bool { return strings.HasPrefix(filepath.Base(path), "llc") }

var release = sets.Regexp(`(?:clang|LLVM) ?version (\d+)`)

// version returns the release of a program, such as 19, or 0.
func version(ctx context.Context, path string) (int, error) {
	said, err := tool.Version(ctx, path)
	found := release().FindSubmatch(said)
	if found == nil {
		return 0, err
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n, nil
}

// writtenBy returns the newest release of LLVM that wrote one of the units, or 0.
func writtenBy(units []container.Unit) (newest int) {
	for _, u := range units {
		number, _, _ := strings.Cut(strings.TrimPrefix(u.Bitcode.Producer, "LLVM"), ".")
		n, _ := strconv.Atoi(number)
		newest = max(newest, n)
	}
	return newest
}
