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
	"ptxlink/internal/parallel"
)

// programM has the density of symbols of nvcc's output: 177 functions of 3 KB and 216
// calls between modules.
var programM = gen.Program{Modules: 100, Functions: 177, Externs: 216, Size: 550_000}

type maker struct {
	name  string
	title string
	make  func(s *set)
}

// makers are in the order of the tables.
var makers = []maker{
	{"tiny", "a kernel and the function that it calls", (*set).tiny},
	{"M", "100 modules of 550 KB", func(s *set) {
		inputs := s.link(programM)
		s.addPtxlink("ptxlink -r", append([]string{"-j2", "-r"}, inputs...)...)
		s.addNeeded("ptxlink", append([]string{"-j2"}, inputs...)...)
	}},
	{"L", "1000 modules of 560 KB", modules(gen.Program{Modules: 1000, Functions: 177, Externs: 216, Size: 560_000})},
	{"modules", "1000 modules of 55 KB", modules(gen.Program{Modules: 1000, Functions: 17, Externs: 20, Size: 55_000})},
	{"symbols", "145,000 small functions in 100 modules", modules(gen.Program{Modules: 100, Functions: 1450, Externs: 700})},
	{"markers", "M with the comments that nvptx-none-ld reads", func(s *set) {
		p := programM
		p.Markers = true
		s.addMarkerLinker(s.link(p)...)
	}},
	{"archive", "an archive of 5000 modules, 1 % of them needed", (*set).archive},
	{"gcc", "gcc's libraries for PTX, every third function needed", (*set).gcc},
	{"cubins", "modules of M, for nvlink assembled by ptxas", (*set).assembled},
	{"nvcc-G", "modules of `nvcc -G`", debugSet("nvcc", "-rdc=true", "-arch=compute_80", "-G", "-ptx")},
	{"clang-g", "modules of `clang -g`", debugSet("clang", "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
		"-fgpu-rdc", "-g", "-S", "-D__device__=__attribute__((device))", "-D__global__=__attribute__((global))")},
}

// routes are the sets of make route, which only their names select.
var routes = []maker{
	{"shared", "16 kernels that call one function of 800 instructions", (*set).sharedRoute},
	{"few", "4 modules of 1000 instructions that call only their own functions", apartRoute(4)},
	{"apart", "32 such modules", apartRoute(32)},
	{"large", "60 modules of nvcc's style that call each other", func(s *set) {
		s.ways(s.writeModules(gen.Program{Modules: 60, Functions: 177, Externs: 216, Size: 560_000}))
	}},
}

// errMissing is the error of sets that need a tool that is not there.
var errMissing = errors.New("left out; internal/oracles/fetch.sh --compilers fetches what it needs")

func (b *bench) makeSets(names string) {
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
		s := &set{bench: b, name: m.name, title: m.title, repeat: 1, dir: filepath.Join(b.dir, m.name)}
		start := time.Now()
		failed := parallel.Catch[failure](func() {
			check(os.MkdirAll(s.dir, 0o777))
			m.make(s)
		})
		if failed.error == errMissing {
			log.Printf("%s: %v", m.name, errMissing)
			continue
		} else if failed.error != nil {
			check(fmt.Errorf("%s: %w", m.name, failed.error))
		}
		b.sets = append(b.sets, s)
		log.Printf("%s: %s, %s, made in %.1f s", s.name, s.title, bytesOf(s.bytes), time.Since(start).Seconds())
	}
	for name := range wanted {
		check(fmt.Errorf("no set %q", name))
	}
}

func (s *set) path(name string) string { return filepath.Join(s.dir, name) }

func (s *set) add(name string, args ...string) *command {
	c := &command{name: name, args: args}
	s.commands = append(s.commands, c)
	return c
}

// addLinkers adds cat, the floor of any linker, and ptxlink.
func (s *set) addLinkers(inputs ...string) {
	s.add("cat", append([]string{"cat"}, inputs...)...).toStdout = true
	s.addPtxlink("ptxlink", append([]string{"-j2"}, inputs...)...)
	s.addPtxlink("ptxlink -j1", append([]string{"-j1"}, inputs...)...)
}

func (s *set) addPtxlink(name string, args ...string) {
	// cat and the other linkers keep everything.
	s.add(name, append([]string{s.bench.binary, "--no-gc-sections", "-o", out}, args...)...)
}

// addNeeded adds a link as users call it, which removes what no kernel needs.
func (s *set) addNeeded(name string, args ...string) {
	s.add(name+", what kernels need", append([]string{s.bench.binary, "-o", out}, args...)...)
}

func (s *set) addMarkerLinker(args ...string) {
	if tool, ok := oracles.Find("nvptx-none-ld"); ok {
		s.add("nvptx-none-ld", append([]string{tool, "-o", out}, args...)...)
	}
}

