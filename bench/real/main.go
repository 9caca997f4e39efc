// Command real compiles and links programs that other people wrote, in every way from
// their objects to a cubin, and compares the result with nvlink's:
//
//	go run ./bench/real -dir DIR                             tables on standard output
//	go run ./bench/real -dir DIR -o docs/real-programs.md    what make real does
//
// programs.go says where their sources belong in DIR; whoever runs it fetches them.
// Objects and results stay in DIR/build for the next run.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"ptxlink/bench/machine"
	"ptxlink/internal/oracles"
)

func main() {
	log.SetFlags(0)
	b := &bench{}
	flag.StringVar(&b.sources, "dir", "", "`DIR` with the sources")
	flag.StringVar(&b.release, "cuda", "12.4", "`RELEASE` of nvcc, ptxas and nvlink: 12.4 or 13.5")
	flag.DurationVar(&b.limit, "limit", 5*time.Minute, "longest `TIME` for one link")
	flag.StringVar(&b.ptxlink, "ptxlink", "", "`PATH` of ptxlink (default: build it)")
	only := flag.String("only", "", "programs whose names match this `REGEXP`")
	page := flag.String("o", "", "write the tables to `FILE`")
	flag.Parse()
	if b.sources == "" {
		log.Fatal("real: -dir is missing")
	}
	text, err := b.run(regexp.MustCompile(*only))
	if err == nil {
		err = machine.WritePage(*page, text)
	}
	if err != nil {
		log.Fatal("real: ", err)
	}
}

type bench struct {
	sources, release string
	limit            time.Duration
	ptxlink          string
	tools            map[string]string // nvcc, ptxas, nvlink, cuobjdump
	toolkit          string            // a toolkit of symbolic links, in which nvlink is ptxlink
}

func (b *bench) run(only *regexp.Regexp) (string, error) {
	if err := b.prepare(); err != nil {
		return "", err
	}
	var results []*result
	for _, p := range programs {
		if !only.MatchString(p.name) || !p.hasRelease(b.release) {
			continue
		}
		r, err := b.measure(p)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return "", errors.New("no program matches -only")
	}
	return b.page(results), nil
}

// prepare finds the tools and makes the toolkit in which nvlink is ptxlink.
func (b *bench) prepare() (err error) {
	if b.sources, err = filepath.Abs(b.sources); err != nil {
		return err
	}
	suffix, ok := map[string]string{"12.4": "", "13.5": "-new"}[b.release]
	if !ok {
		return fmt.Errorf("-cuda=%s: not 12.4 or 13.5", b.release)
	}
	if b.tools, err = machine.Tools(suffix, "nvcc", "ptxas", "nvlink", "cuobjdump"); err != nil {
		return err
	}
	build := filepath.Join(b.sources, "build")
	if err := os.MkdirAll(build, 0o777); err != nil {
		return err
	}
	if b.ptxlink == "" {
		b.ptxlink = filepath.Join(build, "ptxlink")
		if _, _, err := machine.Run("", nil, 0, "go", "build", "-o", b.ptxlink, "./cmd/ptxlink"); err != nil {
			return err
		}
	}
	if b.ptxlink, err = filepath.Abs(b.ptxlink); err != nil {
		return err
	}
	b.toolkit = filepath.Join(build, "cuda-"+b.release)
	top, _, err := machine.Run(build, nil, 0, "sh", "-c", `"$0" --dryrun -c x.cu 2>&1 | sed -n 's/^#$ _HERE_=//p'`, b.tools["nvcc"])
	if err != nil {
		return err
	}
	libraries := filepath.Join(oracles.Dir(), "nvcc-13.5/root/nvidia/cu13/lib")
	_, _, err = machine.Run(build, nil, 0, "sh", "-ec", `rm -rf "$1"; mkdir -p "$1/bin"
ln -s "$0"/../* "$1"/ 2>/dev/null || :
ln -s "$0"/* "$1"/bin/
ln -sf "$2" "$1"/bin/nvlink
test -e "$1"/lib || ln -s "$3" "$1"/lib
ln -sfn lib "$1"/lib64
test -e "$1"/bin/crt || ln -s "$3"/../bin/crt "$1"/bin/crt
rm "$1"/bin/nvcc.profile
{ cat "$0"/nvcc.profile; grep -q LIBRARIES "$0"/nvcc.profile || echo "LIBRARIES =+ \$(_SPACE_) \"-L$1/lib\""; } >"$1"/bin/nvcc.profile`,
		strings.TrimSpace(string(top)), b.toolkit, b.ptxlink, libraries)
	return err
}

