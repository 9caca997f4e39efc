package program

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Header holds the directives at the top of the output.
type Header struct {
	Version     ptx.Version
	versionFile *object.File // the first input with this version
	arch        arch
	options     []string // texmode_independent, ... without debug
	AddressSize int
}

// Arch returns the architecture of the output, such as "sm_90a".
func (h Header) Arch() string { return h.arch.String() }

// arch is the architecture word of .target. Its number is 0 if .target has none.
type arch struct {
	object.GPU
	file *object.File
	span diag.Span
}

func (a arch) place() diag.Place { return a.file.At(a.span) }

// archOf returns the architecture of a module. If .target lists several, the last
// one counts, as in ptxas. compute_80 means sm_80.
func archOf(f *object.File, log *diag.Log) arch {
	a := arch{file: f}
	for _, o := range f.Target {
		if !object.IsArch(o.Word) {
			continue
		}
		gpu, ok := object.ParseGPU(o.Word)
		if !ok {
			log.Error(diag.TargetName, f.At(o.Span), "target "+o.Word+" is not sm_ and a number")
			return arch{file: f}
		}
		a.GPU, a.span = gpu, o.Span
	}
	if a.Number == 0 {
		log.Error(diag.TargetName, f.At(f.TargetSpan), "no architecture in .target").WithHelp("for example, write .target sm_80")
	}
	return a
}

// MergeHeaders returns the header of an output, which has parts from each file. version is the
// version that the command line asks for, such as "7.8", or empty.
func MergeHeaders(files []*object.File, addressSize int, version string, log *diag.Log) Header {
	h := Header{versionFile: files[0], AddressSize: addressSize}
	for _, f := range files {
		if h.Version.Less(f.Version) {
			h.Version, h.versionFile = f.Version, f
		}
	}
	if version != "" {
		chosen, _ := ParseVersion(version) // cannot fail, since it was checked before
		h.choose(chosen, log)
	}
	archs := make([]arch, len(files))
	for i, f := range files {
		archs[i] = archOf(f, log)
		if !h.Version.Less(ptx.Version{Major: 9}) {
			archs[i].Number = archs[i].GPU.Renamed().Number
		}
	}
	known := slices.DeleteFunc(slices.Clone(archs), func(a arch) bool { return a.Number == 0 })
	if len(known) == 0 {
		return h // because every .target has an error already
	}
	h.arch = mergeArchs(known, log)
	h.options = mergeOptions(files, archs, log)
	for i, f := range files {
		raiseHazards(f, archs[i], h, log)
	}
	return h
}

// CheckArch reports modules that do not run on the GPU of --arch. It warns about an archive member
// that changes the target of the named inputs, because they would no longer run on some GPUs where
// they ran before.
func (h Header) CheckArch(files []*object.File, gpu string, log *diag.Log) {
	if h.arch.file == nil {
		return
	}
	var ignored diag.Log // because errors in .target have been reported already
	var named []arch
	var member arch // arch of the member that sets the target of the output
	var others []arch
	wanted, _ := object.ParseGPU(gpu) // cannot fail, since it was checked before
	for _, f := range files {
		a := archOf(f, &ignored)
		if gpu != "" && !wanted.Runs(a.GPU) {
			others = append(others, a)
		}
		switch {
		case a.Number == 0:
		case !f.Pulled:
			named = append(named, a)
		case member.file == nil || a.Suffix != 0 && member.Suffix == 0 || a.Number > member.Number && a.Suffix == member.Suffix:
			member = a
		}
	}
	if n := len(others); n > 1 && n == len(files) {
		log.Error(diag.ArchMismatch, others[0].place(), fmt.Sprintf("none of the %d modules runs on %s, which %s names; this one is for %s", n, gpu, log.Option("--arch"), others[0].where())).
			WithHelp(h.arch.remedy("them", gpu, log))
		others = nil
	}
	for _, a := range others {
		log.Error(diag.ArchMismatch, a.place(), fmt.Sprintf("this module is for %s, but %s is %s", a.where(), log.Option("--arch"), gpu)).WithHelp(a.remedy("it", gpu, log))
	}
	if gpu != "" || len(named) == 0 || member.file == nil {
		return
	}
	if was := mergeArchs(named, &ignored); was.Suffix != h.arch.Suffix || was.GPU.Renamed().Number != h.arch.GPU.Renamed().Number {
		log.Warn(diag.Target, member.place(), fmt.Sprintf("this archive member changes the target of the output from %s to %s", was, h.arch)).
			Note(was.place(), "the target of the other inputs").
			WithHelp(cmp.Or(object.ForNvlink(member.file.Name, was.String()), "use a library made for "+was.String()) + log.With("--arch "+h.arch.String(), ", or pass %s to accept the change"))
	}
}

