package link_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
)

// archive makes a GNU archive; names are short.
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

func names(r *link.Result) (list []string) {
	for _, m := range r.Modules {
		list = append(list, m.Name)
	}
	return list
}

// TestArchive: members are linked if something needs them, wherever the archive
// stands, and out of compressed data too.
func TestArchive(t *testing.T) {
	lib := archive(
		"f.ptx", top+".extern .func g ();\n.visible .func f () { call g; ret; }\n",
		"g.ptx", top+".visible .func g () { ret; }\n",
		"unneeded.ptx", top+".visible .func h () { ret; }\n",
	)
	main := []byte(top + ".extern .func f ();\n.visible .entry k () { call f; ret; }\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(lib)
	z.Close()
	for _, test := range []struct {
		name   string
		inputs []link.Input
		undef  []string
		want   []string
	}{
		{"behind", []link.Input{{Name: "main", Text: main}, {Name: "lib.a", Text: lib}}, nil, []string{"main", "lib.a(f.ptx)", "lib.a(g.ptx)"}},
		{"in front", []link.Input{{Name: "lib.a", Text: lib}, {Name: "main", Text: main}}, nil, []string{"lib.a(f.ptx)", "lib.a(g.ptx)", "main"}},
		{"whole", []link.Input{{Name: "main", Text: main}, {Name: "lib.a", Text: lib, WholeArchive: true}}, nil, []string{"main", "lib.a(f.ptx)", "lib.a(g.ptx)", "lib.a(unneeded.ptx)"}},
		{"-u", []link.Input{{Name: "main", Text: main}, {Name: "lib.a", Text: lib}}, []string{"h"}, []string{"main", "lib.a(f.ptx)", "lib.a(g.ptx)", "lib.a(unneeded.ptx)"}},
		{"gzip", []link.Input{{Name: "main", Text: main}, {Name: "lib.a.gz", Text: packed.Bytes()}}, nil, []string{"main", "lib.a.gz(f.ptx)", "lib.a.gz(g.ptx)"}},
	} {
		r := mustLink(t, link.Options{Inputs: test.inputs, Undefined: test.undef})
		if got := names(r); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if test.name == "behind" && fmt.Sprint(r.Pulls) != "[{lib.a(f.ptx) f main} {lib.a(g.ptx) g lib.a(f.ptx)}]" {
			t.Errorf("pulls: %v", r.Pulls)
		}
	}
}

// TestGCCLibraries links a kernel with gcc's libm, of which few members come in,
// and ptxas takes the program.
func TestGCCLibraries(t *testing.T) {
	lib := filepath.Join(oracles.Dir(), "gcc-nvptx", "libm.a")
	if _, err := os.Stat(lib); err != nil {
		if os.Getenv(oracles.RequireVar) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	main := top + `.extern .func (.param .f64 r) sin (.param .f64 x);
.visible .entry k (.param .u64 to) {
	.reg .b64 %p;
	.reg .f64 %x;
	.param .f64 a, r;
	ld.param.u64 %p, [to];
	ld.global.f64 %x, [%p];
	st.param.f64 [a], %x;
	call (r), sin, (a);
	ld.param.f64 %x, [r];
	st.global.f64 [%p], %x;
	ret;
}
`
	r := mustLink(t, link.Options{Inputs: []link.Input{{Name: "main.ptx", Text: []byte(main)}, {Name: "libm.a", Path: lib}}})
	if n := len(r.Modules); n < 3 || n > 20 {
		t.Errorf("%d modules: %v", n, names(r))
	}
	assemble(t, arch, r.PTX)
	if !strings.Contains(string(r.PTX), "__ieee754_rem_pio2") {
		t.Error("what sin needs did not come in")
	}
}
