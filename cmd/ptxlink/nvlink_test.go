package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		if path, err := new(linkJob).findPtxas(); err != nil || path != filepath.Join(want, "ptxas"+tool.Exe) {
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
	options, known := regexp.MustCompile(`(?m)^--([\w-]+) .*\(-([\w-]+)\)`).FindAllStringSubmatch(string(help), -1), newTable(nvlinkCommand.flags(), nil).named
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
