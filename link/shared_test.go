package link_test

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/object/container"
)

// TestLinkerSharesModules links with every kind of option at the same time, against a
// Linker that holds modules of every kind. The modules stay as they were, up to the room
// behind their lists, and a result is that of a link without the Linker. The race detector
// sees what is written back unchanged.
func TestLinkerSharesModules(t *testing.T) {
	// Another alignment of a variable is a message that needs the DWARF of the library.
	for set, variable := range map[string]string{"nvcc-debug": ".const .align 16 .b8 weights[16]", "rust-debug": ".global .align 16 .b8 WEIGHTS[16]",
		"nvcc-lineinfo": "", "clang-debug": "", "mixed": "", "linkages": ".global .align 16 .b8 aligned[4]"} {
		t.Run(set, func(t *testing.T) { testShared(t, set, variable) })
	}
}

func testShared(t *testing.T, set, variable string) {
	var inputs []link.Input
	if set == "linkages" {
		inputs = linkages()
	} else {
		paths, _ := filepath.Glob("../testdata/ptx/" + set + "/*.ptx")
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, link.Input{Name: filepath.Base(path), Text: text})
		}
	}
	p, err := pack.Make(t.Context(), pack.Options{Inputs: inputs[1:]})
	if err != nil {
		t.Fatal(err)
	}
	fatbin, err := container.Fatbin(container.Image{Text: inputs[0].Text, Target: "sm_75", Major: 7, Minor: 8, Options: "--maxrregcount 32 "})
	if err != nil {
		t.Fatal(err)
	}
	libraries := []link.Input{{Name: "lib.fatbin", Text: fatbin}, {Name: "lib.a", Text: p.Data, WholeArchive: true}}
	l, err := link.NewLinker(t.Context(), "", libraries...)
	if err != nil {
		t.Fatal(err)
	}
	use := ".visible .entry own_kernel() { ret; }\n"
	if fields := strings.FieldsFunc(variable, func(r rune) bool { return r == ' ' || r == '[' }); len(fields) > 2 {
		use = ".extern " + variable + ";\n.visible .entry own_kernel() { .reg .b64 a; mov.u64 a, " + fields[len(fields)-2] + "; ret; }\n"
	}
	main := link.Input{Name: "own.ptx", Text: []byte(strings.Replace(linkerTop, "sm_75", "sm_52", 1) + use)}
	all := []string{"*"}
	variants := []link.Options{
		{StripDebug: true}, // first: it reads the modules, and does little else
		{},
		{StripDebug: true, KeepLines: true},
		{Relocatable: true, Verbose: true},
		{Optimize: link.Optimize{Level: 2, Fold: true}},
		{Optimize: link.Optimize{Inline: all}, StripDebug: true},
		{Localize: all, Exports: []string{"*a*"}, KeepUnused: true},
		{Weaken: all, CrossReference: true},
		{LocalizeInputs: []string{"*e*"}, AllowUndefined: all},
		{CheckOnly: true, Atomics: true},
		{AllowDuplicates: true, Version: "9.0", Host: "linux-x86_64"},
		{DedupeIdentical: true, CollectVariables: true, Entries: []string{"own_kernel"}},
		{Wrap: []string{"helper"}, TraceSymbols: []string{"helper"}, WhyLive: []string{"own_kernel"}},
	}
	run := func(o link.Options, shared bool) string {
		o.Inputs = []link.Input{main}
		call := l.Link
		if !shared {
			o.Inputs, call = append(o.Inputs, libraries...), link.Link
		}
		r, err := call(t.Context(), o)
		if err != nil {
			return err.Error()
		}
		var messages []string
		for _, m := range r.Messages {
			messages = append(messages, m.Error())
			for _, n := range m.Notes {
				file, line, _ := n.Place.Position()
				messages = append(messages, fmt.Sprintf("%s:%d: %s", file, line, n.Text))
			}
		}
		return fmt.Sprintf("%s%q\n%+v\n", r.PTX, messages, r.Modules)
	}
	linked := 0
	for _, o := range variants {
		if r := run(o, false); strings.Contains(r, ".version") {
			linked++
		}
	}
	if linked < len(variants)-3 {
		t.Errorf("%d of %d variants link", linked, len(variants))
	}
	run(variants[0], true)
	before := contents(l)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 6 { // so that each variant runs three times or more
				run(variants[(i+2*worker)%len(variants)], true)
			}
		})
	}
	group.Wait()
	if contents(l) != before {
		t.Error("the links changed a module that they share")
	}
	for i, o := range variants {
		got, want := strings.Split(run(o, true), "\n"), strings.Split(run(o, false), "\n")
		for at := range min(len(got), len(want)) {
			if got[at] != want[at] {
				t.Errorf("variant %d, line %d: %s\nwithout the Linker: %s", i, at+1, got[at], want[at])
				break
			}
		}
	}
}

