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

func TestMain(m *testing.M) {
	oracles.HideToolkit()
	m.Run()
}

// TestCommands runs the code blocks of each page in a copy of the tree, in order,
// each from the root. A block of sh must succeed. A block of console holds commands
// after "$ ", each followed by what it prints, where a line of "..." stands for any
// lines. A block of python, or of sh that runs Python, names the packages that its Python
// has (numba, triton, cupy, nvrtc); blocks of python of one page are one program, which runs at the
// last of them. A word after the language is a key of kits.
//
// PATH has the oracles that the page names, and the programs of the system. A page that
// calls a compiler is skipped if that is missing (fetch.sh --compilers).
func TestCommands(t *testing.T) {
	oracles.Long(t)
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
			root, env := copyTree(t), environment(t, bin, blocks)
			last := -1 // the last block of python
			for i, b := range blocks {
				if b.language == "python" {
					last = i
				}
			}
			program := "" // the blocks of python so far, on the lines of the page
			for i, b := range blocks {
				if b.language == "python" {
					program += strings.Repeat("\n", b.line-1-strings.Count(program, "\n")) + b.text
					b.text = program
					if i < last {
						continue
					}
				}
				b.run(t, page, root, env)
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
	oracles.Long(t)
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
`}.run(t, "../README.md", root, environment(t, bin, []block{{text: makefile}}))
}

// block is a code block.
type block struct {
	line     int // of its first line in the page
	language string
	kit      string // key of kits, or empty
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
		language, kit, _ := strings.Cut(info, " ")
		_, known := kits[kit]
		switch {
		case !slices.Contains([]string{"sh", "console", "python"}, language):
		case language == "python" && kit == "":
			faults = append(faults, fmt.Sprintf("%d: a block of python names the packages of its Python", start))
		case kit != "" && !known:
			faults = append(faults, fmt.Sprintf("%d: no kit %q", start, kit))
		default:
			list = append(list, block{start + 1, language, kit, strings.Join(lines[start:i], "\n") + "\n"})
		}
	}
	return list, faults
}

// kits maps a word after the language of a block to the tool of fetch.sh --compilers that
// the block needs, and the commands that set up what its reader has. They start with an
// empty directory $KIT, and $OTHERS is PATH without the tools of CUDA 12.4.
var kits = map[string]struct{ needs, setup string }{
	// A toolkit as NVIDIA installs it.
	"toolkit": {"nvcc-new", `
ln -s $WHEELS/nvidia/cu13/* $KIT/
ln -s lib $KIT/lib64
export CUDA_HOME=$KIT PATH=$KIT/bin:$OTHERS
`},
	// The same of 12.4. Its packages lack cuRAND, of which clang includes a header.
	"toolkit-12.4": {"nvcc", `
ln -s $ORACLES/nvcc-12.4/bin $ORACLES/cuda-12.4/nvvm $KIT/
cp -R $ORACLES/nvcc-12.4/include $KIT/
touch $KIT/include/curand_mtgp32_kernel.h
export CUDA_HOME=$KIT PATH=$KIT/bin:$OTHERS
`},
	// A toolkit as Debian installs it: nvlink is in another directory than nvcc.
	"debian": {"nvcc-new", `
lib=$KIT/usr/lib/nvidia-cuda-toolkit
mkdir -p $KIT/usr/bin $lib/bin
ln -s $WHEELS/nvidia/cu13/[^b]* $lib/
ln -s $WHEELS/nvidia/cu13/bin/* $KIT/usr/bin/
mv $KIT/usr/bin/{nvcc,nvcc.profile,crt} $lib/bin/
printf '#!/bin/sh\nexec %s/bin/nvcc "$@"\n' $lib >$KIT/usr/bin/nvcc
chmod 755 $KIT/usr/bin/nvcc
export PATH=$KIT/usr/bin:$OTHERS
`},
	// No toolkit. pip copies the files of the wheels that it is asked for and no others.
	"pip": {"nvcc-new", `
export PATH=$OTHERS
`},
	// Debian's rustc stands in for the nightly, with the clang of its LLVM.
	"rustup": {"rustc-nvptx", `
export CLANG=$ORACLES/bin/clang
rustup() { [ "$*" = "toolchain install nightly --component rust-src" ]; }
rustc() { [ "$1" = +nightly ] && RUSTC_BOOTSTRAP=1 $ORACLES/bin/rustc-nvptx "${@:2}"; }
`},
	"numba": {"python-numba", `
export PYTHONPATH=integrations/python
PYTHON=$ORACLES/bin/python-numba WHEELS=$(echo $ORACLES/numba/lib/python3*/site-packages)
`},
	// The package for Python.
	"ptxlink": {"", `
PYTHON=python3
export PYTHONPATH=integrations/python
`},
	// The package, and NVRTC of 13.5 with its ptxas.
	"nvrtc": {"nvrtc-new", `
export PYTHONPATH=integrations/python LD_LIBRARY_PATH=$ORACLES/nvrtc/new/lib PTXAS=$ORACLES/bin/ptxas-new
PYTHON=$ORACLES/bin/python-numba
`},
	// CuPy needs a GPU, so a module that checks the cubin stands in for it.
	"cupy": {"nvcc", `
PYTHON=python3
export PYTHONPATH=$PAGES/testdata:integrations/python
`},
	"triton": {"python-triton", `
PYTHON=$ORACLES/bin/python-triton WHEELS=$(echo $ORACLES/triton/lib/python3*/site-packages)
export TRITON_CACHE_DIR=$PWD/triton-cache PYTHONPATH=integrations/python
`},
}

// compilers returns the compilers, and the Pythons with packages, that the blocks call.
func compilers(blocks []block) (tools []string) {
	for _, b := range blocks {
		if kits[b.kit].needs != "" {
			tools = append(tools, kits[b.kit].needs)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:\$ )?(nvcc|clang|llc|gcc-12)\b`).FindAllStringSubmatch(b.text, -1) {
			switch {
			case m[1] == "gcc-12":
				tools = append(tools, "gcc-nvptx")
			case m[1] != "nvcc" || b.kit == "":
				tools = append(tools, m[1])
			}
		}
	}
	return tools
}

