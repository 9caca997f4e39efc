package link

import (
	"context"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"

	"ptxlink/internal/parallel"
	"ptxlink/object"
)

// record is the comment at the start of the output that describes its inputs. Their
// digests take a while, and nothing else waits for them.
type record struct {
	files []*object.File
	size  int // bytes of text
	jobs  int

	once  sync.Once
	bytes []byte // with room for the digests
}

const recordDigest, recordEnd = "\n   input=", " */\n"

// record sets the record of the output. fatbinary 12.4 blanks the first line of a
// module, so that line has no information; the rest survives and is read back.
func (pl *planner) record(r *record) {
	h, host := pl.checked.header, pl.checked.host
	r.files, r.jobs = pl.table.Files, pl.options.Jobs
	b := make([]byte, 0, 256+len(r.files)*(len(recordDigest)+object.DigestLength))
	b = append(b, "// Linked by ptxlink\n"+object.MetaMark+" address_size="...)
	b = strconv.AppendInt(b, int64(h.addressSize), 10)
	for _, field := range [][2]string{{"os", host.OS}, {"arch", host.Arch}, {"model", host.Model}} {
		if field[1] != "" {
			b = append(b, " "+field[0]+"="+field[1]...)
		}
	}
	r.bytes, r.size = b, len(b)+len(recordEnd)
	read := 0
	for _, f := range r.files {
		r.size += f.DigestCount() * (len(recordDigest) + object.DigestLength)
		read += len(f.Src.Text)
	}
	if r.jobs = parallel.Jobs(r.jobs, read < 1<<20); r.jobs <= 0 {
		r.jobs = runtime.GOMAXPROCS(0)
	}
}

// text returns the record. The first call computes the digests.
func (r *record) text() []byte {
	r.once.Do(func() {
		if r.jobs > 2 { // one is busy writing
			parallel.Each(context.Background(), len(r.files), r.jobs-1, func(i int) string { return "hashing " + r.files[i].Name }, func(i int) { r.files[i].Digests() })
		}
		for _, f := range r.files {
			for _, d := range f.Digests() {
				r.bytes = append(append(r.bytes, recordDigest...), d...)
			}
		}
		r.bytes = append(r.bytes, recordEnd...)
	})
	if len(r.bytes) != r.size {
		panic("the record of the inputs is incomplete")
	}
	return r.bytes
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

// digestAhead starts to compute the digests in another thread, since the passes after it
// leave one idle now and then. The function that it returns stops that; the record
// computes the rest.
func digestAhead(files []*object.File, jobs int) (stop func()) {
	read := 0
	for _, f := range files {
		read += len(f.Src.Text)
	}
	if jobs == 1 || read < 1<<20 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }() // the text of a digest that is missing is read again
		debug.SetPanicOnFault(true)
		for _, f := range files {
			if ctx.Err() != nil {
				return
			}
			f.Digests()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
