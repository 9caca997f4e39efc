package object

import (
	"fmt"
	"slices"
	"testing"

	"ptxlink/object/container"
)

// TestAlternatives: one member of each fatbin is chosen, and every member that is in none.
func TestAlternatives(t *testing.T) {
	members := []container.Member{
		{Target: "sm_70", Group: 1}, {Target: "sm_80", Group: 1},
		{Target: "sm_70", Group: 2}, {Target: "sm_90", Group: 2}, // of a neighbouring fatbin
		{Target: "sm_80"}, {Target: "sm_80"},
		{Target: "sm_90", Group: 3},
	}
	for arch, want := range map[string][]string{
		"":      {"2:1", "2:1", "1:0", "1:0", "1:0"},
		"sm_80": {"2:1", "2:0", "1:0", "1:0", "1:-1"},
	} {
		var got []string
		alternatives(members, arch, func(group []container.Member, best int) {
			got = append(got, fmt.Sprintf("%d:%d", len(group), best))
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", arch, got, want)
		}
	}
}
