package link_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ptxlink/link"
)

// TestSamplerStates checks that kernels use samplers with the state that their modules give them, in sets of modules
// that all have a sampler s, with and without a state and linkage.
func TestSamplerStates(t *testing.T) {
	const top = ".version 7.0\n.target sm_80, texmode_independent\n.address_size 64\n.global .texref t;\n"
	states := []string{"", " = { filter_mode = nearest }", " = { filter_mode = linear }", " = { addr_mode_0 = wrap }"}
	private := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		visible := random.IntN(6) // the module that exports it, if there is one
		var inputs []link.Input
		var wanted []string
		for i := range 2 + random.IntN(4) {
			state, linkage := states[random.IntN(len(states))], ""
			if i == visible {
				linkage = ".visible "
			}
			wanted = append(wanted, state)
			text := fmt.Sprintf("%s%s.global .samplerref s%s;\n.visible .entry k%d () { .reg .f32 f<4>; tex.1d.v4.f32.f32 {f0, f1, f2, f3}, [t, s, {f0}]; st.local.f32 [0], f0; ret; }\n", top, linkage, state, i)
			inputs = append(inputs, link.Input{Name: fmt.Sprintf("m%d.ptx", i), Text: []byte(text)})
		}
		r, err := link.Link(t.Context(), link.Options{Inputs: inputs, Optimize: link.Optimize{Level: int(seed % 3)}})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, state := range wanted {
			use := regexp.MustCompile(fmt.Sprintf(`k%d \(\).*\[t, (s[$0-9]*),`, i)).FindStringSubmatch(string(r.PTX))
			if state != "" && (use == nil || !strings.Contains(string(r.PTX), " "+use[1]+state+";")) {
				t.Fatalf("seed %d: module %d wants a sampler with the state%s:\n%s", seed, i, state, r.PTX)
			}
			if use[1] != "s" {
				private++
			}
		}
	}
	if private < 100 {
		t.Errorf("only %d private samplers", private)
	}
}
