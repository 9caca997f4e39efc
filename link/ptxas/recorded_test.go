package ptxas

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// notRecorded are options of ptxas that no fatbin records: they name files, or do something else than to compile.
var notRecorded = strings.Fields(`apply-controls compile-as-tools-patch entry gpu-name help input-as-string jobserver list-arch list-version machine
	options-file output-file preserve-relocs suppress-debug-info verbose2 version`)

// TestRecordedOptions checks that each option of the newest ptxas is in one of the lists, and which name is short
// for which.
func TestRecordedOptions(t *testing.T) {
	help, err := exec.Command(oracles.Require(t, "ptxas-new"), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	options := regexp.MustCompile(`(?m)^--([\w-]+) .*\(-([\w-]+)\)`).FindAllStringSubmatch(string(help), -1)
	if len(options) < 50 {
		t.Fatalf("%d options:\n%s", len(options), help)
	}
	for _, option := range options {
		long, short := option[1], option[2]
		if strings.HasPrefix(long, "warn") || strings.HasPrefix(long, "suppress") || slices.Contains(notRecorded, long) {
			continue
		}
		if _, code := codeOptions[long]; !code && !slices.Contains(decided, long) {
			t.Errorf("--%s is in no list", long)
		}
		if longName("-"+short) != long {
			t.Errorf("-%s is short for --%s, not --%s", short, long, longName("-"+short))
		}
	}
}