// write writes a file of the set and returns its name.
func (s *set) write(name string, write func(io.Writer) error) string {
	f, err := os.Create(s.path(name))
	check(err)
	check(write(f))
	if info, err := f.Stat(); err == nil {
		s.bytes += info.Size()
	}
	check(f.Close())
	return name
}

func (s *set) writeText(name, text string) string {
	return s.write(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// writeModules writes the modules of p and returns their names.
func (s *set) writeModules(p gen.Program) (names []string) {
	for i := range p.Modules {
		names = append(names, s.write(fmt.Sprintf("m%04d.ptx", i), func(w io.Writer) error { return p.Write(w, i) }))
	}
	return names
}

// link writes the modules of p, adds cat and ptxlink, and returns the names of the modules.
func (s *set) link(p gen.Program) []string {
	inputs := s.writeModules(p)
	s.addLinkers(inputs...)
	return inputs
}

// modules makes a set of the modules of a program.
func modules(p gen.Program) func(s *set) { return func(s *set) { s.link(p) } }

// tiny compares with a Go program that does nothing.
func (s *set) tiny() {
	s.repeat = 20
	var inputs []string
	for i, text := range gen.Tiny {
		inputs = append(inputs, s.writeText(fmt.Sprintf("m%d.ptx", i), text))
	}
	source := filepath.Join(s.bench.dir, "empty.go")
	check(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666))
	s.add("empty Go program", s.bench.install("empty", source))
	s.addPtxlink("ptxlink", inputs...)
	s.add("ptxlink --version", s.bench.binary, "--version")
	untagged := s.bench.install("ptxlink-untagged", "./cmd/ptxlink")
	s.add("ptxlink, go install", append([]string{untagged, "--no-gc-sections", "-o", out}, inputs...)...)
	s.addMarkerLinker(inputs...)
	s.addNvlink(inputs)
}

// archive links a kernel that needs five chains of ten members.
func (s *set) archive() {
	p := gen.Program{Modules: 5000, Functions: 1, Size: 10_000, Chain: 10, Markers: true}
	s.write("kernel.ptx", func(w io.Writer) error { return p.Kernel(w, p.Modules/5) })
	s.write("libplain.a", func(w io.Writer) error { return writeArchive(w, p) })
	check(s.bench.run(s.bench.binary, "ar", s.path("libindex.a"), s.path("libplain.a")))
	check(s.bench.run(s.bench.binary, "ar", "--compress", s.path("libpacked.a"), s.path("libplain.a")))
	s.add("cat", "cat", "kernel.ptx", "libplain.a").toStdout = true
	s.addPtxlink("ptxlink, no index", "-j2", "kernel.ptx", "libplain.a")
	s.addPtxlink("ptxlink, index", "-j2", "kernel.ptx", "libindex.a")
	s.addPtxlink("ptxlink, zstd", "-j2", "kernel.ptx", "libpacked.a")
	s.addMarkerLinker("kernel.ptx", "-L.", "-lplain")
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
func (s *set) gcc() {
	dir := filepath.Join(oracles.Dir(), "gcc-nvptx")
	var paths []string
	defined, used := map[string]bool{}, map[string]bool{}
	for _, library := range []string{"m", "c", "gfortran", "gcc"} {
		path := filepath.Join(dir, "lib"+library+".a")
		f, err := os.Open(path)
		if err != nil {
			check(errMissing)
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
		check(lines.Err())
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
	s.writeText("main.ptx", main)
	s.addLinkers(append([]string{"main.ptx"}, paths...)...)
	for _, c := range s.commands[1:] {
		c.args = append(c.args, options...)
	}
	s.addMarkerLinker("main.ptx", "-L"+dir, "-lm", "-lc", "-lgfortran", "-lgcc")
}

// assembled compares with nvlink, which reads cubins of the same modules.
func (s *set) assembled() {
	p := programM
	p.Modules = s.bench.cubins
	inputs := s.link(p)
	s.addPtxlink("ptxlink -O1", append([]string{"-j2", "-O1"}, inputs...)...)
	for _, level := range []string{"-O0", "-O1", "-O2"} {
		s.addNeeded("ptxlink "+level, append([]string{"-j2", level}, inputs...)...)
	}
	s.addNvlink(inputs)
}

func (s *set) addNvlink(inputs []string) {
	ptxas, ok := oracles.Find("ptxas")
	nvlink, found := oracles.Find("nvlink")
	if !ok || !found {
		return
	}
	args := []string{nvlink, "-arch=sm_80", "-o", out}
	jobs := twoJobs()
	for _, input := range inputs {
		cubin := strings.TrimSuffix(input, ".ptx") + ".cubin"
		args = append(args, cubin)
		jobs.Go(func() error { return s.bench.run(ptxas, "-c", "-arch=sm_80", s.path(input), "-o", s.path(cubin)) })
	}
	s.add("nvlink", args...)
	check(jobs.Wait())
}

// twoJobs returns a group that runs two commands at a time.
func twoJobs() *errgroup.Group {
	g := &errgroup.Group{}
	g.SetLimit(2)
	return g
}
