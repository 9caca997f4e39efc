package link_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/ptxas"
)

// TestErrorsUnwrap checks that errors.Is finds the error behind a message.
func TestErrorsUnwrap(t *testing.T) {
	_, err := link.Link(context.Background(), link.Options{Inputs: append(texts("not ptx"), link.Input{Path: "/does/not/exist.ptx"})})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v is fs.ErrPermission", err)
	}
	var m *link.Message
	if !errors.As(err, &m) || !strings.HasPrefix(m.Text, "no .version directive") {
		t.Errorf("the first message is %v", m)
	}
}

// TestBadPattern checks that an invalid pattern is refused, as on the command line.
func TestBadPattern(t *testing.T) {
	_, err := link.Link(context.Background(), link.Options{Inputs: texts(top), AllowUndefined: []string{"f*", "[a"}})
	if !errors.Is(err, path.ErrBadPattern) || !strings.Contains(err.Error(), `"[a"`) {
		t.Errorf("%v", err)
	}
}

// TestNamelessInputs checks that messages distinguish inputs in memory.
func TestNamelessInputs(t *testing.T) {
	inputs := texts(top, "not ptx", "nor this")
	inputs[1].Name, inputs[2].Name = "", ""
	_, err := link.Link(context.Background(), link.Options{Inputs: inputs})
	if err == nil || !strings.Contains(err.Error(), "<input 2>:1:1: error: ") || !strings.Contains(err.Error(), "\n<input 3>:1:1: error: ") {
		t.Errorf("%v", err)
	}
}

// TestUnreadableInput checks that an input with only a Name, which is not opened, is said to lack a Path.
func TestUnreadableInput(t *testing.T) {
	_, err := link.Link(context.Background(), link.Options{Inputs: []link.Input{{Name: "a.ptx"}}})
	if err == nil || !strings.Contains(err.Error(), "a.ptx: error: cannot read: it has no Path, Text or Reader") {
		t.Errorf("%v", err)
	}
}

// TestEmbedding links and assembles with the public API only.
func TestEmbedding(t *testing.T) {
	r := mustLink(t, link.Options{Inputs: texts(top + ".visible .entry k () {\n\tfrob;\n}\n")})
	_, err := ptxas.Build{Options: ptxas.Options{Path: oracles.Require(t, "ptxas"), Arch: "sm_75"}}.Cubin(context.Background(), r)
	if !errors.Is(err, ptxas.ErrRejected) || len(r.Messages) == 0 {
		t.Fatalf("%v, %v", r.Messages, err)
	}
	var first *link.Message = r.Messages[0]
	if file, line, _ := first.Place.Position(); file != "a.ptx" || line != 5 {
		t.Errorf("%s: %s", first.Place, first.Text)
	}
}
