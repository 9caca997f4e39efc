package dlink

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Separated is the result of Separate.
type Separated struct {
	Modules []link.Input    // inputs for link.Link, with places for the LTO-IR
	Cubins  []*object.Cubin // machine code, also members of archives that are linked only if something needs them
	LTOIR   Intermediate
	Bitcode Intermediate
	Arch    string // the GPU to link for, if it differs from the options
	// Preferred is set if a cubin is linked instead of PTX, and BothForms if an input has both and
	// its PTX is linked.
	Preferred, BothForms bool
	// Archives are the paths of archives with such cubins, LTO-IR or bitcode.
	Archives []string
}

// Separate takes the device code from inputs without PTX for o.Arch, or if o.Prefer prefers cubins:
// relocatable cubins that run on o.Arch, in their own files, in fatbins or in host objects;
// otherwise LTO-IR or LLVM bitcode.
func Separate(ctx context.Context, inputs []link.Input, o Options, log *diag.Log) (s Separated) {
	r := reader{Options: o, separating: true, log: log, read: infile.Of(ctx)}
	r.gpu, _ = object.ParseGPU(o.Arch)
	for _, in := range Buffered(ctx, inputs, o.MaxInputSize) {
		path, data, maps := "", []byte(nil), r.maps()
		if !o.PTX || !strings.HasSuffix(in.Path, ".ptx") { // avoids opening modules twice
			path, data = holder(ctx, in, maps)
		}
		r.Prefer = o.Prefer
		if data == nil {
			s.Modules = append(s.Modules, in)
		} else if s.take(&r, in, path, data) {
			continue
		}
		maps.Close() // because the link maps it again
	}
	return s
}

// take takes the device code of an input, unless there is nothing to take and link.Link must read
// the input.
func (s *Separated) take(r *reader, in link.Input, path string, data []byte) (found bool) {
	archive := container.IsArchive(container.Start(data))
	offers := r.offers(path, data)
	codes, all := r.chosen(offers, archive, !archive || in.WholeArchive)
	at := len(s.Modules)
	var lto, bitcode []container.Unit
	for _, code := range codes {
		switch r.verdict(code, archive) {
		case suits:
			s.BothForms = s.BothForms || r.cubinFor(code) != ""
		case cubinOnly:
			found = true
			s.Preferred = s.Preferred || slices.ContainsFunc(code.Targets(container.PTX), r.runs)
			s.Cubins = append(s.Cubins, records(r.cubins(code), archive && !in.WholeArchive, at, r.log)...)
		case ltoOnly:
			for _, unit := range r.units(code) {
				found = true
				if unit.Bitcode != nil {
					bitcode = append(bitcode, unit)
				} else {
					lto = append(lto, unit)
				}
			}
		}
	}
	if !archive || in.WholeArchive {
		r.warnOfRest(path, offers)
	}
	if !found || !all && slices.ContainsFunc(offers, func(code container.Object) bool { return code.Has(container.PTX) }) {
		s.Modules = append(s.Modules, in)
	}
	if archive && found && in.Path != "" {
		s.Archives = append(s.Archives, in.Path)
	}
	if lto != nil {
		s.Modules = append(s.Modules, s.LTOIR.add(len(s.Modules), path, lto, archive, in.WholeArchive)...)
	}
	if bitcode != nil {
		if gpu, ok := object.ParseGPU(s.Bitcode.Arch(r.Arch)); ok && archive {
			preferFor(gpu, bitcode)
		}
		s.Modules = append(s.Modules, s.Bitcode.add(len(s.Modules), path, bitcode, archive, in.WholeArchive)...)
	}
	return found
}

// warnOfRest warns about objects of a file that are not linked although others are: objects that ld
// -r merged with them, and tile kernels. It does not warn about cubins that nvcc -dlink made of the
// PTX in the file, because the PTX is linked instead.
func (r *reader) warnOfRest(path string, offers []container.Object) {
	var rest container.Object
	linked := false
	for _, code := range offers {
		switch v := r.verdict(code, false); {
		case code.Has(container.PTX) || v == ltoOnly || v == cubinOnly && slices.ContainsFunc(r.cubins(code), container.Cubin.Relocatable):
			linked = true
		default:
			rest.Codes = append(rest.Codes, code.Codes...)
		}
	}
	if !linked || len(rest.Codes) == 0 || !rest.Has(container.TileIR) && !r.lost(rest, offers) {
		return
	}
	what, help := rest.Words()
	r.log.Warn(diag.LeftOut, diag.At(&diag.Source{Name: path}, diag.Span{}), fmt.Sprintf("also holds %s, which the link leaves out", what)).WithHelp(help)
}

// lost reports whether cubins define a kernel, or relocatable ones a function, that no PTX of their file defines.
func (r *reader) lost(rest container.Object, offers []container.Object) bool {
	defined := map[string]bool{}
	for _, code := range offers {
		for _, c := range code.Codes {
			if text, err := c.Bytes(); err == nil && c.Form == container.PTX {
				list, _ := ptx.Definitions(&diag.Source{Text: text})
				for _, d := range list {
					defined[d.Name] = true
				}
			}
		}
	}
	return slices.ContainsFunc(rest.Codes, func(c container.Code) bool {
		data, err := c.Bytes()
		cubin := container.Cubin{Data: data}
		if err != nil || c.Form != container.MachineCode {
			return err == nil
		}
		symbols, _ := cubin.AllSymbols()
		return slices.ContainsFunc(symbols, func(s container.CubinSymbol) bool {
			counts := s.Kind() == "entry" || s.Kind() == "func" && cubin.Relocatable()
			return counts && s.Defined && s.Linkage() != "local" && !defined[s.Name]
		})
	})
}

