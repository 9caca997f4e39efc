// Package ptxas finds and runs ptxas, and reports its messages at the input lines
// they come from.
package ptxas

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/tool"
	"ptxlink/object/diag"
)

// Find returns the absolute path of ptxas. It searches in this order:
//
//  1. explicit, the value of --ptxas: a path, or a name to look up on PATH
//  2. o.First
//  3. $PTXAS, like explicit
//  4. $CUDA_HOME/bin and $CUDA_PATH/bin
//  5. PATH
//  6. the directories that CUDA is usually installed in, the newest version first
//  7. the wheels that pip installed in the active virtual or conda environment, or in the
//     directory of the user or of the system: NVIDIA's nvidia-cuda-nvcc, then Triton
//
// A program that the user named must exist; the other places may have no ptxas.
// docs/ptxas.md lists the directories.
func Find(explicit string) (string, error) { return Options{}.Find(explicit) }

// Find is the function Find, whose errors name options by o.Spelling.
func (o Options) Find(explicit string) (string, error) {
	if path, err := o.named("ptxas", explicit, never); path != "" || err != nil {
		return path, err
	}
	var unset []string
	looked := o.firstLooked()
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
	var dirs []string
	for _, toolkit := range toolkits() {
		dirs = append(dirs, filepath.Join(toolkit, "bin"))
	}
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
	option := o.Spelling.With("--ptxas", "%s or ")
	if len(o.First) > 0 { // because the options of o.First name toolkits
		option = ""
	}
	return "", diag.New(diag.Tool, diag.Place{}, text).
		WithHelp("pip install nvidia-cuda-nvcc, install the CUDA toolkit, or name the program with " + option + "$PTXAS" + NotForPTX)
}

// Directory is a directory that an option names.
type Directory struct{ Path, Option string }

// firstLooked returns o.First for a message about a program that is in none of these directories.
func (o Options) firstLooked() (looked []string) {
	for _, d := range o.First {
		looked = append(looked, d.Path+" ("+d.Option+")")
	}
	return looked
}

// NotForPTX ends the help for a missing ptxas, because writing PTX does not need it.
const NotForPTX = "; writing PTX needs none"

var program = "ptxas" + tool.Exe

// toolkits is Toolkits, except in tests.
var toolkits = func() []string { return infile.Dirs(Toolkits()...) }

// Toolkits lists patterns of the directories that CUDA is usually installed in.
func Toolkits() []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(os.Getenv("ProgramFiles"), "NVIDIA GPU Computing Toolkit", "CUDA", "v*")}
	}
	// The symbolic link comes before the versions, because the administrator chose it.
	return []string{"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"}
}

// wheels are the directories of ptxas below site-packages: in the nvidia-cuda-nvcc wheels of CUDA
// 13 and later, in earlier ones, and in Triton, in that order.
var wheels = []string{"nvidia/cu[1-9]*/bin", "nvidia/cuda_nvcc/bin", "triton/backends/nvidia/bin"}

// WheelDir is the pattern of the directory of the wheels in a virtual or conda environment.
var WheelDir = filepath.FromSlash(map[bool]string{true: "Lib/site-packages", false: "lib/python3*/site-packages"}[runtime.GOOS == "windows"])

// sitePackages is SitePackages. Tests replace it.
var sitePackages = SitePackages

// SitePackages lists patterns of the directories that pip and conda install wheels in: in the
// active environments, for the user, and in the system.
func SitePackages() []string { return sitePackagesOf(runtime.GOOS) }

func sitePackagesOf(goos string) (list []string) {
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(variable); root != "" {
			list = append(list, filepath.Join(root, WheelDir))
		}
	}
	if goos == "windows" {
		for _, dir := range [][2]string{
			{"APPDATA", "Python/Python3*/site-packages"},               // pip install --user
			{"LOCALAPPDATA", "Python/pythoncore-3*/Lib/site-packages"}, // the install manager, since Python 3.14
			{"LOCALAPPDATA", "Programs/Python/Python3*/Lib/site-packages"},
			{"ProgramFiles", "Python3*/Lib/site-packages"},
		} {
			if root := os.Getenv(dir[0]); root != "" {
				list = append(list, filepath.Join(root, filepath.FromSlash(dir[1])))
			}
		}
		return list
	}
	user := os.Getenv("PYTHONUSERBASE")
	if home := os.Getenv("HOME"); user == "" && home != "" {
		user = filepath.Join(home, ".local")
	}
	if user != "" {
		list = append(list, filepath.Join(user, WheelDir))
	}
	return append(list, infile.Dirs("/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages", "/usr/lib/python3*/site-packages")...)
}

