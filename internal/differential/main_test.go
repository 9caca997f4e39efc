package main

import (
	"os"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

func TestMain(m *testing.M) { oracles.Main(m) }

// TestSets compares a few sets; make differential continues with others.
func TestSets(t *testing.T) {
	for _, tool := range []string{"ptxas", "nvlink", "cuobjdump", "ptxas-new", "nvlink-new", "cuobjdump-new"} {
		oracles.Require(t, tool)
	}
	sets := 30
	if testing.Short() {
		sets = 8
	}
	var log strings.Builder
	r := &runner{log: &log, counts: map[string]int{}}
	if err := r.run(t.Context(), 1, sets); err != nil {
		t.Fatal(err)
	}
	if r.differences() > 0 || r.counts[equal] < sets/4 {
		t.Errorf("%s\n%s", log.String(), r.summary())
	}
}

// TestReasons checks that docs/abi.md has each reason for a difference.
func TestReasons(t *testing.T) {
	text, err := os.ReadFile("../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range reasons {
		if !strings.Contains(string(text), "\n- **"+reason+"**") {
			t.Errorf("docs/abi.md has no %q", reason)
		}
	}
}

// TestMinimise checks that everything irrelevant to an outcome is dropped.
func TestMinimise(t *testing.T) {
	s := generate(1)
	s.modules = append(s.modules, &node{open: "header", kids: []*node{
		leaf("a;"), {open: "f {", close: "}", kids: []*node{leaf("b;"), {open: "{", close: "}", kids: []*node{leaf("c;"), leaf("wanted;")}}}},
	}})
	minimise(s, 10000, func(t *set) bool { return strings.Contains(strings.Join(t.texts(), ""), "wanted") })
	if got, want := strings.Join(s.texts(), ""), "header\nf {\n\t{\n\t\twanted;\n\t}\n}\n"; got != want {
		t.Errorf("minimised to\n%s\nwant\n%s", got, want)
	}
}

// TestGenerate checks that each set depends on its seed alone.
func TestGenerate(t *testing.T) {
	for seed := range uint64(100) {
		a, b := generate(seed), generate(seed)
		if strings.Join(a.texts(), "") != strings.Join(b.texts(), "") {
			t.Fatalf("seed %d makes two sets", seed)
		}
	}
}