// A result is what became of one program.
type result struct {
	program
	units, modules, ptx int // ptx: bytes of text
	reference           machine.Contents
	messages            string // what ptxlink printed for a plain link
	ways                []way
}

// A way leads from the objects to a cubin.
type way struct {
	name  string
	cpu   time.Duration
	err   error
	code  machine.Code
	text  int    // bytes of machine code
	other string // how the contents differ from nvlink's
}

func (b *bench) measure(p program) (*result, error) {
	dir := filepath.Join(b.sources, "build", b.release, strings.ReplaceAll(p.name, " ", "-"))
	r := &result{program: p}
	objects, err := b.compile(p, dir)
	if err != nil {
		return nil, err
	}
	r.units = len(objects)
	inputs := slices.Clone(objects)
	for _, lib := range p.libs {
		inputs = append(inputs, filepath.Join(b.sources, lib))
	}
	var needs []string
	if b.release == "13.5" { // 12.4 cannot read the library of 13.5
		needs = []string{"-L" + filepath.Join(b.toolkit, "lib"), "-lcudadevrt"}
	}
	reference := filepath.Join(dir, "nvlink.cubin")
	nvlink := func() (cpu time.Duration, err error) {
		log.Printf("%s: nvlink", p.name)
		_, cpu, err = machine.Run(dir, nil, b.limit, b.tools["nvlink"], slices.Concat([]string{"-arch=sm_" + p.gpu()}, inputs, needs, []string{"-o", reference})...)
		return cpu, err
	}
	if _, err := nvlink(); err != nil {
		return nil, err
	}
	if r.reference, err = machine.Read(reference); err != nil {
		return nil, err
	}
	separate := way{name: "ptxas -c, nvlink"}
	largest := 0
	if separate.cpu, largest, err = b.assemble(dir, objects, r); err != nil {
		return nil, err
	}
	linking, err := nvlink()
	separate.cpu += linking
	b.look(&separate, reference, err, r.reference)
	r.ways = append(r.ways, separate)

	env := []string{"PATH=" + filepath.Dir(b.tools["nvlink"]) + ":" + os.Getenv("PATH")}
	tools := []string{"--ptxas=" + b.tools["ptxas"], "--nvlink=" + b.tools["nvlink"]}
	link := func(name string, options ...string) {
		w, out := way{name: name}, filepath.Join(dir, "out.cubin")
		os.Remove(out)
		log.Printf("%s: %s", p.name, name)
		var said []byte
		said, w.cpu, w.err = machine.Run(dir, env, b.limit, b.ptxlink, slices.Concat([]string{"--arch=sm_" + p.gpu()}, tools, options, inputs, []string{"-o", out})...)
		if name == "auto" {
			r.messages = string(said)
		}
		b.look(&w, out, w.err, r.reference)
		r.ways = append(r.ways, w)
	}
	if p.hosts {
		b.hosts(dir, r, inputs)
		return r, nil
	}
	link("whole", "--ptxas-mode=whole")
	link("separate", "--ptxas-mode=separate")
	link("2 parts", "--partition=2")
	link("auto")
	link("auto -O1", "-O1")
	link("auto -O2", "-O2")
	link("auto --icf", "--icf")
	cache := filepath.Join(dir, "cache")
	os.RemoveAll(cache)
	link("cache, cold", "--cache-dir="+cache)
	link("cache, same", "--cache-dir="+cache)
	if err := b.touch(dir, objects[largest]); err != nil {
		return nil, err
	}
	inputs[largest] = filepath.Join(dir, "touched.ptx")
	link("cache, largest unit changed", "--cache-dir="+cache)
	inputs[largest] = objects[largest]
	b.hosts(dir, r, inputs)
	return r, nil
}

