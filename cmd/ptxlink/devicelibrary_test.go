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
)

// deviceLibraries are programs with NVIDIA's static libraries that have device code to link:
// libcudadevrt, for kernels that launch kernels, and cuFFT with callbacks.
var deviceLibraries = []struct {
	library string
	units   []string
	ways    [][]string // arguments before the files
}{
	{"cudadevrt", []string{`#include <cstdio>
extern __device__ int depth(int);
__global__ void child(int *p, int n);
__global__ void parent(int *p, int n) { if (n > 0) child<<<1, 32>>>(p, depth(n)); printf("%d\n", n); }
`, `__device__ int depth(int n) { return n - 1; }
__global__ void parent(int *p, int n);
__global__ void child(int *p, int n) {
	cudaStream_t s;
	cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
	parent<<<1, 1, 0, s>>>(p, n);
	cudaMemsetAsync(p, 0, 4, s);
}
`}, [][]string{nil, {"--prefer=cubin"}, {"nvlink"}, {"nvlink", "--prefer=cubin"}}},
	// The host code of cuFFT needs its kernels.
	{"cufft_static", []string{`__device__ float2 load(void *data, size_t at, void *, void *) { float2 c = ((float2 *)data)[at]; c.x *= 2; return c; }
__device__ void store(void *data, size_t at, float2 c, void *, void *) { c.y = -c.y; ((float2 *)data)[at] = c; }
__device__ float2 (*loader)(void *, size_t, void *, void *) = load;
__device__ void (*storer)(void *, size_t, float2, void *, void *) = store;
`}, [][]string{{"--whole-archive"}, {"--prefer=cubin", "--whole-archive"}, {"nvlink"}, {"nvlink", "--prefer=cubin"}}},
}

// TestDeviceLibraries links them for GPUs with both ways of launching kernels, in one command and
// in nvlink's place: symbols, registers and memory are those of nvlink.
func TestDeviceLibraries(t *testing.T) {
	oracles.Long(t) // compiles
	dir := filepath.Dir(oracles.RequireFile(t, "device-libraries/libcudadevrt.a"))
	nvcc, nvlink, cuobjdump := oracles.RequireCompiler(t, "nvcc"), oracles.Require(t, "nvlink"), oracles.Require(t, "cuobjdump")
	t.Setenv("PTXAS", oracles.Require(t, "ptxas"))
	t.Setenv("NVLINK", nvlink)
	t.Chdir(t.TempDir())
	command := func(path string, args ...string) string {
		t.Helper()
		out, err := exec.Command(path, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", path, args, err, out)
		}
		return string(out)
	}
	described := func(cubin string) string { // without the order, and what is local to code
		lines := strings.Split(command(cuobjdump, "-res-usage", "-symbols", cubin), "\n")
		slices.Sort(lines)
		return regexp.MustCompile(`(?m)^.*\$.*\n|Fatbin.*|.*archive.*`).ReplaceAllString(strings.Join(lines, "\n"), "")
	}
	for _, l := range deviceLibraries {
		for _, gpu := range []string{"sm_70", "sm_80", "sm_90"} {
			var files []string
			for i, text := range l.units {
				unit := string(rune('a' + i)) // nvlink drops objects with cudadevrt in their name
				if err := os.WriteFile(unit+".cu", []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				command(nvcc, "-arch="+gpu, "-dc", unit+".cu", "-o", unit+".o")
				files = append(files, unit+".o")
			}
			files = append(files, "-L", dir, "-l"+l.library, "--arch="+gpu, "-o")
			command(nvlink, append(files, "want.cubin")...)
			want := described("want.cubin")
			for _, way := range l.ways {
				var stdout, stderr bytes.Buffer
				if code := run(t.Context(), slices.Concat(way, files, []string{"got.cubin"}), nil, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
					t.Errorf("%s %s %q: exit code %d\n%s", l.library, gpu, way, code, &stderr)
					continue
				}
				if got := described("got.cubin"); got != want || !strings.Contains(got, "REG:") {
					t.Errorf("%s %s %q:\n%s\nof nvlink:\n%s", l.library, gpu, way, got, want)
				}
			}
		}
	}
}
