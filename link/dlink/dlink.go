// Package dlink reads the inputs of nvcc's device link, and writes its register file.
package dlink

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/mapped"
	"ptxlink/link"
	"ptxlink/object/container"
)

// File is a file on the command line of nvlink.
type File struct {
	Path    string
	Library bool // found by -l
}

// Options are the options of Read.
type Options struct {
	// Arch is the GPU of the link, such as "sm_80".
	Arch string
	// System links all of libcudadevrt.a, and not only what is needed.
	System bool
	// MaxInputSize is the same as in link.Options.
	MaxInputSize int64
}

// Job is a device link.
type Job struct {
	// Inputs are those of link.Options.
	Inputs []link.Input

	units []unit // one for each input
}

// unit is an input of the link with the IDs that its objects register.
type unit struct {
	input link.Input
	ids   []string
	code  bool // a host object, which has an ID
}

// systemLibrary is linked only if something needs it: nvcc names it in every link.
const systemLibrary = "libcudadevrt.a"

// Read finds the device code in the files, by the rules of nvlink:
//
//  1. Of a host object, only relocatable device code (nvcc -dc) is linked. Objects
//     without any are skipped.
//  2. Of an archive of host objects, all members are linked. The host linker may take
//     any of them, and a program registers its kernels only when each object that was
//     linked here is there.
//  3. What was linked into an output of nvcc -dlink among the files is not linked again.
//  4. A -l that finds no archive is skipped: it is a library of the host.
//
// PTX, fatbins and archives of PTX become inputs as they are, and only the needed
// members of such an archive are linked. So do files that cannot be read: link.Link
// reports why.
func Read(ctx context.Context, files []File, o Options) *Job {
	var units []unit
	linked := map[string]bool{}
	libraries := map[string]bool{}
	for _, f := range files {
		data, err := read(ctx, f.Path)
		if archive := err == nil && container.IsArchive(data); archive {
			path, err := filepath.Abs(f.Path)
			if err == nil && libraries[path] {
				continue
			}
			libraries[path] = true
		} else if f.Library {
			continue
		}
		var codes []container.HostCode
		other := true
		if err == nil {
			codes, other, err = container.HostCodes(f.Path, data, container.Options{MaxSize: o.MaxInputSize})
		}
		if err != nil || other {
			units = append(units, unit{input: link.Input{Path: f.Path}})
			continue
		}
		for _, code := range codes {
			for _, id := range code.Linked {
				linked[id] = true
			}
		}
		if filepath.Base(f.Path) == systemLibrary && !o.System {
			var ids []string
			for _, code := range codes {
				ids = append(ids, code.IDs...)
			}
			units = append(units, unit{input: link.Input{Path: f.Path}, ids: ids})
			continue
		}
		for _, code := range codes {
			if len(code.Fatbin) > 0 {
				units = append(units, unit{input: link.Input{Name: code.Name, Text: code.Fatbin}, ids: code.IDs, code: true})
			}
		}
	}
	j := &Job{}
	for _, u := range units {
		if u.code && slices.ContainsFunc(u.ids, func(id string) bool { return linked[id] }) {
			continue
		}
		j.units = append(j.units, u)
		j.Inputs = append(j.Inputs, u.input)
	}
	if len(j.Inputs) == 0 {
		j.Inputs = []link.Input{{Name: "<no device code>", Text: emptyModule(o.Arch)}}
	}
	return j
}

// read maps a regular file, until the process ends, or reads it.
func read(ctx context.Context, path string) ([]byte, error) {
	f, info, err := infile.OpenRegular(path, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infile.Of(ctx).Add(path, info)
	if info.Size() >= mapped.Least {
		if data, ok := new(mapped.Files).Read(path, f.Fd(), info.Size()); ok {
			return data, nil
		}
	}
	return infile.Read(f, info)
}

// emptyModule returns a module that every ptxas which knows the GPU accepts.
func emptyModule(arch string) []byte {
	target := "sm_75" // ptxas 13 knows no older one
	if len(arch) == len(target) && arch < target {
		target = arch
	}
	return fmt.Appendf(nil, "//\n.version 6.3\n.target %s\n.address_size 64\n", target)
}

// RegisterFile returns what nvlink writes to the file of --register-link-binaries,
// which nvcc compiles into the program: the IDs of the linked objects.
func (j *Job) RegisterFile(r *link.Result) []byte {
	var ids []string
	for _, u := range j.units {
		if u.code || slices.ContainsFunc(r.Modules, func(m link.Module) bool { return m.Path != "" && m.Path == u.input.Path }) {
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
