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
	"ptxlink/link/pack"
)

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

func names(r *link.Result) (list []string) {
	for _, m := range r.Modules {
		list = append(list, m.Name)
	}
	return list
}

// TestArchive checks that members are linked if something needs them, wherever the
// archive is on the command line, and also from compressed archives.
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

// TestGCCLibraries links a kernel with gcc's libm. Only a few members are linked,
// and ptxas accepts the result.
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

// TestIndexChangesNothing checks that a package links the same with and without its
// index, plain and compressed, and that a wrong index gives a warning.
func TestIndexChangesNothing(t *testing.T) {
	module := func(name, text string) link.Input { return link.Input{Name: name, Text: []byte(top + text)} }
	members := []link.Input{
		module("f.ptx", ".extern .func g ();\n.weak .func w () { ret; }\n.visible .func f () { call g; call w; ret; }\n"),
		module("common.ptx", ".common .global .b32 shared;\n.visible .func unneeded () { ret; }\n"),
		module("g.ptx", ".extern .global .b32 shared;\n.global .b32 own;\n.visible .func g () { st.global.u32 [shared], 1; st.global.u32 [own], 1; ret; }\n"),
		module("strong.ptx", ".visible .global .b32 shared = 7;\n.visible .func strong () { ret; }\n"),
		module("again.ptx", ".visible .func g () { ret; }\n"),
	}
	main := module("main.ptx", ".extern .func f ();\n.global .b32 own;\n.visible .entry k () { st.global.u32 [own], 2; call f; ret; }\n")
	for _, format := range []pack.Format{pack.Plain, pack.Zstd} {
		packed := func(noIndex bool) []byte {
			p, err := pack.Make(t.Context(), pack.Options{Inputs: members, Format: format, NoIndex: noIndex, Host: "linux-x86_64"})
			if err != nil {
				t.Fatal(err)
			}
			return p.Data
		}
		path := filepath.Join(t.TempDir(), "lib.a")
		if err := os.WriteFile(path, packed(false), 0o666); err != nil {
			t.Fatal(err)
		}
		options := func(lib link.Input) link.Options {
			return link.Options{Inputs: []link.Input{lib, main}, Host: "linux-x86_64"}
		}
		want := mustLink(t, options(link.Input{Name: "lib.a", Text: packed(true)}))
		got := mustLink(t, options(link.Input{Name: "lib.a", Path: path}))
		if !bytes.Equal(got.PTX, want.PTX) || fmt.Sprint(got.Pulls) != fmt.Sprint(want.Pulls) {
			t.Errorf("%s: with the index %v, without %v", format, got.Pulls, want.Pulls)
		}
		ext := map[pack.Format]string{pack.Plain: "", pack.Zstd: ".zst"}[format]
		if list, want := names(got), []string{"lib.a(f.ptx" + ext + ")", "lib.a(g.ptx" + ext + ")", "lib.a(strong.ptx" + ext + ")", "main.ptx"}; !slices.Equal(list, want) {
			t.Errorf("%s: modules %v, want %v", format, list, want)
		}
		if format != pack.Plain {
			continue
		}
		changed := bytes.Replace(packed(false), []byte("st.global.u32 [own], 1"), []byte("st.global.u32 [own], 9"), 1)
		got = mustLink(t, options(link.Input{Name: "lib.a", Text: changed}))
		if !bytes.Contains(got.PTX, []byte(", 9;")) || fmt.Sprint(got.Pulls) != fmt.Sprint(want.Pulls) {
			t.Errorf("changed package: %v\n%s", got.Pulls, got.PTX)
		}
		if len(got.Messages) != 1 || got.Messages[0].ID != "stale-index" || !strings.Contains(got.Messages[0].Text, "g.ptx was changed") {
			t.Errorf("changed package: %v", got.Messages)
		}
	}
}

// TestHostOfPackage checks that the recorded host of a member is checked when the
// member is linked, not before.
func TestHostOfPackage(t *testing.T) {
	module := func(name, text string) link.Input { return link.Input{Name: name, Text: []byte(top + text)} }
	for _, format := range []pack.Format{pack.Plain, pack.Zstd} {
		p, err := pack.Make(t.Context(), pack.Options{Inputs: []link.Input{module("f.ptx", ".visible .func f () { ret; }\n")}, Format: format, Host: "windows-x86_64"})
		if err != nil {
			t.Fatal(err)
		}
		for _, whole := range []bool{false, true} { // with the index and without
			o := link.Options{Host: "linux-x86_64", Inputs: []link.Input{
				module("main.ptx", ".extern .func f ();\n.visible .entry k () { call f; ret; }\n"),
				{Name: "lib.a", Text: p.Data, WholeArchive: whole},
				{Name: "l.ptx", Text: []byte("// by ptxlink\n/* ptxlink-meta: os=linux arch=x86_64 model=lp64 */\n" + top)},
			}}
			_, err := link.Link(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "windows") || !strings.Contains(err.Error(), "lib.a(f.ptx") {
				t.Errorf("%s: %v", format, err)
			}
			o.Inputs[0] = module("main.ptx", ".visible .entry k () { ret; }\n")
			if _, err := link.Link(t.Context(), o); (err != nil) != whole {
				t.Errorf("%s: a member that is not needed: %v", format, err)
			}
		}
	}
}