// where describes the GPUs that a target runs on, for a message.
func (a arch) where() string {
	switch a.Suffix {
	case 'a':
		return a.String() + " only"
	case 'f':
		return a.String() + " and later ones of its family"
	}
	return a.String() + " and later"
}

// remedy returns the help for a module that does not run on a GPU, or for several. what names them
// in the text, for example "them".
func (a arch) remedy(what, gpu string, log *diag.Log) string {
	if strings.HasPrefix(filepath.Base(a.file.Path), "libdevice") {
		return "create one with ptxlink libdevice --arch " + gpu
	}
	lower := ""
	if a.Suffix == 0 {
		lower = " or lower"
	}
	return "compile " + what + " for " + gpu + lower + log.With("--arch "+a.String(), ", or link with %s")
}

// mergeArchs returns the lowest target that can run every input:
//
//  1. Plain targets: the highest number, because PTX for sm_70 runs on sm_80.
//  2. An `a` target runs only on its own architecture, so no input may have a higher
//     target or another `a` target.
//  3. An `f` target runs on its family, from its number up.
//  4. sm_1x flushes denormals and sm_20 does not, so they cannot be mixed.
func mergeArchs(archs []arch, log *diag.Log) arch {
	best := archs[0]
	refuse := func(a, b arch, why, help string) arch {
		log.Error(diag.TargetMismatch, a.place(), fmt.Sprintf("target %s cannot be linked with %s: %s", a, b, why)).
			Note(b.place(), "target "+b.String()+" here").
			WithHelp(help)
		return best
	}
	for _, a := range archs[1:] {
		if (a.Number < 20) != (best.Number < 20) {
			return refuse(a, best, "sm_1x flushes denormals to zero in single precision, later targets do not", "compile both for sm_20 or later")
		}
		switch {
		case a.Suffix == 'a' || best.Suffix == 'a':
			// Order them so that x is the `a` target, the later one if both are.
			x, y := a, best
			if x.Suffix != 'a' {
				x, y = best, a
			}
			switch {
			case y.Suffix == 'a' && y.Number != x.Number:
				return refuse(a, best, "each runs on that one architecture only", "compile both for the same architecture")
			case y.Number > x.Number:
				return refuse(a, best, x.String()+" code runs on that one architecture only", "compile all inputs for "+x.String())
			case y.Suffix == 'f' && y.Family() != x.Family():
				return refuse(a, best, y.String()+" runs on its own family only", "compile all inputs for "+x.String())
			}
			best = x
		case a.Suffix == 'f' || best.Suffix == 'f':
			x, y := a, best
			if x.Suffix != 'f' || y.Suffix == 'f' && y.Number > x.Number {
				x, y = best, a
			}
			switch {
			case y.Suffix == 'f' && y.Family() != x.Family():
				return refuse(a, best, "they are of different families", "compile both for one family")
			case y.Number > x.Number && y.Family() != x.Family():
				return refuse(a, best, x.String()+" runs on its own family only", "compile all inputs for "+x.String())
			case y.Number > x.Number:
				// A higher plain target of the same family: the result must be family code from
				// that number up.
				x.Number, x.file, x.span = y.Number, y.file, y.span
			}
			best = x
		case a.Number > best.Number:
			best = a
		}
	}
	return best
}

// mergeOptions returns the union of the .target words other than the architecture. It omits debug,
// because that depends on the sections of the output.
func mergeOptions(files []*object.File, archs []arch, log *diag.Log) []string {
	var list []string
	seen := map[string]bool{}
	for i, f := range files {
		for _, o := range f.Target {
			switch {
			case o.Word == "debug" || strings.HasPrefix(o.Word, "texmode_") || object.IsArch(o.Word):
			case o.Word == "map_f64_to_f32" && archs[i].Number >= 20: // ptxas refuses it there
			case !seen[o.Word]:
				seen[o.Word] = true
				list = append(list, o.Word)
			}
		}
	}
	return append(list, textureMode(files, log)...)
}

