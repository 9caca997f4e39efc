// Package machine reads the machine code of cubins with cuobjdump, and runs the
// commands that are measured.
package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ptxlink/internal/oracles"
)

// A Kernel is what a launch of it needs.
type Kernel struct{ Registers, Stack int } // Stack in bytes; -1 if unknown, with recursion

// Code describes the functions of a cubin.
type Code struct {
	Instructions, Calls int // without NOP
	Local               int // LDL and STL
	Generic             int // LD, ST and ATOM
	Kernels             map[string]Kernel
}

var (
	instruction = regexp.MustCompile(`(?m)^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_.]*)`)
	// Only kernels have parameters in constant bank 0.
	usage = regexp.MustCompile(`Function (\S+):\s+REG:(\d+) STACK:(\d+|\w+).* CONSTANT\[0\]`)
)

// Inspect disassembles a cubin.
func Inspect(cuobjdump, cubin string) (c Code, err error) {
	sass, err := exec.Command(cuobjdump, "-sass", cubin).Output()
	if err != nil {
		return c, err
	}
	for _, m := range instruction.FindAllSubmatch(sass, -1) {
		op, _, _ := strings.Cut(string(m[1]), ".")
		switch op {
		case "NOP":
			continue
		case "CALL":
			c.Calls++
		case "LDL", "STL":
			c.Local++
		case "LD", "ST", "ATOM":
			c.Generic++
		}
		c.Instructions++
	}
	used, err := exec.Command(cuobjdump, "-res-usage", cubin).CombinedOutput()
	if err != nil {
		return c, err
	}
	c.Kernels = map[string]Kernel{}
	for _, m := range usage.FindAllStringSubmatch(string(used), -1) {
		var k Kernel
		k.Registers, _ = strconv.Atoi(m[2])
		if k.Stack, err = strconv.Atoi(m[3]); err != nil {
			k.Stack = -1
		}
		c.Kernels[m[1]] = k
	}
	if c.Instructions == 0 {
		return c, fmt.Errorf("cuobjdump -sass %s lists no instructions", cubin)
	}
	return c, nil
}

// Contents is what the host and the debugger find in a cubin.
type Contents struct {
	Entries []string
	Objects []string // variables with linkage: section, name, bytes, digest of the data
	Locals  []string // those without; no numbers that the linker appended to the name
	Text    int      // bytes of machine code
}

var number = regexp.MustCompile(`(\$\d+)+$`)

// Read reads the symbol table of a cubin.
func Read(path string) (c Contents, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	f, err := oracles.ParseCubin(data)
	if err != nil {
		return c, err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return c, err
	}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".text.") {
			c.Text += int(s.Size)
		}
	}
	for _, s := range symbols {
		kind := elf.ST_TYPE(s.Info)
		switch {
		case int(s.Section) >= len(f.Sections) || s.Section == elf.SHN_UNDEF:
		case kind == elf.STT_FUNC && s.Other&0x10 != 0: // STO_CUDA_ENTRY
			c.Entries = append(c.Entries, s.Name)
		case (kind == elf.STT_OBJECT || kind == oracles.CudaObject) && !strings.HasPrefix(s.Name, ".nv"):
			in := f.Sections[s.Section]
			var contents []byte
			if in.Name != ".nv.global" && in.Type == elf.SHT_PROGBITS && s.Value+s.Size <= in.FileSize {
				contents = data[in.Offset+s.Value:][:s.Size]
			}
			digest := "zero"
			if len(bytes.Trim(contents, "\x00")) > 0 {
				digest = fmt.Sprintf("%.4x", sha256.Sum256(contents))
			}
			list, name := &c.Objects, s.Name
			if elf.ST_BIND(s.Info) == elf.STB_LOCAL {
				list, name = &c.Locals, number.ReplaceAllString(s.Name, "")
			}
			*list = append(*list, fmt.Sprintf("%s %s %d %s", strings.TrimSuffix(in.Name, ".init"), name, s.Size, digest))
		}
	}
	slices.Sort(c.Entries)
	slices.Sort(c.Objects)
	slices.Sort(c.Locals)
	return c, nil
}

// Check ends the program if there is an error.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Tools finds tools that fetch.sh --compilers fetches, with a suffix for their release.
func Tools(suffix string, names ...string) map[string]string {
	tools := map[string]string{}
	for _, name := range names {
		path, ok := oracles.Find(name + suffix)
		if !ok {
			log.Fatalf("%s%s is missing; internal/oracles/fetch.sh --compilers fetches it", name, suffix)
		}
		tools[name] = path
	}
	return tools
}

// WritePage writes a page to a file, or to standard output if the name is empty.
func WritePage(file, text string) {
	if file == "" {
		fmt.Print(text)
		return
	}
	Check(os.WriteFile(file, []byte(text), 0o666))
}

// Must is Run for a command that always succeeds and takes any time.
func Must(dir, tool string, args ...string) (said []byte, cpu time.Duration) {
	said, cpu, err := Run(dir, nil, 0, tool, args...)
	if err != nil {
		log.Fatalf("%s: %v", dir, err)
	}
	return said, cpu
}

// Run runs a command in a directory and returns its output, and the CPU time of it and
// its children. It ends a command that takes longer than limit, unless limit is 0.
func Run(dir string, env []string, limit time.Duration, tool string, args ...string) (said []byte, cpu time.Duration, err error) {
	ctx := context.Background()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	said, err = cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return said, limit, ctx.Err()
	case err != nil:
		return said, 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	return said, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
