package kernels

import "fmt"

// expr returns an expression of exactly this type. No expression is undefined in
// C++, and none depends on the bits of a NaN.
func (g *generator) expr(t scalar, depth int) string {
	if depth <= 0 || g.chance(15) {
		return g.leaf(t)
	}
	if t.class == 'f' {
		return g.floatExpr(t, depth-1)
	}
	return g.integerExpr(t, depth-1)
}

// leaf returns a variable or a constant, converted to the type.
func (g *generator) leaf(t scalar) string {
	if g.chance(25) {
		return g.literal(t)
	}
	if g.chance(12) {
		v := pick(g, append(g.consts, g.globals[:3]...))
		return convert(fmt.Sprintf("%s[%d]", v.name, g.IntN(v.length)), v.t, t)
	}
	if g.chance(4) {
		return fmt.Sprintf("(%s)words[%d][0]", t.name, g.IntN(2))
	}
	if g.chance(6) {
		return convert(fmt.Sprintf("hidden[%d]", g.IntN(4)), i32Type, t)
	}
	for range 4 {
		if len(g.vars) == 0 {
			break
		}
		v := pick(g, g.vars)
		if v.t != t && v.of == nil && g.chance(60) {
			continue
		}
		switch {
		case v.of != nil:
			f := pick(g, v.of.fields)
			if f.length > 0 {
				return convert(fmt.Sprintf("%s.%s[%d]", v.name, f.name, g.IntN(f.length)), f.t, t)
			}
			return convert(v.name+"."+f.name, f.t, t)
		case v.length > 0:
			return convert(fmt.Sprintf("%s[%d]", v.name, g.IntN(v.length)), v.t, t)
		}
		return convert(v.name, v.t, t)
	}
	return g.literal(t)
}

// convert returns an expression converted to another type.
func convert(text string, from, to scalar) string {
	switch {
	case from == to:
		return text
	case from.class == 'f' && to.class != 'f':
		return fmt.Sprintf("(%s)integer(%s)", to.name, text)
	}
	return fmt.Sprintf("(%s)%s", to.name, text)
}

func (g *generator) condition() string {
	t := pick(g, scalars)
	op := pick(g, []string{"<", "<=", ">", ">=", "==", "!="})
	c := fmt.Sprintf("%s %s %s", g.expr(t, 2), op, g.expr(t, 1))
	if g.chance(20) {
		u := scalars[g.IntN(8)] // an integer
		c = fmt.Sprintf("(%s) %s %s < %s", c, pick(g, []string{"&&", "||"}), g.expr(u, 1), g.expr(u, 1))
	}
	return c
}

func (g *generator) integerExpr(t scalar, depth int) string {
	switch g.IntN(20) {
	case 0:
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(), g.expr(t, depth), g.expr(t, depth))
	case 1:
		from := pick(g, scalars)
		return convert("("+g.expr(from, depth)+")", from, t)
	case 2:
		return fmt.Sprintf("(%s)(%s)", t.name, g.condition())
	case 3:
		f := pick(g, []string{"popc", "clz", "brev", "ffs"})
		return fmt.Sprintf("(%s)%s(%s)", t.name, f, g.expr(u32Type, depth))
	case 4:
		f := pick(g, []string{"popc", "clz", "brev"})
		return fmt.Sprintf("(%s)%sll(%s)", t.name, f, g.expr(scalars[7], depth))
	case 5:
		f := pick(g, []string{"umulhi", "permute", "funnel"})
		third := ""
		if f != "umulhi" {
			third = ", " + g.expr(u32Type, depth)
		}
		return fmt.Sprintf("(%s)%s(%s, %s%s)", t.name, f, g.expr(u32Type, depth), g.expr(u32Type, depth), third)
	case 6:
		return fmt.Sprintf("(%s)mulhi64(%s, %s)", t.name, g.expr(scalars[7], depth), g.expr(scalars[7], depth))
	case 7:
		f := pick(g, []string{"minimum", "maximum"})
		return fmt.Sprintf("%s<%s>(%s, %s)", f, t.name, g.expr(t, depth), g.expr(t, depth))
	}
	op := pick(g, []string{"add", "sub", "mul", "band", "bor", "bxor", "shl", "shr", "quotient", "remainder"})
	return fmt.Sprintf("%s<%s>(%s, %s)", op, t.name, g.expr(t, depth), g.expr(t, depth))
}

func (g *generator) floatExpr(t scalar, depth int) string {
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(), g.expr(t, depth), g.expr(t, depth))
	case 1:
		from := pick(g, scalars)
		return convert("("+g.expr(from, depth)+")", from, t)
	case 2:
		return fmt.Sprintf("fma_(%s, %s, %s)", g.expr(t, depth), g.expr(t, depth), g.expr(t, depth))
	case 3:
		f := pick(g, []string{"sqrt_", "floor_", "ceil_", "trunc_", "rint_", "abs_"})
		return fmt.Sprintf("%s(%s)", f, g.expr(t, depth))
	case 4:
		f := pick(g, []string{"add", "mul", "div", "fma", "sqrt"})
		mode := pick(g, []string{"rz", "ru", "rd"})
		args := g.expr(t, depth)
		if f != "sqrt" {
			args += ", " + g.expr(t, depth)
		}
		if f == "fma" {
			args += ", " + g.expr(t, depth)
		}
		return fmt.Sprintf("%s_%s(%s)", f, mode, args)
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(t, depth), pick(g, []string{"+", "-", "*", "/"}), g.expr(t, depth))
}
