package container

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestHostObjects(t *testing.T) {
	fb := fatbin(entry(1, 80, 0x11, 0x50, one))
	object := func(kind elf.Type, parts ...any) []byte {
		data := bytes.Clone(ldr(parts...))
		le.PutUint16(data[16:], uint16(kind))
		return data
	}
	code := object(elf.ET_REL, "__nv_relfatbin", fb, "__nv_module_id", []byte("_1_a_cu\x00\x00_2_b_cu\x00_3)\n\x00"))
	done := object(elf.ET_REL, ".nv_fatbin", fb, "__nv_module_id", []byte("def _1_a_cu\x00def _3_c_cu\x00"))
	closed := object(elf.ET_REL, ".nv_fatbin", fb, "__nv_module_id", []byte("__NV_MODULE_ID\x00"))
	later := object(elf.ET_REL, "__nv_laterfatbin", fb, "__nv_module_id", []byte("_1_a_cu\x00"))
	optimised := object(elf.ET_REL, ".nv_fatbin", fb)
	library := object(elf.ET_DYN, "__nv_relfatbin", fb)
	host := object(elf.ET_REL, ".text", []byte("code"))
	launches := func(external string) []byte {
		return object(elf.ET_REL, "__nv_relfatbin", fb, ".nvHRKI", []byte("in_*1k*\x00"), ".nvHRKE", []byte(external))
	}
	cubin := bytes.Clone(host)
	le.PutUint16(cubin[18:], machineCUDA)
	thin := []byte("!<thin>\n" + head("//", 8) + "sub/a.o/" + head("/0", len(code)))

	a := Object{Name: "f", Fatbin: pad(bytes.Clone(fb)), IDs: []string{"_1_a_cu", "_2_b_cu"}}
	named := func(name string) Object { a := a; a.Name = name; return a }
	launching := func(patterns ...string) []Object {
		return []Object{{Name: "f", Fatbin: a.Fatbin, Launched: patterns}}
	}
	linked := Object{Name: "f(d.o)", Linked: []string{"_1_a_cu", "_3_c_cu"}}
	for name, test := range map[string]struct {
		data  []byte
		want  []Object
		other bool
	}{
		"object":         {code, []Object{a}, false},
		"host object":    {host, []Object{{Name: "f"}}, false},
		"without -rdc":   {closed, []Object{{Name: "f", IDs: []string{"__NV_MODULE_ID"}, WholeProgram: true}}, false},
		"later section":  {later, []Object{{Name: "f", IDs: []string{"_1_a_cu"}, Lost: true}}, false},
		"optimised":      {optimised, []Object{{Name: "f", WholeProgram: true}}, false},
		"launching":      {launches("_Z1k*\x00\x00c\x00"), launching("in_*1k*", "_Z1k*", "c"), false},
		"odd name":       {launches("_Z1[k]*\x00"), launching(), false},
		"shared library": {library, nil, false},
		"archive":        {arMembers("a.o/", code, "h.o/", host, "d.o/", done, "readme/", []byte("hello")), []Object{named("f(a.o)"), {Name: "f(h.o)"}, linked}, false},
		"thin archive":   {thin, []Object{named("f(sub/a.o)")}, false},
		"empty archive":  {[]byte("!<arch>\n"), nil, false},
		"PTX":            {one, nil, true},
		"cubin":          {cubin, nil, true},
		"fatbin":         {fb, nil, true},
		"archive of PTX": {arMembers("a.ptx/", one), nil, true},
		"of cubins":      {arMembers("a.cubin/", cubin), nil, true},
	} {
		open := func(path string, _ int64) ([]byte, error) {
			if path != filepath.FromSlash("sub/a.o") {
				t.Errorf("%s: opens %s", name, path)
			}
			return code, nil
		}
		got, other, err := HostObjects("f", test.data, Options{Open: open})
		for i := range got {
			if targets := got[i].Targets(PTX); len(got[i].Codes) > 0 && !slices.Equal(targets, []string{"sm_80"}) {
				t.Errorf("%s: PTX for %v", name, targets)
			}
			got[i].Codes = nil
		}
		if err != nil || other != test.other || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v, %v", name, got, other, err)
		}
	}
	// ld -r of two objects.
	two := object(elf.ET_REL, "__nv_relfatbin", fb, "__nv_relfatbin", fb)
	got, _, err := HostObjects("f", two, Options{})
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	for _, code := range got {
		if members, err := Open("f", code.Fatbin, Options{}); err != nil || len(members) != 1 {
			t.Error(members, err)
		}
	}
	for _, bad := range [][]byte{append([]byte("\x01"), fb[1:]...), append(append([]byte{}, fb...), "garbage, and more of it"...)} {
		if _, _, err := HostObjects("f", object(elf.ET_REL, "__nv_relfatbin", bad), Options{}); err == nil || !strings.Contains(err.Error(), "no fatbin header") {
			t.Error(err)
		}
	}
	if _, _, err := HostObjects("f", code[:len(code)-1], Options{}); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Error(err)
	}
}

