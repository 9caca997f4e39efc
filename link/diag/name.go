package diag

// Demangle returns the source spelling of an Itanium C++ or Rust name, and other
// names unchanged. Rust names may hold any character, so the result is escaped.
func Demangle(name string) string { return Escape(demangled(name)) }

// Name returns a symbol as shown in messages: demangled, followed by the mangled
// form, and shortened if it is very long.
func Name(name string) string {
	if plain := Demangle(name); plain != name {
		return shorten(plain, maxName) + " (" + shorten(name, maxName) + ")"
	}
	return shorten(name, maxName)
}