// never is a passedOver that accepts every program.
func never(string) (passedOver bool, err error) { return false, nil }

// named returns the path of a program: named by the option whose value is explicit, otherwise in
// o.First unless passedOver refuses it, otherwise named by a variable; "" if there is none.
func (o Options) named(name, explicit string, passedOver func(path string) (bool, error)) (string, error) {
	for _, d := range o.First {
		path := filepath.Join(d.Path, name+tool.Exe)
		if explicit != "" || !tool.IsProgram(path) {
			continue
		}
		if over, err := passedOver(path); err != nil {
			return "", err
		} else if !over {
			return filepath.Abs(path)
		}
	}
	path, who := tool.Asked(o.Spelling, name, explicit)
	if path == "" {
		return "", nil
	}
	// The example must be a path that could exist, so it cannot be the pattern of Windows.
	return tool.Named(who, path, strings.ReplaceAll(filepath.Join(Toolkits()[0], "bin", name+tool.Exe), "*", "13.0"))
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
			// Numbers may have any length, so they cannot be parsed: the longer is larger, then
			// compare digits.
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
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

// FindNvlink returns the absolute path of NVIDIA's nvlink. o.Path must be the path of ptxas.
// A program called nvlink may be ptxlink, because nvcc runs it under that name; it is then
// passed over. FindNvlink searches in this order:
//
//  1. explicit, the value of --nvlink: a path, or a name to look up on PATH
//  2. o.First
//  3. $NVLINK, like explicit
//  4. beside ptxas, and beside the file that ptxas is a symbolic link to
//  5. $CUDA_HOME/bin, $CUDA_PATH/bin, PATH and the directories that CUDA is usually installed
//     in, if ptxlink was passed over or there is o.First; but only the release of ptxas,
//     because another one may not read its cubins
func (o Options) FindNvlink(ctx context.Context, explicit string) (string, error) {
	otherwise := o.Spelling.With("--ptxas-mode=whole", OrWhole)
	isOurs := func(path string) (bool, error) { return isOurs(ctx, path) }
	path, looked, err := o.beside("nvlink", explicit, isOurs)
	if err != nil {
		return "", err
	}
	if path != "" && (explicit != "" || os.Getenv("NVLINK") != "") {
		if itself, err := isOurs(path); err != nil {
			return "", err
		} else if itself {
			return "", diag.New(diag.Tool, diag.Place{}, path+" is ptxlink itself").WithHelp(o.missingHelp("nvlink", otherwise))
		}
	}
	if path != "" {
		return path, nil
	}
	if len(o.First) > 0 || strings.Contains(strings.Join(looked, ""), ours) {
		release, err := releaseOf(ctx, o.Path)
		if err != nil {
			return "", err
		}
		for _, dir := range toolDirs() {
			path := filepath.Join(dir, "nvlink"+tool.Exe)
			if !tool.IsProgram(path) {
				continue
			}
			itself, err := isOurs(path)
			theirs := ""
			if err == nil && !itself && release != "" {
				theirs, err = releaseOf(ctx, path)
			}
			switch {
			case err != nil:
				return "", err
			case itself:
				looked = append(looked, dir+ours)
			case release != "" && theirs == release:
				return filepath.Abs(path)
			default:
				looked = append(looked, dir+" (another release than ptxas)")
			}
		}
	}
	return "", o.missing("nvlink", looked, otherwise)
}

// TryNvlink is FindNvlink for a link that can do without nvlink. It returns "" if the user names no
// nvlink and none is found.
func (o Options) TryNvlink(ctx context.Context, explicit string) (string, error) {
	path, err := o.FindNvlink(ctx, explicit)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return path, err
}

// OrWhole ends the help for a missing nvlink, with the option instead of %s. Cubins and LTO-IR
// among the inputs need nvlink in any case, so the option would not help with them.
const OrWhole = ", or assemble the whole program at once with %s"

const ours = " (ptxlink itself)"

// FindFatbinary returns the absolute path of fatbinary, by steps 1 to 4 of FindNvlink.
func (o Options) FindFatbinary(explicit string) (string, error) {
	path, looked, err := o.beside("fatbinary", explicit, never)
	if err == nil && path == "" {
		err = o.missing("fatbinary", looked, ", or write PTX or a cubin")
	}
	return path, err
}

func (o Options) missing(tool string, looked []string, otherwise string) *diag.Message {
	m := diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot find %s; looked in %s", tool, strings.Join(looked, ", "))).
		WithHelp(o.missingHelp(tool, otherwise))
	m.Err = fs.ErrNotExist
	return m
}

func (o Options) missingHelp(tool, otherwise string) string {
	return fmt.Sprintf("name the program with %s$%s%s", o.Spelling.With("--"+tool, "%s or "), strings.ToUpper(tool), otherwise)
}

// beside returns the path of the program that the user named, otherwise of the program beside ptxas
// unless passedOver refuses it. Otherwise it returns "" and the directories in which it looked.
func (o Options) beside(name, explicit string, passedOver func(path string) (bool, error)) (path string, looked []string, err error) {
	if path, err = o.named(name, explicit, passedOver); path != "" || err != nil {
		return path, nil, err
	}
	looked = o.firstLooked()
	dirs := []string{filepath.Dir(o.Path)}
	if real, err := filepath.EvalSymlinks(o.Path); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name+tool.Exe)
		there, err := tool.HasProgram(path)
		if err != nil {
			return "", nil, err
		}
		if !there {
			looked = append(looked, dir)
			continue
		}
		over, err := passedOver(path)
		if err != nil || !over {
			return path, nil, err
		}
		looked = append(looked, dir+ours)
	}
	return "", looked, nil
}

