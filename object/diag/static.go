package diag

import (
	"regexp"
	"strconv"
	"strings"
)

// Static describes a name that C++ code made static, or put into an anonymous namespace, so that no
// other file can use it.
type Static struct {
	Name      string // as other files would spell it: "gfx::table", "blend(float, float)"
	File      string // the source file as far as the compiler wrote it: "1_cu" for 1.cu; or ""
	Anonymous bool   // in an anonymous namespace
}

// Without -rdc=true, nvcc gives these names to static functions, but not to static variables.
const (
	staticVariable   = "__nv_static_" // and a number, as many characters for the file, and the name
	internal         = "_INTERNAL_"
	anonymousMangled = "_GLOBAL__N_"
	anonymousPrinted = "(anonymous namespace)::"
)

// The name of a file is 8 hexadecimal digits, the length of its name, the name and a suffix.
var internalScope = regexp.MustCompile(internal + `[0-9a-f]{8}_(\d+)_(\w+)::`)

// IsStaticVariable reports whether nvcc gave the name to a static variable. nvcc does so only if
// -rdc=true is given.
func IsStaticVariable(name string) bool {
	_, _, ok := cutStatic(name)
	return ok
}

// StaticName returns what a name without linkage reveals about its source. ok is false if the name
// does not show that the source made it internal.
func StaticName(name string) (in Static, ok bool) {
	if unit, rest, found := cutStatic(name); found {
		if nested, found := StaticName(rest); found {
			return nested, true
		}
		return Static{Name: rest, File: fileOf(internal + unit[1:] + "::")}, true
	}
	if !strings.HasPrefix(name, "_Z") || !strings.Contains(name, internal) && !strings.Contains(name, anonymousMangled) && !clangStatic(name) {
		return in, false
	}
	plain := SourceName(name)
	in.Anonymous = strings.Contains(plain, anonymousPrinted)
	in.File = fileOf(plain)
	in.Name = strings.ReplaceAll(internalScope.ReplaceAllString(plain, ""), anonymousPrinted, "")
	return in, plain != name
}

// cutStatic splits __nv_static_24__642874a1_5_pl_cu__Z2fni_sv into the 24 characters
// for the file and the name.
func cutStatic(name string) (unit, rest string, ok bool) {
	number, text, _ := strings.Cut(strings.TrimPrefix(name, staticVariable), "_")
	n, err := strconv.Atoi(number)
	if err != nil || !strings.HasPrefix(name, staticVariable) || n < 1 || len(text) < n+2 || text[n] != '_' {
		return "", "", false
	}
	return text[:n], text[n+1:], true
}

func fileOf(plain string) string {
	if m := internalScope.FindStringSubmatch(plain); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n <= len(m[2]) {
			return m[2][:n]
		}
	}
	return ""
}

// clangStatic reports whether a part of a mangled name starts with the letter L, which means
// internal linkage: _ZL5blendff, _ZN3gfxL5blendEff.
func clangStatic(name string) bool {
	rest, nested := strings.CutPrefix(name, "_ZN")
	if !nested {
		rest = strings.TrimPrefix(name, "_Z")
	}
	for len(rest) > 1 && rest[0] != 'L' {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n < 1 || n > len(rest)-digits || !nested {
			return false
		}
		rest = rest[digits+n:]
	}
	return len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9'
}
