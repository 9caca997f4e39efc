// Package ptxas finds and runs ptxas, and reports its messages at the input lines
// they come from.
package ptxas

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ptxlink/internal/tool"
	"ptxlink/link/diag"
)

// Find returns the absolute path of ptxas. It searches in this order:
//
//  1. explicit, the value of --ptxas: a path, or a name to look up on PATH
//  2. $PTXAS, likewise
//  3. $CUDA_HOME/bin and $CUDA_PATH/bin
//  4. PATH
//  5. the directories that CUDA is usually installed in, the newest version first
//  6. the wheels that pip installed in the active virtual or conda environment, the
//     user's directory or that of the system: NVIDIA's nvidia-cuda-nvcc, then Triton
//
// A program that the user named must exist; the other places may have no ptxas.
// docs/ptxas.md lists the directories.
func Find(explicit string) (string, error) { return Options{}.Find(explicit) }

// Find is the function Find, whose errors name options by o.Spelling.
func (o Options) Find(explicit string) (string, error) {
	if path, err := o.named("ptxas", explicit); path != "" || err != nil {
		return path, err
	}
	var looked, unset []string
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		root := os.Getenv(variable)
		if root == "" {
			unset = append(unset, "$"+variable)
			continue
		}
		path := filepath.Join(root, "bin", program)
		if tool.IsProgram(path) {
			return filepath.Abs(path)
		}
		looked = append(looked, path)
	}
	if path, err := exec.LookPath("ptxas"); err == nil {
		return filepath.Abs(path)
	}
	dirs := installed()
	for _, packages := range sitePackages() {
		for _, wheel := range wheels {
			dirs = append(dirs, filepath.Join(packages, filepath.FromSlash(wheel)))
		}
	}
	for _, dir := range dirs {
		for _, path := range Newest(filepath.Join(dir, program)) {
			if tool.IsProgram(path) {
				return filepath.Abs(path)
			}
		}
	}
	if os.Getenv("VIRTUAL_ENV") == "" {
		unset = append(unset, "$VIRTUAL_ENV")
	}
	text := "cannot find ptxas in " + strings.Join(append(looked, "$PATH, the usual directories or pip's wheels"), ", ")
	if unset != nil {
		text += " (not set: " + strings.Join(unset, ", ") + ")"
	}
	return "", diag.New(diag.Tool, diag.Place{}, text).
		WithHelp("pip install nvidia-cuda-nvcc, install the CUDA toolkit, or name the program with " + o.Spelling.With("--ptxas", "%s or ") + "$PTXAS" + NotForPTX)
}

// NotForPTX ends the help for a ptxas that is not found.
const NotForPTX = "; writing PTX needs none"

var program = "ptxas" + tool.Exe

// installed lists the directories of step 5. It is a variable for the test.
var installed = func() []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(os.Getenv("ProgramFiles"), "NVIDIA GPU Computing Toolkit", "CUDA", "v*", "bin")}
	}
	return []string{
		// The administrator's symbolic link comes before the versions.
		"/usr/local/cuda/bin",
		"/usr/local/cuda-*/bin",
		"/opt/cuda/bin",
		"/usr/lib/nvidia-cuda-toolkit/bin",
	}
}

// wheels are the directories of ptxas below site-packages: of the nvidia-cuda-nvcc wheels of
// CUDA 13 and later, of those before, and of Triton, in that order.
var wheels = []string{"nvidia/cu[1-9]*/bin", "nvidia/cuda_nvcc/bin", "triton/backends/nvidia/bin"}

// sitePackages is SitePackages, except in tests.
var sitePackages = SitePackages

// SitePackages lists patterns of the directories that pip and conda install wheels in: those
// of the active environments, of the user, and of the system.
func SitePackages() (list []string) {
	unix := "lib/python3*/site-packages"
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		switch root := os.Getenv(variable); {
		case root == "":
		case runtime.GOOS == "windows":
			list = append(list, filepath.Join(root, "Lib", "site-packages"))
		default:
			list = append(list, filepath.Join(root, unix))
		}
	}
	if runtime.GOOS == "windows" {
		if data := os.Getenv("APPDATA"); data != "" {
			list = append(list, filepath.Join(data, "Python", "Python3*", "site-packages"))
		}
		return list
	}
	user := os.Getenv("PYTHONUSERBASE")
	if home := os.Getenv("HOME"); user == "" && home != "" {
		user = filepath.Join(home, ".local")
	}
	if user != "" {
		list = append(list, filepath.Join(user, unix))
	}
	return append(list, "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages", "/usr/lib/python3*/site-packages")
}

// named returns the path of the program that the user named by an option, explicit, or by a
// variable; "" if there is neither.
func (o Options) named(name, explicit string) (string, error) {
	who := o.Spelling.Option("--" + name)
	if explicit == "" {
		who = "$" + strings.ToUpper(name)
		explicit = os.Getenv(who[1:])
	}
	if explicit == "" {
		return "", nil
	}
	return tool.Named(who, explicit, "/usr/local/cuda/bin/"+program)
}

// Newest returns the files that match a pattern, the newest version first.
func Newest(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	slices.SortFunc(found, NewestFirst)
	return found
}

// NewestFirst orders paths that differ in a version: 12.10 before 12.4 before 9.2.
func NewestFirst(a, b string) int {
	for a != "" && b != "" {
		na, resta := leadingNumber(a)
		nb, restb := leadingNumber(b)
		if na != "" && nb != "" {
			// Numbers may have any length: the longer is larger, then compare digits.
			if c := cmp.Or(len(nb)-len(na), strings.Compare(nb, na)); c != 0 {
				return c
			}
			a, b = resta, restb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(b) - len(a)
}

func leadingNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}
