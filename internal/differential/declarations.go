package main

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) linkageWord(s *symbol) string {
	if s.linkage == "" {
		return ""
	}
	if s.strong && s.owners[0] == g.module {
		return ".visible "
	}
	return "." + s.linkage + " "
}

func (g *generator) declaration(it item) []*node {
	s := it.sym
	own := slices.Contains(s.owners, g.module)
	known := *s
	defer func() {
		for _, name := range s.names() {
			one := known
			one.name, one.count = name, 0
			g.known[name] = &one
		}
	}()
	switch {
	case it.extern && (!own || s.kind == "var"):
		switch s.kind {
		case "var":
			t := &known.typ
			if !t.unsized && len(t.dims) > 0 && g.in100(25) {
				t.dims, t.unsized = t.dims[1:], true
			}
			name := s.name
			if s.count > 0 {
				name = fmt.Sprintf("%s<%d>", s.name, s.count) // without dimensions
			}
			return []*node{leaf(".extern .%s %s;", s.space, t.declare(name))}
		case "tex", "surf", "sampler":
			return []*node{leaf(".extern .global .%sref %s;", s.kind, s.name)}
		}
		return []*node{leaf(".extern %s;", g.header(s))}
	case it.extern:
		return []*node{leaf("%s%s;", g.linkageWord(s), g.header(s))}
	case s.kind == "var":
		return g.variable(s)
	case s.kind == "sampler" && g.in100(50):
		return []*node{leaf("%s.global .samplerref %s = { addr_mode_0 = clamp_to_edge, filter_mode = nearest };", g.linkageWord(s), s.name)}
	case s.kind == "tex" || s.kind == "surf" || s.kind == "sampler":
		return []*node{leaf("%s.global .%sref %s;", g.linkageWord(s), s.kind, s.name)}
	}
	g.known[s.name] = &known // it may call itself
	list := []*node{g.makeFunction(s)}
	if s.kind == "func" && s.linkage == "visible" && g.in100(8) {
		alias := *s
		alias.name = g.fresh("alias")
		list = append(list, leaf(".visible %s;", g.header(&alias)), leaf(".alias %s, %s;", alias.name, s.name))
		g.known[alias.name] = &alias
	}
	return list
}

// fresh returns a name that no other module has.
func (g *generator) fresh(base string) string {
	g.count++
	return fmt.Sprintf("%s%s%d", g.private, base, g.count)
}

// header prints a function without its body; the parameters have names of the pool.
func (g *generator) header(s *symbol) string {
	text, _ := g.headerNames(s)
	return text
}

type param struct {
	name string
	typ
}

func (g *generator) headerNames(s *symbol) (text string, params []param) {
	taken := map[string]bool{}
	space := ".param "
	if s.proto.reg {
		space = ".reg "
	}
	var print = func(t typ) string {
		name := pick(g, g.pool)
		if taken[name] || g.in100(30) || g.crashes(name) || name == s.name {
			name = fmt.Sprintf("%s_param_%d", s.name, len(taken))
		}
		taken[name] = true
		params = append(params, param{name, t})
		if s.kind == "entry" && t.word == ".u64" && t.dims == nil && len(params) == 1 && g.in100(20) {
			return ".param .u64 .ptr .global .align 4 " + name
		}
		return space + t.declare(name)
	}
	text = "." + s.kind + " "
	if s.proto.result != nil {
		text += "(" + print(*s.proto.result) + ") "
	}
	text += s.name
	var list []string
	for _, t := range s.proto.params {
		list = append(list, print(t))
	}
	if len(list) > 0 || g.in100(80) {
		text += " (" + strings.Join(list, ", ") + ")"
	}
	if s.proto.noreturn {
		text += " .noreturn"
	}
	return text, params
}

// variable defines a variable, or several in one statement.
func (g *generator) variable(s *symbol) []*node {
	text := fmt.Sprintf("%s.%s ", g.linkageWord(s), s.space)
	if s.count > 0 { // ptxas emits only those that something names
		return []*node{leaf("%s%s %s<%d>;", text, s.typ.prefix(), s.name, s.count),
			leaf(".global .u64 %s[] = {%s};", g.fresh("range"), strings.Join(s.names(), ", "))}
	}
	// .managed is required in every declaration; no other module declares it that way.
	if s.space == "global" && g.in100(3) && s.linkage == "visible" && !slices.ContainsFunc(g.shared, func(o *symbol) bool { return o.name == s.name }) {
		text += ".attribute(.managed) "
	}
	declared := func(name string, t typ) string {
		d := name + t.suffix()
		if s.points != nil {
			n := len(t.dims)
			return d + " = " + strings.Repeat("{", n) + s.points.name + strings.Repeat("}", n)
		}
		if s.space != "shared" && t.vec == 0 && g.in100(60) {
			d += " = " + g.initialiser(t, t.dims)
		}
		return d
	}
	text += s.typ.prefix() + " " + declared(s.name, s.typ)
	for _, name := range s.also {
		other := *s
		other.name = name
		if g.in100(50) {
			other.typ.dims = []int{2}
		}
		text += ", " + declared(name, other.typ)
		defer func() { g.known[name] = &other }()
	}
	return []*node{leaf("%s;", text)}
}

// initialiser returns a value of the type, for its first few elements.
func (g *generator) initialiser(t typ, dims []int) string {
	if len(dims) > 0 {
		var list []string
		for range 1 + g.IntN(dims[0]) {
			list = append(list, g.initialiser(t, dims[1:]))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	switch t.word {
	case ".f32":
		return pick(g, []string{"0f3F800000", "1.5", "-2.25", "0f40490FDB"})
	case ".f64":
		return pick(g, []string{"0d3FF0000000000000", "1.5", "-2.25"})
	case ".u64":
		if s := g.addressable(); s != nil && g.in100(70) {
			offset := ""
			if s.kind == "var" && g.in100(50) {
				offset = fmt.Sprintf("+%d", 4*g.IntN(4))
			}
			if s.kind == "var" && s.space == "global" && g.in100(40) {
				return "generic(" + s.name + ")" + offset
			}
			return s.name + offset
		}
	}
	if g.in100(20) && t.word[1] == 's' {
		return fmt.Sprint(-1 - g.IntN(100))
	}
	return pick(g, []string{fmt.Sprint(g.IntN(100)), fmt.Sprintf("0x%x", g.IntN(128)), fmt.Sprintf("(%d << 2) + 1", g.IntN(16))})
}