// environment returns variables for the blocks of a page, and PATH with the oracles that
// the blocks name, ptxlink in bin and the programs of the system. The tools of CUDA come
// together.
func environment(t *testing.T, bin string, blocks []block) []string {
	var text strings.Builder
	for _, b := range blocks {
		text.WriteString(b.text)
	}
	named := regexp.MustCompile(`[\w-]+`).FindAllString(text.String(), -1)
	toolkit := []string{"nvcc", "ptxas", "nvlink", "cuobjdump", "nvdisasm", "fatbinary"}
	if strings.Contains(text.String(), ".cubin") || slices.Contains(named, "nvcc") {
		named = append(named, toolkit...)
	}
	tools, cuda := t.TempDir(), t.TempDir()
	for _, name := range named {
		if path := filepath.Join(oracles.Dir(), "bin", name); !slices.Contains([]string{"ar", "ld", "nm", "readelf"}, name) {
			if _, err := os.Stat(path); err == nil {
				dir := tools
				if slices.Contains(toolkit, name) {
					dir = cuda
				}
				os.Symlink(path, filepath.Join(dir, name)) // fails for the second mention
			}
		}
	}
	pages, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path, gcc := bin+":"+tools, filepath.Join(oracles.Dir(), "gcc-nvptx")
	env := append(os.Environ(), "NO_COLOR=1", "GCC="+gcc, "ORACLES="+oracles.Dir(), "WHEELS="+filepath.Join(oracles.Dir(), "nvcc-13.5/root"), "PAGES="+pages)
	if slices.Contains(named, "gcc-12") {
		// The host's gcc looks for the offload compiler in its own directories.
		dirs, _ := filepath.Glob(gcc + "/root/usr/lib/gcc/*/12")
		env = append(env, "GCC_FLAGS=-B"+strings.Join(dirs, "")+"/ -B"+gcc+"/root/usr/bin/")
		path += ":" + gcc + "/root/usr/bin"
	}
	path += ":/usr/local/bin:/usr/bin:/bin"
	return append(env, "OTHERS="+path, "PATH="+cuda+":"+path)
}

// prelude stands before each block: the program is built, and the tests run already.
const prelude = `set -e
go() {
	if [ "$1 $2" = "run ./cmd/ptxlink" ]; then shift 2; ptxlink "$@"; else command go "$@"; fi
}
# The packages are here already.
pip() (
	set -o pipefail
	for package in "${@:2}"; do
		case $package in *==*) ;; *) package+='==*' ;; esac
		package=${package//-/_}
		record=$(echo $WHEELS/${package/==/-}.dist-info/RECORD)
		[ -f "$record" ] || { echo "$WHEELS has no wheel $package"; exit 1; }
		[ -z "$VIRTUAL_ENV" ] || cut -d, -f1 "$record" | tar -cf - -C "$WHEELS" -T - | tar -xf - -C "$(echo $VIRTUAL_ENV/lib/python3*/site-packages)"
	done
)
python() { command "$PYTHON" -W ignore "$@"; }
python3() {
	if [ "$1 $2" = "-m venv" ]; then set -- "$@" --without-pip; fi
	command python3 "$@"
}
make() {
	case $1 in test | install) ;; *) command make "$@" ;; esac
}
gcc-12() { command gcc-12 $GCC_FLAGS "$@"; }
`

func (b block) run(t *testing.T, page, root string, env []string) {
	script, want := b.text, ""
	if b.language == "python" {
		script = "python - <<'=='\n" + b.text + "==\n"
	}
	if b.language == "console" {
		script, want = "", b.text
		for line := range strings.Lines(b.text) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				script += "cat <<'=='\n" + line + "==\n" + "{ " + strings.TrimSuffix(command, "\n") + "\n} 2>&1 || true\n"
			}
		}
	}
	cmd := exec.Command("bash", "-c", prelude+kits[b.kit].setup+script)
	cmd.Dir = root
	cmd.Env = append(slices.Clone(env), "KIT="+t.TempDir())
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
