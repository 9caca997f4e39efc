package ptxas

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"ptxlink/internal/oracles"
	"ptxlink/link"
)

// TestSpaces links variables of every state space on every way to a cubin, and compares
// kernels, variables and sections with the cubin that nvlink makes of the inputs.
func TestSpaces(t *testing.T) {
	inputs := []string{"testdata/spaces_a.ptx", "testdata/spaces_b.ptx"}
	for _, suffix := range []string{"", "-new"} {
		t.Run("ptxas"+suffix, func(t *testing.T) {
			t.Parallel()
			ptxas, nvlink := oracles.Require(t, "ptxas"+suffix), oracles.Require(t, "nvlink"+suffix)
			archs := []string{"sm_80", "sm_90"}
			want := map[string]memory{}
			for _, arch := range archs {
				want[arch] = readMemory(t, linkSeparately(t, ptxas, nvlink, arch, inputs))
			}
			for _, level := range []int{0, 2} {
				o := link.Options{Optimize: link.Optimize{Level: level}}
				for _, path := range inputs {
					o.Inputs = append(o.Inputs, link.Input{Path: path})
				}
				linked, err := link.Link(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				b := Build{Nvlink: nvlink}
				b.Path = ptxas
				for _, way := range []struct {
					name  string
					mode  Mode
					parts int
				}{{"whole", Whole, 0}, {"separate", Separate, 1}, {"2 parts", Separate, 2}, {"parts", Separate, 0}, {"auto", Auto, 0}, {"-c", Auto, 0}} {
					name := fmt.Sprintf("-O%d, %s", level, way.name)
					b.Mode, b.Parts, b.Compile = way.mode, way.parts, way.name == "-c"
					b.Cache = &Cache{Dir: t.TempDir()}
					targets := []Target{{Arch: "sm_80", Result: linked}, {Arch: "sm_90", Result: linked}}
					if testing.Short() || level > 0 || suffix != "" {
						targets = targets[:1]
					}
					cold, messages, err := b.AssembleAll(t.Context(), targets)
					if err != nil || len(messages) > 0 {
						t.Errorf("%s: %v %v", name, err, messages)
						continue
					}
					if b.Compile {
						for i, target := range targets {
							cold[i].Cubin = runNvlink(t, nvlink, target.Arch, [][]byte{cold[i].Cubin})
						}
					} else if warm, _, err := b.AssembleAll(t.Context(), targets); err != nil || b.Cache.Hits == 0 || !bytes.Equal(warm[0].Cubin, cold[0].Cubin) {
						t.Errorf("%s: with a warm cache: %v, %d hits", name, err, b.Cache.Hits)
					}
					for i, target := range targets {
						got := readMemory(t, cold[i].Cubin)
						// The separate functions give a kernel the shared memory of all that
						// share a function with it: shared_16 and shared_16k for shared_32.
						const other, more = ".nv.shared.other", 16 + 16384 - 32
						if got.Sections[other]+more == want[target.Arch].Sections[other] {
							got.Sections[other] += more
						}
						if d := cmp.Diff(want[target.Arch], got); d != "" {
							t.Errorf("%s, %s: nvlink, ptxlink: %s", name, target.Arch, d)
						}
					}
				}
			}
		})
	}
}

// linkSeparately returns the cubin that nvcc would make.
func linkSeparately(t *testing.T, ptxas, nvlink, arch string, inputs []string) []byte {
	t.Helper()
	var cubins [][]byte
	for _, path := range inputs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		outputs, messages, err := Build{Options: Options{Path: ptxas, Compile: true}}.AssembleAll(t.Context(), []Target{{Arch: arch, Result: &link.Result{PTX: text}}})
		if err != nil {
			t.Fatal(err, messages)
		}
		cubins = append(cubins, outputs[0].Cubin)
	}
	return runNvlink(t, nvlink, arch, cubins)
}

func runNvlink(t *testing.T, nvlink, arch string, cubins [][]byte) []byte {
	t.Helper()
	dir := t.TempDir()
	args := []string{"-arch=" + arch, "-o", filepath.Join(dir, "out.cubin")}
	for i, cubin := range cubins {
		name := filepath.Join(dir, fmt.Sprint(i, ".cubin"))
		if err := os.WriteFile(name, cubin, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	if said, err := exec.Command(nvlink, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	cubin, err := os.ReadFile(filepath.Join(dir, "out.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	return cubin
}

// memory is what a finished cubin has in memory.
type memory struct {
	Sections map[string]uint64   // sizes of those of variables and parameters
	Symbols  map[string][]string // of kernels and variables: binding, section and the bytes that are not zero
}

// renamedLocal matches what ptxlink adds to the second local of a name.
var renamedLocal = regexp.MustCompile(`\$\d+$`)

func readMemory(t *testing.T, cubin []byte) memory {
	t.Helper()
	m := memory{map[string]uint64{}, map[string][]string{}}
	f := oracles.OpenCubin(t, cubin)
	for _, s := range f.Sections {
		for _, prefix := range []string{".nv.global", ".nv.shared.", ".nv.constant0.", ".nv.constant3", ".nv.local"} {
			if strings.HasPrefix(s.Name, prefix) && !strings.Contains(s.Name, "reserved") {
				m.Sections[s.Name] = s.Size
			}
		}
	}
	for _, s := range oracles.Symbols(t, cubin) {
		kernel := elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Other&0x10 != 0
		if !kernel && elf.ST_TYPE(s.Info) != elf.STT_OBJECT && elf.ST_TYPE(s.Info) < elf.STT_LOOS || strings.HasPrefix(s.Name, ".nv") {
			continue
		}
		what := fmt.Sprint(elf.ST_BIND(s.Info), " other ", s.Other)
		if section := int(s.Section); section > 0 && section < len(f.Sections) && !kernel {
			what += fmt.Sprint(" ", f.Sections[section].Name, " ", s.Size)
			if f.Sections[section].Type != elf.SHT_NOBITS {
				data, err := f.Sections[section].Data()
				if err != nil || s.Value+s.Size > uint64(len(data)) {
					t.Fatalf("%s: %v", s.Name, err)
				}
				what += fmt.Sprintf(" % x", bytes.TrimRight(data[s.Value:s.Value+s.Size], "\x00"))
			}
		}
		name := renamedLocal.ReplaceAllString(s.Name, "")
		m.Symbols[name] = append(m.Symbols[name], what)
	}
	for name := range maps.Keys(m.Symbols) {
		slices.Sort(m.Symbols[name])
	}
	return m
}
