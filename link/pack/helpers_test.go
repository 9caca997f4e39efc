package pack_test

import (
	"fmt"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

const top = ".version 7.8\n.target sm_75\n.address_size 64\n"

// arch is the GPU to assemble modules for that need no newer one.
const arch = "sm_75"

func texts(modules ...string) []link.Input {
	inputs := make([]link.Input, len(modules))
	for i, m := range modules {
		inputs[i] = link.Input{Name: fmt.Sprintf("%c.ptx", 'a'+i), Text: []byte(m)}
	}
	return inputs
}

func mustLink(t *testing.T, o link.Options) *link.Result {
	t.Helper()
	r, err := link.Link(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func assemble(t *testing.T, gpu string, text []byte, flags ...string) []byte {
	t.Helper()
	return oracles.Assemble(t, "ptxas", gpu, text, flags...)
}

// archive returns a GNU archive; the names are short.
func archive(members ...string) []byte {
	b := []byte("!<arch>\n")
	for i := 0; i < len(members); i += 2 {
		text := members[i+1]
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", members[i]+"/", 0, 0, 0, "644", len(text), text)
		if len(text)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}

// bodies returns the function bodies of a module by name.
func bodies(t *testing.T, text []byte) map[string]string {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, d := range m.Decls {
		if d.HasBody {
			list[m.Names[d.Name]] = m.Src.String(d.Body)
		}
	}
	return list
}

// unused lists the local functions that nothing in the module uses. gcc keeps those
// that it has inlined everywhere.
func unused(t *testing.T, text []byte) []string {
	t.Helper()
	m, err := ptx.Parse(&diag.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	used := map[ptx.NameID]bool{}
	for _, u := range m.Uses {
		used[u.Name] = true
	}
	var list []string
	for _, d := range m.Decls {
		if d.HasBody && d.Linkage == ptx.Local && d.Kind == ptx.Func && !used[d.Name] {
			list = append(list, m.Names[d.Name])
		}
	}
	return list
}
