package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/diag"
)

var nvlinkCommand = subcommand{
	Command: described("nvlink"),
	first:   optionFiles,
	like:    map[string]string{"-c": "-r"},
	run:     links((*linkRequest).nvlink),
}

// hostScript is the option with which NVIDIA's nvlink links nothing, so it needs neither inputs nor
// --arch.
const hostScript = "gen-host-linker-script"

// optionFiles replaces -optf FILE,... with @FILE.
func optionFiles(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		name, files, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case args[i] == "--":
			return append(out, args[i:]...)
		case name != "optf" && name != "options-file" || !strings.HasPrefix(args[i], "-"), !assigned && i+1 == len(args):
			out = append(out, args[i])
			continue
		case !assigned:
			i++
			files = args[i]
		}
		for file := range strings.SplitSeq(files, ",") {
			out = append(out, "@"+file)
		}
	}
	return out
}

func (j *linkRequest) nvlink() error {
	if j.opts.Bool("version") {
		said := "ptxlink nvlink: " + version() + "\n"
		if path, err := j.findPtxas(); err == nil {
			if release, _ := ptxas.Release(j.opts.Context, path); release != "" { // XLA needs nvlink's release
				said += release + "\n"
			}
		}
		return j.show([]byte(said))
	}
	if err := j.readMessageOptions(j.opts); err != nil {
		return err
	}
	sets.Put(&j.report.warnings.hidden, diag.EmptyCubin, true) // usual for the device code of a library
	if j.opts.IsSet(hostScript) {
		return j.handOver("--" + hostScript)
	}
	arch, register := j.opts.String("arch"), j.opts.String("register-link-binaries")
	virtual := object.IsVirtual(arch)
	j.output, j.format = j.opts.String("output-file"), "cubin"
	left, lto := j.leftToNvlink(), j.opts.Bool("link-time-opt")
	if err := inOrder(func() error { return j.checkNvlink(arch, register, virtual) }, j.readLink, j.readLinkerOptions, j.readFiles, j.readAssembler); err != nil {
		return err
	}
	if err := j.warnLeft(left, virtual); err != nil {
		return err
	}
	files := j.deviceFiles(append(splitCommas(j.opts.StringSlice("L")), filepath.SplitList(os.Getenv("LIBRARY_PATH"))...))
	if err := cmp.Or(j.checkFile(register), j.checkFiles()); err != nil {
		return err
	}
	o := dlink.Options{Arch: arch, System: j.opts.Bool("keep-system-libraries"), LTO: lto, MapInputs: j.memory == nil}
	j.options.Relocatable = j.opts.Bool("relocatable-link")
	j.options.StripDebug = j.options.StripDebug || j.opts.Bool("suppress-debug-info")
	j.options.Verbose, j.assembler.Verbose = false, false // because --verbose prints registers here
	j.assembler.SuppressStackWarnings = j.opts.Bool("suppress-stack-size-warning")
	if n := j.opts.String("maxrregcount"); n != "" {
		j.assembler.Args = append(j.assembler.Args, "--maxrregcount="+n)
	}
	if left == "" && !virtual {
		if err := j.findCubinTools(); err != nil {
			return err
		}
		j.prefer = j.preference(j.assembler.Nvlink)
	}
	read := func(prefer dlink.Preference) *dlink.Job {
		o.Prefer = prefer
		return dlink.Read(j.opts.Context, files, o)
	}
	job := read(j.prefer)
	failed := slices.ContainsFunc(job.Messages, func(m *link.Message) bool { return m.Kind == diag.Error })
	if failed || !j.opts.Bool("suppress-arch-warning") {
		if err := j.tell(job.Messages, exitLink); err != nil {
			return err
		}
	}
	j.options.Arch = job.Arch
	j.options.WholeProgram, j.options.HostObject = job.WholeProgram, job.HostObject
	j.options.NotLinked = append(job.NotLinked, j.options.NotLinked...)
	j.separate = func(by dlink.Preference) (dlink.Separated, []*link.Message) {
		if by == j.prefer {
			return job.Separated, nil
		}
		job := read(by)
		return job.Separated, job.Messages
	}
	j.options.Kernels = splitCommas(j.opts.StringSlice("kernels-used"))
	j.assembler.Kernels = j.options.Kernels
	if !slices.ContainsFunc([]string{"kernels-used", "variables-used", "ignore-host-info", "debug"}, j.opts.IsSet) {
		j.options.Launched = job.Launched
	}
	if job.Unknown {
		j.options.AllowUndefined = []string{"*"}
	}
	if left != "" {
		return j.handOver(left)
	}
	if virtual {
		return j.linkVirtual(job, register)
	}
	return j.job().produce(func(run *linkJob, result *link.Result) []outfile.File {
		if len(j.options.Launched) > 0 {
			run.build.Kernels, _ = dlink.Kernels(result, job.Launched, result.Cubins)
		}
		return registerFile(job, register, result)
	})
}

