package llvm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ptxlink/internal/tool"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// write creates programs in a new directory and returns its path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for compilers")
	}
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func of(producer string) container.Unit {
	return container.Unit{Name: producer + ".bc", Bitcode: &container.Bitcode{Producer: producer}}
}

func TestFind(t *testing.T) {
	program := func(said string) string { return "#!/bin/sh\necho '" + said + "'\n" }
	root := write(t, map[string]string{
		"beside/clang":              program("Debian clang version 18.1.8"),
		"path/clang":                program("clang version 19.1.7"),
		"path/clang-20":             program("clang version 20.1.2"),
		"path/clang-21":             program("Ubuntu clang version 21.1.0"),
		"installed/llvm-22/clang":   program("clang version 22.1.8"),
		"installed/llvm-9/clang":    program("clang version 9.0.1"),
		"llc/llc":                   program("LLVM version 23.1.0"),
		"llc/llc-22":                program("  LLVM version 22.0.0\n    nvptx64 - NVIDIA PTX 64-bit"),
		"old/llc":                   program("  LLVM version 14.0.6\n    nvptx64 - NVIDIA PTX 64-bit"),
		"installed/llvm-22/README":  "",
		"named/my-clang":            program("clang version 12.0.0"),
		"installed/llvm-22/clang-x": program("clang version 99"),
	})
	in := func(path string) string { return filepath.Join(root, path) }
	before := installed
	defer func() { installed = before }()
	installed = func() []string { return []string{in("installed/llvm-*")} }
	for _, test := range []struct {
		name, explicit, variable, path string
		beside                         []string
		units                          []container.Unit
		want, err                      string
	}{
		{name: "beside", beside: []string{in("none"), in("beside")}, path: "path", units: []container.Unit{of("LLVM18.1.8")}, want: "beside/clang"},
		{name: "beside is too old", beside: []string{in("beside")}, path: "path", units: []container.Unit{of("LLVM19.1.0")}, want: "path/clang"},
		{name: "the newest on PATH", path: "path", units: []container.Unit{of("LLVM18.1.8"), of("LLVM20.0.0")}, want: "path/clang-21"},
		{name: "installed", path: "path", units: []container.Unit{of("LLVM22.1.4-rust-1.97.0-nightly")}, want: "installed/llvm-22/clang"},
		{name: "none is new enough", path: "path", units: []container.Unit{of("LLVM40.0.0")}, want: "path/clang"},
		{name: "no producer", path: "path", units: []container.Unit{of("")}, want: "path/clang"},
		{name: "llc that makes PTX", path: "llc", units: []container.Unit{of("LLVM21.1.0")}, want: "installed/llvm-22/clang"},
		{name: "explicit, whatever it is", explicit: in("named/my-clang"), path: "path", units: []container.Unit{of("LLVM22.1.0")}, want: "named/my-clang"},
		{name: "$CLANG", variable: "clang-20", path: "path", units: []container.Unit{of("LLVM22.1.0")}, want: "path/clang-20"},
		{name: "explicit, but none", explicit: "none", path: "path", err: "cannot run none, which Compiler.Path names: executable file not found"},
		{name: "$CLANG names no program", variable: "none", path: "path", err: "cannot run none, which $CLANG names: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("CLANG", test.variable)
			t.Setenv("PATH", in(test.path))
			var c Compiler
			err := c.Find(context.Background(), test.explicit, test.beside, test.units)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || c.Path != in(test.want) {
				t.Errorf("%q, %v; want %q", c.Path, err, test.want)
			}
		})
	}
	installed = before
	t.Setenv("CLANG", "")
	for path, want := range map[string]string{"llc": "llc/llc-22", "old": "old/llc", "named": ""} {
		t.Setenv("PATH", in(path))
		var c Compiler
		err := c.Find(context.Background(), "", nil, []container.Unit{of("LLVM21.1.0")})
		switch {
		case want != "" && (err != nil || c.Path != in(want)):
			t.Errorf("%q, %v; want %q", c.Path, err, want)
		case want == "" && (err == nil || err.(*diag.Message).Help != "install clang 21 or newer, name the program with Compiler.Path or $CLANG, or compile to PTX: clang -S without -flto"):
			t.Errorf("%+v", err)
		}
	}
}

