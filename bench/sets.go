//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ptxlink/bench/gen"
	"ptxlink/internal/oracles"
)

// programM has the density of symbols of nvcc's output: 177 functions of 3 KB and 216
// calls between modules.
var programM = gen.Program{Modules: 100, Functions: 177, Externs: 216, Size: 550_000}

type maker struct {
	name  string
	title string
	make  func(b *bench, s *set) error
}

// makers are in the order of the tables. A maker returns no set if a tool is missing.
var makers = []maker{
	{"tiny", "a kernel and the function that it calls", (*bench).tiny},
	{"M", "100 modules of 550 KB", (*bench).m},
	{"L", "1000 modules of 560 KB", modules(gen.Program{Modules: 1000, Functions: 177, Externs: 216, Size: 560_000})},
	{"modules", "1000 modules of 55 KB", modules(gen.Program{Modules: 1000, Functions: 17, Externs: 20, Size: 55_000})},
	{"symbols", "145,000 small functions in 100 modules", modules(gen.Program{Modules: 100, Functions: 1450, Externs: 700})},
	{"markers", "M with the comments that nvptx-none-ld reads", (*bench).markers},
	{"archive", "an archive of 5000 modules, 1 % of them needed", (*bench).archive},
	{"gcc", "gcc's libraries for PTX, every third function needed", (*bench).gcc},
	{"cubins", "modules of M, for nvlink assembled by ptxas", (*bench).assembled},
	{"nvcc-G", "modules of `nvcc -G`", debugSet("nvcc", "-rdc=true", "-arch=compute_80", "-G", "-ptx")},
	{"clang-g", "modules of `clang -g`", debugSet("clang", "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
		"-fgpu-rdc", "-g", "-S", "-D__device__=__attribute__((device))", "-D__global__=__attribute__((global))")},
}

// routes are the sets of make route, which only their names select.
var routes = []maker{
	{"shared", "16 kernels that call one function of 800 instructions", (*bench).sharedRoute},
	{"few", "4 modules of 1000 instructions that call only their own functions", apartRoute(4)},
	{"apart", "32 such modules", apartRoute(32)},
	{"large", "60 modules of nvcc's style that call each other", (*bench).largeRoute},
}

// errMissing is returned by makers of sets that need a tool that is not there.
var errMissing = errors.New("left out; internal/oracles/fetch.sh --compilers fetches what it needs")

func (b *bench) makeSets(names string) error {
	wanted := map[string]bool{}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' || r == ' ' }) {
		wanted[name] = true
	}
	all := len(wanted) == 0
	for i, m := range slices.Concat(makers, routes) {
		if !wanted[m.name] && !(all && i < len(makers)) {
			continue
		}
		delete(wanted, m.name)
		s := &set{name: m.name, title: m.title, repeat: 1, dir: filepath.Join(b.dir, m.name)}
		if err := os.MkdirAll(s.dir, 0o777); err != nil {
			return err
		}
		start := time.Now()
		if err := m.make(b, s); errors.Is(err, errMissing) {
			log.Printf("%s: %v", m.name, err)
			continue
		} else if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		b.sets = append(b.sets, s)
		log.Printf("%s: %s, %s, made in %.1f s", s.name, s.title, bytesOf(s.bytes), time.Since(start).Seconds())
	}
	for name := range wanted {
		return fmt.Errorf("no set %q", name)
	}
	return nil
}

func (s *set) add(name string, args ...string) {
	s.commands = append(s.commands, &command{name: name, args: args})
}

// addLinkers adds cat, the floor of any linker, and ptxlink.
func (b *bench) addLinkers(s *set, inputs ...string) {
	s.add("cat", append([]string{"cat"}, inputs...)...)
	s.commands[len(s.commands)-1].toStdout = true
	b.addPtxlink(s, "ptxlink", append([]string{"-j2"}, inputs...)...)
	b.addPtxlink(s, "ptxlink -j1", append([]string{"-j1"}, inputs...)...)
}