// warnLeft warns about options that have no effect if NVIDIA's nvlink or the driver links.
func (j *linkRequest) warnLeft(left string, virtual bool) error {
	if left == "" && !virtual {
		return nil
	}
	who := "NVIDIA's nvlink links with " + left
	if left == "" {
		who = "the driver links what is built for " + j.opts.String("arch")
	}
	var log diag.Log
	_, ours := flagsOf("nvlink")
	for _, f := range ours {
		if name := f.Names()[0]; j.opts.IsSet(name) && (describeFlag(f).category == "Optimisation" || slices.Contains(sideFiles, name)) {
			log.Warn(diag.UnusedOption, diag.Place{}, spell(name)+" has no effect, because "+who)
		}
	}
	return j.tell(log.Messages, exitUsage)
}

// findCubinTools finds the programs that make a cubin, as nvcc does.
func (j *linkRequest) findCubinTools() (err error) {
	j.usage = j.usage || j.opts.Bool("verbose")
	j.assembler.Usage, j.assembler.Compile = j.assembler.Usage || j.usage, j.options.Relocatable
	if j.assembler.Path, err = j.findPtxas(); err != nil {
		return &exitError{exitIO, err}
	}
	if j.assembler.Nvlink, err = j.assembler.TryNvlink(j.opts.Context, j.opts.String("nvlink")); err != nil { // otherwise the mode is whole
		return &exitError{exitIO, err}
	}
	return nil
}

// checkNvlink returns an error if a command line of ptxlink nvlink is not valid.
func (j *linkRequest) checkNvlink(arch, register string, virtual bool) error {
	if arch == "" {
		return usageError("no --arch", "--arch=sm_80 names the GPU")
	}
	if number, lto := strings.CutPrefix(arch, "lto_"); lto {
		return usageError(arch+" names LTO-IR and no GPU to link for", "link with -dlto --arch=sm_"+number)
	}
	if err := object.CheckArch(object.RealArch(arch), j.spelling); err != nil {
		return err
	}
	switch {
	case len(j.inputs) == 0:
		return usageError("no input files", "ptxlink --help shows the usage")
	case j.output == "" && !virtual:
		return usageError("no output", "name the cubin with -o")
	case register != "" && j.sameOutput(j.output, register):
		return usageError(fmt.Sprintf("-o and --register-link-binaries would both write %s", register), "")
	}
	return nil
}

// leftToNvlink returns the option that leaves the link to NVIDIA's nvlink, or "".
func (j *linkRequest) leftToNvlink() string {
	listed, _ := flagsOf("nvlink")
	for _, f := range listed {
		if name := f.Names()[0]; j.opts.IsSet(name) && describeFlag(f).category == "Left to NVIDIA's nvlink" {
			return "--" + name
		}
	}
	return ""
}

// forNvlink returns the arguments for NVIDIA's nvlink. They are the typed ones, unless they have an
// option of ptxlink, perhaps in a file: nvlink would refuse it, so it must be removed.
func (j *linkRequest) forNvlink() []string {
	_, ours := flagsOf("nvlink")
	if !slices.ContainsFunc(ours, func(f cli.Flag) bool { return j.opts.IsSet(f.Names()[0]) }) {
		return j.typed
	}
	t, value := newTable(ours, nil), false
	return slices.DeleteFunc(slices.Clone(j.expanded), func(arg string) bool {
		if value {
			value = false
			return true
		}
		name, _, assigned := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := t.named[name]
		known := f != nil && strings.HasPrefix(arg, "-")
		value = known && !assigned && needsValue(f)
		return known
	})
}

// handOver runs NVIDIA's nvlink with the same arguments, but only if the checks find no error.
func (j *linkRequest) handOver(option string) (err error) {
	if j.assembler.Path, err = j.findPtxas(); err != nil {
		return &exitError{exitIO, err}
	}
	j.options.CheckOnly = true
	job := j.job()
	nvlink, err := job.findNvlink("needed for " + option)
	if err != nil {
		return err
	}
	if option != "--"+hostScript {
		if _, err := job.linkAll(); err != nil {
			return err
		}
	}
	out, err := tool.Run(j.opts.Context, tool.Command{Path: nvlink, Args: j.forNvlink(), Stdin: j.stdin, Apart: true})
	if err != nil {
		return &exitError{exitIO, err}
	}
	j.stderr.Write(out.Errors)
	if err := j.show(out.Said); err != nil {
		return err
	}
	if err = out.Verdict("nvlink", diag.NvlinkError, !out.State.Success() && len(out.Errors)+len(out.Said) > 0); errors.Is(err, tool.ErrRejected) {
		return &exitError{code: exitLink}
	}
	return err
}