// chosen returns the objects of a file that have machine code, LTO-IR or bitcode, and whether
// nothing of the file is linked as PTX. If a file is linked whole, link.Link takes all PTX, also
// beside cubins that nvlink does not link, so r.Prefer must then become PreferPTX.
func (r *reader) chosen(offers []container.Object, archive, whole bool) (codes []container.Object, all bool) {
	said := len(r.log.Messages)
	codes, all = r.relocatable(offers, archive)
	if whole && len(r.log.Messages) == said && r.Prefer != PreferPTX && (!all || len(codes) < len(offers)) {
		r.Prefer = PreferPTX
		codes, all = r.relocatable(offers, archive)
	}
	return codes, all
}

// holder returns the name and the contents of an input that may hold more than PTX, or nil.
func holder(ctx context.Context, in link.Input, maps *infile.Maps) (name string, data []byte) {
	if data = in.Text; data == nil && in.Path != "" && in.Reader == nil && mayHold(ctx, in.Path) {
		data, _ = read(ctx, in.Path, maps) // link.Link gets and reports the same error
	}
	if !startsAsHolder(container.Start(data)) || container.IsPackage(data) {
		return "", nil
	}
	return cmp.Or(in.Name, in.Path), data
}

func (r *reader) offers(path string, data []byte) []container.Object {
	list, _ := container.Objects(path, data, r.containers()) // link.Link reports the errors
	for i := range list {
		if !r.separating { // because nvcc knows no bitcode
			list[i].Codes = slices.DeleteFunc(list[i].Codes, func(c container.Code) bool { return c.Form == container.LLVMBitcode })
		}
	}
	return list
}

// relocatable returns the objects of a file that have machine code, LTO-IR or bitcode, without the
// cubins that nvlink does not link because they have been linked. It is faster to read only cubins
// that may be taken, or that a message will name. all is set if nothing of the file is linked as
// PTX.
func (r *reader) relocatable(offers []container.Object, archived bool) (list []container.Object, all bool) {
	all = true
	for _, code := range offers {
		v := r.verdict(code, archived)
		all = all && (v == cubinOnly || v == ltoOnly)
		code.Codes = slices.DeleteFunc(slices.Clone(code.Codes), func(c container.Code) bool {
			if c.Form != container.MachineCode || !(v == cubinOnly && r.fits(c.Target) || v == unsuited && !r.separating) {
				return false
			}
			cubin, ok := r.cubin(code, c)
			return !ok || !cubin.Relocatable()
		})
		if code.Has(container.MachineCode) || code.Has(container.LTOIR) || code.Has(container.LLVMBitcode) {
			list = append(list, code)
		}
	}
	return list, all
}

// cubin reads a cubin of an object, or reports why it cannot be read.
func (r *reader) cubin(of container.Object, c container.Code) (cubin container.Cubin, ok bool) {
	data, err := c.Bytes()
	if err != nil {
		object.Refuse(c.Name, err, r.log)
	}
	return container.Cubin{Name: of.Name, Target: c.Target, Data: data}, err == nil
}

// mayHold reports whether a regular file may hold more than PTX, by its first bytes.
func mayHold(ctx context.Context, path string) bool {
	magic := infile.Of(ctx).Head(path, 20)
	return startsAsHolder(magic) || container.IsCompressed(magic)
}

// startsAsHolder reports whether a file may hold more than PTX, because it starts like a cubin or a
// host file, a fatbin, an archive, LTO-IR or LLVM bitcode.
func startsAsHolder(magic []byte) bool {
	return container.IsLTOIR(magic) || container.IsTileIR(magic) || container.IsBitcode(magic) || bytes.HasPrefix(magic, []byte("\x7fELF")) || container.IsHostFile(magic) || container.IsFatbin(magic) || container.IsArchive(magic)
}

// Buffered returns the inputs with their contents if they can be read only once, such as standard
// input and named pipes, because several passes must read them. If an input cannot be read, it is
// left to link.Link, which reports why. limit is link.Options.MaxInputSize.
func Buffered(ctx context.Context, inputs []link.Input, limit int64) []link.Input {
	inputs = slices.Clone(inputs)
	for i := range inputs {
		in := &inputs[i]
		if in.Text == nil && in.Reader == nil && isPipe(in.Path) {
			in.Reader = &pipe{path: in.Path}
		}
		if in.Text == nil && in.Reader != nil {
			in.Text, in.Reader = object.Buffer(ctx, in.Reader, limit)
		}
	}
	return inputs
}

// isPipe reports whether a file can be read only once, such as /dev/fd/63.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// pipe is a named pipe. It is opened only when it is read, because opening may block.
type pipe struct {
	path string
	file *os.File
}

func (p *pipe) Read(b []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.Open(p.path); err != nil {
			return 0, err
		}
	}
	if n, err = p.file.Read(b); err != nil {
		p.file.Close()
	}
	return n, err
}
