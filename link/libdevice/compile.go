package libdevice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/link/llvm"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Options holds the input and the options of Compile.
type Options struct {
	// Bitcode is the path of libdevice.10.bc, as returned by Find.
	Bitcode string
	// Arch is the lowest GPU that the result is for, such as "sm_75". libdevice sees
	// it as __CUDA_ARCH.
	Arch string
	// FTZ flushes single-precision denormals to zero: __CUDA_FTZ.
	FTZ bool
	// LLC is the llc to compile with. If it is empty, the toolkit's compiler is used,
	// or else an llc on PATH.
	LLC string
	// Spelling is how messages name options and symbols.
	Spelling diag.Spelling
}

// Library is libdevice as one PTX module. Its functions need not be external, since package
// link/pack splits it.
type Library struct {
	PTX   []byte
	Names []string // its functions, sorted
	Tool  string   // the compiler
}

// ErrRejected is returned if the compiler refuses libdevice, and the messages give the reason.
var ErrRejected = tool.ErrRejected

// Compile compiles libdevice. It prefers cicc to llc, because LLVM up to 19 treats __CUDA_PREC_SQRT
// as 0, so that its single-precision square roots are approximate, and sets __CUDA_FTZ only for
// modules from clang. The messages come from the compiler. An error other than ErrRejected means
// that no compiler could be run, or that it failed.
func Compile(ctx context.Context, o Options) (*Library, []*link.Message, error) {
	log := diag.Log{Spelling: o.Spelling}
	l, err := compileLibrary(ctx, o, &log)
	return l, log.Messages, err
}

func compileLibrary(ctx context.Context, o Options, log *diag.Log) (*Library, error) {
	bitcode, err := infile.Of(ctx).ReadFile(o.Bitcode, 1<<30)
	if err != nil {
		return nil, err
	}
	l := &Library{Names: functions(bitcode)}
	if len(l.Names) == 0 {
		return nil, diag.New(diag.Tool, diag.Place{}, "there are no functions of libdevice in "+o.Bitcode).
			WithHelp("name the " + fileName + " of a CUDA toolkit" + o.Spelling.With("--cuda", " with %s"))
	}
	llc, err := chooseLLC(ctx, o)
	if err != nil {
		return nil, err
	}
	dir, remove, err := outfile.TempDir(outfile.File{Path: fileName, Data: bitcode}, outfile.File{Path: sourceName, Data: source(l.Names, runtime.GOOS)})
	if err != nil {
		return nil, err
	}
	defer remove()
	if llc != "" {
		l.Tool = llc
		l.PTX, err = compile(ctx, log, dir, llc, "-mtriple=nvptx64-nvidia-cuda", "-mcpu="+o.Arch, fileName, "-o", outputName)
		if approximateRoot().Match(l.PTX) {
			log.Warn(diag.LibdeviceSqrt, diag.Place{}, llc+" compiled __nv_sqrtf, and functions that use it, with approximate square roots (sqrt.approx.f32); nvcc uses sqrt.rn.f32").
				WithHelp("a toolkit with nvvm/bin/cicc" + log.With("--cuda", ", named with %s,") + " compiles it as nvcc does")
		}
		return l, err
	}
	l.Tool = findCicc(o.Bitcode)
	ftz := map[bool]string{false: "-ftz=0", true: "-ftz=1"}[o.FTZ]
	// nvcc passes these options, with these defaults.
	l.PTX, err = compile(ctx, log, dir, l.Tool, "-arch", "compute_"+object.ArchNumber(o.Arch), "-m64", "--device-c",
		ftz, "-prec_div=1", "-prec_sqrt=1", "-fmad=1", "-nvvmir-library", fileName, sourceName, "-o", outputName)
	return l, err
}

// functions returns the functions that the bitcode of libdevice defines, such as __nv_sinf, sorted.
// There cannot be a fixed list, because toolkits differ: CUDA 13.5 has __nv_fast_tanhf, 12.4 does
// not.
func functions(bitcode []byte) (list []string) {
	m, _ := container.ReadBitcode(bitcode)
	for _, s := range m.Symbols {
		if s.Defined && strings.HasPrefix(s.Name, "__nv_") {
			list = append(list, s.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const sourceName, outputName = "libdevice.ii", "libdevice.ptx"

// chooseLLC returns the llc to run, or "" for cicc.
func chooseLLC(ctx context.Context, o Options) (string, error) {
	if o.LLC == "" && findCicc(o.Bitcode) != "" {
		return "", nil
	}
	if o.FTZ {
		return "", diag.New(diag.Tool, diag.Place{}, o.Spelling.Option("--ftz")+" needs cicc, the compiler of the CUDA toolkit: llc cannot set __CUDA_FTZ").
			WithHelp("name a toolkit that has nvvm/bin/cicc" + o.Spelling.With("--cuda", " with %s") + o.Spelling.With("--ftz", ", or drop %s"))
	}
	if o.LLC == "" {
		if llc, err := llvm.FindLLC(ctx); llc != "" || err != nil {
			return llc, err
		}
		return "", diag.New(diag.Tool, diag.Place{}, "nothing here compiles libdevice: there is no cicc beside "+o.Bitcode+" and no llc on $PATH that makes PTX").
			WithHelp("install nvcc or LLVM" + o.Spelling.With("--llc", ", or name an llc with %s"))
	}
	llc, err := tool.Named(o.Spelling.Option("--llc"), o.LLC, "")
	if err != nil {
		return "", err
	}
	if makes, err := llvm.MakesPTX(ctx, llc); err != nil {
		return "", err
	} else if !makes {
		return "", diag.New(diag.Tool, diag.Place{}, o.LLC+" does not make PTX: llc --version lists no nvptx64").WithHelp("name another llc" + o.Spelling.With("--llc", " with %s"))
	}
	return llc, nil
}

// source returns a CUDA C++ source that makes cicc link and keep all of libdevice. cicc reads
// bitcode only as libraries, and links only the functions that the source uses. The source
// therefore has a table of the functions, which uses them all, whatever their types, and needs no
// host compiler and no CUDA headers. cicc for Windows knows only the attributes of MSVC.
func source(names []string, system string) []byte {
	device := map[bool]string{false: "__attribute__((device))", true: "__declspec(__device__)"}[system == "windows"]
	var b bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&b, "extern \"C\" %s void %s();\n", device, name)
	}
	fmt.Fprintf(&b, "%s void (*volatile ptxlink_table[])() = {%s};\n", device, strings.Join(names, ", "))
	return b.Bytes()
}

func compile(ctx context.Context, log *diag.Log, dir string, command ...string) ([]byte, error) {
	ptx, said, err := llvm.Run(ctx, dir, command, "PTX", ptxas.CheckPTX)
	if !errors.Is(err, ErrRejected) {
		return ptx, err
	}
	m := log.Error(diag.LibdeviceCompiler, diag.Place{}, command[0]+" cannot compile libdevice").
		WithHelp("if it does not know the architecture, name another" + log.With("--arch", " with %s"))
	for _, line := range said[:min(3, len(said))] {
		m.Note(diag.Place{}, "it says: "+strings.TrimPrefix(line, "error: "))
	}
	return nil, err
}

var approximateRoot = sets.Regexp(`(?s)\b__nv_sqrtf\([^{]*\{[^}]*\bsqrt\.approx\.f32`)
