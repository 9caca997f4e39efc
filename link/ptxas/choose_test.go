package ptxas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ptxlink/link"
	"ptxlink/link/partition"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestSlower checks when separate functions are chosen for the time alone: the whole
// program must take much longer than the largest input and than half of all.
func TestSlower(t *testing.T) {
	a, b := &diag.Source{Name: "a.ptx", Text: []byte("a")}, &diag.Source{Name: "b.ptx", Text: []byte("b")}
	function := func(name string, instructions int) string {
		return ".visible .func " + name + "() { .reg .b32 r; " + strings.Repeat("add.u32 r, r, r; ", instructions-1) + "ret; }\n"
	}
	for _, test := range []struct {
		name   string
		second *diag.Source
		f, g   int // instructions
		cloned int64
		nvlink string
		want   bool
	}{
		{"much larger than half", b, 20300, 20300, 40600, "nvlink", true},
		{"larger than half, with a start of ptxas", b, 20100, 20100, 40200, "nvlink", false},
		{"small", b, 3000, 3000, 20000, "nvlink", false},
		{"no nvlink", b, 20300, 20300, 40600, "", false},
		{"one input", a, 20300, 20300, 40600, "nvlink", false},
		{"little larger than the largest input", b, 40000, 19900, 59900, "nvlink", false},
		{"much larger than the largest input", b, 40000, 20100, 60100, "nvlink", true},
	} {
		pieces := ptx.Pieces{{Text: ".version 7.8\n.target sm_80\n.address_size 64\n"}, {Src: a, Text: function("f", test.f)}, {Src: test.second, Text: function("g", test.g)}}
		build := Build{Nvlink: test.nvlink}
		r := &link.Result{}
		r.PTX, r.Lines = pieces.Text()
		teller := newTeller(build.Options, r)
		m, err := ptx.Parse(teller.linked)
		if err != nil {
			t.Fatal(err)
		}
		if got := build.slower(teller, partition.New(m), partition.Estimate{Cloned: test.cloned, Once: int64(test.f + test.g)}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestCommands checks which programs the automatic choice runs.
func TestCommands(t *testing.T) {
	const calls = "\n.func f() { ret; }\n.visible .entry k()\n{\n\t.reg .b%[1]d r;\n\tP: .callprototype _ ();\n\tmov.u%[1]d r, f;\n\tcall r, P;\n\tret;\n}\n"
	module := func(addresses int) string {
		return fmt.Sprintf(".version 7.8\n.target sm_80\n.address_size %[1]d"+calls, addresses)
	}
	large := strings.Replace(module(64), "call r", strings.Repeat("bar.sync 0; ", tryLimit)+"call r", 1)
	for _, test := range []struct{ what, text, nvlink, want string }{
		{"pointers to functions are tried both ways", module(64), "nvlink", "ptxas ptxas -c nvlink"},
		{"without nvlink there is one way", module(64), "", "ptxas"},
		{"large ones are separate functions", large, "nvlink", "ptxas -c ptxas -c nvlink"},
		{"without nvlink they are not", large, "", "ptxas"},
		{"nvlink does not link 32-bit addresses", module(32), "nvlink", "ptxas"},
		{"only ptxas reads what ptxlink cannot", module(64) + ".func g( { }\n", "nvlink", "ptxas"},
	} {
		var commands []string
		b := Build{Options: Options{Path: "ptxas", Arch: "sm_80"}, Nvlink: test.nvlink, Command: func(args []string) {
			if commands = append(commands, args[0]); slices.Contains(args, "-c") {
				commands = append(commands, "-c")
			}
		}}
		_, messages, err := b.AssembleAll(t.Context(), []Target{{Arch: "sm_80", Result: &link.Result{PTX: []byte(test.text)}}})
		if got := strings.Join(commands, " "); got != test.want || err != nil {
			t.Errorf("%s: %s, want %s; %v, %v", test.what, got, test.want, messages, err)
		}
	}
	b := Build{Options: Options{Path: "ptxas"}, Nvlink: "nvlink"}
	if _, _, err := b.AssembleAll(t.Context(), []Target{{Result: &link.Result{PTX: []byte(module(64))}}}); err == nil || err.Error() != "ptxas needs the name of a GPU, such as sm_80" {
		t.Errorf("without a GPU: %v", err)
	}
}

// TestNeedsMore checks which of two cubins is better.
func TestNeedsMore(t *testing.T) {
	kernel := func(name string, registers int, code int64) Usage {
		return Usage{Name: name, Kernel: true, Registers: registers, Code: code}
	}
	function := Usage{Name: "f", Registers: 200, Code: 100}
	for _, test := range []struct {
		what                string
		mine, others        []Usage
		spills, otherSpills int64
		want                string
	}{
		{what: "equal", mine: []Usage{kernel("k", 64, 100)}, others: []Usage{kernel("k", 64, 100)}},
		{what: "registers for as many warps", mine: []Usage{kernel("k", 64, 100)}, others: []Usage{kernel("k", 57, 100)}},
		{what: "registers for fewer warps", mine: []Usage{kernel("k", 65, 100)}, others: []Usage{kernel("k", 64, 100)}, want: "65 registers instead of 64 in k"},
		{what: "those of a function", mine: []Usage{kernel("k", 64, 100)}, others: []Usage{kernel("k", 64, 100), function}},
		{what: "those of a kernel that the other has as a function", mine: []Usage{kernel("k", 64, 100), kernel("g", 200, 100)}, others: []Usage{kernel("k", 64, 100)}},
		{what: "the kernel that loses most", mine: []Usage{kernel("a", 72, 100), kernel("b", 128, 100), kernel("c", 72, 100)}, others: []Usage{kernel("a", 64, 100), kernel("b", 64, 100), kernel("c", 64, 100)},
			want: "128 registers instead of 64 in b"},
		{what: "one loses and one gains", mine: []Usage{kernel("a", 72, 100), kernel("b", 64, 100)}, others: []Usage{kernel("a", 64, 100), kernel("b", 72, 100)}},
		{what: "more code", mine: []Usage{kernel("k", 64, 120000)}, others: []Usage{kernel("k", 64, 90000), function}, want: "120000 bytes of code instead of 90100"},
		{what: "little more code", mine: []Usage{kernel("k", 64, 5000)}, others: []Usage{kernel("k", 64, 1000)}},
		{what: "more code for more warps", mine: []Usage{kernel("k", 64, 120000)}, others: []Usage{kernel("k", 128, 100000)}},
		{what: "far more code for more warps", mine: []Usage{kernel("k", 64, 130000)}, others: []Usage{kernel("k", 128, 100000)}, want: "130000 bytes of code instead of 100000"},
		{what: "spills", mine: []Usage{kernel("k", 64, 100)}, others: []Usage{kernel("k", 64, 100)}, spills: 16, otherSpills: 8, want: "16 bytes of spills instead of 8"},
		{what: "few more spills", mine: []Usage{kernel("k", 64, 100)}, others: []Usage{kernel("k", 64, 100)}, spills: 104, otherSpills: 100},
		{what: "spills and less code", mine: []Usage{kernel("k", 64, 900)}, others: []Usage{kernel("k", 64, 1000)}, spills: 16, otherSpills: 8},
	} {
		if got := needsMore(test.mine, test.others, test.spills, test.otherSpills); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
