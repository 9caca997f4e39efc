package diag

// Demangle returns the source spelling of an Itanium C++ or Rust name, or the
// name itself if it is neither. Rust's may hold any character, so it is escaped.
func Demangle(name string) string { return Escape(demangled(name)) }

// Name returns a symbol as messages show it: demangled, with the mangled form
// behind it once, and shortened where it is very long.
func Name(name string) string {
	if plain := Demangle(name); plain != name {
		return shorten(plain, maxName) + " (" + shorten(name, maxName) + ")"
	}
	return shorten(name, maxName)
}
