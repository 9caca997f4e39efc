package integrations_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

type workspace struct {
	*testing.T
	root, bazel, make, ptxlink string
	module                     bool // Bazel reads MODULE.bazel, not WORKSPACE
}

func newWorkspace(t *testing.T, bazel string) *workspace {
	w := &workspace{T: t, root: t.TempDir(), bazel: oracles.RequireCompiler(t, bazel), make: oracles.Require(t, "make"), module: bazel == "bazel-new" && !oracles.StandsIn(bazel)}
	for _, name := range modules {
		w.write("offline/"+name+"/MODULE.bazel", "module(name = \""+name+"\")\n")
		w.write("offline/"+name+"/BUILD", "")
	}
	for name, text := range offline {
		w.write("offline/"+name, text)
	}
	for _, dir := range []string{"bazel", "make"} {
		if err := os.CopyFS(filepath.Join(w.root, dir), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	os.RemoveAll(w.path("make/build")) // left by a make in the tree
	w.ptxlink = filepath.Join(w.root, "tools", "ptxlink")
	w.run(".", "go", "build", "-o", w.ptxlink, "ptxlink/cmd/ptxlink")
	t.Cleanup(func() {
		w.run(w.path("bazel/example"), w.bazel, append(w.startup(), "shutdown")...)
		// Bazel makes its outputs read-only.
		filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				os.Chmod(path, 0o777)
			}
			return nil
		})
	})
	return w
}

var offline = map[string]string{
	"rules_cc/WORKSPACE": "",
	"rules_cc/cc/BUILD":  "",
	"rules_cc/cc/defs.bzl": `def cc_binary(**attrs):
    native.cc_binary(**attrs)

def cc_library(**attrs):
    native.cc_library(**attrs)

def cc_toolchain(**attrs):
    native.cc_toolchain(**attrs)

def cc_toolchain_suite(**attrs):
    native.cc_toolchain_suite(**attrs)
`,
	"rules_java/WORKSPACE":  "",
	"rules_java/java/BUILD": "",
	"rules_java/java/defs.bzl": `def java_import(**attrs):
    native.java_import(**attrs)

def java_runtime(**attrs):
    native.java_runtime(**attrs)

def java_toolchain(**attrs):
    native.java_toolchain(**attrs)
`,
}

var modules = []string{"apple_support", "buildozer", "protobuf", "zlib"}

func (w *workspace) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *workspace) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *workspace) write(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o777); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

func (w *workspace) replace(name, old, new string) {
	w.Helper()
	text := w.read(name)
	if strings.Count(text, old) != 1 {
		w.Fatalf("%s has %q %d times", name, old, strings.Count(text, old))
	}
	w.write(name, strings.Replace(text, old, new, 1))
}

func (w *workspace) run(dir, program string, args ...string) string {
	w.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PTXLINK="+w.ptxlink)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

var (
	action    = regexp.MustCompile(`(?m)^SUBCOMMAND: # \S+ \[action '([^']*)'`)
	processes = regexp.MustCompile(`(?m)^INFO: \d+ process.*`)
)

func (w *workspace) startup() []string {
	return []string{"--nohome_rc", "--max_idle_secs=60", "--host_jvm_args=-XX:TieredStopAtLevel=1", "--output_user_root=" + w.path("output")}
}

func (w *workspace) buildArgs(target string, options ...string) []string {
	// In its sandbox /tmp is another directory, and PATH leads there.
	args := append(w.startup(), "build", "--subcommands", "--color=no", "--curses=no", "--sandbox_add_mount_pair="+oracles.Machine)
	if w.module {
		args = append(args, "--noenable_workspace")
		for _, name := range modules {
			args = append(args, "--override_module="+name+"="+w.path("offline/"+name))
		}
	} else {
		for _, name := range []string{"rules_cc", "rules_java"} {
			args = append(args, "--override_repository="+name+"="+w.path("offline/"+name))
		}
	}
	return append(append(args, options...), target)
}

func (w *workspace) build(target string, options ...string) (ran []string) {
	w.Helper()
	out := w.run(w.path("bazel/example"), w.bazel, w.buildArgs(target, options...)...)
	for _, a := range action.FindAllStringSubmatch(out, -1) {
		ran = append(ran, a[1])
	}
	slices.Sort(ran)
	w.Logf("bazel: %s", processes.FindString(out))
	return ran
}

func (w *workspace) makes() (made []string) {
	w.Helper()
	out := w.run(w.path("make"), w.make)
	for _, line := range strings.Split(out, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != w.ptxlink {
			continue
		}
		for i, word := range words {
			if i > 0 && words[i-1] == "-o" || strings.HasPrefix(word, "build/lib") && words[1] == "ar" {
				made = append(made, word)
			}
		}
	}
	slices.Sort(made)
	return made
}

func (w workspace) toolchain(args string) {
	name, text := "bazel/example/WORKSPACE", "ptxlink_host_toolchain("+args+")\n"
	if w.module {
		name, text = "bazel/example/MODULE.bazel", "ptxlink.host("+args+")\n"
	}
	old := regexp.MustCompile(`(?m)^(ptxlink_host_toolchain|ptxlink\.host)\(.*\n`).ReplaceAllString(w.read(name), "")
	w.write(name, old+text)
}

func (w workspace) functions(cubin string) (names []string) {
	w.Helper()
	out := w.run(".", oracles.Require(w.T, "readelf"), "-SW", cubin)
	for _, m := range regexp.MustCompile(`(?m) \.text\.(\S+) `).FindAllStringSubmatch(out, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

func (w workspace) fails(target, want string) {
	w.Helper()
	cmd := exec.Command(w.bazel, w.buildArgs(target)...)
	cmd.Dir = w.path("bazel/example")
	cmd.Env = append(os.Environ(), "PTXLINK="+w.ptxlink)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
		w.Errorf("%s: %v, want %q in:\n%s", target, err, want, out)
	}
}
