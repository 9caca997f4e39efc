package program

import (
	"testing"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// TestMergeArchs merges all pairs and triples of targets, in every order. The output runs on a
// GPU if all inputs do; they are refused if there is no such GPU, and where sm_1x flushes
// denormals that another input keeps.
func TestMergeArchs(t *testing.T) {
	var targets, gpus []object.GPU
	for _, word := range []string{"sm_10", "sm_13", "sm_20", "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_103", "sm_103f", "sm_103a", "sm_110f", "sm_120", "sm_121f", "sm_121a"} {
		gpu, _ := object.ParseGPU(word)
		targets = append(targets, gpu)
		gpus = append(gpus, object.GPU{Number: gpu.Number, Suffix: 'a'})
	}
	check := func(list ...object.GPU) {
		var log diag.Log
		var archs []arch
		file := new(object.File)
		file.Module = &ptx.Module{Src: &diag.Source{}}
		old := false
		for _, target := range list {
			archs = append(archs, arch{GPU: target, file: file})
			old = old || (target.Number < 20) != (list[0].Number < 20)
		}
		merged := mergeArchs(archs, &log)
		any := false
		for _, gpu := range gpus {
			all := !old
			for _, target := range list {
				all = all && gpu.Runs(target)
			}
			any = any || all
			if log.Errors() == 0 && gpu.Runs(merged.GPU) != all {
				t.Errorf("%v become %s: for %s, all %t", list, merged, gpu, all)
			}
		}
		if (log.Errors() == 0) != any {
			t.Errorf("%v become %s with %d errors, and run together %t", list, merged, log.Errors(), any)
		}
	}
	for _, a := range targets {
		for _, b := range targets {
			check(a, b)
			for _, c := range targets {
				check(a, b, c)
			}
		}
	}
}
