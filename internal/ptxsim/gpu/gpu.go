// Package gpu writes down what the interpreter found, so that a machine with a GPU can do the same and
// compare: run/gpu.c reads the file. make gpu does both; on a machine without Go, compile and run gpu.c there.
package gpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"

	"ptxlink/internal/ptxsim"
)

// Variant is a module, or modules that the driver links, that do what the modules of a machine did.
type Variant struct {
	Name    string
	Modules [][]byte
}

// Write writes the launches of a machine, and the contents of its buffers and of the
// objects in .global that compare selects after them. Where an address is, the GPU may have another.
func Write(w io.Writer, name string, m *ptxsim.Machine, compare func(*ptxsim.Object) bool, variants []Variant) error {
	var b bytes.Buffer
	block := func(data []byte) {
		b.Write(data)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "program %s\n", name)
	number := map[*ptxsim.Object]int{}
	for _, o := range m.Objects {
		if o.First != nil {
			number[o] = len(number)
			fmt.Fprintf(&b, "buffer %d\n", len(o.First))
			block(o.First)
		}
	}
	for _, l := range m.Launches {
		fmt.Fprintf(&b, "launch %s", l.Entry)
		for _, n := range slices.Concat(l.Grid.Blocks[:], l.Grid.Threads[:]) {
			fmt.Fprintf(&b, " %d", max(1, n))
		}
		fmt.Fprintf(&b, " %d %d\n", l.Grid.Shared, len(l.Args))
		for _, a := range l.Args {
			if len(a) == 8 {
				if k, ok := number[m.ObjectAt(binary.LittleEndian.Uint64(a))]; ok {
					fmt.Fprintf(&b, "pointer %d\n", k)
					continue
				}
			}
			fmt.Fprintf(&b, "value %d\n", len(a))
			block(a)
		}
	}
	for _, o := range m.Objects {
		if o.First != nil {
			fmt.Fprintf(&b, "left %d %d\n", number[o], len(o.Data))
		} else if o.Space == ".global" && compare(o) {
			fmt.Fprintf(&b, "global %s %d\n", o.Name, len(o.Data))
		} else {
			continue
		}
		block(o.Data)
		addresses := make([]byte, len(o.Data)) // 1: not compared
		for at := 0; at+8 <= len(addresses); at += 8 {
			addr := binary.LittleEndian.Uint64(o.Data[at:])
			if _, ok := m.FunctionAt(addr); addr>>56 != 0 && (ok || m.ObjectAt(addr) != nil) {
				copy(addresses[at:], "\x01\x01\x01\x01\x01\x01\x01\x01")
			}
		}
		block(addresses)
	}
	for _, v := range variants {
		fmt.Fprintf(&b, "variant %d %s\n", len(v.Modules), v.Name)
		for _, text := range v.Modules {
			text = newVersion.ReplaceAll(text, []byte(".version 9.0"))
			fmt.Fprintf(&b, "module %d\n", len(text))
			block(text)
		}
	}
	b.WriteString("end\n")
	_, err := w.Write(b.Bytes())
	return err
}

// newVersion matches versions that a driver may not know. The modules need nothing of them.
var newVersion = regexp.MustCompile(`(?m)^\.version 9\.\d+`)
