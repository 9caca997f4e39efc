package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	help "ptxlink/link/advice"
	"ptxlink/object/ptx"
)

// parent is a kernel that launches another, as nvcc 12.4 compiles it.
const parent = `.version 8.4
.target sm_90
.address_size 64

.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 b);
.visible .entry child (.param .u64 p) { ret; }
.visible .entry parent (.param .u64 p)
{
	.reg .pred %p<2>;
	.reg .b64 %rd<4>;
	.param .b64 a, b, retval0;
	.param .align 4 .b8 grid[12], block[12];
	.param .b32 shared, retval1;
	mov.u64 %rd3, child;
	st.param.b64 [a], %rd3;
	st.param.b32 [grid], 1;
	st.param.b32 [grid+4], 1;
	st.param.b32 [grid+8], 1;
	st.param.b32 [block], 32;
	st.param.b32 [block+4], 1;
	st.param.b32 [block+8], 1;
	st.param.b32 [shared], 0;
	call.uni (retval0), __cudaCDP2GetParameterBufferV2, (a, grid, block, shared);
	ld.param.b64 %rd1, [retval0];
	setp.eq.s64 %p1, %rd1, 0;
	@%p1 bra $L;
	st.param.b64 [a], %rd1;
	st.param.b64 [b], 0;
	call.uni (retval1), __cudaCDP2LaunchDeviceV2, (a, b);
$L:
	ret;
}
`

