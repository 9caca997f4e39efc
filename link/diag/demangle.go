package diag

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

const (
	// MaxMangled is the longest name that is demangled, in bytes: the time grows
	// with the square of the length.
	MaxMangled = 4096
	// maxDemangled limits the result, as a power of two. Substitutions double a
	// name with every eight bytes or so.
	maxDemangled = 13
)

var showMangled bool

// ShowMangled shows names as they are, in messages and reports (--no-demangle). It is
// for a program at its start.
func ShowMangled(on bool) { showMangled = on }

// demangled returns the source spelling of a name, without what nvcc adds to that of a
// static variable or function, or the name itself if it is not mangled or too long.
func demangled(name string) string {
	if showMangled || len(name) > MaxMangled {
		return name
	}
	if _, rest, ok := cutStatic(name); ok {
		name = rest
	}
	plain := SourceName(name)
	if strings.Contains(plain, internal) {
		plain = internalScope.ReplaceAllString(plain, "")
	}
	return plain
}

// SourceName returns the source spelling of a name also under --no-demangle, unescaped: to
// compare names.
func SourceName(name string) string {
	if len(name) > MaxMangled {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(maxDemangled))
}
