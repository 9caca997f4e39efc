package ptxas

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ptxlink/internal/infile"
	"ptxlink/internal/tool"
	"ptxlink/link/diag"
)

// FindNvlink returns the absolute path of NVIDIA's nvlink. o.Path is that of ptxas. ptxlink may be on the way
// under that name, for nvcc: such programs are passed over. FindNvlink searches in this
// order:
//
//  1. explicit, the value of --nvlink: a path, or a name to look up on PATH
//  2. $NVLINK, likewise
//  3. beside ptxas, and where a symbolic link of that name leads to
//  4. $CUDA_HOME/bin, $CUDA_PATH/bin, PATH and the directories that CUDA is usually installed
//     in, if ptxlink was passed over; but only the release of ptxas, because another one
//     may not read its cubins
func (o Options) FindNvlink(explicit string) (string, error) {
	otherwise := o.Spelling.With("--ptxas-mode=whole", ", or assemble the whole program at once with %s")
	path, looked, err := o.beside("nvlink", explicit, isOurs)
	switch {
	case err != nil:
		return "", err
	case path != "" && (explicit != "" || os.Getenv("NVLINK") != "") && isOurs(path):
		return "", diag.New(diag.Tool, diag.Place{}, path+" is ptxlink itself").WithHelp(o.missingHelp("nvlink", otherwise))
	case path != "":
		return path, nil
	}
	if strings.Contains(strings.Join(looked, ""), ours) {
		release := releaseOf(o.Path)
		for _, dir := range toolDirs() {
			path := filepath.Join(dir, "nvlink"+tool.Exe)
			switch {
			case !tool.IsProgram(path):
			case isOurs(path):
				looked = append(looked, dir+ours)
			case release != "" && releaseOf(path) == release:
				return filepath.Abs(path)
			default:
				looked = append(looked, dir+" (another release than ptxas)")
			}
		}
	}
	return "", o.missing("nvlink", looked, otherwise)
}

const ours = " (ptxlink itself)"

// FindFatbinary returns the absolute path of fatbinary, by steps 1 to 3 of FindNvlink.
func (o Options) FindFatbinary(explicit string) (string, error) {
	path, looked, err := o.beside("fatbinary", explicit, func(string) bool { return false })
	if err == nil && path == "" {
		err = o.missing("fatbinary", looked, ", or write PTX or a cubin")
	}
	return path, err
}

func (o Options) missing(tool string, looked []string, otherwise string) *diag.Message {
	return diag.New(diag.Tool, diag.Place{}, fmt.Sprintf("cannot find %s; looked in %s", tool, strings.Join(looked, ", "))).
		WithHelp(o.missingHelp(tool, otherwise))
}

func (o Options) missingHelp(tool, otherwise string) string {
	return fmt.Sprintf("name the program with %s$%s%s", o.Spelling.With("--"+tool, "%s or "), strings.ToUpper(tool), otherwise)
}

// beside returns the path of the program that the user named, or else of the one beside
// ptxas, unless passedOver says no. Without such a program it returns "" and the directories
// that it looked in.
func (o Options) beside(name, explicit string, passedOver func(path string) bool) (path string, looked []string, err error) {
	if path, err = o.named(name, explicit); path != "" || err != nil {
		return path, nil, err
	}
	dirs := []string{filepath.Dir(o.Path)}
	if real, err := filepath.EvalSymlinks(o.Path); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name+tool.Exe)
		switch {
		case !tool.IsProgram(path):
			looked = append(looked, dir)
		case passedOver(path):
			looked = append(looked, dir+ours)
		default:
			return path, nil, nil
		}
	}
	return "", looked, nil
}

// toolDirs lists the directories of step 4.
func toolDirs() (list []string) {
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(variable); root != "" {
			list = append(list, filepath.Join(root, "bin"))
		}
	}
	list = append(list, filepath.SplitList(os.Getenv("PATH"))...)
	for _, pattern := range installed() {
		found, _ := filepath.Glob(pattern)
		list = append(list, found...)
	}
	return list
}

// isOurs reports whether a program is ptxlink under another name: this file, another copy
// or version, or a script that runs it. It runs only scripts and programs written in Go
// to ask them for their version; nvlink is neither.
func isOurs(path string) bool {
	if self, err := os.Executable(); err == nil {
		mine, err1 := os.Stat(self)
		theirs, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, theirs) {
			return true
		}
	}
	head, err := infile.Head(path, 8<<10)
	// The name of the note with the build ID, which lies behind the headers.
	if err != nil || bytes.HasPrefix(head, []byte("\x7fELF")) && !bytes.Contains(head, []byte("Go\x00\x00")) {
		return false
	}
	return regexp.MustCompile(`(?m)^ptxlink `).Match(askVersion(path))
}

// releaseOf returns the release of one of NVIDIA's programs, such as "13.5"; "" if it
// does not give one.
func releaseOf(path string) string {
	found := regexp.MustCompile(`release (\d+\.\d+)`).FindSubmatch(askVersion(path))
	if found == nil {
		return ""
	}
	return string(found[1])
}

func askVersion(path string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := tool.Run(ctx, tool.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return nil
	}
	return out.Said
}
