package optimize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ptxlink/link/optimize"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

var everything = []optimize.Options{{Request: optimize.Request{Level: 2, Fold: true}}, {Request: optimize.Request{Inline: []string{"*"}, Fold: true, Interposable: true}}}

// FuzzOptimize checks that every module that can be read can be optimised: what is wrong
// with its instructions is for ptxas to say.
func FuzzOptimize(f *testing.F) {
	for _, list := range [][]check{checks, spaceChecks, definitionChecks} {
		for _, c := range list {
			f.Add(header + c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ptx.Parse(&diag.Source{Name: "t.ptx", Text: []byte(text)})
		if err != nil {
			return
		}
		for _, o := range everything {
			if _, err := optimizeModule(m, o); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
		}
	})
}

// TestMutations drops, doubles and swaps operands and words of instructions of real and
// random modules, which must still be optimised.
func TestMutations(t *testing.T) {
	n := uint64(250)
	if testing.Short() {
		n = 60
	}
	if long := os.Getenv("PTXLINK_MODULES"); long != "" {
		fmt.Sscan(long, &n)
	}
	paths, err := filepath.Glob("../../testdata/ptx/*/*.ptx")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no modules (%v)", err)
	}
	var texts [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < 20000 {
			texts = append(texts, text)
		}
	}
	for _, list := range [][]check{checks, spaceChecks, definitionChecks} {
		for _, c := range list {
			texts = append(texts, []byte(header+c.text))
		}
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 6))
		text := texts[r.IntN(len(texts))]
		if r.IntN(2) == 0 {
			text = []byte(generate(seed + 9000))
		}
		m, perr := ptx.Parse(&diag.Source{Name: "t.ptx", Text: mutate(text, r)})
		if perr != nil {
			continue
		}
		for _, o := range everything {
			if err := optimised(m, o); err != nil {
				t.Fatalf("module %d, %+v: %v\n%s", seed, o, err, m.Src.Text)
			}
		}
	}
}

// optimised returns an error if a module cannot be optimised.
func optimised(m *ptx.Module, o optimize.Options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	_, err = optimizeModule(m, o)
	return err
}

// mutate changes a few instructions of a module.
func mutate(text []byte, r *rand.Rand) []byte {
	m, err := ptx.Parse(&diag.Source{Text: text})
	if err != nil {
		return text
	}
	var edits []ptx.Edit
	for i := range m.Decls {
		if !m.Decls[i].HasBody {
			continue
		}
		c := m.Code(&m.Decls[i])
		for _, st := range c.Statements {
			if st.Kind != ptx.Instruction || r.IntN(8) > 0 {
				continue
			}
			var parts []ptx.Span // operands, or words
			var separator string
			if r.IntN(4) == 0 {
				for _, token := range c.Tokens[st.Op+1 : st.Operands] {
					parts = append(parts, token.Span())
				}
			} else {
				separator = ", "
				for _, o := range c.Operands(st) {
					if o.First < o.End {
						from := c.Tokens[o.First].Off
						parts = append(parts, ptx.Span{Off: from, Len: c.Tokens[o.End-1].End - from})
					}
				}
			}
			if len(parts) == 0 {
				continue
			}
			var list []string
			for _, part := range parts {
				list = append(list, m.Src.String(part))
			}
			k := r.IntN(len(list))
			switch r.IntN(5) {
			case 0, 1:
				list = append(list[:k], list[k+1:]...)
			case 2:
				list = append(list, list[k])
			case 3:
				list[k], list[0] = list[0], list[k]
			default:
				list[k] = [...]string{"%r1", "{%r1, %d1}", "[%d1+2]", "0f40000000", "(%r1)", "-2.0", "{}", "[]", "()", "_", "!%p1"}[r.IntN(11)]
			}
			out := ""
			for i, part := range list {
				if i > 0 {
					out += separator
				}
				out += part
			}
			last := parts[len(parts)-1]
			edits = append(edits, ptx.Edit{Span: ptx.Span{Off: parts[0].Off, Len: last.End() - parts[0].Off}, Text: out})
		}
	}
	return ptx.Apply(nil, text, ptx.Span{Len: int32(len(text))}, edits)
}
