package optimize

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"ptxlink/internal/oracles"
)

// TestInstructions asks the newest ptxas about all words in its program: knownInstructions has those that it takes for names of
// instructions, except those that it does not take without modifiers, such as tcgen05.
func TestInstructions(t *testing.T) {
	tool := oracles.RequireRelease(t, "ptxas-new")
	program, err := os.ReadFile(filepath.Join(oracles.Dir(), "cuda-13.5", "bin", "ptxas"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, word := range regexp.MustCompile(`[a-z][a-z0-9_]{1,19}`).FindAll(program, -1) {
		words = append(words, string(word))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	const header = 4
	file, found := filepath.Join(t.TempDir(), "k.ptx"), 0
	for len(words) > 0 {
		text := ".version 9.5\n.target sm_100a\n.address_size 64\n.entry k() { .reg .b32 %r<3>;\n"
		chunk := words[:min(len(words), 1500)]
		for _, word := range chunk {
			text += word + ".b32 %r1;\n"
		}
		if err := os.WriteFile(file, []byte(text+"}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(tool, "-arch=sm_100a", file, "-o", os.DevNull).CombinedOutput()
		next := len(chunk)
		if m := regexp.MustCompile(`line (\d+); fatal +: Parsing error`).FindSubmatch(out); m != nil { // at a keyword
			line, _ := strconv.Atoi(string(m[1]))
			chunk, next = chunk[:line-header-1], line-header
		}
		unknown := map[string]bool{}
		for _, m := range regexp.MustCompile(`known instruction: '(\w+)'`).FindAllSubmatch(out, -1) {
			unknown[string(m[1])] = true
		}
		for _, word := range chunk {
			if unknown[word] {
				continue
			}
			found++
			if _, ok := slices.BinarySearch(knownInstructions(), word); !ok && !slices.Contains([]string{"alloca", "stacksave", "stackrestore"}, word) {
				t.Errorf("%s is not in the list", word)
			}
		}
		words = words[next:]
	}
	if found < 100 {
		t.Errorf("%d instructions", found)
	}
}
