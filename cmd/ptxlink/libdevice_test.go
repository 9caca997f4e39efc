package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestLibdevice builds the package from a real libdevice with every compiler found
// here, and links all of it and a part. With the tools of make test, that is cicc
// of CUDA 12.4 if Debian's non-free section is reachable, and no llc.
func TestLibdevice(t *testing.T) {
	toolkit := filepath.Join(oracles.Dir(), "cuda-12.4")
	if _, err := os.Stat(filepath.Join(toolkit, "nvvm/libdevice/libdevice.10.bc")); err != nil {
		t.Skip(err)
	}
	compilers := map[string][]string{}
	if _, err := exec.LookPath(filepath.Join(toolkit, "bin/cicc")); err == nil {
		compilers["cicc"] = nil
		if !testing.Short() {
			compilers["cicc --ftz"] = []string{"--ftz"}
		}
	}
	if llc, ok := oracles.Find("llc"); ok && (len(compilers) == 0 || !testing.Short()) {
		compilers["llc"] = []string{"--llc", llc, "-Wno-libdevice-sqrt"}
	}
	if len(compilers) == 0 {
		t.Skip("nothing compiles libdevice")
	}
	ptxas := oracles.Require(t, "ptxas")
	for name, args := range compilers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			ptxlink := func(args ...string) (said string) {
				t.Helper()
				var stdout, stderr bytes.Buffer
				if code := run(t.Context(), args, nil, &stdout, &stderr); code != 0 {
					t.Fatalf("ptxlink %s: exit code %d\n%s", args, code, &stderr)
				}
				return stderr.String()
			}
			assemble := func(file string, flags ...string) {
				t.Helper()
				args := append([]string{"-arch=sm_75", in(file), "-o", in("out.cubin")}, flags...)
				if said, err := exec.Command(ptxas, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
			}
			if said := ptxlink(append([]string{"libdevice", "--cuda", toolkit, "-o", in("libdevice.a")}, args...)...); said != "" {
				t.Error(said)
			}

			if said := ptxlink("--whole-archive", in("libdevice.a"), "-o", in("all.ptx")); said != "" {
				t.Error(said)
			}
			if name == "cicc" {
				assemble("all.ptx", "-c", "-O0") // optimising takes twice as long
			}
			all, err := os.ReadFile(in("all.ptx"))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(all, []byte("\n\n.weak .func ")); n < 350 {
				t.Errorf("%d functions", n)
			}

			var kernel strings.Builder
			kernel.WriteString(".version 7.0\n.target sm_75\n.address_size 64\n")
			for _, f := range []string{"sin", "exp", "log"} {
				fmt.Fprintf(&kernel, ".extern .func (.param .b64 r) __nv_%s (.param .b64 a);\n", f)
			}
			kernel.WriteString(".visible .entry k (.param .u64 p) {\n.reg .b64 %p; .reg .f64 %d; .param .b64 a, r;\nld.param.u64 %p, [p]; ld.global.f64 %d, [%p]; st.param.f64 [a], %d;\n" +
				"call (r), __nv_sin, (a); call (a), __nv_exp, (r); call (r), __nv_log, (a);\nld.param.f64 %d, [r]; st.global.f64 [%p], %d; ret;\n}\n")
			if err := os.WriteFile(in("kernel.ptx"), []byte(kernel.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			pulls := ptxlink(in("kernel.ptx"), "-L", dir, "-ldevice", "-o", in("part.ptx"), "--print-dependencies")
			for _, member := range []string{"__nv_sin", "__nv_exp", "__nv_log", "__internal_trig_reduction_slowpathd", "__cudart_i2opi_d", "__cudart_sin_cos_coeffs"} {
				// The name of a shared local contains the hash of its module:
				// __cudart_i2opi_d$m0123456789abcdef.
				if own := regexp.QuoteMeta(member) + `(\$m[0-9a-f]{16})?`; !regexp.MustCompile(`libdevice\.a\(` + own + `\.ptx\)\t` + own + `\n`).MatchString(pulls) {
					t.Errorf("%s was not pulled", member)
				}
			}
			if n := strings.Count(pulls, "\n"); n != 6 {
				t.Errorf("%d members were pulled:\n%s", n, pulls)
			}
			assemble("part.ptx")
		})
	}
}
