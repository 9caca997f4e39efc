package link

import (
	"bytes"

	"ptxlink/link/emit"
)

// LineMap maps lines of the output to the input lines they came from.
type LineMap = emit.LineMap

// Origins returns where all lines of PTX come from, for programs that cannot call Origin: names
// of modules, and for each line two numbers. The first is the index of its module in the
// names, or -1 if the linker wrote it; the second is the line there, from 1.
func (r *Result) Origins() (modules []string, lines []int) {
	index := map[string]int{}
	for line := range bytes.Count(r.PTX, []byte("\n")) {
		place, ok := r.Lines.Origin(line + 1)
		if !ok {
			lines = append(lines, -1, 0)
			continue
		}
		name, at, _ := place.Position()
		i, known := index[name]
		if !known {
			i = len(modules)
			index[name], modules = i, append(modules, name)
		}
		lines = append(lines, i, at)
	}
	return modules, lines
}
