package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/link/dlink"
	"ptxlink/link/pack"
	"ptxlink/link/report"
)

// TestJSONDocs checks that docs/json.md has the fields of each form, and marks those that may be
// missing.
func TestJSONDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for title, forms := range map[string][]any{
		"nm":      {listedFile{}},
		"info":    {report.Object{}, dlink.Description{}, unreadRow{}},
		"size":    {moduleSizes{}},
		"deps":    {dependencies{}},
		"extract": {pack.Extracted{}, unreadRow{}},
		"abi":     {abiReport{}},
		"The map": {report.Map{}},
	} {
		_, section, found := strings.Cut(string(text), "\n## "+title+"\n")
		if !found {
			t.Errorf("no section %s", title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		want := map[string]bool{}
		for _, form := range forms {
			jsonFields(reflect.TypeOf(form), want)
		}
		if title == "info" { // its symbols are those of nm
			for _, name := range []string{"align", "line", "declaration"} {
				delete(want, name)
			}
		}
		for name, optional := range want {
			if mentions := regexp.MustCompile("`"+name+"`( \\(o\\))?").FindAllStringSubmatch(section, -1); len(mentions) == 0 {
				t.Errorf("%s: %s is missing", title, name)
			} else if optional != slices.ContainsFunc(mentions, func(m []string) bool { return m[1] != "" }) {
				t.Errorf("%s: %s may be missing: %v", title, name, optional)
			}
		}
		for _, m := range regexp.MustCompile("`([a-zA-Z_0-9]+)` \\(o\\)").FindAllStringSubmatch(section, -1) {
			if !want[m[1]] {
				t.Errorf("%s: %s is not a field that may be missing", title, m[1])
			}
		}
	}
}

// jsonFields adds the fields of a type and of those in it; a value is true if it may be missing.
func jsonFields(of reflect.Type, list map[string]bool) {
	switch of.Kind() {
	case reflect.Slice, reflect.Pointer:
		jsonFields(of.Elem(), list)
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				list[name] = list[name] || option == "omitempty"
			}
			if f.Anonymous || name != "" {
				jsonFields(f.Type, list)
			}
			if f.Anonymous && f.Type.Kind() == reflect.Pointer { // its fields are missing together
				for i := range f.Type.Elem().NumField() {
					list[f.Type.Elem().Field(i).Tag.Get("json")] = true
				}
			}
		}
	}
}