// linkages are modules with weak, common, aliased, shared and undefined symbols.
func linkages() []link.Input {
	var list []link.Input
	for i := range 3 {
		list = append(list, link.Input{Name: fmt.Sprintf("m%d.ptx", i), Text: fmt.Appendf(nil, linkerTop+`
.extern .shared .align 4 .b8 dynamic[];
.common .global .align %d .b8 table[%d];
.weak .const .u32 limit = %d;
.global .u32 own[] = {1, 2, 3};
.weak .func (.param .b32 r) helper (.param .align 4 .b8 a[8]) { .reg .b32 %%r<3>; ld.param.b32 %%r1, [a]; st.param.b32 [r], %%r1; ret; }
.func same (.param .b32 a) .noinline .noreturn .attribute(.unified(%d, 2)) { .reg .b32 %%r<3>; .reg .pred p, q, s; L: ld.global.u32 %%r1, [own]; @p bra L; ret; }
.visible .entry k%d () .maxntid 32, 1, 1 .minnctapersm 1 .maxnreg 64 {
	.reg .b64 %%rd<4>; .param .b32 p; .param .align 4 .b8 b[8]; .param .b32 r;
	mov.u64 %%rd1, same; mov.u64 %%rd2, table; mov.u64 %%rd3, limit; ld.global.u32 p0, [own];
	st.param.b32 [p], 1; call same, (p); call (r), helper, (b); ret;
}
`, 4<<i, 8<<i, i, i+1, i)})
		list[i].Text = bytes.Replace(list[i].Text, []byte("ld.global.u32 p0, [own];"), nil, 1)
	}
	list[0].Text = append(list[0].Text, ".visible .global .align 4 .b8 aligned[4];\n"...)
	return list
}

// contents returns a hash of all that v leads to, with the room behind each list. What
// is computed once for all links does not count.
func contents(v any) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && !seen[v.Pointer()] {
				seen[v.Pointer()] = true
				walk(v.Elem())
			}
		case reflect.Struct:
			if v.Type().PkgPath() == "sync" {
				return
			}
			for i := range v.NumField() {
				switch name := v.Type().Field(i).Name; {
				case v.Type().String() == "diag.Source" && name != "Text":
				default:
					walk(v.Field(i))
				}
			}
		case reflect.Slice:
			fmt.Fprint(&h, v.Len(), v.Cap())
			v = v.Slice(0, v.Cap())
			fallthrough
		case reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
				h.Write(v.Bytes())
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			sum := uint64(0)
			for iter := v.MapRange(); iter.Next(); {
				sum += contents(iter.Key()) ^ 3*contents(iter.Value())
			}
			fmt.Fprint(&h, sum)
		case reflect.Interface, reflect.Func, reflect.Chan:
		default:
			fmt.Fprint(&h, v)
		}
	}
	if value, ok := v.(reflect.Value); ok {
		walk(value)
	} else {
		walk(reflect.ValueOf(v))
	}
	return h.Sum64()
}

var seed = maphash.MakeSeed()
