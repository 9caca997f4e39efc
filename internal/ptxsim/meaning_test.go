package ptxsim_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/internal/ptxsim"
)

// A meaning is text of PTX whose meaning depends on a declaration, and plain text that
// means the same. Text without a plain form is refused.
type meaning struct {
	top   string // at module scope
	text  string // computes %d
	plain string
}

// $ is a name of the row's own.
var indices = []meaning{
	{".global .u32 $[4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".global .b8 $[16];", "mov.u64 %d, $[1];", "mov.u64 %d, $+1;"},
	{".global .f64 $[4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+8;"},
	{".global .v4 .u32 $[4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".global .v2 .b16 $[4];", "mov.u64 %d, $[3];", "mov.u64 %d, $+6;"},
	{".global .u32 $[2][4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".global .u32 $[] = {1, 2};", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".global .u32 $[][2] = {{1, 2}};", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".weak .global .u16 $[4];", "mov.u64 %d, $[2];", "mov.u64 %d, $+4;"},
	{".common .global .u32 $[4];", "mov.u64 %d, $[2];", "mov.u64 %d, $+8;"},
	{".global .u32 $[4], $z[4];", "mov.u64 %d, $z[3];", "mov.u64 %d, $z+12;"},
	// In brackets: expressions, and no sign.
	{".global .u32 $[64];", "mov.u64 %d, $[WARP_SZ];", "mov.u64 %d, $+128;"},
	{".global .u32 $[64];", "mov.u64 %d, $[(1+2)*3];", "mov.u64 %d, $+36;"},
	{".global .u32 $[64];", "mov.u64 %d, $ [ 0x2 ] ;", "mov.u64 %d, $+8;"},
	{".global .u32 $[4];", "mov.u64 %d, $[-1];", "mov.u64 %d, $+4294967292;"},
	{".global .b8 $[4];", "mov.u64 %d, $[-1];", "mov.u64 %d, $+4294967295;"},
	{".global .u32 $[4];", "mov.u64 %d, $[0x40000001];", "mov.u64 %d, $+4;"},
	// A register: a sum of 32 bits.
	{".global .u32 $[64];", "mov.u64 %d, $[%n];", "shl.b32 %m, %n, 2; cvt.u64.u32 %e, %m; mov.u64 %d, $; add.u64 %d, %d, %e;"},
	{".global .b8 $[64];", "mov.u64 %d, $[%n];", "cvt.u64.u32 %e, %n; mov.u64 %d, $; add.u64 %d, %d, %e;"},
	{".global .u64 $[64];", "mov.u64 %d, $[%n+2];", "add.u32 %m, %n, 2; shl.b32 %m, %m, 3; cvt.u64.u32 %e, %m; mov.u64 %d, $; add.u64 %d, %d, %e;"},
	{".global .u32 $[64];", "mov.u64 %d, $[%n+-9];", "add.u32 %m, %n, -9; shl.b32 %m, %m, 2; cvt.u64.u32 %e, %m; mov.u64 %d, $; add.u64 %d, %d, %e;"},
	{".global .u32 $[64];", "cvta.global.u64 %d, $[%n];", "shl.b32 %m, %n, 2; cvt.u64.u32 %e, %m; mov.u64 %d, $; add.u64 %d, %d, %e; cvta.global.u64 %d, %d;"},
	// The declaration in force.
	{".visible .global .u32 $z[4]; .extern .global .u32 $z[]; .extern .global .u32 $z[4];", "mov.u64 %d, $z[1];", "mov.u64 %d, $z+4;"},
	{".extern .global .u32 $[]; .extern .global .u32 $[4]; .visible .global .u32 $[4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	// Other state spaces and instructions.
	{".const .u64 $[4] = {1, 2, 3, 4};", "ld.const.u32 %m, $[1]; cvt.u64.u32 %d, %m;", "ld.const.u32 %m, [$+8]; cvt.u64.u32 %d, %m;"},
	{".shared .u16 $[4];", "st.shared.u16 $[3], %n; ld.shared.u16 %m, [$+6]; cvt.u64.u32 %d, %m;", "st.shared.u16 [$+6], %n; ld.shared.u16 %m, $[3]; cvt.u64.u32 %d, %m;"},
	{".extern .shared .b32 dyn[];", "st.shared.u32 [dyn+4], %n; ld.shared.u32 %m, dyn[4]; cvt.u64.u32 %d, %m;", "st.shared.u32 [dyn+4], %n; ld.shared.u32 %m, [dyn+4]; cvt.u64.u32 %d, %m;"},
	{".global .align 8 .u32 $[4] = {5, 6, 7, 8};", "ld.global.v2.u32 {%m, %n}, $[2]; cvt.u64.u32 %d, %m;", "ld.global.v2.u32 {%m, %n}, [$+8]; cvt.u64.u32 %d, %m;"},
	{"", "ld.param.u32 %m, list[1]; cvt.u64.u32 %d, %m;", "ld.param.u32 %m, [list+8]; cvt.u64.u32 %d, %m;"},
	{"", ".local .b16 lo[4]; st.local.b16 lo[2], 7; ld.local.b16 %m, lo[2]; cvt.u64.u32 %d, %m;", ".local .b16 lo[4]; st.local.b16 [lo+4], 7; ld.local.b16 %m, [lo+4]; cvt.u64.u32 %d, %m;"},
	{"", ".const .b16 own[4] = {1, 2, 3, 4}; ld.const.b16 %m, own[3]; cvt.u64.u32 %d, %m;", ".const .b16 own[4] = {1, 2, 3, 4}; ld.const.b16 %m, [own+6]; cvt.u64.u32 %d, %m;"},
	{".visible .func (.param .b16 r[4]) $ (.param .b16 a[4]) { .reg .b16 v; ld.param.b16 v, a[2]; st.param.b16 r[3], v; ret; }", "{ .param .b16 arg[4]; .param .b16 q[4]; st.param.b16 arg[2], 7; call (q), $, (arg); ld.param.b16 %m, q[3]; cvt.u64.u32 %d, %m; }",
		"{ .param .b16 arg[4]; .param .b16 q[4]; st.param.b16 [arg+4], 7; call (q), $, (arg); ld.param.b16 %m, [q+6]; cvt.u64.u32 %d, %m; }"},
	// Refused.
	{".global .u32 $;", "mov.u64 %d, $[1];", ""},
	{".global .v4 .u32 $;", "mov.u64 %d, $[1];", ""},
	{".global .u32 $<4>;", "mov.u64 %d, $1[1];", ""},
	{".global .u32 $[4];", "mov.u64 %d, $[%n+1+%n];", ""},
	{".global .u32 $[4];", "mov.u64 %d, $[%n-1];", ""},
	{".global .u32 $[4];", "mov.u64 %d, $[1]+4;", ""},
	{"", "mov.u64 %d, %d[1];", ""},
	{"", "ld.param.u32 %m, in[1];", ""},
}

// opens are indices on arrays whose size is not known, which only ptxas can read alone.
var opens = []meaning{
	{".extern .global .u32 $[];", "mov.u64 %d, $[1];", "mov.u64 %d, $+1;"},
	{".extern .global .u32 $[][2];", "mov.u64 %d, $[3];", "mov.u64 %d, $+3;"},
	{".extern .global .u32 $[]; .extern .global .u32 $[4];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".extern .global .u32 $[4]; .extern .global .u32 $[];", "mov.u64 %d, $[1];", "mov.u64 %d, $+4;"},
	{".extern .global .u32 $[];", "mov.u64 %d, $[%n];", "cvt.u64.u32 %e, %n; mov.u64 %d, $; add.u64 %d, %d, %e;"},
}

// arguments are constant arguments of .func $ (.param TYPE a).
var arguments = func() (rows []meaning) {
	for _, row := range []string{
		".f32 1.1 0x3f8ccccd", ".f32 0f3F8CCCCD 0x3f8ccccd", ".f32 0d3FF199999999999A 0x3f8ccccd", ".f32 1e1 0x41200000", ".f32 -1.1 0xbf8ccccd", ".f32 -0d3FF199999999999A 0xbf8ccccd",
		".b32 1.1 0x9999999a", ".b32 2.0 0", ".b32 0f3F8CCCCD 0x3f8ccccd", ".b32 0d3FF199999999999A 0x9999999a", ".b32 -1.1 0x9999999a", ".b32 -3 0xfffffffd", ".b32 0x123456789 0x23456789",
		".u32 5000000000 705032704", ".s32 -3 0xfffffffd",
		".b64 1.1 0x3ff199999999999a", ".b64 0f3F8CCCCD 0x3f8ccccd", ".b64 -3 0xfffffffffffffffd", ".u64 -3 0xfffffffffffffffd",
		".f64 1.1 0x3ff199999999999a", ".f64 0f3F8CCCCD 0x3f8ccccd", ".f64 0d3FF199999999999A 0x3ff199999999999a", ".f64 1e1 0x4024000000000000",
		".b16 1.1 0", ".b16 0f3F8CCCCD 0", ".b16 -3 0xfffd", ".f16 1.1 0", ".b8 1.1 0", ".b8 300 44", ".f16x2 0f3F8CCCCD 0",
		".f32 3 refused", ".f64 3 refused", ".f16 3 refused", ".u32 1.1 refused", ".s64 0f3F8CCCCD refused", ".b32 -0f3F8CCCCD refused", ".f16x2 1.1 refused",
	} {
		f := strings.Fields(row)
		bits := map[byte]string{'8': ".b8", '6': ".b16", '2': ".b32", '4': ".b64"}[f[0][len(f[0])-1]]
		m := meaning{fmt.Sprintf(".visible .func $ (.param %s a);", f[0]), fmt.Sprintf("call $, (%s);", f[1]), fmt.Sprintf(".param %s b; st.param%s [b], %s; call $, (b);", bits, bits, f[2])}
		if f[2] == "refused" {
			m.plain = ""
		}
		rows = append(rows, m)
	}
	return rows
}()

func init() { // the same through a pointer, by .callprototype
	for _, m := range arguments {
		t := strings.TrimSuffix(strings.Fields(m.top)[4], ")")
		pointer := func(text string) string {
			if text == "" {
				return ""
			}
			return fmt.Sprintf("mov.u64 %%e, $; P: .callprototype _ (.param %s _); %s", t, strings.Replace(strings.Replace(text, "call $", "call %e", 1), ");", "), P;", 1))
		}
		arguments = append(arguments, meaning{m.top, pointer(m.text), pointer(m.plain)})
	}
}

var literals = []meaning{
	{"", "mov.b32 %m, 0f40000000; cvt.u64.u32 %d, %m;", "mov.b32 %m, 0x40000000; cvt.u64.u32 %d, %m;"},
	{"", "mov.b64 %d, 2.5;", "mov.b64 %d, 0x4004000000000000;"},
	{"", "mov.b64 %d, 0d4000000000000000;", "mov.b64 %d, 0x4000000000000000;"},
	{"", "mov.f32 %f, 2.5; mov.b32 %m, %f; cvt.u64.u32 %d, %m;", "mov.b32 %m, 0x40200000; cvt.u64.u32 %d, %m;"},
	{"", "mov.f32 %f, 25e2; mov.b32 %m, %f; cvt.u64.u32 %d, %m;", "mov.b32 %m, 0x451c4000; cvt.u64.u32 %d, %m;"},
	{"", "mov.b32 %m, 2.0;", ""}, {"", "mov.b32 %m, 1e3;", ""}, {"", "mov.b32 %m, 0d4000000000000000;", ""}, {"", "mov.u32 %m, 0f40000000;", ""},
	{"", "mov.b64 %d, 0f40000000;", ""}, {"", "mov.f32 %f, 3;", ""}, {"", "add.f32 %f, %f, 2;", ""}, {"", "mov.b16 %h, 2.0;", ""},
	{"", ".param .b32 b; st.param.b32 [b], 2.0;", ""}, {"", "selp.b32 %m, 2.0, %n, %p;", ""},
	{"", "mov.f16 %h, %h;", ""}, {"", ".reg .f16x2 x; mov.f16x2 x, x;", ""}, {"", ".reg .b8 x; mov.b8 x, x;", ""}, {"", ".reg .b8 x; mov.b16 x, x;", ""},
}

func meaningText(name, body string) string {
	return ".visible .entry " + name + `(.param .u64 out, .param .u32 in, .param .b64 list[2])
{
	.reg .b64 %d, %e, %out;
	.reg .b32 %m, %n;
	.reg .b16 %h;
	.reg .f32 %f;
	.reg .pred %p;
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [in];
	mov.u64 %d, 0;
	` + body + `
	st.global.u64 [%out], %d;
	ret;
}
`
}

// TestMeanings checks that the interpreter reads each text as its plain form, or refuses it.
func TestMeanings(t *testing.T) {
	for i, row := range append(append(append([]meaning{}, indices...), literals...), arguments...) {
		var got [2]string
		for k, text := range []string{row.text, row.plain} {
			if text == "" {
				got[k] = "refused"
				continue
			}
			top := strings.NewReplacer("a);", "a) { .reg .b64 v; ld.param.b64 v, [a]; st.global.b64 [seen], v; ret; }").Replace(row.top)
			if width := strings.TrimRight(row.top, " a);"); strings.Contains(top, "seen") {
				word := map[byte]string{'8': ".b8", '6': ".b16", '2': ".b32", '4': ".b64"}[width[len(width)-1]]
				top = strings.ReplaceAll(top, "param.b64 v", "param"+word+" v")
			}
			module := strings.ReplaceAll(isaHeader+".extern .shared .b64 dynamic[];\n.global .b64 seen = -1;\n"+top+"\n"+meaningText("k", text), "$", fmt.Sprintf("x%dx", i))
			m := machine(t, ptxsim.Options{}, read(t, "t.ptx", module))
			for _, n := range []uint32{3, 0xfffffff0} {
				out := m.Alloc("out", make([]byte, 8), 8)
				err := m.Launch("k", ptxsim.Grid{Shared: 64}, out, n, []byte("abcdefghijklmnop"))
				if err != nil {
					got[k] = "refused"
					if row.plain != "" {
						t.Errorf("%s %s: %v", row.top, text, err)
					}
				}
				got[k] += fmt.Sprintf(" %x %x", binary.LittleEndian.Uint64(out.Data), m.Global("seen").Data)
			}
		}
		if got[0] != got[1] && (row.plain != "" || !strings.HasPrefix(got[0], "refused")) {
			t.Errorf("%s %s:%s, want%s", row.top, row.text, got[0], got[1])
		}
	}
}

// ownLabel matches what only tells two functions apart: labels, the name, and numbers
// of objects.
var ownLabel = regexp.MustCompile(`\b[ab]\d+\b|\.L_x_\d+|__\d+\b`)

// TestMeaningsPtxas checks that ptxas makes the same code of each text and its plain
// form, and refuses those without one.
func TestMeaningsPtxas(t *testing.T) {
	for _, suffix := range []string{"", "-new"} {
		t.Run("ptxas"+suffix, func(t *testing.T) {
			t.Parallel()
			ptxas, nvdisasm := oracles.Require(t, "ptxas"+suffix), oracles.Require(t, "nvdisasm"+suffix)
			dir := t.TempDir()
			assemble := func(text string) error {
				source := filepath.Join(dir, "t.ptx")
				if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(ptxas, "-c", "-arch=sm_80", source, "-o", filepath.Join(dir, "t.cubin")).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%v\n%s", err, out)
				}
				return nil
			}
			rows := append(append(append(append([]meaning{}, indices...), opens...), literals...), arguments...)
			all := isaHeader
			for i, row := range rows {
				name := fmt.Sprintf("x%dx", i)
				top := row.top
				if !strings.Contains(top, "{") {
					top = strings.ReplaceAll(top, ".visible .func", ".extern .func")
				}
				if row.plain == "" {
					if i%2 == 1 && testing.Short() {
						continue
					}
					if err := assemble(strings.ReplaceAll(isaHeader+top+"\n"+meaningText("k", row.text), "$", name)); err == nil {
						t.Errorf("%s %s is accepted", row.top, row.text)
					}
					continue
				}
				all += strings.ReplaceAll(top+"\n"+meaningText(fmt.Sprintf("a%d", i), row.text)+meaningText(fmt.Sprintf("b%d", i), row.plain), "$", name)
			}
			if err := assemble(all); err != nil {
				t.Fatal(err)
			}
			sass, err := exec.Command(nvdisasm, "-c", filepath.Join(dir, "t.cubin")).Output()
			if err != nil {
				t.Fatal(err)
			}
			bodies := map[string]string{}
			for _, section := range strings.Split(string(sass), "\n.text.")[1:] {
				name, body, _ := strings.Cut(section, ":")
				var code []string
				for _, m := range sassLine.FindAllStringSubmatch(body, -1) {
					code = append(code, ownLabel.ReplaceAllString(m[1], "L"))
				}
				slices.Sort(code) // the order of independent instructions may differ
				bodies[name] = strings.Join(code, "\n")
			}
			compared := 0
			for i, row := range rows {
				a, b := bodies[fmt.Sprintf("a%d", i)], bodies[fmt.Sprintf("b%d", i)]
				if row.plain == "" {
					continue
				}
				compared++
				if a == "" || a != b {
					t.Errorf("%s %s:\n%s\nbut %s:\n%s", row.top, row.text, a, row.plain, b)
				}
			}
			t.Logf("%d texts compared", compared)
		})
	}
}
