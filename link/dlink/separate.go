package dlink

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/container"
)

// Separated is what Separate finds in the inputs of a link.
type Separated struct {
	Modules []link.Input // those that link.Link reads, with places for the LTO-IR
	Cubins  Cubins
	LTOIR   LTOIR
	// Preferred is set if a cubin is linked in place of PTX.
	Preferred bool
}

// Separate takes the device code from inputs that have no PTX for o.Arch, or by o.Prefer:
// relocatable cubins that run on it, in files of their own, fatbins and host objects, or else
// LTO-IR. Cubins of archives are not linked yet (Pull). If only archives are left of the
// inputs, or nothing, there is an empty module too.
func Separate(ctx context.Context, inputs []link.Input, o Options, log *diag.Log) (s Separated) {
	r := reader{Options: o, separating: true}
	r.gpu, _ = object.ParseGPU(o.Arch)
	s.Cubins.archived = &Cubins{}
	named := false // a file other than an archive is left
	for _, in := range inputs {
		path, data := "", []byte(nil)
		if !o.PTX || !strings.HasSuffix(in.Path, ".ptx") { // a thousand modules are not opened twice
			path, data = holder(ctx, in)
		}
		if data == nil {
			named = true
			s.Modules = append(s.Modules, in)
			continue
		}
		archive, found := container.IsArchive(data), false
		if r.Prefer = o.Prefer; !archive && r.Prefer != PreferPTX && !r.takesAll(path, data) {
			r.Prefer = PreferPTX // of ld -r, link.Link takes all PTX
		}
		codes, ptx := r.bare(path, data)
		var lto []container.LTOIR
		for _, code := range codes {
			switch r.verdict(code.HostCode, archive) {
			case cubinOnly:
				found = true
				s.Preferred = s.Preferred || slices.ContainsFunc(code.PTX, r.runs)
				to := &s.Cubins
				if archive && !in.WholeArchive {
					to = s.Cubins.archived
				}
				to.add(r.cubins(code), log)
			case ltoOnly:
				lto = append(lto, r.ltoIR(code)...)
			}
		}
		taken := (found || lto != nil) && (!ptx || !archive && r.takesAll(path, data))
		if !taken {
			s.Modules = append(s.Modules, in)
		}
		if lto != nil {
			s.Modules = append(s.Modules, s.LTOIR.add(len(s.Modules), path, lto, archive, in.WholeArchive)...)
		}
		named = named || !archive && (!taken || lto != nil)
	}
	if !named && (len(s.Cubins.List) > 0 || len(s.Modules) == 0 && len(inputs) > 0) {
		s.Modules = append(s.Modules, link.Input{Name: "<no PTX>", Text: object.EmptyModule(r.gpu)})
	}
	return s
}

// takesAll reports whether nothing of a file is linked as PTX.
func (r *reader) takesAll(path string, data []byte) bool {
	for _, code := range r.offers(path, data).list {
		if v := r.verdict(code.HostCode, false); v != cubinOnly && v != ltoOnly {
			return false
		}
	}
	return true
}

// holder returns the name and the contents of an input that may hold more than PTX, or nil.
func holder(ctx context.Context, in link.Input) (name string, data []byte) {
	switch {
	case in.Text != nil:
		name, data = in.Name, in.Text
	case in.Path != "" && in.Reader == nil && mayHold(in.Path):
		name = in.Path
		data, _ = read(ctx, in.Path) // link.Link reports what is wrong
	}
	if !startsAsHolder(data) {
		return "", nil
	}
	return name, data
}

// bareCode is device code that is not that of a host object of nvcc -dc.
type bareCode struct {
	container.HostCode
	cubins []container.Cubin
	ltoIR  []container.LTOIR
}

// bare returns the device code of each object in a file that has relocatable cubins or
// LTO-IR, if any of it may be linked. ptx is set if there is PTX in the file.
func (r *reader) bare(path string, data []byte) (list []bareCode, ptx bool) {
	options := container.Options{MaxSize: r.MaxInputSize}
	archived := container.IsArchive(data)
	offers := r.offers(path, data)
	ptx = slices.ContainsFunc(offers.list, func(code bareCode) bool { return len(code.PTX) > 0 })
	wanted := func(v verdict) bool {
		return slices.ContainsFunc(offers.list, func(code bareCode) bool {
			return r.verdict(code.HostCode, archived) == v && (v != unsuited || !r.separating)
		})
	}
	var cubins []container.Cubin
	var err error
	if !r.PTX && (wanted(cubinOnly) || wanted(unsuited)) {
		if r.separating { // what does not fit is not reported here
			options.Wanted = r.fits
		}
		cubins, err = container.Cubins(path, data, options)
	}
	var ltoIR []container.LTOIR
	if err == nil && wanted(ltoOnly) {
		ltoIR, err = container.LTOIRs(path, data, options)
	}
	if err != nil || len(cubins)+len(ltoIR) == 0 {
		return nil, ptx
	}
	found := objects{path: path}
	for _, c := range cubins {
		if c.Relocatable() {
			code := found.of(c.Name, c.Group)
			c.Name = code.Name
			code.Cubins, code.cubins = append(code.Cubins, c.Target), append(code.cubins, c)
		}
	}
	for _, l := range ltoIR {
		code := found.of(l.Name, l.Group)
		l.Name = code.Name
		code.LTO, code.ltoIR = true, append(code.ltoIR, l)
	}
	for key, i := range found.index {
		if k, offered := offers.index[key]; offered {
			found.list[i].PTX = offers.list[k].PTX
		}
	}
	return found.list, ptx
}

// offers returns what the objects of a file offer.
func (r *reader) offers(path string, data []byte) objects {
	o := objects{path: path}
	forms, _ := container.Forms(path, data, container.Options{MaxSize: r.MaxInputSize}) // link.Link reports what is wrong
	for _, f := range forms {
		code := o.of(f.Name, f.Group)
		switch f.Kind {
		case container.PTX:
			code.PTX = append(code.PTX, f.Target)
		case container.MachineCode:
			code.Cubins = append(code.Cubins, f.Target)
		default:
			code.LTO = true
		}
	}
	return o
}

// objects are those of a file: a fatbin each, of which ld -r puts several into one object. What is
// in one file or member of an archive is called by its name.
type objects struct {
	path  string
	list  []bareCode
	index map[objectKey]int
}

type objectKey struct {
	name  string
	group int
}

func (o *objects) of(name string, group int) *bareCode {
	name = name[:max(len(o.path), strings.LastIndexByte(name, ')')+1)]
	key := objectKey{name, group}
	i, known := o.index[key]
	if !known {
		if o.index == nil {
			o.index = map[objectKey]int{}
		}
		i, o.list = len(o.list), append(o.list, bareCode{HostCode: container.HostCode{Name: name}})
		o.index[key] = i
	}
	return &o.list[i]
}

// mayHold reports whether a regular file starts as one that may hold more than PTX.
func mayHold(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 8)
	if _, err := io.ReadFull(f, magic); err != nil {
		return false
	}
	return startsAsHolder(magic)
}

// startsAsHolder reports whether a file that may hold more than PTX starts like this: an ELF
// file, a fatbin, an archive or LTO-IR.
func startsAsHolder(magic []byte) bool {
	return container.IsLTOIR(magic) || bytes.HasPrefix(magic, []byte("\x7fELF")) || bytes.HasPrefix(magic, []byte("\x50\xed\x55\xba")) || container.IsArchive(magic)
}
