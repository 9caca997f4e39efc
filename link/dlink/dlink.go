// Package dlink finds device code of all forms in objects, and links it. It reads the inputs of nvcc's
// device link, and writes its register file.
package dlink

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/infile"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// File is a file on the command line of nvlink.
type File struct {
	Path    string
	Text    []byte // the contents, if Path is only a name in messages
	Library bool   // found by -l
}

func (f File) read(ctx context.Context, maps *infile.Maps) ([]byte, error) {
	if f.Text != nil {
		return f.Text, nil
	}
	return read(ctx, f.Path, maps)
}

func (f File) input() link.Input {
	if f.Text != nil {
		return link.Input{Name: f.Path, Text: f.Text}
	}
	return link.Input{Path: f.Path}
}

// Options are the options of Read.
type Options struct {
	// Arch is the GPU of the link, such as "sm_80". It may be virtual, such as
	// "compute_80": then the driver links the PTX of the objects when the program is
	// loaded, and only the register file is written.
	Arch string
	// System links all of libcudadevrt.a instead of only the needed members.
	System bool
	// LTO is set if nvlink compiles the LTO-IR of the objects.
	LTO bool
	// PTX is set if the output is PTX, into which no cubin can be linked.
	PTX bool
	// Prefer chooses between PTX and a cubin of one object.
	Prefer Preference
	// MaxInputSize is the same as in link.Options.
	MaxInputSize int64
	// MapInputs maps large files, which stay mapped while the process runs. Otherwise they are read.
	MapInputs bool
}

// maps returns the store for mapped files, or nil if files must be read instead.
func (o Options) maps() *infile.Maps {
	if o.MapInputs {
		return new(infile.Maps)
	}
	return nil
}

// Preference says where a cubin that runs on the GPU is linked instead of PTX for the same GPU or
// an older one.
type Preference uint8

const (
	PreferPTX      Preference = iota
	PreferArchived            // in members of archives: the cubins as their authors built them
	PreferOwn                 // also in objects, if ptxas made it of the PTX beside it for just this GPU
	PreferCubins
)

// Job is a device link. Modules and Cubins come from the objects with relocatable code; Cubins also
// has the cubins of libcudadevrt.a, whose members are linked only if something needs them. Arch is
// Options.Arch, except that it is sm_90a instead of sm_90 if the objects need it, and sm_80 instead
// of compute_80.
type Job struct {
	Separated
	// Launched are patterns of the kernels that the host launches; nil if some files do not record
	// their kernels, since others may then be launched too.
	Launched []string
	// WholeProgram are the objects that nvcc compiled without -rdc=true. They are not linked.
	WholeProgram []string
	// NotLinked are the objects without code for the GPU, with the reason.
	NotLinked []string
	// Messages are about objects that are not linked. If one is an error, the link must not run.
	Messages []*link.Message

	// Unknown is set if some code is LTO-IR only, because it may define and use any name.
	Unknown bool
	// HostObject is the same as in link.Options.
	HostObject func(symbol string) (object string, extensible bool)

	units   []candidate // the units of the inputs, and of the objects that are skipped
	virtual bool
}

