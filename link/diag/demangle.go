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

// demangled returns the source spelling of a name, without what nvcc adds to that of a
// static variable or function, or the name itself if it is not mangled or too long.
func (s Spelling) demangled(name string) string {
	if s.Mangled || len(name) > MaxMangled {
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
