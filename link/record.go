package link

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"ptxlink/internal/parallel"
	"ptxlink/object"
)

// record is the comment at the start of the output that describes its inputs. Their
// digests take a while, and nothing else waits for them.
type record struct {
	start string // without the digests
	files []*object.File
	size  int // bytes of text
	jobs  int

	once   sync.Once
	result string
}

const recordDigest, recordEnd = "\n   input=", " */\n"

// record sets the record of the output. fatbinary 12.4 blanks the first line of a
// module, so that line has no information; the rest survives and is read back.
func (pl *planner) record(r *record) {
	h, host := pl.checked.header, pl.checked.host
	r.files, r.jobs = pl.table.Files, pl.options.Jobs
	r.start = "// Linked by ptxlink\n" + object.MetaMark + " address_size=" + itoa(int64(h.addressSize))
	for _, field := range [][2]string{{"os", host.OS}, {"arch", host.Arch}, {"model", host.Model}} {
		if field[1] != "" {
			r.start += " " + field[0] + "=" + field[1]
		}
	}
	r.size = len(r.start) + len(recordEnd)
	read := 0
	for _, f := range r.files {
		r.size += f.DigestCount() * (len(recordDigest) + object.DigestLength)
		read += len(f.Src.Text)
	}
	if r.jobs <= 0 {
		r.jobs = runtime.GOMAXPROCS(0)
	}
	if read < 1<<20 {
		r.jobs = 1 // starting goroutines would take longer
	}
}

// text returns the record. The first call computes the digests.
func (r *record) text() string {
	r.once.Do(func() {
		if r.jobs > 2 { // one is busy writing
			parallel.Each(context.Background(), len(r.files), r.jobs-1, func(i int) string { return "hashing " + r.files[i].Name }, func(i int) { r.files[i].Digests() })
		}
		var b strings.Builder
		b.Grow(r.size)
		b.WriteString(r.start)
		for _, f := range r.files {
			for _, d := range f.Digests() {
				b.WriteString(recordDigest)
				b.WriteString(d)
			}
		}
		b.WriteString(recordEnd)
		r.result = b.String()
	})
	if len(r.result) != r.size {
		panic("the record of the inputs is incomplete")
	}
	return r.result
}

// meanwhile computes the record while the rest of the output is written.
func (r *record) meanwhile(write func()) {
	if r.jobs == 1 {
		write()
		return
	}
	fault := make(chan any, 1)
	go func() {
		defer func() { fault <- recover() }()
		debug.SetPanicOnFault(true) // of memory whose file became shorter
		r.text()
	}()
	write()
	if r := <-fault; r != nil {
		panic(r)
	}
}
