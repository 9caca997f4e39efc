package program

import (
	"bytes"
	"io"

	"ptxlink/internal/parallel"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Size returns the number of bytes of the output.
func (p *Program) Size() int { return p.size }

// Kernels returns the number of kernels in the output.
func (p *Program) Kernels() (n int) {
	for i := range p.Bodies {
		if _, decl, _ := p.Function(i); decl.Kind == ptx.Entry {
			n++
		}
	}
	return n
}

// BodySize returns the number of bytes of body i in the output, without its header.
func (p *Program) BodySize(i int) int64 {
	_, decl, _ := p.Function(i)
	return p.bodies[i].SizeOf(decl.Body)
}

// Text returns the output, and where its lines come from.
func (p *Program) Text() ([]byte, *ptx.LineMap) {
	out := bytes.NewBuffer(make([]byte, 0, p.size)) // a Buffer returns no errors
	pieces := p.all()
	pieces.Write(out)
	return out.Bytes(), pieces.Map(out.Bytes(), p.numbers.Place)
}

// Write writes the output without building it in memory. After the pieces of an input it calls done
// with that input; other pieces of it may follow later. Unless Options.Jobs is 1, it calls w.Write
// in another goroutine, one call at a time.
func (p *Program) Write(w io.Writer, done func(src *diag.Source)) (err error) {
	out := newOutput(w, parallel.Jobs(p.options.Jobs, p.size < block))
	defer func() { err = out.close() }() // also if a text can no longer be read
	var last *diag.Source
	for section := range p.each {
		for i := range section {
			if last != nil && section[i].Src != last {
				done(last)
			}
			section[i].Write(out)
			last = section[i].Src
		}
	}
	if last != nil {
		done(last)
	}
	return nil
}

// block is the number of bytes that are written at a time.
const block = 1 << 18

// output collects text in blocks, and writes a block once it is full.
type output struct {
	filling []byte
	// write takes a block and returns an empty one.
	write func(text []byte) (empty []byte)
	// end waits until everything is written, and returns the first error.
	end func() error
}

// newOutput returns an output to w. With two goroutines it is faster, because one writes a block
// while the caller fills the next.
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

func (o *output) close() error {
	o.write(o.filling)
	return o.end()
}