// TestCudadevrt checks what docs/libraries.md says about kernels that launch
// kernels: libcudadevrt.a has PTX for one GPU, and ptxlink links it for that GPU;
// for others nvlink takes the cubin from it.
func TestCudadevrt(t *testing.T) {
	lib := filepath.Dir(oracles.RequireFile(t, "cudadevrt/libcudadevrt.a"))
	ptxas, nvlink := oracles.Require(t, "ptxas-new"), oracles.Require(t, "nvlink-new") // of the library's CUDA
	dir := t.TempDir()
	in, out, cubin := filepath.Join(dir, "parent.ptx"), filepath.Join(dir, "out.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, []byte(parent), 0o666); err != nil {
		t.Fatal(err)
	}
	ptxlink := func(args ...string) (code int, said string) {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), args, nil, &stdout, &stderr)
		return code, stderr.String()
	}

	code, said := ptxlink(in, "-L", lib, "-lcudadevrt", "-o", out, "--arch", "sm_90")
	target := regexp.MustCompile(`error: no PTX in it runs on sm_90; there is (sm_\d+) \[arch-mismatch\]\n`).FindStringSubmatch(said)
	if code != exitLink || target == nil {
		t.Fatalf("for sm_90: exit code %d\n%s", code, said)
	}

	code, said = ptxlink(in, "-L", lib, "-lcudadevrt", "-o", out, "--arch", target[1], "--print-dependencies")
	if code != exitOK || strings.Count(said, "\n") != 1 || !strings.Contains(said, "\t__cudaCDP2GetParameterBufferV2\n") {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	text, err := exec.Command(ptxas, "-arch="+target[1], out, "-o", cubin).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", target[1], err, text)
	}
	hasSymbols(t, cubin, "parent", "child", "__cuda_syscall_cnpv2LaunchDeviceV2")

	// docs/libraries.md: nvlink takes the cubin of the library.
	t.Setenv("NVLINK", nvlink)
	linked := filepath.Join(dir, "linked.cubin")
	if code, said = ptxlink(in, "-L", lib, "-lcudadevrt", "--arch", "sm_90", "--ptxas", ptxas, "-o", linked); code != exitOK || said != "" {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	hasSymbols(t, linked, "parent", "child", "__cudaCDP2LaunchDeviceV2")

	// A cubin needs the library as PTX does.
	if text, err = exec.Command(ptxas, "-c", "-arch=sm_90", in, "-o", cubin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Setenv("PTXAS", ptxas)
	for _, command := range [][]string{nil, {"nvlink"}} {
		if code, said = ptxlink(append(command, cubin, "-L", lib, "-lcudadevrt", "--arch", "sm_90", "-o", linked)...); code != exitOK || said != "" {
			t.Fatalf("%s: exit code %d\n%s", command, code, said)
		}
		hasSymbols(t, linked, "parent", "child", "__cudaCDP2LaunchDeviceV2")
	}
}

// TestCudadevrtNvlink links the same kernel in nvlink's place: for GPUs that the library
// has no PTX for, nvlink links its cubin. Without a launch it does not matter.
func TestCudadevrtNvlink(t *testing.T) {
	lib := filepath.Dir(oracles.RequireFile(t, "cudadevrt/libcudadevrt.a"))
	t.Setenv("PTXAS", oracles.Require(t, "ptxas-new"))
	nvlink := oracles.Require(t, "nvlink-new")
	t.Setenv("NVLINK", nvlink)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"launches.ptx": parent,
		"none.ptx":     ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry child () { ret; }\n",
		// A function that nothing calls launches a kernel, as in the headers of Thrust.
		"dead.ptx": strings.Replace(parent, ".visible .entry parent", ".func parent", 1),
	} {
		if err := os.WriteFile(file(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ptxlink := func(args ...string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, nil, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, &stderr)
		}
	}
	ptxlink("ar", "-w", "--format=nv", file("l.a"), file("launches.ptx"))
	for _, name := range []string{"none.ptx", "dead.ptx", "l.a"} {
		reg, cubin := file(name+".c"), file(name+".cubin")
		ptxlink("nvlink", "--arch=sm_90", "--register-link-binaries="+reg, file(name), "-L"+lib, "-lcudadevrt", "-o", cubin)
		text, err := os.ReadFile(reg)
		if err != nil {
			t.Fatal(err)
		}
		if launches := name == "l.a"; strings.Contains(string(text), "cuda_device_runtime") != launches {
			t.Errorf("%s: %s", name, text)
		}
	}
	hasSymbols(t, file("l.a.cubin"), "parent", "child", "__cudaCDP2LaunchDeviceV2")
	for _, arch := range []string{"sm_90", "compute_90"} {
		ptxlink("nvlink", "--arch="+arch, "--register-link-binaries="+file("got.c"), file("l.a"), "-L"+lib, "-lcudadevrt", "-o", file("got.cubin"))
		if out, err := exec.Command(nvlink, "--arch="+arch, "--register-link-binaries="+file("want.c"), file("l.a"), "-L"+lib, "-lcudadevrt", "-o", file("want.cubin")).CombinedOutput(); err != nil {
			t.Fatalf("nvlink: %v\n%s", err, out)
		}
		got, _ := os.ReadFile(file("got.c"))
		want, err := os.ReadFile(file("want.c"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: register file %q, of nvlink %q, %v", arch, got, want, err)
		}
	}
}

// hasSymbols reports whether names are in the string table of a cubin.
func hasSymbols(t *testing.T, path string, names ...string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !bytes.Contains(data, []byte("\x00"+name+"\x00")) {
			t.Errorf("%s has no symbol %s", filepath.Base(path), name)
		}
	}
}

// TestCudadevrtNames compares the functions that are explained as functions of libcudadevrt with the library.
func TestCudadevrtNames(t *testing.T) {
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"nm", "-gUj", oracles.RequireFile(t, "cudadevrt/libcudadevrt.a")}, nil, &out, &stderr); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &stderr)
	}
	names := regexp.MustCompile(`(?m)^cuda[A-Z]\w+$`).FindAllString(out.String(), -1)
	if len(names) < 40 {
		t.Fatalf("%d functions:\n%s", len(names), &out)
	}
	for _, name := range names {
		if !strings.Contains(help.Explain(name, ptx.Func), "libcudadevrt") {
			t.Errorf("%s is not explained", name)
		}
	}
}
