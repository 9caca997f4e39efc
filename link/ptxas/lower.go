package ptxas

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Lowerer compiles LTO-IR to PTX with nvlink and NVIDIA's libnvvm.
type Lowerer struct {
	Options        // Path, Arch, Spelling and Cache
	Nvlink  string // its path, as returned by FindNvlink
	NVVM    string // the path of libnvvm, as returned by FindNVVM
	// Command is called with the command that compiles units; the command names the units. It may
	// be nil. Calls may overlap.
	Command func(units []container.Unit, commands [][]string)

	empty []byte // a relocatable cubin for Arch without symbols
}

// FindNVVM returns the absolute path of libnvvm, with which nvlink compiles LTO-IR. It
// searches in this order:
//
//  1. explicit, the value of --nvvm: a file
//  2. $NVVM, likewise
//  3. the toolkits of nvlink and of ptxas: nvvm/lib64, lib, lib64 and Debian's directory
//     beside bin; on Windows nvvm/bin
//  4. the directories that CUDA is usually installed in, and pip's wheels, as for Find
func (o Options) FindNVVM(explicit, nvlink string) (string, error) {
	explicit, who := tool.Asked(o.Spelling, "nvvm", explicit)
	help := "name the file with " + o.Spelling.With("--nvvm", "%s or ") + "$NVVM, pip install nvidia-nvvm, or compile to PTX: with code=compute_80 in place of code=lto_80, or -ptx in place of -optix-ir"
	if explicit != "" {
		if info, err := os.Stat(explicit); err != nil || !info.Mode().IsRegular() {
			return "", diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot use %s, which %s names: it is no file", explicit, who)).WithHelp(help)
		}
		return filepath.Abs(explicit)
	}
	var roots []string
	for _, program := range []string{nvlink, o.Path} {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		roots = append(roots, filepath.Dir(filepath.Dir(program)))
	}
	roots = append(roots, toolkits()...)
	for _, packages := range sitePackages() {
		for _, wheel := range []string{"nvidia/cu[1-9]*", "nvidia/cuda_nvcc"} {
			roots = append(roots, filepath.Join(packages, filepath.FromSlash(wheel)))
		}
	}
	for _, root := range roots {
		for _, file := range nvvmFiles(runtime.GOOS) {
			if found := Newest(filepath.Join(root, filepath.FromSlash(file))); len(found) > 0 {
				return filepath.Abs(found[0])
			}
		}
	}
	return "", diag.New(diag.Tool, diag.Place{}, "cannot find libnvvm in the toolkit of "+nvlink+", the usual directories or pip's wheels").WithHelp(help)
}

func nvvmFiles(system string) []string {
	if system == "windows" { // the directories since CUDA 13, before CUDA 13, and in wheels
		return []string{"nvvm/bin/x64/nvvm64_*.dll", "nvvm/bin/nvvm64_*.dll", "bin/x86_64/nvvm64_*.dll"}
	}
	debian := cmp.Or(map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH], runtime.GOARCH) + "-linux-gnu"
	return []string{"nvvm/lib64/libnvvm.so*", "lib/libnvvm.so*", "lib64/libnvvm.so*", "lib/" + debian + "/libnvvm.so*"}
}

// Lower compiles LTO-IR to one PTX module for l.Arch. All names that another module may see
// stay visible. If it logs an error, it returns ErrRejected.
func (l *Lowerer) Lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	defer l.Cache.Finish(log)
	if err := l.makeEmpty(ctx); err != nil {
		return nil, err
	}
	return l.lower(ctx, units, log)
}

func (l *Lowerer) lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	// The empty cubin must be there: with only LTO-IR to link, nvlink would hide functions that no
	// kernel in it needs.
	names := []string{"empty.cubin"}
	for i, u := range units {
		name := fmt.Sprintf("lto%d.ltoir", i)
		if container.IsFatbin(u.Data) { // because nvlink goes by the names
			name = fmt.Sprintf("lto%d.fatbin", i)
		}
		names = append(names, name)
	}
	args := append([]string{"-lto", "-emit-ptx", "-arch=" + l.Arch, "-nvvmpath=nvvm"}, append(names, "-o", inputName)...)
	if l.Command != nil {
		l.Command(units, NameUnitsIn([][]string{append([]string{l.Nvlink}, args...)}, names[1:], units))
	}
	key := ""
	if l.Cache != nil {
		if library := identify(l.NVVM); library != nil {
			key = l.Cache.Key(ctx, l.Nvlink, args, append(library, Digests(units)...))
		}
	}
	said, text, cached, err := l.Cache.Kept(ctx, key, CheckPTX, func() (string, []byte, error) {
		return l.nvlink(ctx, args, names, units, log)
	})
	if cached {
		l.warn(said, names, units, log)
	}
	return text, err
}

