package main

import (
	"slices"
	"testing"
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
