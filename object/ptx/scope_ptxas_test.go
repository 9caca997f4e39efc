package ptx

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

// TestScopesPtxas checks that a name has the same meaning for the reader as for
// ptxas. It renames every name that a function declares at each place where the
// reader finds it; ptxas must then produce the same code. With a place too many or
// too few, ptxas would refuse the text or read another register.
func TestScopesPtxas(t *testing.T) {
	texts := map[string]string{"scopes": scopes75}
	files := []string{"nvcc-rdc/main.ptx", "nvcc-rdc/shapes.ptx", "mixed/clang.ptx", "mixed/gcc.ptx", "opencl/kernel.ptx", "atomics-sm_90/nvcc.ptx"}
	if testing.Short() {
		files = files[2:4]
	}
	for _, name := range files {
		text, err := os.ReadFile("../../testdata/ptx/" + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Parse(&diag.Source{Name: name, Text: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			renamed, n := renameLocals(m)
			if n == 0 {
				t.Fatal("nothing is renamed")
			}
			for _, tool := range oracles.EveryPtxas() {
				if tool == "ptxas-old" && (Version{7, 8}).Less(m.Version) {
					continue
				}
				arch := max(m.Target[0].Word, "sm_75") // the new ptxas supports none below
				want, got := assemble(t, tool, arch, text), assemble(t, tool, arch, renamed)
				if len(want) == 0 {
					t.Fatal("no code")
				}
				for section, code := range want {
					if !bytes.Equal(got[section], code) {
						t.Errorf("%s: %s differs after renaming:\n%s", tool, section, renamed)
					}
				}
			}
		})
	}
}

// renameLocals gives every local of every function a unique name.
func renameLocals(m *Module) (text string, n int) {
	var edits []Edit
	for i := range m.Decls {
		d := &m.Decls[i]
		if !d.HasBody {
			continue
		}
		c := m.Code(d)
		rename := func(local int32, span diag.Span) {
			l := &c.Locals[local]
			old := m.Src.String(span)
			name := fmt.Sprintf("n%d_", local)
			if l.Type.Space == ".reg" {
				name = "%" + name
			}
			edits = append(edits, Edit{span, name + old[l.Name.Len:]})
			n++
		}
		for k := range c.Locals {
			if c.Locals[k].Kind == Parameter {
				rename(int32(k), c.Locals[k].Name)
			}
		}
		for k, tok := range c.Tokens {
			if local, ok := c.Reference(k).Local(); ok {
				rename(local, tok.Span())
			}
		}
		for _, list := range c.TargetRanges {
			var names []string
			for k, r := range list.Targets {
				if local, ok := r.Local(); ok {
					names = append(names, fmt.Sprintf("n%d_", local))
				} else {
					names = append(names, fmt.Sprintf("%s%d", m.Src.String(list.Base), k))
				}
			}
			edits = append(edits, Edit{list.Span, strings.Join(names, ", ")})
		}
	}
	SortEdits(edits)
	return string(Apply(nil, m.Src.Text, diag.Span{Len: int32(len(m.Src.Text))}, edits)), n
}

// assemble returns the code from ptxas for a text, by section.
func assemble(t *testing.T, tool, arch, text string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(oracles.Require(t, tool), "-c", "-arch="+arch, in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", tool, err, said, text)
	}
	cubin, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	code := map[string][]byte{}
	for _, s := range oracles.OpenCubin(t, cubin).Sections {
		if strings.HasPrefix(s.Name, ".text.") {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			code[s.Name] = data
		}
	}
	return code
}

// scopes75 declares and uses names in every way that the rules of type scopes
// distinguish. Each store writes a different value, so that the code shows which
// name was meant. Parameters, call objects and predicates do not have the name of a
// module-scope symbol: ptxas may confuse the two
// (testdata/script/local_capture.txtar).
const scopes75 = `.version 7.8
.target sm_75
.address_size 64
.global .u32 g = 1, x2 = 2, y = 3;
.func f0() { ret; }
.func f1() { ret; }
.visible .entry ranges(.param .u64 p)
{
	.reg .b64 %rd<4>;
	.reg .b32 v<9>, v, w<3>, a, %a<4>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {v1, v, a, v3}, [%rd1];
	{ .reg .b32 v<3>; ld.global.u32 v1, [%rd1+16]; add.u32 v2, v1, v3; st.global.u32 [%rd1+20], v02; }
	{ .reg .b32 v1; ld.global.u32 v1, [%rd1+24]; add.u32 v1, v1, v2; st.global.u32 [%rd1+28], v1; }
	st.global.v4.u32 [%rd1+32], {v1, v, a, v003};
	{ .reg .b32 w; { .reg .b64 w1; mov.u64 w1, %rd1; st.global.u64 [w1+64], w1; } ld.global.u32 w, [%rd1+72]; mov.u32 w1, w; st.global.u32 [%rd1+76], w1; }
	mov.b32 %a1, %tid.x; st.global.u32 [%rd1+80], %a1;
	ret;
}
.visible .entry shadows(.param .u64 p)
{
	.reg .b64 %rd<4>;
	.reg .b32 r<9>;
	ld.param.u64 %rd1, [p];
	mov.u64 %rd2, y;
	ld.global.u32 r1, [y]; .reg .b32 y; ld.global.u32 y, [%rd2]; st.global.u32 [%rd1], y;
	{ st.global.u32 [%rd1+4], y; .local .u32 y; .local .b32 mov[4]; st.local.u32 [y], r1; st.local.u32 [mov+4], r1; ld.local.u32 r2, [y]; st.global.u32 [%rd1+8], r2; }
	{ .reg .v2 .u32 q; mov.u32 q.x, y; mov.u32 q.y, r1; st.global.v2.u32 [%rd1+16], {q.y, q.x}; }
	{ .reg .pred p, r3; setp.eq.u32 p|r3, r1, r2; @p st.global.u32 [%rd1+24], r1; @!r3 st.global.u32 [%rd1+28], r1; }
	ld.global.u32 r3, [x2]; st.global.u32 [%rd1+32], r3;
	ret;
}
.visible .entry labels(.param .u64 p, .param .u32 n)
{
	.reg .b64 %rd<4>;
	.reg .b32 i;
	.reg .pred q;
	ld.param.u64 %rd1, [p];
	ld.param.u32 i, [n];
	T: .branchtargets L<3>, add;
	brx.idx i, T;
L0:	st.global.u32 [%rd1], 1; bra done;
L1:	{ bra done; done: st.global.u32 [%rd1], 2; setp.eq.u32 q, i, 7; @q bra L1; { @q bra done; bra L0; } }
L2:	{ M: add.u32 i, i, 1; setp.lt.u32 q, i, 9; @q bra M; st.global.u32 [%rd1], i; bra done; }
add:	{ L1: add.u32 i, i, 3; setp.lt.u32 q, i, 30; @q bra L1; }
	st.global.u32 [%rd1+4], i;
done:	ret;
}
.visible .entry calls(.param .u64 p)
{
	.reg .b64 %rd<4>;
	.reg .b32 r<3>;
	ld.param.u64 %rd1, [p];
	mov.u64 %rd2, f1;
	{
		.param .b32 a; .param .align 8 .b8 b[8];
		st.param.b32 [a], 5; st.param.b64 [b], %rd1;
		proto: .callprototype (.param .b32 g) _ (.param .b32 y, .param .align 8 .b8 p[8]);
		.param .b32 ret;
		call (ret), %rd2, (a, b), proto;
		ld.param.b32 r1, [ret];
	}
	fs: .calltargets f<2>;
	call %rd2, fs;
	st.global.u32 [%rd1], r1;
	ret;
}
`
