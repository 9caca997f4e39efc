package main

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/ptxsim"
)

// realPrograms returns the directories below dir that have files *.ptx. The modules of one
// directory are a program.
func realPrograms(dir string) ([]string, error) {
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".ptx") {
			found[filepath.Dir(path)] = true
		}
		return err
	})
	return slices.Sorted(maps.Keys(found)), err
}

// real compares a program that compilers made of the source of others. Its kernels run with
// arguments that are made up; those that no such arguments suit are left out. A program that does not link
// without options is a fault.
func (sum *totals) real(dir string, assembles bool, out string) ([]fault, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil {
		return nil, err
	}
	var units []unit
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		units = append(units, unit{filepath.Base(path), text})
	}
	if _, _, err := variants[0].link(units); err != nil {
		return []fault{{variants[0].name, err.Error()}}, nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	var launches []launcher
	entries, err := entriesOf(units)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries[:min(len(entries), realKernels)] {
		for style := range styles {
			launch := madeUp(entry, style)
			if o, err := run(units, launch, realSteps); err == nil && o.err == nil && len(o.stores) > 0 {
				launches = append(launches, launch)
				break
			}
		}
	}
	sum.Lock()
	sum.entries += len(entries)
	sum.kernels += len(launches)
	sum.Unlock()
	faults, err := sum.compare(units, func(m *ptxsim.Machine) error {
		for _, launch := range launches {
			if err := launch(m); err != nil {
				return err
			}
		}
		return nil
	}, variants, assembles, out)
	return slices.DeleteFunc(faults, func(f fault) bool { return strings.HasPrefix(f.text, "message: ") }), err
}

// realSteps limits the instructions of a kernel, whose loops may go on for long, and realKernels
// the kernels of a program: a library of templates has hundreds.
const realSteps, realKernels = 3e5, 30

// entriesOf returns the names of the kernels.
func entriesOf(units []unit) ([]string, error) {
	modules, err := parse(units)
	if err != nil {
		return nil, err
	}
	m, err := ptxsim.New(ptxsim.Options{}, modules...)
	if err != nil {
		return nil, err
	}
	return m.Entries(), nil
}

// styles are ways of making up arguments: whether numbers are large, what parameters of 8 bytes
// and structs hold, and the elements of buffers.
const styles = 2 * 2 * 3

// madeUp launches a kernel with two warps. Integers are small, also as indices, and pointers
// point to buffers of their own.
func madeUp(entry string, style int) launcher {
	return func(m *ptxsim.Machine) error {
		element, pointers, number := style%3, style/3%2 == 0, [...]uint32{33, 2}[style/6]
		buffer := func(name string) *ptxsim.Object {
			data := make([]byte, 1<<14)
			for i := 0; i < len(data); i += 4 {
				v := uint32(0)
				switch element {
				case 1:
					v = uint32(i / 4 % 3)
				case 2:
					v = math.Float32bits(float32(i/4%7) + 0.5)
				}
				binary.LittleEndian.PutUint32(data[i:], v)
			}
			return m.Alloc(name, data, 256)
		}
		var args []any
		for i, size := range m.Params(entry) {
			name := fmt.Sprintf("%s_%d", entry, i)
			if size%8 != 0 {
				data := make([]byte, size)
				for at := 0; at+4 <= len(data); at += 4 {
					binary.LittleEndian.PutUint32(data[at:], number)
				}
				args = append(args, data)
				continue
			}
			data := make([]byte, 0, size)
			for at := range size / 8 {
				word := uint64(number)
				if pointers {
					word = buffer(fmt.Sprint(name, "_", at)).Address()
				}
				data = binary.LittleEndian.AppendUint64(data, word)
			}
			args = append(args, data)
		}
		return m.Launch(entry, ptxsim.Grid{Blocks: [3]int{2}, Threads: [3]int{32, 2}, Shared: 1 << 13}, args...)
	}
}
