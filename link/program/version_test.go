package program

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/object/ptx"
)

// TestInstructionVersions asks ptxas for the first version of each instruction.
func TestInstructionVersions(t *testing.T) {
	oracles.Long(t) // runs ptxas 60 times
	ptxas := oracles.Require(t, "ptxas-new")
	samples := map[string][]string{ // by target
		"sm_80": {"redux.sync.add.s32 r, r, r", "cp.async.ca.shared.global [s], [d], 4", "mbarrier.init.shared.b64 [s], 1", "tanh.approx.f32 f, f",
			"alloca.u64 d, 8", "stacksave.u64 d", "stackrestore.u64 d", "createpolicy.fractional.L2::evict_last.b64 d, 1.0", "applypriority.global.L2::evict_normal [d], 128", "discard.global.L2 [d], 128",
			"fence.proxy.alias", "bmsk.clamp.b32 r, r, r", "szext.clamp.u32 r, r, r", "isspacep.param p, d"},
		"sm_90": {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {r}", "griddepcontrol.wait", "mapa.u64 d, d, r", "getctarank.u64 r, d", "barrier.cluster.arrive",
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [d], 16, [s]", "elect.sync r|p, r", "fence.mbarrier_init.release.cluster", "prefetch.tensormap [d]",
			"multimem.red.relaxed.gpu.global.add.u32 [d], r", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [s], r, [s]",
			"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [s], r, [s]"},
		"sm_90a":  {"setmaxnreg.inc.sync.aligned.u32 64", "wgmma.fence.sync.aligned", "tensormap.replace.tile.global_address.global.b1024.b64 [d], d"},
		"sm_100a": {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [s], [s]", "tcgen05.fence::before_thread_sync"},
		"sm_107a": {"trace.mark 0"},
	}
	dir := t.TempDir()
	says := func(target, instruction string, v ptx.Version) string {
		file := filepath.Join(dir, "k.ptx")
		text := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n.visible .entry k() { .reg .b32 r; .reg .b64 d; .reg .pred p; .reg .f32 f; .shared .align 16 .b8 s[512];\n%s; ret; }\n", v, target, instruction)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(ptxas, "-arch="+target, file, "-o", filepath.Join(dir, "k.cubin")).CombinedOutput()
		return string(out)
	}
	asked := map[string]bool{}
	for target, list := range samples {
		for _, instruction := range list {
			opcode, _, _ := strings.Cut(instruction, " ")
			name, needs, ok := instructionVersion(opcode)
			if !ok {
				t.Errorf("%s: no version", opcode)
				continue
			}
			asked[name] = true
			if said := says(target, instruction, needs); strings.Contains(said, "error") {
				t.Errorf("%s with PTX %s: %s", instruction, needs, said)
			}
			before := ptx.Version{Major: needs.Major, Minor: needs.Minor - 1}
			if needs.Minor == 0 {
				before = ptx.Version{Major: needs.Major - 1, Minor: map[int]int{7: 5, 8: 8}[needs.Major]}
			}
			if said := says(target, instruction, before); !strings.Contains(said, "requires PTX ISA .version "+needs.String()+" or later") {
				t.Errorf("%s with PTX %s, the version before: %q", instruction, before, said)
			}
		}
	}
	for name := range instructionVersions {
		if !asked[name] {
			t.Errorf("%s has no sample", name)
		}
	}
}

// TestTargetVersions asks each ptxas that knows a target whether it takes the version of
// PTX that targetVersions has, and not the one before.
func TestTargetVersions(t *testing.T) {
	oracles.Long(t) // runs ptxas 100 times
	const refusal = "does not support .target"
	dir := t.TempDir()
	says := func(ptxas, target string, v ptx.Version) string {
		t.Helper()
		file := filepath.Join(dir, "k.ptx")
		text := fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n", v, target)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(ptxas, "-arch="+target, file, "-o", filepath.Join(dir, "k.cubin")).CombinedOutput()
		return string(out)
	}
	lastMinor := map[int]int{3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8}
	compared := map[string]bool{}
	for _, tool := range oracles.EveryPtxas() {
		ptxas := oracles.Require(t, tool)
		for _, target := range slices.Sorted(maps.Keys(targetVersions)) {
			first := targetVersions[target]
			said := says(ptxas, target, first)
			if strings.Contains(said, "not defined for option") || strings.Contains(said, "is not allowed with") {
				continue // too old or too new a target for this ptxas
			}
			compared[target] = true
			if said != "" {
				t.Errorf("%s, %s with PTX %s: %s", tool, target, first, said)
			}
			before := ptx.Version{Major: first.Major, Minor: first.Minor - 1}
			if first.Minor == 0 {
				before = ptx.Version{Major: first.Major - 1, Minor: lastMinor[first.Major-1]}
			}
			if said := says(ptxas, target, before); !strings.Contains(said, refusal) {
				t.Errorf("%s, %s with PTX %s, the version before: %q", tool, target, before, said)
			}
		}
	}
	list, err := exec.Command(oracles.Require(t, "ptxas-new"), "--list-arch").Output()
	for number := range strings.FieldsSeq(string(list)) {
		if _, known := targetVersions["sm_"+number]; !known {
			t.Errorf("sm_%s is not in targetVersions", number)
		}
	}
	if err != nil || len(list) == 0 {
		t.Errorf("%v: %s", err, list)
	}
	for target := range targetVersions {
		if !compared[target] && !slices.Contains(unknownTargets, target) {
			t.Errorf("no ptxas knows %s", target)
		}
	}
}

// unknownTargets are known to no ptxas of the tests. Their versions are those of the
// table of .target in the PTX ISA.
var unknownTargets = []string{"sm_20", "sm_30", "sm_32", "sm_101", "sm_101f"}
