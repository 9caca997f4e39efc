package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/tool"
)

// TestCalledAs checks the names under which ptxlink is another program.
func TestCalledAs(t *testing.T) {
	for program, want := range map[string]string{
		"ptxlink": "", "nvlink": "nvlink", "/usr/local/cuda/bin/nvlink": "nvlink", "./nvlink.exe": "nvlink",
		"/usr/bin/nvptx-none-ld": "nvptx-none-ld", "/usr/nvptx-none/bin/ld": "nvptx-none-ld", "/usr/lib/gcc/x86_64-linux-gnu/12/accel/nvptx-none/ld": "nvptx-none-ld",
		"/usr/bin/ld": "", "ld": "", "bin/ld": "", "/home/nvlink/ptxlink": "", "nvlink-old": "", "mynvlink": "",
		"/opt/llvm-bitcode-linker": "llvm-bitcode-linker", "rust-ptx-linker": "llvm-bitcode-linker", "clang-nvlink-wrapper": "clang-nvlink-wrapper",
	} {
		args := calledAs(program, []string{"-o", "x"})
		if want == "" && !slices.Equal(args, []string{"-o", "x"}) || want != "" && !slices.Equal(args, []string{want, "-o", "x"}) {
			t.Errorf("%s: %q", program, args)
		}
	}
}

// TestPtxasBeside calls ptxlink in nvlink's place. Called by its path, it runs the ptxas beside that nvlink, or beside the
// one that this leads to, and not the one on PATH or beside ptxlink, which may be of another toolkit.
func TestPtxasBeside(t *testing.T) {
	toolkit, other, shim, sandbox, own := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{toolkit, other, own} {
		if err := os.WriteFile(filepath.Join(dir, "ptxas"+tool.Exe), nil, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	nvlink := func(dir string) string { return filepath.Join(dir, "nvlink"+tool.Exe) }
	ptxlink := filepath.Join(own, "ptxlink"+tool.Exe)
	// A relative link in a directory that is itself a link.
	aliased, alias := t.TempDir(), filepath.Join(t.TempDir(), "bin")
	relative, err := filepath.Rel(aliased, nvlink(toolkit))
	if err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{nvlink(sandbox): nvlink(toolkit), nvlink(toolkit): ptxlink, nvlink(shim): ptxlink, nvlink(aliased): relative, alias: aliased} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("PTXAS", "")
	t.Setenv("PATH", other)
	called := os.Args[0]
	t.Cleanup(func() { os.Args[0] = called })
	for program, want := range map[string]string{nvlink(toolkit): toolkit, nvlink(sandbox): toolkit, nvlink(alias): toolkit, nvlink(shim): other, "nvlink": other, ptxlink: other} {
		os.Args[0] = program
		if path, err := new(linkRequest).findPtxas(); err != nil || path != filepath.Join(want, "ptxas"+tool.Exe) {
			t.Errorf("%s: %s, %v", program, path, err)
		}
	}
}

func TestOptionFiles(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"-optf", "a,b", "x.o"}, []string{"@a", "@b", "x.o"}},
		{[]string{"--options-file=a", "optf"}, []string{"@a", "optf"}},
		{[]string{"-o", "x", "--", "-optf", "a"}, []string{"-o", "x", "--", "-optf", "a"}},
		{[]string{"-optf"}, []string{"-optf"}},
	} {
		if got := optionFiles(test.args); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.args, got, test.want)
		}
	}
}

// TestNvlinkOptions checks that ptxlink nvlink has each option of the newest nvlink, by all its names.
func TestNvlinkOptions(t *testing.T) {
	help, err := exec.Command(oracles.Require(t, "nvlink-new"), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	options, known := regexp.MustCompile(`(?m)^--([\w-]+) .*\(-([\w-]+)\)`).FindAllStringSubmatch(string(help), -1), nvlinkCommand.table().named
	if len(options) < 40 {
		t.Fatalf("%d options:\n%s", len(options), help)
	}
	for _, names := range options {
		for _, name := range names[1:] {
			if known[name] == nil {
				t.Errorf("there is no %s, of --%s (-%s)", name, names[1], names[2])
			}
		}
	}
}

// TestLostCode links an object whose device code is in a section that a later release of nvcc may write: it must not be
// left out without a message.
func TestLostCode(t *testing.T) {
	dir := t.TempDir()
	source, library := filepath.Join(dir, "k.ptx"), filepath.Join(dir, "l.a")
	if err := os.WriteFile(source, []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k () { ret; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ptxlink := func(args ...string) (code int, said string) {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), args, nil, &stdout, &stderr)
		return code, stderr.String()
	}
	if code, said := ptxlink("ar", "--format=nv", library, source); code != exitOK {
		t.Fatal(said)
	}
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte("__nv_relfatbin"), []byte("__nv_newfatbin"))
	if err := os.WriteFile(library, data, 0o666); err != nil {
		t.Fatal(err)
	}
	code, said := ptxlink("nvlink", "--arch=compute_80", source, library, "-o", filepath.Join(dir, "out.ptx"))
	if code != exitLink || !strings.Contains(said, "l.a(k.o): error: it has the ID of device code, and no section that is known holds the code [not-ptx]\n") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
