package diag

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Demangle returns the source spelling of an Itanium C++ or Rust name, and other
// names unchanged. Rust names may hold any character, so the result is escaped.
func (s Spelling) Demangle(name string) string { return Escape(s.demangled(name)) }

// Unmangled returns the source spelling of a mangled name, and "" for other names.
func (s Spelling) Unmangled(name string) string {
	if plain := s.Demangle(name); plain != name {
		return plain
	}
	return ""
}

// Name returns a symbol as shown in messages: demangled, followed by the mangled
// form, and shortened if it is very long.
func (s Spelling) Name(name string) string {
	if plain := s.Unmangled(name); plain != "" {
		return shorten(plain, maxName) + " (" + shorten(name, maxName) + ")"
	}
	return shorten(name, maxName)
}

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
