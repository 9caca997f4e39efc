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
	only := flag.String("only", "", "programs whose names match this `REGEXP`")
	page := flag.String("o", "", "write the tables to `FILE`")
	flag.Parse()
	if b.sources == "" {
		log.Fatal("real: -dir is missing")
	}
	machine.WritePage(*page, b.run(regexp.MustCompile(*only)))
}

type bench struct {
	sources, release string
	limit            time.Duration
	ptxlink          string
	tools            map[string]string // nvcc, ptxas, nvlink, cuobjdump, fatbinary
	toolkit          string            // a toolkit of symbolic links, in which nvlink is ptxlink
}

func (b *bench) run(only *regexp.Regexp) string {
	b.prepare()
	var results []*result
	for _, p := range programs {
		if only.MatchString(p.name) && (p.cuda == nil || slices.Contains(p.cuda, b.release)) {
			results = append(results, b.measure(p))
		}
	}
	if len(results) == 0 {
		log.Fatal("real: no program matches -only")
	}
	return b.page(results)
}

// prepare finds the tools and makes the toolkit in which nvlink is ptxlink.
func (b *bench) prepare() {
	var err error
	b.sources, err = filepath.Abs(b.sources)
	machine.Check(err)
	suffix, ok := map[string]string{"12.4": "", "13.5": "-new"}[b.release]
	if !ok {
		log.Fatalf("-cuda=%s: not 12.4 or 13.5", b.release)
	}
	b.tools = machine.Tools(suffix, "nvcc", "ptxas", "nvlink", "cuobjdump", "fatbinary")
	build := filepath.Join(b.sources, "build")
	machine.Check(os.MkdirAll(build, 0o777))
	b.ptxlink = filepath.Join(build, "ptxlink")
	machine.Must("", "go", "build", "-o", b.ptxlink, "./cmd/ptxlink")
	b.toolkit = filepath.Join(build, "cuda-"+b.release)
	top, _ := machine.Must(build, "sh", "-c", `"$0" --dryrun -c x.cu 2>&1 | sed -n 's/^#$ _HERE_=//p'`, b.tools["nvcc"])
	libraries := filepath.Join(oracles.Dir(), "nvcc-13.5/root/nvidia/cu13/lib")
	machine.Must(build, "sh", "-ec", `rm -rf "$1"; mkdir -p "$1/bin"
ln -s "$0"/../* "$1"/ 2>/dev/null || :
ln -s "$0"/* "$1"/bin/
ln -sf "$2" "$1"/bin/nvlink
test -e "$1"/lib || ln -s "$3" "$1"/lib
ln -sfn lib "$1"/lib64
test -e "$1"/bin/crt || ln -s "$3"/../bin/crt "$1"/bin/crt
rm "$1"/bin/nvcc.profile
{ cat "$0"/nvcc.profile; grep -q LIBRARIES "$0"/nvcc.profile || echo "LIBRARIES =+ \$(_SPACE_) \"-L$1/lib\""; } >"$1"/bin/nvcc.profile`,
		strings.TrimSpace(string(top)), b.toolkit, b.ptxlink, libraries)
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

func (b *bench) measure(p program) *result {
	dir := filepath.Join(b.sources, "build", b.release, strings.ReplaceAll(p.name, " ", "-"))
	objects := b.compile(p, dir)
	r := &result{program: p, units: len(objects)}
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
	_, err := nvlink()
	machine.Check(err)
	r.reference, err = machine.Read(reference)
	machine.Check(err)
	assembling, largest := b.assemble(dir, objects, r)
	linking, err := nvlink()
	b.look(way{name: "ptxas -c, nvlink", cpu: assembling + linking, err: err}, reference, r)

	env := []string{"PATH=" + filepath.Dir(b.tools["nvlink"]) + ":" + os.Getenv("PATH")}
	tools := []string{"--ptxas=" + b.tools["ptxas"], "--nvlink=" + b.tools["nvlink"]}
	link := func(name string, options ...string) {
		out := filepath.Join(dir, "out.cubin")
		os.Remove(out)
		log.Printf("%s: %s", p.name, name)
		said, cpu, err := machine.Run(dir, env, b.limit, b.ptxlink, slices.Concat([]string{"--arch=sm_" + p.gpu()}, tools, options, inputs, []string{"-o", out})...)
		if name == "auto" {
			r.messages = string(said)
		}
		b.look(way{name: name, cpu: cpu, err: err}, out, r)
	}
	if p.hosts {
		b.hosts(dir, r, inputs)
		return r
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
	inputs[largest] = b.touch(p, dir, objects[largest])
	link("cache, largest unit changed", "--cache-dir="+cache)
	inputs[largest] = objects[largest]
	b.hosts(dir, r, inputs)
	return r
}

// compile compiles the units that changed.
func (b *bench) compile(p program, dir string) (objects []string) {
	in := filepath.Join(b.sources, p.dir)
	machine.Check(os.MkdirAll(dir, 0o777))
	if p.prepare != "" {
		machine.Must(in, "sh", "-ec", "test -e "+dir+"/prepared || {\n"+p.prepare+"\ntouch "+dir+"/prepared\n}")
	}
	var group errgroup.Group
	group.SetLimit(2)
	for _, glob := range p.units {
		units, err := filepath.Glob(filepath.Join(in, glob))
		if err != nil || len(units) == 0 {
			log.Fatalf("no unit matches %s", filepath.Join(in, glob))
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
	machine.Check(group.Wait())
	return objects
}

func upToDate(object, source string) bool {
	o, err := os.Stat(object)
	s, err2 := os.Stat(source)
	return err == nil && err2 == nil && o.ModTime().After(s.ModTime())
}

// assemble measures ptxas -c for the PTX of every object, with the options that nvcc
// recorded for it, as nvcc calls it, and returns which object has the largest.
func (b *bench) assemble(dir string, objects []string, r *result) (cpu time.Duration, largest int) {
	most := 0
	for i, object := range objects {
		files, err := b.extractPTX(dir, object)
		if err != nil {
			continue // no device code
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			machine.Check(err)
			r.modules, r.ptx = r.modules+1, r.ptx+len(text)
			if len(text) > most {
				most, largest = len(text), i
			}
			_, used, err := machine.Run(dir, nil, b.limit, b.tools["ptxas"], "-c", "-lineinfo", "-arch=sm_"+r.gpu(), file, "-o", file+".cubin")
			machine.Check(err)
			cpu += used
		}
	}
	return cpu, largest
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

// touch returns a fatbin with the PTX and the cubin of an object, with one more instruction in the last
// body, a kernel's in most objects, and the options that nvcc records.
func (b *bench) touch(p program, dir, object string) string {
	files, err := b.extractPTX(dir, object)
	if err != nil || len(files) != 1 {
		log.Fatalf("%s holds %d modules (%v)", object, len(files), err)
	}
	text, err := os.ReadFile(files[0])
	machine.Check(err)
	code, _, _ := bytes.Cut(text, []byte("\n.section")) // whose bodies look alike
	bodies := regexp.MustCompile(`\n\{\n`).FindAllIndex(code, -1)
	if bodies == nil {
		log.Fatalf("%s holds no body", object)
	}
	text = slices.Insert(text, bodies[len(bodies)-1][1], []byte(".reg .b32 %touched;\nmov.b32 %touched, %clock;\n")...)
	module, cubin, fatbin := filepath.Join(dir, "touched.ptx"), filepath.Join(dir, "touched.cubin"), filepath.Join(dir, "touched.fatbin")
	machine.Check(os.WriteFile(module, text, 0o666))
	recorded := append([]string{"--compile-only"}, slices.DeleteFunc(slices.Clone(p.flags), func(flag string) bool { return !strings.HasPrefix(flag, "-maxrregcount") })...)
	machine.Must(dir, b.tools["ptxas"], slices.Concat(recorded, []string{"-lineinfo", "-arch=sm_" + p.gpu(), module, "-o", cubin})...)
	machine.Must(dir, b.tools["fatbinary"], "-64", "--create="+fatbin, "--device-c", "--cmdline="+strings.Join(recorded, " "),
		"--image3=kind=elf,sm="+p.gpu()+",file="+cubin, "--image3=kind=ptx,sm="+p.gpu()+",file="+module)
	return fatbin
}

// look adds a way to a result, with what its cubin holds if there is no error.
func (b *bench) look(w way, cubin string, r *result) {
	if w.err == nil {
		var contents machine.Contents
		if contents, w.err = machine.Read(cubin); w.err == nil {
			w.code, w.err = machine.Inspect(b.tools["cuobjdump"], cubin)
		}
		w.text = contents.Text
		w.other = strings.Join(slices.Concat(differ("kernels", contents.Entries, r.reference.Entries),
			differ("variables", contents.Objects, r.reference.Objects), differ("locals", contents.Locals, r.reference.Locals)), "; ")
	}
	r.ways = append(r.ways, w)
}

// differ counts what stands in only one of two lists.
func differ(what string, got, want []string) []string {
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	more, less := 0, 0
	for _, n := range count {
		more, less = more+max(n, 0), less+max(-n, 0)
	}
	if more+less == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s +%d -%d", what, more, less)}
}
