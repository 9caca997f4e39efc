package program

import (
	"bytes"
	"errors"
	"testing"
)

// TestOutput writes texts that end before, at and behind the ends of blocks, with one
// goroutine and with two.
func TestOutput(t *testing.T) {
	texts := [][]byte{nil, []byte("a"), bytes.Repeat([]byte("b"), block-1), bytes.Repeat([]byte("c"), block), bytes.Repeat([]byte("d"), 3*block+5), []byte("e")}
	want := bytes.Join(texts, nil)
	for _, goroutines := range []int{0, 1, 2} {
		var got bytes.Buffer
		out := newOutput(&got, goroutines)
		for i, text := range texts {
			if i%2 == 0 {
				out.Write(text)
			} else {
				out.WriteString(string(text))
			}
		}
		if err := out.close(); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d goroutines: %d bytes, want %d; error %v", goroutines, got.Len(), len(want), err)
		}

		full := &fullDevice{room: 2}
		out = newOutput(full, goroutines)
		out.Write(want)
		if err := out.close(); !errors.Is(err, errFull) || full.writes != 3 {
			t.Errorf("%d goroutines: error %v after %d writes", goroutines, err, full.writes)
		}
	}
}

var errFull = errors.New("no space left")

// fullDevice has room for a number of writes.
type fullDevice struct{ room, writes int }

func (d *fullDevice) Write(text []byte) (int, error) {
	if d.writes++; d.writes > d.room {
		return 0, errFull
	}
	return len(text), nil
}