func (b *bench) addPtxlink(s *set, name string, args ...string) {
	// cat and the other linkers keep everything.
	s.add(name, append([]string{b.binary, "--no-gc-sections", "-o", out}, args...)...)
}

func addMarkerLinker(s *set, args ...string) {
	if tool, ok := oracles.Find("nvptx-none-ld"); ok {
		s.add("nvptx-none-ld", append([]string{tool, "-o", out}, args...)...)
	}
}

func (s *set) write(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	err = write(f)
	if info, errStat := f.Stat(); errStat == nil {
		s.bytes += info.Size()
	}
	return errors.Join(err, f.Close())
}

func (s *set) writeText(name, text string) error {
	return s.write(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// writeModules writes the modules of p and returns their names.
func (s *set) writeModules(p gen.Program) (names []string, err error) {
	for i := range p.Modules {
		name := fmt.Sprintf("m%04d.ptx", i)
		if err := s.write(name, func(w io.Writer) error { return p.Write(w, i) }); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// tiny compares with a Go program that does nothing.
func (b *bench) tiny(s *set) error {
	s.repeat = 20
	var inputs []string
	for i, text := range gen.Tiny {
		inputs = append(inputs, fmt.Sprintf("m%d.ptx", i))
		if err := s.writeText(inputs[i], text); err != nil {
			return err
		}
	}
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666); err != nil {
		return err
	}
	empty, err := b.install("empty", source)
	if err != nil {
		return err
	}
	s.add("empty Go program", empty)
	b.addPtxlink(s, "ptxlink", inputs...)
	s.add("ptxlink --version", b.binary, "--version")
	untagged, err := b.install("ptxlink-untagged", "./cmd/ptxlink")
	if err != nil {
		return err
	}
	s.add("ptxlink, go install", append([]string{untagged, "--no-gc-sections", "-o", out}, inputs...)...)
	addMarkerLinker(s, inputs...)
	return b.addNvlink(s, inputs)
}

func (b *bench) m(s *set) error {
	inputs, err := s.writeModules(programM)
	if err != nil {
		return err
	}
	b.addLinkers(s, inputs...)
	b.addPtxlink(s, "ptxlink -r", append([]string{"-j2", "-r"}, inputs...)...)
	return nil
}

// modules makes a set of the modules of a program.
func modules(p gen.Program) func(b *bench, s *set) error {
	return func(b *bench, s *set) error {
		inputs, err := s.writeModules(p)
		b.addLinkers(s, inputs...)
		return err
	}
}

func (b *bench) markers(s *set) error {
	p := programM
	p.Markers = true
	inputs, err := s.writeModules(p)
	b.addLinkers(s, inputs...)
	addMarkerLinker(s, inputs...)
	return err
}

// archive links a kernel that needs five chains of ten members.
func (b *bench) archive(s *set) error {
	p := gen.Program{Modules: 5000, Functions: 1, Size: 10_000, Chain: 10, Markers: true}
	err := errors.Join(
		s.write("kernel.ptx", func(w io.Writer) error { return p.Kernel(w, p.Modules/5) }),
		s.write("libplain.a", func(w io.Writer) error { return writeArchive(w, p) }))
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(s.dir, name) }
	if err := b.run(b.binary, "ar", at("libindex.a"), at("libplain.a")); err != nil {
		return err
	}
	if err := b.run(b.binary, "ar", "--compress", at("libpacked.a"), at("libplain.a")); err != nil {
		return err
	}
	s.add("cat", "cat", "kernel.ptx", "libplain.a")
	s.commands[0].toStdout = true
	b.addPtxlink(s, "ptxlink, no index", "-j2", "kernel.ptx", "libplain.a")
	b.addPtxlink(s, "ptxlink, index", "-j2", "kernel.ptx", "libindex.a")
	b.addPtxlink(s, "ptxlink, zstd", "-j2", "kernel.ptx", "libpacked.a")
	addMarkerLinker(s, "kernel.ptx", "-L.", "-lplain")
	return nil
}

// writeArchive writes the archive as GNU ar does for PTX: without an index.
func writeArchive(out io.Writer, p gen.Program) error {
	w := bufio.NewWriter(out)
	w.WriteString("!<arch>\n")
	var text bytes.Buffer
	for i := range p.Modules {
		text.Reset()
		if err := p.Write(&text, i); err != nil {
			return err
		}
		fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", fmt.Sprintf("m%05d.o/", i), 0, 0, 0, "644", text.Len(), text.Bytes())
		if text.Len()%2 != 0 {
			w.WriteByte('\n')
		}
	}
	return w.Flush()
}

// gcc links every third function of the libraries. nvptx-none-ld reads symbols from
// comments, so that a comment defines what the libraries lack.
func (b *bench) gcc(s *set) error {
	dir := filepath.Join(oracles.Dir(), "gcc-nvptx")
	var paths []string
	defined, used := map[string]bool{}, map[string]bool{}
	for _, library := range []string{"m", "c", "gfortran", "gcc"} {
		path := filepath.Join(dir, "lib"+library+".a")
		f, err := os.Open(path)
		if err != nil {
			return errMissing
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			s.bytes += info.Size()
		}
		paths = append(paths, path)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if kind, name, ok := strings.Cut(lines.Text(), ": "); ok && strings.HasPrefix(kind, "// BEGIN GLOBAL ") {
				if strings.HasSuffix(kind, "DEF") {
					defined[name] = true
				} else {
					used[name] = true
				}
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
	}
	main := "// BEGIN PREAMBLE\n.version 6.0\n.target sm_30\n.address_size 64\n// END PREAMBLE\n\n"
	options := []string{"--allow-undefined=*"}
	for i, name := range slices.Sorted(maps.Keys(defined)) {
		if i%3 == 0 {
			main += "// BEGIN GLOBAL FUNCTION DECL: " + name + "\n"
			options = append(options, "-u", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !defined[name] {
			main += "// BEGIN GLOBAL FUNCTION DEF: " + name + "\n"
		}
	}
	main += "\n// BEGIN GLOBAL FUNCTION DEF: main\n.visible .func main () { ret; }\n"
	err := s.writeText("main.ptx", main)
	b.addLinkers(s, append([]string{"main.ptx"}, paths...)...)
	for _, c := range s.commands[1:] {
		c.args = append(c.args, options...)
	}
	addMarkerLinker(s, "main.ptx", "-L"+dir, "-lm", "-lc", "-lgfortran", "-lgcc")
	return err
}

// assembled compares with nvlink, which reads cubins of the same modules.
func (b *bench) assembled(s *set) error {
	p := programM
	p.Modules = b.cubins
	inputs, err := s.writeModules(p)
	if err != nil {
		return err
	}
	b.addLinkers(s, inputs...)
	b.addPtxlink(s, "ptxlink -O1", append([]string{"-j2", "-O1"}, inputs...)...)
	// As users call it: what no kernel needs goes first.
	for _, level := range []string{"-O0", "-O1", "-O2"} {
		s.add("ptxlink "+level+", what kernels need", append([]string{b.binary, "-o", out, "-j2", level}, inputs...)...)
	}
	return b.addNvlink(s, inputs)
}

func (b *bench) addNvlink(s *set, inputs []string) error {
	ptxas, ok := oracles.Find("ptxas")
	nvlink, found := oracles.Find("nvlink")
	if !ok || !found {
		return nil
	}
	args := []string{nvlink, "-arch=sm_80", "-o", out}
	jobs := b.jobs()
	for _, input := range inputs {
		cubin := strings.TrimSuffix(input, ".ptx") + ".cubin"
		args = append(args, cubin)
		jobs.Go(func() error {
			return b.run(ptxas, "-c", "-arch=sm_80", filepath.Join(s.dir, input), "-o", filepath.Join(s.dir, cubin))
		})
	}
	s.add("nvlink", args...)
	return jobs.Wait()
}

// jobs returns a group that runs two commands at a time.
func (b *bench) jobs() *errgroup.Group {
	g := &errgroup.Group{}
	g.SetLimit(2)
	return g
}
