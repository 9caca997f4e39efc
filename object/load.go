package object

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"ptxlink/internal/infile"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Input is one thing to read. Text wins over Reader, and Reader over Path.
type Input struct {
	// Name is the name of the input in messages, the map and the dependency list; empty means Path,
	// and "<input 1>" for the first input if that is empty too.
	Name string
	// Path names a file to read.
	Path string
	// Text is PTX in memory. It must not change while the result is in use, because messages and
	// the line map refer to it.
	Text []byte
	// Reader is read to its end, once.
	Reader io.Reader
	// WholeArchive links every member of an archive, needed or not. Other inputs are always linked.
	WholeArchive bool
	// NoIndex reads all members of an archive and ignores its index.
	NoIndex bool
	// Opened is what Keep has read of the input, for the same Arch.
	Opened *Opened
}

// Named returns inputs with names for those without a name and a path.
func Named(inputs []Input) []Input {
	list := slices.Clone(inputs)
	for i, in := range list {
		if in.Name == "" && in.Path == "" {
			list[i].Name = fmt.Sprintf("<input %d>", i+1)
		}
	}
	return list
}

// Options control reading.
type Options struct {
	Jobs    int          // inputs read in parallel; 0 means one per CPU
	Arch    string       // "sm_80": selects one PTX of a fatbin; empty selects the highest
	All     bool         // take all PTX of a fatbin
	Map     *infile.Maps // maps large files, which are read if it is nil
	Lines   bool         // count the lines of all modules while their text is in memory, because they will be needed
	MaxSize int64        // bytes of decompressed data of one input; 0 means 4 GiB
}

// Load reads and parses all inputs, in parallel, and returns their modules in
// command-line order; modules of a container are in file order. The log gets all errors of all
// inputs, in the same order. unread is set if some input could not be read at all.
func Load(ctx context.Context, inputs []Input, o Options, log *diag.Log) (files []*File, unread bool, err error) {
	set, err := Open(ctx, inputs, o, log)
	if err != nil {
		return nil, false, err
	}
	if err := set.Read(ctx, set.Units, log); err != nil {
		return nil, false, err
	}
	for _, u := range set.Units {
		if u.File != nil {
			u.File.Rank, u.File.Input = len(files), u.Input
			files = append(files, u.File)
		}
	}
	return files, set.Unread, nil
}

func (in Input) name() string { return cmp.Or(in.Name, in.Path) }

// alternatives picks one member of each group, -1 if none is usable:
//
//  1. the one for exactly the architecture, including its a or f
//  2. the highest that runs on it
//
// Without an architecture, it picks the highest without a or f, or the only one.
func alternatives(members []container.Member, arch string, picked func(group []container.Member, best int)) {
	gpu, _ := ParseGPU(arch)
	for i := 0; i < len(members); {
		end := i + 1
		for members[i].Group != 0 && end < len(members) && members[end].Group == members[i].Group {
			end++
		}
		group := members[i:end]
		i = end
		best, highest := -1, 0
		for k, m := range group {
			target, known := ParseGPU(m.Target)
			switch {
			case arch != "" && m.Target == arch:
				best = k
			case m.Target == "" && best < 0:
				best = k
			case best >= 0 && group[best].Target == arch && arch != "":
			case !known, arch == "" && target.Suffix != 0, arch != "" && !gpu.Runs(target):
			case best < 0 || target.Number >= highest: // the last among equals, like nvlink
				best, highest = k, target.Number
			}
		}
		if best < 0 && arch == "" {
			best = 0
		}
		picked(group, best)
	}
}

// claim copies the host that the container records into empty fields of f.
func (f *File) claim(m *container.Member, log *diag.Log) {
	f.PtxasOptions = m.Options
	if f.Host.OS == "" && m.OS != "" {
		h, err := ParseHost(m.OS + "-" + m.Arch)
		if err != nil { // another processor than --host allows
			h, err = ParseHost(m.OS)
		}
		if err == nil {
			f.Host.OS, f.Host.Model = h.OS, h.Model
		}
	}
	// Values must be checked, because containers of other tools may hold anything, and records may
	// be forged.
	if h := (Host{OS: f.Host.OS, Arch: m.Arch}); f.Host.Arch == "" && h.valid() {
		f.Host.Arch = m.Arch
	}
	if h := (Host{OS: f.Host.OS, Model: m.Model}); m.Model != "" && h.valid() {
		f.Host.Model = m.Model
	}
	if m.AddressSize != 0 && f.AddressSize != 0 && m.AddressSize != f.AddressSize {
		log.Error(diag.AddressSizeMismatch, f.At(f.AddressSpan), fmt.Sprintf("%d-bit addresses, but the container says %d", f.AddressSize, m.AddressSize)).
			WithHelp("the container is damaged or mislabelled; build it again")
	}
}
