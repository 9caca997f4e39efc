package resolve

import (
	"slices"
	"strings"
	"testing"

	"ptxlink/object/ptx"
)

// TestTails finds names among the locals of functions: one that ends as no other does, and
// several that end alike.
func TestTails(t *testing.T) {
	for _, names := range [][]string{
		{"a", "b_value_of_x", "c_value_of_x", "d_value_of_x", "value_of_x", "e"},
		{"c_value_of_x"},
		{},
		{"near0", "a"},
	} {
		others := []string{"f", "g_value_of_x", "aa", "near00"}
		text := ".func k(){"
		for _, name := range slices.Concat(names, others) {
			text += ".local .b8 " + name + "[1];"
		}
		f := opened(t, text+"ret;}")[0]
		find := func(name []byte) int32 { return int32(slices.Index(names, string(name))) }
		var found []string
		eachLocal(f, tailsOf(names), find, func(_, n int32, l ptx.LocalName) {
			if name := f.Src.String(f.LocalSpan(l)); name == names[n] {
				found = append(found, name)
			} else {
				t.Errorf("%s is found as %s", name, names[n])
			}
		})
		if !slices.Equal(found, names) {
			t.Errorf("%s found among %s", strings.Join(found, " "), strings.Join(names, " "))
		}
	}
}
