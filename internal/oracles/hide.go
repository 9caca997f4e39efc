package oracles

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"ptxlink/internal/infile"
)

// Main runs the tests of a package without the toolkits of the machine, and exits. TestMain calls it in
// each package whose tests, or what they call, run programs.
func Main(m interface{ Run() int }) { os.Exit(Hidden{m}.Run()) }

// Hidden has a method Run that runs tests without the toolkits of the machine: of the programs on PATH, of
// the variables, and of the directories that a system installs tools in. The fetched tools come first on PATH.
type Hidden struct{ M interface{ Run() int } }

// Run implements testscript.TestingM.
func (h Hidden) Run() int {
	if err := hide(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot hide the toolkits of the machine from the tests:", err)
		return 2
	}
	// Not before: a program that a test started may look for others.
	defer os.RemoveAll(Machine)
	return h.M.Run()
}

// Machine is a directory of the programs on PATH that belong to no toolkit, as symbolic links. [Main] makes
// one for each process, so that none loses it when another one ends. It is empty on Windows, where
// only administrators make links; there the toolkits of the machine stay on PATH, behind the fetched tools.
var Machine string

// toolkitVars are variables that name a toolkit or change what its tools do.
var toolkitVars = []string{
	"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDA_BIN_PATH", "CUDACXX", "CUDAARCHS", "CUDAFLAGS", "CUDAHOSTCXX",
	"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CICC_PATH", "NVVMIR_LIBRARY_DIR",
	"PTXAS", "NVLINK", "FATBINARY", "NVVM", "CLANG", "LLVM_DIR", "TRITON_PTXAS_PATH",
	"RUSTC", "RUSTFLAGS", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN",
	"PTXLINK", "PTXLINK_FLAGS", "PTXLINK_CACHE", "VIRTUAL_ENV", "CONDA_PREFIX",
}

// buildVars are those of the compiler of the user, which may be clang, and those of the make that runs the tests.
var buildVars = []string{"CC", "CXX", "MAKEFLAGS", "MAKELEVEL"}

// ofToolkit matches the programs of toolkits and of compilers that make PTX.
var ofToolkit = regexp.MustCompile(`^(?:(?:ptxas|nvlink|nvcc|fatbinary|cuobjdump|nvdisasm|nvprune|cicc|cudafe|bin2c|cu\+\+filt|clang|flang|llvm-|ld\.lld|ld64\.lld|mlir-|nvptx-|rust|cargo).*|(?:llc|opt|lli|lld)(?:-\d+)?|.*-accel-nvptx-.*)$`)

func hide() error {
	for _, name := range append(toolkitVars, buildVars...) {
		os.Unsetenv(name)
	}
	infile.HideDirs()
	path := os.Getenv("PATH")
	if runtime.GOOS != "windows" {
		dir, err := os.MkdirTemp("", "ptxlink-machine")
		if err != nil {
			return err
		}
		if err := linkPrograms(dir, filepath.SplitList(path)); err != nil {
			return err
		}
		Machine, path = dir, dir
		os.Setenv("PYTHONUSERBASE", dir) // pip install --user nvidia-cuda-nvcc
	}
	return os.Setenv("PATH", filepath.Join(Dir(), "bin")+string(filepath.ListSeparator)+path)
}

// linkPrograms creates links to the programs of directories that belong to no toolkit. If directories
// have programs with one name, the first wins, as on PATH.
func linkPrograms(to string, dirs []string) error {
	for _, dir := range dirs {
		list, _ := os.ReadDir(dir) // PATH may have directories that do not exist
		for _, file := range list {
			path := filepath.Join(dir, file.Name())
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || !filepath.IsAbs(path) || ofToolkit.MatchString(file.Name()) {
				continue
			}
			if err := os.Symlink(path, filepath.Join(to, file.Name())); err != nil && !os.IsExist(err) {
				return err
			}
		}
	}
	return nil
}
