package ptxas

import (
	"testing"

	"ptxlink/link"
)

// TestChangesCode checks each option with which the cubins of the inputs are not what the
// link makes of their PTX.
func TestChangesCode(t *testing.T) {
	names := []string{"f"}
	for _, o := range []link.Options{
		{Undefined: names}, {RequireDefined: names}, {Entries: names}, {Exports: names}, {Localize: names}, {AllowUndefined: names},
		{Wrap: names}, {Define: []link.Definition{{Name: "f", Value: "g"}}}, {Weaken: names}, {LocalizeInputs: names},
		{Optimize: link.Optimize{Level: 1}}, {Optimize: link.Optimize{Fold: true}}, {Optimize: link.Optimize{Inline: names}},
		{KeepUnused: true}, {CollectVariables: true}, {StripDebug: true}, {WarnUndefined: true}, {AllowDuplicates: true}, {DedupeIdentical: true}, {Version: "8.0"},
	} {
		if !changesCode(o) {
			t.Errorf("%+v changes nothing", o)
		}
	}
	if changesCode(link.Options{Arch: "sm_80", Kernels: names}) {
		t.Error("a link without such options changes code")
	}
}
