package object

import "testing"

func TestRunsCubin(t *testing.T) {
	for _, test := range []struct {
		gpu, cubin string
		want       bool
	}{
		{"sm_80", "sm_80", true},
		{"sm_86", "sm_80", true},
		{"sm_80", "sm_86", false},
		{"sm_90", "sm_89", false},
		{"sm_90a", "sm_90a", true},
		{"sm_90a", "sm_90", true},
		{"sm_90", "sm_90a", false},
		{"sm_103", "sm_100f", true},
		{"sm_100", "sm_103f", false},
		{"sm_120", "sm_110", false},
	} {
		gpu, _ := ParseGPU(test.gpu)
		cubin, _ := ParseGPU(test.cubin)
		if got := gpu.RunsCubin(cubin); got != test.want {
			t.Errorf("%s runs a cubin for %s: %v", test.gpu, test.cubin, got)
		}
	}
	if (GPU{120, 0}).Runs(GPU{103, 'f'}) {
		t.Error("sm_120 runs PTX for sm_103f, of another family")
	}
}
