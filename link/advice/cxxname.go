package advice

import (
	"bytes"
	"path"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// cxxName is a name taken apart: gfx::blend<float>(int) has the base "gfx::blend<float>",
// the scope "gfx", the last part "blend" and the parameters "(int)". A name that is not
// mangled is its own base and last part.
type cxxName struct {
	plain                     string // as the source has it
	base, scope, last, params string
	template                  bool
}

func spell(name string) cxxName {
	plain := diag.SourceName(name)
	if plain == name {
		return cxxName{plain: name, base: name, last: name}
	}
	base := diag.WithoutParams(plain)
	s := cxxName{plain: plain, base: base, last: base, params: plain[len(base):]}
	if strings.Contains(base, "operator") {
		return s
	}
	depth, start, scopeEnd, argsAt := 0, 0, 0, 0
	for i := 0; i < len(base); i++ {
		switch base[i] {
		case '<':
			if depth == 0 {
				argsAt = i
			}
			depth++
		case '>':
			depth--
		case ' ':
			if depth == 0 && !strings.HasPrefix(base[i:], " namespace)") { // after the return type of a template
				start, scopeEnd, argsAt = i+1, i+1, 0
			}
		case ':':
			if depth == 0 && strings.HasPrefix(base[i:], "::") {
				scopeEnd, argsAt = i, 0
			}
		}
	}
	s.scope, s.last = base[start:scopeEnd], strings.TrimPrefix(base[scopeEnd:], "::")
	if argsAt > 0 {
		s.last, s.template = strings.TrimPrefix(base[scopeEnd:argsAt], "::"), true
	}
	return s
}

// nested reports whether the scope of one name lies within the scope of the other, as far as it is
// known: gfx::core and core, gfx and nothing.
func (s cxxName) nested(other cxxName) bool {
	a, b := "::"+s.scope, "::"+other.scope
	if s.scope == "" || other.scope == "" {
		return s.scope != other.scope
	}
	return a != b && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a) || strings.HasPrefix(a, b+"::") || strings.HasPrefix(b, a+"::"))
}

// typed matches the end of a type.
var typed = sets.Regexp(`(?:\w\s+|[*&>]\s*)$`)

// follows reports whether the text before the last part of the name fits a definition: it ends with the scope and ::,
// or it ends with a type and has the scope somewhere before.
func (s cxxName) follows(before []byte) bool {
	scope, _, _ := strings.Cut(s.scope, "<")
	scope = scope[strings.LastIndexByte(scope, ':')+1:]
	if class, qualified := bytes.CutSuffix(bytes.TrimRight(before, " \t\r\n"), []byte("::")); qualified {
		if bytes.HasSuffix(class, []byte(">")) {
			class = class[:max(bytes.LastIndexByte(class, '<'), 0)]
		}
		return scope != "" && bytes.HasSuffix(class, []byte(scope))
	}
	return typed().Match(before[max(0, len(before)-100):]) && bytes.Contains(before, []byte(scope))
}

// member reports whether the name is a member function's: its declaration has one more parameter (this).
func (s cxxName) member(d *ptx.Decl) bool {
	return d.Signature != nil && len(d.Signature.Params) > arity(s.params)
}

// renames reports whether two names differ in one namespace only. The class of a member is not a namespace.
func (s cxxName) renames(other cxxName, member bool) bool {
	from, to := strings.Split(s.scope, "::"), strings.Split(other.scope, "::")
	n := 0 // components of the scope from the last on that are equal
	for n < min(len(from), len(to)) && from[len(from)-1-n] == to[len(to)-1-n] {
		n++
	}
	old, now := strings.Join(from[:len(from)-n], "::"), strings.Join(to[:len(to)-n], "::")
	return old != "" && now != "" && !s.template && !other.template && (n > 0 || !member) && strings.ReplaceAll(other.params, now+"::", old+"::") == s.params
}

func arity(params string) (n int) {
	depth := 0
	for i, c := range params {
		switch c {
		case '(', '<', '[', '{':
			depth++
		case ')', '>', ']', '}':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		}
		if i == 1 && c != ')' {
			n++
		}
	}
	return n
}

var withoutDigits = strings.NewReplacer("0", "", "1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "7", "", "8", "", "9", "").Replace

// sourceFile returns the name of the source file that the compiler wrote into a name as
// 1_cu, or the name of the module.
func sourceFile(f *object.File, written string) string {
	stem, _, _ := strings.Cut(path.Base(f.Name), ".")
	names := []string{stem + ".cu"}
	for _, file := range f.Files {
		names = append(names, path.Base(strings.ReplaceAll(file.Path, `\`, "/")))
	}
	for _, name := range names {
		if written != "" && special().ReplaceAllString(name, "_") == written {
			return name
		}
	}
	if stem, ok := strings.CutSuffix(written, "_cu"); ok {
		return stem + ".cu"
	}
	return f.Name
}

// special matches what nvcc replaces by _ where it writes a file name into other names.
var special = sets.Regexp(`[^0-9A-Za-z]`)
