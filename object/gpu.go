package object

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// GPU is an architecture: sm_90a is {90, 'a'}.
type GPU struct {
	Number int
	Suffix byte // 'a', 'f' or 0
}

// ParseGPU reads sm_90a or compute_90a. It returns false for other words.
func ParseGPU(name string) (g GPU, ok bool) {
	if !IsArch(name) {
		return g, false
	}
	digits := ArchNumber(name)
	if n := len(digits); n > 0 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		g.Suffix, digits = digits[n-1], digits[:n-1]
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	g.Number = int(number)
	return g, err == nil
}

// IsArch reports whether a word of .target or an option is meant as an architecture.
func IsArch(word string) bool { return strings.HasPrefix(word, "sm_") || IsVirtual(word) }

// IsVirtual reports whether an architecture is one of PTX alone: compute_90a.
func IsVirtual(arch string) bool { return strings.HasPrefix(arch, "compute_") }

// ArchNumber returns the number of an architecture with its suffix: "90a" for sm_90a and compute_90a.
func ArchNumber(arch string) string { return arch[strings.IndexByte(arch, '_')+1:] }

// RealArch returns the GPU of a virtual architecture, sm_90a for compute_90a, and other words unchanged.
func RealArch(arch string) string {
	if IsVirtual(arch) {
		return "sm_" + ArchNumber(arch)
	}
	return arch
}

var (
	gpuName   = sets.Regexp(`^(sm|compute)_[1-9][0-9]{1,2}[af]?$`)
	gpuDigits = sets.Regexp(`([0-9])[._-]?([0-9]{0,2})([aAfF]?)$`)
)

// CheckArch returns a *Message if arch is not valid as the Arch of options. The empty
// string is valid.
func CheckArch(arch string, spelling diag.Spelling) error {
	if arch == "" || gpuName().MatchString(arch) {
		return nil
	}
	// The message suggests sm_80 for sm_8, 80, sm80, sm-80, SM_80 and 8.0.
	suggestion := ""
	if part := gpuDigits().FindStringSubmatch(arch); part != nil && part[1] != "0" && !strings.Contains(arch, ",") {
		kind := "sm"
		if strings.HasPrefix(strings.ToLower(arch), "c") {
			kind = "compute"
		}
		suggestion = fmt.Sprintf(" (did you mean %s_%s%s%s?)", kind, part[1], cmp.Or(part[2], "0"), strings.ToLower(part[3]))
	}
	help := spelling.Option("--arch") + " wants a name such as sm_80 or sm_90a"
	if strings.Contains(arch, ",") && spelling.Options != nil {
		help += "; it may be given several times"
	}
	return diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q is not the name of a GPU%s", arch, suggestion)).WithHelp(help)
}

// String returns "sm_90a".
func (g GPU) String() string {
	return "sm_" + strconv.Itoa(g.Number) + strings.TrimRight(string([]byte{g.Suffix}), "\x00")
}

// Family returns the number of a family: the architectures that run each other's f targets
// (PTX ISA, table of family-specific targets).
func (g GPU) Family() int { return g.Renamed().Number / 10 }

// Renamed returns the architecture under the name of CUDA 13, which calls sm_101 sm_110.
func (g GPU) Renamed() GPU {
	if g.Number == 101 {
		g.Number = 110
	}
	return g
}

// Runs reports whether PTX for a target can be assembled for the GPU:
//
//  1. an `a` target only for exactly that GPU
//  2. an `f` target for GPUs of its family, from its number up
//  3. another target for all GPUs from its number up
func (g GPU) Runs(target GPU) bool {
	g, target = g.Renamed(), target.Renamed()
	switch target.Suffix {
	case 'a':
		return g == target
	case 'f':
		return g.Number >= target.Number && g.Family() == target.Family()
	}
	return g.Number >= target.Number
}

// RunsCubin reports whether a cubin for a target runs on the GPU, which must have the same major
// number and must not be older.
func (g GPU) RunsCubin(target GPU) bool { return g.Runs(target) && g.Number/10 == target.Number/10 }

// EmptyModule returns a module without symbols that every ptxas which knows the GPU accepts.
func EmptyModule(gpu GPU) []byte {
	// No lower target would do, because ptxas 13 knows none older than sm_75.
	return fmt.Appendf(nil, "//\n.version 6.3\n.target sm_%d\n.address_size 64\n", min(gpu.Number, 75))
}
