package ptxsim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

// builtins are the system calls that the interpreter provides.
var builtins = map[string]func(t *thread, c *call){
	"vprintf": (*thread).vprintf,
	"malloc":  (*thread).malloc,
	"free":    (*thread).free,
	// The arguments are the message, the file, the line, the function and the size of a character.
	"__assertfail": func(t *thread, c *call) { t.fail("assertion failed: %s", t.text(t.args(c, 5)[0])) },
}

// args returns the arguments of a call of a builtin, which takes n.
func (t *thread) args(c *call, n int) (v []uint64) {
	if len(c.args) != n {
		t.fail("call of %s with %d arguments", c.sym.name, len(c.args))
	}
	for i := range c.args {
		b := make([]byte, 8)
		size := c.args[i].size
		if size < 0 || size > 8 {
			size = 8
		}
		copy(b, t.bytesOf(&c.args[i], t.frame, size))
		v = append(v, load(b))
	}
	return v
}

// result sets the result of a builtin, if the call takes it.
func (t *thread) result(c *call, v uint64) {
	if len(c.results) == 0 {
		return
	}
	b := make([]byte, 8)
	store(b, v)
	if a := &c.results[0]; a.size >= 0 {
		t.put(a, t.frame, b[:a.size])
	}
}

// vprintf records a call. It returns the number of arguments.
func (t *thread) vprintf(c *call) {
	v := t.args(c, 2)
	p := Print{Launch: t.m.launch, Thread: t.number(), Format: t.text(v[0])}
	at := v[1]
	sizes := conversions(p.Format)
	for _, size := range sizes {
		n := uint64(max(size, -size))
		for at%n != 0 {
			at++
		}
		for uint64(len(p.Args))%n != 0 {
			p.Args = append(p.Args, 0)
		}
		b, _ := t.at(generic, at, int(n), false)
		if size < 0 {
			p.Strings = append(p.Strings, t.text(load(b)))
			b = make([]byte, n)
		}
		p.Args = append(p.Args, b...)
		at += n
	}
	t.m.Prints = append(t.m.Prints, p)
	t.result(c, uint64(len(sizes)))
}

// conversion matches a conversion of printf: its flags, width and length, and its letter.
var conversion = regexp.MustCompile(`%([0-9.+\-# *hljztL]*)([^0-9.+\-# *hljztL])`)

// conversions returns the sizes of the arguments of a format; -8 for %s.
func conversions(format string) (sizes []int) {
	for _, m := range conversion.FindAllStringSubmatch(format, -1) {
		for range strings.Count(m[1], "*") {
			sizes = append(sizes, 4)
		}
		switch letter := m[2]; {
		case letter == "%":
		case letter == "s":
			sizes = append(sizes, -8)
		case strings.Contains("pfFeEgGaA", letter), strings.ContainsAny(m[1], "ljzt"):
			sizes = append(sizes, 8)
		default:
			sizes = append(sizes, 4)
		}
	}
	return sizes
}

// malloc returns memory whose address depends on the thread and the number of its
// calls.
func (t *thread) malloc(c *call) {
	size := t.args(c, 1)[0]
	if size == 0 || size > 64<<20 {
		t.result(c, 0)
		return
	}
	t.heap++
	o := &Object{Name: fmt.Sprintf("malloc %d.%d.%d", t.m.launch, t.number(), t.heap), Space: "heap", Data: bytes.Repeat([]byte{t.m.opt.Fill}, int(size)), size: int64(size), align: 16}
	t.m.place(o)
	t.result(c, o.addr)
}

func (t *thread) free(c *call) {
	addr := t.args(c, 1)[0]
	if addr == 0 {
		return
	}
	o := t.m.objectAt(addr)
	if o == nil || o.Space != "heap" || o.addr != addr {
		t.fail("free of %s, which is not from malloc", t.describe(generic, addr))
	}
	o.freed = true
}

// bytesOf returns an argument of Launch in memory.
func bytesOf(arg any) []byte {
	switch v := arg.(type) {
	case *Object:
		return binary.LittleEndian.AppendUint64(nil, v.Address())
	case int:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	}
	b, err := binary.Append(nil, binary.LittleEndian, arg)
	if err != nil {
		panic(fmt.Sprintf("ptxsim: argument of type %T", arg))
	}
	return b
}
