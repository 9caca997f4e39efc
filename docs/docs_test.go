// Package docs_test runs the commands of README.md and of the pages in this directory.
package docs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

func TestMain(m *testing.M) { oracles.Main(m) }

// TestCommands runs the code blocks of each page in a copy of what a release contains, in order,
// each from its root. A block of sh must succeed. A block of console holds commands
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
	bin, files := install(t)
	python, err := filepath.Abs("../integrations/python")
	if err != nil {
		t.Fatal(err)
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
			runAll(t, page, blocks, copyTree(t, files), bin, python)
		})
	}
	if ran < 8 {
		t.Errorf("only %d blocks", ran)
	}
}

// runAll runs the blocks of a page in the directory root, with the ptxlink in the directory bin and the Python package in
// the directory python.
func runAll(t *testing.T, page string, blocks []block, root, bin, python string) {
	t.Helper()
	for _, tool := range compilers(blocks) {
		oracles.RequireCompiler(t, tool)
	}
	env := append(environment(t, bin, blocks), "PACKAGE="+python)
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
}

// TestRelease unpacks the archive that make release writes, and runs README.md there, with the program and the
// Python package of the release.
func TestRelease(t *testing.T) {
	oracles.Long(t)
	dist, root, wheel := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "TARGETS="+runtime.GOOS+"/"+runtime.GOARCH)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	for _, script := range []string{"build.sh", "rpm.sh", "deb.sh", "wheel.sh"} {
		read(t, "../internal/release/"+script)
	}
	for _, file := range releaseFiles(t) {
		read(t, "../"+file)
	}
	run("../internal/release/build.sh", dist)
	run("sh", "-c", `tar -xzf "$0"/*.tar.gz --strip-components=1 -C "$1" && python3 -m zipfile -e "$0"/*.whl "$2" && chmod +x "$2"/ptxlink/bin/*`, dist, root, wheel)
	metadata, err := filepath.Glob(wheel + "/*/METADATA")
	if err != nil || len(metadata) != 1 {
		t.Fatal(metadata, err)
	}
	for _, link := range links(read(t, metadata[0])) {
		t.Errorf("the page of the wheel has a link to %s", link)
	}
	blocks, _ := readBlocks(read(t, filepath.Join(root, "README.md")))
	runAll(t, "README.md of the release", blocks, root, filepath.Join(root, "bin"), wheel)
	for _, file := range []string{"out.ptx", "testdata/quickstart/app.cubin", "build/app.ptx"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
}

// TestLinks follows each link of each page of a release, which must lead to a file of the release and, if
// it names one, to a heading of it.
func TestLinks(t *testing.T) {
	files := releaseFiles(t)
	known := map[string]bool{}
	for _, file := range files {
		for ; file != "."; file = path.Dir(file) {
			known[file] = true
		}
	}
	followed := 0
	for _, page := range files {
		if path.Ext(page) != ".md" {
			continue
		}
		for _, link := range links(read(t, "../"+page)) {
			followed++
			to, heading, _ := strings.Cut(link, "#")
			if to = path.Join(path.Dir(page), to); strings.HasPrefix(link, "#") {
				to = page
			}
			if !known[to] {
				t.Errorf("%s: a release has no %s", page, to)
			} else if heading != "" && !slices.Contains(headings(read(t, "../"+to)), heading) {
				t.Errorf("%s: %s has no heading %s", page, to, heading)
			}
		}
	}
	if followed < 200 {
		t.Errorf("only %d links", followed)
	}
}

var fenced = regexp.MustCompile("(?ms)^```.*?^```$")

// links returns the relative links of a page.
func links(page string) (list []string) {
	for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		list = append(list, m[1])
	}
	return list
}

// headings returns the names by which links call the headings of a page.
func headings(page string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)`).FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// install builds ptxlink, and lays it out with what a release contains beside it. It returns the directory of the
// program, and the pages and examples by their paths from the root.
func install(t *testing.T) (bin string, files []string) {
	t.Helper()
	prefix := t.TempDir()
	bin = filepath.Join(prefix, "bin")
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "ptxlink"), "ptxlink/cmd/ptxlink").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin, share(t, filepath.Join(bin, "ptxlink"), filepath.Join(prefix, "share"))
}

// releaseFiles returns the pages and examples of a release by their paths from the root, and builds nothing.
func releaseFiles(t *testing.T) []string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ptxlink")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return share(t, program, t.TempDir())
}

// share runs share.sh, and returns the pages and examples that it copied.
func share(t *testing.T, program, dir string) (files []string) {
	t.Helper()
	read(t, "../internal/release/share.sh")
	if out, err := exec.Command("../internal/release/share.sh", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("share.sh: %v\n%s", err, out)
	}
	doc := os.DirFS(filepath.Join(dir, "doc/ptxlink"))
	err := fs.WalkDir(doc, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// read returns the text of a file. go test runs a test again if a file changes that it read itself.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
	bin, files := install(t)
	root := copyTree(t, files)
	if err := os.WriteFile(filepath.Join(root, "testdata/quickstart/Makefile"), []byte(makefile), 0o666); err != nil {
		t.Fatal(err)
	}
	block{text: `cd testdata/quickstart
makes() {
	touch old && until touch new && [ new -nt old ]; do :; done # files have the time of the last tick
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
export PYTHONPATH=$PACKAGE
PYTHON=$ORACLES/bin/python-numba WHEELS=$(echo $ORACLES/numba/lib/python3*/site-packages)
`},
	// The package for Python.
	"ptxlink": {"", `
PYTHON=python3
export PYTHONPATH=$PACKAGE
`},
	// The package, and NVRTC of 13.5 with its ptxas.
	"nvrtc": {"nvrtc-new", `
export PYTHONPATH=$PACKAGE LD_LIBRARY_PATH=$ORACLES/nvrtc/new/lib PTXAS=$ORACLES/bin/ptxas-new
PYTHON=$ORACLES/bin/python-numba
`},
	// CuPy needs a GPU, so a module that checks the cubin stands in for it.
	"cupy": {"nvcc", `
PYTHON=python3
export PYTHONPATH=$PAGES/testdata:$PACKAGE
`},
	"triton": {"python-triton", `
PYTHON=$ORACLES/bin/python-triton WHEELS=$(echo $ORACLES/triton/lib/python3*/site-packages)
export TRITON_CACHE_DIR=$PWD/triton-cache PYTHONPATH=$PACKAGE
`},
}

// compilers returns the compilers, and the Pythons with packages, that the blocks call.
func compilers(blocks []block) (tools []string) {
	for _, b := range blocks {
		if kits[b.kit].needs != "" {
			tools = append(tools, kits[b.kit].needs)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:\$ )?(nvcc|clang|llc|gcc-12|cmake)\b`).FindAllStringSubmatch(b.text, -1) {
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
	path += ":" + oracles.Machine
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

// copyTree copies files of the clone.
func copyTree(t *testing.T, files []string) string {
	root := t.TempDir()
	for _, file := range files {
		to := filepath.Join(root, file)
		text := read(t, "../"+file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.WriteFile(to, []byte(text), 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