// compile compiles the units that changed.
func (b *bench) compile(p program, dir string) (objects []string, err error) {
	in := filepath.Join(b.sources, p.dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if p.prepare != "" {
		if _, _, err := machine.Run(in, nil, 0, "sh", "-ec", "test -e "+dir+"/prepared || {\n"+p.prepare+"\ntouch "+dir+"/prepared\n}"); err != nil {
			return nil, err
		}
	}
	var group errgroup.Group
	group.SetLimit(2)
	for _, glob := range p.units {
		units, err := filepath.Glob(filepath.Join(in, glob))
		if err != nil || len(units) == 0 {
			return nil, fmt.Errorf("no unit matches %s", filepath.Join(in, glob))
		}
		for _, unit := range units {
			if slices.Contains(p.without, filepath.Base(unit)) {
				continue
			}
			object := filepath.Join(dir, strings.TrimSuffix(filepath.Base(unit), filepath.Ext(unit))+".o")
			objects = append(objects, object)
			if upToDate(object, unit) {
				continue
			}
			group.Go(func() error {
				log.Printf("%s: nvcc %s", p.name, filepath.Base(unit))
				_, _, err := machine.Run(in, nil, 0, b.tools["nvcc"], slices.Concat([]string{"-x", "cu", "-O2", "-lineinfo", "-rdc=true",
					"-gencode", "arch=compute_" + p.gpu() + ",code=[compute_" + p.gpu() + ",sm_" + p.gpu() + "]", "-I" + filepath.Join(b.sources, "include"), "-w", "-c", unit, "-o", object}, p.flags)...)
				return err
			})
		}
	}
	return objects, group.Wait()
}

func upToDate(object, source string) bool {
	o, err := os.Stat(object)
	s, err2 := os.Stat(source)
	return err == nil && err2 == nil && o.ModTime().After(s.ModTime())
}

// assemble measures ptxas -c for the PTX of every object, with the options that nvcc
// recorded for it, as nvcc calls it, and returns which object has the largest.
func (b *bench) assemble(dir string, objects []string, r *result) (cpu time.Duration, largest int, err error) {
	most := 0
	for i, object := range objects {
		files, err := b.extractPTX(dir, object)
		if err != nil {
			continue // no device code
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return 0, 0, err
			}
			r.modules, r.ptx = r.modules+1, r.ptx+len(text)
			if len(text) > most {
				most, largest = len(text), i
			}
			_, used, err := machine.Run(dir, nil, b.limit, b.tools["ptxas"], "-c", "-lineinfo", "-arch=sm_"+r.gpu(), file, "-o", file+".cubin")
			if err != nil {
				return 0, 0, err
			}
			cpu += used
		}
	}
	return cpu, largest, nil
}

// extractPTX writes the PTX of an object to files.
func (b *bench) extractPTX(dir, object string) (files []string, err error) {
	out := filepath.Join(dir, "ptx")
	os.RemoveAll(out)
	os.Mkdir(out, 0o777)
	if _, _, err := machine.Run(dir, nil, 0, b.ptxlink, "extract", object, "-o", out); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(out, "*.ptx"))
}

// touch writes touched.ptx: the PTX of an object with one more instruction in its last
// body, a kernel's in most objects.
func (b *bench) touch(dir, object string) error {
	files, err := b.extractPTX(dir, object)
	if err != nil || len(files) != 1 {
		return fmt.Errorf("%s holds %d modules (%v)", object, len(files), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	code, _, _ := bytes.Cut(text, []byte("\n.section")) // whose bodies look alike
	bodies := regexp.MustCompile(`\n\{\n`).FindAllIndex(code, -1)
	if bodies == nil {
		return fmt.Errorf("%s holds no body", object)
	}
	text = slices.Insert(text, bodies[len(bodies)-1][1], []byte(".reg .b32 %touched;\nmov.b32 %touched, %clock;\n")...)
	return os.WriteFile(filepath.Join(dir, "touched.ptx"), text, 0o666)
}

// look reads a cubin.
func (b *bench) look(w *way, cubin string, failed error, reference machine.Contents) {
	if w.err = failed; w.err != nil {
		return
	}
	contents, err := machine.Read(cubin)
	if err == nil {
		w.code, err = machine.Inspect(b.tools["cuobjdump"], cubin)
	}
	w.err, w.text = err, contents.Text
	w.other = strings.Join(slices.Concat(differ("kernels", contents.Entries, reference.Entries),
		differ("variables", contents.Objects, reference.Objects), differ("locals", contents.Locals, reference.Locals)), "; ")
}

// differ counts what stands in only one of two sorted lists.
func differ(what string, got, want []string) []string {
	more, less := 0, 0
	for len(got) > 0 || len(want) > 0 {
		switch {
		case len(want) == 0 || len(got) > 0 && got[0] < want[0]:
			more, got = more+1, got[1:]
		case len(got) == 0 || want[0] < got[0]:
			less, want = less+1, want[1:]
		default:
			got, want = got[1:], want[1:]
		}
	}
	if more+less == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s +%d -%d", what, more, less)}
}
