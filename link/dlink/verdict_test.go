package dlink

import (
	"strings"
	"testing"

	"ptxlink/object"
	"ptxlink/object/container"
)

// codeOf reads the forms and GPUs of device code: "ptx sm_80, cubin sm_80".
func codeOf(text string) (code container.Object) {
	forms := map[string]container.Form{"ptx": container.PTX, "cubin": container.MachineCode, "lto": container.LTOIR, "bitcode": container.LLVMBitcode}
	for part := range strings.SplitSeq(text, ", ") {
		if form, target, found := strings.Cut(part, " "); found {
			code.Codes = append(code.Codes, container.Code{Form: forms[form], Member: container.Member{Target: target}})
		}
	}
	return code
}

// TestVerdict checks which form of an object is linked.
func TestVerdict(t *testing.T) {
	names := map[verdict]string{suits: "ptx", cubinOnly: "cubin", unsuited: "none", ltoOnly: "lto"}
	for _, test := range []struct {
		arch, code string
		want       string // with PreferPTX; in an archive and with PreferArchived; with PreferCubins
	}{
		{"sm_80", "", "ptx ptx ptx"},
		{"sm_80", "ptx sm_80", "ptx ptx ptx"},
		{"sm_80", "ptx sm_90", "none none none"},
		{"sm_80", "cubin sm_80", "cubin cubin cubin"},
		{"sm_86", "cubin sm_80", "cubin cubin cubin"},
		{"sm_80", "cubin sm_86", "none none none"},
		{"sm_90", "cubin sm_80", "none none none"},
		{"sm_80", "ptx sm_80, cubin sm_80", "ptx cubin cubin"},
		{"sm_80", "ptx sm_75, cubin sm_80", "ptx cubin cubin"},
		{"sm_86", "ptx sm_75, ptx sm_86, cubin sm_80", "ptx ptx ptx"}, // better than the cubin
		{"sm_86", "ptx sm_86, ptx sm_75, cubin sm_80", "ptx ptx ptx"},
		{"sm_86", "ptx sm_80, cubin sm_86, cubin sm_80", "ptx cubin cubin"},
		{"sm_80", "ptx sm_90, cubin sm_80", "cubin cubin cubin"},
		{"sm_80", "lto lto_80", "lto lto lto"},
		{"sm_80", "ptx sm_80, lto lto_80", "ptx ptx ptx"},
		{"sm_80", "bitcode ", "lto lto lto"},
		{"sm_90", "ptx sm_90a", "ptx ptx ptx"}, // nvcc 12 asks for sm_90 then
		{"sm_90", "ptx sm_90a, ptx sm_80", "ptx ptx ptx"},
		{"sm_80", "ptx sm_90a", "none none none"},
		{"compute_80", "ptx sm_80, cubin sm_80", "ptx ptx ptx"},
		{"compute_80", "cubin sm_80", "none none none"},
		{"compute_80", "lto lto_80", "none none none"},
		{"compute_90", "ptx sm_90a", "none none none"},
	} {
		var got []string
		for i, prefer := range []Preference{PreferPTX, PreferArchived, PreferCubins} {
			r := &reader{Options: Options{Arch: test.arch, Prefer: prefer}, candidates: []candidate{{Object: codeOf(test.code), archived: i == 1}}}
			r.gpu, _ = object.ParseGPU(strings.Replace(test.arch, "compute_", "sm_", 1))
			r.judge()
			got = append(got, names[r.candidates[0].verdict])
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s for %s: %s, want %s", test.code, test.arch, got, test.want)
		}
	}
}
