package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestTargets checks that shells complete the name of each GPU that a ptxas knows.
func TestTargets(t *testing.T) {
	for _, tool := range oracles.EveryPtxas() {
		help, err := exec.Command(oracles.Require(t, tool), "--help").Output()
		gpus := regexp.MustCompile(`'sm_\d+[af]?'`).FindAllString(string(help), -1)
		if err != nil || len(gpus) == 0 {
			t.Errorf("%s: %v: %s", tool, err, help)
		}
		for _, gpu := range gpus {
			if !slices.Contains(strings.Fields(targets), strings.Trim(gpu, "'")) {
				t.Errorf("%s knows %s", tool, gpu)
			}
		}
	}
}