// textureMode merges texmode_independent, which pairs each texture with a sampler, with
// texmode_unified, the default. A body that uses textures assembles only in its own mode, so the
// modes of such bodies must agree; other bodies assemble in both.
func textureMode(files []*object.File, log *diag.Log) []string {
	if !slices.ContainsFunc(files, func(f *object.File) bool { return says(f, "texmode_independent") }) {
		return nil // so there is no need to look for textures
	}
	var independent, unified *object.File // the first input bound to each mode
	for _, f := range files {
		switch {
		case !usesTextures(f):
		case says(f, "texmode_independent"):
			independent = cmp.Or(independent, f)
		default:
			unified = cmp.Or(unified, f)
		}
	}
	if independent != nil && unified != nil {
		a, b := independent, unified
		if a.Rank < b.Rank {
			a, b = b, a
		}
		log.Error(diag.TextureMode, a.At(a.TargetSpan), "texture mode differs from "+b.Name+", and both use textures").
			Note(b.At(b.TargetSpan), "other mode here").
			WithHelp("texmode_independent pairs each texture with a sampler, texmode_unified (the default) does not; compile both for one mode")
	}
	if unified != nil {
		return nil
	}
	return []string{"texmode_independent"}
}

// usesTextures reports whether a module may use textures. It may return true for a module that does
// not, since a name that contains "tex." is enough.
func usesTextures(f *object.File) bool {
	return slices.ContainsFunc([]string{"tex.", "tld4.", "txq.", ".texref", ".samplerref"}, func(word string) bool {
		return bytes.Contains(f.Src.Text, []byte(word))
	})
}

// raiseHazards warns if raising the .version or .target of a module would make ptxas refuse an
// instruction that it accepted before, or break an assumption of the code
// (testdata/script/raise_*.txtar).
func raiseHazards(f *object.File, own arch, h Header, log *diag.Log) {
	v64, v63, v31 := ptx.Version{Major: 6, Minor: 4}, ptx.Version{Major: 6, Minor: 3}, ptx.Version{Major: 3, Minor: 1}
	syncOnly := func(v ptx.Version, number int) bool { return !v.Less(v64) && number >= 70 }
	hazard := func(what string, match func(opcode string) bool) {
		span, ok := f.FindInstruction(match)
		if !ok {
			return
		}
		log.Warn(diag.Raised, f.At(span), fmt.Sprintf("%s %s does not assemble with .version %s .target %s; the link raises this module from %s %s",
			f.Src.String(span), what, h.Version, h.arch, f.Version, own)).
			WithHelp("recompile this module for PTX " + h.Version.String())
	}
	if syncOnly(h.Version, h.arch.Number) && !syncOnly(f.Version, own.Number) {
		hazard("without .sync", func(op string) bool {
			return (strings.HasPrefix(op, "shfl.") || strings.HasPrefix(op, "vote.")) && !strings.Contains(op, ".sync")
		})
	}
	if own.Number < 70 && h.arch.Number >= 70 {
		if span, ok := f.FindInstruction(volatileShared); ok {
			log.Warn(diag.Raised, f.At(span), fmt.Sprintf("the threads of a warp may rely on running in lockstep here; the link raises this module from %s to %s, where they do not", own, h.arch)).
				WithHelp("order them with bar.warp.sync (__syncwarp()), or compile all modules for a target below sm_70")
		}
	}
	if f.Version.Less(v63) && !h.Version.Less(v63) {
		hazard("without .aligned", func(op string) bool { // because ptxas accepts it from then on
			return strings.HasPrefix(op, "wmma.")
		})
	}
	if !v31.Less(f.Version) && v31.Less(h.Version) && own.Number >= 20 {
		hazard("without a rounding mode", func(op string) bool {
			return op == "mad.f32" || op == "mad.ftz.f32" || op == "mad.sat.f32" || op == "mad.ftz.sat.f32"
		})
	}
}

// volatileShared reports whether code for warps in lockstep uses an instruction instead of a
// barrier.
func volatileShared(op string) bool {
	return strings.HasPrefix(op, "ld.volatile.shared") || strings.HasPrefix(op, "st.volatile.shared")
}
