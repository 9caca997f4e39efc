package dlink

import (
	"bytes"
	"cmp"
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

// Cubins is the machine code that nvlink links with the PTX.
type Cubins struct {
	List    []container.Cubin // for ptxas.Options.Cubins
	Symbols []link.Cubin      // for link.Options.Cubins

	archived *Cubins // members of archives
}

// add adds cubins, or reports why they cannot be read.
func (c *Cubins) add(list []container.Cubin, log *diag.Log) {
	for _, cubin := range list {
		symbols, err := cubin.Symbols()
		if err != nil {
			log.Error(diag.BadContainer, diag.InFile(cubin.Name, 0, 0), "its cubin cannot be read: "+err.Error()).WithHelp("compile it again")
		}
		c.List, c.Symbols = append(c.List, cubin), append(c.Symbols, link.Cubin{Name: cubin.Name, Symbols: symbols})
	}
}

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

// Description is what a cubin or LTO-IR in a file says of itself, for ptxlink info.
type Description struct {
	Name        string              `json:"name"`
	Target      string              `json:"machine_code,omitempty"` // of a cubin: sm_80
	LTOIR       string              `json:"lto_ir,omitempty"`       // likewise
	Relocatable bool                `json:"relocatable"`
	Bytes       int                 `json:"bytes"`
	Symbols     []DescriptionSymbol `json:"symbols"`
}

// DescriptionSymbol is a global or weak symbol. Size is that of the code of a function, and
// Registers are those of a thread. Types are those of a function, in PTX: "(.b32) (.b64)".
type DescriptionSymbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`    // entry, func or object
	Linkage   string `json:"linkage"` // visible, weak, common or extern
	Defined   bool   `json:"defined"`
	Size      int64  `json:"size"`
	Types     string `json:"types,omitempty"`
	Registers int    `json:"registers,omitempty"`
}

// Describe describes the cubins and the LTO-IR in files. It returns the inputs that have PTX
// or neither, too: of these, more can be said.
func Describe(ctx context.Context, inputs []link.Input) (rest []link.Input, list []Description) {
	for _, in := range inputs {
		name, data := holder(ctx, in)
		cubins, err := container.Cubins(name, data, container.Options{})
		ltoIR, _ := container.LTOIRs(name, data, container.Options{})
		if members, _ := container.Open(name, data, container.Options{}); err != nil || len(cubins)+len(ltoIR) == 0 || len(members) > 0 {
			rest = append(rest, in)
		}
		for _, l := range ltoIR {
			list = append(list, Description{Name: l.Name, LTOIR: cmp.Or(l.Target, "an unknown GPU"), Bytes: len(l.Data), Symbols: []DescriptionSymbol{}})
		}
		for _, c := range cubins {
			d := Description{Name: c.Name, Target: c.Target, Relocatable: c.Relocatable(), Bytes: len(c.Data), Symbols: []DescriptionSymbol{}}
			symbols, _ := c.Symbols() // none of a damaged cubin
			for _, s := range symbols {
				d.Symbols = append(d.Symbols, DescriptionSymbol{s.Name, s.Kind(), s.Linkage(), s.Defined, s.Size, link.CubinTypes(s.Prototype), s.Registers})
			}
			list = append(list, d)
		}
	}
	return rest, list
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

// from reports whether one of the cubins is that of a member of an archive.
func (c *Cubins) from(archive string) bool {
	return slices.ContainsFunc(c.List, func(cubin container.Cubin) bool { return strings.HasPrefix(cubin.Name, archive+"(") })
}

// Offered returns the cubins, and the definitions in members of archives that are not linked
// yet, for the link whose result Pull takes. In that link names of those members may stay
// undefined, and no PTX of an archive is linked for them.
func (c *Cubins) Offered() []link.Cubin {
	list := slices.Clone(c.Symbols)
	for _, member := range c.archived.Symbols {
		offered := link.Cubin{Name: member.Name, Archived: true}
		for _, s := range member.Symbols {
			if s.Weak = true; s.Defined {
				offered.Symbols = append(offered.Symbols, s)
			}
		}
		list = append(list, offered)
	}
	return list
}

// Pull links the members of archives that the modules of a link or the cubins need, of
// several that define a name the first. It reports whether there are any: then the modules
// may need more.
func (c *Cubins) Pull(r *link.Result) (pulled bool) {
	offers := map[string]int{} // the first member that defines a name
	for i, member := range c.archived.Symbols {
		for _, s := range member.Symbols {
			if _, known := offers[s.Name]; s.Defined && !known {
				offers[s.Name] = i
			}
		}
	}
	defined := map[string]bool{}
	var needed []string
	for _, s := range r.Symbols() {
		if s.Linkage == "extern" {
			needed = append(needed, s.Name)
		} else {
			defined[s.Name] = true
		}
	}
	for _, s := range r.Removed() { // a member may need it yet
		defined[s.Name] = defined[s.Name] || s.Linkage != ""
	}
	note := func(cubin link.Cubin) {
		for _, s := range cubin.Symbols {
			if s.Defined {
				defined[s.Name] = true
			} else {
				needed = append(needed, s.Name)
			}
		}
	}
	for _, cubin := range c.Symbols {
		note(cubin)
	}
	taken := make([]bool, len(c.archived.List))
	for len(needed) > 0 {
		name := needed[0]
		needed = needed[1:]
		i, offered := offers[name]
		if !offered || defined[name] {
			continue
		}
		taken[i], pulled = true, true
		note(c.archived.Symbols[i])
		c.List, c.Symbols = append(c.List, c.archived.List[i]), append(c.Symbols, c.archived.Symbols[i])
	}
	left := &Cubins{}
	for i := range taken {
		if !taken[i] {
			left.List, left.Symbols = append(left.List, c.archived.List[i]), append(left.Symbols, c.archived.Symbols[i])
		}
	}
	c.archived = left
	return pulled
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
