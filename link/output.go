package link

import "io"

// block is the number of bytes that are written at a time.
const block = 1 << 18

// output collects text in blocks, and writes the full ones.
type output struct {
	filling []byte
	// write takes a block and returns an empty one.
	write func(text []byte) (empty []byte)
	// end waits until everything is written, and returns the first error.
	end func() error
}

// newOutput returns an output to w. With two goroutines, one writes a block while the caller
// fills the next.
func newOutput(w io.Writer, goroutines int) *output {
	var first error
	write := func(text []byte) []byte {
		if first == nil {
			_, first = w.Write(text)
		}
		return text[:0]
	}
	o := &output{filling: make([]byte, 0, block), write: write, end: func() error { return first }}
	if goroutines == 1 {
		return o
	}
	full, empty, done := make(chan []byte), make(chan []byte, 2), make(chan bool)
	empty <- make([]byte, 0, block)
	go func() {
		for text := range full {
			empty <- write(text)
		}
		close(done)
	}()
	o.write = func(text []byte) []byte {
		full <- text
		return <-empty
	}
	o.end = func() error {
		close(full)
		<-done
		return first
	}
	return o
}

// Write adds text. It gives no errors.
func (o *output) Write(text []byte) (int, error) { return add(o, text) }

// WriteString adds text. It gives no errors.
func (o *output) WriteString(text string) (int, error) { return add(o, text) }

func add[T string | []byte](o *output, text T) (int, error) {
	all := len(text)
	for len(text) > 0 {
		n := min(len(text), block-len(o.filling))
		o.filling = append(o.filling, text[:n]...)
		if text = text[n:]; len(o.filling) == block {
			o.filling = o.write(o.filling)
		}
	}
	return all, nil
}

// close writes the rest, and returns the first error.
func (o *output) close() error {
	o.write(o.filling)
	return o.end()
}
