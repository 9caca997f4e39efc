package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// A set is a few modules that are linked together.
type set struct {
	seed    uint64
	modules []*node // one per module: the header is the opening and the declarations are the children
	arch    string  // the GPU to assemble for
	suffix  string  // of the tools' names: "" for CUDA 12.4, "-new" for the newest
	noise   bool    // comments and white space between the tokens
}

// A node is a piece of PTX that can be dropped as a whole: a declaration or a
// statement. If it has children, as a function or a block does, they are printed in
// between.
type node struct {
	open, close string
	kids        []*node
	dropped     bool // by minimise
}

func leaf(format string, args ...any) *node {
	return &node{open: fmt.Sprintf(format, args...)}
}

func (n *node) write(b *strings.Builder, indent string) {
	if n.dropped {
		return
	}
	fmt.Fprintf(b, "%s%s\n", indent, n.open)
	for _, k := range n.kids {
		k.write(b, indent+"\t")
	}
	if n.close != "" {
		fmt.Fprintf(b, "%s%s\n", indent, n.close)
	}
}

// texts returns the PTX of the modules.
func (s *set) texts() []string {
	var list []string
	for i, m := range s.modules {
		if m.dropped {
			continue
		}
		var b strings.Builder
		b.WriteString(m.open + "\n")
		for _, k := range m.kids {
			k.write(&b, "")
		}
		text := b.String()
		if s.noise {
			text = noisy(rand.New(rand.NewPCG(s.seed, uint64(i))), text)
		}
		list = append(list, text)
	}
	return list
}

var blanks = []string{"  ", "\t", "\n", "\r\n", " /**/ ", " /* ; { x */ ", " // } mov x, y;\n", "\n\n\t"}

// quoted matches text that noise must not change: strings, and the header, whose
// .version must be the first token.
var quoted = regexp.MustCompile(`"[^"]*"|^\.version.*\n\.target.*\n`)

// noisy adds comments and white space between tokens, and removes blanks where none
// is needed.
func noisy(r *rand.Rand, text string) string {
	var b strings.Builder
	at := 0
	for _, q := range append(quoted.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		for i := at; i < q[0]; i++ {
			c := text[i]
			switch {
			case c == ' ' && r.IntN(14) == 0:
				b.WriteString(blanks[r.IntN(len(blanks))])
			case c == ' ' && i > 0 && strings.IndexByte(",;{}", text[i-1]) >= 0 && r.IntN(4) == 0:
			case strings.IndexByte(",;{}()[]", c) >= 0 && r.IntN(30) == 0:
				b.WriteByte(c)
				b.WriteString(blanks[r.IntN(len(blanks))])
			case strings.IndexByte(",;}])", c) >= 0 && r.IntN(30) == 0:
				b.WriteString(blanks[r.IntN(len(blanks))])
				b.WriteByte(c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteString(text[q[0]:q[1]])
		at = q[1]
	}
	return b.String()
}