// toolDirs lists the directories of step 5.
func toolDirs() (list []string) {
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(variable); root != "" {
			list = append(list, filepath.Join(root, "bin"))
		}
	}
	list = append(list, filepath.SplitList(os.Getenv("PATH"))...)
	for _, toolkit := range toolkits() {
		found, _ := filepath.Glob(filepath.Join(toolkit, "bin"))
		list = append(list, found...)
	}
	return list
}

// isOurs reports whether a program is ptxlink under another name: this file, another copy or
// version, or a script that runs it. It asks for the version only if the program is a script or
// written in Go, because nvlink is neither and need not be run.
func isOurs(ctx context.Context, path string) (bool, error) {
	if self, err := os.Executable(); err == nil {
		mine, err1 := os.Stat(self)
		theirs, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, theirs) {
			return true, nil
		}
	}
	head := infile.Head(path, 8<<10)
	// The note with the build ID has this name; it lies after the headers.
	if head == nil || bytes.HasPrefix(head, []byte("\x7fELF")) && !bytes.Contains(head, []byte("Go\x00\x00")) {
		return false, nil
	}
	said, _, err := tool.TryVersion(ctx, path) // a script may then fail without inputs
	return regexp.MustCompile(`(?m)^ptxlink `).Match(said), err
}

// Release asks one of NVIDIA's programs for its version, and returns the line with the release:
//
//	Cuda compilation tools, release 13.5, V13.5.37
//
// The line is empty if the program prints none, cannot be run or fails. It is an error, a
// *diag.Message, if the program does not end in time.
func Release(ctx context.Context, path string) (string, error) {
	said, err := tool.Version(ctx, path)
	return strings.TrimSpace(string(regexp.MustCompile(`(?m)^.*release \d+\.\d+.*$`).Find(said))), err
}

// releaseOf returns the release of one of NVIDIA's programs, such as "13.5"; "" if the program does
// not print it.
func releaseOf(ctx context.Context, path string) (string, error) {
	line, err := Release(ctx, path)
	found := regexp.MustCompile(`release (\d+\.\d+)`).FindStringSubmatch(line)
	if found == nil {
		return "", err
	}
	return found[1], nil
}
