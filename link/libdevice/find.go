// Package libdevice compiles libdevice, the math library that the CUDA toolkit
// contains as LLVM bitcode, to PTX.
package libdevice

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/tool"
	"ptxlink/link/ptxas"
	"ptxlink/object/diag"
)

const fileName = "libdevice.10.bc"

// dirs lists the directories of the file below the root of a toolkit: of NVIDIA's
// installers, of Debian's package, and of the wheels of PyPI, whose root is
// site-packages.
var dirs = []string{
	"nvvm/libdevice",
	"libdevice",
	"nvidia/cu*/nvvm/libdevice",
	"nvidia/cuda_nvcc/nvvm/libdevice",
	".",
}

// Find returns the path of libdevice.10.bc. It searches in this order:
//
//  1. explicit, the value of --cuda: the file, the directory of a toolkit, or a
//     Python virtual environment
//  2. $CUDA_HOME and $CUDA_PATH
//  3. the toolkit of the nvcc on PATH
//  4. the directories that CUDA is usually installed in, the newest version first,
//     and those that pip and conda install wheels in
//
// A place that the user named must contain the file; the other places need not. The error lists
// every place.
func Find(explicit string) (string, error) { return Options{}.Find(explicit) }

// Find is the function Find, whose errors name options by o.Spelling.
func (o Options) Find(explicit string) (string, error) {
	if explicit != "" {
		if info, err := os.Stat(explicit); errors.Is(err, fs.ErrNotExist) {
			return "", diag.New(diag.Tool, diag.Place{}, "there is no "+explicit+o.Spelling.With("--cuda", ", which %s names"))
		} else if err != nil {
			return "", diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot read %s: %v", explicit, outfile.Reason(err)))
		} else if info.Mode().IsRegular() {
			return explicit, nil
		} else if !info.IsDir() {
			return "", diag.New(diag.Tool, diag.Place{}, explicit+o.Spelling.With("--cuda", ", which %s names,")+" is a device or a pipe, not "+fileName)
		}
		for _, root := range []string{explicit, filepath.Join(explicit, ptxas.WheelDir)} {
			if path := below(root); path != "" {
				return path, nil
			}
		}
		return "", diag.New(diag.Tool, diag.Place{}, "there is no "+fileName+" in "+explicit+o.Spelling.With("--cuda", ", which %s names")).
			WithHelp("name the file itself, or the directory that holds " + dirs[0])
	}
	type place struct{ pattern, without string } // without: shown for an empty pattern
	var places []place
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		places = append(places, place{os.Getenv(variable), "$" + variable + " (not set)"})
	}
	toolkit := ""
	if nvcc, err := exec.LookPath("nvcc"); err == nil {
		if nvcc, err = filepath.EvalSymlinks(nvcc); err == nil {
			toolkit = filepath.Dir(filepath.Dir(nvcc))
		}
	}
	places = append(places, place{toolkit, "the toolkit of nvcc (not on $PATH)"})
	for _, pattern := range installed() {
		places = append(places, place{pattern: pattern})
	}
	var looked []string
	for _, p := range places {
		if path := below(p.pattern); path != "" {
			return path, nil
		}
		looked = append(looked, cmp.Or(p.pattern, p.without))
	}
	return "", diag.New(diag.Tool, diag.Place{}, "cannot find "+fileName+"; looked in "+strings.Join(looked, ", ")).
		WithHelp("it comes with the CUDA toolkit, or with pip install nvidia-nvvm; name the file or the toolkit" + o.Spelling.With("--cuda", " with %s"))
}

// below returns the file in the newest directory that matches the pattern, or "".
func below(pattern string) string {
	for _, root := range ptxas.Newest(pattern) {
		for _, dir := range dirs {
			for _, path := range ptxas.Newest(filepath.Join(root, filepath.FromSlash(dir), fileName)) {
				info, err := os.Stat(path)
				if err == nil && info.Mode().IsRegular() || err != nil && !infile.Absent(err) {
					return path
				}
			}
		}
	}
	return ""
}

// installed lists the directories of step 4. It is a variable so that the test can replace it.
var installed = func() []string {
	list := infile.Dirs(ptxas.Toolkits()...)
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(variable); root != "" {
			list = append(list, root)
		}
	}
	return append(list, ptxas.SitePackages()...)
}

// findCicc returns the compiler of the toolkit that a bitcode file belongs to, otherwise the cicc
// on PATH, otherwise "".
func findCicc(bitcode string) string {
	dir := filepath.Dir(bitcode)
	if real, err := filepath.EvalSymlinks(bitcode); err == nil {
		dir = filepath.Dir(real)
	}
	for _, path := range []string{
		filepath.Join(dir, "..", "bin", "cicc"+tool.Exe),       // nvvm/bin, and Debian
		filepath.Join(dir, "..", "..", "bin", "cicc"+tool.Exe), // an unpacked toolkit
	} {
		if path, err := tool.Find(path); err == nil {
			return path
		}
	}
	path, _ := tool.Find("cicc")
	return path
}
