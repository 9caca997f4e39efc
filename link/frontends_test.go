package link_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
	"ptxlink/link"
)

// TestFrontends links modules of Triton, Numba and rustc in the ways that a user may
// choose. There is no message, and the oldest and the newest ptxas that know the module
// accept it with all of its entries.
func TestFrontends(t *testing.T) {
	both := link.Optimize{Level: 2, Fold: true}
	ways := []struct {
		name    string
		options link.Options
		again   bool // with Relocatable first
	}{
		{"-O0 --no-gc-sections", link.Options{KeepUnused: true}, false},
		{"--gc-variables", link.Options{CollectVariables: true}, false},
		{"-O1", link.Options{Optimize: link.Optimize{Level: 1}}, false},
		{"-O2", link.Options{Optimize: link.Optimize{Level: 2}}, false},
		{"--icf", link.Options{Optimize: link.Optimize{Fold: true}}, false},
		{"-r, then -O0", link.Options{}, true},
		{"-r, then -O2 --icf", link.Options{Optimize: both}, true},
	}
	for _, set := range []string{"triton", "numba", "numba-debug", "rust", "rust-debug", "rust 7.0"} {
		dir, version, _ := strings.Cut(set, " ")
		paths, err := filepath.Glob("../testdata/ptx/" + dir + "/*.ptx")
		if err != nil || len(paths) < 2 {
			t.Fatalf("%s: %d modules, %v", set, len(paths), err)
		}
		var inputs []link.Input
		var wanted []string
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if version != "" { // rustc's own, and of the module from nvcc, which needs no newer one
				text = moduleVersion.ReplaceAll(text, []byte(".version "+version))
			}
			inputs = append(inputs, link.Input{Name: filepath.Base(path), Text: text})
			for _, m := range entryName.FindAllSubmatch(text, -1) {
				wanted = append(wanted, string(m[1]))
			}
		}
		slices.Sort(wanted)
		for _, way := range ways {
			t.Run(set+" "+way.name, func(t *testing.T) {
				t.Parallel()
				o := way.options
				o.Inputs = inputs
				if way.again {
					first := linkQuietly(t, link.Options{Inputs: inputs[:len(inputs)-1], Relocatable: true})
					o.Inputs = []link.Input{{Name: "first.ptx", Text: first}, inputs[len(inputs)-1]}
				}
				linked := linkQuietly(t, o)
				for _, ptxas := range knowing(linked) {
					var got []string
					for _, s := range symbols(t, assembleWith(t, ptxas, "sm_80", linked)) {
						if s.Other&0x10 != 0 { // STO_CUDA_ENTRY
							got = append(got, s.Name)
						}
					}
					slices.Sort(got)
					if !slices.Equal(got, wanted) {
						t.Errorf("%s: entries %q, want %q", ptxas, got, wanted)
					}
				}
			})
		}
	}
}

var (
	entryName     = regexp.MustCompile(`\.entry\s+([\w$]+)`)
	moduleVersion = regexp.MustCompile(`(?m)^\.version (\d+\.\d)$`)
)

// linkQuietly links without any message.
func linkQuietly(t *testing.T, o link.Options) []byte {
	t.Helper()
	r, err := link.Link(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		t.Errorf("%v", m)
	}
	return r.PTX
}

// knowing returns the oldest and the newest ptxas that know the version of a module.
func knowing(text []byte) []string {
	oldest := "ptxas"
	if m := moduleVersion.FindSubmatch(text); m != nil && string(m[1]) <= "7.8" {
		if _, ok := oracles.Find("ptxas-old"); ok {
			oldest = "ptxas-old"
		}
	}
	return []string{oldest, "ptxas-new"}
}
