package pack

import (
	"fmt"
	"testing"
)

// TestMarkFatbins checks that inputs with a fatbin are found among many in few steps.
func TestMarkFatbins(t *testing.T) {
	const n = 2000
	inputs := map[string]bool{}
	var texts []string
	for i := range n {
		name := fmt.Sprintf("directory/in%d.o", i)
		inputs[name] = false
		if i%2 == 0 {
			texts = append(texts, name+":.nv_fatbin:sm_80", name+"(k.o):sm_80")
		} else {
			texts = append(texts, name, name+"(k.ptx)")
		}
	}
	steps := markFatbins(inputs, texts)
	if steps > 10*(len(inputs)+len(texts)) {
		t.Errorf("%d steps for %d inputs and %d texts", steps, len(inputs), len(texts))
	}
	for i := range n {
		name := fmt.Sprintf("directory/in%d.o", i)
		if inputs[name] != (i%2 == 0) {
			t.Errorf("%s: %v", name, inputs[name])
		}
	}
	// The colon of a drive belongs to the name.
	drive := map[string]bool{`C:\a.ptx`: false, `C:\b.o`: false}
	markFatbins(drive, []string{`C:\a.ptx`, `C:\b.o:.nv_fatbin:sm_75`})
	if drive[`C:\a.ptx`] || !drive[`C:\b.o`] {
		t.Error(drive)
	}
}
