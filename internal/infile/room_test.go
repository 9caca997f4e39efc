package infile

import (
	"errors"
	"runtime"
	"testing"
)

func TestRoom(t *testing.T) {
	for _, size := range []int64{0, 1000, 10 << 20} {
		if err := Room(size); err != nil {
			t.Error(err)
		}
	}
	if err := Room(1 << 62); !errors.Is(err, ErrNoRoom) {
		t.Errorf("%v, want %v", err, ErrNoRoom)
	}
	if err := Room(1 << 45); runtime.GOOS == "linux" && !errors.Is(err, ErrNoRoom) {
		t.Errorf("32 TB: %v, want %v", err, ErrNoRoom)
	}
}