// CheckPTX returns an error if text, the output of a compiler, is not a module that ptxlink can
// read.
func CheckPTX(text []byte) error {
	if !(container.Member{Text: text}).IsPTX() {
		return errors.New("it is not PTX")
	}
	src := &diag.Source{Text: text}
	if _, err := ptx.Parse(src); err != nil {
		return fmt.Errorf("line %d: %s", src.Line(err.Span.Off), err.Text)
	}
	return nil
}

// identify returns a fingerprint of a library that must be the same on every machine: its size and
// its first pages, which hold the build ID.
func identify(path string) []byte {
	info, err := os.Stat(path)
	start := infile.Head(path, 1<<16)
	if err != nil || start == nil {
		return nil
	}
	digest := sha256.Sum256(start)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(info.Size())), digest[:]...)
}

// LowerEach compiles each unit to its own module, jobs at a time; 0 means one per CPU. It returns
// the modules in order.
func (l *Lowerer) LowerEach(ctx context.Context, units []container.Unit, jobs int, log *diag.Log) ([][]byte, error) {
	defer l.Cache.Finish(log)
	if err := l.makeEmpty(ctx); err != nil {
		return nil, err
	}
	texts, logs, errs := make([][]byte, len(units)), log.Split(len(units)), make([]error, len(units))
	err := parallel.Each(ctx, len(units), cap(newSlots(jobs)), func(i int) string { return units[i].Name }, func(i int) {
		texts[i], errs[i] = l.lower(ctx, units[i:i+1], &logs[i])
	})
	merge(log, logs)
	return texts, cmp.Or(err, tool.Worst(errs...))
}

// makeEmpty makes the cubin without symbols, unless it exists.
func (l *Lowerer) makeEmpty(ctx context.Context) (err error) {
	if l.empty != nil {
		return nil
	}
	o := Options{Path: l.Path, Arch: l.Arch, Compile: true, Spelling: l.Spelling, Cache: l.Cache}
	gpu, _ := object.ParseGPU(l.Arch)
	// Problems of the cache are left to Finish, because it reports them only once.
	log := diag.Log{Spelling: o.Spelling}
	text := object.EmptyModule(gpu)
	cubin, err := newTeller(o, &link.Result{PTX: text}).assemble(ctx, unit{text: text}, &log)
	if messages := explained(&log); errors.Is(err, ErrRejected) && len(messages) > 0 {
		return messages[0]
	}
	l.empty = cubin
	return err
}

func (l *Lowerer) nvlink(ctx context.Context, args, names []string, units []container.Unit, log *diag.Log) (said string, text []byte, err error) {
	files := []outfile.File{{Path: names[0], Data: l.empty}}
	for i, u := range units {
		files = append(files, outfile.File{Path: names[i+1], Data: u.Data})
	}
	dir, remove, err := outfile.TempDir(files...)
	if err != nil {
		return "", nil, err
	}
	defer remove()
	if err := l.placeNVVM(dir, runtime.GOOS); err != nil {
		return "", nil, err
	}
	out, err := tool.Run(ctx, tool.Command{Path: l.Nvlink, Args: args, Dir: dir})
	if err != nil {
		return "", nil, err
	}
	refused := len(bytes.TrimSpace(out.Said)) > 0 && !out.State.Success()
	text, err = out.Take("nvlink", diag.NvlinkError, refused, tool.Wanted{Form: "PTX", Dir: dir, File: inputName, Check: CheckPTX})
	if err == nil {
		l.warn(string(out.Said), names, units, log)
	} else {
		l.explain(ctx, err, out, names, units, log)
	}
	return string(out.Said), text, err
}

