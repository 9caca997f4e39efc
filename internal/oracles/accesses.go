package oracles

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Accesses compiles a module with ptxas -c and returns what the code of each function
// accesses: its symbols with their offsets, the offsets of its loads and stores, and the
// constants that it adds or passes, all sorted. Registers and the order of instructions do not
// count. Text that means the same gives the same lists. Tests ask again for the same text, and
// nvdisasm takes a quarter of a second, so the lists are kept. They must not be changed.
func Accesses(ptxas, nvdisasm, gpu string, text []byte) (map[string][]string, error) {
	read := func() (map[string][]string, error) { return compileAndRead(ptxas, nvdisasm, gpu, text) }
	kept, _ := accessed.LoadOrStore([...]string{ptxas, nvdisasm, gpu, string(text)}, sync.OnceValues(read))
	return kept.(func() (map[string][]string, error))()
}

// accessed has what Accesses returns, by its arguments.
var accessed sync.Map

func compileAndRead(ptxas, nvdisasm, gpu string, text []byte) (map[string][]string, error) {
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
	scaled      = regexp.MustCompile(`R\d+\.X(\d+)`) // [R6.X8+x]
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
		for _, n := range scaled.FindAllStringSubmatch(operands, -1) {
			list[function] = append(list[function], "* "+n[1])
		}
		switch {
		case strings.HasPrefix(opcode, "LD"), strings.HasPrefix(opcode, "ST"), strings.HasPrefix(opcode, "ATOM"), strings.HasPrefix(opcode, "RED"):
			if at := offset.FindString(operands); at != "" && !strings.Contains(at, "(") {
				list[function] = append(list[function], opcode+" "+register.ReplaceAllString(at, ""))
			}
		case opcode == "HFMA2": // .MMA, to load constants
			if constants := register.ReplaceAllString(operands, ""); strings.ContainsAny(constants, "123456789") {
				list[function] = append(list[function], constants)
			}
		case opcode == "IADD3", opcode == "MOV", opcode == "IMAD", opcode == "LEA", opcode == "SHF":
			for _, n := range added.FindAllStringSubmatch(operands, -1) {
				if c := constant(opcode+operands, n[1]); c != "* 1" {
					list[function] = append(list[function], c)
				}
			}
		}
	}
	for _, l := range list {
		slices.Sort(l)
	}
	return list
}

// constant returns what an instruction does with a constant. There are several ways to
// multiply.
func constant(instruction, n string) string {
	value, err := strconv.ParseInt(n, 0, 64)
	switch {
	case err != nil || strings.HasPrefix(instruction, "IADD3"):
		return "+ " + n
	case strings.HasPrefix(instruction, "MOV"), strings.HasPrefix(instruction, "IMAD.MOV"):
		return "= " + n
	case !strings.HasPrefix(instruction, "IMAD"): // a shift
		value = 1 << uint(value&63)
	}
	return "* " + strconv.FormatInt(value, 10)
}

// SameAccesses returns the functions of a module that access something else in a module
// linked from it, with both lists. renamed maps names of the output to those of the
// input. compared is the number of functions that both modules have.
func SameAccesses(in, out map[string][]string, renamed map[string]string) (different []string, compared int) {
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
	slices.Sort(different)
	return different, compared
}
