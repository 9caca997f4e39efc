package room

import (
	"errors"
	"runtime"
	"testing"
)

func TestFor(t *testing.T) {
	for _, size := range []int64{0, 1000, 10 << 20} {
		if err := For(size); err != nil {
			t.Error(err)
		}
	}
	if err := For(1 << 62); !errors.Is(err, ErrNone) {
		t.Errorf("%v, want %v", err, ErrNone)
	}
	if err := For(1 << 45); runtime.GOOS == "linux" && !errors.Is(err, ErrNone) {
		t.Errorf("32 TB: %v, want %v", err, ErrNone)
	}
}