// placeNVVM puts libnvvm below dir, because nvlink looks for it there. On Windows it may have to
// copy: few users may make symbolic links there, and hard links only to their own files on the same
// volume.
func (l *Lowerer) placeNVVM(dir, system string) error {
	library := filepath.Join(dir, "nvvm", "lib64", "libnvvm.so")
	if system == "windows" {
		library = filepath.Join(dir, "nvvm", "bin", filepath.Base(l.NVVM))
	}
	if err := os.MkdirAll(filepath.Dir(library), 0o700); err != nil {
		return err
	}
	if system != "windows" {
		return os.Symlink(l.NVVM, library)
	}
	if os.Link(l.NVVM, library) == nil {
		return nil
	}
	data, err := os.ReadFile(l.NVVM)
	if err != nil {
		return err
	}
	return os.WriteFile(library, data, 0o600)
}

// explain reports why nvlink compiled nothing, or adds the reason to the error if nvlink failed.
func (l *Lowerer) explain(ctx context.Context, err error, out tool.Output, names []string, units []container.Unit, log *diag.Log) {
	why, at := "", diag.Place{}
	if len(units) == 1 {
		at = diag.InFile(units[0].Name, 0, 0)
	}
	var notes []string
	eachLine(string(out.Said), names, units, func(kind, text string) {
		if why == "" && (kind == "error" || kind == "fatal") {
			why = text
		} else {
			notes = append(notes, text)
		}
	})
	form := units[0].Form()
	help := ""
	m, failed := errors.AsType[*diag.Message](err)
	if failed {
		m.Place = at
	} else {
		m = log.Error(diag.NvlinkError, at, "nvlink cannot compile the "+form+": "+cmp.Or(why, "it gives no reason"))
		help = form + " of a newer release than nvlink needs nvlink and libnvvm of that release; "
		if release, _ := releaseOf(ctx, l.Nvlink); release != "" {
			help = strings.Replace(help, "nvlink", release, 1)
		}
	}
	shown := min(len(notes), maxPlain)
	for _, note := range notes[:shown] {
		m.Note(diag.Place{}, "nvlink: "+note)
	}
	if left := len(notes) - shown + out.Left; left > 0 {
		m.Note(diag.Place{}, leftOut("nvlink", left))
	}
	m.WithHelp(help + "the programs are " + l.Nvlink + " and " + l.NVVM)
}

// warn reports the warnings of a run that compiled the units, and its errors too, because one unit
// may be missing.
func (l *Lowerer) warn(said string, names []string, units []container.Unit, log *diag.Log) {
	var lines quota
	defer func() { noteLeft("nvlink", lines.left, log) }()
	eachLine(said, names, units, func(kind, text string) {
		if (kind == "warning" || kind == "error") && lines.take(kind) {
			log.Warn(diag.Nvlink, diag.Place{}, "nvlink: "+text)
		}
	})
}

// eachLine calls use with the lines of nvlink, in which it replaces file names by the names of the
// units, because only these are known to the user. kind is empty for a line without a kind.
func eachLine(said string, names []string, units []container.Unit, use func(kind, text string)) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(line, names[0]) { // such as "doing partial LTO"
			continue
		}
		line = NameUnits(line, names[1:], units)
		if found := nvlinkSaid().FindStringSubmatch(line); found != nil {
			use(found[1], found[2])
		} else {
			use("", line)
		}
	}
}

// NameUnits replaces the names of files in a line of a program by the names of their units.
func NameUnits(line string, names []string, units []container.Unit) string {
	for i := len(names) - 1; i >= 0; i-- { // unit11 must come before unit1
		line = strings.ReplaceAll(line, names[i], diag.Escape(units[i].Name))
	}
	return line
}

// NameUnitsIn replaces the names of files in commands by the names of their units.
func NameUnitsIn(commands [][]string, names []string, units []container.Unit) (list [][]string) {
	for _, command := range commands {
		command = slices.Clone(command)
		for i, arg := range command {
			if at := slices.Index(names, arg); at >= 0 {
				command[i] = units[at].Name
			}
		}
		list = append(list, command)
	}
	return list
}