// TestHangs names a program that does not print its version.
func TestHangs(t *testing.T) {
	ctx := tool.WithPatience(t.Context(), 200*time.Millisecond)
	root := write(t, map[string]string{"clang": "#!/bin/sh\nkill -STOP $$\n", "llc/llc": "#!/bin/sh\nkill -STOP $$\n"})
	t.Setenv("CLANG", "")
	for _, dir := range []string{root, filepath.Join(root, "llc")} {
		t.Setenv("PATH", dir)
		c := Compiler{}
		if err := c.Find(ctx, "", []string{dir}, []container.Unit{of("LLVM19.1")}); !errors.Is(err, tool.ErrHangs) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if path, err := FindLLC(ctx); !errors.Is(err, tool.ErrHangs) {
		t.Error(path, err)
	}
}

// TestLower checks what is reported of units that are compiled together.
func TestLower(t *testing.T) {
	root := write(t, map[string]string{"clang": `#!/bin/sh
case $1 in --version) echo "clang version 19.1.7"; exit ;; esac
echo "warning: Linking two modules of different data layouts: 'unit1.bc' is 'e' whereas 'unit0.bc' is 'f'" >&2
echo "warning: unit1.bc: careful" >&2
for last; do :; done
case $* in *sm_90*) echo "error: unit11.bc: Linking globals named 'f': symbol multiply defined" >&2; exit 1 ;; esac
{ echo .version 8.0; echo .target sm_80; echo "// $*"; } >"$last"
`})
	units := make([]container.Unit, 12)
	for i := range units {
		units[i] = of("LLVM19")
		units[i].Name = string(rune('a'+i)) + ".bc"
	}
	c := Compiler{Path: filepath.Join(root, "clang"), Arch: "sm_80", Level: "3", Features: "+ptx83,+x", Args: []string{"-y"}}
	var log diag.Log
	text, err := c.Lower(context.Background(), units[:2], &log)
	if want := ".version 8.0\n.target sm_80\n// -cc1 -triple nvptx64-nvidia-cuda -Wno-override-module -target-cpu sm_80 -O3 -S -fno-dwarf-directory-asm -target-feature +ptx83 -target-feature +x -mllvm -y -mlink-bitcode-file unit1.bc -x ir unit0.bc -o out.ptx\n"; string(text) != want || err != nil {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if len(log.Messages) != 1 || log.Messages[0].Text != "clang: b.bc: careful" {
		t.Errorf("%v", log.Messages)
	}
	c.Arch, log = "sm_90", diag.Log{}
	if _, err := c.Lower(context.Background(), units, &log); !errors.Is(err, ErrRejected) || log.Errors() != 1 ||
		log.Messages[0].Text != "clang cannot compile the LLVM bitcode: l.bc: Linking globals named 'f': symbol multiply defined" {
		t.Errorf("%v, %v", err, log.Messages)
	}
	log, units[0].Name = diag.Log{}, "libx.a(a.bc)"
	if _, err := c.Lower(context.Background(), units[:1], &log); !errors.Is(err, ErrRejected) || !strings.HasPrefix(log.Messages[0].Help, "compile the objects that use this library to bitcode too") {
		t.Errorf("%v, %v", err, log.Messages)
	}
}

func TestCommands(t *testing.T) {
	clang := Compiler{Path: "clang", Arch: "sm_90"}
	if got, want := strings.Join(clang.commands([]string{"a", "b"}, []string{"c", "d"})[1], " "),
		"clang -cc1 -triple nvptx64-nvidia-cuda -Wno-override-module -target-cpu sm_90 -O2 -S -fno-dwarf-directory-asm -mlink-bitcode-file b -mlink-builtin-bitcode library.bc -x ir a -o out.ptx"; got != want {
		t.Errorf("%s", got)
	}
	c := Compiler{Path: "/bin/llc-19", Arch: "sm_90", Level: "s", Features: "+ptx83"}
	var got []string
	for _, command := range c.commands([]string{"a", "b"}, []string{"c", "d"}) {
		got = append(got, strings.Join(command, " "))
	}
	want := `/bin/llvm-link-19 -o linked.bc a b
/bin/llvm-link-19 -o library.bc c d
/bin/llvm-link-19 -o all.bc --only-needed --internalize linked.bc library.bc
/bin/opt-19 -passes=default<Os> all.bc -o optimized.bc
/bin/llc-19 -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90 -mattr=+ptx83 optimized.bc -o out.ptx`
	if filepath.ToSlash(strings.Join(got, "\n")) != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestRenamed checks names that PTX does not have.
func TestRenamed(t *testing.T) {
	unit := of("LLVM19")
	for _, name := range []string{"f", "a.1", "a.12", "x@y"} {
		unit.Bitcode.Symbols = append(unit.Bitcode.Symbols, container.BitcodeSymbol{Name: name})
	}
	got := renamed([]byte(".func a.1 (.param .b32 a.1_param_0) { call a.12, (x@y); call f; }"), []container.Unit{unit})
	if want := ".func a_$_1 (.param .b32 a_$_1_param_0) { call a_$_12, (x_$_y); call f; }"; string(got) != want {
		t.Errorf("%s", got)
	}
}
