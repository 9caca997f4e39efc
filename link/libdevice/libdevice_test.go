package libdevice

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/tool"
	"ptxlink/link/ptxas"
	"ptxlink/object/diag"
)

// bitcode is a module with only a symbol table, of __nv_sqrtf and __nv_sinf.
const bitcode = "BC\xc0\xde!\f\x00\x00\x10\x00\x00\x00\v\x02!\x11\x03\x00\x00\x00\x01\x00\x00\x00\v\x02\x01\x00q\x18\x00\x00\t\x00\x00\x00" +
	"\v\x16\xe0\x17~\xc1\x1d\xec\xe1\x17\xe6!\x1e\xe4\x81\x1e\xcca\x81\x12\xfc\xc2/\xb8\x83=\xfc\xc2<\xa4\x83;\x98\x03\x00\x00\x00\x00\x00\x00"

// write creates files in a new directory and returns its path.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
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

func TestFind(t *testing.T) {
	root := write(t, map[string]string{
		"toolkit/nvvm/libdevice/libdevice.10.bc":                   "",
		"debian/libdevice/libdevice.10.bc":                         "",
		"site/nvidia/cu13/nvvm/libdevice/libdevice.10.bc":          "",
		"old/site/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc": "",
		"venv/" + filepath.ToSlash(strings.ReplaceAll(ptxas.WheelDir, "*", ".12")) + "/nvidia/cu13/nvvm/libdevice/libdevice.10.bc": "",
		"local/cuda-12.4/nvvm/libdevice/libdevice.10.bc":  "",
		"local/cuda-12.10/nvvm/libdevice/libdevice.10.bc": "",
		"local/cuda-13.0/README":                          "",
		"toolkit/bin/nvcc" + tool.Exe:                     "#!/bin/sh\n",
		"empty/README":                                    "",
	})
	before := installed
	defer func() { installed = before }()
	installed = func() []string { return []string{filepath.Join(root, "local/cuda-*")} }
	in := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, test := range []struct{ name, explicit, home, path, want, err string }{
		{name: "a directory", explicit: "toolkit", want: "toolkit/nvvm/libdevice"},
		{name: "Debian", explicit: "debian", want: "debian/libdevice"},
		{name: "a wheel of CUDA 13", explicit: "site", want: "site/nvidia/cu13/nvvm/libdevice"},
		{name: "a wheel of CUDA 12", explicit: "old/site", want: "old/site/nvidia/cuda_nvcc/nvvm/libdevice"},
		{name: "a virtual environment", explicit: "venv", want: "venv/" + filepath.ToSlash(strings.ReplaceAll(ptxas.WheelDir, "*", ".12")) + "/nvidia/cu13/nvvm/libdevice"},
		{name: "the directory of the file", explicit: "debian/libdevice", want: "debian/libdevice"},
		{name: "the file", explicit: "debian/libdevice/libdevice.10.bc", want: "debian/libdevice"},
		{name: "a directory without", explicit: "empty", home: "toolkit", err: "there is no libdevice.10.bc in "},
		{name: "no such directory", explicit: "none", home: "toolkit", err: "there is no "},
		{name: "$CUDA_HOME", home: "toolkit", want: "toolkit/nvvm/libdevice"},
		{name: "$CUDA_HOME without", home: "empty", path: "toolkit/bin", want: "toolkit/nvvm/libdevice"},
		{name: "the newest that has it", want: "local/cuda-12.10/nvvm/libdevice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("CUDA_HOME", "")
			t.Setenv("CUDA_PATH", "")
			t.Setenv("PATH", in(test.path))
			if test.home != "" {
				t.Setenv("CUDA_HOME", in(test.home))
			}
			explicit := test.explicit
			if explicit != "" {
				explicit = in(explicit)
			}
			got, err := Find(explicit)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v", err)
				}
				return
			}
			if want := in(test.want + "/libdevice.10.bc"); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
	installed = func() []string { return []string{in("empty")} }
	t.Setenv("CUDA_HOME", in("empty"))
	t.Setenv("CUDA_PATH", "")
	t.Setenv("PATH", in("empty"))
	_, err := Find("")
	want := "cannot find libdevice.10.bc; looked in " + in("empty") + ", $CUDA_PATH (not set), the toolkit of nvcc (not on $PATH), " + in("empty") + " [tool]"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// fakeLLC writes an llc that lists nvptx64 and then runs a script.
func fakeLLC(script string) string {
	return "#!/bin/sh\ncase $1 in --version) echo '    nvptx64 - NVIDIA PTX 64-bit'; exit;; esac\n" + script
}

// header begins PTX with a comment to its end, and commented returns that comment, or else the PTX.
const header = ".version 8.0\\n.target sm_75\\n/*"

func commented(ptx []byte) string {
	text, _ := strings.CutPrefix(string(ptx), ".version 8.0\n.target sm_75\n/*")
	return strings.TrimSuffix(text, "*/\n")
}

// TestSource checks the attributes of functions: cicc for Windows refuses those of GCC.
func TestSource(t *testing.T) {
	for system, device := range map[string]string{"linux": "__attribute__((device))", "windows": "__declspec(__device__)"} {
		want := "extern \"C\" " + device + " void __nv_sinf();\n" + device + " void (*volatile ptxlink_table[])() = {__nv_sinf};\n"
		if got := string(source([]string{"__nv_sinf"}, system)); got != want {
			t.Errorf("on %s:\n%s", system, got)
		}
	}
}

// toLast finds the last argument.
const toLast = "for last; do :; done\n"

func TestCompile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for compilers")
	}
	cat, _ := exec.LookPath("cat")
	library := bitcode
	// writes writes PTX with what commands print in a comment.
	writes := func(commands string) string {
		return toLast + "{ printf '" + header + "'; " + commands + "; echo '*/'; } >\"$last\"\n"
	}
	args := writes("echo \"$@\"")
	for _, test := range []struct {
		name    string
		files   map[string]string // of the toolkit, beside the bitcode
		path    map[string]string // programs on PATH
		options Options
		want    string // PTX
		tool    string
		says    string // messages, or the error
	}{
		{
			name:  "cicc of the toolkit",
			files: map[string]string{"nvvm/bin/cicc": "#!/bin/sh\n" + writes("echo \"$@\"; cat libdevice.ii")},
			path:  map[string]string{"llc": fakeLLC("exit 1")},
			want: `-arch compute_75 -m64 --device-c -ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 -nvvmir-library libdevice.10.bc libdevice.ii -o libdevice.ptx
extern "C" __attribute__((device)) void __nv_sinf();
extern "C" __attribute__((device)) void __nv_sqrtf();
__attribute__((device)) void (*volatile ptxlink_table[])() = {__nv_sinf, __nv_sqrtf};
`, tool: "nvvm/bin/cicc",
		},
		{
			name:    "with --ftz, and the toolkit taken apart",
			files:   map[string]string{"bin/cicc": "#!/bin/sh\n" + args},
			options: Options{Arch: "sm_90a", FTZ: true},
			want:    "-arch compute_90a -m64 --device-c -ftz=1 -prec_div=1 -prec_sqrt=1 -fmad=1 -nvvmir-library libdevice.10.bc libdevice.ii -o libdevice.ptx\n",
			tool:    "bin/cicc",
		},
		{
			name: "the newest llc that makes PTX",
			path: map[string]string{"llc": "#!/bin/sh\n", "llc-9": fakeLLC("exit 1"), "llc-14": fakeLLC(args), "llc-15": "#!/bin/sh\n"},
			want: "-mtriple=nvptx64-nvidia-cuda -mcpu=sm_75 libdevice.10.bc -o libdevice.ptx\n", tool: "path/llc-14",
		},
		{
			name: "square roots of llc",
			path: map[string]string{"llc": fakeLLC(toLast + "cat >\"$last\" <<'END'\n.version 8.0\n.target sm_75\n.visible .func (.param .b32 r) __nv_sqrtf(\n.param .b32 a)\n{\n.reg .f32 %f<3>;\nsqrt.approx.f32 %f2, %f1;\n}\nEND\n")},
			want: ".version 8.0\n.target sm_75\n.visible .func (.param .b32 r) __nv_sqrtf(\n.param .b32 a)\n{\n.reg .f32 %f<3>;\nsqrt.approx.f32 %f2, %f1;\n}\n", tool: "path/llc",
			says: "path/llc compiled __nv_sqrtf, and functions that use it, with approximate square roots",
		},
		{
			name: "an architecture that llc does not know",
			path: map[string]string{"llc": fakeLLC(args + "echo \"'sm_75' is not a recognized processor for this target\" >&2\n")},
			tool: "path/llc", says: "note: it says: 'sm_75' is not a recognized processor",
		},
		{
			name:  "cicc fails",
			files: map[string]string{"nvvm/bin/cicc": "#!/bin/sh\necho a >&2\necho a\necho\necho b\necho c\necho d\nexit 2\n"},
			tool:  "nvvm/bin/cicc", says: "it says: a\nptxlink: note: it says: b\nptxlink: note: it says: c\nhelp: if it does not know the architecture",
		},
		{
			name:  "cicc writes nothing",
			files: map[string]string{"nvvm/bin/cicc": "#!/bin/sh\n"},
			says:  "cicc reported success and wrote no PTX [tool]",
		},
		{
			name:  "cicc writes garbage",
			files: map[string]string{"nvvm/bin/cicc": "#!/bin/sh\n" + toLast + "echo garbage >\"$last\"\n"},
			says:  "cicc reported success, but its PTX cannot be used: it is not PTX",
		},
		{name: "no compiler", says: "nothing here compiles libdevice"},
		{name: "--ftz with llc", path: map[string]string{"llc": fakeLLC(args)}, options: Options{FTZ: true}, says: "Options.FTZ needs cicc"},
		{name: "--llc is none", options: Options{LLC: "/none"}, says: "cannot run /none, which Options.LLC names"},
		{name: "--llc makes no PTX", path: map[string]string{"other": "#!/bin/sh\n"}, options: Options{LLC: "other"}, says: "other does not make PTX"},
		{
			name:    "--llc goes before cicc",
			files:   map[string]string{"nvvm/bin/cicc": "#!/bin/sh\nexit 1\n"},
			path:    map[string]string{"other": fakeLLC(args)},
			options: Options{LLC: "other"},
			want:    "-mtriple=nvptx64-nvidia-cuda -mcpu=sm_75 libdevice.10.bc -o libdevice.ptx\n", tool: "path/other",
		},
		{name: "no libdevice", options: Options{Bitcode: "nvvm/README"}, files: map[string]string{"nvvm/README": "text"}, says: "there are no functions of libdevice in "},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"nvvm/libdevice/libdevice.10.bc": library, "path/README": ""}
			for name, text := range test.files {
				files[name] = text
			}
			for name, text := range test.path {
				files["path/"+name] = text
			}
			root := write(t, files)
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			t.Setenv("PATH", filepath.Join(root, "path")) // and no llc of the machine
			if cat != "" {
				os.Symlink(cat, filepath.Join(root, "path", "cat"))
			}
			o := test.options
			if o.Bitcode == "" {
				o.Bitcode = "nvvm/libdevice/libdevice.10.bc"
			}
			o.Bitcode = filepath.Join(root, o.Bitcode)
			if o.Arch == "" {
				o.Arch = "sm_75"
			}
			l, messages, err := Compile(context.Background(), o)
			var said strings.Builder
			diag.Write(&said, messages, diag.Style{})
			if err != nil {
				said.WriteString(err.Error())
			}
			if !strings.Contains(said.String(), test.says) || test.says == "" && said.Len() > 0 {
				t.Errorf("says %q, want %q", said.String(), test.says)
			}
			if test.want == "" {
				if err == nil {
					t.Errorf("compiled %q", l.PTX)
				} else if errors.Is(err, ErrRejected) != (test.tool != "") {
					t.Errorf("%v", err)
				}
			} else if err != nil || commented(l.PTX) != test.want || l.Tool != filepath.Join(root, test.tool) {
				t.Errorf("%v; %+v", err, l)
			}
			if left, _ := os.ReadDir(temporary); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestRealNames reads libdevice of CUDA 12.4, which fetch.sh downloads with nvcc.
func TestRealNames(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(oracles.Dir(), "cuda-12.4", "nvvm", "libdevice", fileName))
	if err != nil {
		t.Skip(err)
	}
	list := functions(data)
	if len(list) != 348 || list[0] != "__nv_abs" || list[347] != "__nv_ynf" {
		t.Errorf("%d names: %v", len(list), list)
	}
}
