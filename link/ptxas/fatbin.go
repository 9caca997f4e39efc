package ptxas

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"ptxlink/internal/outfile"
	"ptxlink/internal/tool"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

func (b Build) fatbinArgs(targets []Target) []string {
	args := []string{"-64", "--create=linked.fatbin"}
	for _, t := range targets {
		b.Arch = t.Arch
		args = append(args, "--image3=kind=elf,sm="+object.ArchNumber(b.Arch)+",file="+filePrefix(targets, t)+outputName)
	}
	t := Portable(targets)
	b.Modules = t.Result.Modules
	if all, _ := newTeller(b.Options, t.Result).common(); len(all) > 0 {
		args = append(args, "--cmdline="+strings.Join(all, " ")) // the form of nvcc
	}
	if len(t.Cubins) > 0 { // because the PTX lacks the definitions in the cubins
		return args
	}
	return append(args, "--image3=kind=ptx,sm="+object.ArchNumber(t.Result.Target)+",file="+filePrefix(targets, t)+inputName)
}

func filePrefix(targets []Target, t Target) string {
	if len(targets) == 1 {
		return ""
	}
	return t.Arch + "."
}

// Portable returns the target whose PTX the driver compiles for later GPUs. It must be PTX that
// later GPUs run, unlike sm_90a and sm_100f, and among such targets the one for the highest GPU.
// Otherwise it is the one for the highest GPU of all.
func Portable(targets []Target) Target {
	rank := func(t Target) int {
		gpu, _ := object.ParseGPU(t.Arch)
		if target, _ := object.ParseGPU(t.Result.Target); target.Suffix == 0 {
			gpu.Number += 1 << 16
		}
		return gpu.Number
	}
	return slices.MaxFunc(targets, func(a, b Target) int { return cmp.Compare(rank(a), rank(b)) })
}

// Fatbin packs the outputs of AssembleAll and the PTX of the Portable target into a fatbin. The PTX
// is missing if cubins were linked with it, because their definitions would be missing in it.
// fatbinary is the path of fatbinary.
func (b Build) Fatbin(ctx context.Context, fatbinary string, targets []Target, outputs []Output) ([]byte, error) {
	args := b.fatbinArgs(targets)
	if b.Command != nil {
		b.Command(append([]string{fatbinary}, args...))
		return nil, nil
	}
	t := Portable(targets)
	files := []outfile.File{{Path: filePrefix(targets, t) + inputName, Data: t.PTX}}
	for i, t := range targets {
		files = append(files, outfile.File{Path: filePrefix(targets, t) + outputName, Data: outputs[i].Cubin})
	}
	dir, remove, err := outfile.TempDir(files...)
	if err != nil {
		return nil, err
	}
	defer remove()
	out, err := tool.Run(ctx, tool.Command{Path: fatbinary, Args: args, Dir: dir})
	if err != nil {
		return nil, err
	}
	said := strings.Split(strings.TrimSpace(string(out.Said)), "\n")
	fatbin, err := out.Take("fatbinary", diag.Fatbinary, said[0] != "" && !out.State.Success(), tool.Wanted{Form: "fatbin", Dir: dir, File: "linked.fatbin", Check: checkFatbin})
	if errors.Is(err, ErrRejected) {
		m := diag.New(diag.Fatbinary, diag.Place{}, "fatbinary failed: "+first(said, maxPlain)).WithHelp("the program is " + fatbinary)
		m.Err = err
		return nil, m
	}
	return fatbin, err
}

func checkFatbin(data []byte) error {
	if !container.IsFatbin(data) {
		return errors.New("it is not a fatbin")
	}
	return nil
}