// deviceFiles returns the inputs in nvlink's order: files, then libraries. A library that is in no
// directory belongs to the host, as for nvlink, and so does a shared one, so they are skipped.
func (j *linkRequest) deviceFiles(dirs []string) (files []dlink.File) {
	var libraries []dlink.File
	inputs := slices.DeleteFunc(slices.Clone(j.inputs), func(in input) bool {
		dir, ok := libraryPath(in.name)
		if ok {
			dirs = append(dirs, dir)
		}
		return ok
	})
	for _, in := range inputs {
		if kept, ok := j.memory.input(in); ok {
			files = append(files, dlink.File{Path: in.name, Text: kept.Text})
			continue
		}
		names := strings.Split(in.name, ",")
		if !in.library {
			searched := filepath.Base(in.name) == in.name && strings.EqualFold(filepath.Ext(in.name), ".lib")
			if searched {
				_, err := os.Stat(in.name)
				searched = err != nil
			}
			if !searched {
				files = append(files, dlink.File{Path: in.name})
				continue
			}
			names = []string{":" + in.name}
		}
		for _, name := range names {
			path, ok := object.LibraryFile(name, dirs)
			shared := sharedLibrary(name, path, dirs)
			bare, exact := strings.CutPrefix(strings.TrimSuffix(strings.ToLower(name), ".lib"), ":")
			switch {
			case ok && shared == "":
				libraries = append(libraries, dlink.File{Path: path, Library: true})
			case object.IsHostLibrary(bare):
			case exact:
				j.options.NotLinked = append(j.options.NotLinked, name[1:]+", as no -L directory has it"+similarLibrary(name, dirs))
			case shared != "":
				j.options.NotLinked = append(j.options.NotLinked, "-l"+name+", as the host linker takes "+shared)
			default:
				j.options.NotLinked = append(j.options.NotLinked, "-l"+name+", as no -L directory has lib"+name+".a"+similarLibrary(name, dirs))
			}
		}
	}
	files = append(files, libraries...)
	for _, f := range files {
		j.paths = append(j.paths, f.Path)
	}
	return files
}

// similarLibrary returns the end of a message about a missing library, which suggests another name.
func similarLibrary(name string, dirs []string) string {
	return diag.Question("", strings.TrimPrefix(object.SimilarLibrary(name, dirs), "-l:")) // x.lib is looked up as -l:x.lib
}

// sharedLibrary returns the shared library that the host linker would take for -l name, or "" if
// the archive is in an earlier directory.
func sharedLibrary(name, archive string, dirs []string) string {
	for _, dir := range dirs {
		path := filepath.Join(dir, "lib"+name+".so")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		if archive != "" && filepath.Dir(archive) == filepath.Clean(dir) {
			break
		}
	}
	return ""
}

// libraryPath returns the directory in /LIBPATH:DIR. nvcc writes this on Windows instead of -L DIR.
func libraryPath(word string) (dir string, ok bool) {
	const option = "/LIBPATH:"
	if len(word) <= len(option) || !strings.EqualFold(word[:len(option)], option) {
		return "", false
	}
	return word[len(option):], true
}

// findPtxas finds the ptxas of the toolkit in whose place this program links: --ptxas or $PTXAS,
// otherwise the one beside the nvlink by whose path this program was called, because Bazel's
// rules_cuda calls a link to the toolkit's nvlink without PATH. Otherwise it is the one on PATH,
// because nvcc puts its own directory first. If nvcc is called by a relative path, that directory
// is relative too, and must be accepted, although package exec refuses it to be safe.
func (j *linkRequest) findPtxas() (string, error) {
	if named := j.opts.String("ptxas"); named != "" || os.Getenv("PTXAS") != "" {
		return j.assembler.Find(named)
	}
	for _, name := range calledBy() {
		dir, base := filepath.Split(name)
		if path := filepath.Join(dir, "ptxas"+tool.Exe); base == "nvlink"+tool.Exe && tool.IsProgram(path) {
			return path, nil
		}
	}
	path, err := exec.LookPath("ptxas")
	if err != nil && (runtime.GOOS == "windows" || !errors.Is(err, exec.ErrDot)) {
		return j.assembler.Find("")
	}
	return filepath.Abs(path)
}

func splitCommas(list []string) (parts []string) {
	for _, value := range list {
		parts = append(parts, strings.Split(value, ",")...)
	}
	return parts
}
