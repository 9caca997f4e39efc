package parallel

import (
	"errors"
	"io/fs"
	"testing"
)

func TestCatch(t *testing.T) {
	fault := &fs.PathError{Path: "x"}
	if got := Catch[*fs.PathError](func() { panic(fault) }); got != fault {
		t.Errorf("%v, want %v", got, fault)
	}
	if got := Catch[*fs.PathError](func() {}); got != nil {
		t.Errorf("%v without a panic", got)
	}
	if got, err := CatchValue[*fs.PathError](func() int { return 1 }); got != 1 || err != nil {
		t.Errorf("%d and %v without a panic", got, err)
	}
	if got, err := CatchValue[*fs.PathError](func() int { panic(fault) }); got != 0 || err != fault {
		t.Errorf("%d and %v, want %v", got, err, fault)
	}
	other := errors.New("another one")
	got := Catch[any](func() { Catch[*fs.PathError](func() { panic(other) }) })
	if got != other {
		t.Errorf("%v goes on, want %v", got, other)
	}
}
