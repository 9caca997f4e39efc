package abicheck

// What plainCxx finds.
type plainResult byte

const (
	notPlain plainResult = iota // only the demangler knows
	unsure                      // the name does not determine the parameters
	plain
)

// plainCxx reads the parameters in an ordinary mangled name: a function without
// template arguments whose parameters are built-in types, pointers and classes. It
// gives what parseCxx gives, without texts, and is some fifty times faster. (Itanium
// C++ ABI 5.1.)
func plainCxx(name string, params []cxxType) ([]cxxType, plainResult) {
	p := plainName{text: name[2:]}
	if p.is('N') {
		for components := 0; !p.is('E'); components++ {
			if components > 0 {
				p.substitute(cxxType{kind: '?'}) // the scope so far
			}
			if !p.sourceName() {
				return nil, notPlain
			}
		}
	} else if p.is('L') || !p.sourceName() {
		return nil, notPlain
	}
	if p.text == "v" {
		return params, plain
	}
	for p.text != "" {
		if c := p.text[0]; c == 'N' || c >= '1' && c <= '9' {
			return nil, unsure // a class, whatever follows
		}
		t, ok := p.parameter()
		switch {
		case !ok || t.kind == '?':
			return nil, notPlain
		case t.kind == 0:
			return nil, unsure
		}
		params = append(params, t)
	}
	if len(params) == 0 {
		return nil, notPlain
	}
	return params, plain
}

type plainName struct {
	text  string // what is left
	depth int    // of the pointers around it
	known [16]cxxType
	n     int // of known: the types and scopes that S_, S0_, ... stand for
}

func (p *plainName) is(c byte) bool {
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

func (p *plainName) substitute(t cxxType) {
	if p.n < len(p.known) {
		p.known[p.n] = t
	}
	p.n++
}

// sourceName skips `3foo`.
func (p *plainName) sourceName() bool {
	n, at := 0, 0
	for at < len(p.text) && p.text[at] >= '0' && p.text[at] <= '9' && at < 4 {
		n = 10*n + int(p.text[at]-'0')
		at++
	}
	if n == 0 || p.text[0] == '0' || at+n > len(p.text) {
		return false
	}
	p.text = p.text[at+n:]
	return p.text == "" || p.text[0] != 'I' && p.text[0] != 'B' // template arguments, ABI tags
}

// plainTypes holds the built-in types by their letter in a mangled name.
var plainTypes = [128]cxxType{
	'b': builtins["bool"], 'c': builtins["char"], 'a': builtins["signed char"], 'h': builtins["unsigned char"],
	's': builtins["short"], 't': builtins["unsigned short"], 'i': builtins["int"], 'j': builtins["unsigned int"],
	'l': builtins["long"], 'm': builtins["unsigned long"], 'x': builtins["long long"], 'y': builtins["unsigned long long"],
	'f': builtins["float"], 'd': builtins["double"], 'w': builtins["wchar_t"],
}

// parameter reads one parameter. Its kind is 0 if the name does not determine it.
func (p *plainName) parameter() (t cxxType, ok bool) {
	const deep = 64 // the demangler reads the rest, and has a limit too
	if p.text == "" || p.depth > deep {
		return t, false
	}
	c := p.text[0]
	switch {
	case c == 'P' || c == 'R' || c == 'O':
		p.text = p.text[1:]
		p.depth++
		if !p.pointee() {
			return t, false
		}
		p.depth--
		t.kind = 'p'
		p.substitute(t)
		return t, true
	case c == 'S':
		return p.substitution()
	case c < 128 && plainTypes[c].kind != 0:
		p.text = p.text[1:]
		return plainTypes[c], true
	}
	return t, false
}

// pointee skips the type behind P, R or O.
func (p *plainName) pointee() bool {
	qualified := false
	for p.is('V') || p.is('K') {
		qualified = true
	}
	var t cxxType
	switch {
	case p.is('v'):
	case p.text != "" && p.text[0] >= '1' && p.text[0] <= '9':
		if !p.sourceName() {
			return false
		}
		p.substitute(t)
	case p.is('N'): // N3foo3BarE, NS_3BarE
		if p.text != "" && p.text[0] == 'S' {
			if _, ok := p.substitution(); !ok {
				return false
			}
		} else if !p.sourceName() {
			return false
		} else {
			p.substitute(cxxType{kind: '?'})
		}
		for !p.is('E') {
			if !p.sourceName() {
				return false
			}
			p.substitute(t) // also what is only a scope
		}
	default:
		if _, ok := p.parameter(); !ok {
			return false
		}
	}
	if qualified {
		p.substitute(cxxType{kind: '?'})
	}
	return true
}

// substitution reads S_, S0_ to S9_.
func (p *plainName) substitution() (t cxxType, ok bool) {
	i, length := 0, 2
	if len(p.text) > 2 && p.text[1] >= '0' && p.text[1] <= '9' {
		i, length = int(p.text[1]-'0')+1, 3
	}
	if len(p.text) < length || p.text[length-1] != '_' || i >= p.n || i >= len(p.known) {
		return t, false
	}
	p.text = p.text[length:]
	return p.known[i], true
}