// Read finds the device code in the files, by the rules of nvlink:
//
//  1. Of a host object, only relocatable device code (nvcc -dc) is linked. Objects
//     without any are skipped.
//  2. All members of an archive of host objects are linked, because the host linker may take
//     any of them, and a program registers its kernels only when each object that was
//     linked here is there.
//  3. If an output of nvcc -dlink is among the files, the objects linked into it are not
//     linked again.
//  4. A -l that finds no archive is skipped, because it is a library of the host.
//  5. If all files are objects that record the kernels that their host code launches, or
//     archives of such objects, other kernels are not linked.
//  6. An object without code for the GPU is skipped with a warning. It registers
//     nevertheless.
//
// PTX, fatbins and archives of PTX become inputs unchanged, and only the needed
// members of such an archive are linked. Files that cannot be read become inputs too, because
// link.Link gets the same error (package infile) and reports it.
func Read(ctx context.Context, files []File, o Options) *Job {
	var log diag.Log
	r := reader{Options: o, log: &log, read: infile.Of(ctx), linked: map[string]bool{}, libraries: map[string]bool{}}
	r.gpu, _ = object.ParseGPU(o.Arch)
	for _, f := range files {
		r.file(ctx, f)
	}
	r.candidates = slices.DeleteFunc(r.candidates, func(c candidate) bool {
		return c.code && slices.ContainsFunc(c.ids, func(id string) bool { return r.linked[id] })
	})
	r.judge()
	hosts := sync.OnceValue(func() map[string]string { return r.hostSymbols(ctx, files) })
	j := &Job{Separated: Separated{Arch: r.gpu.String()}, virtual: r.virtual(), HostObject: func(symbol string) (string, bool) {
		object := hosts()[symbol]
		return object, slices.ContainsFunc(r.candidates, func(c candidate) bool { return c.Name == object && c.extensible() })
	}}
	r.report()
	needy := slices.ContainsFunc(r.candidates, func(c candidate) bool { return !c.system && (c.verdict == suits || c.verdict == cubinOnly) })
	for _, c := range r.candidates {
		switch {
		case c.system && !r.System && !needy: // because nothing can need libcudadevrt.a
			continue
		case c.system && r.verdict(c.Object, true) != suits:
			r.library(ctx, c, j)
			c.library = cmp.Or(c.input.Path, c.input.Name)
		case c.system || c.verdict == suits:
			j.Modules = append(j.Modules, c.input)
			j.BothForms = j.BothForms || r.cubinFor(c.Object) != ""
		case c.verdict == cubinOnly:
			j.Cubins = append(j.Cubins, records(r.cubins(c.Object), false, len(j.Modules), &log)...)
			j.Preferred = j.Preferred || slices.ContainsFunc(c.Targets(container.PTX), r.runs)
		case c.verdict == ltoOnly:
			j.Unknown = true
		}
		if c.verdict == unsuited {
			j.NotLinked = append(j.NotLinked, c.Name+", which has no code for "+r.Arch)
		}
		j.units = append(j.units, c)
	}
	j.Messages, j.WholeProgram = log.Messages, r.whole
	if !r.unclear && !j.virtual {
		j.Launched = r.launched
	}
	if len(j.Modules) == 0 {
		j.Modules = []link.Input{{Name: "<no device code>", Text: object.EmptyModule(r.gpu)}}
	}
	return j
}

type reader struct {
	Options
	log        *diag.Log
	read       *infile.Files // also records the reads
	gpu        object.GPU
	candidates []candidate
	linked     map[string]bool // IDs in outputs of nvcc -dlink
	libraries  map[string]bool // archives, by absolute path
	separating bool            // in Separate
	launched   []string        // patterns of the kernels that the host launches
	unclear    bool            // some files do not record what they launch
	whole      []string        // objects that were compiled without -rdc=true
}

func (r *reader) containers() container.Options {
	return container.Options{MaxSize: r.MaxInputSize, Open: r.read.ReadRegular}
}

func (r *reader) virtual() bool { return object.IsVirtual(r.Arch) }

// candidate is an input whose device code may be linked.
type candidate struct {
	container.Object
	input    link.Input
	ids      []string // IDs that its objects register
	code     bool     // a host object, which has an ID
	library  string   // the path of libcudadevrt.a if nvlink links its cubins
	system   bool     // libcudadevrt.a
	archived bool     // a member of an archive
	verdict  verdict
}

func (r *reader) file(ctx context.Context, f File) {
	data, err := f.read(ctx, r.maps())
	if err == nil && container.IsArchive(data) {
		path, err := filepath.Abs(f.Path)
		if err == nil && r.libraries[path] {
			return
		}
		r.libraries[path] = true
	} else if f.Library && err == nil { // such as a linker script
		return
	}
	var codes []container.Object
	other := true
	if err == nil {
		codes, other, err = container.HostObjects(f.Path, data, r.containers())
	}
	if err != nil || other {
		r.unclear = true
		c := candidate{input: f.input()}
		if err == nil {
			if codes, _ := r.relocatable(r.offers(f.Path, data), false); len(codes) == 1 && !container.IsArchive(data) {
				c.Object = codes[0]
			}
		}
		r.candidates = append(r.candidates, c)
		return
	}
	if object.IsCudadevrt(f.Path) { // linked only if something needs it: nvcc names it in every link
		library := candidate{input: f.input(), system: true}
		library.input.WholeArchive = r.System
		for _, code := range codes {
			library.ids = append(library.ids, code.IDs...)
			library.Codes = append(library.Codes, code.Codes...)
		}
		if len(codes) > 0 {
			r.candidates = append(r.candidates, library)
		}
		return
	}
	same := map[string]int{} // because objects of ld -r, and members, may have the same name
	for _, code := range codes {
		if same[code.Name]++; same[code.Name] > 1 {
			code.Name = fmt.Sprintf("%s#%d", code.Name, same[code.Name])
		}
		r.launched, r.unclear = append(r.launched, code.Launched...), r.unclear || code.Launched == nil
		for _, id := range code.Linked {
			r.linked[id] = true
		}
		if code.WholeProgram {
			r.whole = append(r.whole, code.Name)
		}
		if code.Lost { // nvlink refuses such an object too
			r.log.Error(diag.NotPTX, diag.InFile(code.Name, 0, 0), "it has the ID of device code, and no section that is known holds the code").
				WithHelp("if a later CUDA compiled it, only the nvlink of that release links it")
		}
		if len(code.Fatbin) > 0 {
			in := link.Input{Name: code.Name, Text: code.Fatbin}
			r.candidates = append(r.candidates, candidate{Object: code, input: in, ids: code.IDs, code: true, archived: container.IsArchive(data)})
		}
	}
}

