package oracles

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Accesses compiles a module with ptxas -c and returns what the code of each function
// accesses: its symbols with their offsets, the offsets of its loads and stores, and the
// constants that it adds or passes, all sorted. Registers and the order of instructions do not
// count. Text that means the same gives the same lists.
func Accesses(ptxas, nvdisasm, gpu string, text []byte) (map[string][]string, error) {
	dir, err := os.MkdirTemp("", "accesses")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, cubin := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, text, 0o666); err != nil {
		return nil, err
	}
	if output, err := exec.Command(ptxas, "-c", "-arch="+gpu, in, "-o", cubin).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ptxas -c: %w\n%s", err, output)
	}
	code, err := exec.Command(nvdisasm, cubin).Output()
	if err != nil {
		return nil, fmt.Errorf("nvdisasm: %w", err)
	}
	return accesses(code), nil
}

var (
	instruction = regexp.MustCompile(`^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?PT?\d* )?U?([A-Z0-9]+)(.*);`)
	local       = regexp.MustCompile(`^\$__(.*)__\d+$`) // what ptxas calls an object of a function
	symbol      = regexp.MustCompile(`\(?\(([A-Za-z_$%][\w$%]*)(?: \+ (-?0x[0-9a-f]+))?\)`)
	offset      = regexp.MustCompile(`\[[^\]]*\]`)
	register    = regexp.MustCompile(`\bU?R(Z|\d+)(\.\w+)?\+?`)
	added       = regexp.MustCompile(`, (-?0x[0-9a-f]+)`)
)

// accesses reads the output of nvdisasm.
func accesses(code []byte) map[string][]string {
	list := map[string][]string{}
	function := ""
	for line := range bytes.Lines(code) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), ".text."); ok && strings.HasSuffix(name, ":") {
			function = strings.TrimSuffix(name, ":")
			list[function] = []string{}
			continue
		}
		m := instruction.FindStringSubmatch(string(line))
		if m == nil || function == "" {
			continue
		}
		opcode, operands := m[1], m[2]
		for _, s := range symbol.FindAllStringSubmatch(operands, -1) {
			name := s[1]
			if private := local.FindStringSubmatch(name); private != nil {
				name = private[1]
			}
			list[function] = append(list[function], name+"+"+s[2])
		}
		switch {
		case strings.HasPrefix(opcode, "LD"), strings.HasPrefix(opcode, "ST"), strings.HasPrefix(opcode, "ATOM"), strings.HasPrefix(opcode, "RED"):
			if at := offset.FindString(operands); at != "" && !strings.Contains(at, "(") {
				list[function] = append(list[function], opcode+" "+register.ReplaceAllString(at, ""))
			}
		case opcode == "HFMA2": // .MMA, to load constants
			list[function] = append(list[function], register.ReplaceAllString(operands, ""))
		case opcode == "IADD3", opcode == "LEA", opcode == "MOV", opcode == "IMAD":
			for _, n := range added.FindAllStringSubmatch(operands, -1) {
				list[function] = append(list[function], opcode+" "+n[1])
			}
		}
	}
	for _, l := range list {
		slices.Sort(l)
	}
	return list
}

// SameAccesses returns the functions of a module that access something else in a module
// linked from it, with both lists. renamed maps names of the output to those of the
// input. It is an error if the two have no function in common.
func SameAccesses(in, out map[string][]string, renamed map[string]string) (different []string, err error) {
	back := map[string][]string{}
	for name, list := range out {
		list = slices.Clone(list)
		for i, access := range list {
			if symbol, rest, ok := strings.Cut(access, "+"); ok && renamed[symbol] != "" {
				list[i] = renamed[symbol] + "+" + rest
			}
		}
		slices.Sort(list)
		if renamed[name] != "" {
			name = renamed[name]
		}
		back[name] = list
	}
	compared := 0
	for name, want := range in {
		got, ok := back[name]
		if !ok {
			continue
		}
		compared++
		if !slices.Equal(want, got) {
			different = append(different, fmt.Sprintf("%s\n\tin the input:  %s\n\tin the output: %s", name, strings.Join(want, ", "), strings.Join(got, ", ")))
		}
	}
	if compared == 0 {
		return nil, fmt.Errorf("no function of the input is in the output")
	}
	slices.Sort(different)
	return different, nil
}
