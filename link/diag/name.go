package diag

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
