package oracles

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Decoys are programs with the names of a toolkit's, which fail and record that they were run. internal/gotest puts
// them first on PATH, so that each run of all tests shows that none runs a tool of the machine.
type Decoys struct {
	dir   string
	known int // bytes of the record of earlier runs
}

// decoys are the names. There are those of the fetched tools too: a test that lacks one must not find another.
const decoys = `ptxas ptxas-new ptxas-old nvlink nvlink-new fatbinary fatbinary-new cuobjdump cuobjdump-new nvdisasm nvdisasm-new nvprune
nvcc nvcc-old nvcc-new cicc cudafe++ bin2c cu++filt
clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22 clang++ clang++-19 clang-nvlink-wrapper clang-offload-bundler
llc llc-19 llc-22 opt opt-19 lli lld ld.lld ld64.lld flang flang-new mlir-opt
llvm-link llvm-link-19 llvm-dwarfdump llvm-nm llvm-config llvm-objdump llvm-bitcode-linker
rustc rustdoc rustup cargo rust-ptx-linker rustc-nvptx
nvptx-none-as nvptx-none-ld nvptx-none-gcc nvptx-none-run x86_64-linux-gnu-accel-nvptx-none-gcc-12`

// LayDecoys writes the decoys to a directory beside the fetched tools. Its path is always the same, because go test
// runs tests again if PATH has changed.
func LayDecoys() (*Decoys, error) {
	d := &Decoys{dir: filepath.Join(Dir(), "decoys")}
	if err := os.MkdirAll(filepath.Join(d.dir, "bin"), 0o777); err != nil {
		return nil, err
	}
	script := "#!/bin/sh\necho \"$0 $*\" >>'" + d.record() + "'\necho \"$0: a test runs a tool of the machine\" >&2\nexit 97\n"
	for _, name := range strings.Fields(decoys) {
		if runtime.GOOS == "darwin" && strings.HasPrefix(name, "clang") { // go itself runs it
			continue
		}
		path := filepath.Join(d.dir, "bin", name)
		if old, err := os.ReadFile(path); err == nil && string(old) == script {
			continue
		}
		if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
			return nil, err
		}
	}
	said, err := os.ReadFile(d.record())
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	d.known = len(said)
	return d, nil
}

func (d *Decoys) record() string { return filepath.Join(d.dir, "record") }

// Env returns variables with which programs find the decoys first.
func (d *Decoys) Env() []string {
	env := []string{"PATH=" + filepath.Join(d.dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")}
	for _, name := range toolkitVars {
		env = append(env, name+"="+d.dir)
	}
	return env
}

// Ran returns the command lines of the decoys that were run, a line each.
func (d *Decoys) Ran() (string, error) {
	said, err := os.ReadFile(d.record())
	if os.IsNotExist(err) {
		return "", nil
	}
	return string(said[min(d.known, len(said)):]), err
}
