package link_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// TestSpelling checks that links at the same time name options and symbols in their own ways, and
// leave out advice that names an option which the program does not take.
func TestSpelling(t *testing.T) {
	upper := func(option string) (string, bool) { return "/" + strings.ToUpper(strings.TrimLeft(option, "-")), true }
	none := func(string) (string, bool) { return "", false }
	module := top + ".extern .func _Z1fi ();\n.visible .entry k () { call _Z1fi; ret; }\n"
	const plain = "undefined symbol: f(int) (_Z1fi), used in k"
	var group errgroup.Group
	for range 50 {
		for _, test := range []struct {
			spelling   diag.Spelling
			text, want string
		}{
			{diag.Spelling{}, plain, "add the module that defines it, or pass Options.AllowUndefined to leave it open"},
			{diag.Spelling{Options: upper}, plain, "add the module that defines it, or pass /ALLOW-UNDEFINED=_Z1fi to leave it open"},
			{diag.Spelling{Options: none, Mangled: true}, "undefined symbol: _Z1fi, used in k", "add the module that defines it"},
		} {
			group.Go(func() error {
				_, err := link.Link(t.Context(), link.Options{Inputs: texts(module), Spelling: test.spelling})
				var m *link.Message
				if !errors.As(err, &m) || m.Text != test.text || m.Help != test.want {
					t.Errorf("%v: %+v, want %s; %s", err, m, test.text, test.want)
				}
				return nil
			})
		}
	}
	group.Wait()
}
