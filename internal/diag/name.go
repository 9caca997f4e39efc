package diag

import "github.com/ianlancetaylor/demangle"

// Demangle is the source spelling of an Itanium C++ or Rust name, or the name
// itself if it is neither.
func Demangle(name string) string { return demangle.Filter(name) }

// Name is a symbol as messages show it: demangled, with the mangled form behind
// it once.
func Name(name string) string {
	if plain := Demangle(name); plain != name {
		return plain + " (" + name + ")"
	}
	return name
}
