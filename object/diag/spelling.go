package diag

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ptxlink/internal/sets"
)

// Spelling is how messages name options and symbols.
type Spelling struct {
	// Options returns how the program spells an option of ptxlink, which is given with its dashes
	// and without a value, and whether the program takes it. Commands take different options, and
	// programs set fields instead, so nil returns the fields of the Go API.
	Options func(option string) (spelling string, taken bool)
	// Mangled shows mangled names without their source spelling.
	Mangled bool
}

// spelled returns an option, with its value if it has one, as the program spells it.
func (s Spelling) spelled(option string) (spelling string, taken bool) {
	name := option
	if end := strings.IndexAny(option, "= "); end >= 0 {
		name = option[:end]
	}
	if s.Options == nil {
		field := FactOf("options in the Go API", name)
		return strings.Join(field, ""), field != nil
	}
	spelling, taken = s.Options(name)
	return spelling + option[len(name):], taken
}

// Without returns the spelling for messages that do not advise an option.
func (s Spelling) Without(option string) Spelling {
	all := s
	s.Options = func(name string) (spelling string, taken bool) {
		if name == option {
			return "", false
		}
		return all.spelled(name)
	}
	return s
}

// Takes reports whether the program takes an option.
func (s Spelling) Takes(option string) bool {
	_, taken := s.spelled(option)
	return taken
}

// Option returns an option that was given, such as "--arch", as the program spells it.
func (s Spelling) Option(option string) string {
	if spelling, ok := s.spelled(option); ok {
		return spelling
	}
	return option
}

// With returns advice that names an option as %s, or "" if the program does not take
// the option. The option may have a value: --allow-undefined=f, -u NAME.
func (s Spelling) With(option, advice string) string {
	spelling, ok := s.spelled(option)
	if !ok {
		return ""
	}
	before, after, _ := strings.Cut(advice, "%s")
	return before + spelling + after
}

// Join joins pieces of advice with semicolons, and skips empty pieces.
func Join(pieces ...string) string {
	kept := slices.DeleteFunc(slices.Clone(pieces), func(piece string) bool { return piece == "" })
	return strings.Join(kept, "; ")
}

// Demangle returns the source spelling of an Itanium C++ or Rust name, and other names unchanged.
// The result must be escaped, because Rust names may hold any character.
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
	// MaxMangled is the longest name that is demangled, in bytes. There must be a limit, because
	// the time grows with the square of the length.
	MaxMangled = 4096
	// maxDemangled limits the result, as a power of two, because substitutions can double a name
	// with every eight bytes or so.
	maxDemangled = 13
)

// demangled returns the source spelling of a name, without the parts that nvcc adds for static
// variables and functions. It returns the name itself if it is not mangled or too long.
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

// afterUnresolved matches a substitution after the name of a member of a dependent class.
var afterUnresolved = sets.Regexp(`sr[N0-9].*S[0-9A-Z]*_`)

// Misread reports whether package demangle may confuse types in a name: types after the member of a
// dependent class, as in enable_if<is<T>::value>. nvcc and c++filt do not number that class for
// substitutions, but the package does, so S4_ would be another type for it.
func Misread(name string) bool {
	return strings.Contains(name, "sr") && afterUnresolved().MatchString(name)
}

// SourceName returns the source spelling of a name, unescaped and also under --no-demangle, because
// callers compare names. It returns a name that may be misread unchanged.
func SourceName(name string) string {
	if len(name) > MaxMangled || Misread(name) {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(maxDemangled))
}

// WithoutParams returns a C++ name, as the source has it, up to its parameters.
func WithoutParams(plain string) string {
	depth := 0
	for i, c := range plain {
		switch c {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && i > 0 && !strings.HasPrefix(plain[i:], "(anonymous") {
				return plain[:i]
			}
		}
	}
	return plain
}

// Instantiated reports whether a name belongs to an instance of a template, or to a member of one.
func Instantiated(name string) bool {
	plain := SourceName(name)
	base := WithoutParams(plain)
	return plain != name && strings.Contains(base, "<") && !strings.Contains(base, "operator")
}
