package catch

import (
	"errors"
	"io/fs"
	"testing"
)

func TestAs(t *testing.T) {
	fault := &fs.PathError{Path: "x"}
	if got := As[*fs.PathError](func() { panic(fault) }); got != fault {
		t.Errorf("%v, want %v", got, fault)
	}
	if got := As[*fs.PathError](func() {}); got != nil {
		t.Errorf("%v without a panic", got)
	}
	other := errors.New("another one")
	got := As[any](func() { As[*fs.PathError](func() { panic(other) }) })
	if got != other {
		t.Errorf("%v goes on, want %v", got, other)
	}
}
