package pack

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"ptxlink/link"
)

// innerSuffixes are removed from the name of a file before .ptx is added.
var innerSuffixes = []string{".ptx", ".s", ".o", ".obj", ".fatbin", ".so", ".exe", ".dll", ".out"}

// memberName returns the name of a PTX text in an archive. It depends on the name of
// the text in messages:
//
//  1. the innermost file, without directories: k.o for libx.a(lib/k.o):.nv_fatbin
//  2. without the suffix of a compressed file: a.ptx for a.ptx.zst
//  3. with the suffix .ptx if it is not a PTX file itself: k.ptx
func memberName(name string, in link.Input) string {
	file, bare := innermost(name, in)
	if file == "<stdin>" {
		file = "stdin.ptx"
	}
	if bare {
		file = filepath.Base(file)
	} else { // because the library may have been made on Windows
		file = path.Base(strings.ReplaceAll(file, `\`, "/"))
	}
	file = withoutSuffix(file, []string{".zst", ".gz", ".lz4"})
	if !bare {
		file = withoutSuffix(file, innerSuffixes) + ".ptx"
	}
	return harmless(file)
}

// innermost returns the last file in the name of a text in messages, "dir/k.o" in
// "libx.a(dir/k.o):.nv_fatbin:sm_80#2", and whether that is the whole name. The text before it is
// the name of the input, which must be removed first because it may contain any characters.
func innermost(name string, in link.Input) (file string, bare bool) {
	file = cmp.Or(in.Name, in.Path)
	rest := strings.TrimPrefix(name, file)
	if rest == "" || rest[0] == '#' { // the second module of a file
		return file, true
	}
	if at := strings.LastIndex(rest, ")("); at >= 0 {
		rest = rest[at+1:]
	}
	if from, to := strings.IndexByte(rest, '('), strings.LastIndexByte(rest, ')'); from >= 0 && to > from {
		file = rest[from+1 : to]
	}
	return file, false
}

// withoutSuffix removes from the name of a file the first of the suffixes that the name has.
func withoutSuffix(file string, suffixes []string) string {
	for _, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(file, suffix); ok && rest != "" {
			return rest
		}
	}
	return file
}

// harmless turns any text into a safe file name. It replaces control characters, path separators of
// any system and characters special to a shell with "_". The result cannot start like an option, a
// hidden file or a member reserved by ar.
func harmless(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`/\:<>"|?*`, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimPrefix(name, "__.")
	return cmp.Or(strings.TrimRight(strings.TrimLeft(name, ". -"), ". "), "module.ptx")
}

// takenNames holds names in use, each with the last number that freeName added to it, so that the
// search does not start at 2 each time; 1 if it has added none.
type takenNames map[string]int

// freeName adds a number to a name that is in use, before its suffixes: a.ptx.zst becomes
// a-2.ptx.zst. Names count as equal if key returns equal strings.
func freeName(name string, taken takenNames, key func(string) string) string {
	stem, suffix := name, ""
	for _, s := range []string{".zst", ".ptx", ".o"} {
		if rest, ok := strings.CutSuffix(stem, s); ok && rest != "" {
			stem, suffix = rest, s+suffix
		}
	}
	free := name
	for taken[key(free)] > 0 {
		taken[key(name)]++
		free = fmt.Sprintf("%s-%d%s", stem, taken[key(name)], suffix)
	}
	taken[key(free)] = 1
	return free
}

func exact(name string) string { return name }