// hostSymbols returns the names of the objects that define symbols for the host. It skips objects
// without code for the GPU: they have a warning already, and may define the symbols for other GPUs
// too.
func (r *reader) hostSymbols(ctx context.Context, files []File) map[string]string {
	objects, skipped := map[string]string{}, map[string]bool{}
	for _, c := range r.candidates {
		skipped[c.Name] = c.verdict == unsuited
	}
	for _, f := range files {
		maps := r.maps()
		if data, err := f.read(ctx, maps); err == nil {
			container.HostSymbols(f.Path, data, r.containers(), func(object, symbol string) {
				if objects[symbol] == "" && !skipped[object] {
					objects[symbol] = object
				}
			})
			maps.Close()
		}
	}
	return objects
}

func (c candidate) extensible() bool {
	return c.code && slices.ContainsFunc(c.Codes, func(code container.Code) bool {
		data, err := code.Bytes()
		return err == nil && code.Form == container.MachineCode && !(container.Cubin{Data: data}).Relocatable()
	})
}

// read maps a regular file until maps are closed, and otherwise reads it.
func read(ctx context.Context, path string, maps *infile.Maps) ([]byte, error) {
	return maps.Read(path, math.MaxInt64, infile.Of(ctx))
}

// library adds the cubins of libcudadevrt.a, because the library of CUDA 13 has PTX for the newest
// GPU only. A link for a virtual architecture needs only the names of the cubins, so cubins for any
// GPU will do.
func (r *reader) library(ctx context.Context, c candidate, j *Job) {
	path := cmp.Or(c.input.Path, c.input.Name)
	data, err := File{Path: path, Text: c.input.Text}.read(ctx, r.maps())
	if err != nil {
		r.log.Error(diag.IO, diag.InFile(path, 0, 0), "cannot read: "+infile.Reason(err).Error()).Err = err
		return
	}
	for _, code := range r.offers(path, data) {
		list := r.cubins(code)
		for i := 0; len(list) == 0 && i < len(code.Codes); i++ {
			if cubin, ok := r.cubin(code, code.Codes[i]); ok && cubin.Relocatable() {
				list = append(list, cubin)
			}
		}
		j.Cubins = append(j.Cubins, records(list, !c.input.WholeArchive, len(j.Modules), r.log)...)
	}
}

// RegisterFile returns the contents that nvlink writes to the file of --register-link-binaries,
// which nvcc compiles into the program: the IDs of the linked objects.
//
// It includes the ID of libcudadevrt.a only if the library is linked; if the driver links, it
// always includes the ID, and r may be nil.
func (j *Job) RegisterFile(r *link.Result) []byte {
	var ids []string
	for _, u := range j.units {
		taken := func(c *object.Cubin) bool { return strings.HasPrefix(c.Name, u.library+"(") }
		if u.code || j.virtual || u.library != "" && slices.ContainsFunc(r.Cubins, taken) || slices.ContainsFunc(r.Modules, func(m link.Module) bool { return m.Path != "" && m.Path == u.input.Path }) {
			ids = append(ids, u.ids...)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#define NUM_PRELINKED_OBJECTS %d\n", len(ids))
	for _, id := range ids {
		fmt.Fprintf(&b, "DEFINE_REGISTER_FUNC(%s)\n", id)
	}
	return []byte(b.String())
}
