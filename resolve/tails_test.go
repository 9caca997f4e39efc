package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/object/ptx"
)

// TestTails finds names among the locals of a function: one that ends as no other does,
// several that end alike, and more than far in one place of the table. A table of earlier
// names is filled again.
func TestTails(t *testing.T) {
	var near []string // in a table of 128 slots
	for i := 0; len(near) < 2*far; i++ {
		if name := fmt.Sprintf("near%d", i); ptx.Tail([]byte(name))%128 < 2 {
			near = append(near, name)
		}
	}
	table := new(tailTable)
	for _, names := range [][]string{
		{"a", "b_value_of_x", "c_value_of_x", "d_value_of_x", "value_of_x", "e"},
		near,
		{"c_value_of_x"},
		{},
		{"near0", "a"},
	} {
		others := []string{"f", "g_value_of_x", "aa", near[0] + "0"}
		text := ".func k(){"
		for _, name := range slices.Concat(names, others) {
			text += ".local .b8 " + name + "[1];"
		}
		f := opened(t, text+"ret;}")[0]
		table.fill(names, func(name []byte) int32 { return int32(slices.Index(names, string(name))) })
		var found []string
		table.eachLocal(f, func(_, n int32, l ptx.LocalName) {
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
