// Package docs_test runs the commands of README.md and of the pages in this directory.
package docs_test

import (
	"errors"
	"fmt"
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

// TestCommands runs the code blocks of each page in a copy of the tree, in order,
// each from the root. A block of sh must succeed. A block of console holds commands
// after "$ ", each followed by what it prints, where a line of "..." stands for any
// lines. A block of python, or of sh that runs Python, names the virtual environment that
// testdata/src/frontends.sh makes (numba, triton), and is left out where that is missing;
// blocks of python of one page are one program. "norun" and a reason after the language
// leave a block out: it needs a GPU, or files of the reader.
//
// A page that calls a compiler is skipped if that is missing (fetch.sh --compilers).
func TestCommands(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../README.md")
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "ptxlink"), "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ran := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, faults := readBlocks(string(text))
		for _, fault := range faults {
			t.Errorf("%s:%s", page, fault)
		}
		ran += len(blocks)
		if len(blocks) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			for _, tool := range compilers(blocks) {
				oracles.RequireCompiler(t, tool)
			}
			root := copyTree(t)
			program := "" // the blocks of python so far
			for _, b := range blocks {
				if b.language == "python" {
					program += b.text
					b.text = program
				}
				if b.venv != "" {
					if _, err := os.Stat(filepath.Join(oracles.Dir(), b.venv, "bin/python")); err != nil {
						t.Logf("%s:%d: not run: testdata/src/frontends.sh makes the environment %s", page, b.line, b.venv)
						continue
					}
				}
				b.run(t, page, root, bin)
			}
		})
	}
	if ran < 8 {
		t.Errorf("only %d blocks", ran)
	}
}

// TestIndex checks that README.md has each page.
func TestIndex(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, index, _ := strings.Cut(string(readme), "\n## Documentation\n")
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		if !strings.Contains(index, "](docs/"+page+")") {
			t.Errorf("the index of README.md lacks docs/%s", page)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(string(readme), -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
}

// TestMakefile builds the quickstart with the Makefile of README.md, and again after
// changes.
func TestMakefile(t *testing.T) {
	oracles.RequireCompiler(t, "nvcc")
	oracles.Require(t, "ptxas")
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```make\n")
	makefile, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("README.md has no block of make")
	}
	root, bin := copyTree(t), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "ptxlink"), "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(root, "testdata/quickstart/Makefile"), []byte(makefile), 0o666); err != nil {
		t.Fatal(err)
	}
	block{text: `cd testdata/quickstart
unset MAKEFLAGS MAKELEVEL # of the make that runs the tests
makes() {
	sleep 0.02 # files have the time of the last tick
	touch "$1"
	command make >log
	[ "$(grep -c . log)" = "$2" ] || { echo "after a change of $1:"; cat log; exit 1; }
	command make -q # nothing is left to do
}
makes main.cu 3
makes shapes.cu 2
makes shapes.h 3
makes main.ptx 1
head -c 4 app.cubin | grep -q ELF
`}.run(t, "../README.md", root, bin)
}

// block is a code block.
type block struct {
	line     int // of its first line in the page
	language string
	venv     string // of Python
	text     string
}

// readBlocks returns the blocks of a page that can be run, and what is wrong with others.
func readBlocks(page string) (list []block, faults []string) {
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		info, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		start := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		language, rest, _ := strings.Cut(info, " ")
		reason, norun := strings.CutPrefix(rest, "norun")
		switch {
		case !slices.Contains([]string{"sh", "console", "python"}, language):
		case norun && len(reason) < 2:
			faults = append(faults, fmt.Sprintf("%d: norun without a reason", start))
		case norun:
		case language == "python" && rest == "":
			faults = append(faults, fmt.Sprintf("%d: a block of python names its virtual environment, or norun and a reason", start))
		default:
			list = append(list, block{start + 1, language, rest, strings.Join(lines[start:i], "\n") + "\n"})
		}
	}
	return list, faults
}

// compilers returns the compilers that the blocks call.
func compilers(blocks []block) (tools []string) {
	for _, b := range blocks {
		for _, m := range regexp.MustCompile(`(?m)^(?:\$ )?(nvcc|clang|llc|x86_64-linux-gnu-accel-nvptx-none-gcc-12)\b`).FindAllStringSubmatch(b.text, -1) {
			tool := m[1]
			if strings.HasPrefix(tool, "x86_64") {
				tool = "gcc-nvptx"
			}
			if !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
	}
	return tools
}

// prelude stands before each block: the program is built, and the tests run already.
const prelude = `set -e
go() {
	if [ "$1 $2" = "run ./cmd/ptxlink" ]; then shift 2; ptxlink "$@"; else command go "$@"; fi
}
pip() { :; } # the environment has the packages
make() {
	case $1 in test | install) ;; *) command make "$@" ;; esac
}
`

func (b block) run(t *testing.T, page, root, bin string) {
	script, want := b.text, ""
	path := []string{bin, filepath.Join(oracles.Dir(), "bin"), filepath.Join(oracles.Dir(), "gcc-nvptx/root/usr/bin"), os.Getenv("PATH")}
	if b.venv != "" {
		path = slices.Insert(path, 0, filepath.Join(oracles.Dir(), b.venv, "bin"))
	}
	if b.language == "python" {
		script = "python -W ignore - <<'=='\n" + b.text + "==\n"
	}
	if b.language == "console" {
		script, want = "", b.text
		for line := range strings.Lines(b.text) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				script += "cat <<'=='\n" + line + "==\n" + "{ " + strings.TrimSuffix(command, "\n") + "\n} 2>&1 || true\n"
			}
		}
	}
	cmd := exec.Command("bash", "-c", prelude+script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "NO_COLOR=1", "PTXLINK_CACHE=",
		"CUDA_HOME=", "CUDA_PATH=", "PTXAS=", "NVLINK=", "FATBINARY=", // the tools on this PATH are meant
		"GCC="+filepath.Join(oracles.Dir(), "gcc-nvptx"),
		"TRITON_CACHE_DIR="+filepath.Join(root, "triton-cache"), "PATH="+strings.Join(path, ":"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s:%d: %v\n%s\n%s", page, b.line, err, b.text, out)
	} else if b.language == "console" && !like(string(out), want) {
		t.Errorf("%s:%d: the commands print\n%s\nthe page has\n%s", page, b.line, out, want)
	}
}

// like compares the lines of two texts but for space at their ends. A line of "..."
// in want stands for any lines.
func like(got, want string) bool {
	quoted := regexp.QuoteMeta(want)
	quoted = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(quoted, `(?:.*\n)*?.*`)
	trim := regexp.MustCompile(`(?m)[ \t]+$`)
	return regexp.MustCompile(`^` + trim.ReplaceAllString(quoted, "") + `$`).MatchString(trim.ReplaceAllString(got, ""))
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		got, want string
		ok        bool
	}{
		{"a \nb\n", "a\nb\n", true},
		{"a\nx\ny\nb\n", "a\n...\nb\n", true},
		{"a\nx\ny\n", "a\n...\nb\n", false},
		{"a...\n", "a...\n", true},
		{"abcd\n", "a...\n", false},
		{"a\nb\n", "a\n", false},
	} {
		if like(c.got, c.want) != c.ok {
			t.Errorf("like(%q, %q) is %t", c.got, c.want, !c.ok)
		}
	}
}

// copyTree copies what the commands of the pages use.
func copyTree(t *testing.T) string {
	root := t.TempDir()
	for _, dir := range []string{"testdata/quickstart", "testdata/ptx", "testdata/src", "integrations"} {
		to := filepath.Join(root, dir)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(filepath.Join("..", dir))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return root
}
