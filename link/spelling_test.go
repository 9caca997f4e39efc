package link_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"ptxlink/link"
	"ptxlink/link/diag"
)

// TestSpelling checks that links at the same time name options in their own ways, and
// leave out advice that names an option which the program does not take.
func TestSpelling(t *testing.T) {
	upper := func(option string) (string, bool) { return "/" + strings.ToUpper(strings.TrimLeft(option, "-")), true }
	none := func(string) (string, bool) { return "", false }
	module := top + ".extern .func f ();\n.visible .entry k () { call f; ret; }\n"
	var group errgroup.Group
	for range 50 {
		for _, test := range []struct {
			spelling diag.Spelling
			want     string
		}{
			{nil, "add the module that defines it, or pass Options.AllowUndefined to leave it open"},
			{upper, "add the module that defines it, or pass /ALLOW-UNDEFINED=f to leave it open"},
			{none, "add the module that defines it"},
		} {
			group.Go(func() error {
				_, err := link.Link(t.Context(), link.Options{Inputs: texts(module), Spelling: test.spelling})
				var m *link.Message
				if !errors.As(err, &m) || m.Help != test.want {
					t.Errorf("%v: %+v, want %s", err, m, test.want)
				}
				return nil
			})
		}
	}
	group.Wait()
}