// ldr returns an ELF object of x86-64 with sections of these names and contents.
func ldr(parts ...any) []byte {
	names, body := "\x00", []byte(nil)
	headers := make([]byte, 64)
	section := func(name string, kind uint32, text []byte) {
		headers = append(headers, put(uint32(len(names)), kind, uint64(0), uint64(0), uint64(64+len(body)), uint64(len(text)), uint64(0), uint64(8), uint64(0))...)
		names += name + "\x00"
		body = append(body, pad(bytes.Clone(text))...)
	}
	for i := 0; i < len(parts); i += 2 {
		section(parts[i].(string), uint32(elf.SHT_PROGBITS), pad(bytes.Clone(parts[i+1].([]byte))))
	}
	section("", uint32(elf.SHT_STRTAB), []byte(names))
	count := uint16(len(headers) / 64)
	return put("\x7fELF\x02\x01\x01", [9]byte{}, uint16(elf.ET_REL), uint16(elf.EM_X86_64), uint32(1), uint64(0), uint64(0), uint64(64+len(body)),
		uint32(0), uint16(64), uint16(0), uint16(0), uint16(64), count, count-1, body, headers)
}

// hostObjectsBounded checks the limits of openBounded for HostObjects.
func hostObjectsBounded(t *testing.T, data []byte) {
	t.Helper()
	list, _, err := HostObjects("f", data, Options{MaxSize: fuzzLimit, Open: func(string, int64) ([]byte, error) { return data, nil }})
	if err != nil && (err.(*Error).Name == "" || err.(*Error).Text == "") {
		t.Errorf("%#v", err)
	}
	total := 0
	for _, code := range list {
		total += len(code.Fatbin)
		for _, id := range append(code.IDs, code.Linked...) {
			total += len(id)
		}
	}
	if total > len(data)+fuzzLimit {
		t.Errorf("%d bytes of device code in %d bytes", total, len(data))
	}
}

// What is damaged hides no symbols in front of it.
func TestHostSymbols(t *testing.T) {
	object, err := os.ReadFile("../../testdata/forms/clang/alpha.o")
	if err != nil {
		t.Fatal(err)
	}
	list := func(data []byte) (symbols []string) {
		HostSymbols("f", data, Options{}, func(object, symbol string) { symbols = append(symbols, object+" "+symbol) })
		return symbols
	}
	whole := list(object)
	if len(whole) == 0 || slices.Contains(whole, "f ") {
		t.Fatalf("%q", whole)
	}
	archive := "!<arch>\n" + head("a.o/", len(object)) + string(object) + strings.Repeat("\n", len(object)%2)
	var want []string
	for _, s := range whole {
		want = append(want, strings.Replace(s, "f ", "f(a.o) ", 1))
	}
	for _, rest := range []string{"", "no header", head("b.o/", 70) + string(object[:70])} {
		if got := list([]byte(archive + rest)); !slices.Equal(got, want) {
			t.Errorf("behind it %.20q: %q, want %q", rest, got, want)
		}
	}
	if got := list(object[:70]); got != nil {
		t.Errorf("a damaged object: %q", got)
	}
}
