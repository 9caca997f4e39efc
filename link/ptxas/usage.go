package ptxas

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/link/report"
	"ptxlink/object/container"
)

// Usage is the resources of the GPU that a kernel or function needs. The figures come from the
// cubin, so they include nvlink's changes, and entries of the cache have them too. Only the figures
// in Spills come from ptxas -v.
type Usage = report.Usage

// Spills are the spills of a kernel or function.
type Spills = report.Spills

// GPU returns usages for the map of a link, the largest first.
func (b Build) GPU(arch string, usages []Usage) report.GPU {
	usages = slices.Clone(usages)
	for i := range usages {
		usages[i].Demangled = b.Spelling.Unmangled(usages[i].Name)
	}
	slices.SortStableFunc(usages, func(a, b Usage) int { return cmp.Compare(b.Code, a.Code) })
	return report.GPU{Arch: arch, Usages: usages}
}

// Usages returns the usage of all functions of a cubin, kernels first, by name.
func Usages(cubin []byte) ([]Usage, error) {
	symbols, err := container.Cubin{Data: cubin}.AllSymbols()
	if err != nil {
		return nil, err
	}
	var list []Usage
	for _, s := range symbols {
		if s.Function && s.Defined && !s.Alias {
			list = append(list, Usage{Name: s.Name, Kernel: s.Entry, Code: s.Size, Stack: s.Stack, Registers: s.Registers, Shared: s.Shared, Constant: s.Constant})
		}
	}
	slices.SortFunc(list, func(a, b Usage) int {
		if a.Kernel != b.Kernel {
			return map[bool]int{true: -1, false: 1}[a.Kernel]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list, nil
}

// Only ptxas -v prints the numbers of spills. Its messages have these forms:
//
//	ptxas info    : 0 bytes gmem
//	ptxas info    : Compiling entry function 'k' for 'sm_80'
//	ptxas info    : Function properties for k
//	    192 bytes stack frame, 192 bytes spill stores, 192 bytes spill loads
//	ptxas info    : Used 32 registers, 360 bytes cmem[0]
//	ptxas info    : Overriding maximum register limit 256 for 'k' with  32 of maxrregcount option
//	ptxas info    : Compile time = 17.529 ms
var (
	properties = sets.Regexp(`^ptxas info *: Function properties for (\S+)\s*$`)
	spilled    = sets.Regexp(`^ +\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\s*$`)
	talk       = sets.Regexp(`^ptxas info *: (\d+ bytes [gc]mem|Compiling entry function |Used \d+ registers|Overriding maximum register limit |Compile time = )`)
)

// readSpills removes the messages of ptxas -v from the output of ptxas, and returns the spills of
// each function. If a function was copied into several kernels, its largest numbers count.
func readSpills(said string) (rest string, list map[string]Spills) {
	list = map[string]Spills{}
	var b strings.Builder
	name := ""
	for line := range strings.Lines(said) {
		if found := properties().FindStringSubmatch(line); found != nil {
			name = found[1]
			continue
		}
		if found := spilled().FindStringSubmatch(line); found != nil && name != "" {
			stores, _ := strconv.ParseInt(found[1], 10, 64)
			loads, _ := strconv.ParseInt(found[2], 10, 64)
			s := list[name]
			list[name] = Spills{Stores: max(s.Stores, stores), Loads: max(s.Loads, loads)}
			name = ""
			continue
		}
		if name = ""; !talk().MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String(), list
}
