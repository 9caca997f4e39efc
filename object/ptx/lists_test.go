package ptx

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestListsHaveNoRoom checks that an append to a list of a module copies it.
func TestListsHaveNoRoom(t *testing.T) {
	thrice := func(text string) string {
		return strings.NewReplacer("#", "0").Replace(text) + strings.ReplaceAll(text, "#", "1") + strings.ReplaceAll(text, "#", "2")
	}
	texts := map[string]string{"all lists": ".version 9.0\n.target sm_75, debug, texmode_unified\n.address_size 64\n" +
		thrice(".file # \"#.cu\"\n.pragma \"#\";\n.visible .func f# (.param .b32 a, .param .b32 b, .param .b32 c#);\n.alias f#, g;\n.newdirective x#;\n.global .u32 s$#;\n") +
		".global .u32 array[4];\n.visible .func g (.param .b32 a, .param .b32 b, .param .b32 c) .noreturn .noinline .maxntid 1\n{\n.reg .u64 r; .reg .u32 x;\n" +
		thrice("P#: .callprototype (.param .b32 y) _ (.param .b32 z#);\n.reg .b32 q$#, z#<4>, v$#<2>; T#: .calltargets f<2>;\nmov.u32 x, array[1]; L#:\n") + "ret; }\n" +
		".section .debug_str { " + thrice("l#: .b8 1\n.b64 q#\n.b32 l#-l0\n") + "}\n" + // read by readBlock
		thrice(".section .debug_x# { "+thrice("k%#: .b64 p%\n, 4\n")+"}\n")}
	paths, _ := filepath.Glob("../../testdata/ptx/*/*.ptx")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	for name, text := range texts {
		m, fault := Parse(&Source{Name: name, Text: []byte(text)})
		if fault != nil {
			t.Errorf("%s: %s", name, fault.Text)
			continue
		}
		checkLists(t, name, reflect.ValueOf(*m))
		if list := m.SectionNames(); cap(list) > len(list) {
			t.Errorf("%s: SectionNames has room", name)
		}
	}
}

// checkLists checks the exported lists of a value.
func checkLists(t *testing.T, at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*Source]() {
			checkLists(t, at, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				checkLists(t, at+"."+field.Name, v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Cap() > v.Len() {
			t.Errorf("%s has %d elements and room for %d", at, v.Len(), v.Cap())
		}
		for i := range v.Len() {
			checkLists(t, at, v.Index(i))
		}
	}
}
