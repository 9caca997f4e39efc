package dwarftypes

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"ptxlink/abicheck"
	"ptxlink/object/diag"
)

// sharedName returns the name under which an aggregate or enumeration is one type
// in every module, in C++ spelling. It returns "" for a type without a name, inside
// a function or unnamed namespace, composed of such types, or created by the
// compiler. nvcc writes mangled names at the top level, clang nests.
func (d *debugInfo) sharedName(i int32) string {
	if !d.asked[i] {
		d.asked[i] = true // also breaks cycles
		if d.depth++; d.depth < 10*maxDebugNesting {
			d.names[i] = d.findName(i)
		}
		d.depth--
	}
	return d.names[i]
}

func (d *debugInfo) findName(i int32) string {
	name := d.dies[i].name
	if typedef, ok := d.typedefs[i]; ok { // typedef struct { ... } Shape
		i = typedef
		name = d.dies[i].name
	}
	if strings.HasPrefix(name, "_Z") {
		return demangledType(name)
	}
	if name == "" || compilerMade(name) || d.madeOfLocal(i, 0) || !strings.Contains(name, "<") && d.template(i) {
		return ""
	}
	for p := d.dies[i].parent; p >= 0; p = d.dies[p].parent {
		switch x := &d.dies[p]; {
		case x.tag == dwarf.TagCompileUnit:
			return spelling(name)
		case aggregate(x.tag):
			// Its own arguments count for the types inside it.
			outer := d.sharedName(p)
			if outer == "" {
				return ""
			}
			return spelling(outer + "::" + name)
		case x.tag == dwarf.TagNamespace && x.name != "":
			name = x.name + "::" + name
		default:
			return ""
		}
	}
	return ""
}

// template reports whether a type is an instance of a template. A name without its arguments is not
// enough, because clang -gsimple-template-names gives all instances of one template the same name.
func (d *debugInfo) template(i int32) bool {
	return slices.ContainsFunc(d.dies[i].children, func(c int32) bool {
		tag := d.dies[c].tag
		return tag == dwarf.TagTemplateTypeParameter || tag == dwarf.TagTemplateValueParameter || tag == tagGNUPack
	})
}

// madeOfLocal reports whether a template argument is a type local to its module. Such a type cannot
// be compared, because clang writes W<Local> wherever Local is declared.
func (d *debugInfo) madeOfLocal(i int32, depth int) bool {
	for _, c := range d.dies[i].children {
		switch x := &d.dies[c]; x.tag {
		case dwarf.TagTemplateTypeParameter, dwarf.TagTemplateValueParameter:
			if _, ok := x.typeOffset(); !ok {
				continue // void
			}
			t := d.typeOf(c)
			for range maxDebugNesting {
				if t < 0 || aggregate(d.dies[t].tag) || d.dies[t].tag == dwarf.TagEnumerationType {
					break
				}
				if _, ok := d.dies[t].typeOffset(); !ok {
					break
				}
				t = d.typeOf(t)
			}
			if t < 0 {
				return true
			}
			if tag := d.dies[t].tag; (aggregate(tag) || tag == dwarf.TagEnumerationType) && d.sharedName(t) == "" {
				return true
			}
		case tagGNUPack:
			if depth < maxDebugNesting && d.madeOfLocal(c, depth+1) {
				return true
			}
		}
	}
	return false
}

// compilerMade reports names that a compiler gave to unnamed things, and templates
// of local types: nvcc numbers anonymous unions (__C10) and describes the part of a
// class that starts its subclasses (__SO__4Base); clang names lambdas and addresses
// of static functions.
func compilerMade(name string) bool {
	if rest, ok := strings.CutPrefix(name, "__"); ok {
		if strings.HasPrefix(rest, "SO__") || strings.HasPrefix(rest, "nv_") {
			return true
		}
		if len(rest) > 1 && strings.IndexByte("CTE", rest[0]) >= 0 && strings.Trim(rest[1:], "0123456789") == "" {
			return true
		}
	}
	parts := []string{"(anonymous", "(unnamed", "(lambda", "'lambda", "<unnamed", anonymousNamespaceTag, "_INTERNAL_", "<&", ", &", "$_"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// demangledType returns the source spelling of a mangled type name, or "" if the
// type is local to a function or module.
func demangledType(mangled string) string {
	if len(mangled) > diag.MaxMangled || diag.Misread(mangled) || strings.Contains(mangled, "_INTERNAL_") || strings.Contains(mangled, anonymousNamespaceTag) {
		return ""
	}
	ast, err := demangle.ToAST(mangled)
	if err != nil {
		return ""
	}
	local := abicheck.Within(ast, func(a demangle.AST) bool {
		switch x := a.(type) {
		case *demangle.Qualified:
			return x.LocalName
		case *demangle.Closure, *demangle.UnnamedType:
			return true
		}
		return false
	})
	if local {
		return ""
	}
	const longest = 16 // as a power of two; a truncated name matches nothing
	name := demangle.ASTToString(ast, demangle.MaxLength(longest))
	if len(name) >= 1<<longest || compilerMade(name) {
		return ""
	}
	return spelling(name)
}

// spelling makes the names of different compilers equal: it drops spaces that do
// not separate two words, and treats 3U and 3u as equal.
func spelling(name string) string {
	var b strings.Builder
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	digits := false // inside a number
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == ' ' && (i == 0 || i+1 == len(name) || !word(name[i-1]) || !word(name[i+1])) {
			continue
		}
		if digits = word(c) && (digits || c >= '0' && c <= '9' && (i == 0 || !word(name[i-1]))); digits && (c == 'U' || c == 'L') {
			c |= 0x20
		}
		b.WriteByte(c)
		if c == ',' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
